//! What a frame came to: stretch, residuals past the limits, energy, momentum, penetration, contact.
//!
//! Everything is computed in f64 from single-precision positions, by functions of rest mesh and positions
//! alone, so that `taut verify` gets the same figures from the files.

mod contact;
mod seam;
mod tetrahedra;

use glam::{DVec2, DVec3, Quat, Vec3};
use serde::{Deserialize, Serialize};

use crate::{
    Body, Cloth, Limit, Model, State, World, WorldError,
    boundary::{
        hold::Caught,
        motion::Pose,
        rigid::{RigidBody, RigidState},
    },
    element::set::ElementCertificate,
    kernel::{
        dihedral::dihedral_angle,
        svd2::{RestInverse, Svd2, cauchy, deformation_gradient, rest_inverse, svd2},
        weave::{Limits, WeaveRange},
    },
    limit::bend::{NO_ANGLE, RestBend, allowed_angles, bend_rate},
    mesh::TriangleMesh,
    parallel::Threads,
    velocity::{bending, bending::RestHinge, fem, fem_tetrahedron, spring, spring::RestSpring},
};

pub use contact::{ContactCertificate, Examiner, Intersection};
pub use seam::{SeamCertificate, measure_seams};
pub use tetrahedra::{RestTetrahedra, SolidMeasure, TetrahedronMeasure};

/// Principal stretches, edge strains and residuals of one body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StrainMeasure {
    /// Largest principal stretch of any triangle (1 = at rest).
    pub max_stretch: f64,
    /// Triangle that it belongs to.
    pub most_stretched: u32,
    /// Mean over triangles of the larger principal stretch.
    pub mean_stretch: f64,
    /// Smallest principal stretch of any triangle.
    pub min_stretch: f64,
    /// Triangle that it belongs to.
    pub most_compressed: u32,
    /// Mean over triangles of the smaller principal stretch.
    pub mean_compression: f64,
    /// Largest residual past the triangle strain limits (0 = all inside).
    pub max_residual: f64,
    /// Mean over all triangles of the residual past the limits.
    pub mean_residual: f64,
    /// Triangles past a limit by more than 1e-6.
    pub violations: u64,
    /// Triangle with the largest residual, or with the largest strain if none is past its limits.
    pub worst_triangle: u32,
    /// Largest edge strain (0 = at rest).
    pub max_edge_strain: f64,
    /// Smallest edge strain.
    pub min_edge_strain: f64,
    /// Largest residual past the edge limits.
    pub max_edge_residual: f64,
    /// Mean over edges of the residual past the edge limits.
    pub mean_edge_residual: f64,
    /// Edges past a limit by more than 1e-6.
    pub edge_violations: u64,
    /// Vertices of the worst edge.
    pub worst_edge: [u32; 2],
}

/// Bends and excesses of one body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BendMeasure {
    /// Largest bend of any hinge away from its rest angle, either way \[°/cm\].
    pub max_bend: f64,
    /// Largest excess past the bend limits \[°\]; 0 if all are inside.
    pub max_bend_excess: f64,
    /// Mean over all hinges of the excess \[°\].
    pub mean_bend_excess: f64,
    /// Hinges past a limit by more than 0.001°.
    pub bend_violations: u64,
    /// Vertices of the edge with the largest excess, or with the largest bend if none is past its limits.
    pub worst_hinge: [u32; 2],
}

/// Energies \[J\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// ½ m v².
    pub kinetic: f64,
    /// −m g·x.
    pub gravity: f64,
    /// Stored in stretched triangles.
    pub stretch: f64,
    /// Stored in bent hinges.
    pub bend: f64,
}

/// The part of a certificate that belongs to one body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BodyCertificate {
    /// The body's name.
    pub name: String,
    /// Stretches and residuals.
    #[serde(flatten)]
    pub strain: StrainMeasure,
    /// Bends and excesses.
    #[serde(flatten)]
    pub bend: BendMeasure,
    /// What belongs to soft solids alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solid: Option<SolidMeasure>,
    /// Mass-weighted mean position \[m\].
    pub center_of_mass: [f64; 3],
    /// Sums of the positions, plain and weighted with the vertex index: together they tell which vertex of a
    /// file was changed after it was written \[m\].
    pub fingerprint: [[f64; 3]; 2],
    /// Energies \[J\].
    pub energy: Energy,
    /// Linear momentum \[kg m/s\].
    pub momentum: [f64; 3],
    /// Angular momentum about the origin \[kg m²/s\].
    pub angular_momentum: [f64; 3],
    /// Depth of the deepest vertex inside an obstacle \[m\]; 0 if none is inside. Of mesh obstacles closed
    /// ones alone have an inside.
    pub max_penetration: f64,
    /// Vertices inside an obstacle by more than 1 µm.
    pub penetrating: u64,
    /// Largest distance of a vertex from where a pin that holds it in this frame has it \[m\].
    pub max_pin_error: f64,
}

/// Where a rigid body is in a frame, and how it moves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RigidCertificate {
    /// Its name.
    pub name: String,
    /// Where its middle is \[m\].
    pub position: [f64; 3],
    /// How it is turned: a unit quaternion, x, y, z, w.
    pub rotation: [f64; 4],
    /// Mean velocity of its middle over the last step \[m/s\].
    pub velocity: [f64; 3],
    /// Mean angular velocity over the last step \[rad/s\].
    pub angular_velocity: [f64; 3],
    /// Kinetic energy, of flight and of turning \[J\].
    pub kinetic: f64,
    /// Potential energy in gravity \[J\].
    pub gravity: f64,
    /// Linear momentum \[kg m/s\].
    pub momentum: [f64; 3],
    /// Angular momentum about the origin \[kg m²/s\].
    pub angular_momentum: [f64; 3],
}

impl RigidCertificate {
    fn new(body: &RigidBody, state: &RigidState, [velocity, spin]: [Vec3; 2], gravity: Vec3) -> Self {
        let mass = f64::from(body.mass);
        let (x, v) = (state.pose.position.as_dvec3(), velocity.as_dvec3());
        let own = (body.inertia_in_space(state.pose.rotation) * spin).as_dvec3();
        Self {
            name: body.obstacle.name.clone(),
            position: x.to_array(),
            rotation: state.pose.rotation.to_array().map(f64::from),
            velocity: v.to_array(),
            angular_velocity: spin.as_dvec3().to_array(),
            kinetic: 0.5 * (mass * v.length_squared() + own.dot(spin.as_dvec3())),
            gravity: -mass * x.dot(gravity.as_dvec3()),
            momentum: (mass * v).to_array(),
            angular_momentum: (mass * x.cross(v) + own).to_array(),
        }
    }

    /// Where it is.
    pub fn pose(&self) -> Pose {
        let narrow = |value: f64| value as f32;
        Pose {
            rotation: Quat::from_array(self.rotation.map(narrow)),
            position: Vec3::from_array(self.position.map(narrow)),
        }
    }
}

impl BodyCertificate {
    /// Adds what rigid bodies at `poses` have to say of the penetration of `positions` \[m\].
    pub fn add_rigid_bodies(
        &mut self,
        world: &World,
        poses: impl IntoIterator<Item = Pose>,
        positions: &[Vec3],
    ) {
        for (body, pose) in world.description.rigid_bodies.iter().zip(poses) {
            for x in positions {
                let depth = -f64::from(body.obstacle.shape.distance(pose.to_body(*x)).0);
                self.max_penetration = self.max_penetration.max(depth);
                self.penetrating += u64::from(depth > 1e-6);
            }
        }
    }
}

/// What a frame came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// One entry a body, in the order of the scene.
    pub bodies: Vec<BodyCertificate>,
    /// One entry a seam, in the order of the scene.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seams: Vec<SeamCertificate>,
    /// What passes through what, and how near things are; none where everything is let pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<ContactCertificate>,
    /// Rigid bodies, in the order of the scene.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rigid_bodies: Vec<RigidCertificate>,
    /// Elements with limits that belong to no body alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elements: Vec<ElementCertificate>,
    /// Terms of the solver that no other part of a certificate measures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<TermCertificate>,
}

/// How well a term of the solver is met.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TermCertificate {
    /// Its name.
    pub name: String,
    /// How far it is from being met, in its own unit; 0 if it is met.
    pub excess: f64,
}

/// Measures frame after frame.
#[derive(Debug)]
pub struct Certifier {
    threads: Threads,
    examiner: Option<Examiner>,
}

impl Certifier {
    /// Prepares to measure `world` with `threads` threads (0: one per core); figures do not depend on them.
    ///
    /// # Errors
    /// If the threads cannot be started.
    pub fn new(world: &World, threads: usize) -> Result<Self, WorldError> {
        let examiner = Examiner::new(world);
        // Everything else is measured by the caller's own.
        let threads = if examiner.is_some() { Threads::new(threads)? } else { Threads::alone() };
        Ok(Self { threads, examiner })
    }

    /// Measures what the state of the simulation has come to.
    pub fn certify(&mut self, world: &World, state: &State) -> Certificate {
        let bodies = (0..world.bodies.len()).map(|body| certify_body(world, state, body)).collect();
        let Self { threads, examiner } = self;
        let positions: Vec<_> = (0..world.bodies.len()).map(|b| state.positions(world, b)).collect();
        let contact = examiner.as_mut().map(|examiner| {
            examiner.examine(threads, world, state.frame(), positions.iter().map(Vec::as_slice))
        });
        let description = &world.description;
        let rigid_bodies = description.rigid_bodies.iter().zip(&state.rigid).zip(&state.mean_rigid);
        let rigid_bodies = rigid_bodies
            .map(|((body, now), mean)| RigidCertificate::new(body, now, *mean, description.gravity))
            .collect();
        let elements = world.elements.certificates(&state.x);
        let terms = world.filters.iter().flat_map(|filter| filter.certify(&state.x)).collect();
        Certificate {
            bodies,
            seams: measure_seams(world, &positions),
            contact,
            rigid_bodies,
            elements,
            terms,
        }
    }
}

/// What one triangle has come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TriangleMeasure {
    /// Principal stretches, the larger first (1 = at rest).
    pub stretches: [f64; 2],
    /// Direction in space of the larger one, of unit length; its sign means nothing.
    pub direction: DVec3,
    /// The same direction in the rest shape: its parts along the first edge and to the left of it.
    pub rest_direction: DVec2,
    /// How far past its limits it is, at least 0.
    pub residual: f64,
}

/// The rest shape of a body, prepared for measuring, in double precision.
#[derive(Clone, Debug)]
pub struct RestShape {
    triangles: Vec<[u32; 3]>,
    inverses: Vec<RestInverse<f64>>,
    areas: Vec<f64>,
    edges: Vec<[u32; 2]>,
    lengths: Vec<f64>,
    /// Limits along warp, weft and bias; empty if there are none such.
    weaves: Vec<WeaveRange<f64>>,
}

impl RestShape {
    /// Prepares `mesh`, whose edges are `edges`. Faces without area measure as at rest; the checks refuse
    /// them before.
    pub fn new(mesh: &TriangleMesh, edges: Vec<[u32; 2]>) -> Self {
        let p = |v: u32| mesh.positions[v as usize].as_dvec3();
        let (inverses, areas) = mesh
            .triangles
            .iter()
            .map(|t| rest_inverse(t.map(|v| p(v).to_array())).unwrap_or(([1.0, 0.0, 1.0], 0.0)))
            .unzip();
        let lengths = edges.iter().map(|&[a, b]| p(a).distance(p(b))).collect();
        Self { triangles: mesh.triangles.clone(), inverses, areas, edges, lengths, weaves: Vec::new() }
    }

    /// The rest shape of `cloth` with its limits along warp, weft and bias, for [`triangle`](Self::triangle):
    /// without edges.
    ///
    /// # Errors
    /// If the warp has no direction in some triangle; the checks of a world refuse that before.
    pub fn of_cloth(cloth: &Cloth) -> Result<Self, String> {
        Ok(Self::new(&cloth.mesh, Vec::new()).woven(cloth.weave_ranges()?))
    }

    /// The same with limits along warp, weft and bias, one for each triangle, in place of those that are the
    /// same in all directions. None: it stays as it was.
    #[must_use]
    pub fn woven(self, limits: Vec<WeaveRange<f32>>) -> Self {
        Self { weaves: limits.into_iter().map(WeaveRange::doubled).collect(), ..self }
    }

    /// About how large it is: the root of its area \[m\].
    pub(crate) fn size(&self) -> f64 {
        self.areas.iter().sum::<f64>().sqrt()
    }

    /// Measures triangle `t` against its limits; those along warp, weft and bias, if there are such, take the
    /// place of `strain`.
    pub fn triangle(&self, t: usize, positions: &[Vec3], strain: Limit) -> TriangleMeasure {
        let f = deformation_gradient(&self.corners(t, positions), self.inverses[t]);
        let cauchy = cauchy(&f);
        let Svd2 { s, u, v } = svd2(&f, &cauchy);
        let residual = match self.weaves.get(t) {
            Some(weave) => WeaveRange::past(&weave.ranges(&cauchy), s),
            None => past(strain, s[0], s[1]),
        };
        TriangleMeasure { stretches: s, direction: u[0].into(), rest_direction: v.into(), residual }
    }

    fn corners(&self, t: usize, positions: &[Vec3]) -> [[f64; 3]; 3] {
        self.triangles[t].map(|v| positions[v as usize].as_dvec3().to_array())
    }

    /// Measures `positions` against the limits; those along warp, weft and bias, if there are such, take the
    /// place of `strain`.
    pub fn measure(&self, positions: &[Vec3], strain: Limit, edge: Limit) -> StrainMeasure {
        let mut m = StrainMeasure { min_stretch: f64::INFINITY, ..StrainMeasure::default() };
        let mut worst = (-1.0, -1.0);
        for t in 0..self.triangles.len() {
            let TriangleMeasure { stretches: [larger, smaller], residual, .. } =
                self.triangle(t, positions, strain);
            if larger > m.max_stretch {
                (m.max_stretch, m.most_stretched) = (larger, t as u32);
            }
            if smaller < m.min_stretch {
                (m.min_stretch, m.most_compressed) = (smaller, t as u32);
            }
            m.mean_stretch += larger;
            m.mean_compression += smaller;
            m.max_residual = m.max_residual.max(residual);
            m.mean_residual += residual;
            m.violations += u64::from(residual > 1e-6);
            let badness = (residual, (larger - 1.0).max(1.0 - smaller));
            if badness > worst {
                (worst, m.worst_triangle) = (badness, t as u32);
            }
        }
        let count = self.triangles.len().max(1) as f64;
        m.mean_stretch /= count;
        m.mean_compression /= count;
        m.mean_residual /= count;

        (m.max_edge_strain, m.min_edge_strain) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut worst = (-1.0, -1.0);
        for (&[a, b], &rest) in self.edges.iter().zip(&self.lengths) {
            let p = |v: u32| positions[v as usize].as_dvec3();
            let stretch = p(a).distance(p(b)) / rest;
            let residual = past(edge, stretch, stretch);
            m.max_edge_strain = m.max_edge_strain.max(stretch - 1.0);
            m.min_edge_strain = m.min_edge_strain.min(stretch - 1.0);
            m.max_edge_residual = m.max_edge_residual.max(residual);
            m.mean_edge_residual += residual;
            m.edge_violations += u64::from(residual > 1e-6);
            let badness = (residual, (stretch - 1.0).abs());
            if badness > worst {
                (worst, m.worst_edge) = (badness, [a, b]);
            }
        }
        m.mean_edge_residual /= self.edges.len().max(1) as f64;
        m
    }
}

/// How far stretches are past a limit, at least 0. Limits are those that the engine has, in single precision.
fn past(limit: Limit, larger: f64, smaller: f64) -> f64 {
    let range = limit.range();
    let above = if limit.max.is_some() { larger - f64::from(range.max) } else { 0.0 };
    let below = if limit.min.is_some() { f64::from(range.min) - smaller } else { 0.0 };
    above.max(below).max(0.0)
}

/// Measures the bends of `hinges` against `limit` \[°/cm\].
pub fn measure_bends(hinges: &[RestBend], positions: &[Vec3], limit: Limit) -> BendMeasure {
    let mut m = BendMeasure::default();
    let mut worst = (-1.0, -1.0);
    for &RestBend { vertices, rest_angle, heights } in hinges {
        let angle = dihedral_angle(&vertices.map(|v| positions[v as usize].as_dvec3().to_array()));
        // Within a half turn of the rest angle, so that a hinge that is folded up at rest may close.
        let turn = 2.0 * std::f64::consts::PI;
        let angle = angle - turn * ((angle - rest_angle) / turn).round();
        let [low, high] = allowed_angles(limit, rest_angle, heights);
        let none = f64::from(NO_ANGLE);
        let over = if high < none { angle - high } else { 0.0 };
        let under = if low > -none { low - angle } else { 0.0 };
        let excess = over.max(under).max(0.0).to_degrees();
        let bend = bend_rate(angle, rest_angle, heights).abs();
        m.max_bend = m.max_bend.max(bend);
        m.max_bend_excess = m.max_bend_excess.max(excess);
        m.mean_bend_excess += excess;
        m.bend_violations += u64::from(excess > 1e-3);
        if (excess, bend) > worst {
            (worst, m.worst_hinge) = ((excess, bend), [vertices[0], vertices[1]]);
        }
    }
    m.mean_bend_excess /= hinges.len().max(1) as f64;
    m
}

/// Σ x and Σ i x: see [`BodyCertificate::fingerprint`].
pub fn fingerprint(positions: &[Vec3]) -> [[f64; 3]; 2] {
    let mut sums = [DVec3::ZERO; 2];
    for (i, x) in positions.iter().enumerate() {
        sums[0] += x.as_dvec3();
        sums[1] += i as f64 * x.as_dvec3();
    }
    sums.map(|s| s.to_array())
}

/// Measures what the state of a simulation has come to. A [`Certifier`] does so frame after frame at less
/// cost, where there is contact.
pub fn certify(world: &World, state: &State) -> Certificate {
    Certifier { threads: Threads::alone(), examiner: Examiner::new(world) }.certify(world, state)
}

/// Measures one body.
pub(crate) fn certify_body(world: &World, state: &State, body: usize) -> BodyCertificate {
    let positions = state.positions(world, body);
    let mut certificate = certify_positions(world, body, state.frame(), &positions, &state.caught);
    certificate.add_rigid_bodies(world, state.rigid.iter().map(|body| body.pose), &positions);
    certificate.max_pin_error = state.pin_error(world, body);
    let velocities = state.velocities(world, body);
    let (mut momentum, mut angular) = (DVec3::ZERO, DVec3::ZERO);
    for ((x, v), m) in positions.iter().zip(&velocities).zip(&world.bodies[body].masses) {
        let (x, v) = (x.as_dvec3(), v.as_dvec3());
        certificate.energy.kinetic += 0.5 * m * v.length_squared();
        momentum += *m * v;
        angular += *m * x.cross(v);
    }
    certificate.momentum = momentum.to_array();
    certificate.angular_momentum = angular.to_array();
    certificate
}

/// Measures body `body` with given positions at the end of frame `frame`: everything but kinetic energy and
/// momenta, which need velocities and stay zero. `caught` must know where pins that began before caught their
/// vertices; others are not looked at. This is what `taut verify` compares.
///
/// # Panics
/// If `positions` has another length than the body has vertices.
pub fn certify_positions(
    world: &World,
    body: usize,
    frame: u32,
    positions: &[Vec3],
    caught: &Caught,
) -> BodyCertificate {
    let tables = &world.bodies[body];
    assert_eq!(positions.len(), tables.masses.len(), "one position a vertex");
    let gravity = world.description.gravity.as_dvec3();
    let (mut weighted, mut total) = (DVec3::ZERO, 0.0);
    for (x, m) in positions.iter().zip(&tables.masses) {
        weighted += *m * x.as_dvec3();
        total += m;
    }
    let measured = match (&world.description.bodies[body], &tables.solid) {
        (Body::Cloth(cloth), _) => BodyCertificate {
            name: cloth.name.clone(),
            strain: tables.rest.measure(positions, cloth.strain, cloth.edge),
            bend: measure_bends(&tables.bends, positions, cloth.bend),
            energy: Energy {
                stretch: match cloth.model {
                    Model::Fem => stretch_energy(cloth, &tables.rest, positions),
                    Model::Edge(_) => edge_energy(&tables.springs, positions),
                },
                bend: bend_energy(&tables.hinges, positions),
                ..Energy::default()
            },
            ..BodyCertificate::default()
        },
        (Body::Solid(solid), Some(rest)) => {
            let [young, poisson] = [solid.material.young, solid.material.poisson].map(f64::from);
            BodyCertificate {
                name: solid.name.clone(),
                strain: rest.measure(positions, solid.strain),
                solid: Some(rest.measure_volumes(positions)),
                energy: Energy {
                    stretch: rest.energy(positions, fem_tetrahedron::lame(young, poisson)),
                    ..Energy::default()
                },
                ..BodyCertificate::default()
            }
        }
        (Body::Solid(_), None) => BodyCertificate::default(),
    };
    let energy = Energy { gravity: -weighted.dot(gravity), ..measured.energy };
    let time = world.time_of_frame(frame);
    let (mut max_penetration, mut penetrating) = (0.0f64, 0);
    for obstacle in &world.description.obstacles {
        let pose = obstacle.pose(time);
        for x in positions {
            let depth = -f64::from(obstacle.shape.distance(pose.to_body(*x)).0);
            max_penetration = max_penetration.max(depth);
            penetrating += u64::from(depth > 1e-6);
        }
    }
    for depth in depths_in_meshes(world, time, positions) {
        max_penetration = max_penetration.max(depth);
        penetrating += u64::from(depth > 1e-6);
    }
    BodyCertificate {
        center_of_mass: (weighted / total).to_array(),
        fingerprint: fingerprint(positions),
        energy,
        max_penetration,
        penetrating,
        max_pin_error: caught.largest_error(world, body, frame, positions, &[]),
        ..measured
    }
}

/// How deep vertices are in closed mesh obstacles at `time` \[s\], where they are inside \[m\].
fn depths_in_meshes(world: &World, time: f32, positions: &[Vec3]) -> Vec<f64> {
    let mut depths = Vec::new();
    for (obstacle, closed) in world.description.mesh_obstacles.iter().zip(&world.insides) {
        let Some(mut closed) = closed.clone() else { continue };
        closed.fit(&obstacle.positions_at(time));
        let [low, high] = closed.bounds();
        let mut guess = None;
        for &x in positions {
            let p = x.as_dvec3();
            if p.cmpge(low).all() && p.cmple(high).all() {
                let signed = closed.signed_distance_from(x, guess);
                guess = Some(signed.face);
                depths.extend((signed.distance < 0.0).then_some(-signed.distance));
            }
        }
    }
    depths
}

fn stretch_energy(cloth: &Cloth, rest: &RestShape, positions: &[Vec3]) -> f64 {
    let moduli = fem::moduli(f64::from(cloth.material.stretch), f64::from(cloth.material.poisson));
    (0..rest.triangles.len())
        .map(|t| {
            let scaled = moduli.map(|m| m * rest.areas[t]);
            fem::membrane_energy(&rest.corners(t, positions), rest.inverses[t], scaled)
        })
        .sum()
}

fn edge_energy(springs: &[RestSpring], positions: &[Vec3]) -> f64 {
    springs
        .iter()
        .map(|s| {
            let x = s.vertices.map(|v| positions[v as usize].as_dvec3().to_array());
            spring::spring_energy(x, s.rest, s.stiffness)
        })
        .sum()
}

fn bend_energy(hinges: &[RestHinge], positions: &[Vec3]) -> f64 {
    hinges
        .iter()
        .map(|h| {
            let x = h.vertices.map(|v| positions[v as usize].as_dvec3().to_array());
            bending::hinge_energy(&x, h.stiffness, h.rest_sin_half)
        })
        .sum()
}
