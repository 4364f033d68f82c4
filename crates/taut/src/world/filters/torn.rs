//! Levels of cloth that has torn: those of the whole, so that nothing is coarsened again.

use std::collections::BTreeMap;

use crate::{
    hierarchy::{Options, Transfer},
    mesh::{TriangleMesh, split},
    world::HierarchyCache,
};

/// Levels of a mesh, with the vertices of each in an order that keeps neighbours close; `order` is that of
/// the finest. Those of `mesh`, torn from `whole`, are levels of the whole with what was split off beside what
/// it was split from, and with vertices of their own for each piece.
pub(super) fn transfers(
    (whole, mesh, origins): (&TriangleMesh, &TriangleMesh, &[u32]),
    order: &[u32],
    cache: &HierarchyCache,
) -> Vec<Transfer> {
    if mesh.triangles.is_empty() {
        return Vec::new();
    }
    let hierarchy = cache.hierarchy(whole, &Options::default());
    let count = whole.positions.len();
    if mesh.positions.len() == count {
        let levels = hierarchy.reordered(order).levels;
        return levels.into_iter().map(|level| level.transfer).collect();
    }
    // Vertices of the whole in the engine's order: each of them is still there, under its old name.
    let names: Vec<u32> = order.iter().map(|&v| origins[v as usize]).collect();
    let mut place = vec![u32::MAX; count];
    let mut order_of_whole = Vec::with_capacity(count);
    for &name in &names {
        if place[name as usize] == u32::MAX {
            place[name as usize] = order_of_whole.len() as u32;
            order_of_whole.push(name);
        }
    }
    let levels = hierarchy.reordered(&order_of_whole).levels;
    let levels = levels.into_iter().map(|level| level.transfer).collect();
    let rows: Vec<u32> = names.iter().map(|&name| place[name as usize]).collect();
    let pieces = split::pieces(mesh.positions.len(), &mesh.triangles);
    torn_levels(levels, &rows, &order.iter().map(|&v| pieces[v as usize]).collect::<Vec<_>>())
}

/// Levels of torn cloth from those of the whole. On the finest, vertex k has the weights of vertex `rows[k]` of
/// the whole, and is part of piece `pieces[k]`. On all others each piece has its own vertices: a correction of
/// one would move the other.
///
/// Where a coarse vertex serves fewer vertices than it did, the piece has it only if one of them has more than
/// half its weight there. So vertices that interpolate are never fewer than those that they interpolate from,
/// and no two of these say the same, which would make the coarse matrices singular. A piece that has come down
/// to one vertex has none on coarser levels.
fn torn_levels(levels: Vec<Transfer>, rows: &[u32], pieces: &[u32]) -> Vec<Transfer> {
    // Of the level above: which of the whole's vertices each is, and of which piece.
    let mut fine: Vec<(u32, u32)> = rows.iter().copied().zip(pieces.iter().copied()).collect();
    let mut torn = Vec::with_capacity(levels.len());
    for level in levels {
        let mut sizes = BTreeMap::<u32, u32>::new();
        fine.iter().for_each(|&(_, piece)| *sizes.entry(piece).or_default() += 1);
        let goes_on = |piece: u32| sizes.get(&piece).is_some_and(|size| *size > 1);
        let of = |row: u32| level.corners[row as usize].into_iter().zip(level.weights[row as usize]);
        // How many vertices of the whole interpolate from each of this level.
        let mut counts = BTreeMap::<u32, usize>::new();
        for (corners, weights) in level.corners.iter().zip(&level.weights) {
            let used = corners.iter().zip(weights).filter(|(_, w)| **w > 0.0);
            used.for_each(|(corner, _)| *counts.entry(*corner).or_default() += 1);
        }
        let mut asked: Vec<(u32, u32, u32, f32)> = Vec::new();
        for &(row, piece) in fine.iter().filter(|(_, piece)| goes_on(*piece)) {
            asked.extend(of(row).filter(|(_, w)| *w > 0.0).map(|(corner, w)| (corner, piece, row, w)));
        }
        asked.sort_unstable_by_key(|a| (a.0, a.1, a.2));
        asked.dedup_by_key(|a| (a.0, a.1, a.2));
        let mut coarse: Vec<(u32, u32)> = Vec::new();
        for same in asked.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (corner, piece, ..) = same[0];
            let has_all = counts.get(&corner) == Some(&same.len());
            if has_all || same.iter().any(|(.., w)| *w > 0.5) {
                coarse.push((corner, piece));
            }
        }
        // A vertex without any has the nearest to itself.
        let strongest = |row: u32| of(row).max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(corner, _)| corner);
        let is_there = |coarse: &[(u32, u32)], corner: u32, piece: u32| coarse.binary_search(&(corner, piece)).is_ok();
        let alone = |&&(row, piece): &&(u32, u32)| {
            goes_on(piece) && !of(row).any(|(corner, w)| w > 0.0 && is_there(&coarse, corner, piece))
        };
        let alone: Vec<(u32, u32)> =
            fine.iter().filter(alone).map(|&(row, piece)| (strongest(row), piece)).collect();
        let given = coarse.clone();
        coarse.extend(alone);
        coarse.sort_unstable();
        coarse.dedup();
        let mut transfer = Transfer::default();
        for &(row, piece) in &fine {
            let number = |corner: u32| coarse.binary_search(&(corner, piece)).map_or(0, |k| k as u32);
            let mut own: Vec<(u32, f32)> =
                of(row).filter(|&(corner, w)| w > 0.0 && is_there(&given, corner, piece)).collect();
            if own.is_empty() && goes_on(piece) {
                own.push((strongest(row), 1.0));
            }
            let total: f32 = own.iter().map(|(_, w)| w).sum();
            let place = |k: usize| own.get(k).or(own.first()).map_or(0, |&(corner, _)| number(corner));
            let is_whole = own.len() == of(row).filter(|(_, w)| *w > 0.0).count();
            let weight = |k: usize| own.get(k).map_or(0.0, |&(_, w)| if is_whole { w } else { w / total });
            transfer.corners.push(std::array::from_fn(place));
            transfer.weights.push(std::array::from_fn(weight));
        }
        torn.push(transfer);
        fine = coarse;
        if fine.is_empty() {
            break;
        }
    }
    torn
}

