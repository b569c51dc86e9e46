//! RFC 9112 §6: the length of content. Anything that two parties could read differently is
//! rejected.

use crate::common::{check, check_refused, with_fields};

fn post(fields: &str, content: &str) -> String {
    format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\n{content}")
}

/// §6.3, 3: "Transfer-Encoding ... and Content-Length ... might indicate an attempt to perform
/// request smuggling".
#[test]
fn refuses_transfer_encoding_with_content_length() {
    for fields in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n",
        "Transfer-Encoding: identity\r\nContent-Length: 5\r\n",
        "Transfer-Encoding:\r\nContent-Length: 5\r\n",
        "transfer-encoding: chunked\r\nCONTENT-LENGTH: 5\r\n",
    ] {
        check_refused(
            &post(fields, "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"),
            "400 TransferEncodingWithLength",
        );
    }
}

/// §6.3, 5: a list or several lines of Content-Length. We refuse equal ones too, see
/// `framing::announced`.
#[test]
fn refuses_two_content_lengths() {
    for fields in [
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: 5\r\nContent-Length: 5\r\n",
        "Content-Length: 5\r\nX: y\r\ncontent-length: 0\r\n",
        "Content-Length: 5, 6\r\n",
        "Content-Length: 5,5\r\n",
        "Content-Length: 5,\r\n",
        "Content-Length: ,5\r\n",
    ] {
        check_refused(
            &post(fields, "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"),
            "400 ContentLengthRepeated",
        );
    }
}

/// RFC 9110 §8.6: `Content-Length = 1*DIGIT`.
#[test]
fn refuses_content_lengths_that_are_not_digits() {
    for value in [
        "", "+5", "-5", "-0", "5 5", "5\t5", "0x5", "5a", "a", "5.0", "5;5", "\"5\"", "1e3",
        "\u{b2}", "5_0",
    ] {
        let request = post(&format!("Content-Length: {value}\r\n"), "hello");
        check_refused(&request, "400 ContentLengthMalformed");
    }
}

/// RFC 9110 §8.6: "a recipient MUST anticipate potentially large decimal numerals and prevent
/// parsing errors due to integer conversion overflows". Valid, and more than anybody takes: 413.
#[test]
fn refuses_content_lengths_that_cannot_be_counted() {
    for value in [
        "10000000000000000000",
        "18446744073709551616",
        "18446744073709551621",
        "99999999999999999999999999",
    ] {
        let request = post(&format!("Content-Length: {value}\r\n"), "hello");
        check_refused(&request, "413 ContentLengthTooLarge");
    }
    let head = post("Content-Length: 9999999999999999999\r\n", "x");
    check(&head, &["POST / +9999999999999999999", "content x"]);
}

/// Leading zeros are in the grammar and decimal is their only reading, so they are taken, as digits
/// that count.
#[test]
fn takes_leading_zeros() {
    check(&post("Content-Length: 005\r\n", "hello"), &["POST / +5", "content hello", "end"]);
    check(
        &post("Content-Length: 010\r\n", "0123456789"),
        &["POST / +10", "content 0123456789", "end"],
    );
    check_refused(
        &post("Content-Length: 00000000000000000005\r\n", "hello"),
        "413 ContentLengthTooLarge",
    );
}

/// §6.3, 4: "If a Transfer-Encoding header field is present in a request and the chunked transfer
/// coding is not the final encoding, the message body length cannot be determined reliably; the
/// server MUST respond with the 400". §7.1: chunked "MUST NOT be applied more than once".
#[test]
fn refuses_codings_that_do_not_end_with_one_chunked() {
    for codings in [
        "",
        ",",
        "identity",
        "xchunked",
        "chunkedx",
        "x-chunked",
        "chunked x",
        "chunked;q=1",
        "\"chunked\"",
        "gzip",
        "chunked, gzip",
        "chunked, identity",
        "chunked, chunked",
        "chunked,",
        "chunked,,chunked",
        "cow",
        "chunk ed",
        "chunked\tx",
    ] {
        let request = post(&format!("Transfer-Encoding: {codings}\r\n"), "0\r\n\r\n");
        check_refused(&request, "400 TransferEncodingNotChunked");
    }
    for fields in [
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        "Transfer-Encoding: chunked\r\nX: y\r\nTransfer-Encoding:\r\n",
    ] {
        check_refused(&post(fields, "0\r\n\r\n"), "400 TransferEncodingNotChunked");
    }
    check_refused(&post("Transfer-Encoding: \u{b}chunked\r\n", "0\r\n\r\n"), "400 FieldValue");
}

/// §6.1: "A server that receives a request message with a transfer coding it does not understand
/// SHOULD respond with 501".
#[test]
fn answers_501_to_codings_before_chunked() {
    for fields in [
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: identity, chunked\r\n",
        "Transfer-Encoding: , chunked\r\n",
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
    ] {
        check_refused(&post(fields, "0\r\n\r\n"), "501 TransferEncodingUnknown");
    }
}

/// §6.1: "A server or client that receives an HTTP/1.0 message containing a Transfer-Encoding
/// header field MUST treat the message as if the framing is faulty".
#[test]
fn refuses_transfer_encoding_from_http_10() {
    let request = "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    check_refused(request, "400 TransferEncodingInOldVersion");
}

/// §6.3, 6: exactly the announced bytes, and the next request begins after them.
#[test]
fn reads_announced_content() {
    let two = post("Content-Length: 5\r\n", "helloGET /b HTTP/1.1\r\nHost: a\r\n\r\n");
    check(&two, &["POST / +5", "content hello", "end", "GET /b", "end"]);
    check(&post("Content-Length: 5\r\n", "hell"), &["POST / +5", "content hell"]);
    check(&post("Content-Length: 4\r\n", "\r\n\r\n"), &["POST / +4", r"content \r\n\r\n", "end"]);
    check(&post("content-length:\t5 \r\n", "hello"), &["POST / +5", "content hello", "end"]);
    check(
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi",
        &["GET / +2", "content hi", "end"],
    );
    check(
        "POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\nhi",
        &["POST / (1.0) +2", "content hi", "end", "close"],
    );
}

/// §6.3, 7: "If this is a request message and none of the above are true, then the message body
/// length is zero". Monkey answered any POST without a length with 411; RFC 9110 §15.5.12 leaves
/// that to the resource.
#[test]
fn a_request_without_framing_has_no_content() {
    check(&post("", ""), &["POST /", "end"]);
    check(&post("Content-Length: 0\r\n", ""), &["POST /", "end"]);
    check("PUT / HTTP/1.1\r\nHost: a\r\n\r\n", &["PUT /", "end"]);
    check(&with_fields("Content-Length: 000\r\n"), &["GET /", "end"]);
}

/// A4: nothing is read after a message whose end is uncertain.
#[test]
fn reads_nothing_after_a_violation() {
    let good = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n";
    let bad = post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "");
    check(&format!("{good}{bad}{good}"), &["GET /a", "end", "400 TransferEncodingWithLength"]);
}
