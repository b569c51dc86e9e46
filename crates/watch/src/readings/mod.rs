//! The texts of the kernel, parsed: bytes in, values out, nothing read here. What is cut short or
//! no number gives none, never a guess.

mod labelled;
mod socket;
mod stat;

pub(crate) use labelled::{number_after, paired};
pub(crate) use socket::{listening_inodes, socket_inode};
pub(crate) use stat::stat;
