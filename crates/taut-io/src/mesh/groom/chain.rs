//! Joins segments to strands.

use super::super::fault::{Fault, fault};

const NONE: u32 = u32::MAX;

/// The points of each strand that `segments` between `points` points make, in the order of the segments that
/// strands begin with. Points without segments belong to none.
///
/// If every segment leads away from the point that the last one led to, strands run the way their segments
/// do; otherwise from that end which the file names first.
pub(super) fn strands(points: usize, segments: &[[u32; 2]], what: &str) -> Result<Vec<Vec<u32>>, Fault> {
    let named = |found: Fault, k: usize| found.at(format!("{what} {k} (from 0)"));
    // The segments of each point: no strand has more than two.
    let mut around = vec![[NONE; 2]; points];
    for (k, segment) in segments.iter().enumerate() {
        let [a, b] = *segment;
        if let Some(outside) = segment.iter().find(|v| **v as usize >= points) {
            let message = format!("names point {outside}: there are {points}, counted from 0");
            return Err(named(fault(message), k));
        }
        if a == b {
            return Err(named(fault(format!("joins point {a} to itself")), k));
        }
        for v in [a, b] {
            let slots = &mut around[v as usize];
            let Some(slot) = slots.iter_mut().find(|slot| **slot == NONE) else {
                let [first, second] = *slots;
                let message = format!(
                    "point {v} already belongs to {what} {first} and {what} {second}: strands must not branch"
                );
                return Err(named(fault(message), k));
            };
            *slot = k as u32;
        }
    }
    let is_end = |v: u32| around[v as usize][1] == NONE;
    // Whether a point follows in both of its segments, or leads both.
    let turns = |v: u32| {
        let [first, second] = around[v as usize];
        second != NONE && (segments[first as usize][0] == v) == (segments[second as usize][0] == v)
    };
    let is_directed = !(0..points as u32).any(turns);
    let mut used = vec![false; segments.len()];
    let mut strands = Vec::new();
    for (k, &[a, b]) in segments.iter().enumerate() {
        let start = match [a, b].map(is_end) {
            _ if used[k] => continue,
            [true, _] => a,
            [_, true] if !is_directed => b,
            _ => continue,
        };
        strands.push(walk(start, segments, &around, &mut used));
    }
    match used.iter().position(|used| !used) {
        Some(k) => Err(named(fault("belongs to a closed loop: a strand must have a root and a tip"), k)),
        None => Ok(strands),
    }
}

/// The points from an end on.
fn walk(start: u32, segments: &[[u32; 2]], around: &[[u32; 2]], used: &mut [bool]) -> Vec<u32> {
    let mut strand = vec![start];
    let mut at = start;
    while let Some(&k) = around[at as usize].iter().find(|&&k| k != NONE && !used[k as usize]) {
        used[k as usize] = true;
        let [a, b] = segments[k as usize];
        at = if at == a { b } else { a };
        strand.push(at);
    }
    strand
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(points: usize, segments: &[[u32; 2]]) -> String {
        strands(points, segments, "edge").unwrap_err().into_problem(None).to_string()
    }

    #[test]
    fn segments_in_any_order_make_strands_from_root_to_tip() {
        let strands = |segments: &[[u32; 2]]| strands(6, segments, "edge").ok().unwrap();
        assert_eq!(strands(&[[0, 1], [1, 2], [3, 4]]), [vec![0, 1, 2], vec![3, 4]]);
        assert_eq!(strands(&[[1, 2], [5, 4], [0, 1], [4, 3]]), [vec![5, 4, 3], vec![0, 1, 2]]);
        assert_eq!(strands(&[[1, 0], [1, 2]]), [vec![0, 1, 2]], "no direction: from the first end");
        assert_eq!(strands(&[[2, 1], [1, 0]]), [vec![2, 1, 0]], "directed");
        assert!(strands(&[]).is_empty());
    }

    #[test]
    fn what_is_no_strand_is_refused() {
        assert!(says(3, &[[0, 3]]).contains("edge 0 (from 0): names point 3: there are 3"));
        assert!(says(3, &[[0, 1], [2, 2]]).contains("edge 1 (from 0): joins point 2 to itself"));
        assert!(says(4, &[[0, 1], [1, 2], [1, 3]]).contains("edge 0 and edge 1: strands must not branch"));
        assert!(says(3, &[[0, 1], [1, 2], [2, 0]]).contains("closed loop"));
    }
}
