//! For tests only: children, raw sockets, temporary trees.
