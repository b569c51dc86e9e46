//! Changes to a response, which filters request before the handler runs.

use std::borrow::Cow;
use std::sync::Arc;

use vervet_engine::Response;

/// A change to the fields of a response. Names and values are well formed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// The field has this value and no other.
    Set(Cow<'static, str>, Cow<'static, [u8]>),
    /// Adds a line to the field.
    Add(Cow<'static, str>, Cow<'static, [u8]>),
    /// The value unless the handler gave one.
    Default(Cow<'static, str>, Cow<'static, [u8]>),
    /// Removes all lines of the field.
    Remove(Cow<'static, str>),
}

/// The edits of one exchange, in the order in which they are applied: those that a plan shares
/// among all of its requests as they are, and those of this request.
#[derive(Clone, Debug, Default)]
pub struct Edits {
    groups: Vec<EditGroup>,
}

#[derive(Clone, Debug)]
enum EditGroup {
    Shared(Arc<[Edit]>),
    Own(Edit),
}

impl Edits {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Adds edits that a plan has for all requests.
    pub fn share(&mut self, edits: &Arc<[Edit]>) {
        if !edits.is_empty() {
            self.groups.push(EditGroup::Shared(Arc::clone(edits)));
        }
    }

    /// Adds an edit for this request.
    pub fn push(&mut self, edit: Edit) {
        self.groups.push(EditGroup::Own(edit));
    }

    /// The response as all edits leave it.
    #[must_use]
    pub fn apply(&self, mut response: Response) -> Response {
        for group in &self.groups {
            match group {
                EditGroup::Shared(edits) => edits.iter().for_each(|edit| edit.apply(&mut response)),
                EditGroup::Own(edit) => edit.apply(&mut response),
            }
        }
        response
    }
}

impl Edit {
    /// What is not well formed, against the promise, changes nothing.
    fn apply(&self, response: &mut Response) {
        let _ = match self {
            Self::Set(name, value) => response.set_field(name, value),
            Self::Add(name, value) => response.add_field(name, value),
            Self::Default(name, value) if !response.has_field(name) => {
                response.add_field(name, value)
            }
            Self::Default(..) => Ok(()),
            Self::Remove(name) => {
                response.remove_field(name);
                Ok(())
            }
        };
    }
}
