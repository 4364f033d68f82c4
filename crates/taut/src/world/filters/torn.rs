//! Levels of cloth that has torn: those of the whole, so that nothing is coarsened again.

use std::collections::BTreeMap;

use crate::{
    hierarchy::{Options, Transfer},
    mesh::{TriangleMesh, split},
    world::HierarchyCache,
};

/// Levels of a mesh, with the vertices of each in an order that keeps neighbours close; `order` is that of
/// the finest, of which those are held for which `is_held`. Those of `mesh`, torn from `whole`, are levels of
/// the whole with what was split off beside what it was split from, and with vertices of their own for each
/// piece.
pub(super) fn transfers(
    (whole, mesh, origins): (&TriangleMesh, &TriangleMesh, &[u32]),
    (order, is_held): (&[u32], &[bool]),
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
    // What is held has no part in coarse vertices.
    let free = |&(k, _): &(usize, &u32)| !is_held[k];
    let free_rows = rows.iter().enumerate().filter(free).map(|(_, &row)| row);
    let is_free = free_rows.fold(vec![false; count], |mut free, row| {
        free[row as usize] = true;
        free
    });
    let fine: Vec<Fine> = (0..rows.len())
        .map(|k| Fine { row: rows[k], piece: pieces[order[k] as usize], is_free: !is_held[k] })
        .collect();
    torn_levels(levels, fine, is_free)
}

/// A vertex of the next level: one of the whole, and the piece that it serves.
type Coarse = (u32, u32);

/// A vertex of a level of torn cloth.
#[derive(Clone, Copy)]
struct Fine {
    /// The vertex of the whole that it is.
    row: u32,
    /// Its piece.
    piece: u32,
    /// Whether it is not held.
    is_free: bool,
}

/// Vertices of a piece up to which it has a single one on the next level. Smoothing does the rest in small
/// pieces, and interpolation inside them could leave coarse matrices that single precision cannot tell from
/// singular ones.
const SMALL: u32 = 16;

/// Weight from which on a vertex speaks for a coarse one.
const OWN: f32 = 0.6;

/// Levels of torn cloth, whose finest vertices are `fine`, from those of the whole, of whose finest vertices
/// some copy `is_free`. Each piece has its own vertices: a correction of one would move the other.
///
/// Where a coarse vertex serves fewer vertices than it did, the piece has it only if one of them has most of
/// its weight there, so that coarse vertices remain independent of each other. A small piece has a single
/// one, and none on the levels after.
fn torn_levels(levels: Vec<Transfer>, mut fine: Vec<Fine>, mut is_free: Vec<bool>) -> Vec<Transfer> {
    let mut torn = Vec::with_capacity(levels.len());
    for level in levels {
        let mut sizes = BTreeMap::<u32, u32>::new();
        fine.iter().filter(|v| v.is_free).for_each(|v| *sizes.entry(v.piece).or_default() += 1);
        let next = Next { level: &level, sizes };
        let kept = next.kept(&fine, &is_free);
        let mut coarse = kept.clone();
        coarse.extend(fine.iter().filter_map(|v| next.given(v, &kept)));
        coarse.sort_unstable();
        coarse.dedup();
        torn.push(next.transfer(&fine, (&kept, &coarse)));
        is_free = vec![true; level.corners.iter().flatten().map(|&c| c as usize + 1).max().unwrap_or(0)];
        fine = coarse.into_iter().map(|(row, piece)| Fine { row, piece, is_free: true }).collect();
        if fine.is_empty() {
            break;
        }
    }
    torn
}

/// The step from a level to the next.
struct Next<'a> {
    /// That of the whole.
    level: &'a Transfer,
    /// Free vertices of each piece.
    sizes: BTreeMap<u32, u32>,
}

impl Next<'_> {
    /// What vertex `row` of the whole interpolates from.
    fn of(&self, row: u32) -> impl Iterator<Item = (u32, f32)> + '_ {
        let row = row as usize;
        self.level.corners[row].into_iter().zip(self.level.weights[row]).filter(|(_, w)| *w > 0.0)
    }

    fn is_small(&self, piece: u32) -> bool {
        self.sizes.get(&piece).is_some_and(|size| *size <= SMALL)
    }

    /// The coarse vertices that are as they were, or have a vertex that speaks for them, of pieces that are
    /// not small; in ascending order.
    fn kept(&self, fine: &[Fine], is_free: &[bool]) -> Vec<Coarse> {
        // How many vertices of the whole interpolate from each.
        let mut counts = BTreeMap::<u32, usize>::new();
        for row in (0..self.level.corners.len()).filter(|&row| is_free[row]) {
            self.of(row as u32).for_each(|(corner, _)| *counts.entry(corner).or_default() += 1);
        }
        let mut asked: Vec<(u32, u32, u32, f32)> = Vec::new();
        for &Fine { row, piece, .. } in fine.iter().filter(|v| v.is_free && !self.is_small(v.piece)) {
            asked.extend(self.of(row).map(|(corner, w)| (corner, piece, row, w)));
        }
        asked.sort_unstable_by_key(|a| (a.0, a.1, a.2));
        asked.dedup_by_key(|a| (a.0, a.1, a.2));
        let is_kept = |same: &&[(u32, u32, u32, f32)]| {
            counts.get(&same[0].0) == Some(&same.len()) || same.iter().any(|(.., w)| *w > OWN)
        };
        asked
            .chunk_by(|a, b| (a.0, a.1) == (b.0, b.1))
            .filter(is_kept)
            .map(|same| (same[0].0, same[0].1))
            .collect()
    }

    /// The coarse vertex that `vertex` is given because none of its own was `kept`: the only one of a small
    /// piece, which is named after the piece, or else the nearest.
    fn given(&self, vertex: &Fine, kept: &[Coarse]) -> Option<Coarse> {
        let &Fine { row, piece, is_free } = vertex;
        let is_there = |corner: u32| kept.binary_search(&(corner, piece)).is_ok();
        if !is_free || self.sizes.get(&piece) == Some(&1) || self.of(row).any(|(corner, _)| is_there(corner))
        {
            return None;
        }
        if self.is_small(piece) {
            return Some((0, piece));
        }
        let nearest = self.of(row).max_by(|a, b| a.1.total_cmp(&b.1));
        nearest.map(|(corner, _)| (corner, piece))
    }

    /// Places and weights among the `coarse` vertices, of which some were `kept`.
    fn transfer(&self, fine: &[Fine], (kept, coarse): (&[Coarse], &[Coarse])) -> Transfer {
        let mut transfer = Transfer::default();
        for vertex in fine {
            let number = |corner: u32| coarse.binary_search(&(corner, vertex.piece)).map_or(0, |k| k as u32);
            let is_kept = |&(corner, _): &(u32, f32)| kept.binary_search(&(corner, vertex.piece)).is_ok();
            let mut own: Vec<(u32, f32)> = self.of(vertex.row).filter(is_kept).collect();
            if own.len() < self.of(vertex.row).count() {
                let total: f32 = own.iter().map(|(_, w)| w).sum();
                own.iter_mut().for_each(|(_, w)| *w /= total);
            }
            own.extend(self.given(vertex, kept).map(|(corner, _)| (corner, 1.0)));
            let place = |k: usize| own.get(k).or(own.first()).map_or(0, |&(corner, _)| number(corner));
            transfer.corners.push(std::array::from_fn(place));
            transfer.weights.push(std::array::from_fn(|k| own.get(k).map_or(0.0, |(_, w)| *w)));
        }
        transfer
    }
}
