//! Memory that was freed, and when the system gets it back.

/// Larger than what mimalloc keeps the pages of when they are empty, which ends at 512 KiB.
const PIECE_BYTES: usize = 4 << 20;

/// Gives back what was freed a second ago or longer. mimalloc does so when another piece is freed:
/// a server at rest frees none, and would keep for good what its configuration took while it was
/// read.
pub(crate) fn give_back() {
    // Nothing is written to the piece, so none of it becomes memory.
    drop(std::hint::black_box(Vec::<u8>::with_capacity(PIECE_BYTES)));
}
