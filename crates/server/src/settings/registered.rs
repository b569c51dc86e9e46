//! Sections whose directives come from a registry: actions and filters.

use vervet_config::{Setting, Span};

/// A directive of a registry, in one section of the document.
#[derive(Clone, Debug)]
pub(crate) struct Directive<D> {
    pub(crate) name: &'static str,
    pub(crate) span: Span,
    pub(crate) is_given: bool,
    /// `None` if it is not set, or invalid: such a document is rejected.
    pub(crate) section: Option<D>,
}

impl<D> Directive<D> {
    pub(crate) fn new<S>(
        name: &'static str,
        setting: &Setting<Option<S>>,
        section: impl FnOnce(&S) -> D,
    ) -> Self {
        Self {
            name,
            span: setting.span(),
            is_given: !setting.is_default(),
            section: setting.value().as_ref().map(section),
        }
    }
}

/// Declares a section with directives of its own, followed by those of registries. Sections of
/// registered directives lie elsewhere in memory: few routes of ten thousand have them.
macro_rules! registered_section {
    (
        { $(#[doc = $doc:expr])* pub struct $Name:ident { $($own:tt)* } }
        $($registry:ident: $Trait:path {
            $($(#[doc = $directive_doc:expr])* $directive:ident: $Section:ty,)*
        })*
    ) => {
        vervet_config::section! {
            $(#[doc = $doc])*
            pub struct $Name in part {
                $($own)*
                $($(
                    $(#[doc = $directive_doc])*
                    pub $directive: Option<std::sync::Arc<$Section>>,
                )*)*
            }
        }

        impl $Name {
            $(
                /// The directives of this registry, in its order.
                pub(crate) fn $registry(
                    &self,
                ) -> impl Iterator<Item = $crate::settings::Directive<std::sync::Arc<dyn $Trait>>> {
                    [$(
                        $crate::settings::Directive::new(
                            stringify!($directive),
                            &self.$directive,
                            |section| std::sync::Arc::<$Section>::clone(section) as std::sync::Arc<dyn $Trait>,
                        ),
                    )*]
                    .into_iter()
                }
            )*
        }
    };
}

pub(crate) use registered_section;
