//! Block upper triangular form of a square pattern: a zero-free diagonal by maximum matching, then the strongly
//! connected components.
//!
//! In: a [`Pattern`]. Out: [`BlockForm`], permutations such that `A[row[i], col[j]]` is zero below the diagonal blocks,
//! or the row and column that a maximum matching leaves uncovered (the matrix is then singular for all values).
//! Matching by augmenting paths with cheap assignment (Duff 1981, MC21), which is nearly linear for most systems but O(n * nnz) at
//! worst; where its searches grow long, the rest is matched in phases of shortest paths (Hopcroft & Karp 1973, O(nnz sqrt(n))).
//! Components by Tarjan 1972 (linear); all with explicit stacks.
//!
//! Worked example: rows {0, 2}, {1}, {0, 1} of columns. The diagonal gives row 0 - column 0 and row 1 - column 1; column
//! 2 has only row 0, so the search moves column 0 on to row 2. The pairs (0, 2), (1, 1), (2, 0) are three blocks of one,
//! and with columns in the order 2, 1, 0 the matrix is upper triangular.

use super::Singular;
use crate::pattern::Pattern;

/// Permutation to block upper triangular form.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockForm {
    /// Original row at each position; `(row[k], col[k])` is an entry of the pattern.
    pub row: Vec<u32>,
    /// Original column at each position.
    pub col: Vec<u32>,
    /// First position of each block, and the size at the end.
    pub block: Vec<u32>,
}

const NONE: u32 = u32::MAX;

/// The searches of MC21 may look at each entry this many times on average before phases take over.
const LOOKS: usize = 16;

/// Computes the block form; fails if the pattern is structurally singular.
pub(crate) fn block_form(pattern: &Pattern) -> Result<BlockForm, Singular> {
    let row_of = match_columns(pattern)?;
    Ok(components(pattern, &row_of))
}

/// Row matched to each column.
pub(crate) fn match_columns(pattern: &Pattern) -> Result<Vec<u32>, Singular> {
    match_within(pattern, LOOKS * (pattern.row_idx().len() + pattern.size()))
}

/// The same; phases take over after so many looks at entries.
fn match_within(pattern: &Pattern, most: usize) -> Result<Vec<u32>, Singular> {
    let n = pattern.size();
    let mut looks = 0;
    let mut row_of = vec![NONE; n];
    let mut col_of = vec![NONE; n];
    // Diagonal entries first: Modelica-like systems and hand-written ones put the defining equation there.
    for j in 0..n {
        if pattern.position(j, j).is_some() {
            row_of[j] = j as u32;
            col_of[j] = j as u32;
        }
    }
    let mut cheap: Vec<usize> = (0..n).map(|j| pattern.range(j).start).collect();
    let mut next = vec![0usize; n];
    let mut visited = vec![NONE; n];
    let mut path: Vec<u32> = Vec::new();
    for start in 0..n {
        if row_of[start] != NONE {
            continue;
        }
        if looks > most {
            return match_in_phases(pattern, row_of, col_of);
        }
        path.clear();
        path.push(start as u32);
        visited[start] = start as u32;
        next[start] = pattern.range(start).start;
        let mut free_row = None;
        'search: while let Some(&column) = path.last() {
            let j = column as usize;
            let end = pattern.range(j).end;
            while cheap[j] < end {
                let row = pattern.row_idx()[cheap[j]];
                cheap[j] += 1;
                if col_of[row as usize] == NONE {
                    free_row = Some(row);
                    break 'search;
                }
            }
            let mut deeper = None;
            while next[j] < end {
                let row = pattern.row_idx()[next[j]];
                next[j] += 1;
                looks += 1;
                let other = col_of[row as usize];
                if visited[other as usize] != start as u32 {
                    deeper = Some(other);
                    break;
                }
            }
            match deeper {
                Some(other) => {
                    visited[other as usize] = start as u32;
                    next[other as usize] = pattern.range(other as usize).start;
                    path.push(other);
                }
                None => {
                    path.pop();
                }
            }
        }
        let Some(mut row) = free_row else {
            let row = col_of.iter().position(|&c| c == NONE).unwrap_or(0);
            return Err(Singular {
                row,
                col: start,
                structural: true,
            });
        };
        // Shift the matching along the path: each column takes the row found below it and frees its own.
        while let Some(column) = path.pop() {
            let freed = row_of[column as usize];
            row_of[column as usize] = row;
            col_of[row as usize] = column;
            row = freed;
        }
    }
    Ok(row_of)
}

/// Completes a matching: each phase finds the lengths of the shortest augmenting paths and then as many such paths as there are
/// without a column in common.
fn match_in_phases(
    pattern: &Pattern,
    mut row_of: Vec<u32>,
    mut col_of: Vec<u32>,
) -> Result<Vec<u32>, Singular> {
    let n = pattern.size();
    let mut level = vec![NONE; n];
    let mut next = vec![0usize; n];
    let mut queue: Vec<u32> = Vec::new();
    let mut path: Vec<u32> = Vec::new();
    loop {
        level.fill(NONE);
        queue.clear();
        for j in 0..n {
            next[j] = pattern.range(j).start;
            if row_of[j] == NONE {
                level[j] = 0;
                queue.push(j as u32);
            }
        }
        let free = queue.len();
        if free == 0 {
            return Ok(row_of);
        }
        let mut at = 0;
        let mut found = NONE;
        while at < queue.len() {
            let j = queue[at] as usize;
            at += 1;
            if level[j] >= found {
                break;
            }
            for &row in pattern.rows_of(j) {
                let other = col_of[row as usize];
                if other == NONE {
                    found = level[j];
                } else if level[other as usize] == NONE {
                    level[other as usize] = level[j] + 1;
                    queue.push(other);
                }
            }
        }
        let mut augmented = false;
        for &start in &queue[..free] {
            path.clear();
            path.push(start);
            let mut free_row = None;
            'search: while let Some(&column) = path.last() {
                let j = column as usize;
                let mut deeper = None;
                while next[j] < pattern.range(j).end {
                    let row = pattern.row_idx()[next[j]];
                    next[j] += 1;
                    let other = col_of[row as usize];
                    if other == NONE {
                        free_row = Some(row);
                        break 'search;
                    }
                    if level[other as usize] == level[j] + 1 {
                        deeper = Some(other);
                        break;
                    }
                }
                match deeper {
                    Some(other) => path.push(other),
                    None => {
                        // Nothing more is reached through this column in this phase.
                        level[j] = NONE;
                        path.pop();
                    }
                }
            }
            let Some(mut row) = free_row else { continue };
            augmented = true;
            while let Some(column) = path.pop() {
                let freed = row_of[column as usize];
                row_of[column as usize] = row;
                col_of[row as usize] = column;
                level[column as usize] = NONE;
                row = freed;
            }
        }
        if !augmented {
            return Err(Singular {
                row: col_of.iter().position(|&c| c == NONE).unwrap_or(0),
                col: row_of.iter().position(|&r| r == NONE).unwrap_or(0),
                structural: true,
            });
        }
    }
}

/// Tarjan's algorithm on the graph column j -> column matched to row i, for each entry (i, j).
fn components(pattern: &Pattern, row_of: &[u32]) -> BlockForm {
    let n = pattern.size();
    let mut col_of = vec![0u32; n];
    for (j, &row) in row_of.iter().enumerate() {
        col_of[row as usize] = j as u32;
    }
    let mut number = vec![NONE; n];
    let mut low = vec![0u32; n];
    let mut on_stack = vec![false; n];
    let mut stack: Vec<u32> = Vec::new();
    let mut calls: Vec<(u32, usize)> = Vec::new();
    let mut count = 0u32;
    let mut form = BlockForm {
        row: Vec::with_capacity(n),
        col: Vec::with_capacity(n),
        block: vec![0],
    };
    for root in 0..n {
        if number[root] != NONE {
            continue;
        }
        calls.push((root as u32, pattern.range(root).start));
        number[root] = count;
        low[root] = count;
        count += 1;
        stack.push(root as u32);
        on_stack[root] = true;
        while let Some(top) = calls.last_mut() {
            let j = top.0 as usize;
            if top.1 < pattern.range(j).end {
                let i = col_of[pattern.row_idx()[top.1] as usize] as usize;
                top.1 += 1;
                if number[i] == NONE {
                    number[i] = count;
                    low[i] = count;
                    count += 1;
                    stack.push(i as u32);
                    on_stack[i] = true;
                    calls.push((i as u32, pattern.range(i).start));
                } else if on_stack[i] {
                    low[j] = low[j].min(number[i]);
                }
                continue;
            }
            calls.pop();
            if let Some(parent) = calls.last() {
                let parent = parent.0 as usize;
                low[parent] = low[parent].min(low[j]);
            }
            if low[j] == number[j] {
                let first = form.col.len();
                while let Some(member) = stack.pop() {
                    on_stack[member as usize] = false;
                    form.col.push(member);
                    if member as usize == j {
                        break;
                    }
                }
                // Ascending inside a block: the natural order is often a good one, and ties are broken by it.
                form.col[first..].sort_unstable();
                form.block.push(form.col.len() as u32);
            }
        }
    }
    form.row = form.col.iter().map(|&j| row_of[j as usize]).collect();
    form
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_blocks_of_one() {
        let p = Pattern::from_entries(3, [(0, 0), (0, 2), (1, 1), (2, 0), (2, 1)]).unwrap();
        let form = block_form(&p).unwrap();
        assert_eq!(form.block, [0, 1, 2, 3]);
        // Upper triangular: column 2 has row 0 only, column 0 rows 0 and 2, column 1 rows 1 and 2.
        for (position, &column) in form.col.iter().enumerate() {
            for &row in p.rows_of(column as usize) {
                let at = form.row.iter().position(|&r| r == row).unwrap();
                assert!(at <= position);
            }
        }
    }

    /// Phases from the first column on against searches alone, on patterns with a random number of entries.
    #[test]
    fn phases_match_what_searches_match() {
        let mut state = 1u64;
        let mut random = move |below: usize| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) as usize % below
        };
        let (mut regular, mut singular) = (0, 0);
        for _ in 0..2000 {
            let n = 1 + random(12);
            let entries: Vec<(usize, usize)> = (0..2 * n + random(2 * n))
                .map(|_| (random(n), random(n)))
                .collect();
            let p = Pattern::from_entries(n, entries).unwrap();
            let (a, b) = (
                match_within(&p, usize::MAX),
                match_in_phases(&p, vec![NONE; n], vec![NONE; n]),
            );
            assert_eq!(a.is_ok(), b.is_ok());
            let Ok(rows) = b else {
                singular += 1;
                continue;
            };
            regular += 1;
            let mut seen = vec![false; n];
            for (j, &row) in rows.iter().enumerate() {
                assert!(p.position(row as usize, j).is_some());
                assert!(!std::mem::replace(&mut seen[row as usize], true));
            }
        }
        assert!(regular > 100 && singular > 100, "{regular} {singular}");
    }

    #[test]
    fn an_empty_row_is_structurally_singular() {
        let p = Pattern::from_entries(3, [(0, 0), (0, 1), (1, 1), (1, 2)]).unwrap();
        let singular = block_form(&p).unwrap_err();
        assert_eq!((singular.row, singular.structural), (2, true));
    }

    #[test]
    fn a_long_cycle_is_one_block_without_recursion() {
        let n = 200_000;
        let p = Pattern::from_entries(n, (0..n).flat_map(|i| [(i, i), ((i + 1) % n, i)])).unwrap();
        assert_eq!(block_form(&p).unwrap().block, [0, n as u32]);
    }
}
