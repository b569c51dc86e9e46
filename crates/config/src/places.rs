//! Where in a document each section stands: `[site.cors]`, `[[site.route]]`, `[log.NAME]`.

use crate::shape::{Declaration, Shape};

/// What stands for the name that a user chooses.
pub(crate) const CHOSEN: &str = "NAME";

/// A section at one of its places.
#[derive(Clone, Debug)]
pub struct Place {
    /// The names that lead to it from the top level, which has none.
    pub path: Vec<&'static str>,
    /// Whether it is there once or as often as one likes.
    pub count: Count,
    /// The section.
    pub declaration: &'static Declaration,
}

/// How often a section may be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Under one header.
    One,
    /// In a list.
    Many,
}

impl Place {
    /// Its header in a document, in the form of code; words for the top level.
    pub fn header(&self) -> String {
        let path = self.path.join(".");
        match (path.as_str(), self.count) {
            ("", _) => "the top level".to_owned(),
            (path, Count::One) => format!("`[{path}]`"),
            (path, Count::Many) => format!("`[[{path}]]`"),
        }
    }
}

/// All sections of a document in the order of their declarations. One that stands within itself is listed once there.
pub fn places(root: &'static Declaration) -> Vec<Place> {
    let mut places = vec![Place {
        path: Vec::new(),
        count: Count::One,
        declaration: root,
    }];
    collect(root, &mut Vec::new(), &mut vec![root], &mut places);
    places
}

fn collect(
    declaration: &'static Declaration,
    path: &mut Vec<&'static str>,
    above: &mut Vec<&'static Declaration>,
    places: &mut Vec<Place>,
) {
    for field in declaration.fields {
        path.push(field.name());
        let depth = path.len();
        if let Some((inner, count)) = section_of(&(field.shape)(), path) {
            places.push(Place {
                path: path.clone(),
                count,
                declaration: inner,
            });
            if !above.iter().any(|one| std::ptr::eq(*one, inner)) {
                above.push(inner);
                collect(inner, path, above, places);
                above.pop();
            }
        }
        path.truncate(depth - 1);
    }
}

/// The section that a shape is made of; names that users choose are added to the path.
fn section_of(
    shape: &Shape,
    path: &mut Vec<&'static str>,
) -> Option<(&'static Declaration, Count)> {
    match shape {
        Shape::Section(declaration) => Some((*declaration, Count::One)),
        Shape::List(element) => section_of(element, path).map(|(inner, _)| (inner, Count::Many)),
        Shape::Named(element) => {
            path.push(CHOSEN);
            section_of(element, path)
        }
        Shape::Either(shapes) => shapes.iter().find_map(|shape| section_of(shape, path)),
        _ => None,
    }
}
