//! Tables of bodies that are solved together, and the list of their terms.

use std::{ops::Range, sync::Arc};

use super::means::Means;
use super::tuning::{
    CALM_SPEED, OBSTACLE_WEIGHT, OBSTACLE_WEIGHT_SOLID, PAIR_WEIGHT, PAIR_WEIGHT_SOLID, RAMP, SHORT_STEP,
    STAGES,
};
use crate::{
    boundary::{rigid::RigidBody, spring::SpringTable},
    element::{hinge::BendElement, tetrahedron::TetrahedronElement, triangle::StrainElement},
    hierarchy::{
        Transfer,
        multigrid::{Multigrid, Stiff, share},
    },
    kernel::{lanes::Quad, membrane::Woven},
    measure::TermCertificate,
    term::{
        Block,
        bend_limit::BendLimits,
        bending::{Bending, FoldElement},
        curvature::{Curvature, CurvatureElement},
        grip::Gripping,
        jump::{JumpElement, Jumps},
        obstacle::Obstacles,
        pair::Pairs,
        pressure::{Bags, PRESSURE, PressureTable},
        rigid::RigidBodies,
        seam::{Link, Seams},
        spring::{SpringParts, Springs},
        strain::{LawKind, Strain},
        tetrahedra::{Tetrahedra, Weight},
        volume::Ring,
    },
    world::relimit::ElementLimits,
};

/// Tables of one body whose triangles have limits, or of several that touch or are sewn to each other and so
/// must be solved together. Copies share all that does not depend on which vertices are held.
#[derive(Clone, Debug)]
pub struct Filter {
    /// Its vertices, of all vertices of the world.
    pub vertices: Range<usize>,
    /// Vertices of each of the bodies that are solved together, counted from the first of them.
    pub(crate) bodies: Vec<Range<usize>>,
    /// The fixed part of its terms, in the order in which they are called.
    pub(crate) blocks: Vec<Arc<dyn Block>>,
    /// The first of them, with which results are compared.
    pub(crate) strain: Arc<Strain>,
    /// One of them, if there are tetrahedra: volumes are measured with it.
    pub(super) tetrahedra: Option<Arc<Tetrahedra>>,
    /// One of them, if hinges have limits.
    bends: Option<Arc<BendLimits>>,
    /// One of them, if flat cloth bends in the solve.
    pub(crate) curvature: Option<Arc<Curvature>>,
    /// By vertex of the filter: the one that stands for it and its twins. Empty if there are none.
    pub(crate) welds: Arc<Vec<u32>>,
    /// Vertices that are means of others.
    pub(crate) means: Arc<Means>,
    /// Masses in units of their mean; 0 for vertices that are held, and for those that another stands for.
    pub(crate) masses: Vec<f32>,
    /// κ of each stage of the ramp.
    pub(crate) stiffness: [f32; STAGES.len()],
    /// Mean length of an edge \[m\].
    pub(crate) edge_length: f32,
    /// Size of its largest body \[m\].
    pub(crate) size: f32,
    /// What the squared length of a step is multiplied by: see [`schedule::square_factor`].
    pub(crate) square_factor: f64,
    /// Factor on κ, and on the weights of contacts, because of pressure inside cloth.
    pub(crate) load: f32,
    /// Volumes around vertices, if any is kept.
    pub(crate) rings: Vec<Ring>,
    pub(crate) multigrid: Multigrid,
    /// By stage of the ramp: how many iterations pulls of bending stay the same.
    pub(crate) bending_lag: [u32; STAGES.len()],
    matrix: Arc<MatrixParts>,
}

/// What the matrices are made from, beside the blocks.
#[derive(Debug)]
struct MatrixParts {
    /// Masses of all vertices while they are not held, in units of their mean.
    masses: Vec<f32>,
    transfers: Vec<Arc<Transfer<4>>>,
    /// κ of the stages that its steps may have.
    stiffness: [Option<f64>; STAGES.len()],
}

/// Numbers of the elements of one body in a filter.
#[derive(Clone, Debug)]
pub(crate) struct Spans {
    strain: Range<usize>,
    tetrahedra: Range<usize>,
    bends: Range<usize>,
}

/// What a [`Filter`] is made from.
#[derive(Clone, Debug)]
pub struct Parts<'a> {
    /// The body's vertices, of all vertices of the world; those of several bodies, one after the other.
    pub vertices: Range<usize>,
    /// Vertices of each of these bodies, counted from the first of them.
    pub bodies: Vec<Range<usize>>,
    /// Its triangles, with vertices of the world.
    pub elements: &'a [StrainElement],
    /// Their weights in the matrix: rest areas \[m²\]; of several bodies, such that `stiffness` is right for
    /// each.
    pub areas: &'a [f64],
    /// Their law inside the limits, and its moduli in the units of κ; empty if forces are left to the
    /// velocity update.
    pub laws: (LawKind, &'a [Woven<f64>]),
    /// Its tetrahedra, with vertices of the world, and what they weigh.
    pub tetrahedra: (&'a [TetrahedronElement], &'a [Weight]),
    /// Its hinges with limits, with vertices of the world.
    pub bends: &'a [BendElement],
    /// Its hinges that bend inside the filter, with vertices of the world.
    pub folds: &'a [FoldElement],
    /// Its curvatures that do so.
    pub curvatures: &'a [CurvatureElement],
    /// Jumps of its nonconforming triangles, with points of the world.
    pub jumps: &'a [JumpElement],
    /// Vertices of the filter that are means, and of which.
    pub means: Vec<(u32, [u32; 2])>,
    /// Size of its largest body \[m\].
    pub size: f32,
    /// Length of a step \[s\].
    pub dt: f64,
    /// What its square is multiplied by: see [`schedule::square_factor`].
    pub square_factor: f64,
    /// Pairs of vertices that are drawn together.
    pub links: Vec<Link>,
    /// How many there would be if no seam were closed.
    pub link_count: usize,
    /// By vertex, within `vertices`: the one that stands for it, where twins of closed seams are one; no
    /// element names another. Empty: each stands for itself.
    pub welds: Vec<u32>,
    /// Masses \[kg\] in the order of `vertices`.
    pub masses: Vec<f64>,
    /// Whether each vertex is held.
    pub held: Vec<bool>,
    /// Levels, finest first; vertices in the order of `vertices`.
    pub transfers: Vec<Transfer<4>>,
    /// κ of the ramp's factor 1: see [`stiffness`].
    pub stiffness: f64,
    /// Mean length of an edge \[m\].
    pub edge_length: f32,
    /// Whether there are obstacles.
    pub has_obstacles: bool,
    /// Rigid bodies that it may touch.
    pub rigid_bodies: &'a [RigidBody],
    /// Closed cloth with pressure inside.
    pub bags: &'a [PressureTable],
    /// Factor on κ because of pressure; also that on the weights of contacts.
    pub load: f64,
    /// Its particles, with vertices of the filter, and springs.
    pub particles: Vec<u32>,
    /// See `particles`.
    pub springs: Vec<(u32, SpringTable)>,
    /// Whether stiffness is part of the solve.
    pub is_elastic: bool,
}

/// κ of the ramp's factor 1 for a body of `count` vertices, whose rest shape has the largest extent `size`
/// \[m\], in units of its mean mass. Bodies without limited triangles have limited hinges.
pub fn stiffness(count: usize, size: f64, areas: &[f64], bends: &[BendElement]) -> f64 {
    // Each triangle belongs to three hinges, but for borders.
    let area: f64 = match areas {
        [] => bends.iter().map(|e| f64::from(e.area) / 3.0).sum(),
        areas => areas.iter().sum(),
    };
    size * size * count as f64 / area
}

/// Which stages steps of `dt` \[s\] may have. The steady ones are of long steps with an implicit integrator
/// alone ([`Ramp::opening_implicit`](super::ramp::Ramp::opening_implicit)), the softest of all others, and
/// of those without `no_bodies`: with rigid bodies.
fn used_stages(dt: f64, is_implicit: bool, no_bodies: bool) -> [bool; STAGES.len()] {
    // Lengths of steps are rounded in more than one way.
    let is_long = dt as f32 >= 0.999 * SHORT_STEP;
    std::array::from_fn(|stage| match stage {
        0 => !(is_implicit && no_bodies),
        stage if stage >= RAMP.len() => is_implicit && is_long,
        _ => true,
    })
}

/// `transfers`, of which those that `like` has too are shared with it.
fn shared(transfers: Vec<Transfer<4>>, like: Option<&Filter>) -> Vec<Arc<Transfer<4>>> {
    let known = |level: usize| like.and_then(|like| like.matrix.transfers.get(level));
    transfers.into_iter().enumerate().map(|(level, transfer)| share(transfer, known(level))).collect()
}

impl Filter {
    /// Builds the tables. What is the same as in `like`, of the same bodies for steps of another length, is
    /// shared with it.
    pub fn new(parts: Parts, like: Option<&Self>) -> Self {
        let Parts { vertices, bodies, masses, held, transfers, stiffness, edge_length, .. } = parts;
        let (first, count) = (vertices.start as u32, vertices.len());
        let mean = masses.iter().sum::<f64>() / count as f64;
        let stiffness = STAGES.map(|c| f64::from(c) * stiffness);
        let like_strain = like.map(|like| &*like.strain);
        let strain =
            Arc::new(Strain::new(parts.elements, parts.areas, parts.laws, first, count, like_strain));
        let (elements, weights) = parts.tetrahedra;
        let tetrahedra =
            (!elements.is_empty()).then(|| Arc::new(Tetrahedra::new(elements, weights, first, count)));
        let unit = parts.square_factor * parts.dt * parts.dt / mean;

        // The list of all terms. Pulls are summed, and kept duals stored, in this order.
        let mut blocks: Vec<Arc<dyn Block>> = vec![strain.clone()];
        blocks.extend(tetrahedra.iter().map(|block| block.clone() as Arc<dyn Block>));
        let bends = (!parts.bends.is_empty()).then(|| Arc::new(BendLimits::new(parts.bends, first, count)));
        blocks.extend(bends.iter().map(|block| block.clone() as Arc<dyn Block>));
        if !parts.folds.is_empty() {
            blocks.push(Arc::new(Bending::new(parts.folds, first, count, unit)));
        }
        let curvature = (!parts.curvatures.is_empty()).then(|| {
            let like = like.and_then(|like| like.curvature.as_deref());
            Arc::new(Curvature::new(parts.curvatures, first, count, [unit, parts.dt], like))
        });
        blocks.extend(curvature.iter().map(|block| block.clone() as Arc<dyn Block>));
        blocks.extend(Jumps::block(parts.jumps, first, count));
        blocks.extend(parts.has_obstacles.then(|| Arc::new(Obstacles { count }) as Arc<dyn Block>));
        blocks.push(Arc::new(Pairs { count }));
        if parts.link_count > 0 {
            blocks.push(Arc::new(Seams::new(parts.links, parts.link_count)));
        }
        blocks.push(Arc::new(Gripping { count }));
        if !parts.rigid_bodies.is_empty() {
            blocks.push(Arc::new(RigidBodies { bodies: parts.rigid_bodies.to_vec(), count }));
        }
        if !parts.bags.is_empty() {
            let is_welded = !parts.welds.is_empty();
            blocks.push(Arc::new(Bags::new(parts.bags, (first, count), [parts.dt, unit], is_welded)));
        }
        // The last: it needs the weights and pulls of all others.
        if !parts.springs.is_empty() || !parts.particles.is_empty() {
            let (springs, nodes, is_elastic) = (parts.springs, parts.particles, parts.is_elastic);
            blocks.push(Arc::new(Springs::new(SpringParts {
                springs,
                nodes,
                masses: &masses,
                unit,
                is_elastic,
            })));
        }

        let masses = masses.iter().map(|m| (m / mean) as f32).collect();
        let used = used_stages(parts.dt, strain.is_implicit(), parts.rigid_bodies.is_empty());
        let used = std::array::from_fn(|stage| used[stage].then_some(stiffness[stage]));
        let matrix = MatrixParts { masses, transfers: shared(transfers, like), stiffness: used };
        let mut filter = Self {
            vertices,
            bodies,
            blocks,
            strain,
            tetrahedra,
            bends,
            curvature,
            welds: Arc::new(parts.welds),
            means: Arc::new(Means::new(parts.means, count)),
            masses: Vec::new(),
            stiffness: stiffness.map(|k| k as f32),
            edge_length,
            size: parts.size,
            square_factor: parts.square_factor,
            load: parts.load as f32,
            rings: Vec::new(),
            multigrid: Multigrid::default(),
            bending_lag: [1; STAGES.len()],
            matrix: Arc::new(matrix),
        };
        filter.hold(|i| held[i], like);
        filter
    }

    /// Whether there are soft solids.
    pub(crate) fn has_tetrahedra(&self) -> bool {
        self.tetrahedra.is_some()
    }

    /// Whether hinges have limits.
    pub(crate) fn limits_bends(&self) -> bool {
        self.bends.is_some()
    }

    /// Whether [`Filter::nearest`] knows all of its stiffness.
    pub(crate) fn has_reference(&self) -> bool {
        let keeps_volume = self.tetrahedra.as_ref().is_some_and(|tetrahedra| tetrahedra.keeps_any_volume());
        let is_unknown = |block: &Arc<dyn Block>| ["bending", PRESSURE].contains(&block.name());
        !keeps_volume && !self.means.any() && !self.blocks.iter().any(is_unknown)
    }

    /// Which of its elements belong to the vertices `vertices` of the world, those of whole bodies. Not for
    /// filters with twins, whose vertices may be those of another body: their elements have the same numbers
    /// as without.
    pub(crate) fn spans(&self, vertices: &Range<usize>) -> Spans {
        let first = self.vertices.start;
        let own = vertices.start.max(first) - first..vertices.end.max(first) - first;
        Spans {
            strain: self.strain.span(&own),
            tetrahedra: self.tetrahedra.as_ref().map_or(0..0, |tetrahedra| tetrahedra.span(&own)),
            bends: self.bends.as_ref().map_or(0..0, |bends| bends.span(&own)),
        }
    }

    /// Gives its elements `spans` the limits of one body, of the same kinds as before. Matrices stay.
    pub(crate) fn set_limits(&mut self, spans: &Spans, limits: &ElementLimits) {
        if let Some(strain) = limits.strain.filter(|_| !spans.strain.is_empty()) {
            self.strain = Arc::new(self.strain.with_limits(spans.strain.clone(), strain));
            self.replace(self.strain.clone());
        }
        if let (Some(tetrahedra), Some(strain), false) =
            (&mut self.tetrahedra, limits.strain, spans.tetrahedra.is_empty())
        {
            let changed = Arc::new(tetrahedra.with_range(spans.tetrahedra.clone(), strain.loosest));
            *tetrahedra = changed.clone();
            self.replace(changed);
        }
        // There are as many angles as hinges of the body, or none.
        if let (Some(bends), true) = (&mut self.bends, spans.bends.len() == limits.angles.len()) {
            let angles = limits.angles.iter().map(|(_, angles)| *angles);
            let changed = Arc::new(bends.with_angles(spans.bends.start, angles));
            *bends = changed.clone();
            self.replace(changed);
        }
    }

    /// Takes the limits of `other`, of the same bodies with other vertices held.
    pub(crate) fn take_limits(&mut self, other: &Self) {
        self.blocks.clone_from(&other.blocks);
        self.strain.clone_from(&other.strain);
        self.tetrahedra.clone_from(&other.tetrahedra);
        self.bends.clone_from(&other.bends);
    }

    fn replace(&mut self, block: Arc<dyn Block>) {
        let same = self.blocks.iter_mut().filter(|other| other.name() == block.name());
        same.for_each(|other| *other = block.clone());
    }

    /// The same bodies with other vertices held: those (within the filter) that `held` says. Makes new
    /// matrices.
    pub fn holding(&self, held: impl Fn(usize) -> bool) -> Self {
        let mut filter = Self {
            vertices: self.vertices.clone(),
            bodies: self.bodies.clone(),
            blocks: self.blocks.clone(),
            strain: self.strain.clone(),
            tetrahedra: self.tetrahedra.clone(),
            bends: self.bends.clone(),
            curvature: self.curvature.clone(),
            welds: self.welds.clone(),
            means: self.means.clone(),
            masses: Vec::new(),
            stiffness: self.stiffness,
            edge_length: self.edge_length,
            size: self.size,
            square_factor: self.square_factor,
            load: self.load,
            rings: Vec::new(),
            multigrid: Multigrid::default(),
            bending_lag: [1; STAGES.len()],
            matrix: self.matrix.clone(),
        };
        filter.hold(held, Some(self));
        filter
    }

    fn hold(&mut self, held: impl Fn(usize) -> bool, like: Option<&Self>) {
        let masses = self.matrix.masses.iter().enumerate();
        self.masses = masses.map(|(i, mass)| if held(i) { 0.0 } else { *mass }).collect();
        let means = self.means.clone();
        self.rings = self.tetrahedra.as_ref().map_or(Vec::new(), |tetrahedra| tetrahedra.rings(&self.masses));
        let mut stiff = Stiff { ends: means.ends(), ..Stiff::default() };
        self.blocks.iter().for_each(|block| block.matrix(&mut stiff));
        let MatrixParts { transfers, stiffness, .. } = &*self.matrix;
        let like = like.map(|like| &like.multigrid);
        self.multigrid = Multigrid::new(&self.masses, &stiff, transfers, stiffness, like);
        if let Some(curvature) = &self.curvature {
            self.bending_lag = std::array::from_fn(|stage| curvature.lag(self.multigrid.diagonal(stage)));
        }
    }

    /// Weights of contacts with obstacles, and of pairs, in units of the mass of what touches. They do not
    /// depend on the stage of the ramp: what holds cloth up does not change with what keeps it in shape.
    pub fn contact_weights(&self) -> [f32; 2] {
        let weights = match self.tetrahedra {
            None => [OBSTACLE_WEIGHT, PAIR_WEIGHT],
            Some(_) => [OBSTACLE_WEIGHT_SOLID, PAIR_WEIGHT_SOLID],
        };
        weights.map(|weight| weight * self.load)
    }

    /// Number of floats that its terms keep from one step to the next.
    pub fn kept_count(&self) -> usize {
        self.blocks.iter().map(|block| block.kept()).sum()
    }

    /// Numbers of those of them that the term called `name` keeps.
    pub(crate) fn kept_by(&self, name: &str) -> Range<usize> {
        let before = self.blocks.iter().take_while(|block| block.name() != name);
        let first: usize = before.map(|block| block.kept()).sum();
        let own = self.blocks.iter().find(|block| block.name() == name);
        first..first + own.map_or(0, |block| block.kept())
    }

    /// Takes what the terms of `before`, of the same bodies, have `kept`, for those that it has too.
    pub(crate) fn carry(&self, before: &Self, kept: &[f32], own: &mut [f32]) {
        // Duals are in units of κ, which follows the load.
        let factor = before.load / self.load;
        let mut at = 0;
        for block in &self.blocks {
            let count = block.kept();
            let mut from = 0;
            for other in &before.blocks {
                if (other.name(), other.kept()) == (block.name(), count) {
                    own[at..at + count].copy_from_slice(&kept[from..from + count]);
                    if factor != 1.0 && block.name() != PRESSURE {
                        own[at..at + count].iter_mut().for_each(|dual| *dual *= factor);
                    }
                }
                from += other.kept();
            }
            at += count;
        }
    }

    /// Largest relative error of a volume that is kept, at `x`.
    pub fn ring_error(&self, x: &[Quad]) -> f32 {
        self.tetrahedra.as_ref().map_or(0.0, |tetrahedra| tetrahedra.ring_error(&self.rings, x))
    }

    /// How well those of its terms are met at `x`, all vertices of the world, that have a line of their own.
    pub fn certify(&self, x: &[Quad]) -> impl Iterator<Item = TermCertificate> {
        let x = &x[self.vertices.clone()];
        self.blocks
            .iter()
            .filter_map(|block| Some(TermCertificate { name: block.name().into(), excess: block.excess(x)? }))
    }

    /// Whether its vertices hardly move, with velocities `v` of all vertices of the world \[m/s\], under
    /// `gravity` \[m/s²\]. False if velocities are not known, or for no implicit integrator.
    pub fn is_calm(&self, v: &[Quad], gravity: f32) -> bool {
        let Some(own) = v.get(self.vertices.clone()).filter(|_| self.strain.is_implicit()) else {
            return false;
        };
        let square = own.iter().map(|v| v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sum::<f32>();
        square <= CALM_SPEED * CALM_SPEED * gravity * self.size * own.len() as f32
    }

    /// Number of bodies that are solved together.
    pub fn body_count(&self) -> usize {
        self.bodies.len()
    }

    /// Whether vertex `i` of the body is held, or another stands for it.
    pub fn holds(&self, i: usize) -> bool {
        self.masses[i] <= 0.0
    }

    /// Whether another vertex stands for vertex `i` of the body.
    pub fn stands_behind(&self, i: usize) -> bool {
        self.welds.get(i).is_some_and(|&v| v as usize != i)
    }

    /// The vertex that stands for vertex `i` of the body: itself, but for twins of closed seams.
    #[inline(always)]
    pub fn stand_in(&self, i: usize) -> usize {
        self.welds.get(i).map_or(i, |&v| v as usize)
    }

    /// The inverse mass of vertex `i` of the body with all for which it stands, in about the units of the
    /// engine; 0 if it is held.
    pub(crate) fn inverse_mass(&self, i: usize) -> f32 {
        if self.masses[i] > 0.0 { self.edge_length * self.edge_length / self.masses[i] } else { 0.0 }
    }

    /// Puts the vertices for which others stand where those are, unless they are held.
    pub fn spread(&self, x: &mut [Quad]) {
        for (i, &stand_in) in self.welds.iter().enumerate() {
            if stand_in as usize != i && x[i][3] > 0.0 {
                let place = x[stand_in as usize];
                x[i][..3].copy_from_slice(&place[..3]);
            }
        }
        self.means.follow(x);
    }

    /// Number of vertices of each level, finest first.
    pub fn level_sizes(&self) -> Vec<usize> {
        self.multigrid.sizes()
    }
}
