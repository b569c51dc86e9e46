//! What every answer of the server is made of: the response head, and the page for a failure.

mod error_page;
mod head;

pub(crate) use error_page::{HTML, error_answer, error_answer_with, explanatory_page, page};
pub(crate) use head::Head;
