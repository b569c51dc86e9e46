//! The cookies of one user and one host, as in a browser (RFC 6265): by name and path, until they
//! expire. There is only one host, so Domain is ignored; so is Secure, as tests run without TLS.

use std::time::Duration;

use vervet_http::field::is_value_byte;

use super::answer::fields;

/// Maximum number of cookies of one user; the oldest is dropped (RFC 6265 §6.1 requires at least 50
/// per domain).
pub const COOKIES_MAX: usize = 180;
/// The longest cookie, name and value together (RFC 6265 §6.1); a longer one is not kept.
pub const COOKIE_BYTES_MAX: usize = 4096;

/// The cookies of one user.
#[derive(Debug, Default)]
pub(super) struct Jar {
    /// Longer paths first, and among equals what was set first (RFC 6265 §5.4).
    cookies: Vec<Cookie>,
    /// How many have been set.
    count: u64,
}

#[derive(Debug)]
struct Cookie {
    name: Vec<u8>,
    value: Vec<u8>,
    path: Vec<u8>,
    /// Expiry, since the start of the run.
    end: Option<Duration>,
    /// How many had been set before it.
    number: u64,
}

impl Jar {
    /// Stores the cookies that a response sets. `target` is the request target, `now` the time
    /// since the start of the run.
    pub(super) fn take(&mut self, lines: &[u8], target: &[u8], now: Duration) {
        let date = fields(lines).find(|(name, _)| name.eq_ignore_ascii_case(b"date"));
        let date = date.and_then(|(_, value)| vervet_http::date::parse(value));
        for (name, value) in fields(lines) {
            if name.eq_ignore_ascii_case(b"set-cookie") {
                self.set(value, target, now, date);
            }
        }
    }

    /// RFC 6265 §5.2 and §5.3.
    fn set(&mut self, line: &[u8], target: &[u8], now: Duration, date: Option<u64>) {
        let mut parts = line.split(|&byte| byte == b';');
        let pair = parts.next().unwrap_or_default();
        let Some(equals) = memchr::memchr(b'=', pair) else {
            return;
        };
        let (name, value) = (pair[..equals].trim_ascii(), pair[equals + 1..].trim_ascii());
        let is_sound = line.iter().all(|&byte| is_value_byte(byte));
        if name.is_empty() || !is_sound || name.len() + value.len() > COOKIE_BYTES_MAX {
            return;
        }
        let mut path = default_path(target);
        let (mut expires, mut max_age) = (None, None);
        for part in parts {
            let equals = memchr::memchr(b'=', part).unwrap_or(part.len());
            let key = part[..equals].trim_ascii();
            let value = part.get(equals + 1..).unwrap_or_default().trim_ascii();
            if key.eq_ignore_ascii_case(b"path") {
                path = if value.starts_with(b"/") { value } else { default_path(target) };
            } else if key.eq_ignore_ascii_case(b"max-age") {
                max_age = age(value).or(max_age);
            } else if key.eq_ignore_ascii_case(b"expires") {
                expires = vervet_http::date::parse(value).or(expires);
            }
        }
        // By the clock of the server: ours may be another. One without a date can still say that a
        // cookie is long over.
        let rest = expires.map(|end| end.saturating_sub(date.unwrap_or(YEAR_2000)));
        let rest = max_age.or(rest).map(Duration::from_secs);
        self.count += 1;
        let cookie = Cookie {
            name: name.to_vec(),
            value: value.to_vec(),
            path: path.to_vec(),
            end: rest.map(|rest| now.saturating_add(rest)),
            number: self.count,
        };
        self.put(cookie, now);
    }

    fn put(&mut self, cookie: Cookie, now: Duration) {
        let known = self
            .cookies
            .iter()
            .position(|known| known.name == cookie.name && known.path == cookie.path);
        let is_over = cookie.end.is_some_and(|end| end <= now);
        match known {
            Some(at) if is_over => {
                self.cookies.remove(at);
            }
            Some(at) => {
                let number = self.cookies[at].number;
                self.cookies[at] = Cookie { number, ..cookie };
            }
            None if is_over => {}
            None => {
                if self.cookies.len() == COOKIES_MAX {
                    let oldest = self.cookies.iter().map(|known| known.number).min();
                    self.cookies.retain(|known| Some(known.number) != oldest);
                }
                let longer = |known: &Cookie| known.path.len() >= cookie.path.len();
                let at = self.cookies.partition_point(longer);
                self.cookies.insert(at, cookie);
            }
        }
    }

    /// Appends the Cookie header for a target, if it has cookies.
    pub(super) fn push_line(&mut self, target: &[u8], now: Duration, out: &mut Vec<u8>) {
        self.cookies.retain(|cookie| cookie.end.is_none_or(|end| end > now));
        let path = path(target);
        let mut before: &[u8] = b"Cookie: ";
        for cookie in &self.cookies {
            if is_below(path, &cookie.path) {
                for part in [before, &cookie.name, b"=", &cookie.value] {
                    out.extend_from_slice(part);
                }
                before = b"; ";
            }
        }
        if before == b"; " {
            out.extend_from_slice(b"\r\n");
        }
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.cookies.clear();
    }
}

/// 2000-01-01 in seconds since 1970.
const YEAR_2000: u64 = 946_684_800;

/// Seconds of Max-Age; what is negative is over.
fn age(value: &[u8]) -> Option<u64> {
    let text = str::from_utf8(value).ok()?;
    match text.strip_prefix('-') {
        Some(digits) => digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(0),
        None if text.bytes().all(|byte| byte.is_ascii_digit()) => {
            // So many digits that they do not fit mean that it lasts.
            (!text.is_empty()).then(|| text.parse().unwrap_or(u64::from(u32::MAX)))
        }
        None => None,
    }
}

fn path(target: &[u8]) -> &[u8] {
    target.split(|&byte| byte == b'?').next().unwrap_or(target)
}

/// RFC 6265 §5.1.4: the path up to its last slash.
fn default_path(target: &[u8]) -> &[u8] {
    let path = path(target);
    match memchr::memrchr(b'/', path) {
        None | Some(0) => b"/",
        Some(last) => &path[..last],
    }
}

/// RFC 6265 §5.1.4: the same path, or one below it.
fn is_below(path: &[u8], above: &[u8]) -> bool {
    path.strip_prefix(above)
        .is_some_and(|rest| rest.is_empty() || rest[0] == b'/' || above.ends_with(b"/"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What is sent with `asked` after these answers to `target`, which came at these seconds.
    fn check(target: &str, answers: &[(u64, &str)], asked: &str, now: u64, expected: &str) {
        let mut jar = Jar::default();
        for (at, lines) in answers {
            jar.take(lines.as_bytes(), target.as_bytes(), Duration::from_secs(*at));
        }
        let mut out = Vec::new();
        jar.push_line(asked.as_bytes(), Duration::from_secs(now), &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), expected, "{answers:?}");
    }

    #[test]
    fn invalid_cookies_are_ignored() {
        for line in ["a", "=b", "; Path=/", "a\x01=b"] {
            check("/", &[(0, &format!("Set-Cookie: {line}\r\n"))], "/", 0, "");
        }
        let most = "x".repeat(COOKIE_BYTES_MAX - 1);
        let line = format!("Set-Cookie: a={most}\r\n");
        check("/", &[(0, &line)], "/", 0, &format!("Cookie: a={most}\r\n"));
        check("/", &[(0, &line.replace("a=", "aa="))], "/", 0, "");
    }

    #[test]
    fn cookies_are_bounded() {
        let mut jar = Jar::default();
        for number in 0..=COOKIES_MAX {
            let line = format!("Set-Cookie: c{number}=1\r\n");
            jar.take(line.as_bytes(), b"/", Duration::ZERO);
        }
        assert_eq!(jar.cookies.len(), COOKIES_MAX);
        assert_eq!(jar.cookies[0].name, b"c1");
    }

    #[test]
    fn cookies_are_replaced_and_removed() {
        let set = "Set-Cookie: a=1\r\nset-cookie: b = 2 ; HttpOnly\r\n";
        check("/", &[(0, set)], "/x", 9, "Cookie: a=1; b=2\r\n");
        check("/", &[(0, set), (1, "Set-Cookie: a=3\r\n")], "/", 9, "Cookie: a=3; b=2\r\n");
        for over in ["Max-Age=0", "max-age=-5", "Expires=Thu, 01 Jan 1970 00:00:00 GMT"] {
            let line = format!("Set-Cookie: a=x; {over}\r\n");
            check("/", &[(0, set), (1, &line)], "/", 9, "Cookie: b=2\r\n");
        }
    }

    #[test]
    fn cookies_last_as_long_as_they_say() {
        let set = "Set-Cookie: a=1; Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT\r\n";
        check("/", &[(5, set)], "/", 14, "Cookie: a=1\r\n");
        check("/", &[(5, set)], "/", 15, "");
        let dated = "Date: Sun, 22 Nov 2026 10:00:00 GMT\r\nSet-Cookie: a=1; Expires=Sun, 22 Nov 2026 10:00:10 GMT\r\n";
        check("/", &[(5, dated)], "/", 14, "Cookie: a=1\r\n");
        check("/", &[(5, dated)], "/", 15, "");
        let long = "Set-Cookie: a=1; Max-Age=99999999999999999999\r\n";
        check("/", &[(5, long)], "/", 9999, "Cookie: a=1\r\n");
    }

    #[test]
    fn cookies_go_where_their_path_says() {
        let set = "Set-Cookie: a=1; Path=/\r\nSet-Cookie: b=2; Path=/shop\r\nSet-Cookie: c=3\r\nSet-Cookie: d=4; Path=x\r\n";
        let at = "/shop/cart/list?x=/y";
        check(at, &[(0, set)], "/shop/cart/x", 0, "Cookie: c=3; d=4; b=2; a=1\r\n");
        check(at, &[(0, set)], "/shop/cart", 0, "Cookie: c=3; d=4; b=2; a=1\r\n");
        check(at, &[(0, set)], "/shop?q", 0, "Cookie: b=2; a=1\r\n");
        check(at, &[(0, set)], "/shopping", 0, "Cookie: a=1\r\n");
    }

    proptest! {
        #[test]
        fn any_answer_sets_cookies_or_none(
            lines in prop::collection::vec("(Set-Cookie|Date): [ -~]{0,40}", 0..5),
            target in "/[ -~]{0,9}",
        ) {
            let mut jar = Jar::default();
            jar.take(lines.join("\r\n").as_bytes(), target.as_bytes(), Duration::ZERO);
            let mut out = Vec::new();
            jar.push_line(target.as_bytes(), Duration::ZERO, &mut out);
            prop_assert!(String::from_utf8_lossy(&out).lines().count() <= 1);
        }
    }
}
