//! Limits that are changed in the tables of a world.
//!
//! Matrices, levels, colours and schedules depend on which limits there are, not on their values: where a
//! limit takes the place of one of the same kind, its value is written into the tables that hold it. On
//! coarser levels it is found again from their meshes, which stay.

use std::sync::OnceLock;

use super::{HierarchyCache, World};
use crate::{
    Body, Limit, Weave,
    body::{
        BodyTables, Rest,
        cloth::levels::{bend_triangles, edge_levels, limited_levels},
        in_order,
        levels::depth,
    },
    element::{hinge::allowed_angles, triangle::StrainLimits},
    kernel::strain::Range,
    limit::{aim::Aim, levels::solid::SolidLimits},
    measure::Ruler,
    term::strain::may_be_narrow,
};

/// All limits of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct BodyLimits {
    pub strain: Limit,
    pub edge: Limit,
    pub bend: Limit,
    /// Takes the place of `strain`.
    pub weave: Option<Weave>,
}

/// New limits of the elements of a body.
#[derive(Clone, Debug, Default)]
pub(crate) struct ElementLimits {
    /// Of triangles or tetrahedra. `None`: they stay.
    pub strain: Option<StrainLimits>,
    /// Of hinges \[rad\], with their vertices, in the order of the body's elements. Empty: they stay.
    pub angles: Vec<([u32; 4], [f32; 2])>,
}

/// Which sides of a limit there are, and whether the lower one limits anything.
fn kind(limit: Limit) -> [bool; 3] {
    [limit.min.is_some(), limit.max.is_some(), limit.range().min > 0.0]
}

/// Order of the limited hinges of a body.
fn hinge_key(vertices: [u32; 4]) -> (Option<u32>, [u32; 4]) {
    (vertices.into_iter().min(), vertices)
}

impl BodyLimits {
    /// Those of `body`.
    pub fn of(body: &Body) -> Self {
        match body {
            Body::Cloth(cloth) => {
                Self { strain: cloth.strain, edge: cloth.edge, bend: cloth.bend, weave: cloth.weave }
            }
            Body::Solid(solid) => Self { strain: solid.strain, ..Self::default() },
            Body::Particles(particles) => Self { edge: particles.edge, ..Self::default() },
            Body::Hair(_) => Self { edge: body.edge(), bend: body.bend(), ..Self::default() },
        }
    }

    /// Makes them those of `body`.
    pub fn put(&self, body: &mut Body) {
        match body {
            Body::Cloth(cloth) => {
                if (cloth.strain, cloth.bend) != (self.strain, self.bend) {
                    // What was fitted was for other limits.
                    cloth.coarse = None;
                }
                (cloth.strain, cloth.edge, cloth.bend) = (self.strain, self.edge, self.bend);
                cloth.weave = self.weave;
            }
            Body::Solid(solid) => solid.strain = self.strain,
            Body::Particles(particles) => particles.edge = self.edge,
            Body::Hair(hair) => (hair.stretch, hair.bend) = (self.edge, self.bend.max),
        }
    }

    /// Whether both limit the same things on the same sides, by whatever values that take the same matrices.
    pub fn is_like(&self, other: &Self) -> bool {
        let (a, b) = (self.strain_bounds(), other.strain_bounds());
        if a != b && [a, b].iter().any(|bounds| may_be_narrow(bounds.range())) {
            return false;
        }
        let woven = match (&self.weave, &other.weave) {
            (None, None) => kind(self.strain) == kind(other.strain),
            (Some(a), Some(b)) => {
                let kinds = |weave: &Weave| [weave.warp, weave.weft, weave.bias].map(kind);
                a.direction == b.direction && kinds(a) == kinds(b)
            }
            _ => false,
        };
        woven && [(self.edge, other.edge), (self.bend, other.bend)].iter().all(|(a, b)| kind(*a) == kind(*b))
    }

    /// The loosest limits on principal strains.
    fn strain_bounds(&self) -> Limit {
        self.weave.map_or(self.strain, |weave| weave.loosest())
    }

    /// Whether the strain of triangles or tetrahedra is limited by the same values.
    fn has_strain_of(&self, other: &Self) -> bool {
        (self.strain_bounds(), self.weave) == (other.strain_bounds(), other.weave)
    }
}

impl World {
    /// Gives body `number` other limits, which [are like](BodyLimits::is_like) those that it has. The result
    /// is the world that would be built with them.
    pub(crate) fn set_limits(&mut self, number: usize, limits: &BodyLimits, cache: &HierarchyCache) {
        let body = &mut self.ruler.description.bodies[number];
        let before = BodyLimits::of(body);
        limits.put(body);
        let (strained, bent) = (!limits.has_strain_of(&before), limits.bend != before.bend);
        if let (Rest::Cloth(rest), Some(weave)) = (&mut self.ruler.bodies[number].rest, limits.weave) {
            rest.shape.set_weave([weave.warp, weave.weft, weave.bias].map(Limit::range));
        }
        let aim = Aim::new(&self.ruler.description);
        let aims_elsewhere = std::mem::replace(&mut self.aim, aim) != aim;
        for other in 0..self.ruler.bodies.len() {
            let is_it = other == number;
            let own = BodyLimits::of(&self.ruler.description.bodies[other]);
            let mut new = ElementLimits::default();
            if aims_elsewhere || is_it && strained {
                let woven = own
                    .weave
                    .map(|weave| [weave.warp, weave.weft, weave.bias].map(|limit| aim.inside(limit.range())));
                new.strain = Some(StrainLimits { loosest: aim.inside(own.strain_bounds().range()), woven });
            }
            if is_it && bent {
                new.angles = angles(&self.ruler.bodies[number], limits.bend);
            }
            if aims_elsewhere || is_it && limits.edge != before.edge {
                self.set_edges(other, aim.inside(own.edge.range()));
            }
            self.set_elements(other, &new);
            let faces = aims_elsewhere || is_it && (strained || bent);
            let edges = aims_elsewhere || is_it && limits.edge != before.edge;
            self.set_level_limits(other, faces, edges, cache);
        }
        self.judges = OnceLock::new();
    }

    /// Elements of a body, in the tables of all schemes.
    fn set_elements(&mut self, number: usize, new: &ElementLimits) {
        self.set_strain(number, new);
        self.set_bends(number, new);
        let filters = self.paces.iter_mut().flat_map(|pace| pace.filters.iter_mut().zip(&mut pace.welded));
        for (open, welded) in filters.filter(|_| new.strain.is_some() || !new.angles.is_empty()) {
            let spans = open.spans(&self.ruler.bodies[number].vertices);
            open.set_limits(&spans, new);
            welded.iter_mut().for_each(|welded| welded.set_limits(&spans, new));
        }
    }

    /// Triangles or tetrahedra of a body.
    fn set_strain(&mut self, number: usize, new: &ElementLimits) {
        let Some(limits) = new.strain else { return };
        let loosest = limits.loosest;
        let vertices = self.ruler.bodies[number].vertices.clone();
        self.elements.triangles.set_limits(&vertices, limits);
        let (elements, lanes) = self.elements.tetrahedra.tables_mut();
        for element in elements.iter_mut().filter(|e| vertices.contains(&(e.vertices[0] as usize))) {
            element.range = loosest;
        }
        lanes.change(|corners, lanes, lane| {
            if vertices.contains(&corners[0]) {
                lanes.set_range(lane, loosest);
            }
        });
    }

    /// Hinges of a cloth.
    fn set_bends(&mut self, number: usize, new: &ElementLimits) {
        let vertices = self.ruler.bodies[number].vertices.clone();
        let find = |hinge: [u32; 4]| {
            let key = hinge_key(hinge);
            let place = new.angles.binary_search_by_key(&key, |(vertices, _)| hinge_key(*vertices)).ok()?;
            Some(new.angles[place].1)
        };
        if new.angles.is_empty() {
            return;
        }
        let (elements, lanes) = self.elements.hinges.tables_mut();
        for element in elements.iter_mut().filter(|e| vertices.contains(&(e.vertices[0] as usize))) {
            if let Some(angles) = find(element.vertices) {
                [element.min, element.max] = angles;
            }
        }
        for lanes in [lanes, &mut self.edge_model.bends] {
            lanes.change(|corners, lanes, lane| {
                if vertices.contains(&corners[0])
                    && let Some(angles) = find(corners.map(|v| v as u32))
                {
                    lanes.set_angles(lane, angles);
                }
            });
        }
    }

    /// Edges of a cloth.
    fn set_edges(&mut self, number: usize, range: Range<f32>) {
        let vertices = self.ruler.bodies[number].vertices.clone();
        let (elements, lanes) = self.elements.edges.tables_mut();
        for element in elements.iter_mut().filter(|e| vertices.contains(&(e.vertices[0] as usize))) {
            element.range = range;
        }
        for lanes in [lanes, &mut self.edge_model.edges] {
            lanes.change(|corners, lanes, lane| {
                if vertices.contains(&corners[0]) {
                    lanes.set_range(lane, range);
                }
            });
        }
    }

    /// Coarser levels of a body, of which triangles and hinges have changed, or edges.
    fn set_level_limits(&mut self, number: usize, faces: bool, edges: bool, cache: &HierarchyCache) {
        let Ruler { description, bodies, .. } = &self.ruler;
        let vertices = &bodies[number].vertices;
        let depth = depth(&description.solver);
        match &description.bodies[number] {
            Body::Cloth(cloth) => {
                let own = self.levels.iter_mut().find(|own| own.parts.vertices == *vertices);
                if let (true, Some(own), Some(depth)) = (faces, own, depth)
                    // Limits that a cloth brings fitted its levels when the world was built.
                    && let Ok((_, limits)) = limited_levels(cloth, &bodies[number], depth, self.aim, cache)
                {
                    own.set_limits(limits);
                    self.bend_triangles = bend_triangles(description, bodies);
                }
                let own =
                    self.edge_model.bodies.iter_mut().find(|own| own.leveled.parts.vertices == *vertices);
                if let (true, Some(own), Some(model)) = (edges, own, cloth.model.edge()) {
                    let depth = model.levels as usize - 1;
                    own.leveled.set_limits(edge_levels(cloth, &bodies[number], depth, self.aim, cache).1);
                }
            }
            Body::Solid(solid) => {
                let own = self.solid_levels.iter_mut().find(|own| own.parts.vertices == *vertices);
                if let (true, Some(own)) = (faces, own) {
                    own.set_limits(SolidLimits(self.aim.inside(solid.strain.range())));
                }
            }
            // No levels.
            Body::Particles(_) | Body::Hair(_) => {}
        }
    }
}

/// Allowed angles \[rad\] of the hinges of a body, in the order of its elements.
fn angles(body: &BodyTables, limit: Limit) -> Vec<([u32; 4], [f32; 2])> {
    let Rest::Cloth(rest) = &body.rest else { return Vec::new() };
    let place = in_order(body.order(), body.vertices.start);
    let angles = rest.bends.iter().map(|hinge| {
        let allowed = allowed_angles(limit, hinge.rest_angle, hinge.heights).map(|a| a as f32);
        (hinge.vertices.map(|v| place[v as usize]), allowed)
    });
    let mut angles: Vec<_> = angles.collect();
    angles.sort_by_key(|(vertices, _)| hinge_key(*vertices));
    angles
}
