//! Springs between vertices (S1; Hooke's law with damping of the lecture): tables, forces, and breaking.
//!
//! f = (k (|l| − l₀) + c Δv·l/|l|) l/|l| pulls one end towards the other. The lecture divides Δv by |l|
//! without saying which component of it counts; here it is the one along the spring, so that a spring that
//! turns is not damped and no angular momentum is lost. Segments of [`Particles`](crate::Particles) and
//! [`Spring`](crate::Spring)s of the description are one list, in that order. Those between rigid bodies are
//! solved with their contacts ([`collide`](crate::collide)), implicitly with any integrator.
//!
//! With an implicit integrator springs are a term of the solve ([`term::spring`](crate::term::spring)); with
//! leap-frog their forces are those here, in as many substeps as they need: nothing is softened.

use glam::DVec3;

use crate::{
    Body, Description, SpringEnd,
    body::{BodyTables, in_order},
    boundary::rigid::RigidState,
    kernel::{lanes::Quad, strain::Range},
};

/// How close to the limit of stability substeps of springs go.
const SAFETY: f64 = 0.8;

/// Most substeps of a step for the sake of springs.
pub const MOST_SUBSTEPS: u32 = 100_000;

/// One end of a spring in the arrays of the engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// A vertex.
    Vertex(u32),
    /// A point that does not move \[m\].
    Point(DVec3),
    /// A point of a rigid body.
    Body {
        /// Its number.
        body: u32,
        /// The point, in the body's frame \[m\].
        at: DVec3,
    },
}

/// One spring, in the engine's order of vertices.
#[derive(Clone, Copy, Debug)]
pub struct SpringTable {
    /// What it joins.
    pub ends: [End; 2],
    /// l₀ \[m\].
    pub rest: f64,
    /// k \[N/m\].
    pub stiffness: f64,
    /// c \[N s/m\].
    pub damping: f64,
    /// Force beyond which it breaks \[N\]; infinite if it does not.
    pub breaking_force: f64,
    /// Allowed stretches of `length`.
    pub range: Range<f32>,
    /// Whether there are such.
    pub is_limited: bool,
    /// Length of a segment in the rest shape \[m\].
    pub length: f64,
}

/// All springs of a world.
pub(crate) fn tables(description: &Description, bodies: &[BodyTables]) -> Vec<SpringTable> {
    let mut tables = Vec::new();
    for (body, own) in description.bodies.iter().zip(bodies) {
        let Body::Particles(particles) = body else { continue };
        let springs = &particles.springs;
        for (k, segment) in particles.mesh.segments.iter().enumerate() {
            let length = particles.mesh.length(k);
            tables.push(SpringTable {
                ends: segment.map(|v| End::Vertex(own.vertices.start as u32 + v)),
                rest: f64::from(springs.rest) * length,
                stiffness: springs.stiffness.into(),
                damping: springs.damping.into(),
                breaking_force: springs.breaking_force.map_or(f64::INFINITY, f64::from),
                range: particles.edge.range(),
                is_limited: particles.edge.is_some(),
                length,
            });
        }
    }
    let places: Vec<Vec<u32>> = match description.springs.is_empty() {
        true => Vec::new(),
        false => bodies.iter().map(|body| in_order(body.order(), body.vertices.start)).collect(),
    };
    for spring in &description.springs {
        let start = |end: &SpringEnd| match *end {
            SpringEnd::Vertex { body, vertex } => {
                description.bodies[body].start()[vertex as usize].as_dvec3()
            }
            SpringEnd::Point(point) => point.as_dvec3(),
            SpringEnd::RigidBody { body, at } => {
                description.rigid_bodies[body].obstacle.placement().to_world(at).as_dvec3()
            }
        };
        let length = start(&spring.ends[0]).distance(start(&spring.ends[1]));
        tables.push(SpringTable {
            ends: spring.ends.map(|end| match end {
                SpringEnd::Vertex { body, vertex } => End::Vertex(places[body][vertex as usize]),
                SpringEnd::Point(point) => End::Point(point.as_dvec3()),
                SpringEnd::RigidBody { body, at } => End::Body { body: body as u32, at: at.as_dvec3() },
            }),
            rest: spring.rest.map_or(length, f64::from),
            stiffness: spring.stiffness.into(),
            damping: spring.damping.into(),
            breaking_force: spring.breaking_force.map_or(f64::INFINITY, f64::from),
            range: crate::Limit::default().range(),
            is_limited: false,
            length,
        });
    }
    tables
}

/// The place and velocity of `end`.
fn state(end: End, x: &[Quad], v: &[Quad], rigid: &[RigidState]) -> [DVec3; 2] {
    let vector = |q: &Quad| DVec3::new(q[0].into(), q[1].into(), q[2].into());
    match end {
        End::Vertex(i) => [vector(&x[i as usize]), vector(&v[i as usize])],
        End::Point(point) => [point, DVec3::ZERO],
        End::Body { body, at } => {
            let RigidState { pose, velocity, angular_velocity } = &rigid[body as usize];
            let arm = pose.rotation.as_dquat().normalize() * at;
            let velocity = velocity.as_dvec3() + angular_velocity.as_dvec3().cross(arm);
            [pose.position.as_dvec3() + arm, velocity]
        }
    }
}

impl SpringTable {
    /// Whether it joins two rigid bodies, or one and a point: no vertex has anything to do with it.
    pub fn is_rigid(&self) -> bool {
        self.ends.iter().all(|end| !matches!(end, End::Vertex(_)))
    }

    /// Whether an end is on rigid body `body`.
    pub fn pulls(&self, body: usize) -> bool {
        self.ends.iter().any(|end| matches!(end, End::Body { body: own, .. } if *own as usize == body))
    }

    /// Its tension \[N\], its direction from the first end to the second, and its length \[m\].
    pub fn tension(&self, x: &[Quad], v: &[Quad], rigid: &[RigidState]) -> (f64, DVec3, f64) {
        let [[a, va], [b, vb]] = self.ends.map(|end| state(end, x, v, rigid));
        let l = b - a;
        let length = l.length();
        // A collapsed spring has no direction, and pulls at nothing.
        let along = if length > 0.0 { l / length } else { DVec3::ZERO };
        let tension = self.stiffness * (length - self.rest) + self.damping * (vb - va).dot(along);
        (if length > 0.0 { tension } else { 0.0 }, along, length)
    }

    /// Its energy \[J\].
    pub fn energy(&self, x: &[Quad], v: &[Quad], rigid: &[RigidState]) -> f64 {
        let (_, _, length) = self.tension(x, v, rigid);
        0.5 * self.stiffness * (length - self.rest).powi(2)
    }
}

/// Adds the forces of all springs that are not `broken` to `forces` \[N\].
pub(crate) fn add_forces(
    springs: &[SpringTable],
    broken: &[bool],
    (x, v): (&[Quad], &[Quad]),
    forces: &mut [Quad],
) {
    let acts = |(spring, broken): &(&SpringTable, &bool)| !**broken && !spring.is_rigid();
    for spring in springs.iter().zip(broken).filter(acts).map(|(spring, _)| spring) {
        let (tension, along, _) = spring.tension(x, v, &[]);
        let pull = (tension * along).as_vec3();
        for (end, sign) in spring.ends.into_iter().zip([1.0, -1.0]) {
            if let End::Vertex(i) = end {
                (0..3).for_each(|k| forces[i as usize][k] += sign * pull[k]);
            }
        }
    }
}

/// Breaks the springs that carry more than they can. Gives how many, and adds their numbers to `found`.
pub(crate) fn break_overloaded(
    springs: &[SpringTable],
    (x, v, rigid): (&[Quad], &[Quad], &[RigidState]),
    broken: &mut [bool],
    found: &mut Vec<u32>,
) -> u32 {
    let before = found.len();
    for (k, spring) in springs.iter().enumerate() {
        if spring.breaking_force < f64::INFINITY && !broken[k] {
            let (tension, _, _) = spring.tension(x, v, rigid);
            if tension.abs() > spring.breaking_force {
                broken[k] = true;
                found.push(k as u32);
            }
        }
    }
    (found.len() - before) as u32
}

/// Bounds of the stiffest mode of all springs: ω² \[1/s²\], and its rate of damping \[1/s\] (Gershgorin, with
/// the inverse masses \[1/kg\] that `inverse_mass` gives).
pub(crate) fn rates(springs: &[SpringTable], count: usize, inverse_mass: impl Fn(usize) -> f64) -> [f64; 2] {
    let mut sums = vec![[0.0f64; 2]; count];
    for spring in springs {
        for end in spring.ends {
            if let End::Vertex(i) = end {
                sums[i as usize][0] += 2.0 * spring.stiffness;
                sums[i as usize][1] += 2.0 * spring.damping;
            }
        }
    }
    let mut rates = [0.0f64; 2];
    for (i, sum) in sums.into_iter().enumerate() {
        for k in 0..2 {
            rates[k] = rates[k].max(sum[k] * inverse_mass(i));
        }
    }
    rates
}

/// How many substeps a step of `dt` \[s\] needs with these [`rates`]: symplectic Euler is stable while
/// ω² h² + 2 γ h < 4.
pub(crate) fn substeps([square, damping]: [f64; 2], dt: f64) -> u32 {
    if square <= 0.0 && damping <= 0.0 {
        return 1;
    }
    let most = 4.0 * SAFETY * SAFETY;
    let h = most / (damping + (damping * damping + square * most).sqrt());
    (dt / h).ceil().clamp(1.0, f64::from(MOST_SUBSTEPS)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spring() -> SpringTable {
        SpringTable {
            ends: [End::Vertex(0), End::Vertex(1)],
            rest: 1.0,
            stiffness: 10.0,
            damping: 2.0,
            breaking_force: 16.0,
            range: crate::Limit::default().range(),
            is_limited: false,
            length: 1.0,
        }
    }

    #[test]
    fn the_force_is_the_lectures() {
        let x = [[0.0; 4], [0.0, 2.0, 0.0, 0.0]];
        // What moves across a spring is not damped.
        let v = [[0.0, 0.0, 5.0, 0.0], [1.0, 3.0, 0.0, 0.0]];
        let mut forces = [[0.0; 4]; 2];
        add_forces(&[spring()], &[false], (&x, &v), &mut forces);
        assert_eq!(forces, [[0.0, 16.0, 0.0, 0.0], [0.0, -16.0, 0.0, 0.0]]);
        add_forces(&[spring()], &[true], (&x, &v), &mut forces);
        assert_eq!(forces[0][1], 16.0);
        let (mut broken, mut found) = ([false], Vec::new());
        assert_eq!(break_overloaded(&[spring()], (&x, &v, &[]), &mut broken, &mut found), 0);
        let weaker = SpringTable { breaking_force: 15.9, ..spring() };
        assert_eq!(break_overloaded(&[weaker], (&x, &v, &[]), &mut broken, &mut found), 1);
        assert_eq!((broken, found), ([true], vec![0]));
    }

    #[test]
    fn substeps_follow_from_stiffness_and_damping() {
        // ω h = 2 is the limit of stability without damping.
        assert_eq!(substeps([100.0 * 100.0, 0.0], 1.0), (100.0f64 / 1.6).ceil() as u32);
        assert_eq!(substeps([0.0, 0.0], 1.0), 1);
        let of_damping = substeps([0.0, 100.0], 1.0);
        assert!((78..=80).contains(&of_damping), "{of_damping}");
        let rates = rates(&[spring()], 2, |_| 0.5);
        assert_eq!(rates, [10.0, 2.0]);
    }
}
