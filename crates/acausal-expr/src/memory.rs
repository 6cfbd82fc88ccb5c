//! Memory that has been freed goes back to the system.
//!
//! The compilation of a large model is a chain of stages, and each lets go what the one before it made: millions of small pieces
//! among those that stay. The allocator of the GNU C library keeps such pages unless the end of its heap is free, so that the next
//! stage takes new ones and the process looks as large as all stages together. Other allocators give pages back by themselves, and
//! there nothing is done.

/// Gives unused pages back. Takes time that is linear in the number of free pieces, so it is for models with at least [`LARGE`] variables.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> i32;
        }
        // SAFETY: the function is part of the C library on this target, may be called at any time from any thread, and moves nothing that
        // is in use.
        let _ = unsafe { malloc_trim(0) };
    }
}

/// Makes room for small pieces on the heap of the calling thread, a new one.
///
/// The GNU C library asks the system for the pages of such a heap one by one as it grows, ten thousand times for a large syntax tree. What has been asked
/// for once stays the heap's, though it holds nothing, and takes no memory before it is used. Elsewhere this does nothing of use, and little harm.
pub fn make_room(bytes: usize) {
    // The largest pieces that still come from the heap; the last ones go first, so that the free ones are one again.
    const PIECE: usize = 100 << 10;
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    for _ in 0..bytes.min(MOST_ROOM) / PIECE {
        pieces.push(std::hint::black_box(Vec::with_capacity(PIECE)));
    }
    while let Some(piece) = pieces.pop() {
        drop(piece);
    }
}

/// What a heap of a thread has room for at most.
const MOST_ROOM: usize = 60 << 20;

/// From this many variables on it pays: some tens of megabytes.
pub const LARGE: usize = 20_000;
