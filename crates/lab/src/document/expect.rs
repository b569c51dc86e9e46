//! `expect`: what must come back.

use vervet_config::{Size, Text, section};

section! {
    /// What must come back for each request. An answer that is otherwise is an error and no throughput.
    pub struct Expect {
        /// The status code.
        pub status: u16 = 200 in 100..=599,
        /// The length of the content. That of a generated file is known without it.
        pub length: Option<Size>,
        /// The SHA-256 of the content, in hexadecimal. That of a generated file is known without it.
        pub sha256: Option<Text>,
        /// A text that is in the content.
        pub contains: Option<Text>,
        /// The content itself, whole.
        pub text: Option<Text>,
    }
}
