//! Levels of cloth that has torn: those of the whole, so that nothing is coarsened again.

use crate::{
    hierarchy::Transfer,
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
    let count = whole.positions.len();
    if mesh.positions.len() == count {
        return cache.transfers(whole, order).to_vec();
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
    let levels = cache.transfers(whole, &order_of_whole);
    let rows = names.iter().map(|&name| place[name as usize]);
    let pieces = split::pieces(mesh.positions.len(), &mesh.triangles);
    // What is held has no part in coarse vertices.
    let fine: Vec<Fine> = rows
        .zip(order.iter().zip(is_held))
        .map(|(row, (&v, &is_held))| Fine { row, piece: pieces[v as usize], is_free: !is_held })
        .collect();
    let mut is_free = vec![false; count];
    fine.iter().filter(|v| v.is_free).for_each(|v| is_free[v.row as usize] = true);
    torn_levels(&levels, fine, is_free)
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
fn torn_levels(levels: &[Transfer], mut fine: Vec<Fine>, mut is_free: Vec<bool>) -> Vec<Transfer> {
    let pieces = fine.iter().map(|v| v.piece as usize + 1).max().unwrap_or(0);
    let mut torn = Vec::with_capacity(levels.len());
    for level in levels {
        let mut sizes = vec![0; pieces];
        fine.iter().filter(|v| v.is_free).for_each(|v| sizes[v.piece as usize] += 1);
        let coarse_count = level.corners.iter().flatten().map(|&c| c as usize + 1).max().unwrap_or(0);
        let next = Next { level, sizes, coarse_count };
        let mut coarse = next.kept(&fine, &is_free);
        let kept = Table::new(&coarse, coarse_count);
        let given: Vec<Option<Coarse>> = fine.iter().map(|v| next.given(v, &kept)).collect();
        coarse.extend(given.iter().flatten());
        coarse.sort();
        coarse.dedup();
        torn.push(next.transfer((&fine, &given), &kept, &Table::new(&coarse, coarse_count)));
        is_free = vec![true; coarse_count];
        fine = coarse.into_iter().map(|(row, piece)| Fine { row, piece, is_free: true }).collect();
        if fine.is_empty() {
            break;
        }
    }
    torn
}

/// Coarse vertices, to be looked up.
struct Table {
    /// Where the coarse vertices of each vertex of the whole begin.
    starts: Vec<u32>,
    /// The piece of each.
    pieces: Vec<u32>,
}

impl Table {
    /// Of `sorted` coarse vertices, which are of `count` vertices of the whole.
    fn new(sorted: &[Coarse], count: usize) -> Self {
        let mut starts = vec![0; count + 1];
        sorted.iter().for_each(|(corner, _)| starts[*corner as usize + 1] += 1);
        (0..count).for_each(|k| starts[k + 1] += starts[k]);
        Self { starts, pieces: sorted.iter().map(|(_, piece)| *piece).collect() }
    }

    /// The number of a coarse vertex.
    fn number(&self, corner: u32, piece: u32) -> Option<u32> {
        let [from, to] = [0, 1].map(|k| self.starts[corner as usize + k] as usize);
        // There is nearly always one.
        let own = self.pieces[from..to].iter().position(|other| *other == piece)?;
        Some((from + own) as u32)
    }
}

/// The step from a level to the next.
struct Next<'a> {
    /// That of the whole.
    level: &'a Transfer,
    /// Free vertices of each piece.
    sizes: Vec<u32>,
    /// Vertices of the next level of the whole.
    coarse_count: usize,
}

/// What a vertex asks of a coarse one: its piece, the vertex of the whole that it is, and its weight.
type Asked = (u32, u32, f32);

impl Next<'_> {
    /// What vertex `row` of the whole interpolates from.
    fn of(&self, row: u32) -> impl Iterator<Item = (u32, f32)> + '_ {
        let row = row as usize;
        self.level.corners[row].into_iter().zip(self.level.weights[row]).filter(|(_, w)| *w > 0.0)
    }

    fn is_small(&self, piece: u32) -> bool {
        self.sizes[piece as usize] <= SMALL
    }

    /// How many of the vertices of the whole, of which some copy `is_free`, interpolate from each coarse one.
    fn counts(&self, is_free: &[bool]) -> Vec<usize> {
        let mut counts = vec![0; self.coarse_count];
        for row in (0..is_free.len() as u32).filter(|&row| is_free[row as usize]) {
            self.of(row).for_each(|(corner, _)| counts[corner as usize] += 1);
        }
        counts
    }

    /// What is asked of each coarse vertex by vertices of pieces that are not small, and where it begins.
    fn asked(&self, fine: &[Fine]) -> (Vec<u32>, Vec<Asked>) {
        let large = || fine.iter().filter(|v| v.is_free && !self.is_small(v.piece));
        let mut starts = vec![0; self.coarse_count + 1];
        for v in large() {
            self.of(v.row).for_each(|(corner, _)| starts[corner as usize + 1] += 1);
        }
        (0..self.coarse_count).for_each(|k| starts[k + 1] += starts[k]);
        let mut ends = starts.clone();
        let mut asked = vec![(0, 0, 0.0); starts[self.coarse_count] as usize];
        for &Fine { row, piece, .. } in large() {
            for (corner, w) in self.of(row) {
                let end = &mut ends[corner as usize];
                asked[*end as usize] = (piece, row, w);
                *end += 1;
            }
        }
        (starts, asked)
    }

    /// The coarse vertices that are as they were, or have a vertex that speaks for them, of pieces that are
    /// not small; in ascending order.
    fn kept(&self, fine: &[Fine], is_free: &[bool]) -> Vec<Coarse> {
        let counts = self.counts(is_free);
        let (starts, mut asked) = self.asked(fine);
        let mut kept = Vec::with_capacity(self.coarse_count);
        for corner in 0..self.coarse_count {
            let own = &mut asked[starts[corner] as usize..starts[corner + 1] as usize];
            let name = |a: &Asked| (a.0, a.1);
            if !own.is_sorted_by_key(name) {
                own.sort_unstable_by_key(name);
            }
            for same in own.chunk_by(|a, b| a.0 == b.0) {
                // Copies of one vertex in one piece count once.
                let distinct = same.chunk_by(|a, b| a.1 == b.1).count();
                if counts[corner] == distinct || same.iter().any(|(.., w)| *w > OWN) {
                    kept.push((corner as u32, same[0].0));
                }
            }
        }
        kept
    }

    /// The coarse vertex that `vertex` is given because none of its own was `kept`: the only one of a small
    /// piece, which is named after the piece, or else the nearest.
    fn given(&self, vertex: &Fine, kept: &Table) -> Option<Coarse> {
        let &Fine { row, piece, is_free } = vertex;
        let is_there = |corner: u32| kept.number(corner, piece).is_some();
        if !is_free || self.sizes[piece as usize] == 1 || self.of(row).any(|(corner, _)| is_there(corner)) {
            return None;
        }
        if self.is_small(piece) {
            return Some((0, piece));
        }
        let nearest = self.of(row).max_by(|a, b| a.1.total_cmp(&b.1));
        nearest.map(|(corner, _)| (corner, piece))
    }

    /// Places and weights among the `coarse` vertices, of which some were `kept`, of `fine` ones and what
    /// they were given.
    fn transfer(
        &self,
        (fine, given): (&[Fine], &[Option<Coarse>]),
        kept: &Table,
        coarse: &Table,
    ) -> Transfer {
        let mut transfer =
            Transfer { corners: Vec::with_capacity(fine.len()), weights: Vec::with_capacity(fine.len()) };
        for (&Fine { row, piece, .. }, given) in fine.iter().zip(given) {
            let number = |corner: u32| coarse.number(corner, piece).unwrap_or(0);
            let (mut corners, mut weights) = ([0; 3], [0.0; 3]);
            let (mut own, mut all, mut total) = (0, 0, 0.0);
            for (corner, w) in self.of(row) {
                all += 1;
                if kept.number(corner, piece).is_some() {
                    (corners[own], weights[own]) = (number(corner), w);
                    (own, total) = (own + 1, total + w);
                }
            }
            if own < all && own > 0 {
                weights = weights.map(|w| w / total);
            }
            if let Some((corner, _)) = *given {
                (corners[0], weights[0], own) = (number(corner), 1.0, 1);
            }
            let first = corners[0];
            corners[own..].fill(first);
            transfer.corners.push(corners);
            transfer.weights.push(weights);
        }
        transfer
    }
}
