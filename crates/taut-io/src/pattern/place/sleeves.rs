//! Sleeves that start inside what they are sewn to.

use glam::{DVec2, DVec3};

use super::{FARTHEST, Pair, STEP};

/// How far sideways a group must extend from its seams, as a cosine, to be a sleeve.
pub(super) const SIDEWAYS: f64 = 0.4;

/// Direction in which a group extends from its seams to others, in the xy plane: sideways for sleeves.
pub(super) fn extent(
    group: usize,
    pairs: &[Pair],
    groups: &[usize],
    outlines: &[Vec<DVec3>],
    shift: &[DVec3],
) -> Option<DVec3> {
    let mut seam = Vec::new();
    for pair in pairs {
        for side in 0..2 {
            let [own, other] = [pair.panels[side], pair.panels[1 - side]];
            if groups[own] == group && groups[other] != group {
                seam.push(pair.ends[side] + DVec3::Y * shift[own].y);
            }
        }
    }
    let members = || (0..groups.len()).filter(move |&k| groups[k] == group);
    let all: Vec<DVec3> =
        members().flat_map(|k| outlines[k].iter().map(move |p| *p + DVec3::Y * shift[k].y)).collect();
    let from = (!seam.is_empty() && !all.is_empty()).then(|| mean(&seam))?;
    Some((mean(&all) - from).with_z(0.0).normalize_or_zero())
}

/// Moves sleeves along the arm until they are beside what they are sewn to: inside it, they would have to
/// pass through it, and what intersects at an armhole when the body grows tears at the sleeve.
pub(super) fn draw_out(pairs: &[Pair], groups: &[usize], outlines: &[Vec<DVec3>], shift: &mut [DVec3]) {
    let members = |group: usize| (0..groups.len()).filter(move |&k| groups[k] == group);
    for group in 0..groups.len() {
        let Some(along) = extent(group, pairs, groups, outlines, shift) else { continue };
        // Skirts and collars, up and down, are put on as they are.
        if along.x.abs() < SIDEWAYS {
            continue;
        }
        let mut others = Vec::new();
        for pair in pairs {
            for side in 0..2 {
                let [own, other] = [pair.panels[side], pair.panels[1 - side]];
                if groups[own] == group && groups[other] != group {
                    others.push([own, other]);
                }
            }
        }
        others.sort_unstable();
        others.dedup();
        // Fronts with fronts, backs with backs.
        others.retain(|&[a, b]| mean(&outlines[a]).z * mean(&outlines[b]).z > 0.0);
        let flat = |panel: usize, by: DVec3| -> Vec<DVec2> {
            outlines[panel].iter().map(|p| (*p + shift[panel] + by).truncate()).collect()
        };
        let is_free = |by: DVec3| {
            others.iter().all(|&[own, other]| !overlap(&flat(own, by), &flat(other, DVec3::ZERO)))
        };
        let ways = (0..=(FARTHEST / STEP) as i32).map(|k| along * (STEP * f64::from(k)));
        if let Some(way) = ways.clone().find(|way| is_free(*way)) {
            members(group).for_each(|k| shift[k] += way);
        }
    }
}

pub(super) fn mean(points: &[DVec3]) -> DVec3 {
    points.iter().sum::<DVec3>() / points.len().max(1) as f64
}

/// Whether two polygons have points in common.
pub(super) fn overlap(a: &[DVec2], b: &[DVec2]) -> bool {
    let sides =
        |p: &[DVec2]| -> Vec<[DVec2; 2]> { (0..p.len()).map(|k| [p[k], p[(k + 1) % p.len()]]).collect() };
    let contains = |polygon: &[DVec2], p: DVec2| {
        let crosses = |[a, b]: &[DVec2; 2]| {
            (a.y > p.y) != (b.y > p.y) && p.x < a.x + (b.x - a.x) * (p.y - a.y) / (b.y - a.y)
        };
        sides(polygon).iter().filter(|side| crosses(side)).count() % 2 == 1
    };
    let turn = |a: DVec2, b: DVec2, c: DVec2| (b - a).perp_dot(c - a);
    let meet = |[a, b]: &[DVec2; 2], [c, d]: &[DVec2; 2]| {
        turn(*a, *b, *c) * turn(*a, *b, *d) < 0.0 && turn(*c, *d, *a) * turn(*c, *d, *b) < 0.0
    };
    let (of_a, of_b) = (sides(a), sides(b));
    of_a.iter().any(|s| of_b.iter().any(|t| meet(s, t)))
        || a.iter().any(|p| contains(b, *p))
        || b.iter().any(|p| contains(a, *p))
}
