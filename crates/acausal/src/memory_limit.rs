//! No allocation beyond the memory limit: the program says so and ends, instead of being ended by the system.
//!
//! Passes check what they can foresee and answer with a place in the model (`acausal_expr::limits`). What nobody foresaw ends up
//! here: every large block is compared with what is left. Small ones are not, for they would cost more to check than to make, and
//! what grows without end becomes large sooner or later: vectors and tables double their blocks.
//!
//! An allocator may not unwind, so the last word is said from here: a message in the wanted format, no temporary files left, exit code
//! of a failure.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Read;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use acausal_base::{Diagnostic, Span};
use acausal_expr::limits::bytes_text;

use crate::Activity;
use crate::cli::answer;
use crate::command::exit;

/// The system's allocator with a limit.
pub struct Limited;

/// Blocks from this size on are checked.
const LARGE: usize = 1 << 20;
/// Bytes of a page, the unit of `/proc/self/statm`.
const PAGE: u64 = 4096;

static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);
/// The last word is being said, for which memory is needed as well.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Sets the limit in bytes.
pub fn set(bytes: u64) {
    LIMIT.store(bytes, Ordering::Relaxed);
}

// SAFETY: every call goes to the system's allocator unchanged, or does not return.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        check(layout.size());
        // SAFETY: the caller's contract.
        given(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        check(layout.size());
        // SAFETY: the caller's contract.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        check(size.saturating_sub(layout.size()));
        // SAFETY: the caller's contract.
        given(unsafe { System.realloc(place, layout, size) }, size)
    }
}

#[inline]
fn check(size: usize) {
    if size >= LARGE {
        compare(size);
    }
}

#[cold]
fn compare(size: usize) {
    let limit = LIMIT.load(Ordering::Relaxed);
    if limit < u64::MAX && resident().saturating_add(size as u64) > limit {
        refuse(size);
    }
}

#[inline]
fn given(place: *mut u8, size: usize) -> *mut u8 {
    if place.is_null() && size > 0 {
        refuse(size);
    }
    place
}

/// Bytes of this process in memory; 0 where the system does not tell.
fn resident() -> u64 {
    let mut text = [0u8; 128];
    let read = std::fs::File::open("/proc/self/statm").and_then(|mut f| f.read(&mut text));
    let Some(text) = read.ok().and_then(|n| std::str::from_utf8(&text[..n]).ok()) else {
        return 0;
    };
    let pages = text.split(' ').nth(1).and_then(|w| w.parse::<u64>().ok());
    pages.unwrap_or(0).saturating_mul(PAGE)
}

#[cold]
fn refuse(size: usize) {
    if ENDING.swap(true, Ordering::Relaxed) {
        return;
    }
    let limit = LIMIT.load(Ordering::Relaxed);
    let d = Diagnostic::error(
        "memory-limit",
        Span::NONE,
        format!(
            "out of memory while {}: {} are in use, {} more are needed",
            Activity::now().text(),
            bytes_text(resident() as f64),
            bytes_text(size as f64)
        ),
    );
    let d = match limit {
        u64::MAX => d.hint("make the model smaller"),
        _ => d.hint(format!(
            "make the model smaller, or raise `--memory-limit` (now {})",
            bytes_text(limit as f64)
        )),
    };
    answer::end_with(&d, exit::FAILED);
}
