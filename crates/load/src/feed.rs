//! Rows of values for requests, from CSV.
