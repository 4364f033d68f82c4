//! Directions in which the vertices of two intersecting components move, so that they separate.

use glam::DVec3;

use super::{
    super::{
        inside::ClosedMesh,
        surface::Surface,
        tangle::{Labels, Sets},
    },
    Crossing, MIN_RINGS, Tables, normal, point, sides,
};
use crate::kernel::lanes::Quad;

/// The displacement field that separates two components.
pub(super) struct Field<'a> {
    pub(super) tables: &'a Tables,
    pub(super) surface: &'a Surface,
    pub(super) old: &'a [Quad],
    /// Largest relative displacement of the surfaces \[m\].
    pub(super) most: f64,
    pub(super) moves: &'a mut [DVec3],
    pub(super) labels: &'a mut Labels,
}

/// Direction in which a vertex should move.
#[derive(Clone, Copy, Debug, Default)]
struct Pull {
    /// Sum of unit vectors.
    along: DVec3,
    /// Sum of the positions of the crossings that it comes from \[m\].
    from: DVec3,
    /// Number of those crossings.
    count: f64,
}

impl Pull {
    fn add(&mut self, along: DVec3, from: DVec3) {
        *self = Self { along: self.along + along, from: self.from + from, count: self.count + 1.0 };
    }

    fn mean(&self) -> (DVec3, DVec3) {
        let count = self.count.max(1.0);
        ((self.along / count).clamp_length_max(1.0), self.from / count)
    }
}

impl Field<'_> {
    /// Two components, or one and itself, that intersect.
    pub(super) fn part(&mut self, pieces: [u32; 2], crossings: &[Crossing]) {
        let wrong = sides::wrong(self.tables, self.old, pieces, crossings);
        let mut pulls = vec![Pull::default(); self.old.len()];
        let mut seeds = Vec::new();
        let mut plant = |crossing: &Crossing, along: DVec3| {
            for (k, v) in crossing.vertices().into_iter().enumerate() {
                let pull = &mut pulls[v as usize];
                if pull.count == 0.0 {
                    seeds.push(v);
                }
                pull.add(if k < 2 { along } else { -along }, crossing.point);
            }
        };
        let tells = |c: &Crossing| c.odd && wrong[c.edge[0] as usize] != wrong[c.edge[1] as usize];
        let layers = if crossings.iter().all(tells) { None } else { self.layers(pieces, crossings) };
        if let Some(up) = layers {
            crossings.iter().zip(up).for_each(|(crossing, up)| plant(crossing, up));
            self.spread(pieces, &wrong, &mut pulls, seeds, MIN_RINGS, crossings);
            return;
        }
        for crossing in crossings.iter().filter(|c| tells(c)) {
            let first = wrong[crossing.edge[0] as usize];
            plant(crossing, if first { crossing.normal } else { -crossing.normal });
        }
        let mut rings = MIN_RINGS;
        for contour in contours(crossings, self.old.len()) {
            if contour.iter().any(|c| tells(c)) {
                continue;
            }
            let middle = contour.iter().fold(DVec3::ZERO, |sum, c| sum + c.point) / contour.len() as f64;
            for crossing in contour.iter().filter(|c| self.tables.is_border(c.place)) {
                plant(crossing, (middle - crossing.point).normalize_or_zero());
            }
            rings = rings.max(contour.len() as u32);
        }
        self.spread(pieces, &wrong, &mut pulls, seeds, rings, crossings);
    }

    /// For each crossing of two components that lie one above the other, the direction in which its edge
    /// should move. `None` if they do not.
    ///
    /// The boundaries of such components are near each other, so that small waves decide which part of one
    /// cuts the other in two. But their centres tell which lies above which.
    fn layers(&self, [first, second]: [u32; 2], crossings: &[Crossing]) -> Option<Vec<DVec3>> {
        if first == second || crossings[0].mixed {
            return None;
        }
        let normals = |crossing: &Crossing| {
            let edge = self.tables.normal_at(self.old, crossing.place)?;
            let triangle = normal(self.old, crossing.triangle)?;
            Some([edge, triangle])
        };
        let (mut up, mut steep) = (DVec3::ZERO, 0);
        for crossing in crossings {
            let [edge, triangle] = normals(crossing)?;
            steep += usize::from(edge.dot(triangle).abs() < sides::FLAT);
            up += if crossing.pieces[0] == first { edge } else { triangle };
        }
        let count = crossings.len();
        if 4 * steep > count || up.length() < 0.7 * count as f64 {
            return None;
        }
        let middle = |piece: u32| {
            let of = &self.tables.vertices[piece as usize];
            of.iter().fold(DVec3::ZERO, |sum, &v| sum + point(&self.old[v as usize])) / of.len() as f64
        };
        let up = if (middle(first) - middle(second)).dot(up) < 0.0 { -up } else { up };
        let along = |crossing: &Crossing| {
            let over = if crossing.pieces[0] == first { up } else { -up };
            if crossing.normal.dot(over) < 0.0 { -crossing.normal } else { crossing.normal }
        };
        Some(crossings.iter().map(along).collect())
    }

    /// Propagates the directions at the seeds to the whole wrong side and its surroundings, and displaces
    /// them.
    fn spread(
        &mut self,
        pieces: [u32; 2],
        wrong: &[bool],
        pulls: &mut [Pull],
        mut seeds: Vec<u32>,
        rings: u32,
        crossings: &[Crossing],
    ) {
        seeds.sort_unstable();
        let mut weights = vec![0.0f64; self.old.len()];
        seeds.iter().for_each(|&v| weights[v as usize] = 1.0);
        let mut all = seeds.clone();
        let (mut front, mut deep) = (seeds.clone(), 0);
        loop {
            front = self.ring(&front, pulls, |v| wrong[v as usize]);
            if front.is_empty() {
                break;
            }
            deep += 1;
            for &v in &front {
                weights[v as usize] = 1.0;
                let tied = self.tables.around(v).iter().find(|&&other| weights[other as usize] > 0.0);
                self.labels.mark(v, tied.copied().unwrap_or(v));
            }
            all.extend(&front);
        }
        // Distance that each component must move until all of it is on the right side \[m\].
        let mut needed = [0.0f64; 2];
        for &v in all.iter().filter(|&&v| wrong[v as usize]) {
            let (along, from) = pulls[v as usize].mean();
            let side = usize::from(self.tables.piece[v as usize] != pieces[0]);
            needed[side] = needed[side].max((from - point(&self.old[v as usize])).dot(along));
        }
        let gap = crossings.iter().fold(0.0f32, |gap, c| {
            let radius = |v: u32| self.surface.radius[v as usize];
            gap.max(radius(c.edge[0]) + radius(c.triangle[0]))
        });
        let mut apart = needed[0] + needed[1] + f64::from(gap);
        if !all.iter().any(|&v| wrong[v as usize]) {
            apart = self.most;
        }
        let apart = apart.min(self.most);

        let reach = rings.max(deep + 1);
        front = seeds;
        for ring in 1..2 * reach {
            front = self.ring(&front, pulls, |_| true);
            let beyond = f64::from(ring.saturating_sub(reach)) / f64::from(reach);
            front.iter().for_each(|&v| weights[v as usize] = 1.0 - beyond);
            all.extend(&front);
        }
        let mut masses = [0.0f64; 2];
        for &v in &all {
            let side = usize::from(self.tables.piece[v as usize] != pieces[0]);
            let inverse = f64::from(self.old[v as usize][3]);
            masses[side] += if inverse > 0.0 { weights[v as usize] / inverse } else { 0.0 };
        }
        let total = masses[0] + masses[1];
        let shares = if pieces[0] == pieces[1] {
            [0.5; 2]
        } else {
            [0, 1].map(|side| if masses[1 - side] > 0.0 { masses[1 - side] / total } else { 1.0 })
        };
        for &v in &all {
            let side = usize::from(self.tables.piece[v as usize] != pieces[0]);
            let (along, _) = pulls[v as usize].mean();
            self.moves[v as usize] += along * (weights[v as usize] * shares[side] * apart);
        }
    }

    /// The next ring of vertices without a direction: each takes the direction of its neighbours in `front`.
    fn ring(&self, front: &[u32], pulls: &mut [Pull], takes: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut next: Vec<u32> = front
            .iter()
            .flat_map(|&v| self.tables.around(v))
            .copied()
            .filter(|&v| pulls[v as usize].count == 0.0 && takes(v))
            .collect();
        next.sort_unstable();
        next.dedup();
        let found: Vec<Pull> = next
            .iter()
            .map(|&v| {
                let mut pull = Pull::default();
                for &other in self.tables.around(v) {
                    if front.binary_search(&other).is_ok() {
                        let (along, from) = pulls[other as usize].mean();
                        pull.add(along, from);
                    }
                }
                pull
            })
            .collect();
        for (&v, pull) in next.iter().zip(found) {
            pulls[v as usize] = pull;
        }
        next
    }

    /// Cloth that is partly inside a closed mesh.
    pub(super) fn leave(
        &mut self,
        mesh: Option<&ClosedMesh>,
        [cloth, solid]: [u32; 2],
        crossings: &[Crossing],
    ) {
        let Some(mesh) = mesh else { return };
        let of_solid = &self.tables.vertices[solid as usize];
        of_solid.iter().for_each(|&v| self.labels.mark(of_solid[0], v));
        let [low, high] = mesh.bounds();
        let mut guess = None;
        let mut inside = vec![false; self.old.len()];
        for &v in &self.tables.vertices[cloth as usize] {
            let x = point(&self.old[v as usize]);
            if x.cmplt(low).any() || x.cmpgt(high).any() {
                continue;
            }
            let signed = mesh.signed_distance_from(x.as_vec3(), guess);
            guess = Some(signed.face);
            if signed.distance < 0.0 {
                inside[v as usize] = true;
                self.labels.mark(of_solid[0], v);
                let gap = self.surface.radius[v as usize] + self.surface.radius[of_solid[0] as usize];
                let way = (f64::from(gap) - signed.distance).min(self.most);
                self.moves[v as usize] += signed.normal * way;
            }
        }
        // Tips that poke through a triangle that has no corner inside.
        let pokes = |c: &&Crossing| c.pieces[0] == solid && c.triangle.iter().all(|&v| !inside[v as usize]);
        let tips: Vec<Crossing> = crossings.iter().filter(pokes).cloned().collect();
        if !tips.is_empty() {
            self.part([cloth, solid], &tips);
        }
    }
}

/// Connected crossings.
pub(super) fn contours(crossings: &[Crossing], count: usize) -> Vec<Vec<&Crossing>> {
    let mut sets = Sets::new(count);
    for crossing in crossings {
        let [a, others @ ..] = crossing.vertices();
        others.iter().for_each(|&v| sets.unite(a, v));
    }
    let mut sorted: Vec<(u32, &Crossing)> = crossings.iter().map(|c| (sets.of(c.edge[0]), c)).collect();
    sorted.sort_by_key(|(set, _)| *set);
    sorted.chunk_by(|a, b| a.0 == b.0).map(|of| of.iter().map(|(_, c)| *c).collect()).collect()
}
