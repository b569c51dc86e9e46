//! Field lines to be sent, encoded as they are added.

use super::{Known, is_token, is_value_byte};

/// Why a field line was rejected. Each case would allow header injection (RFC 9112 §11.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldError {
    /// The name is empty or contains a byte that is not allowed in a token.
    Name,
    /// The value contains CR, LF, NUL or another control byte.
    Value,
    /// `Content-Length`, `Transfer-Encoding` and `Connection` are written by the HTTP/1.1 machine
    /// only.
    Framing,
}

impl std::fmt::Display for FieldError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Name => "the field name is not a token",
            Self::Value => "the field value holds a control byte",
            Self::Framing => "the field belongs to the connection, which writes it itself",
        })
    }
}

impl std::error::Error for FieldError {}

/// Encoded field lines, each `Name: value` followed by CRLF, without the final empty line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldBlock {
    lines: Vec<u8>,
}

impl FieldBlock {
    /// Creates an empty block without allocating.
    pub const fn new() -> Self {
        Self { lines: Vec::new() }
    }

    /// Appends a line with any name. The block is unchanged on error.
    pub fn push(&mut self, name: &[u8], value: &[u8]) -> Result<(), FieldError> {
        if !is_token(name) {
            return Err(FieldError::Name);
        }
        match Known::lookup(name) {
            Some(known) => self.push_known(known, value),
            None => self.append(name, value),
        }
    }

    /// Appends a line with a known name. The block is unchanged on error.
    pub fn push_known(&mut self, name: Known, value: &[u8]) -> Result<(), FieldError> {
        if matches!(name, Known::ContentLength | Known::TransferEncoding | Known::Connection) {
            return Err(FieldError::Framing);
        }
        self.append(name.as_str().as_bytes(), value)
    }

    /// Returns the encoded lines, each with its CRLF.
    pub fn as_bytes(&self) -> &[u8] {
        &self.lines
    }

    /// Removes all lines and keeps the allocated memory.
    pub fn clear(&mut self) {
        self.lines.clear();
    }

    fn append(&mut self, name: &[u8], value: &[u8]) -> Result<(), FieldError> {
        if !value.iter().all(|&byte| is_value_byte(byte)) {
            return Err(FieldError::Value);
        }
        for part in [name, b": ", value, b"\r\n"] {
            self.lines.extend_from_slice(part);
        }
        Ok(())
    }
}
