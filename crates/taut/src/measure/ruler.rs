//! Rest tables that measure positions, without any table of a solver.

use std::ops::Range;

use glam::Vec3;

use crate::{
    Body, Description, Scheme, WorldError,
    body::{self, BodyTables, PinnedVertex, Rest, elements::Elements},
    boundary::{
        attachment::RigidGroup,
        bag::{Bag, bags},
        mesh_obstacle::MeshObstacle,
        motion::Motion,
        root::RootTable,
        seam::Sewing,
        spring::{self, SpringTable},
    },
    contact::inside::ClosedMesh,
    kernel::lanes::Quad,
    schedule::{self, Schedule},
    world::{HierarchyCache, check, sewing},
};

/// All that measuring the frames of a run needs: rest shapes, masses, pins, obstacles, the length of a step.
/// It has no levels, no matrices and no colours, so that it is made in about the time that it takes to read a
/// mesh. A [`World`](crate::World) is one of these and what the solver needs, and can be measured as one.
///
/// ```
/// use taut::{Cloth, Description, Material, low_level::Caught, mesh::generate};
/// use taut::measure::{Ruler, certify_positions};
///
/// let mesh = generate::grid([1.0, 1.0], [8, 8], generate::Diagonals::Alternating, 0);
/// let sheet = Cloth::new("sheet", mesh.clone(), Material::named("polyester").unwrap());
/// let ruler = Ruler::new(Description { bodies: vec![sheet.into()], ..Description::default() })?;
/// let stretched: Vec<_> = mesh.positions.iter().map(|p| 1.1 * *p).collect();
/// let measured = certify_positions(&ruler, 0, 0, &stretched, &Caught::new(&ruler));
/// assert!((measured.strain.max_stretch - 1.1).abs() < 1e-6);
/// # Ok::<(), taut::WorldError>(())
/// ```
#[derive(Debug)]
pub struct Ruler {
    pub(crate) description: Description,
    pub(crate) bodies: Vec<BodyTables>,
    /// Vertices of bodies. In the arrays of the engine these are followed by a spare, and that by `fixtures`.
    pub(crate) vertex_count: usize,
    /// Those of hair among them, the last ones.
    pub(crate) strands: Range<usize>,
    /// Vertices of mesh obstacles, one obstacle after the other. They have no inverse mass, and are where the
    /// time has them.
    pub(crate) fixtures: Range<usize>,
    /// By mesh obstacle: what tells inside from outside, if it is closed.
    pub(crate) insides: Vec<Option<ClosedMesh>>,
    /// Start positions in the engine's order, with the inverse mass in units of
    /// [`Ruler::inverse_mass_unit`].
    pub(crate) start: Vec<Quad>,
    /// Inverse masses of all vertices while they are not held, in the same unit; 0 for the spare.
    pub(crate) inverse_masses: Vec<f32>,
    /// What an inverse mass of 1 stands for \[1/kg\]: chosen so that inverse masses are about the square of
    /// an edge, which keeps the products that the strain limit makes of them inside the range of a float,
    /// whatever the scene's size.
    pub(crate) inverse_mass_unit: f32,
    /// By vertex, and of each vertex in the order of the scene.
    pub(crate) pins: Vec<PinnedVertex>,
    /// By pin of the description.
    pub(crate) motions: Vec<Motion>,
    /// Likewise: vertices that follow an obstacle in the shape that they start with.
    pub(crate) rigid_groups: Vec<Option<RigidGroup>>,
    /// Points of developable cloth that are the means of two others, and these, in the engine's order.
    pub(crate) means: Vec<(u32, [u32; 2])>,
    /// Roots of hair, of each in order of the bodies; `None` if it is free.
    pub(crate) roots: Vec<Option<RootTable>>,
    pub(crate) sewing: Sewing,
    /// Closed cloth with pressure inside.
    pub(crate) bags: Vec<Bag>,
    /// Springs: of segments of particles, body by body, then those of the description.
    pub(crate) springs: Vec<SpringTable>,
    /// Bounds on their stiffest mode: see [`spring::rates`].
    pub(crate) spring_rates: [f64; 2],
    /// How time is divided, and why.
    pub(crate) schedule: Schedule,
    /// When frame 0 was \[s\]: not 0 once the length of a frame has changed.
    pub(crate) origin: f64,
    /// Mean length of an edge \[m\].
    pub(crate) edge_length: f32,
}

/// The mean mass of a vertex \[kg\] and the mean length of an edge \[m\].
fn means(bodies: &[BodyTables], elements: &Elements, vertex_count: usize) -> (f64, f64) {
    if vertex_count == 0 {
        // Without bodies there are no masses and no edges to scale by.
        return (1.0, 1.0);
    }
    // Strands weigh next to nothing; what other bodies scale by does not follow them.
    let strands = strands(bodies, vertex_count);
    let counted = if strands.start > 0 { strands.start } else { vertex_count };
    let of_all = bodies.iter().filter(|body| body.vertices.start < counted);
    let total: f64 = of_all.flat_map(|b| &b.masses).sum();
    (total / counted as f64, elements.edge_length_sum / elements.edge_count.max(1) as f64)
}

/// Vertices of hair, which comes last.
fn strands(bodies: &[BodyTables], vertex_count: usize) -> Range<usize> {
    let first = bodies.iter().find(|body| matches!(body.rest, Rest::Hair(_)));
    first.map_or(vertex_count, |body| body.vertices.start)..vertex_count
}

/// A vertex that starts at `p` \[m\], and its inverse mass \[1/kg\]. Means have no mass: they follow others.
fn at_start(p: Vec3, mass: f64) -> Quad {
    [p.x, p.y, p.z, if mass > 0.0 { (1.0 / mass) as f32 } else { 0.0 }]
}

impl Ruler {
    /// Rest tables of `description`.
    ///
    /// # Errors
    /// If the description holds something that cannot be simulated.
    pub fn new(description: Description) -> Result<Self, WorldError> {
        check::check_not_empty(&description)?;
        Ok(Self::assemble(description, &HierarchyCache::default())?.0)
    }

    /// The same, with the elements that a world is made from, and what was made for others. There may be no
    /// body.
    pub(crate) fn assemble(
        mut description: Description,
        cache: &HierarchyCache,
    ) -> Result<(Self, Elements), WorldError> {
        check::check(&description)?;
        description.settle_scheme();
        let of_obstacles: usize = description.mesh_obstacles.iter().map(MeshObstacle::vertex_count).sum();
        let of_bodies = description.bodies.iter().map(|body| body.rest_positions().len());
        check::check_vertex_count(of_bodies.chain([of_obstacles]))?;
        let is_elastic = schedule::is_implicit(&description);
        let limits_segments = description.solver.scheme != Scheme::Nearest;
        let gravity = description.gravity;
        let mut elements =
            Elements { is_implicit: is_elastic, limits_segments, gravity, ..Elements::default() };
        let mut bodies = Vec::new();
        let mut start: Vec<Quad> = Vec::new();
        let (mut pins, mut motions, mut rigid_groups) = (Vec::new(), Vec::new(), Vec::new());
        let mut roots = Vec::new();
        for (number, described) in description.bodies.iter().enumerate() {
            let (length, count) = (elements.edge_length_sum, elements.edge_count);
            let body = BodyTables::new(described, start.len(), is_elastic, &mut elements, cache)?;
            let edge = (elements.edge_length_sum - length) / (elements.edge_count - count).max(1) as f64;
            let begins = BodyTables::start(described, edge, number, &description);
            let order = body.order().iter().map(|&v| v as usize);
            start.extend(order.map(|v| at_start(begins[v], body.masses[v])));
            body::add_pins(&description, described, &body, &mut pins, &mut motions, &mut rigid_groups)?;
            if let Body::Hair(hair) = described {
                roots.push(RootTable::new(hair, body.vertices.start, &description)?);
            }
            bodies.push(body);
        }
        pins.sort_by_key(|p| p.vertex);
        let vertex_count = start.len();
        let strands = strands(&bodies, vertex_count);
        let (mean, edge_length) = means(&bodies, &elements, vertex_count);
        let unit = 1.0 / (mean * edge_length * edge_length);
        for quad in &mut start {
            quad[3] = (f64::from(quad[3]) / unit) as f32;
        }
        let mut inverse_masses: Vec<f32> = start.iter().map(|quad| quad[3]).collect();
        inverse_masses.resize(vertex_count + 1 + of_obstacles, 0.0);
        for pin in pins.iter().filter(|pin| pin.frames.contains(&0) && pin.spring.is_none()) {
            start[pin.vertex as usize][3] = 0.0;
        }
        for v in roots.iter().flatten().flat_map(RootTable::vertices) {
            (start[v][3], inverse_masses[v]) = (0.0, 0.0);
        }
        let sewing = sewing::sewing(&description, &bodies, edge_length as f32)?;
        sewing.close(&mut start);
        let bags = bags(&description, &bodies, &sewing, &start)?;
        // A spare vertex at the end is where batches point with the lanes that they have left.
        start.push([0.0; 4]);
        let fixtures = start.len()..start.len() + of_obstacles;
        start.resize(fixtures.end, [0.0; 4]);
        let (folds, frequency) = sewing::hinges(&description, &bodies, &sewing);
        elements.seam_folds = folds;
        elements.seam_frequency = if is_elastic { 0.0 } else { frequency };
        let springs = spring::tables(&description, &bodies);
        let inverse_mass = |i: usize| f64::from(inverse_masses[i]) * unit;
        let spring_rates = spring::rates(&springs, vertex_count, inverse_mass);
        let schedule = Schedule::new(&description, &bodies, &elements);
        let insides = description.mesh_obstacles.iter();
        let insides = insides.map(|o| ClosedMesh::new(&o.triangles, &o.positions_at(0.0))).collect();
        let mut ruler = Self {
            inverse_mass_unit: unit as f32,
            edge_length: edge_length as f32,
            vertex_count,
            strands,
            means: elements.means.clone(),
            fixtures,
            insides,
            start,
            inverse_masses,
            pins,
            motions,
            rigid_groups,
            roots,
            sewing,
            bags,
            springs,
            spring_rates,
            schedule,
            origin: 0.0,
            bodies,
            description,
        };
        let mut start = std::mem::take(&mut ruler.start);
        ruler.place_fixtures(0.0, &mut start);
        ruler.start = start;
        Ok((ruler, elements))
    }

    /// What it was made from.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// How time is divided, and why.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Steps of the whole pipeline a frame: those asked for, or those chosen.
    pub fn steps_per_frame(&self) -> u32 {
        self.schedule.steps_per_frame
    }

    /// Length of a step \[s\].
    pub(crate) fn step_time(&self) -> f32 {
        self.description.frame_time / self.steps_per_frame() as f32
    }

    /// When step `step` begins \[s\].
    pub(crate) fn time_of_step(&self, step: u64) -> f32 {
        self.time_after(step, self.step_time())
    }

    /// The time after `steps` steps of `dt` \[s\].
    pub(crate) fn time_after(&self, steps: u64, dt: f32) -> f32 {
        (self.origin + steps as f64 * f64::from(dt)) as f32
    }

    /// When frame `frame` is \[s\].
    pub fn time_of_frame(&self, frame: u32) -> f32 {
        self.time_of_step(u64::from(frame) * u64::from(self.steps_per_frame()))
    }

    /// Where the vertices of body `body` start, in the caller's order \[m\].
    pub fn start_positions(&self, body: usize) -> Vec<Vec3> {
        let tables = &self.bodies[body];
        tables.embedding.points_of(&self.start[tables.vertices.clone()])
    }

    /// Triangles by which body `body` touches, in the caller's vertex order: of a solid those of its
    /// boundary.
    pub fn surface_of(&self, body: usize) -> &[[u32; 3]] {
        &self.bodies[body].surface
    }

    /// Puts means where they are, of positions \[m\] or velocities \[m/s\] of all vertices.
    pub(crate) fn settle_means(&self, x: &mut [Quad]) {
        for (mean, [a, b]) in &self.means {
            let [a, b] = [x[*a as usize], x[*b as usize]];
            let own = &mut x[*mean as usize];
            (0..3).for_each(|k| own[k] = 0.5 * (a[k] + b[k]));
        }
    }

    /// The roots of body `body`, if it is hair that is held by them.
    pub(crate) fn roots_of(&self, body: usize) -> Option<&RootTable> {
        let first = self.bodies.len() - self.roots.len();
        self.roots.get(body.checked_sub(first)?)?.as_ref()
    }

    /// Number of springs: segments of particles, body by body, and those of the description after them.
    pub fn spring_count(&self) -> usize {
        self.springs.len()
    }

    /// Number of triangles of all cloth.
    pub fn triangle_count(&self) -> usize {
        self.description.cloths().map(|cloth| cloth.elements().len()).sum()
    }

    /// Number of tetrahedra of all solids.
    pub fn tetrahedron_count(&self) -> usize {
        self.description.solids().map(|solid| solid.mesh.tetrahedra.len()).sum()
    }

    /// Number of vertices of all bodies.
    pub fn vertex_count(&self) -> usize {
        self.vertex_count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Cloth, Contact, Limit, Material, Pin, Solid, SolidMaterial, State, Stepper, World,
        boundary::hold::Caught,
        certify,
        exec::threads::Threads,
        measure::{Examiner, certify_positions},
        mesh::generate,
    };

    fn description() -> Description {
        let mesh = generate::grid([0.5, 0.5], [8, 8], generate::Diagonals::Alternating, 0);
        let pins = vec![Pin { vertices: mesh.groups["corner:top-left"].clone(), ..Pin::default() }];
        let mut sheet = Cloth::new("sheet", mesh, Material::named("denim").unwrap());
        (sheet.strain, sheet.bend, sheet.pins) =
            (Limit { min: None, max: Some(0.03) }, Limit { min: Some(-60.0), max: Some(60.0) }, pins);
        let bar = generate::bar(Vec3::new(0.3, 0.1, 0.1), [6, 2, 2]).unwrap();
        let mut bar = Solid::new("bar", bar, SolidMaterial::named("jelly").unwrap());
        bar.start.iter_mut().for_each(|p| p.y += 1.0);
        bar.strain.max = Some(0.05);
        Description {
            bodies: vec![bar.into(), sheet.into()],
            contact: Contact { thickness: 0.004, ..Contact::default() },
            ..Description::default()
        }
    }

    #[test]
    fn a_ruler_measures_what_a_world_does_to_the_bit() {
        let world = World::new(description()).unwrap();
        let mut state = State::new(&world);
        let mut stepper = Stepper::new(&world, 1).unwrap();
        (0..3).for_each(|_| _ = stepper.advance_frame(&world, &mut state));
        let whole = certify(&world, &state);
        let ruler = Ruler::new(description()).unwrap();
        let positions: Vec<Vec<Vec3>> = (0..2).map(|body| state.positions(&world, body)).collect();
        for (body, then) in whole.bodies.iter().enumerate() {
            let now = certify_positions(&ruler, body, 3, &positions[body], &Caught::new(&ruler));
            assert_eq!((&now.strain, &now.bend, &now.solid), (&then.strain, &then.bend, &then.solid));
            assert_eq!(now.energy.stretch, then.energy.stretch);
            assert_eq!((now.center_of_mass, now.max_pin_error), (then.center_of_mass, then.max_pin_error));
        }
        let mut examiner = Examiner::new(&ruler).unwrap();
        let contact = examiner.examine(&Threads::alone(), &ruler, 3, positions.iter().map(Vec::as_slice));
        assert_eq!(Some(contact), whole.contact);
        assert_eq!(ruler.start_positions(1), State::new(&world).positions(&world, 1));
    }

    #[test]
    fn a_description_without_bodies_is_refused_by_name() {
        assert_eq!(Ruler::new(Description::default()).unwrap_err(), WorldError::NoBodies);
        let mut wrong = description();
        wrong.cloths_mut().for_each(|cloth| cloth.strain.max = Some(-1.0));
        assert!(matches!(World::new(wrong), Err(WorldError::Limit { kind: "cloth", .. })));
    }
}
