//! What a subject's processes spend while a load is applied.

use crate::record::Watched;

/// What stands in the record of a step whose subject nobody watched.
pub(super) fn unwatched(reason: impl Into<String>) -> Watched {
    Watched::Invalid {
        reason: reason.into(),
    }
}
