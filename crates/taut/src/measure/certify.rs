//! Certificates of states and of positions that were read back.

use std::borrow::Cow;

use glam::{DVec3, Vec3};

use super::{
    BagCertificate, BodyCertificate, Certificate, Energy, Examiner, RigidCertificate, Ruler,
    SpringCertificate, TermCertificate, measure_bags, measure_seams,
};
use crate::{
    Body, State, World, WorldError,
    boundary::{hold::Caught, motion::Pose},
    exec::threads::Threads,
    hair_pairs::StrandPairs,
};

/// Measures frame after frame.
#[derive(Debug)]
pub struct Certifier {
    threads: Threads,
    examiner: Option<Examiner>,
    /// Strands that touch each other, and their thickness \[m\].
    strands: Option<(f32, StrandPairs)>,
}

impl Certifier {
    /// Prepares to measure `world` with `threads` threads (0: one per core); figures do not depend on them.
    ///
    /// # Errors
    /// If the threads cannot be started.
    pub fn new(world: &World, threads: usize) -> Result<Self, WorldError> {
        let examiner = Examiner::new(world);
        // Everything else is measured by the caller's own.
        let strands = touching_strands(world);
        let is_shared = examiner.is_some() || strands.is_some();
        let threads = if is_shared { Threads::new(threads)? } else { Threads::alone() };
        Ok(Self { threads, examiner, strands })
    }

    /// Measures what the state of the simulation has come to.
    pub fn certify(&mut self, world: &World, state: &State) -> Certificate {
        let bodies = (0..world.bodies.len()).map(|body| certify_body(world, state, body)).collect();
        let Self { threads, examiner, strands } = self;
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
        let terms = world.filters().iter().flat_map(|filter| filter.certify(&state.x));
        let overlap = strands.as_mut().map(|(thickness, pairs)| {
            let found = pairs.overlap(&state.x[world.strands.clone()], *thickness, threads);
            TermCertificate { name: "overlap of strands [m]".into(), excess: found.deepest }
        });
        let terms = terms.chain(twists(world, state)).chain(overlap).collect();
        Certificate {
            bodies,
            seams: measure_seams(world, &positions),
            bags: certify_bags(world, state, &positions),
            springs: SpringCertificate::of(world, state),
            contact,
            rigid_bodies,
            elements,
            terms,
        }
    }
}

/// What finds strands that touch each other, and their thickness \[m\], if they are to keep one.
fn touching_strands(world: &World) -> Option<(f32, StrandPairs)> {
    let hairs = || world.description.bodies.iter().filter_map(Body::as_hair);
    let thickness = hairs().map(|hair| hair.contact.thickness).fold(0.0, f32::max);
    let counts: Vec<u32> = hairs().flat_map(|hair| hair.groom.counts.iter().copied()).collect();
    (thickness > 0.0).then(|| (thickness, StrandPairs::new(&counts)))
}

/// How far the twist of hair is past its limit \[rad\], of each that has one.
fn twists<'a>(world: &'a World, state: &'a State) -> impl Iterator<Item = TermCertificate> + 'a {
    world.hair.iter().filter_map(|hair| {
        let described = world.description.bodies[hair.body].as_hair()?;
        let most = f64::from(described.twist?);
        let kept = state.strands.get(hair.kept.clone()).filter(|_| hair.springs.is_none())?;
        let measured = hair.strands.measure(&state.x[hair.vertices.clone()], kept);
        let excess = (0.01 * measured.twist.to_degrees() - most).max(0.0);
        Some(TermCertificate { name: format!("twist of {} [°/cm]", described.name), excess })
    })
}

/// Closed cloth with pressure inside, whose bodies are at `positions` \[m\].
fn certify_bags(world: &World, state: &State, positions: &[Vec<Vec3>]) -> Vec<BagCertificate> {
    let mut bags = measure_bags(world, positions);
    for (bag, pressure) in bags.iter_mut().zip(state.pressures(world)) {
        bag.pressure = bag.volume.map(|_| pressure);
    }
    bags
}

impl BodyCertificate {
    /// Adds what rigid bodies at `poses` have to say of the penetration of `positions` of body `number`
    /// \[m\].
    pub fn add_rigid_bodies(
        &mut self,
        (ruler, number): (&Ruler, usize),
        poses: impl IntoIterator<Item = Pose>,
        positions: &[Vec3],
    ) {
        let outside = outside(ruler, number, positions);
        for (body, pose) in ruler.description.rigid_bodies.iter().zip(poses) {
            for x in &*outside {
                let depth = -f64::from(body.obstacle.shape.distance(pose.to_body(*x)).0);
                self.max_penetration = self.max_penetration.max(depth);
                self.penetrating += u64::from(depth > 1e-6);
            }
        }
    }
}

/// Measures what the state of a simulation has come to. A [`Certifier`] does so frame after frame at less
/// cost, where there is contact.
pub fn certify(world: &World, state: &State) -> Certificate {
    let (examiner, strands) = (Examiner::new(world), touching_strands(world));
    Certifier { threads: Threads::alone(), examiner, strands }.certify(world, state)
}

/// Measures one body.
pub(crate) fn certify_body(world: &World, state: &State, body: usize) -> BodyCertificate {
    let positions = state.positions(world, body);
    let mut certificate = certify_positions(world, body, state.frame(), &positions, &state.caught);
    certificate.add_rigid_bodies((world, body), state.rigid.iter().map(|body| body.pose), &positions);
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
    ruler: &Ruler,
    body: usize,
    frame: u32,
    positions: &[Vec3],
    caught: &Caught,
) -> BodyCertificate {
    let tables = &ruler.bodies[body];
    assert_eq!(positions.len(), tables.masses.len(), "one position a vertex");
    let gravity = ruler.description.gravity.as_dvec3();
    let (mut weighted, mut total) = (DVec3::ZERO, 0.0);
    for (x, m) in positions.iter().zip(&tables.masses) {
        weighted += *m * x.as_dvec3();
        total += m;
    }
    let measured = tables.measure(&ruler.description.bodies[body], positions);
    let energy = Energy { gravity: -weighted.dot(gravity), ..measured.energy };
    let time = ruler.time_of_frame(frame);
    let (mut max_penetration, mut penetrating) = (0.0f64, 0);
    let outside = outside(ruler, body, positions);
    let positions_outside = &outside[..];
    for obstacle in &ruler.description.obstacles {
        let pose = obstacle.pose(time);
        for x in positions_outside {
            let depth = -f64::from(obstacle.shape.distance(pose.to_body(*x)).0);
            max_penetration = max_penetration.max(depth);
            penetrating += u64::from(depth > 1e-6);
        }
    }
    for depth in depths_in_meshes(ruler, time, positions_outside) {
        max_penetration = max_penetration.max(depth);
        penetrating += u64::from(depth > 1e-6);
    }
    BodyCertificate {
        center_of_mass: (weighted / total).to_array(),
        fingerprint: fingerprint(positions),
        energy,
        max_penetration,
        penetrating,
        max_pin_error: caught.largest_error(ruler, body, frame, positions, &[]),
        ..measured
    }
}

/// Positions of what must be outside of obstacles: all but the roots of hair, which are where they grow
/// \[m\].
fn outside<'a>(ruler: &Ruler, body: usize, positions: &'a [Vec3]) -> Cow<'a, [Vec3]> {
    let Some(roots) = ruler.roots_of(body) else { return Cow::Borrowed(positions) };
    let mut is_held = vec![false; positions.len()];
    let first = ruler.bodies[body].vertices.start;
    roots.vertices().for_each(|v| is_held[v - first] = true);
    positions.iter().zip(is_held).filter(|(_, held)| !held).map(|(x, _)| *x).collect()
}

/// How deep vertices are in closed mesh obstacles at `time` \[s\], where they are inside \[m\].
fn depths_in_meshes(ruler: &Ruler, time: f32, positions: &[Vec3]) -> Vec<f64> {
    let mut depths = Vec::new();
    for (obstacle, closed) in ruler.description.mesh_obstacles.iter().zip(&ruler.insides) {
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

/// Σ x and Σ i x: see [`BodyCertificate::fingerprint`].
pub fn fingerprint(positions: &[Vec3]) -> [[f64; 3]; 2] {
    let mut sums = [DVec3::ZERO; 2];
    for (i, x) in positions.iter().enumerate() {
        sums[0] += x.as_dvec3();
        sums[1] += i as f64 * x.as_dvec3();
    }
    sums.map(|s| s.to_array())
}
