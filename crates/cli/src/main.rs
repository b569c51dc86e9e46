//! The vervet command.

fn main() {}
