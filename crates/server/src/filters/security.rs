//! Security headers for browsers: presets, and a directive for each header.
//!
//! They are defaults: a header that the handler sends is kept. `Strict-Transport-Security` is sent
//! only if the client, or the outermost trusted proxy, uses TLS (RFC 6797 §7.2).

use std::borrow::Cow;
use std::sync::Arc;

use vervet_config::{section, words};
use vervet_http::target::Scheme;

use super::FilterDirective;
use super::field_text::FieldText;
use crate::resources::{Opened, Resources};
use crate::web::{Edit, Edits, Pipeline, Request, RequestFilter, Verdict};

words! {
    /// A set of security headers.
    pub enum SecurityPreset {
        /// Only the headers that are set here.
        None = "none",
        /// Headers that break no page: no MIME sniffing, no full Referer to other origins, frames
        /// only on pages of the same origin, and HTTPS for six months after the first use.
        Basic = "basic",
        /// In addition: scripts, styles and other content only from the same origin, no frames, no
        /// access to camera, microphone, location and payment, and HTTPS for two years including
        /// subdomains.
        Strict = "strict",
    }
}

section! {
    /// Security headers for browsers: `security = "basic"`, or `"strict"`. Each header can be set;
    /// an empty value omits it. A header that the action sends itself is kept.
    ///
    /// ```toml
    /// security = { preset = "strict", content_security_policy = "default-src 'self'; img-src *" }
    /// ```
    pub struct Security short(preset) {
        /// The preset that the other directives override.
        pub preset: SecurityPreset = "basic",
        /// X-Content-Type-Options: `nosniff` with `"basic"` and `"strict"`.
        pub content_type_options: Option<FieldText>,
        /// Referrer-Policy: `strict-origin-when-cross-origin` with `"basic"`, `no-referrer` with
        /// `"strict"`.
        pub referrer_policy: Option<FieldText>,
        /// Content-Security-Policy: `frame-ancestors 'self'` with `"basic"`; with `"strict"`
        /// `default-src 'self'; base-uri 'self'; form-action 'self'; object-src 'none';
        /// frame-ancestors 'none'`.
        pub content_security_policy: Option<FieldText>,
        /// X-Frame-Options, for browsers that do not know `frame-ancestors`: `SAMEORIGIN` with
        /// `"basic"`, `DENY` with `"strict"`.
        pub frame_options: Option<FieldText>,
        /// Permissions-Policy: with `"strict"` `camera=(), geolocation=(), microphone=(),
        /// payment=()`.
        pub permissions_policy: Option<FieldText>,
        /// Cross-Origin-Opener-Policy: `same-origin` with `"strict"`.
        pub opener_policy: Option<FieldText>,
        /// Strict-Transport-Security (HSTS), sent only over TLS: `max-age=15552000` with `"basic"`,
        /// `max-age=63072000; includeSubDomains` with `"strict"`.
        pub transport_security: Option<FieldText>,
    }
}

const TRANSPORT: &str = "Strict-Transport-Security";

/// The fields of a section as edits.
#[derive(Debug)]
pub struct SecurityFields {
    always: Arc<[Edit]>,
    over_tls: Arc<[Edit]>,
}

impl FilterDirective for Security {
    fn open(&self, resources: &mut Resources<'_>, pipeline: &mut Pipeline) -> Opened {
        let filter = resources.keeper.share(self, |security| Ok(SecurityFields::new(security)))?;
        pipeline.decorations.push(filter);
        Ok(())
    }
}

impl SecurityFields {
    /// The fields of a section.
    pub fn new(section: &Security) -> Self {
        let preset = *section.preset.value();
        let given = [
            ("X-Content-Type-Options", section.content_type_options.value()),
            ("Referrer-Policy", section.referrer_policy.value()),
            ("Content-Security-Policy", section.content_security_policy.value()),
            ("X-Frame-Options", section.frame_options.value()),
            ("Permissions-Policy", section.permissions_policy.value()),
            ("Cross-Origin-Opener-Policy", section.opener_policy.value()),
            (TRANSPORT, section.transport_security.value()),
        ];
        let (mut always, mut over_tls) = (Vec::new(), Vec::new());
        for (name, given) in given {
            let preset = preset_value(preset, name).map(Cow::Borrowed);
            let value =
                given.as_ref().map_or(preset, |given| Some(Cow::Owned(given.as_str().to_owned())));
            let Some(value) = value.filter(|value| !value.is_empty()) else {
                continue;
            };
            let value = match value {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            };
            let edits = if name == TRANSPORT { &mut over_tls } else { &mut always };
            edits.push(Edit::Default(Cow::Borrowed(name), value));
        }
        Self { always: always.into(), over_tls: over_tls.into() }
    }
}

fn preset_value(preset: SecurityPreset, name: &str) -> Option<&'static str> {
    let (basic, strict) = match name {
        "X-Content-Type-Options" => ("nosniff", "nosniff"),
        "Referrer-Policy" => ("strict-origin-when-cross-origin", "no-referrer"),
        "Content-Security-Policy" => (
            "frame-ancestors 'self'",
            "default-src 'self'; base-uri 'self'; form-action 'self'; object-src 'none'; frame-ancestors 'none'",
        ),
        "X-Frame-Options" => ("SAMEORIGIN", "DENY"),
        "Permissions-Policy" => ("", "camera=(), geolocation=(), microphone=(), payment=()"),
        "Cross-Origin-Opener-Policy" => ("", "same-origin"),
        TRANSPORT => ("max-age=15552000", "max-age=63072000; includeSubDomains"),
        _ => return None,
    };
    match preset {
        SecurityPreset::None => None,
        SecurityPreset::Basic => Some(basic),
        SecurityPreset::Strict => Some(strict),
    }
}

impl RequestFilter for SecurityFields {
    fn name(&self) -> &'static str {
        "security"
    }

    fn check(&self, request: &mut Request<'_>, edits: &mut Edits) -> Verdict {
        edits.share(&self.always);
        if request.scheme == Scheme::Https {
            edits.share(&self.over_tls);
        }
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use vervet_config::read_text;
    use vervet_engine::Response;

    use super::*;

    /// The head of a plain answer, and of one over TLS, without the status line and Content-Type.
    #[track_caller]
    fn check(text: &str, plain: &[&str], tls: &[&str]) {
        let read = read_text::<Security>("test.toml", text);
        let fields = SecurityFields::new(&read.value.unwrap());
        let shown = |edits: &[&Arc<[Edit]>]| {
            let mut all = Edits::default();
            for edits in edits {
                all.share(edits);
            }
            let response = all.apply(Response::text(""));
            let head = String::from_utf8(response.head_bytes().to_vec()).unwrap();
            head.lines().skip(2).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(shown(&[&fields.always]), plain, "{text}");
        let mut both = plain.to_vec();
        both.extend(tls);
        assert_eq!(shown(&[&fields.always, &fields.over_tls]), both, "{text}");
    }

    #[test]
    fn a_value_that_would_end_its_line_is_refused() {
        let read =
            read_text::<Security>("test.toml", "frame_options = \"DENY\\r\\nSet-Cookie: a\"");
        assert!(read.value.is_none() && !read.diagnostics.is_empty());
    }

    #[test]
    fn presets_are_sets_of_fields() {
        check("preset = 'none'", &[], &[]);
        let basic = [
            "X-Content-Type-Options: nosniff",
            "Referrer-Policy: strict-origin-when-cross-origin",
            "Content-Security-Policy: frame-ancestors 'self'",
            "X-Frame-Options: SAMEORIGIN",
        ];
        check("", &basic, &["Strict-Transport-Security: max-age=15552000"]);
        check("preset = 'basic'", &basic, &["Strict-Transport-Security: max-age=15552000"]);
        let strict = [
            "X-Content-Type-Options: nosniff",
            "Referrer-Policy: no-referrer",
            "Content-Security-Policy: default-src 'self'; base-uri 'self'; form-action 'self'; object-src 'none'; frame-ancestors 'none'",
            "X-Frame-Options: DENY",
            "Permissions-Policy: camera=(), geolocation=(), microphone=(), payment=()",
            "Cross-Origin-Opener-Policy: same-origin",
        ];
        check(
            "preset = 'strict'",
            &strict,
            &["Strict-Transport-Security: max-age=63072000; includeSubDomains"],
        );
    }

    #[test]
    fn each_field_can_be_given_or_left_out() {
        check(
            "preset = 'none'\nframe_options = 'DENY'\ntransport_security = 'max-age=1'",
            &["X-Frame-Options: DENY"],
            &["Strict-Transport-Security: max-age=1"],
        );
        check(
            "content_type_options = ''\nreferrer_policy = ''\ncontent_security_policy = \"default-src 'self'\"\ntransport_security = ''",
            &["Content-Security-Policy: default-src 'self'", "X-Frame-Options: SAMEORIGIN"],
            &[],
        );
    }

    #[test]
    fn what_the_action_sends_stands() {
        let read = read_text::<Security>("test.toml", "");
        let mut edits = Edits::default();
        edits.share(&SecurityFields::new(&read.value.unwrap()).always);
        let mut response = Response::text("");
        response.set_field("x-frame-options", b"DENY").unwrap();
        let response = edits.apply(response);
        assert_eq!(response.field_value("X-Frame-Options"), Some(&b"DENY"[..]));
    }
}
