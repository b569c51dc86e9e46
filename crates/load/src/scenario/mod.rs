//! What a kind of user does, step by step, as a TOML document.
