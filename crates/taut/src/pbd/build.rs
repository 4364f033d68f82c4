//! From bodies to constraints.

use glam::DVec3;

use super::{
    PbdTables,
    constraint::{Bend, Constraints, Distance, Volume},
    enclosed::{Enclosed, volume_of},
    spring::Springs,
};
use crate::{
    Body, Cloth, Particles, PbdModel, PbdStiffness, Ruler, Solid,
    body::{BodyTables, in_order},
    boundary::bag::Bag,
    kernel::{
        dihedral::dihedral,
        pbd::{Stiff, part_of_iteration},
    },
    mesh::adjacency::Adjacency,
};

/// What stands for the length of a segment that has none \[m\]: stretches are over it.
const LEAST_LENGTH: f32 = 1e-9;

/// All constraints, while they are collected.
struct Collected {
    stretch: Vec<Distance>,
    bend: Vec<Bend>,
    volume: Vec<Volume>,
    enclosed: Vec<Enclosed>,
    /// n_s.
    iterations: u32,
    /// What a compliance is multiplied by: over dt², in the unit of inverse masses \[kg/s²\].
    factor: f64,
    /// Whether stretch, bend and volume of some have a compliance.
    is_compliant: [bool; 3],
    /// A vertex that no constraint has.
    spare: u32,
}

impl PbdTables {
    /// Those of the bodies of `ruler`; `None` if these are of other models.
    pub(crate) fn new(ruler: &Ruler) -> Option<Self> {
        let bodies = || ruler.description.bodies.iter().zip(&ruler.bodies);
        let models = || bodies().filter_map(|(body, _)| body.pbd());
        let iterations = models().map(|model| model.iterations).max()?;
        let dt = f64::from(ruler.step_time());
        let mut all = Collected {
            stretch: Vec::new(),
            bend: Vec::new(),
            volume: Vec::new(),
            enclosed: Vec::new(),
            iterations,
            factor: 1.0 / (dt * dt * f64::from(ruler.inverse_mass_unit)),
            is_compliant: [false; 3],
            spare: ruler.vertex_count as u32,
        };
        for (body, tables) in bodies() {
            let Some(model) = body.pbd() else { continue };
            match body {
                Body::Cloth(cloth) => all.add_cloth(cloth, model, tables),
                Body::Solid(solid) => all.add_solid(solid, model, tables),
                Body::Particles(particles) => all.add_particles(particles, model, tables),
                // Never of this model.
                Body::Hair(_) => {}
            }
        }
        for bag in &ruler.bags {
            let volume = ruler.description.bodies[bag.bodies[0]].pbd().and_then(|model| model.volume);
            all.add_bag(bag, volume, &ruler.bodies);
        }
        let [stretches, bends, volumes] = all.is_compliant;
        all.stretch.sort_by_key(|c| c.vertices);
        all.bend.sort_by_key(|c| (c.vertices.into_iter().min(), c.vertices));
        all.volume.sort_by_key(|c| (c.vertices.into_iter().min(), c.vertices));
        Some(Self {
            iterations,
            damping: models().map(|model| model.damping).collect(),
            stretch: Constraints::new(all.spare, &all.stretch, stretches),
            bend: Constraints::new(all.spare, &all.bend, bends),
            volume: Constraints::new(all.spare, &all.volume, volumes),
            enclosed: all.enclosed,
            springs: Springs::new(&ruler.springs, dt, ruler.inverse_mass_unit.into()),
        })
    }
}

impl Collected {
    /// k' and α̃ of a constraint that is measured in units of `scale` times those of its compliance.
    fn stiff(&self, stiffness: PbdStiffness, scale: f64) -> [f64; 2] {
        match stiffness {
            PbdStiffness::Part(k) => [part_of_iteration(f64::from(k), self.iterations), 0.0],
            PbdStiffness::Compliance(alpha) => [1.0, f64::from(alpha) * self.factor * scale * scale],
        }
    }

    /// Edges, whose length without tension is `slack` times that in the rest shape.
    fn add_edges(
        &mut self,
        stiffness: PbdStiffness,
        slack: f64,
        edges: impl IntoIterator<Item = [u32; 2]>,
        at: &At,
    ) {
        if !stiffness.acts() {
            return;
        }
        self.is_compliant[0] |= matches!(stiffness, PbdStiffness::Compliance(_));
        let stiff = single(self.stiff(stiffness, 1.0));
        self.stretch.extend(edges.into_iter().map(|edge| {
            let [a, b] = edge.map(|v| at.rest(v));
            let rest = (slack * a.distance(b)) as f32;
            Distance { vertices: edge.map(|v| at.place[v as usize]), rest: rest.max(LEAST_LENGTH), stiff }
        }));
    }

    /// Segments, unless they are springs.
    fn add_particles(&mut self, particles: &Particles, model: PbdModel, tables: &BodyTables) {
        let springs = &particles.springs;
        if springs.stiffness == 0.0 {
            let at = At::new(tables, &particles.mesh.positions);
            self.add_edges(model.stretch, springs.rest.into(), particles.mesh.segments.iter().copied(), &at);
        }
    }

    fn add_cloth(&mut self, cloth: &Cloth, model: PbdModel, tables: &BodyTables) {
        let adjacency = Adjacency::new(&cloth.mesh.triangles);
        let at = At::new(tables, &cloth.mesh.positions);
        self.add_edges(model.stretch, 1.0, adjacency.edges.iter().copied(), &at);
        if model.bend.acts() {
            self.is_compliant[1] |= matches!(model.bend, PbdStiffness::Compliance(_));
            let stiff = single(self.stiff(model.bend, 1.0));
            self.bend.extend(adjacency.hinges.iter().map(|hinge| {
                let d = dihedral(&hinge.map(|v| at.rest(v).to_array()));
                let vertices = hinge.map(|v| at.place[v as usize]);
                Bend { vertices, rest: [d.sin_half as f32, d.cos_half as f32], stiff }
            }));
        }
        let has_pressure = cloth.pressure.is_some();
        if let Some(stiffness) = model.volume.filter(|volume| volume.acts() && !has_pressure) {
            let triangles: Vec<_> =
                cloth.mesh.triangles.iter().map(|t| t.map(|v| at.place[v as usize])).collect();
            let rest = volume_of(&cloth.mesh.triangles, |v| at.rest(v));
            let stiff = self.stiff(stiffness, 1.0);
            let vertices = tables.vertices.clone();
            self.enclosed.push(Enclosed::new(vertices, self.spare, &triangles, (rest, None), stiff));
        }
    }

    /// Adds a bag, whose volume is kept with the stiffness `volume` of its model.
    fn add_bag(&mut self, bag: &Bag, volume: Option<PbdStiffness>, bodies: &[BodyTables]) {
        let stiff = self.stiff(volume.unwrap_or(PbdStiffness::Part(1.0)), 1.0);
        let vertices = bag.bodies.iter().map(|&body| bodies[body].vertices.clone());
        let Some(vertices) = vertices.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)) else { return };
        let over = (bag.volume, Some(bag.pressure.clone()));
        self.enclosed.push(Enclosed::new(vertices, self.spare, &bag.triangles, over, stiff));
    }

    fn add_solid(&mut self, solid: &Solid, model: PbdModel, tables: &BodyTables) {
        let at = At::new(tables, &solid.mesh.positions);
        self.add_edges(model.stretch, 1.0, solid.mesh.edges(), &at);
        let stiffness = model.volume.unwrap_or(PbdStiffness::Part(1.0));
        if !stiffness.acts() {
            return;
        }
        self.is_compliant[2] |= matches!(stiffness, PbdStiffness::Compliance(_));
        for corners in &solid.mesh.tetrahedra {
            let [a, b, c, d] = corners.map(|v| at.rest(v));
            let volume = (b - a).cross(c - a).dot(d - a) / 6.0;
            let unit = volume.abs().powf(-2.0 / 3.0);
            self.volume.push(Volume {
                vertices: corners.map(|v| at.place[v as usize]),
                rest: [unit as f32, (unit * volume) as f32],
                stiff: single(self.stiff(stiffness, unit)),
            });
        }
    }
}

fn single([part, compliance]: [f64; 2]) -> Stiff<f32> {
    Stiff { part: part as f32, compliance: compliance as f32 }
}

/// Where the vertices of a body are: in the engine's order, and at rest.
struct At<'a> {
    place: Vec<u32>,
    rest: &'a [glam::Vec3],
}

impl<'a> At<'a> {
    fn new(tables: &BodyTables, rest: &'a [glam::Vec3]) -> Self {
        Self { place: in_order(tables.order(), tables.vertices.start), rest }
    }

    fn rest(&self, v: u32) -> DVec3 {
        self.rest[v as usize].as_dvec3()
    }
}
