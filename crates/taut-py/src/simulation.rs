//! The front door: a running simulation that is filled from arrays or a scene, stepped, read and changed.

use std::sync::{Mutex, PoisonError};

use glam::Vec3;
use numpy::{PyArray1, PyArray2};
use pyo3::{
    prelude::*,
    types::{PyAny, PyList},
};
use taut::{
    Air, BodyHandle, Budget, Cloth, Contact, DevelopableModel, Event, GripHandle, MeshFrames, MeshObstacle,
    ObstacleHandle, Pose, Pressure, PressureLaw, RigidBody, RigidBodyHandle, SimulationError, Solid,
    SolidMaterial, Solver, Tear, Tolerance, Vectors,
    mesh::{TriangleMesh, midpoints::Midpoints, tetrahedra::TetrahedronMesh},
};

use crate::{
    arrays,
    convert::{LimitArg, Triple, limit, rotation, to_python, vector},
    errors,
    events::described,
    scene::Scene,
    view::{Rows, Views, show},
    words::{material_of, pins_of, scheme_of, unknown},
};

/// A body of a simulation.
#[pyclass(frozen, eq, hash, module = "taut")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Body(BodyHandle);

impl Body {
    /// The one with this handle.
    pub fn of(handle: BodyHandle) -> Self {
        Self(handle)
    }
}

/// An obstacle of a simulation: one that is moved by its user, or a rigid body.
#[pyclass(frozen, eq, hash, module = "taut")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Obstacle(Solidity);

impl Obstacle {
    /// A rigid body.
    pub fn of_rigid(handle: RigidBodyHandle) -> Self {
        Self(Solidity::Rigid(handle))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Solidity {
    Moved(ObstacleHandle),
    Rigid(RigidBodyHandle),
}

/// A point of a body that is pulled at.
#[pyclass(frozen, eq, hash, module = "taut")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grip(GripHandle);

/// A running simulation: bodies and obstacles are put in and taken out, it is stepped, read and changed.
///
/// `gravity` [m/s²], `dt`: length of a frame [s], `threads`: 0 for one per core (results do not depend on
/// it), `thickness` of all cloth, for contact of cloth with cloth [m], and its `friction`, `wind` [m/s] and
/// strength of `gust`s, `scheme`: how limits are enforced, at most `iterations` in a step, `tolerance`: how
/// far inside limits it aims (strain), `steps` of a frame (0: it chooses).
///
/// One simulation may be used from several threads: they wait for each other.
#[pyclass(frozen, module = "taut")]
#[derive(Debug)]
pub struct Simulation {
    inner: Mutex<taut::Simulation>,
    views: Views,
    /// The process that it belongs to: threads do not survive a fork.
    process: u32,
}

impl Simulation {
    fn new(inner: taut::Simulation) -> Self {
        Self { inner: Mutex::new(inner), views: Views::default(), process: std::process::id() }
    }

    fn check_process(&self, py: Python<'_>) -> PyResult<()> {
        if self.process == std::process::id() {
            return Ok(());
        }
        let message = "this simulation was made before the process forked, and its threads stayed behind: make it in \
                       the child, or start processes with the method \"spawn\"";
        Err(errors::raise(py, "ForkError", message))
    }

    /// Reads, without the interpreter's lock.
    fn read<R: Send>(&self, py: Python<'_>, f: impl FnOnce(&taut::Simulation) -> R + Send) -> PyResult<R> {
        self.check_process(py)?;
        Ok(py.detach(|| f(&self.inner.lock().unwrap_or_else(PoisonError::into_inner))))
    }

    /// Changes, without the interpreter's lock; refused while views show what would change.
    fn change<R: Send>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&mut taut::Simulation) -> R + Send,
    ) -> PyResult<R> {
        self.check_process(py)?;
        let done = py.detach(|| {
            let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            if self.views.any() { None } else { Some(f(&mut inner)) }
        });
        done.ok_or_else(|| {
            let message =
                "a view of positions or velocities is in use: delete it first, or copy it with .copy()";
            errors::raise(py, "InUseError", message)
        })
    }

    /// Changes what may be refused.
    fn try_change<R: Send>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&mut taut::Simulation) -> Result<R, SimulationError> + Send,
    ) -> PyResult<R> {
        self.change(py, f)?.map_err(|error| errors::simulation(py, &error))
    }

    /// Reads what may be refused.
    fn try_read<R: Send>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&taut::Simulation) -> Result<R, SimulationError> + Send,
    ) -> PyResult<R> {
        self.read(py, f)?.map_err(|error| errors::simulation(py, &error))
    }

    fn rows<'py>(
        &self,
        py: Python<'py>,
        body: &Body,
        out: Option<Bound<'py, PyArray2<f32>>>,
        of: for<'a> fn(&'a taut::Simulation, BodyHandle) -> Result<Vectors<'a>, SimulationError>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let flat = self.try_read(py, |simulation| {
            let flat = of(simulation, body.0)?.to_vec();
            Ok(match midpoints(simulation, body)? {
                // What is shown of developable cloth follows from the points that are simulated.
                Some(midpoints) => midpoints.to_shown(&flat),
                None => flat,
            })
        })?;
        match out {
            Some(out) => arrays::write_rows(py, &out, flat.len(), flat.into_iter()).map(|()| out),
            None => arrays::to_rows(py, flat.len(), flat.into_iter()),
        }
    }

    fn lend<'py>(
        slf: &Bound<'py, Self>,
        body: &Body,
        of: for<'a> fn(&'a taut::Simulation, BodyHandle) -> Result<Vectors<'a>, SimulationError>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let own = slf.get();
        let lent = |simulation: &taut::Simulation| -> Result<Option<Rows>, SimulationError> {
            let vectors = of(simulation, body.0)?;
            let is_shown = midpoints(simulation, body)?.is_none();
            Ok(is_shown.then(|| Rows::lend(vectors.in_memory(), &own.views)))
        };
        let rows = own.try_read(slf.py(), lent)?;
        let rows = rows.ok_or_else(|| not_in_memory(slf.py()))?;
        show(slf.clone(), rows, own.views.clone())
    }
}

#[pymethods]
impl Simulation {
    /// Measures in double precision how far bodies are from their limits: of all, or of one `body`. Keys as
    /// in metrics.jsonl of a run.
    #[new]
    #[pyo3(signature = (*, gravity = [0.0, -9.81, 0.0], dt = 1.0 / 60.0, threads = 0, seed = 0, thickness = 0.0,
        friction = 0.0, wind = [0.0; 3], gust = 0.0, scheme = "nearest", iterations = None, tolerance = None,
        steps = 0))]
    #[allow(clippy::too_many_arguments)]
    fn begin(
        py: Python<'_>,
        gravity: Triple,
        dt: f32,
        threads: usize,
        seed: u64,
        thickness: f32,
        friction: f32,
        wind: Triple,
        gust: f32,
        scheme: &str,
        iterations: Option<u32>,
        tolerance: Option<f32>,
        steps: u32,
    ) -> PyResult<Self> {
        let usual = Solver::default();
        let solver = Solver {
            scheme: scheme_of(py, scheme)?,
            iterations: iterations.unwrap_or(usual.iterations),
            tolerance: tolerance.map_or(usual.tolerance, Tolerance::Inside),
            steps_per_frame: steps,
            ..usual
        };
        let air = Air { wind: vec![(0.0, vector(wind))], gust, ..Air::default() };
        let builder = taut::Simulation::builder()
            .gravity(vector(gravity))
            .time_step(dt)
            .threads(threads)
            .seed(seed)
            .contact(Contact { thickness, friction })
            .air(air)
            .solver(solver);
        let built = py.detach(|| builder.build());
        built.map(Self::new).map_err(|error| errors::simulation(py, &error))
    }

    /// The start of a scene, with all its bodies, obstacles and settings.
    ///
    /// `threads`: 0 for one per core. Results do not depend on it.
    #[staticmethod]
    #[pyo3(signature = (scene, threads = 0))]
    fn from_scene(py: Python<'_>, scene: &Scene, threads: usize) -> PyResult<Self> {
        let built = py.detach(|| scene.loaded.build()).map_err(|found| errors::problems(py, &found))?;
        let made = py.detach(|| taut::Simulation::from_description(built, threads));
        made.map(Self::new).map_err(|error| errors::simulation(py, &error))
    }

    /// Puts cloth in, and gives its handle.
    ///
    /// `positions`: (n, 3) rest positions [m]. `triangles`: (m, 3) vertices. `material`: a name of
    /// `taut.materials()`. `stretch`: the largest allowed strain (0.05 allows 5 %), or a pair of the smallest
    /// and the largest, each of which may be None. `edges`: the same for edges. `bend`: likewise [°/cm].
    /// `pins`: vertices that are held. `start`: (n, 3) positions at the start [m], if they are others.
    /// `velocity` [m/s]. `masses`: (n,) [kg], if they do not follow from the material. `pressure`: inside
    /// closed cloth, above that around [Pa]. `tear`: the strain at which it tears. `model`: "fem", or
    /// "developable" for what bends and hardly stretches, such as paper.
    #[pyo3(signature = (name, positions, triangles, *, material = "cotton", stretch = None, edges = None, bend = None,
        pins = None, start = None, velocity = [0.0; 3], masses = None, pressure = None, tear = None,
        model = "fem"))]
    #[allow(clippy::too_many_arguments)]
    fn add_cloth(
        &self,
        py: Python<'_>,
        name: String,
        positions: &Bound<'_, PyAny>,
        triangles: &Bound<'_, PyAny>,
        material: &str,
        stretch: Option<LimitArg>,
        edges: Option<LimitArg>,
        bend: Option<LimitArg>,
        pins: Option<&Bound<'_, PyAny>>,
        start: Option<&Bound<'_, PyAny>>,
        velocity: Triple,
        masses: Option<&Bound<'_, PyAny>>,
        pressure: Option<f32>,
        tear: Option<f32>,
        model: &str,
    ) -> PyResult<Body> {
        let mesh = TriangleMesh {
            positions: arrays::vectors(py, "positions", positions)?,
            triangles: arrays::corners(py, "triangles", triangles)?,
            ..TriangleMesh::default()
        };
        let mut cloth = Cloth::new(name, mesh, material_of(py, material)?);
        (cloth.strain, cloth.edge, cloth.bend) = (limit(stretch), limit(edges), limit(bend));
        cloth.velocity = vector(velocity);
        cloth.pins = pins_of(py, pins)?;
        if let Some(start) = start {
            cloth.start = arrays::vectors(py, "start", start)?;
        }
        cloth.masses = masses.map(|masses| arrays::numbers(py, "masses", masses)).transpose()?;
        cloth.pressure = pressure.map(|pascal| Pressure::new(PressureLaw::Pascal, pascal));
        cloth.tear = tear.map(Tear::at);
        let cloth = match model {
            "fem" => cloth,
            "developable" => cloth
                .developable(DevelopableModel::default())
                .map_err(|problem| errors::raise(py, "ParameterError", problem))?,
            other => return Err(unknown(py, "model", other, ["fem", "developable"].into_iter())),
        };
        self.try_change(py, |simulation| simulation.insert(cloth)).map(Body)
    }

    /// Puts a soft body in, and gives its handle.
    ///
    /// `positions`: (n, 3) rest positions [m]. `tetrahedra`: (m, 4) vertices. Otherwise as `add_cloth`.
    #[pyo3(signature = (name, positions, tetrahedra, *, material = "rubber", stretch = None, pins = None, start = None,
        velocity = [0.0; 3]))]
    #[allow(clippy::too_many_arguments)]
    fn add_solid(
        &self,
        py: Python<'_>,
        name: String,
        positions: &Bound<'_, PyAny>,
        tetrahedra: &Bound<'_, PyAny>,
        material: &str,
        stretch: Option<LimitArg>,
        pins: Option<&Bound<'_, PyAny>>,
        start: Option<&Bound<'_, PyAny>>,
        velocity: Triple,
    ) -> PyResult<Body> {
        let positions = arrays::vectors(py, "positions", positions)?;
        let tetrahedra = arrays::corners(py, "tetrahedra", tetrahedra)?;
        let Some(material) = SolidMaterial::named(material) else {
            return Err(unknown(py, "material", material, SolidMaterial::names()));
        };
        let mut solid = Solid::new(name, TetrahedronMesh { positions, tetrahedra }, material);
        (solid.strain, solid.velocity) = (limit(stretch), vector(velocity));
        solid.pins = pins_of(py, pins)?;
        if let Some(start) = start {
            solid.start = arrays::vectors(py, "start", start)?;
        }
        self.try_change(py, |simulation| simulation.insert(solid)).map(Body)
    }

    /// Puts a ball in: an obstacle that its user moves with `set_pose`, or with `mass` [kg] a rigid body.
    #[pyo3(signature = (center, radius, *, friction = 0.0, mass = None, velocity = [0.0; 3]))]
    fn add_sphere(
        &self,
        py: Python<'_>,
        center: Triple,
        radius: f32,
        friction: f32,
        mass: Option<f32>,
        velocity: Triple,
    ) -> PyResult<Obstacle> {
        let shape = taut::Obstacle::sphere(vector(center), radius);
        self.add_shape(py, shape.friction(friction), mass, velocity)
    }

    /// Puts a capsule in, along y before its `rotation` (x, y, z, w): an obstacle, or with `mass` [kg] a
    /// rigid body.
    #[pyo3(signature = (center, radius, length, *, rotation = None, friction = 0.0, mass = None, velocity = [0.0; 3]))]
    #[allow(clippy::too_many_arguments)]
    fn add_capsule(
        &self,
        py: Python<'_>,
        center: Triple,
        radius: f32,
        length: f32,
        rotation: Option<[f32; 4]>,
        friction: f32,
        mass: Option<f32>,
        velocity: Triple,
    ) -> PyResult<Obstacle> {
        let turn = self::rotation(py, rotation)?;
        let shape = taut::Obstacle::capsule(vector(center), radius, length).turned(turn);
        self.add_shape(py, shape.friction(friction), mass, velocity)
    }

    /// Puts a box of these edge lengths [m] in: an obstacle, or with `mass` [kg] a rigid body.
    #[pyo3(signature = (center, size, *, rotation = None, friction = 0.0, mass = None, velocity = [0.0; 3]))]
    #[allow(clippy::too_many_arguments)]
    fn add_box(
        &self,
        py: Python<'_>,
        center: Triple,
        size: Triple,
        rotation: Option<[f32; 4]>,
        friction: f32,
        mass: Option<f32>,
        velocity: Triple,
    ) -> PyResult<Obstacle> {
        let turn = self::rotation(py, rotation)?;
        let shape = taut::Obstacle::cuboid(vector(center), vector(size)).turned(turn);
        self.add_shape(py, shape.friction(friction), mass, velocity)
    }

    /// Puts in a floor at this height [m].
    #[pyo3(signature = (y = 0.0, *, friction = 0.0))]
    fn add_floor(&self, py: Python<'_>, y: f32, friction: f32) -> PyResult<Obstacle> {
        self.add_shape(py, taut::Obstacle::floor(y).friction(friction), None, [0.0; 3])
    }

    /// Puts in a mesh as an obstacle: (n, 3) positions [m] and (m, 3) triangles. `margin` [m] is what cloth
    /// keeps off.
    #[pyo3(signature = (name, positions, triangles, *, friction = 0.0, margin = 0.0))]
    fn add_mesh(
        &self,
        py: Python<'_>,
        name: String,
        positions: &Bound<'_, PyAny>,
        triangles: &Bound<'_, PyAny>,
        friction: f32,
        margin: f32,
    ) -> PyResult<Obstacle> {
        let mesh = MeshObstacle {
            name,
            triangles: arrays::corners(py, "triangles", triangles)?,
            frames: MeshFrames::still(arrays::vectors(py, "positions", positions)?),
            motion: taut::Motion::default(),
            friction,
            margin,
        };
        let handle = self.try_change(py, |simulation| simulation.insert_obstacle(mesh))?;
        Ok(Obstacle(Solidity::Moved(handle)))
    }

    /// Takes a body or an obstacle out. Its handle is stale from then on.
    fn remove(&self, py: Python<'_>, what: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(body) = what.cast::<Body>() {
            let handle = body.get().0;
            return self.try_change(py, |simulation| simulation.remove(handle));
        }
        if let Ok(obstacle) = what.cast::<Obstacle>() {
            let handle = obstacle.get().0;
            return self.try_change(py, |simulation| match handle {
                Solidity::Moved(handle) => simulation.remove_obstacle(handle),
                Solidity::Rigid(handle) => simulation.remove_rigid_body(handle),
            });
        }
        let message = format!("only a Body or an Obstacle can be removed, not a {}", what.get_type().name()?);
        Err(errors::raise(py, "UnsupportedError", message))
    }

    /// Advances by so many frames of `dt` seconds, and gives the report of the last.
    ///
    /// `dt`: another length of all frames from now on [s]. `budget_ms`: time that each may take [ms]; what
    /// has not converged then says so. The interpreter is free for other threads meanwhile; ctrl-C works
    /// between frames.
    #[pyo3(signature = (frames = 1, *, dt = None, budget_ms = None))]
    fn step<'py>(
        &self,
        py: Python<'py>,
        frames: u32,
        dt: Option<f32>,
        budget_ms: Option<f32>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(dt) = dt {
            self.try_change(py, |simulation| simulation.set_time_step(dt))?;
        }
        let mut report = None;
        for _ in 0..frames {
            // Ctrl-C between frames.
            py.check_signals()?;
            report = Some(self.try_change(py, |simulation| match budget_ms {
                None => Ok(simulation.step_frame()),
                Some(ms) => simulation.step(simulation.description().frame_time, Budget::millis(ms)),
            })?);
        }
        to_python(py, &report)
    }

    /// Goes back to the start. Settings stay; torn cloth is whole again.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, taut::Simulation::reset)
    }

    /// Time since the start [s].
    #[getter]
    fn time(&self, py: Python<'_>) -> PyResult<f32> {
        self.read(py, taut::Simulation::time)
    }

    /// How many frames it has been stepped.
    #[getter]
    fn frame(&self, py: Python<'_>) -> PyResult<u32> {
        self.read(py, taut::Simulation::frame)
    }

    /// Length of a frame [s].
    #[getter]
    fn dt(&self, py: Python<'_>) -> PyResult<f32> {
        self.read(py, |simulation| simulation.description().frame_time)
    }

    /// Handles of all bodies, in the order in which they came in.
    #[getter]
    fn bodies(&self, py: Python<'_>) -> PyResult<Vec<Body>> {
        self.read(py, |simulation| simulation.bodies().map(Body).collect())
    }

    /// The name of a body.
    fn name(&self, py: Python<'_>, body: &Body) -> PyResult<String> {
        self.try_read(py, |simulation| {
            let index = simulation.index_of(body.0)?;
            Ok(simulation.description().bodies[index].name().to_owned())
        })
    }

    /// The handle of the body of this name.
    fn body(&self, py: Python<'_>, name: &str) -> PyResult<Body> {
        let found = self.read(py, |simulation| {
            let place = simulation.description().bodies.iter().position(|body| body.name() == name);
            place.and_then(|place| simulation.bodies().nth(place))
        })?;
        found
            .map(Body)
            .ok_or_else(|| errors::raise(py, "StaleHandleError", format!("there is no body called {name:?}")))
    }

    /// Positions of a body in the order of its mesh: a new (n, 3) float32 array, or `out` [m].
    #[pyo3(signature = (body, out = None))]
    fn positions<'py>(
        &self,
        py: Python<'py>,
        body: &Body,
        out: Option<Bound<'py, PyArray2<f32>>>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        self.rows(py, body, out, |simulation, body| simulation.positions(body))
    }

    /// Mean velocities of a body over the last step: a new (n, 3) float32 array, or `out` [m/s].
    #[pyo3(signature = (body, out = None))]
    fn velocities<'py>(
        &self,
        py: Python<'py>,
        body: &Body,
        out: Option<Bound<'py, PyArray2<f32>>>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        self.rows(py, body, out, |simulation, body| simulation.velocities(body))
    }

    /// Positions of a body where the engine has them: a read-only (n, 3) array without a copy [m].
    ///
    /// Its rows are in the order of the engine: vertex k of the mesh is row `order(body)[k]`. While it is
    /// alive, whatever would change the simulation raises `InUseError`.
    fn view_positions<'py>(slf: &Bound<'py, Self>, body: &Body) -> PyResult<Bound<'py, PyArray2<f32>>> {
        Self::lend(slf, body, |simulation, body| simulation.positions(body))
    }

    /// Mean velocities over the last step, without a copy, like `view_positions` [m/s].
    fn view_velocities<'py>(slf: &Bound<'py, Self>, body: &Body) -> PyResult<Bound<'py, PyArray2<f32>>> {
        Self::lend(slf, body, |simulation, body| simulation.velocities(body))
    }

    /// For each vertex of a body's mesh, its row in views.
    fn order<'py>(&self, py: Python<'py>, body: &Body) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let places = self.try_read(py, |simulation| {
            let vectors = simulation.positions(body.0)?;
            Ok(midpoints(simulation, body)?.is_none().then(|| vectors.places().to_vec()))
        })?;
        Ok(PyArray1::from_vec(py, places.ok_or_else(|| not_in_memory(py))?))
    }

    /// Triangles of a cloth as they are now: (m, 3) vertices. They change when it tears.
    fn triangles<'py>(&self, py: Python<'py>, body: &Body) -> PyResult<Bound<'py, PyArray2<u32>>> {
        let triangles = self.try_read(py, |simulation| {
            let index = simulation.index_of(body.0)?;
            let shown = |cloth: &Cloth| match &cloth.midpoints {
                Some(midpoints) => midpoints.shown.triangles.clone(),
                None => cloth.mesh.triangles.clone(),
            };
            Ok(simulation.description().bodies[index].as_cloth().map(shown))
        })?;
        match triangles {
            Some(triangles) => arrays::to_corners(py, &triangles),
            None => Err(errors::raise(py, "UnsupportedError", "only cloth has triangles")),
        }
    }

    /// Where a rigid body is, and how it moves: position [m], rotation (x, y, z, w), velocity [m/s] and
    /// angular velocity [rad/s].
    fn rigid_body(
        &self,
        py: Python<'_>,
        obstacle: &Obstacle,
    ) -> PyResult<(Triple, [f32; 4], Triple, Triple)> {
        let Solidity::Rigid(handle) = obstacle.0 else {
            return Err(errors::raise(
                py,
                "UnsupportedError",
                "the obstacle has no mass, so that its user moves it",
            ));
        };
        self.try_read(py, |simulation| {
            let state = simulation.rigid_body(handle)?;
            Ok((
                state.pose.position.to_array(),
                state.pose.rotation.to_array(),
                state.velocity.to_array(),
                state.angular_velocity.to_array(),
            ))
        })
    }

    /// Moves an obstacle to this position [m] and rotation (x, y, z, w) by the end of the next frame.
    #[pyo3(signature = (obstacle, position, rotation = None))]
    fn set_pose(
        &self,
        py: Python<'_>,
        obstacle: &Obstacle,
        position: Triple,
        rotation: Option<[f32; 4]>,
    ) -> PyResult<()> {
        let Solidity::Moved(handle) = obstacle.0 else {
            return Err(errors::raise(py, "UnsupportedError", "a rigid body moves by itself"));
        };
        let pose = Pose { position: vector(position), rotation: self::rotation(py, rotation)? };
        self.try_change(py, |simulation| simulation.set_next_pose(handle, pose))
    }

    /// Holds a vertex: where it is, or at `target` by the end of the next frame [m].
    #[pyo3(signature = (body, vertex, target = None))]
    fn pin(&self, py: Python<'_>, body: &Body, vertex: u32, target: Option<Triple>) -> PyResult<()> {
        self.try_change(py, |simulation| match target {
            None => simulation.pin(body.0, vertex),
            Some(target) => simulation.pin_to(body.0, vertex, vector(target)),
        })
    }

    /// Frees a vertex that is held.
    fn unpin(&self, py: Python<'_>, body: &Body, vertex: u32) -> PyResult<()> {
        self.try_change(py, |simulation| simulation.unpin(body.0, vertex))
    }

    /// Takes hold of the point with barycentric `weights` of three vertices, and gives a handle. Limits win
    /// against grips. `stiffness`: of a spring [N/m]; as firmly as limits allow by default.
    #[pyo3(signature = (body, corners, weights = [1.0, 0.0, 0.0], stiffness = None))]
    fn grip(
        &self,
        py: Python<'_>,
        body: &Body,
        corners: [u32; 3],
        weights: Triple,
        stiffness: Option<f32>,
    ) -> PyResult<Grip> {
        let how = stiffness.map_or(taut::Grip::Hard, |stiffness| taut::Grip::Soft { stiffness });
        self.try_change(py, |simulation| simulation.grip(body.0, corners, weights, how)).map(Grip)
    }

    /// Pulls a grip's point towards this place [m] from the next frame on.
    fn move_grip(&self, py: Python<'_>, grip: &Grip, target: Triple) -> PyResult<()> {
        self.try_change(py, |simulation| simulation.move_grip(grip.0, vector(target)))
    }

    /// Releases a grip.
    fn release(&self, py: Python<'_>, grip: &Grip) -> PyResult<()> {
        self.try_change(py, |simulation| simulation.release(grip.0))
    }

    /// Changes the limit on the strain of a body: None, the largest, or a pair.
    #[pyo3(signature = (body, limit))]
    fn set_stretch_limit(&self, py: Python<'_>, body: &Body, limit: Option<LimitArg>) -> PyResult<()> {
        self.try_change(py, |simulation| simulation.set_stretch_limit(body.0, self::limit(limit)))
    }

    /// Changes the limit on the bend of a cloth [°/cm].
    #[pyo3(signature = (body, limit))]
    fn set_bend_limit(&self, py: Python<'_>, body: &Body, limit: Option<LimitArg>) -> PyResult<()> {
        self.try_change(py, |simulation| simulation.set_bend_limit(body.0, self::limit(limit)))
    }

    /// Changes what a cloth is made of.
    fn set_material(&self, py: Python<'_>, body: &Body, material: &str) -> PyResult<()> {
        let material = material_of(py, material)?;
        self.try_change(py, |simulation| simulation.set_material(body.0, material))
    }

    /// Multiplies the stiffness that a body came in with.
    fn set_stiffness(&self, py: Python<'_>, body: &Body, factor: f32) -> PyResult<()> {
        self.try_change(py, |simulation| simulation.set_stiffness(body.0, factor))
    }

    /// Changes the pressure inside closed cloth, above that around [Pa]; None lets it out.
    #[pyo3(signature = (body, pascal))]
    fn set_pressure(&self, py: Python<'_>, body: &Body, pascal: Option<f32>) -> PyResult<()> {
        let pressure = pascal.map(|pascal| Pressure::new(PressureLaw::Pascal, pascal));
        self.try_change(py, |simulation| simulation.set_pressure(body.0, pressure))
    }

    /// Changes the strain at which a cloth tears; None: it does not.
    #[pyo3(signature = (body, stretch))]
    fn set_tear(&self, py: Python<'_>, body: &Body, stretch: Option<f32>) -> PyResult<()> {
        self.try_change(py, |simulation| simulation.set_tear(body.0, stretch.map(Tear::at)))
    }

    /// Gives all vertices of a body this velocity [m/s].
    fn set_velocity(&self, py: Python<'_>, body: &Body, velocity: Triple) -> PyResult<()> {
        self.try_change(py, |simulation| simulation.set_velocity(body.0, vector(velocity)))
    }

    /// Changes gravity [m/s²].
    fn set_gravity(&self, py: Python<'_>, gravity: Triple) -> PyResult<()> {
        self.try_change(py, |simulation| simulation.set_gravity(vector(gravity)))
    }

    /// Changes the wind [m/s].
    fn set_wind(&self, py: Python<'_>, wind: Triple) -> PyResult<()> {
        self.try_change(py, |simulation| simulation.set_wind(vector(wind)))
    }

    /// Measures in double precision how far bodies are from their limits: of all, or of one `body`. Keys as
    /// in metrics.jsonl of a run.
    #[pyo3(signature = (body = None))]
    fn certificate<'py>(&self, py: Python<'py>, body: Option<&Body>) -> PyResult<Bound<'py, PyAny>> {
        match body {
            None => to_python(py, &self.read(py, taut::Simulation::certificate)?),
            Some(body) => to_python(py, &self.try_read(py, |s| s.body_certificate(body.0))?),
        }
    }

    /// Takes what happened in the last frame: dictionaries with a `kind`.
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.check_process(py)?;
        let events: Vec<Event> =
            py.detach(|| self.inner.lock().unwrap_or_else(PoisonError::into_inner).drain_events().collect());
        let list = PyList::empty(py);
        for event in events {
            list.append(described(py, event)?)?;
        }
        Ok(list)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (bodies, frame) = self.read(py, |simulation| (simulation.bodies().len(), simulation.frame()))?;
        Ok(format!("<taut.Simulation of {bodies} bodies, frame {frame}>"))
    }
}

impl Simulation {
    fn add_shape(
        &self,
        py: Python<'_>,
        shape: taut::Obstacle,
        mass: Option<f32>,
        velocity: Triple,
    ) -> PyResult<Obstacle> {
        let Some(mass) = mass else {
            let handle = self.try_change(py, |simulation| simulation.insert_obstacle(shape))?;
            return Ok(Obstacle(Solidity::Moved(handle)));
        };
        let velocity = vector(velocity);
        let body = RigidBody { obstacle: shape, mass, velocity, angular_velocity: Vec3::ZERO };
        let handle = self.try_change(py, |simulation| simulation.insert_rigid_body(body))?;
        Ok(Obstacle(Solidity::Rigid(handle)))
    }
}

/// How what is shown of a body follows from what is simulated, if it is developable cloth.
fn midpoints<'a>(
    simulation: &'a taut::Simulation,
    body: &Body,
) -> Result<Option<&'a Midpoints>, SimulationError> {
    let index = simulation.index_of(body.0)?;
    let cloth = simulation.description().bodies[index].as_cloth();
    Ok(cloth.and_then(|cloth| cloth.midpoints.as_deref()))
}

fn not_in_memory(py: Python<'_>) -> PyErr {
    let message =
        "vertices of developable cloth follow from what is simulated, and are not in memory: use positions()";
    errors::raise(py, "UnsupportedError", message)
}
