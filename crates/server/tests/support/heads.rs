//! Request heads from text.

use vervet_engine::http::field::{FieldSlots, Fields};
use vervet_engine::http::h1::{HeadLimits, Received, Server};

/// The field lines of a head.
pub fn fields_of<'a>(head: &'a str, slots: &'a mut FieldSlots) -> Fields<'a> {
    match Server::new().receive(head.as_bytes(), slots, &HeadLimits::default()) {
        Ok(Received::Head { head, .. }) => head.fields,
        other => panic!("{head}: {other:?}"),
    }
}
