//! The outline of a panel: edges in a loop, sampled, without crossings.

use glam::DVec2;
use robust::{Coord, orient2d};

use super::Edge;

/// The order in which edges follow each other, beginning with the first.
///
/// # Errors
/// The edge at which the loop breaks, and why.
pub(super) fn order(edges: &[Edge]) -> Result<Vec<usize>, (usize, String)> {
    let mut leaving = std::collections::BTreeMap::new();
    for (number, edge) in edges.iter().enumerate() {
        if let Some(other) = leaving.insert(edge.ends[0], number) {
            let message = format!(
                "starts at vertex {}, as edge {other} does; edges must form a loop, each starting where another ends",
                edge.ends[0]
            );
            return Err((number, message));
        }
    }
    let mut order = vec![0];
    let mut at = 0;
    while order.len() < edges.len() {
        let end = edges[at].ends[1];
        match leaving.get(&end) {
            None => {
                let message = format!(
                    "ends at vertex {end}, where no edge starts; edges must form a loop, each starting where another ends"
                );
                return Err((at, message));
            }
            Some(0) => {
                let left = (0..edges.len()).find(|number| !order.contains(number)).unwrap_or(at);
                let message = format!(
                    "closes the loop after {} of {} edges (edge {left} is not in it); a panel must be one loop, holes are not supported",
                    order.len(),
                    edges.len()
                );
                return Err((at, message));
            }
            Some(&next) => {
                order.push(next);
                at = next;
            }
        }
    }
    if edges[at].ends[1] != edges[0].ends[0] {
        let message = format!(
            "ends at vertex {}, must end at vertex {}, where the loop starts",
            edges[at].ends[1], edges[0].ends[0]
        );
        return Err((at, message));
    }
    Ok(order)
}

/// Twice the area of a polygon; negative if it runs clockwise.
pub(super) fn twice_area(polygon: &[DVec2]) -> f64 {
    let first = polygon.first().copied().unwrap_or_default();
    polygon.windows(2).map(|pair| (pair[0] - first).perp_dot(pair[1] - first)).sum()
}

/// Two sides of a polygon that cross or touch, and not at a common end.
pub(super) fn crossing(polygon: &[DVec2]) -> Option<[usize; 2]> {
    let count = polygon.len();
    let side = |k: usize| [polygon[k], polygon[(k + 1) % count]];
    let low = |k: usize| side(k)[0].x.min(side(k)[1].x);
    let high = |k: usize| side(k)[0].x.max(side(k)[1].x);
    // From left to right, each with those that have not ended.
    let mut sides: Vec<usize> = (0..count).collect();
    sides.sort_by(|&a, &b| low(a).total_cmp(&low(b)).then(a.cmp(&b)));
    let mut open: Vec<usize> = Vec::new();
    for &k in &sides {
        open.retain(|&other| high(other) >= low(k));
        for &other in &open {
            let [first, second] = [k.min(other), k.max(other)];
            let meets = if second == first + 1 {
                folds(side(first), side(second)[1])
            } else if first == 0 && second == count - 1 {
                folds(side(second), side(first)[1])
            } else {
                meet(side(first), side(second))
            };
            if meets {
                return Some([first, second]);
            }
        }
        open.push(k);
    }
    None
}

/// Whether a side and the next one, which ends at `end`, lie on top of each other.
fn folds([a, b]: [DVec2; 2], end: DVec2) -> bool {
    turn(a, b, end) == 0.0 && (a - b).dot(end - b) > 0.0
}

fn turn(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    let [a, b, c] = [a, b, c].map(|p| Coord { x: p.x, y: p.y });
    orient2d(a, b, c)
}

/// Whether two segments have a point in common.
fn meet([a, b]: [DVec2; 2], [c, d]: [DVec2; 2]) -> bool {
    if a.y.min(b.y) > c.y.max(d.y) || c.y.min(d.y) > a.y.max(b.y) {
        return false;
    }
    if a.x.min(b.x) > c.x.max(d.x) || c.x.min(d.x) > a.x.max(b.x) {
        return false;
    }
    // With boxes that overlap, two segments on one line touch.
    let apart = |x: f64, y: f64| (x > 0.0 && y > 0.0) || (x < 0.0 && y < 0.0);
    !apart(turn(a, b, c), turn(a, b, d)) && !apart(turn(c, d, a), turn(c, d, b))
}
