//! Rigid bodies against each other, against shapes and against meshes (S4): where they fly in a step if no
//! cloth touches them.
//!
//! A body that can meet nothing in the step flies exactly ([`RigidBody::fly`]). All others take substeps, so
//! short that none moves by more than a quarter of its thickness in one:
//!
//! ```text
//! v ← v + h g
//! contacts     points, normals and gaps, also of what may meet within h          manifold, facets
//! v ← stop     approaching speeds ≤ gap / h, Coulomb friction                    solve::stop
//! x ← x + h v  with what overlaps moved apart, which changes no velocity         solve::part
//! v ← bounce   restitution times the speed of approach                           solve::bounce
//! ```
//!
//! What has not met yet is stopped at its surface and not behind it, so that nothing passes through anything,
//! thin meshes included. All in double precision and on one thread; results are rounded to single precision
//! once a step.

mod facets;
mod hull;
mod manifold;
mod solve;

use glam::{DMat3, DVec3, Vec3};

use crate::{
    World,
    boundary::{
        motion::Pose,
        obstacle::Obstacle,
        obstacle_contacts::PUSH_OUT_SPEED,
        rigid::{RigidBody, RigidState},
        spring::{End, SpringTable},
    },
    kernel::lanes::Quad,
};
use facets::{Facets, between};
use hull::Solid;
use manifold::{Manifold, Point};
use solve::{Contact, Moving, Other, Place, Pull};

/// The longest way of a body in a substep, in thicknesses of it.
const WAY: f64 = 0.25;

/// Most substeps of a step.
const MAX_SUBSTEPS: f64 = 64.0;

/// Approaching speed below which nothing bounces, in units of the speed that gravity adds in a step.
const MIN_BOUNCE_SPEED: f64 = 4.0;

/// Overlap that is left, in thicknesses of the thinnest body.
const SLACK: f64 = 1e-5;

/// How near things are looked for beyond their way in a substep, in thicknesses of the body.
const REACH: f64 = 0.02;

/// Contacts that there is room for, per body; more wait.
const CONTACTS_PER_BODY: usize = 128;

/// Moves rigid bodies that no cloth touches.
#[derive(Clone, Debug)]
pub(crate) struct Collider {
    bodies: Vec<Moving>,
    contacts: Vec<Contact>,
    facets: Vec<Facets>,
    /// Pairs of bodies that springs of length 0 join, the larger number first; sorted.
    joints: Vec<[usize; 2]>,
    /// Corners of the box around each mesh obstacle during a step \[m\].
    boxes: Vec<[DVec3; 2]>,
}

/// What a step is like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight<'a> {
    pub times: [f32; 2],
    /// Vertices at its start and at its end; of these, mesh obstacles are looked at.
    pub old: &'a [Quad],
    pub x: &'a [Quad],
    /// Which springs are gone.
    pub broken: &'a [bool],
}

impl Collider {
    /// With memory for the bodies of `world`.
    pub fn new(world: &World) -> Self {
        let bodies = world.description.rigid_bodies.len();
        let has_bodies = bodies > 0;
        let facets = match has_bodies {
            true => Facets::all(&world.description, world.fixtures().start),
            false => Vec::new(),
        };
        let joint = |spring: &SpringTable| match spring.ends {
            [End::Body { body: a, .. }, End::Body { body: b, .. }] if spring.rest <= 0.0 => {
                Some([a.max(b) as usize, a.min(b) as usize])
            }
            _ => None,
        };
        let mut joints: Vec<_> = world.springs.iter().filter_map(joint).collect();
        joints.sort_unstable();
        let ties = world.springs.iter().filter(|spring| spring.is_rigid()).count();
        Self {
            bodies: Vec::with_capacity(bodies),
            contacts: Vec::with_capacity(CONTACTS_PER_BODY * bodies + ties),
            joints,
            boxes: Vec::with_capacity(facets.len()),
            facets,
        }
    }

    /// Takes the bodies from `states` to the end of the step, into `flown`.
    pub fn fly(&mut self, world: &World, flight: Flight, states: &[RigidState], flown: &mut Vec<RigidState>) {
        let described = &world.description.rigid_bodies;
        let [start, end] = flight.times;
        let (dt, gravity) = (f64::from(end) - f64::from(start), world.description.gravity_at(start));
        self.bodies.clear();
        self.bodies.extend(described.iter().zip(states).map(|(body, state)| moving(body, state)));
        self.find_near(world, flight, gravity.as_dvec3(), dt);
        flown.clear();
        flown.extend(described.iter().zip(states).map(|(body, state)| body.fly(state, gravity, end - start)));
        let count = self.substeps(described, gravity.as_dvec3(), dt);
        if count == 0 {
            return;
        }
        let fall = gravity.as_dvec3() * dt;
        let h = dt / f64::from(count);
        for k in 0..count {
            let parts = [k, k + 1].map(|k| f64::from(k) / f64::from(count));
            self.substep(world, (flight, parts), fall / f64::from(count), h);
            solve::bounce(
                &mut self.contacts,
                &mut self.bodies,
                MIN_BOUNCE_SPEED * fall.length(),
                fall.length(),
            );
        }
        for (body, flown) in self.bodies.iter().zip(flown).filter(|(body, _)| body.is_near) {
            *flown = RigidState {
                pose: Pose { rotation: body.rotation.as_quat(), position: body.position.as_vec3() },
                velocity: body.velocity.as_vec3(),
                angular_velocity: body.spin.as_vec3(),
            };
        }
    }

    fn substep(&mut self, world: &World, (flight, parts): (Flight, [f64; 2]), fall: DVec3, h: f64) {
        let described = &world.description.rigid_bodies;
        self.bodies.iter_mut().filter(|body| body.is_near).for_each(|body| {
            body.velocity += fall;
            body.shift = [DVec3::ZERO; 2];
        });
        self.contacts.clear();
        let times = parts.map(|part| {
            let [start, end] = flight.times;
            (f64::from(start) + part * (f64::from(end) - f64::from(start))) as f32
        });
        self.tie(world, flight.broken, h);
        self.meet_each_other(described, h);
        self.meet_shapes(described, &world.description.obstacles, times, h);
        self.meet_meshes(described, (flight, parts), h);
        let Self { bodies, contacts, .. } = self;
        solve::stop(contacts, bodies, fall.length(), h);
        let thinnest = described.iter().map(thickness).fold(f64::INFINITY, f64::min);
        solve::part(contacts, bodies, (SLACK * thinnest, PUSH_OUT_SPEED.into()), h);
        bodies.iter_mut().filter(|body| body.is_near).for_each(|body| body.travel(h));
    }

    /// Marks the bodies that may meet something in a step of `dt` \[s\].
    fn find_near(&mut self, world: &World, flight: Flight, gravity: DVec3, dt: f64) {
        let described = &world.description.rigid_bodies;
        let bodies = &mut self.bodies;
        let reach = |k: usize, bodies: &[Moving]| {
            let way = (bodies[k].velocity.length() + gravity.length() * dt) * dt;
            f64::from(described[k].obstacle.shape.radius()) + way + REACH * thickness(&described[k])
        };
        self.boxes.clear();
        self.boxes.extend(self.facets.iter().map(|facets| facets.bounds(flight.old, flight.x)));
        for k in 0..bodies.len() {
            let (at, own) = (bodies[k].position, reach(k, bodies));
            let meets_shape = world.description.obstacles.iter().any(|obstacle| {
                let poses = flight.times.map(|time| obstacle.pose(time));
                let p = at.as_vec3();
                let moved = (poses[1].to_world(poses[0].to_body(p)) - p).length();
                let distance = obstacle.shape.distance(poses[0].to_body(p)).0;
                f64::from(distance) < own + 1.5 * f64::from(moved)
            });
            let meets_mesh = self
                .boxes
                .iter()
                .zip(&self.facets)
                .any(|([low, high], facets)| (at.clamp(*low, *high) - at).length() < own + facets.margin);
            let is_tied = world.springs.iter().any(|spring| spring.pulls(k));
            bodies[k].is_near |= meets_shape || meets_mesh || is_tied;
            for j in 0..k {
                if at.distance(bodies[j].position) < own + reach(j, bodies) {
                    bodies[k].is_near = true;
                    bodies[j].is_near = true;
                }
            }
        }
    }

    /// How many substeps a step of `dt` \[s\] needs; none if no body is near anything.
    fn substeps(&self, described: &[RigidBody], gravity: DVec3, dt: f64) -> u32 {
        let near = self.bodies.iter().zip(described).filter(|(body, _)| body.is_near);
        let counts = near.map(|(body, described)| {
            let speed = body.velocity.length() + gravity.length() * dt;
            let speed = speed + body.spin.length() * f64::from(described.obstacle.shape.radius());
            (speed * dt / (WAY * thickness(described))).ceil().clamp(1.0, MAX_SUBSTEPS)
        });
        counts.fold(0.0, f64::max) as u32
    }

    /// Springs between rigid bodies, implicit.
    fn tie(&mut self, world: &World, broken: &[bool], h: f64) {
        let springs = world.springs.iter().zip(broken);
        for (spring, _) in springs.filter(|(spring, broken)| spring.is_rigid() && !**broken) {
            let place = |end: End| match end {
                End::Body { body, at } => {
                    let own = &self.bodies[body as usize];
                    own.position + own.rotation * at
                }
                End::Point(point) => point,
                End::Vertex(_) => DVec3::ZERO,
            };
            let (ends, sides) = match spring.ends {
                [End::Body { body, .. }, End::Body { body: other, .. }] => {
                    (spring.ends, (body, Other::Body(other)))
                }
                [End::Body { body, .. }, _] => (spring.ends, (body, Other::Fixed)),
                [point, end @ End::Body { body, .. }] => ([end, point], (body, Other::Fixed)),
                _ => continue,
            };
            let SpringTable { stiffness, damping, rest, .. } = *spring;
            let pull = Pull { stiffness, damping, rest, ends: ends.map(place) };
            if self.contacts.len() < self.contacts.capacity() {
                self.contacts.extend(Contact::spring(&self.bodies, sides, pull, h));
            }
        }
    }

    /// Whether a spring of length 0 joins these bodies.
    fn are_joined(&self, pair: [usize; 2]) -> bool {
        self.joints.binary_search(&pair).is_ok()
    }

    fn meet_each_other(&mut self, described: &[RigidBody], h: f64) {
        for k in 0..described.len() {
            for j in 0..k {
                let reach = self.reach(described, k, h) + self.reach(described, j, h);
                let bodies = [&self.bodies[k], &self.bodies[j]];
                let radii = [k, j].map(|k| f64::from(described[k].obstacle.shape.radius()));
                let apart = bodies[0].position.distance(bodies[1].position);
                let is_near = bodies[0].is_near && bodies[1].is_near;
                if !is_near || apart > radii[0] + radii[1] + reach || self.are_joined([k, j]) {
                    continue;
                }
                let solids = [k, j].map(|k| solid(&described[k], &self.bodies[k]));
                let manifold = manifold::touching(&solids[0], &solids[1], reach);
                let rub = Rub::of(&described[k].obstacle, &described[j].obstacle);
                self.add([k as u32, j as u32], &manifold, rub);
            }
        }
    }

    fn meet_shapes(&mut self, described: &[RigidBody], obstacles: &[Obstacle], times: [f32; 2], h: f64) {
        for obstacle in obstacles {
            let poses = times.map(|time| obstacle.pose(time));
            let place = &poses[0];
            let other = Solid {
                shape: &obstacle.shape,
                rotation: DMat3::from_quat(place.rotation.as_dquat()),
                position: place.position.as_dvec3(),
            };
            for k in 0..described.len() {
                let goes = |p: Vec3| poses[1].to_world(poses[0].to_body(p)) - p;
                let at = self.bodies[k].position.as_vec3();
                let reach = self.reach(described, k, h) + 1.5 * f64::from(goes(at).length());
                let radius = f64::from(described[k].obstacle.shape.radius());
                let distance = f64::from(obstacle.shape.distance(place.to_body(at)).0);
                if !self.bodies[k].is_near || distance > radius + reach {
                    continue;
                }
                let manifold = manifold::touching(&solid(&described[k], &self.bodies[k]), &other, reach);
                let rub = Rub::of(&described[k].obstacle, obstacle);
                for point in manifold.points() {
                    // Rounding moves nothing that is at rest.
                    let surface = match poses[0] == poses[1] {
                        true => DVec3::ZERO,
                        false => goes(point.at.as_vec3()).as_dvec3() / h,
                    };
                    self.add_fixed(k as u32, *point, surface, rub);
                }
            }
        }
    }

    fn meet_meshes(&mut self, described: &[RigidBody], (flight, parts): (Flight, [f64; 2]), h: f64) {
        let (meshes, boxes) = (std::mem::take(&mut self.facets), std::mem::take(&mut self.boxes));
        for (facets, [low, high]) in meshes.iter().zip(&boxes) {
            for k in 0..described.len() {
                let body = &self.bodies[k];
                let radius = f64::from(described[k].obstacle.shape.radius()) + facets.margin;
                let reach = self.reach(described, k, h);
                let at = body.position;
                if body.is_near && (at.clamp(*low, *high) - at).length() < radius + reach {
                    self.meet_mesh((k as u32, &described[k]), facets, (flight, parts), (radius, reach, h));
                }
            }
        }
        (self.facets, self.boxes) = (meshes, boxes);
    }

    fn meet_mesh(
        &mut self,
        (k, described): (u32, &RigidBody),
        facets: &Facets,
        (Flight { old, x, .. }, [from, to]): (Flight, [f64; 2]),
        (radius, reach, h): (f64, f64, f64),
    ) {
        let body = solid(described, &self.bodies[k as usize]);
        for (t, triangle) in facets.triangles.iter().enumerate() {
            let corners = triangle.map(|v| between(old, x, v, from));
            let ends = triangle.map(|v| between(old, x, v, to));
            let moved = corners.iter().zip(&ends).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
            let reach = reach + moved + facets.margin;
            let low = corners[0].min(corners[1]).min(corners[2]);
            let high = corners[0].max(corners[1]).max(corners[2]);
            if (body.position.clamp(low, high) - body.position).length_squared() > (radius + reach).powi(2) {
                continue;
            }
            let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or_zero();
            let side = if (body.position - corners[0]).dot(normal) < 0.0 { -normal } else { normal };
            let manifold = manifold::touching_triangle(&body, corners, (side, reach));
            for point in manifold.points() {
                let is_face = point.normal.dot(side) > 0.9999;
                if is_face || facets.is_outermost(t, point.at, point.normal, (old, x, from)) {
                    let weights = manifold::weights(point.at, corners);
                    let way: DVec3 = (0..3).map(|k| (ends[k] - corners[k]) * weights[k]).sum();
                    let rub = Rub {
                        friction: (f64::from(described.obstacle.friction) * facets.friction).sqrt(),
                        restitution: described.obstacle.restitution.into(),
                    };
                    let point = Point { gap: point.gap - facets.margin, ..*point };
                    self.add_fixed(k, point, way / h, rub);
                }
            }
        }
    }

    /// How much further than its surface body `k` may come in `h` \[s\].
    fn reach(&self, described: &[RigidBody], k: usize, h: f64) -> f64 {
        let body = &self.bodies[k];
        let turning = body.spin.length() * f64::from(described[k].obstacle.shape.radius());
        (body.velocity.length() + turning) * h + REACH * thickness(&described[k])
    }

    fn add(&mut self, [body, other]: [u32; 2], manifold: &Manifold, rub: Rub) {
        for point in manifold.points() {
            // In the middle of the gap, so that angular momentum is kept.
            let at = point.at + point.normal * (0.5 * point.gap);
            let place = Place { normal: point.normal, at: [at; 2], surface: DVec3::ZERO, gap: point.gap };
            self.push((body, Other::Body(other)), place, rub);
        }
    }

    fn add_fixed(&mut self, body: u32, Point { at, normal, gap }: Point, surface: DVec3, rub: Rub) {
        let at = [at + normal * gap; 2];
        self.push((body, Other::Fixed), Place { normal, at, surface, gap }, rub);
    }

    fn push(&mut self, sides: (u32, Other), place: Place, rub: Rub) {
        if self.contacts.len() < self.contacts.capacity() {
            let of_both = [rub.friction, rub.restitution];
            self.contacts.push(Contact::new(&self.bodies, sides, place, of_both));
        }
    }
}

/// What two surfaces that touch have in common.
#[derive(Clone, Copy, Debug)]
struct Rub {
    friction: f64,
    restitution: f64,
}

impl Rub {
    fn of(a: &Obstacle, b: &Obstacle) -> Self {
        Self {
            friction: (f64::from(a.friction) * f64::from(b.friction)).sqrt(),
            restitution: a.restitution.max(b.restitution).into(),
        }
    }
}

fn thickness(body: &RigidBody) -> f64 {
    body.obstacle.shape.thickness().into()
}

fn moving(body: &RigidBody, state: &RigidState) -> Moving {
    let mut moving = Moving {
        position: state.pose.position.as_dvec3(),
        rotation: state.pose.rotation.as_dquat().normalize(),
        velocity: state.velocity.as_dvec3(),
        spin: state.angular_velocity.as_dvec3(),
        lightness: 1.0 / f64::from(body.mass),
        inertia: body.inertia().unwrap_or(Vec3::ONE).as_dvec3(),
        turns: DMat3::IDENTITY,
        shift: [DVec3::ZERO; 2],
        is_near: false,
    };
    moving.turn_inertia();
    moving
}

fn solid<'a>(described: &'a RigidBody, body: &Moving) -> Solid<'a> {
    Solid {
        shape: &described.obstacle.shape,
        rotation: DMat3::from_quat(body.rotation),
        position: body.position,
    }
}
