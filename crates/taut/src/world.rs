//! What does not change while a simulation runs: the description that a caller gives, and the tables made
//! from it.

mod body;
mod build;
mod coarse;
mod elastic;
mod filters;
mod imperfection;
mod known;
mod sewing;
mod solid;
mod weave;

use std::{ops::Range, sync::OnceLock};

use glam::Vec3;

use crate::{
    boundary::{
        attachment::Attachment,
        mesh_obstacle::MeshObstacle,
        motion::Motion,
        obstacle::Obstacle,
        pin::Pin,
        rigid::RigidBody,
        seam::{Seam, Sewing},
        solids::PUSH,
    },
    certificate::{RestShape, RestTetrahedra},
    contact::{inside::ClosedMesh, surface::Surface, untangle::pierced},
    element::{
        hinge::{BendElement, RestBend},
        set::ElementSets,
    },
    hierarchy::{self, Hierarchy, fit::CoarseLimits},
    kernel::lanes::{BATCH, Quad},
    limit::{
        bend_paper::BendTriangle,
        edge_model::EdgeModelTables,
        levels::{parts::Leveled, solid::SolidLimits, tables::ElementLimits},
    },
    mesh::TriangleMesh,
    solve::nearest::filter::Filter,
    velocity::{
        air::{Air, Gusts},
        bending::RestHinge,
        material::Material,
        spring::RestSpring,
        update::{Forces, Plan},
    },
};

pub use body::Body;
pub(crate) use known::Known;
pub use solid::Solid;
pub use weave::{Direction, Weave};

/// A lower and an upper limit, each of which may be absent.
///
/// For strain: relative change of length, so that `max = 0.05` allows principal stretches up to 1.05, and
/// `min = -0.05` down to 0.95.
///
/// For bend: degrees a centimetre (Eq. 5 of the paper), so that `max = 30.0` lets a hinge whose wings are
/// both 1 cm high fold by 60 degrees past its rest angle towards the back of the surface, and `min = -30.0`
/// as far towards its front.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limit {
    /// Largest allowed compression (a negative number, at least −1) or bend towards the front, or none.
    pub min: Option<f32>,
    /// Largest allowed stretch or bend towards the back, or none.
    pub max: Option<f32>,
}

/// One piece of cloth.
#[derive(Clone, Debug)]
pub struct Cloth {
    /// Its name in files and messages.
    pub name: String,
    /// Rest shape.
    pub mesh: TriangleMesh,
    /// Where its vertices start \[m\]; as many as `mesh.positions`.
    pub start: Vec<Vec3>,
    /// Velocity at the start \[m/s\].
    pub velocity: Vec3,
    /// What it is made of.
    pub material: Material,
    /// How it is simulated.
    pub model: Model,
    /// Limits on the principal strains of every triangle (isotropic).
    pub strain: Limit,
    /// Limits on the principal strains of every triangle by their direction; these take the place of
    /// `strain`.
    pub weave: Option<Weave>,
    /// Limits on the strain of every edge.
    pub edge: Limit,
    /// Limits on the bend of every hinge \[°/cm\].
    pub bend: Limit,
    /// Limits of its coarser levels, for schemes that enforce limits there; `None`: the closed-form bounds.
    pub coarse: Option<CoarseLimits>,
    /// Vertices that are held.
    pub pins: Vec<Pin>,
    /// Mass of each vertex \[kg\]; `None` takes a third of the mass of each triangle around it.
    pub masses: Option<Vec<f64>>,
    /// How far the start of vertices that are not held is displaced at random along the normals, at most
    /// \[m\]; `None` takes [`IMPERFECTION`] of the mean length of an edge. No real cloth is perfectly flat,
    /// and one that is does not know which way to buckle: pushed together, it stays flat and cannot meet a
    /// lower limit.
    pub imperfection: Option<f32>,
}

/// What [`Cloth::imperfection`] is by default, in mean lengths of an edge: far below what can be seen, far
/// above rounding.
pub const IMPERFECTION: f32 = 1e-4;

impl Cloth {
    /// Cloth at rest in its rest shape, with no limits and no pins.
    pub fn new(name: impl Into<String>, mesh: TriangleMesh, material: Material) -> Self {
        let start = mesh.positions.clone();
        Self {
            name: name.into(),
            mesh,
            start,
            velocity: Vec3::ZERO,
            material,
            model: Model::Fem,
            strain: Limit::default(),
            weave: None,
            edge: Limit::default(),
            bend: Limit::default(),
            coarse: None,
            pins: Vec::new(),
            masses: None,
            imperfection: None,
        }
    }
}

/// How a cloth is simulated: its forces inside the limits, and how these are enforced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Model {
    /// Linear triangles; limits as the [`Scheme`] has it.
    #[default]
    Fem,
    /// The second paper's (T1 to T4, T6): energy of edges and hinges, limits on edges and hinges alone,
    /// enforced over a few levels with so many iterations on each, whatever the scheme. Quick, and as exact
    /// as its iterations make it.
    Edge(EdgeModel),
}

/// Settings of [`Model::Edge`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeModel {
    /// Levels, the cloth itself included: 1 to 5. Small meshes may have fewer.
    pub levels: u32,
    /// Iterations on each level in a frame, 1 to 10000, shared out between its steps; fewer where limits
    /// hold.
    pub iterations: u32,
}

impl EdgeModel {
    /// Vertices that its coarsest level may have at the least.
    const COARSEST: usize = 16;

    /// How deep its levels are, the cloth itself not counted: at most [`EdgeModel::levels`] less one of what
    /// this makes.
    pub(crate) fn options() -> hierarchy::Options {
        hierarchy::Options { coarsest: Self::COARSEST, ..hierarchy::Options::default() }
    }

    /// Its levels of `mesh`, the mesh itself not counted.
    pub fn hierarchy(self, mesh: &TriangleMesh) -> Hierarchy {
        let mut hierarchy = hierarchy::build(mesh, &Self::options());
        hierarchy.levels.truncate((self.levels as usize).saturating_sub(1));
        hierarchy
    }
}

impl Default for EdgeModel {
    fn default() -> Self {
        Self { levels: 4, iterations: 50 }
    }
}

impl Model {
    /// The settings of the edge model, if it is that.
    pub fn edge(self) -> Option<EdgeModel> {
        match self {
            Self::Fem => None,
            Self::Edge(settings) => Some(settings),
        }
    }
}

/// How limits are enforced over the whole mesh (W5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheme {
    /// Gauss–Seidel over colours, lanes and threads; the order of colours is random.
    Sweep,
    /// Gauss–Seidel over elements one by one in random order, on one thread: the paper's.
    Serial,
    /// All elements at once, corrections averaged with constant weights so that momentum is kept.
    Jacobi,
    /// The nearest state within the limits in the mass metric, on all levels at once. Limits on edges are
    /// swept afterwards.
    #[default]
    Nearest,
    /// Nonlinear cycles over coarser levels of the mesh, coloured sweeps on each, until the finest is within
    /// its limits.
    Cycle,
    /// As published (W10): one pass over four levels with limits of their own, 128 iterations on each,
    /// elements one by one in random order, Eq. 4 whatever the projection, on one thread. Here to compare
    /// with.
    Paper,
}

/// How one violating triangle is brought back to its limits (W1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Projection {
    /// Along the mass-weighted gradient of the principal stretches; keeps linear and angular momentum.
    #[default]
    Gradient,
    /// The paper's Eq. 4: about the centre of mass; keeps linear momentum.
    Paper,
}

/// Settings of the limiter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solver {
    /// How limits are enforced over the mesh.
    pub scheme: Scheme,
    /// How one element is projected.
    pub projection: Projection,
    /// Largest residual past a limit at which a step may end (strain, without unit).
    pub tolerance: f32,
    /// Largest excess past a bend limit at which a step may end \[°\].
    pub bend_tolerance: f32,
    /// Most iterations a step; on the finest level, if there are several.
    pub iterations: u32,
    /// Most passes over the coarse levels a step, for [`Scheme::Cycle`] and [`Scheme::Paper`] only; 0 leaves
    /// it to the scheme: cycles until the limits are met, the paper's once.
    pub passes: u32,
    /// Time that a frame may take \[ms\]: its steps stop iterating when their share is spent. The result then
    /// depends on the machine.
    pub budget_ms: Option<f32>,
    /// Factor on every correction; 1 is plain Gauss–Seidel, between 1 and 2 over-relaxation.
    pub relaxation: f32,
    /// Steps of the whole pipeline a frame; 0 chooses: 1, as in the paper, for the schemes that solve over
    /// levels (3 for curved shells with a lower limit, which a long step crumples), 15 where there is cloth
    /// of the [edge model](Model::Edge), or half as many as it has iterations, and 4 to 32 for those that do
    /// not and for limits on edges, so that a step has no more than 12 substeps: limits that are met only
    /// roughly set off waves in stiff cloth.
    pub steps_per_frame: u32,
    /// Most substeps of the explicit velocity update a step; stiffness that needs more is softened. Of no use
    /// where cloth touches ([`Contact`], mesh obstacles) and the scheme is [`Scheme::Nearest`], which is
    /// implicit there. 0 chooses: 1 for cloth of the edge model alone, 6 where a frame is one step or three,
    /// 24 otherwise.
    pub max_substeps: u32,
}

impl Default for Solver {
    fn default() -> Self {
        Self {
            scheme: Scheme::Nearest,
            projection: Projection::Gradient,
            tolerance: 0.01,
            bend_tolerance: 2.0,
            iterations: 1000,
            passes: 0,
            budget_ms: None,
            relaxation: 1.0,
            steps_per_frame: 0,
            max_substeps: 0,
        }
    }
}

/// Contact of cloth with itself and with other cloth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Distance that pieces of cloth keep from each other and from themselves \[m\]; 0 lets cloth pass
    /// through cloth.
    pub thickness: f32,
    /// Coulomb friction coefficient of cloth on cloth.
    pub friction: f32,
}

impl Default for Contact {
    fn default() -> Self {
        Self { thickness: 0.0, friction: 0.3 }
    }
}

/// Everything that a simulation is made from.
#[derive(Clone, Debug)]
pub struct Description {
    /// Cloth and soft solids, in any order. Pins, seams, certificates and files count them in this order.
    pub bodies: Vec<Body>,
    /// Vertices of cloth that are sewn together.
    pub seams: Vec<Seam>,
    /// Solid bodies that cloth may not enter.
    pub obstacles: Vec<Obstacle>,
    /// Triangle meshes that cloth may not pass through.
    pub mesh_obstacles: Vec<MeshObstacle>,
    /// Solid bodies with mass, which cloth pushes; for [`Scheme::Nearest`] only.
    pub rigid_bodies: Vec<RigidBody>,
    /// Gravity \[m/s²\].
    pub gravity: Vec3,
    /// Air around it.
    pub air: Air,
    /// Length of a frame \[s\].
    pub frame_time: f32,
    /// Settings of the limiter.
    pub solver: Solver,
    /// Contact of cloth with cloth.
    pub contact: Contact,
    /// Seed of everything random.
    pub seed: u64,
}

impl Default for Description {
    fn default() -> Self {
        Self {
            bodies: Vec::new(),
            seams: Vec::new(),
            obstacles: Vec::new(),
            mesh_obstacles: Vec::new(),
            rigid_bodies: Vec::new(),
            gravity: Vec3::new(0.0, -9.81, 0.0),
            air: Air::default(),
            frame_time: 1.0 / 30.0,
            solver: Solver::default(),
            contact: Contact::default(),
            seed: 0,
        }
    }
}

/// Why a [`Description`] cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// A value is out of range.
    #[error("{what}: {problem}")]
    Invalid {
        /// The thing, for instance `cloth "sheet"`.
        what: String,
        /// What is wrong and what is allowed.
        problem: String,
    },
    /// The thread pool could not be started.
    #[error("could not start {0} threads: {1}")]
    Threads(usize, String),
}

/// One body's place in the arrays of the engine.
#[derive(Clone, Debug)]
pub(crate) struct BodyTables {
    /// Its vertices, of all vertices of the world.
    pub vertices: Range<usize>,
    /// The caller's index (within the body) of each of its vertices, in the engine's order.
    pub order: Vec<u32>,
    /// Masses in the caller's order \[kg\].
    pub masses: Vec<f64>,
    /// Triangles by which it touches, in the caller's order: of a solid those of its boundary.
    pub surface: Vec<[u32; 3]>,
    /// Rest shape of cloth as the certificate measures against it, in the caller's order.
    pub rest: RestShape,
    /// Rest shape of a solid likewise.
    pub solid: Option<RestTetrahedra>,
    /// Hinges as the certificate measures them, in the caller's order.
    pub hinges: Vec<RestHinge>,
    /// Edges with energy as the certificate measures them, in the caller's order; of cloth of the edge model.
    pub springs: Vec<RestSpring>,
    /// All hinges as the certificate measures their bend, in the caller's order.
    pub bends: Vec<RestBend>,
    /// Rate at which motion dies away \[1/s\].
    pub damping: f32,
}

impl BodyTables {
    /// About how large it is: the root of its area, or the cubic root of its volume \[m\].
    fn size(&self) -> f64 {
        let Some(solid) = &self.solid else { return self.rest.size() };
        (0..solid.len()).map(|t| solid.volume(t)).sum::<f64>().cbrt()
    }
}

/// Those of `bodies` that are cloth, with what `description` says of them.
fn cloths<'a>(
    description: &'a Description,
    bodies: &'a [BodyTables],
) -> impl Iterator<Item = (&'a Cloth, &'a BodyTables)> {
    description.bodies.iter().zip(bodies).filter_map(|(body, tables)| Some((body.as_cloth()?, tables)))
}

/// Those of `bodies` that are soft solids likewise.
fn solids<'a>(
    description: &'a Description,
    bodies: &'a [BodyTables],
) -> impl Iterator<Item = (&'a Solid, &'a BodyTables)> {
    description.bodies.iter().zip(bodies).filter_map(|(body, tables)| Some((body.as_solid()?, tables)))
}

/// A vertex that is held for some time.
#[derive(Clone, Debug)]
pub(crate) struct PinnedVertex {
    /// In the engine's order.
    pub vertex: u32,
    /// Where it starts \[m\].
    pub start: Vec3,
    /// Its motion, of the world's motions.
    pub motion: u32,
    /// During which it is held: from the end of the first to the end of the last.
    pub frames: Range<u32>,
    /// What it follows in place of the motion.
    pub attachment: Option<Attachment>,
}

impl PinnedVertex {
    /// Whether by frame `frame` it was caught somewhere other than its start.
    pub fn has_caught(&self, frame: u32) -> bool {
        self.frames.start > 0 && self.frames.start < frame
    }
}

/// What does not change while a simulation runs.
#[derive(Debug)]
pub struct World {
    pub(crate) description: Description,
    pub(crate) bodies: Vec<BodyTables>,
    /// Vertices of cloth. In the arrays of the engine these are followed by a spare, and that by `fixtures`.
    pub(crate) vertex_count: usize,
    /// Vertices of mesh obstacles, one obstacle after the other. They have no inverse mass, and are where the
    /// time has them.
    pub(crate) fixtures: Range<usize>,
    /// By mesh obstacle: what tells inside from outside, if it is closed.
    pub(crate) insides: Vec<Option<ClosedMesh>>,
    /// Start positions in the engine's order, with the inverse mass in units of [`World::inverse_mass_unit`].
    pub(crate) start: Vec<Quad>,
    /// Inverse masses of all vertices while they are not held, in the same unit; 0 for the spare.
    pub(crate) inverse_masses: Vec<f32>,
    /// What an inverse mass of 1 stands for \[1/kg\]: chosen so that inverse masses are about the square of
    /// an edge, which keeps the products that the strain limit makes of them inside the range of a float,
    /// whatever the scene's size.
    pub(crate) inverse_mass_unit: f32,
    /// By vertex, and of each vertex in the order of the scene.
    pub(crate) pins: Vec<PinnedVertex>,
    pub(crate) motions: Vec<Motion>,
    pub(crate) sewing: Sewing,
    /// What has limits, but for cloth of the edge model.
    pub(crate) elements: ElementSets,
    /// Triangles with limited angles, for [`Scheme::Paper`].
    pub(crate) bend_triangles: Vec<BendTriangle>,
    /// One for each body with limits on its triangles or hinges, if the scheme asks for them.
    pub(crate) filters: Vec<Filter>,
    /// What takes the place of each of these while its seams are closed, if it has seams: twins are one
    /// vertex there.
    pub(crate) welded: Vec<Option<Filter>>,
    /// One for each cloth with limits on coarser levels, if the scheme asks for them.
    pub(crate) levels: Vec<Leveled<Vec<ElementLimits>>>,
    /// The same for soft solids.
    pub(crate) solid_levels: Vec<Leveled<SolidLimits, 4>>,
    /// Cloth of the edge model.
    pub(crate) edge_model: EdgeModelTables,
    /// Filters to measure other schemes by, made when they are first asked for.
    pub(crate) judges: OnceLock<Vec<Filter>>,
    pub(crate) forces: Forces,
    pub(crate) gusts: Gusts,
    pub(crate) steps_per_frame: u32,
    /// When frame 0 was \[s\]: not 0 once the length of a frame has changed.
    pub(crate) origin: f64,
    /// Mean length of an edge \[m\].
    pub(crate) edge_length: f32,
    /// What may touch, if cloth is kept from passing through cloth, or there are mesh obstacles.
    pub(crate) surface: Option<Surface>,
}

impl World {
    /// Builds the tables of a simulation.
    ///
    /// # Errors
    /// If the description holds something that cannot be simulated.
    pub fn new(description: Description) -> Result<Self, WorldError> {
        build::check_not_empty(&description)?;
        Self::knowing(description, &Known::default())
    }

    /// The same, with what is known from other worlds. There may be no body: obstacles and rigid bodies move
    /// by themselves then.
    pub(crate) fn knowing(description: Description, known: &Known) -> Result<Self, WorldError> {
        build::build(description, known)
    }

    /// What it was made from.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Steps of the whole pipeline a frame: those asked for, or those chosen.
    pub fn steps_per_frame(&self) -> u32 {
        self.steps_per_frame
    }

    /// Floats that the filters keep from one step to the next.
    pub(crate) fn dual_count(&self) -> usize {
        self.filters.iter().map(Filter::kept_count).sum::<usize>() + self.pull_count()
    }

    /// How many of these, the last ones, are pulls of edges of the edge model.
    pub(crate) fn pull_count(&self) -> usize {
        BATCH * self.edge_model.edges.batch_count()
    }

    /// Mean mass of the vertices of all cloth \[kg\].
    pub(crate) fn mean_mass(&self) -> f32 {
        (1.0 / (f64::from(self.inverse_mass_unit) * f64::from(self.edge_length).powi(2))) as f32
    }

    /// Most substeps a step: those asked for, or those chosen.
    pub(crate) fn max_substeps(&self) -> u32 {
        match self.description.solver.max_substeps {
            0 if self.is_of_edges() => 1,
            0 if self.steps_per_frame < 4 => 6,
            0 => 24,
            asked => asked,
        }
    }

    /// Whether all bodies are cloth of the edge model.
    fn is_of_edges(&self) -> bool {
        self.edge_model.bodies.len() == self.bodies.len()
    }

    /// Length of a step \[s\].
    pub(crate) fn step_time(&self) -> f32 {
        self.description.frame_time / self.steps_per_frame as f32
    }

    /// When step `step` begins \[s\].
    pub(crate) fn time_of_step(&self, step: u64) -> f32 {
        (self.origin + step as f64 * f64::from(self.step_time())) as f32
    }

    /// When frame `frame` is \[s\].
    pub fn time_of_frame(&self, frame: u32) -> f32 {
        self.time_of_step(u64::from(frame) * u64::from(self.steps_per_frame))
    }

    /// Vertices of mesh obstacles in the arrays of the engine, one obstacle after the other.
    pub fn fixtures(&self) -> Range<usize> {
        self.fixtures.clone()
    }

    /// Number of triangles of all cloth.
    pub fn triangle_count(&self) -> usize {
        self.description.cloths().map(|c| c.mesh.triangles.len()).sum()
    }

    /// Number of tetrahedra of all solids.
    pub fn tetrahedron_count(&self) -> usize {
        self.description.solids().map(|s| s.mesh.tetrahedra.len()).sum()
    }

    /// Triangles by which body `body` touches, in the caller's vertex order: of a solid those of its
    /// boundary.
    pub fn surface_of(&self, body: usize) -> &[[u32; 3]] {
        &self.bodies[body].surface
    }

    /// Number of vertices of all bodies.
    pub fn vertex_count(&self) -> usize {
        self.vertex_count
    }

    /// Number of vertices of each level that the scheme works on, finest first; of all bodies together.
    pub fn level_sizes(&self) -> Vec<usize> {
        let mut sizes = vec![self.vertex_count];
        let mut add = |level: usize, count: usize| {
            sizes.resize(sizes.len().max(level + 1), 0);
            sizes[level] += count;
        };
        for filter in &self.filters {
            for (level, size) in filter.level_sizes().into_iter().enumerate().skip(1) {
                add(level, size);
            }
        }
        for body in &self.levels {
            for (level, tables) in body.levels.levels.iter().enumerate() {
                add(level + 1, tables.inverse_masses.len());
            }
        }
        for body in &self.edge_model.bodies {
            for (level, tables) in body.leveled.levels.levels.iter().enumerate() {
                add(level + 1, tables.inverse_masses.len());
            }
        }
        for body in &self.solid_levels {
            for (level, tables) in body.levels.levels.iter().enumerate() {
                add(level + 1, tables.inverse_masses.len());
            }
        }
        sizes
    }

    /// What results are measured by: the scheme's own filters, or those of [`Scheme::Nearest`] for this
    /// world.
    pub(crate) fn judges(&self) -> &[Filter] {
        if self.description.solver.scheme == Scheme::Nearest {
            return &self.filters;
        }
        self.judges.get_or_init(|| {
            let mut description = self.description.clone();
            (description.solver.scheme, description.solver.passes) = (Scheme::Nearest, 0);
            // It was fine with the other scheme, so it is with this one.
            Self::new(description)
                .map(|world| {
                    let both = world.filters.into_iter().zip(world.welded);
                    both.map(|(open, welded)| welded.unwrap_or(open)).collect()
                })
                .unwrap_or_default()
        })
    }

    /// Number of colours that the limited triangles need.
    pub fn color_count(&self) -> usize {
        self.elements.triangles.color_count()
    }

    /// Hinges with limits on their bend, in the engine's vertex order.
    pub fn bend_elements(&self) -> &[BendElement] {
        self.elements.hinges.elements()
    }

    /// How many substeps the material asks for at rest, and how it is softened if that is more than allowed.
    pub fn plan(&self) -> Plan {
        self.forces.plan(f64::from(self.step_time()), 1.0, self.max_substeps())
    }

    /// How many edges pass through a triangle at the start, each counted with each such triangle, of what is
    /// kept from passing through.
    pub fn tangled_at_start(&self) -> usize {
        self.surface.as_ref().map_or(0, |surface| pierced(surface, &self.start).len())
    }

    /// Warnings for the user: cloth that starts inside an obstacle, stiffness that was softened; one line
    /// each.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        for (described, body) in self.description.bodies.iter().zip(&self.bodies) {
            for obstacle in &self.description.obstacles {
                let pose = obstacle.pose(0.0);
                let inside = self.start[body.vertices.clone()]
                    .iter()
                    .map(|q| obstacle.shape.distance(pose.to_body(Vec3::new(q[0], q[1], q[2]))).0)
                    .filter(|d| *d < -1e-6);
                let (count, deepest) = inside.fold((0, 0.0f32), |(n, deepest), d| (n + 1, deepest.max(-d)));
                if count > 0 {
                    warnings.push(format!(
                        "{} \"{}\" starts inside obstacle \"{}\": {count} of {} vertices, up to {:.1} mm deep; they are pushed out at {PUSH:.0} m/s",
                        described.kind(),
                        described.name(),
                        obstacle.name,
                        body.vertices.len(),
                        1e3 * deepest
                    ));
                }
            }
        }
        let plan = self.plan();
        // Nothing is softened where the filter is elastic itself.
        let softened = if self.forces.inside {
            [("stretch", 1.0), ("bending", 1.0)]
        } else {
            [("stretch", plan.stretch), ("bending", plan.bend)]
        };
        for (what, factor) in softened {
            if factor < 1.0 {
                let steps = counted(self.steps_per_frame, "step");
                let substeps = counted(plan.substeps, "substep");
                warnings.push(format!(
                    "{what} stiffness is softened to {:.3} % inside the limits, which {steps} of {substeps} can carry; raise solver.max_substeps for stiffer cloth",
                    100.0 * factor,
                ));
            }
        }
        warnings
    }
}

/// A number of things, in words.
fn counted(count: u32, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}
