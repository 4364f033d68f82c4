//! Impulses at all contacts of a substep: Gauss–Seidel with clamped accumulated impulses, accelerated by
//! nonlinear conjugate gradients (Silcowitz-Hansen, Niebe and Erleben 2010), until no impulse changes a speed
//! any more. Nothing is kept from one substep to the next, so that a checkpoint needs poses and velocities
//! only. Gauss–Seidel alone leaves a stack of five boxes with 3 mm/s after 400 rounds; this takes 260 for
//! 3e-5 of what gravity adds, and all of its rounds for ten boxes.

use glam::{DMat3, DQuat, DVec2, DVec3};

/// Most rounds over all contacts.
const MAX_ROUNDS: u32 = 800;

/// Most rounds of what moves bodies apart: what is left is for the next step.
const MAX_PART_ROUNDS: u32 = 50;

/// Change of a contact's speed in a round below which it counts as solved, over the speed that gravity adds
/// in a substep; and its least value \[m/s\].
const SOLVED: f64 = 3e-5;
const SOLVED_LEAST: f64 = 1e-9;

/// A body in a substep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moving {
    pub position: DVec3,
    pub rotation: DQuat,
    pub velocity: DVec3,
    pub spin: DVec3,
    /// 1/mass \[1/kg\].
    pub lightness: f64,
    /// Moments of inertia about the axes of the shape \[kg m²\].
    pub inertia: DVec3,
    /// Inverse inertia in space \[1/(kg m²)\].
    pub turns: DMat3,
    /// How fast it is moved out of what it overlaps, in this substep only \[m/s, rad/s\].
    pub shift: [DVec3; 2],
    /// Whether it may touch anything in the step.
    pub is_near: bool,
}

impl Moving {
    /// Takes the inverse inertia to its present rotation.
    pub fn turn_inertia(&mut self) {
        let turn = DMat3::from_quat(self.rotation);
        self.turns = turn * DMat3::from_diagonal(self.inertia.recip()) * turn.transpose();
    }

    /// Moves it for `h` \[s\], keeping its angular momentum.
    pub fn travel(&mut self, h: f64) {
        let turned = |rotation: DQuat, turn: DVec3| (DQuat::from_scaled_axis(turn) * rotation).normalize();
        self.position += (self.velocity + self.shift[0]) * h;
        let momentum = self.turns.inverse() * self.spin;
        let start = self.rotation;
        self.rotation = turned(start, self.spin * (0.5 * h));
        self.turn_inertia();
        self.rotation = turned(start, (self.turns * momentum + self.shift[1]) * h);
        self.turn_inertia();
        if self.inertia.max_element() - self.inertia.min_element() > 1e-9 * self.inertia.max_element() {
            self.spin = self.turns * momentum;
        }
    }
}

/// Who is at the other side of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Other {
    /// A body with mass.
    Body(u32),
    /// Something that moves as it must.
    Fixed,
}

/// A direction at a contact: what a unit impulse along it does to both sides.
#[derive(Clone, Copy, Debug)]
struct Row {
    along: DVec3,
    /// Torque about the centre of each side per unit impulse \[m\].
    torques: [DVec3; 2],
    /// Change of their spins \[1/(kg m)\].
    spins: [DVec3; 2],
    /// Change of the speed along the direction \[1/kg\].
    give: f64,
    /// Accumulated impulse \[kg m/s\], what the last round added, and the conjugate direction.
    impulse: f64,
    before: f64,
    way: f64,
}

/// One point where a body touches, or may touch in the substep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contact {
    pub body: u32,
    pub other: Other,
    pub gap: f64,
    pub friction: f64,
    pub restitution: f64,
    /// Velocity of what has no mass, there \[m/s\].
    surface: DVec3,
    /// Speed at which they approach before the impulses \[m/s\].
    approach: f64,
    /// Along the normal, towards the body, and two at right angles.
    rows: [Row; 3],
    /// Accumulated impulse of what moves them apart \[kg m/s\].
    shifted: f64,
    /// Set if it is a spring.
    tie: Option<Tie>,
}

/// A spring, implicit: with v' the speed at the end of the substep of h, its impulse is −h (k (C + h v') + c
/// v'), so that give + softness takes the place of give.
#[derive(Clone, Copy, Debug)]
struct Tie {
    /// 1 / (h (h k + c)) \[1/kg\].
    softness: f64,
    /// k C / (h k + c) along each row \[m/s\].
    bias: [f64; 3],
    /// Rows that it acts along: one, or all for a spring of length 0.
    rows: usize,
}

/// A spring between two places, for [`Contact::spring`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Pull {
    pub stiffness: f64,
    pub damping: f64,
    pub rest: f64,
    /// Its ends, that on the body first \[m\].
    pub ends: [DVec3; 2],
}

/// Where a contact is, for [`Contact::new`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Towards the body.
    pub normal: DVec3,
    /// On the body, and on the other side \[m\].
    pub at: [DVec3; 2],
    /// Velocity of what has no mass, there \[m/s\].
    pub surface: DVec3,
    pub gap: f64,
}

impl Contact {
    /// A contact at `place`, with coefficients of friction and restitution.
    pub fn new(
        bodies: &[Moving],
        (body, other): (u32, Other),
        place: Place,
        [friction, restitution]: [f64; 2],
    ) -> Self {
        let first = &bodies[body as usize];
        let second = match other {
            Other::Body(other) => Some(&bodies[other as usize]),
            Other::Fixed => None,
        };
        let [u, w] = super::manifold::across(place.normal);
        let rows = [place.normal, u, w].map(|along| {
            let torque = |body: &Moving, at: DVec3| (at - body.position).cross(along);
            let [own, others] = place.at;
            let torques = [torque(first, own), second.map_or(DVec3::ZERO, |body| torque(body, others))];
            let spins = [first.turns * torques[0], second.map_or(DVec3::ZERO, |b| b.turns * torques[1])];
            let light = first.lightness + second.map_or(0.0, |body| body.lightness);
            let give = light + torques[0].dot(spins[0]) + torques[1].dot(spins[1]);
            Row { along, torques, spins, give, impulse: 0.0, before: 0.0, way: 0.0 }
        });
        let Place { surface, gap, .. } = place;
        let mut contact = Self {
            body,
            other,
            gap,
            friction,
            restitution,
            surface,
            approach: 0.0,
            rows,
            shifted: 0.0,
            tie: None,
        };
        contact.approach = -contact.speed(bodies, 0);
        contact
    }

    /// A spring in a substep of `h` \[s\].
    pub fn spring(bodies: &[Moving], sides: (u32, Other), pull: Pull, h: f64) -> Option<Self> {
        let Pull { stiffness, damping, rest, ends } = pull;
        let apart = ends[0] - ends[1];
        let (rows, normal) = match rest > 0.0 {
            true => (1, apart.try_normalize()?),
            false => (3, DVec3::X),
        };
        let place = Place { normal, at: ends, surface: DVec3::ZERO, gap: f64::INFINITY };
        let mut contact = Self::new(bodies, sides, place, [0.0, 0.0]);
        let all = h * stiffness + damping;
        let bias = contact.rows.map(|row| stiffness * (apart.dot(row.along) - rest) / all);
        contact.tie = (all > 0.0).then_some(Tie { softness: 1.0 / (h * all), bias, rows });
        contact.tie.map(|_| contact)
    }

    /// Speed of the body along direction `k`, seen from the other side.
    fn speed(&self, bodies: &[Moving], k: usize) -> f64 {
        let row = &self.rows[k];
        let body = &bodies[self.body as usize];
        let own = row.along.dot(body.velocity) + row.torques[0].dot(body.spin);
        match self.other {
            Other::Body(other) => {
                let other = &bodies[other as usize];
                own - row.along.dot(other.velocity) - row.torques[1].dot(other.spin)
            }
            Other::Fixed => own - row.along.dot(self.surface),
        }
    }

    /// Adds to the impulse along direction `k`.
    fn apply(&mut self, bodies: &mut [Moving], k: usize, impulse: f64) {
        let row = &mut self.rows[k];
        row.impulse += impulse;
        let body = &mut bodies[self.body as usize];
        body.velocity += row.along * (impulse * body.lightness);
        body.spin += row.spins[0] * impulse;
        if let Other::Body(other) = self.other {
            let other = &mut bodies[other as usize];
            other.velocity -= row.along * (impulse * other.lightness);
            other.spin -= row.spins[1] * impulse;
        }
    }

    /// Impulses that bring the speed along the normal to `target`, and the others as near to 0 as friction
    /// can. Gives how much it changed a speed.
    fn exchange(&mut self, bodies: &mut [Moving], target: f64) -> f64 {
        if let Some(Tie { softness, bias, rows }) = self.tie {
            let mut most = 0.0f64;
            for (k, bias) in bias.into_iter().enumerate().take(rows) {
                let Row { give, impulse, .. } = self.rows[k];
                let change = -(self.speed(bodies, k) + bias + softness * impulse) / (give + softness);
                self.apply(bodies, k, change);
                most = most.max((change * give).abs());
            }
            return most;
        }
        let Row { give, impulse, .. } = self.rows[0];
        let change = (impulse + (target - self.speed(bodies, 0)) / give).max(0.0) - impulse;
        self.apply(bodies, 0, change);
        let mut most = (change * give).abs();
        if self.friction > 0.0 {
            let hold = |k: usize| self.rows[k].impulse - self.speed(bodies, k) / self.rows[k].give;
            let wanted = DVec2::new(hold(1), hold(2));
            let held = wanted.clamp_length_max(self.friction * self.rows[0].impulse);
            for (k, held) in [(1, held.x), (2, held.y)] {
                let change = held - self.rows[k].impulse;
                self.apply(bodies, k, change);
                most = most.max((change * self.rows[k].give).abs());
            }
        }
        most
    }

    /// The same for the velocities that move them apart, at `speed` \[m/s\].
    fn part(&mut self, bodies: &mut [Moving], speed: f64) -> f64 {
        let row = &self.rows[0];
        let seen = |k: usize, side: usize| {
            let [shift, turn] = bodies[k].shift;
            row.along.dot(shift) + row.torques[side].dot(turn)
        };
        let mut now = seen(self.body as usize, 0);
        if let Other::Body(other) = self.other {
            now -= seen(other as usize, 1);
        }
        let shifted = (self.shifted + (speed - now) / row.give).max(0.0);
        let change = shifted - self.shifted;
        self.shifted = shifted;
        let body = &mut bodies[self.body as usize];
        body.shift[0] += row.along * (change * body.lightness);
        body.shift[1] += row.spins[0] * change;
        if let Other::Body(other) = self.other {
            let other = &mut bodies[other as usize];
            other.shift[0] -= row.along * (change * other.lightness);
            other.shift[1] -= row.spins[1] * change;
        }
        (change * row.give).abs()
    }
}

/// Rounds of [`Contact::exchange`] with the `target` of each contact, until the largest change of a speed is
/// `solved` or less. Contacts without a target are left alone.
fn exchange_all(
    contacts: &mut [Contact],
    bodies: &mut [Moving],
    solved: f64,
    target: impl Fn(&Contact) -> Option<f64>,
) {
    let mut last = 0.0;
    contacts.iter_mut().flat_map(|contact| &mut contact.rows).for_each(|row| row.way = 0.0);
    for round in 0..MAX_ROUNDS {
        let mut most = 0.0f64;
        for contact in contacts.iter_mut() {
            contact.rows.iter_mut().for_each(|row| row.before = row.impulse);
            if let Some(target) = target(contact) {
                most = most.max(contact.exchange(bodies, target));
            }
        }
        if most <= solved {
            break;
        }
        let step = |row: &Row| row.impulse - row.before;
        let rows = contacts.iter().flat_map(|contact| &contact.rows);
        let square: f64 = rows.map(|row| step(row).powi(2) * row.give).sum();
        let share = if round > 0 && square <= last { square / last } else { 0.0 };
        last = square;
        for contact in contacts.iter_mut() {
            for k in 0..3 {
                let row = &mut contact.rows[k];
                let way = share * row.way;
                row.way = way + step(row);
                if way != 0.0 {
                    contact.apply(bodies, k, way);
                }
            }
        }
    }
}

/// Velocities with which nothing meets within the next `h` \[s\], and nothing that touches approaches.
pub(super) fn stop(contacts: &mut [Contact], bodies: &mut [Moving], fall: f64, h: f64) {
    let solved = SOLVED_LEAST.max(SOLVED * fall);
    exchange_all(contacts, bodies, solved, |contact| Some(-contact.gap.max(0.0) / h));
}

/// Moves apart what overlaps by more than `slack` \[m\], at most at `fastest` \[m/s\].
pub(super) fn part(contacts: &mut [Contact], bodies: &mut [Moving], (slack, fastest): (f64, f64), h: f64) {
    if contacts.iter().all(|contact| contact.gap >= -slack) {
        return;
    }
    for _ in 0..MAX_PART_ROUNDS {
        let most = contacts.iter_mut().fold(0.0f64, |most, contact| {
            most.max(contact.part(bodies, ((-slack - contact.gap) / h).min(fastest)))
        });
        if most <= 0.1 * slack / h {
            break;
        }
    }
}

/// Gives back what restitution leaves of the approaching speed, where that was above `least` \[m/s\].
pub(super) fn bounce(contacts: &mut [Contact], bodies: &mut [Moving], least: f64, fall: f64) {
    let leaves =
        |c: &Contact| c.rows[0].impulse > 0.0 && c.tie.is_none() && c.restitution * c.approach > least;
    if !contacts.iter().any(leaves) {
        return;
    }
    for contact in contacts.iter_mut() {
        // What has been given back is seen by the sign of the approach.
        contact.approach = if leaves(contact) { contact.approach } else { 0.0 };
    }
    exchange_all(contacts, bodies, SOLVED_LEAST.max(SOLVED * fall), |contact| {
        // The others still keep from approaching what they lie on.
        let is_touching = contact.rows[0].impulse > 0.0 || contact.gap <= 0.0 || contact.tie.is_some();
        (contact.approach > 0.0 || is_touching).then_some(contact.restitution * contact.approach)
    });
}
