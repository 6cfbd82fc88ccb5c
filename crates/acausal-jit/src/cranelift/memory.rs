//! Executable memory: written once, then only executed.

use crate::error::KernelError;
use memmap2::{Mmap, MmapMut};

/// Functions start at multiples of this; it covers the alignment of their constants.
const ALIGNMENT: usize = 32;

/// Functions in executable memory.
pub struct Region {
    map: Mmap,
}

impl Region {
    /// Copies functions into new memory; also gives the offset of each.
    pub fn new(functions: &[Vec<u8>]) -> Result<(Self, Vec<usize>), KernelError> {
        let mut offsets = Vec::with_capacity(functions.len());
        let mut length = 0usize;
        for function in functions {
            offsets.push(length);
            length += function.len().next_multiple_of(ALIGNMENT);
        }
        let failed = |e: std::io::Error| KernelError::Machine(format!("executable memory: {e}"));
        let mut map = MmapMut::map_anon(length.max(1)).map_err(failed)?;
        for (function, offset) in functions.iter().zip(&offsets) {
            map[*offset..*offset + function.len()].copy_from_slice(function);
        }
        let map = map.make_exec().map_err(failed)?;
        synchronise(&map);
        Ok((Self { map }, offsets))
    }

    /// Address of the function at `offset`.
    pub fn at(&self, offset: usize) -> *const u8 {
        self.map[offset..].as_ptr()
    }
}

/// Makes sure that what was written as data is seen as instructions.
#[cfg(target_arch = "x86_64")]
fn synchronise(_map: &Mmap) {
    // x86 keeps both caches coherent.
}

#[cfg(not(target_arch = "x86_64"))]
fn synchronise(map: &Mmap) {
    unsafe extern "C" {
        /// Of the compiler's run-time library (libgcc or compiler-rt).
        fn __clear_cache(start: *mut core::ffi::c_void, end: *mut core::ffi::c_void);
    }
    let range = map.as_ptr_range();
    // SAFETY: the range is mapped.
    unsafe { __clear_cache(range.start.cast_mut().cast(), range.end.cast_mut().cast()) }
}
