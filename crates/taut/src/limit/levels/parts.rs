//! What levels are made from. It is kept, so that they can be made again when other vertices are held than
//! the scene holds (T5).

use std::ops::Range as Span;

use glam::Vec3;

use super::{
    insert::Pinning,
    tables::{Levels, Limited},
};
use crate::{
    boundary::grip::{Gripped, Grips},
    hierarchy::{Hierarchy, Transfer},
    kernel::lanes::Quad,
};

/// A level before it has limits.
#[derive(Clone, Debug)]
pub struct Bare<const K: usize> {
    /// Rest positions \[m\].
    pub positions: Vec<Vec3>,
    /// Vertices of each element.
    pub elements: Vec<[u32; K]>,
    /// Between this level and the next finer one.
    pub transfer: Transfer<K>,
    /// Where its vertices lie in the base.
    pub sample: Transfer<K>,
}

impl Bare<3> {
    /// The levels of a cloth whose `triangles` are named by the `hierarchy`; all vertices in the engine's
    /// order.
    pub fn of_cloth(hierarchy: Hierarchy, triangles: &[[u32; 3]]) -> Vec<Self> {
        let bare = hierarchy.levels.into_iter().map(|level| Self {
            positions: level.mesh.positions,
            elements: level.mesh.triangles,
            transfer: level.transfer,
            sample: Transfer {
                corners: level.on_base.iter().map(|site| triangles[site.triangle as usize]).collect(),
                weights: level.on_base.iter().map(|site| site.weights).collect(),
            },
        });
        bare.collect()
    }
}

/// What of a level is limited, and how.
pub trait LevelLimits<const K: usize> {
    /// Which way an element faces, and its quality (1: equilateral).
    fn shape(corners: [Vec3; K]) -> (Vec3, f32);

    /// Whether vertex `v` of the body is on a border of cloth.
    fn is_on_border(&self, v: u32) -> bool;

    /// Gives pins that no vertex could be moved onto vertices of their own.
    fn insert(&self, pinning: Pinning<K>);

    /// Elements of level number `k`, 0 the finest, with their limits; those of `altered` ones are fitted
    /// again.
    fn limited(&self, k: usize, level: &Bare<K>, altered: Altered) -> Limited;
}

/// Which elements of a level pins have changed.
#[derive(Clone, Copy, Debug)]
pub struct Altered<'a> {
    /// One for each.
    pub elements: &'a [bool],
    /// Whether their limits are searched for as those of the level were; else they get bounds.
    pub search: bool,
}

/// What the levels of a body are made from.
#[derive(Clone, Debug)]
pub struct Parts<L, const K: usize = 3> {
    /// The body's vertices, of all vertices of the world.
    pub vertices: Span<usize>,
    /// Rest positions in the engine's order \[m\].
    pub rest: Vec<Vec3>,
    /// Masses in that order \[kg\].
    pub masses: Vec<f64>,
    /// Vertices within the body that are, or may be, pinned by the scene, in ascending order.
    pub pins: Vec<u32>,
    /// Levels, finest first.
    pub bare: Vec<Bare<K>>,
    /// Their limits.
    pub limits: L,
}

/// A body with levels, which hold the pins of the scene.
#[derive(Clone, Debug)]
pub struct Leveled<L, const K: usize = 3> {
    /// What the levels are made from.
    pub parts: Parts<L, K>,
    /// The levels.
    pub levels: Levels<K>,
}

impl<L: LevelLimits<K>, const K: usize> Leveled<L, K> {
    /// Builds the levels.
    pub fn new(parts: Parts<L, K>) -> Self {
        Self { levels: Levels::new(&parts, &parts.pins, true), parts }
    }

    /// Gives the levels other limits. Their meshes stay.
    pub fn set_limits(&mut self, limits: L) {
        self.parts.limits = limits;
        self.levels = Levels::new(&self.parts, &self.parts.pins, true);
    }
}

/// What takes the place of a body's levels while something is held that the scene does not hold.
#[derive(Clone, Debug)]
pub struct Holding<const K: usize = 3> {
    /// For which vertices, and the levels.
    levels: Option<(Vec<u32>, Levels<K>)>,
    /// Whether memory was made last for levels that have other elements than the body's own.
    is_remeshed: bool,
    /// Room for those.
    foreign: Vec<u32>,
    /// All that is held.
    held: Vec<u32>,
}

impl<const K: usize> Default for Holding<K> {
    fn default() -> Self {
        Self { levels: None, is_remeshed: false, foreign: Vec::new(), held: Vec::new() }
    }
}

impl<const K: usize> Holding<K> {
    /// Makes levels again at the next [`hold`](Self::hold).
    pub fn forget(&mut self) {
        self.levels = None;
    }

    /// Makes levels for what is held now: those with no inverse mass in `x`, and grips. Allocates only where
    /// that is something else than before. Says whether memory for them has to be made again: vertices were
    /// inserted, or those that were are gone.
    pub fn hold<L: LevelLimits<K>>(&mut self, body: &Leveled<L, K>, x: &[Quad], grips: &Grips) -> bool {
        let (parts, first) = (&body.parts, body.parts.vertices.start);
        let own = &x[parts.vertices.clone()];
        self.held.clear();
        self.held.extend((0..own.len() as u32).filter(|&v| own[v as usize][3] <= 0.0));
        let gripped = grips.iter().map(Gripped::main_vertex).filter(|v| parts.vertices.contains(v));
        for v in gripped.map(|v| (v - first) as u32) {
            if let Err(at) = self.held.binary_search(&v) {
                self.held.insert(at, v);
            }
        }
        self.foreign.clear();
        self.foreign.extend(self.held.iter().filter(|v| parts.pins.binary_search(v).is_err()));
        let was_remeshed = self.is_remeshed;
        if self.foreign.is_empty() {
            self.levels = None;
            self.is_remeshed = false;
            return was_remeshed;
        }
        if self.levels.as_ref().is_none_or(|(held, _)| *held != self.foreign) {
            let mut pins = [&parts.pins[..], &self.foreign[..]].concat();
            pins.sort_unstable();
            let levels = Levels::new(parts, &pins, false);
            let mut both = levels.levels.iter().zip(&body.levels.levels);
            self.is_remeshed = both.any(|(new, own)| new.elements != own.elements);
            self.levels = Some((self.foreign.clone(), levels));
            return was_remeshed || self.is_remeshed;
        }
        false
    }

    /// All that is held now, within the body, in ascending order.
    pub fn held(&self) -> &[u32] {
        &self.held
    }

    /// The levels that hold what is held.
    pub fn of<'a, L>(&'a self, body: &'a Leveled<L, K>) -> &'a Levels<K> {
        self.levels.as_ref().map_or(&body.levels, |(_, levels)| levels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Cloth, Description, EdgeModel, Limit, Material, Model, Scheme, State, World, limit::enforce::Scratch,
        mesh::generate,
    };

    fn sheet(model: Model) -> World {
        let mesh = generate::grid([1.0, 1.0], [24, 24], generate::Diagonals::Alternating, 0);
        let mut cloth = Cloth::new("sheet", mesh, Material::named("polyester").unwrap());
        let limit = Limit { min: None, max: Some(0.05) };
        (cloth.strain, cloth.edge) =
            if model.edge().is_some() { (Limit::default(), limit) } else { (limit, Limit::default()) };
        cloth.model = model;
        let mut description = Description { bodies: vec![cloth.into()], ..Description::default() };
        description.solver.scheme = Scheme::Cycle;
        World::new(description).unwrap()
    }

    /// Whether each level has a vertex that is vertex `v` of the body.
    fn has(levels: &Levels, v: u32) -> bool {
        !levels.levels.is_empty() && levels.levels.iter().all(|level| level.pins.contains(&Some(v)))
    }

    #[test]
    fn what_a_user_holds_is_held_on_every_level_until_it_is_let_go() {
        for model in [Model::Fem, Model::Edge(EdgeModel::default())] {
            let world = sheet(model);
            let (mut state, mut scratch) = (State::new(&world), Scratch::new(&world));
            let vertex = 24 * 25 / 2;
            let place = world.numbered(0, vertex).unwrap().1;
            let levels = |scratch: &Scratch| match model {
                Model::Fem => scratch.levels[0].1.of(&world.levels[0]).clone(),
                Model::Pbd(_) | Model::Developable(_) => unreachable!(),
                Model::Edge(_) => {
                    scratch.edge_model[0].holding.of(&world.edge_model.bodies[0].leveled).clone()
                }
            };
            assert!(!has(&levels(&scratch), place), "{model:?}");
            state.pin(&world, 0, vertex, Vec3::ZERO).unwrap();
            state.begin_frame(&world, &mut Vec::new());
            scratch.hold(&world, &state.x, &state.grips);
            assert!(has(&levels(&scratch), place), "{model:?}");
            state.unpin(&world, 0, vertex).unwrap();
            state.begin_frame(&world, &mut Vec::new());
            scratch.hold(&world, &state.x, &state.grips);
            assert!(!has(&levels(&scratch), place), "{model:?}");
        }
    }
}
