//! Texts with variables.
