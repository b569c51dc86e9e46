//! Reads the content of a form, with limits and back-pressure.

use vervet_engine::pipe::ContentReader;
use vervet_http::field::{Fields, Known};
use vervet_http::h1::ContentLength;
use vervet_http::media_type::MediaType;
use vervet_http::status::Status;

use crate::pages::limits::FORM_PAIRS_MAX;

/// Why a form is rejected: the status, and the message for the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FormFault {
    pub(crate) status: Status,
    pub(crate) text: String,
}

impl FormFault {
    fn too_large(bytes_max: u64) -> Self {
        Self {
            status: Status::CONTENT_TOO_LARGE,
            text: format!("The form is larger than {bytes_max} bytes."),
        }
    }
}

/// Checks the head of a request with a form: its type and, if it is known, its length.
pub(crate) fn check_head(
    fields: &Fields<'_>,
    length: ContentLength,
    bytes_max: u64,
) -> Result<(), FormFault> {
    let media_type = fields.get(Known::ContentType).and_then(MediaType::parse);
    let is_form = media_type.is_some_and(|own| {
        own.main().eq_ignore_ascii_case(b"application")
            && own.subtype().eq_ignore_ascii_case(b"x-www-form-urlencoded")
    });
    let is_plain = fields
        .get(Known::ContentEncoding)
        .is_none_or(|coding| coding.eq_ignore_ascii_case(b"identity"));
    if !is_form || !is_plain {
        return Err(FormFault {
            status: Status::UNSUPPORTED_MEDIA_TYPE,
            text: "This page accepts only application/x-www-form-urlencoded forms.".to_owned(),
        });
    }
    match length {
        ContentLength::Length(length) if length > bytes_max => Err(FormFault::too_large(bytes_max)),
        _ => Ok(()),
    }
}

/// Reads the content. The peer is not read from while nothing is taken here: that is the pipe's
/// back-pressure.
pub(crate) async fn read(mut reader: ContentReader, bytes_max: u64) -> Result<Vec<u8>, FormFault> {
    let mut content = Vec::new();
    while let Some(chunk) = reader.read().await {
        let chunk = chunk.map_err(|error| FormFault {
            status: Status::BAD_REQUEST,
            text: format!("The form was not received completely: {error}."),
        })?;
        if (content.len() + chunk.len()) as u64 > bytes_max {
            return Err(FormFault::too_large(bytes_max));
        }
        content.extend_from_slice(&chunk);
    }
    let pairs = memchr::memchr_iter(b'&', &content).count() + 1;
    if pairs > FORM_PAIRS_MAX {
        return Err(FormFault {
            status: Status::BAD_REQUEST,
            text: format!("The form has more than {FORM_PAIRS_MAX} fields."),
        });
    }
    Ok(content)
}
