//! Tables of the filters: which bodies are filtered together, with what matrices and levels.

mod midpoints;
mod side_by_side;
mod springs;
mod torn;

use std::{iter::once, ops::Range};

use glam::Vec3;

use side_by_side::side_by_side;

use super::{
    HierarchyCache, Pace,
    law::{TimeStep, law, law_kind, moduli, size},
    pressure, sewing,
};
use crate::{
    Body, Cloth, Description, Solid,
    body::{
        BodyTables,
        elements::{Elements, Ranges},
    },
    boundary::{bag::Bag, seam::Sewing, spring::SpringTable},
    element::{hinge::BendElement, tetrahedron::TetrahedronElement, triangle::StrainElement},
    hierarchy::{Transfer, lattice::lattice},
    kernel::{lanes::Quad, membrane::Woven},
    mesh::TriangleMesh,
    schedule::{self, square_factor},
    solve::nearest::filter::{Filter, Parts, stiffness},
    term::{bending::FoldElement, curvature::CurvatureElement, jump::JumpElement, tetrahedra::Weight},
    velocity::bending::HingeElement,
};

/// Largest factor on κ because of rigid bodies.
const MOST_LOADED: f64 = 1000.0;

/// What seams and springs mean for filters.
#[derive(Clone, Copy)]
pub(super) struct Seams<'a> {
    pub sewing: &'a Sewing,
    /// Hinges across seams that bend inside filters while seams are closed.
    pub folds: &'a [FoldElement],
    /// All springs of the world.
    pub springs: &'a [SpringTable],
}

/// Tables of the filters: one for each body with limits on its elements, or one for all bodies that may touch
/// or are sewn together; and what takes their place while seams are closed. What is the same as in `like`,
/// tables for steps of another length, is shared with it.
pub(super) fn build_filters(
    (description, cache): (&Description, &HierarchyCache),
    (bodies, bags): (&[BodyTables], &[Bag]),
    elements: &Elements,
    seams: Seams,
    start: &[Quad],
    edge_length: f32,
    (time, like): (TimeStep, Option<&Pace>),
) -> (Vec<Filter>, Vec<Option<Filter>>) {
    let is_elastic = schedule::is_implicit(description);
    // What a body touches has to be filtered with it, so all that it may touch is filtered at once.
    let touching = description.contact.thickness > 0.0 || !description.rigid_bodies.is_empty();
    // What has to stop a body carries the body's mass as well, and κ grows with what it has to stop.
    let of_bodies: f64 = description.rigid_bodies.iter().map(|body| f64::from(body.mass)).sum();
    let of_cloth: f64 = bodies.iter().flat_map(|body| &body.masses).sum();
    let of_bodies = of_bodies + springs::hung_on(seams.springs, bodies);
    let loaded = (1.0 + of_bodies / of_cloth).min(MOST_LOADED);
    let sewing = seams.sewing;
    let (mut filters, mut welded) = (Vec::new(), Vec::new());
    let joined = if touching { once(0..bodies.len()).collect() } else { sewing::joined(sewing, bodies) };
    let joined = springs::joined(joined, seams.springs, bodies);
    for range in joined {
        let mut together: Option<Together> = None;
        let alone = range.len() == 1 && !touching && seams.springs.is_empty();
        for number in range {
            let body = &bodies[number];
            let part = match &description.bodies[number] {
                Body::Cloth(cloth) => {
                    let vertices = || body.vertices.start as u32..body.vertices.end as u32;
                    let sewn =
                        sewing.stitches.iter().any(|s| s.vertices.iter().any(|v| vertices().contains(v)));
                    let limited = cloth.limits_strain() || cloth.bend.is_some();
                    // Enforced by a solver of its own, and alone with it.
                    if cloth.model.edge().is_some() {
                        continue;
                    }
                    if !limited && !is_elastic && !sewn && alone {
                        continue;
                    }
                    let tension = pressure::tension(description, bags, number);
                    let given = (is_elastic, sewn, tension);
                    Together::cloth(cloth, body, &elements.ranges[number], elements, given, time)
                }
                Body::Solid(solid) => Together::solid(solid, body, &elements.ranges[number], elements, time),
                Body::Particles(_) => Together::particles(body, time),
                // Solved strand by strand.
                Body::Hair(_) => continue,
            };
            let part = Together { stiffness: loaded * part.stiffness, ..part };
            match &mut together {
                Some(together) => together.add(part),
                None => together = Some(part),
            }
        }
        if let Some(together) = together {
            let like = like.map(|like| (&like.filters[filters.len()], like.welded[filters.len()].as_ref()));
            let of_welded = like.and_then(|(_, welded)| welded);
            welded.push(together.welded((description, bags), seams, start, edge_length, time, of_welded));
            let of_open = like.map(|(open, _)| open);
            let description = (description, bags);
            filters.push(together.filter(description, seams, start, edge_length, time, (cache, of_open)));
        }
    }
    (filters, welded)
}

/// What a filter is made of, while its bodies are collected, in the order of their vertices.
#[derive(Default)]
struct Together {
    vertices: Range<usize>,
    bodies: Vec<Range<usize>>,
    elements: Vec<StrainElement>,
    areas: Vec<f64>,
    /// In units of the mean mass.
    laws: Vec<Woven<f64>>,
    tetrahedra: Vec<TetrahedronElement>,
    /// In units of the mean mass.
    weights: Vec<Weight>,
    bends: Vec<BendElement>,
    folds: Vec<FoldElement>,
    curvatures: Vec<CurvatureElement>,
    jumps: Vec<JumpElement>,
    /// Vertices of the world that are means.
    means: Vec<(u32, [u32; 2])>,
    masses: Vec<f64>,
    /// In units of the mean mass.
    stiffness: f64,
    /// Factor on the stiffness because of pressure inside, if that is more than 1.
    load: f64,
    /// Of the largest body \[m\].
    size: f64,
    /// All cloth as one mesh, which has its levels together: vertices in the caller's order, one cloth after
    /// the other. Of developable cloth, the mesh that is shown.
    mesh: TriangleMesh,
    /// The vertex of `mesh` of each vertex of cloth, in the engine's order; of developable cloth, vertices of
    /// the mesh that is shown.
    order: Vec<u32>,
    /// By vertex of cloth, in the engine's order: the numbers in `order` in whose middle it is; the same
    /// twice for a vertex.
    between: Vec<[u32; 2]>,
    /// Whether any cloth is developable: its vertices are others than those of `mesh`.
    is_developable: bool,
    /// The same mesh before cloth tore, if some has, and the vertex of it that each vertex of `mesh` was
    /// split from: levels are those of the whole.
    whole: TriangleMesh,
    origins: Vec<u32>,
    /// Where these are among the vertices of the filter.
    cloth: Vec<u32>,
    /// Vertices of the filter that are particles.
    particles: Vec<u32>,
    /// Levels of each solid, and its vertices among those of the filter.
    lattices: Vec<(Range<usize>, Vec<Transfer<4>>)>,
}

impl Together {
    fn cloth(
        cloth: &Cloth,
        body: &BodyTables,
        ranges: &Ranges,
        elements: &Elements,
        (is_elastic, sewn, tension): (bool, bool, f64),
        time: TimeStep,
    ) -> Self {
        let (areas, bends) = (&elements.areas[ranges.strain.clone()], &elements.bends[ranges.bends.clone()]);
        let warps = &elements.warps[ranges.strain.clone()];
        let (count, size) = (body.order().len(), size(&cloth.mesh.positions));
        let masses = time.masses(body);
        let mean = masses.iter().sum::<f64>() / count as f64;
        let kappa = stiffness(count, size, areas, bends);
        let load = pressure::load(tension, [time.square(), mean, kappa]);
        let kappa = load * kappa;
        let law = law(&cloth.material, [time.square(), mean, kappa]);
        let levels = midpoints::Levels::of(cloth, body);
        let own = |(mean, _): &&(u32, [u32; 2])| body.vertices.contains(&(*mean as usize));
        Self {
            vertices: body.vertices.clone(),
            bodies: once(0..count).collect(),
            elements: elements.strain[ranges.strain.clone()].to_vec(),
            jumps: elements.jumps[ranges.jumps.clone()].to_vec(),
            means: elements.means.iter().filter(own).copied().collect(),
            between: levels.between,
            is_developable: cloth.midpoints.is_some(),
            size,
            laws: warps.iter().filter(|_| is_elastic).map(|&warp| law.along(warp)).collect(),
            areas: areas.to_vec(),
            bends: bends.to_vec(),
            folds: elements.folds[ranges.folds.clone()].to_vec(),
            curvatures: elements.curvatures[ranges.curvatures.clone()].to_vec(),
            masses,
            load,
            stiffness: if cloth.limits_strain() || cloth.bend.is_some() || is_elastic {
                kappa
            } else if sewn {
                stiffness(count, size, &[body.size().powi(2)], bends)
            } else {
                0.0
            },
            whole: cloth.torn.as_ref().map_or_else(|| levels.mesh.clone(), |torn| (*torn.whole).clone()),
            origins: match &cloth.torn {
                Some(torn) => torn.origins.clone(),
                None => (0..levels.mesh.positions.len() as u32).collect(),
            },
            mesh: levels.mesh,
            order: levels.order,
            cloth: (0..count as u32).collect(),
            ..Self::default()
        }
    }

    fn solid(solid: &Solid, body: &BodyTables, ranges: &Ranges, elements: &Elements, time: TimeStep) -> Self {
        let count = body.order().len();
        let masses = time.masses(body);
        let mean = masses.iter().sum::<f64>() / count as f64;
        let tetrahedra = &elements.tetrahedra[ranges.tetrahedra.clone()];
        let volumes = &elements.volumes[ranges.tetrahedra.clone()];
        let volume: f64 = volumes.iter().sum();
        let keeps_volume = solid.preserve_volume;
        let [mu, lambda, bulk] = moduli(solid).map(|modulus| time.square() * modulus / mean);
        let elastic = [mu, lambda];
        let size = size(&solid.mesh.positions);
        let rest: Vec<Vec3> = body.order().iter().map(|&v| solid.mesh.positions[v as usize]).collect();
        let corners: Vec<[u32; 4]> =
            tetrahedra.iter().map(|e| e.vertices.map(|v| v - body.vertices.start as u32)).collect();
        Self {
            vertices: body.vertices.clone(),
            bodies: once(0..count).collect(),
            tetrahedra: tetrahedra.to_vec(),
            weights: volumes.iter().map(|&volume| Weight { volume, elastic, bulk, keeps_volume }).collect(),
            masses,
            size,
            stiffness: size * size * count as f64 / volume,
            lattices: vec![(0..count, lattice(&rest, &corners, volume))],
            ..Self::default()
        }
    }

    /// Adds what follows in the order of vertices.
    fn add(&mut self, mut other: Self) {
        let first = self.masses.len();
        let mean = |masses: &[f64]| masses.iter().sum::<f64>() / masses.len() as f64;
        let [own, others] = [&self.masses, &other.masses].map(|m| mean(m));
        // κ is one number, in units of one mean mass: what it would be for each body goes into the weights of
        // its triangles.
        let stiffness = [self.stiffness * own, other.stiffness * others];
        self.masses.append(&mut other.masses);
        let common = if stiffness[0] > 0.0 { stiffness[0] } else { stiffness[1] };
        self.stiffness = common / mean(&self.masses);
        let factor = if common > 0.0 { stiffness[1] / common } else { 1.0 };
        self.areas.extend(other.areas.iter().map(|area| area * factor));
        let all = mean(&self.masses);
        self.laws.iter_mut().for_each(|law| *law = law.scaled(own / all));
        self.laws.extend(other.laws.iter().map(|law| law.scaled(others / (all * factor))));
        let weigh = |w: &Weight, factor: f64, mean: f64| Weight {
            volume: w.volume * factor,
            elastic: w.elastic.map(|k| k * mean / (all * factor)),
            bulk: w.bulk * mean / (all * factor),
            ..*w
        };
        self.weights.iter_mut().for_each(|w| *w = weigh(w, 1.0, own));
        self.weights.extend(other.weights.iter().map(|w| weigh(w, factor, others)));
        self.size = self.size.max(other.size);
        self.load = self.load.max(other.load);
        self.tetrahedra.append(&mut other.tetrahedra);
        self.particles.extend(other.particles.iter().map(|v| v + first as u32));
        let lattices = other.lattices.drain(..);
        self.lattices.extend(lattices.map(|(own, levels)| (first + own.start..first + own.end, levels)));
        self.bends.extend(other.bends.iter().map(|e| BendElement { area: e.area * factor as f32, ..*e }));
        self.elements.append(&mut other.elements);
        self.folds.append(&mut other.folds);
        self.curvatures.append(&mut other.curvatures);
        self.jumps.extend(other.jumps.iter().map(|e| JumpElement { weight: e.weight * factor as f32, ..*e }));
        self.means.append(&mut other.means);
        self.is_developable |= other.is_developable;
        let before = self.order.len() as u32;
        self.between.extend(other.between.iter().map(|ends| ends.map(|end| end + before)));
        self.vertices.end = other.vertices.end;
        self.bodies.extend(other.bodies.iter().map(|b| first + b.start..first + b.end));
        let of_cloth = self.mesh.positions.len() as u32;
        self.mesh.triangles.extend(other.mesh.triangles.iter().map(|t| t.map(|v| v + of_cloth)));
        self.mesh.positions.append(&mut other.mesh.positions);
        let of_whole = self.whole.positions.len() as u32;
        self.whole.triangles.extend(other.whole.triangles.iter().map(|t| t.map(|v| v + of_whole)));
        self.whole.positions.append(&mut other.whole.positions);
        self.origins.extend(other.origins.iter().map(|v| v + of_whole));
        self.order.extend(other.order.iter().map(|v| v + of_cloth));
        self.cloth.extend(other.cloth.iter().map(|v| v + first as u32));
    }

    fn filter(
        self,
        (description, bags): (&Description, &[Bag]),
        seams: Seams,
        start: &[Quad],
        edge_length: f32,
        time: TimeStep,
        (cache, like): (&HierarchyCache, Option<&Filter>),
    ) -> Filter {
        let sewing = seams.sewing;
        let springs = self.springs(description, seams.springs, |v| v);
        let are_particles = self.particles.len() == self.masses.len();
        let links = sewing::links(sewing, &self.vertices, &self.areas_around(), edge_length);
        let held: Vec<bool> = start[self.vertices.clone()].iter().map(|q| q[3] == 0.0).collect();
        let meshes = (&self.whole, &self.mesh, &self.origins[..]);
        let mut transfers = torn::transfers(meshes, (&self.order, &self.holds_of_levels(&held)), cache);
        if self.is_developable {
            transfers.insert(0, midpoints::transfer(&self.between));
        }
        let means = self.means_of_filter();
        let bags = pressure::tables(description, bags, sewing, &self.vertices, false);
        let parts = Parts {
            springs,
            particles: self.particles.clone(),
            is_elastic: schedule::is_implicit(description),
            held,
            transfers: side_by_side((&self.cloth, transfers), &self.lattices),
            vertices: self.vertices,
            bodies: self.bodies,
            elements: &self.elements,
            areas: &self.areas,
            laws: (law_kind(&self.laws), &self.laws),
            tetrahedra: (&self.tetrahedra, &self.weights),
            bends: &self.bends,
            folds: &self.folds,
            curvatures: &self.curvatures,
            jumps: &self.jumps,
            means,
            size: self.size as f32,
            dt: time.dt,
            square_factor: square_factor(time.integrator),
            link_count: links.len(),
            links,
            welds: Vec::new(),
            masses: self.masses,
            // Particles alone have no κ; that of all stages has to be a number.
            stiffness: if are_particles { 1.0 } else { self.stiffness },
            edge_length,
            has_obstacles: !description.obstacles.is_empty(),
            rigid_bodies: &description.rigid_bodies,
            bags: &bags,
            load: self.load.max(1.0),
        };
        Filter::new(parts, like)
    }

    /// The same with twins as one vertex, if there are any: the lowest of them stands for all.
    fn welded(
        &self,
        (description, bags): (&Description, &[Bag]),
        seams: Seams,
        start: &[Quad],
        edge_length: f32,
        time: TimeStep,
        like: Option<&Filter>,
    ) -> Option<Filter> {
        let sewing = seams.sewing;
        let first = self.vertices.start as u32;
        let welds: Vec<u32> = (self.vertices.start..self.vertices.end)
            .map(|v| sewing.identity.get(v).map_or(v as u32, |&twin| twin) - first)
            .collect();
        let twins = |k: usize| welds[k] as usize != k;
        if !(0..welds.len()).any(twins) {
            return None;
        }
        let mut masses = self.masses.clone();
        for k in (0..welds.len()).filter(|&k| twins(k)) {
            masses[welds[k] as usize] += masses[k];
            masses[k] = 0.0;
        }
        let weld = |e: &StrainElement| StrainElement { vertices: sewing.welded(e.vertices), ..*e };
        let elements: Vec<_> = self.elements.iter().map(weld).collect();
        let weld = |e: &BendElement| BendElement { vertices: sewing.welded(e.vertices), ..*e };
        let bends: Vec<_> = self.bends.iter().map(weld).collect();
        let weld = |e: &FoldElement| {
            let vertices = sewing.welded(e.hinge.vertices);
            FoldElement { hinge: HingeElement { vertices, ..e.hinge }, ..*e }
        };
        let weld_curvature =
            |e: &CurvatureElement| CurvatureElement { vertices: sewing.welded(e.vertices), ..*e };
        let curvatures: Vec<_> = self.curvatures.iter().map(weld_curvature).collect();
        let across = seams.folds.iter().filter(|e| self.vertices.contains(&(e.hinge.vertices[0] as usize)));
        let is_elastic = !self.laws.is_empty();
        let folds: Vec<_> = self.folds.iter().chain(across.filter(|_| is_elastic)).map(weld).collect();
        let transfers = self.welded_transfers(&welds, &start[self.vertices.clone()]);
        let own = sewing.stitches.iter().filter(|s| self.vertices.contains(&(s.vertices[0] as usize)));
        let bags = pressure::tables(description, bags, sewing, &self.vertices, true);
        let stand_in = |v: u32| sewing.identity.get(v as usize).copied().unwrap_or(v);
        let springs = self.springs(description, seams.springs, stand_in);
        let parts = Parts {
            springs,
            particles: self.particles.clone(),
            is_elastic: schedule::is_implicit(description),
            held: (0..welds.len())
                .map(|k| twins(k) || sewing.holds(self.vertices.start + k, start))
                .collect(),
            transfers: side_by_side((&self.cloth, transfers), &self.lattices),
            vertices: self.vertices.clone(),
            bodies: sewing::pieces(&self.bodies, &welds),
            elements: &elements,
            areas: &self.areas,
            laws: (law_kind(&self.laws), &self.laws),
            tetrahedra: (&self.tetrahedra, &self.weights),
            bends: &bends,
            folds: &folds,
            curvatures: &curvatures,
            // Developable cloth is not sewn, nor beside what is.
            jumps: &[],
            means: Vec::new(),
            size: self.size as f32,
            dt: time.dt,
            square_factor: square_factor(time.integrator),
            links: Vec::new(),
            link_count: own.count(),
            welds,
            masses,
            stiffness: self.stiffness,
            edge_length,
            has_obstacles: !description.obstacles.is_empty(),
            rigid_bodies: &description.rigid_bodies,
            bags: &bags,
            load: self.load.max(1.0),
        };
        Some(Filter::new(parts, like))
    }

    /// Levels of the cloth with twins as one: `welds` says which vertex of the filter stands for each,
    /// `start` where they start.
    fn welded_transfers(&self, welds: &[u32], start: &[Quad]) -> Vec<Transfer> {
        let mut among_cloth = vec![0u32; welds.len()];
        for (k, &v) in self.cloth.iter().enumerate() {
            among_cloth[v as usize] = k as u32;
        }
        // Only cloth is sewn, to cloth.
        let welds: Vec<u32> = self.cloth.iter().map(|&v| among_cloth[welds[v as usize] as usize]).collect();
        let start: Vec<Quad> = self.cloth.iter().map(|&v| start[v as usize]).collect();
        sewing::welded_transfers(&self.mesh, &self.order, &welds, &start)
    }

    /// The area around each vertex \[m²\], a third of each triangle's; 0 around those of solids.
    fn areas_around(&self) -> Vec<f64> {
        if self.is_developable {
            // It is not sewn, nor beside what is.
            return vec![0.0; self.masses.len()];
        }
        let mut by_caller = vec![0.0; self.order.len()];
        for t in &self.mesh.triangles {
            let [a, b, c] = t.map(|v| self.mesh.positions[v as usize].as_dvec3());
            let area = 0.5 * (b - a).cross(c - a).length();
            t.iter().for_each(|&v| by_caller[v as usize] += area / 3.0);
        }
        let mut areas = vec![0.0; self.masses.len()];
        for (&v, &place) in self.order.iter().zip(&self.cloth) {
            areas[place as usize] = by_caller[v as usize];
        }
        areas
    }
}
