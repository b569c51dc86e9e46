//! Writing responses to the connection: those of the service, and the engine's own.

use vervet_http::date::write_date;
use vervet_http::h1::{Framing, Length, ResponseHead};
use vervet_http::status::Status;

use super::http::Http;
use super::receive::next_exchange;
use super::state::{Answer, Begun, Connection, InProgress, Record};
use crate::exchange::{COPY_BYTES_MAX, Sent, Service, amended};
use crate::pipe::{ContentError, Read};
use crate::reactor::{Closing, Io, Now};
use crate::response::{Content, Piece, Response};

/// Why the engine itself responds, and with which status.
pub(super) struct Refusal<'a> {
    pub(super) status: Status,
    pub(super) reason: &'a str,
}

impl<S: Service> Http<S> {
    /// Responds to an exchange within the call that began it.
    pub(super) fn respond(
        &mut self,
        io: &mut Io<'_>,
        connection: &mut Connection,
        response: Response,
        mut begun: Begun,
    ) {
        let answer = self.write(io, connection, response, &mut begun.record);
        let done = matches!(answer, Answer::Written) && !io.is_blocked();
        if io.is_closing() && !done {
            return;
        }
        if done {
            return self.answered(io, connection, begun.record);
        }
        let now_ms = io.now().monotonic_ms;
        connection.exchange = Some(InProgress::new(begun, answer, now_ms));
        self.pump(io, connection);
    }

    /// Finishes an exchange whose response the handler wrote itself within the call.
    pub(super) fn sent(
        &mut self,
        io: &mut Io<'_>,
        connection: &Connection,
        sent: &Sent,
        mut record: Record,
    ) {
        record.status = sent.status;
        self.count(sent.status);
        let Ok(content_bytes) = sent.content_bytes else {
            return io.close(Closing::Abort);
        };
        record.content_bytes = content_bytes;
        self.answered(io, connection, record);
    }

    fn answered(&mut self, io: &mut Io<'_>, connection: &Connection, record: Record) {
        if connection.machine.owes_continue() {
            // The client may send the content or close; neither is worth waiting for (RFC 9110
            // §10.1.1).
            io.close(Closing::Lingering);
        }
        self.finish(io, connection, record, None);
    }

    fn count(&self, status: Status) {
        let class = usize::from(status.code() / 100).clamp(1, 5) - 1;
        self.counters.responses[class].add(1);
    }

    /// Responds to an exchange whose response was deferred.
    pub(super) fn respond_later(
        &mut self,
        io: &mut Io<'_>,
        connection: &mut Connection,
        response: Response,
    ) {
        let Some(mut exchange) = connection.exchange.take() else {
            return;
        };
        if !exchange.is_open() {
            connection.exchange = Some(exchange);
            return;
        }
        let response = amended(response, &mut exchange.amendments);
        exchange.answer = self.write(io, connection, response, &mut exchange.record);
        connection.exchange = Some(exchange);
        self.pump(io, connection);
    }

    /// Responds with 500, since the responder or the resume was dropped.
    pub(super) fn handler_failed(&mut self, io: &mut Io<'_>, connection: &mut Connection) {
        let response =
            Response::plain(Status::INTERNAL_SERVER_ERROR, "the handler sent no response\n");
        self.respond_later(io, connection, response);
    }

    /// Writes head and content, as far as the content is available.
    fn write(
        &mut self,
        io: &mut Io<'_>,
        connection: &mut Connection,
        mut response: Response,
        record: &mut Record,
    ) -> Answer {
        let content = response.take_content();
        let status = response.status();
        record.status = status;
        self.count(status);
        let head = ResponseHead {
            status,
            encoded: response.head_bytes(),
            length: content.length().map_or(Length::Unknown, Length::Known),
            date: self.date.at(io.now()),
        };
        let framing = connection.machine.send_head(io.out(), &head);
        match framing {
            Ok(Framing::None) if connection.is_switched() => match content {
                Content::Stream { reader, .. } => Answer::Streaming(reader),
                _ => Answer::Written,
            },
            Ok(Framing::None) => end_answer(io, connection),
            Ok(_) => write_content(io, connection, content, record),
            Err(_) => {
                // Reached only if a handler responds with 1xx as a final status, which is a bug.
                io.close(Closing::Abort);
                Answer::Written
            }
        }
    }

    /// Sends streamed content as fast as the peer reads, and ends the exchange when all is sent.
    pub(super) fn pump(&mut self, io: &mut Io<'_>, connection: &mut Connection) {
        let Some(mut exchange) = connection.exchange.take() else {
            return;
        };
        if let Answer::Streaming(_) = exchange.answer {
            pump_stream(io, connection, &mut exchange);
        }
        if matches!(exchange.answer, Answer::Written) && !io.is_blocked() {
            self.finish(io, connection, exchange.record, None);
            // The handler responded without reading all content: the rest is dropped.
            drop(exchange);
            next_exchange(io, connection, connection.input.len());
        } else {
            connection.exchange = Some(exchange);
        }
    }

    /// Aborts request content that exceeded a limit.
    pub(super) fn content_failed(
        &mut self,
        io: &mut Io<'_>,
        connection: &mut Connection,
        error: ContentError,
    ) {
        let status = match error {
            ContentError::TooLarge(_) => Status::CONTENT_TOO_LARGE,
            ContentError::TimedOut => Status::REQUEST_TIMEOUT,
            _ => Status::BAD_REQUEST,
        };
        let reason = &error.to_string();
        self.break_off(io, connection, error, &Refusal { status, reason });
    }

    /// Aborts request content. The engine responds to an exchange that has no response yet.
    pub(super) fn break_off(
        &mut self,
        io: &mut Io<'_>,
        connection: &mut Connection,
        error: ContentError,
        refusal: &Refusal<'_>,
    ) {
        let Some(mut exchange) = connection.exchange.take() else {
            return io.close(Closing::Lingering);
        };
        if let Some(sender) = exchange.inbound.take() {
            sender.abort(error);
        }
        let record = exchange.record;
        if !exchange.is_open() {
            connection.exchange = Some(exchange);
            return io.close(Closing::Abort);
        }
        drop(exchange);
        self.refuse_with(io, connection, refusal, record);
    }

    /// Responds to an invalid or rejected request, and closes the connection.
    pub(super) fn refuse(
        &mut self,
        io: &mut Io<'_>,
        connection: &mut Connection,
        refusal: &Refusal<'_>,
    ) {
        let record = Record {
            tag: None,
            status: refusal.status,
            started_ms: io.now().monotonic_ms,
            content_bytes: 0,
        };
        self.refuse_with(io, connection, refusal, record);
    }

    fn refuse_with(
        &mut self,
        io: &mut Io<'_>,
        connection: &mut Connection,
        refusal: &Refusal<'_>,
        mut record: Record,
    ) {
        let Refusal { status, reason } = *refusal;
        connection.close_after_this();
        let text = format!("{} {}: {reason}\n", status.code(), status.reason());
        let response = Response::plain(status, text).raw_fields(&self.options.own_fields);
        self.write(io, connection, response, &mut record);
        self.finish(io, connection, record, Some(reason));
        io.close(Closing::Lingering);
    }

    /// Responds to a connection above the limit before reading its request.
    pub(super) fn refuse_overload(&mut self, io: &mut Io<'_>) {
        let content = "503 Service Unavailable: too many connections\n";
        let head = format!(
            "HTTP/1.1 503 Service Unavailable\r\nRetry-After: {}\r\nContent-Type: text/plain; charset=utf-8\r\n\
             Content-Length: {}\r\nConnection: close\r\n",
            self.options.retry_after_s,
            content.len()
        );
        let date = self.date.at(io.now());
        for part in [head.as_bytes(), &self.options.own_fields, date, b"\r\n", content.as_bytes()] {
            io.out().extend_from_slice(part);
        }
    }
}

fn write_content(
    io: &mut Io<'_>,
    connection: &mut Connection,
    content: Content,
    record: &mut Record,
) -> Answer {
    if let Some(length) = content.length() {
        record.content_bytes = length;
    }
    match content {
        Content::Empty => {}
        Content::Bytes(bytes) => write_piece(io, connection, Piece::Bytes(bytes)),
        Content::File(slice) => write_piece(io, connection, Piece::File(slice)),
        Content::Pieces(pieces) => {
            for piece in pieces {
                write_piece(io, connection, piece);
            }
        }
        Content::Stream { reader, .. } => {
            record.content_bytes = 0;
            return Answer::Streaming(reader);
        }
    }
    end_answer(io, connection)
}

fn pump_stream(io: &mut Io<'_>, connection: &mut Connection, exchange: &mut InProgress) {
    let Answer::Streaming(reader) = &mut exchange.answer else {
        return;
    };
    while !io.is_blocked() {
        match reader.try_read() {
            Read::Pending => return,
            Read::Data(bytes) => {
                exchange.record.content_bytes += bytes.len() as u64;
                if connection.is_switched() {
                    io.out().extend_from_slice(&bytes);
                } else if connection.machine.send_content(io.out(), &bytes).is_err() {
                    return abort_stream(io, exchange);
                }
                if io.out().len() > COPY_BYTES_MAX {
                    io.flush();
                }
            }
            Read::End => {
                let trailers = reader.take_trailers();
                if connection.is_switched() {
                    // The peer may still be sending, and a reset must not overtake the end of the
                    // response.
                    io.close(Closing::Lingering);
                } else if connection.machine.send_end(io.out(), trailers.as_ref()).is_err() {
                    return abort_stream(io, exchange);
                }
                exchange.answer = Answer::Written;
                return;
            }
            Read::Failed(_) => return abort_stream(io, exchange),
        }
    }
}

/// All content has been passed to the connection.
fn end_answer(io: &mut Io<'_>, connection: &mut Connection) -> Answer {
    if connection.machine.send_end(io.out(), None).is_err() {
        io.close(Closing::Abort);
    }
    Answer::Written
}

fn write_piece(io: &mut Io<'_>, connection: &mut Connection, piece: Piece) {
    // Cannot fail: the length announced is the sum of the pieces.
    let _ = connection.machine.sent(piece.length());
    match piece {
        Piece::Bytes(bytes) if bytes.len() <= COPY_BYTES_MAX => io.out().extend_from_slice(&bytes),
        Piece::Bytes(bytes) => io.send_shared(bytes),
        Piece::File(slice) => io.send_file(slice),
    }
}

/// The response cannot be completed, and the peer must not take it for complete.
fn abort_stream(io: &mut Io<'_>, exchange: &mut InProgress) {
    exchange.answer = Answer::Written;
    io.close(Closing::Abort);
}

const DATE_LINE_BYTES: usize = 6 + 29 + 2;

/// The `Date` field line, formatted once per second.
pub(super) struct DateLine {
    second: u64,
    line: [u8; DATE_LINE_BYTES],
}

impl Default for DateLine {
    fn default() -> Self {
        let mut line = [0; DATE_LINE_BYTES];
        line[..6].copy_from_slice(b"Date: ");
        line[DATE_LINE_BYTES - 2..].copy_from_slice(b"\r\n");
        Self { second: u64::MIN, line }
    }
}

impl DateLine {
    /// Returns the whole line with its CRLF (RFC 9110 §6.6.1).
    pub(super) fn at(&mut self, now: Now) -> &[u8] {
        if now.unix_seconds != self.second {
            self.second = now.unix_seconds;
            let mut date = [0; 29];
            write_date(now.unix_seconds, &mut date);
            self.line[6..DATE_LINE_BYTES - 2].copy_from_slice(&date);
        }
        &self.line
    }
}
