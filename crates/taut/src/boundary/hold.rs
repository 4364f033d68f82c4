//! Which vertices are held, and where: pins of the description that begin and end during the run, and pin
//! overrides of the caller (T4).
//!
//! Both switch between frames. A held vertex has inverse mass 0 in the [`State`], on the base mesh and on
//! every level: a coarse vertex is held while the vertex that it represents is
//! ([`levels`](crate::limit::levels)), and the filter's matrices exclude held vertices
//! ([`Scratch::hold`](crate::limit::enforce::Scratch::hold)).

use glam::Vec3;

use crate::{
    State, World, WorldError,
    body::PinnedVertex,
    boundary::attachment::{Fit, RigidGroup},
    kernel::lanes::Quad,
    measure::Ruler,
    state::in_callers_order,
};

/// Positions at which pins that begin after the start caught their vertices.
#[derive(Clone, Debug, PartialEq)]
pub struct Caught {
    /// By the world's pins; `None` before they have begun.
    places: Vec<Option<Vec3>>,
}

/// A vertex that the caller holds or keeps free, in place of the pins of the description.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PinOverride {
    /// The vertex, in the caller's order over all bodies.
    pub vertex: u32,
    /// Target at the end of the next frame \[m\]; `None`: it is free.
    pub target: Option<Vec3>,
}

/// A vertex that is held during a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hold {
    /// In the engine's order.
    pub vertex: u32,
    goal: Goal,
}

#[derive(Clone, Copy, Debug)]
enum Goal {
    /// By the pin with this index.
    Pin(u32),
    /// By a pin override with this target.
    PinOverride(Vec3),
}

impl Caught {
    /// Nothing is caught yet.
    pub fn new(world: &Ruler) -> Self {
        Self { places: vec![None; world.pins.len()] }
    }

    /// Records where the pins of body `body` that begin with frame `frame` catch their vertices, which are at
    /// `positions` then, in the caller's order.
    pub fn note(&mut self, world: &Ruler, body: usize, frame: u32, positions: &[Vec3]) {
        let body = &world.bodies[body];
        for (place, pin) in self.places.iter_mut().zip(&world.pins) {
            let vertex = pin.vertex as usize;
            if pin.frames.start == frame && body.vertices.contains(&vertex) {
                *place = positions.get(body.order()[vertex - body.vertices.start] as usize).copied();
            }
        }
    }

    /// The same for all bodies, from the engine's own positions.
    fn note_all(&mut self, world: &World, frame: u32, x: &[Quad]) {
        for (place, pin) in self.places.iter_mut().zip(&world.pins) {
            if pin.frames.start == frame {
                let [a, b, c, _] = x[pin.vertex as usize];
                *place = Some(Vec3::new(a, b, c));
            }
        }
    }

    /// Positions caught by all pins that began between the start and frame `frame`, in the world's order.
    pub(crate) fn places_at(&self, world: &World, frame: u32) -> Vec<Vec3> {
        let begun = self.places.iter().zip(&world.pins).filter(|(_, pin)| pin.has_caught(frame));
        begun.map(|(place, _)| place.unwrap_or_default()).collect()
    }

    /// The inverse of [`Caught::places_at`]; `None` if the count differs, or one is not finite.
    pub(crate) fn restored(world: &World, frame: u32, places: &[Vec3]) -> Option<Self> {
        let mut caught = Self::new(world);
        let mut next = places.iter();
        for (place, _) in caught.places.iter_mut().zip(&world.pins).filter(|(_, pin)| pin.has_caught(frame)) {
            *place = Some(*next.next().filter(|p| p.is_finite())?);
        }
        next.next().is_none().then_some(caught)
    }

    /// The caught positions of world `from`, for the pins of `to`: `same` maps each of them to its pin of
    /// `from`. A pin begins at another time there if frames have another length; its position is changed so
    /// that the vertex continues from its present position.
    pub(crate) fn carried(&self, from: &World, to: &World, same: impl Fn(usize) -> Option<usize>) -> Self {
        let place = |pin: usize| {
            let old = same(pin)?;
            let [before, now] = [(from, old), (to, pin)].map(|(world, pin)| {
                let held = &world.pins[pin];
                world.motions[held.motion as usize].at(world.time_of_frame(held.frames.start))
            });
            let place = self.places[old]?;
            Some(if before == now { place } else { now.to_world(before.to_body(place)) })
        };
        Self { places: (0..to.pins.len()).map(place).collect() }
    }

    /// Position of the vertex of pin `pin` at `time` \[s\], when rigid groups are at `fits`; `None` if the
    /// pin has not caught it.
    pub(crate) fn target(&self, world: &Ruler, fits: &[Fit], pin: usize, time: f32) -> Option<Vec3> {
        let held = &world.pins[pin];
        if world.rigid_groups[held.motion as usize].is_some() {
            return Some(fits[held.motion as usize].place(held.start));
        }
        if let Some(attachment) = &held.attachment {
            return Some(attachment.at(&world.description.mesh_obstacles, time));
        }
        let motion = &world.motions[held.motion as usize];
        let place = if held.frames.start == 0 {
            held.start
        } else {
            let begun = motion.at(world.time_of_frame(held.frames.start));
            begun.to_body(self.places[pin]?)
        };
        Some(motion.at(time).to_world(place))
    }

    /// Largest distance of a vertex of body `body` from its pinned position at the end of frame `frame`
    /// \[m\].
    pub(crate) fn largest_error(
        &self,
        world: &Ruler,
        body: usize,
        frame: u32,
        positions: &[Vec3],
        pin_overrides: &[(u32, PinOverride)],
    ) -> f64 {
        let tables = &world.bodies[body];
        let time = world.time_of_frame(frame);
        let mut fits = Vec::new();
        world.fit_groups(time, &mut fits);
        let mut largest = 0.0f64;
        // The initial frame is held by pins that begin there; every other frame by those that led to it.
        for pin in world.pins_during(frame.saturating_sub(1)) {
            let vertex = world.pins[pin].vertex as usize;
            if !tables.vertices.contains(&vertex) || world.pins[pin].spring.is_some() {
                continue;
            }
            let own = tables.order()[vertex - tables.vertices.start];
            let overridden = pin_overrides.iter().any(|(place, _)| *place as usize == vertex);
            if let (Some(target), false) = (self.target(world, &fits, pin, time), overridden) {
                largest = largest.max(f64::from(positions[own as usize].distance(target)));
            }
        }
        largest
    }
}

impl Hold {
    /// Its position at `time` \[s\], the end of a step that begins with the vertex at `from`. A pin override
    /// reaches its target in `steps` steps, this one included. Rigid groups are at `fits` then.
    #[inline]
    pub fn target(
        &self,
        world: &World,
        (caught, fits): (&Caught, &[Fit]),
        time: f32,
        from: &Quad,
        steps: u32,
    ) -> Vec3 {
        let from = Vec3::new(from[0], from[1], from[2]);
        match self.goal {
            Goal::Pin(pin) => caught.target(world, fits, pin as usize, time).unwrap_or(from),
            Goal::PinOverride(target) if steps <= 1 => target,
            Goal::PinOverride(target) => from + (target - from) / steps as f32,
        }
    }
}

impl Ruler {
    /// Bodies and frames in which pins begin after the start, without repetition: the calls that
    /// [`Caught::note`] needs.
    pub fn catches(&self) -> Vec<(usize, u32)> {
        let body = |vertex: u32| self.bodies.partition_point(|b| b.vertices.end <= vertex as usize);
        let late = self.pins.iter().filter(|pin| pin.frames.start > 0);
        let mut catches: Vec<_> = late.map(|pin| (body(pin.vertex), pin.frames.start)).collect();
        catches.sort_unstable();
        catches.dedup();
        catches
    }

    /// Writes the fit of every rigid group at `time` \[s\] to `fits`, by pin of the description.
    pub(crate) fn fit_groups(&self, time: f32, fits: &mut Vec<Fit>) {
        let obstacles = &self.description.mesh_obstacles;
        let fit = |group: &Option<RigidGroup>| {
            group.as_ref().map_or(Fit::IDENTITY, |group| group.fit(obstacles, time))
        };
        fits.clear();
        fits.extend(self.rigid_groups.iter().map(fit));
    }

    /// Indices of the pins that hold in the frame after `frame`, by vertex. Where two hold one vertex, the
    /// later one in the scene wins.
    pub(crate) fn pins_during(&self, frame: u32) -> impl Iterator<Item = usize> {
        self.pins.iter().enumerate().filter_map(move |(k, pin)| {
            let holds = |pin: &PinnedVertex| pin.frames.contains(&frame);
            let mut rivals = self.pins[k + 1..].iter().take_while(|p| p.vertex == pin.vertex);
            (holds(pin) && !rivals.any(holds)).then_some(k)
        })
    }

    /// The engine's vertex for a caller's vertex, over all bodies.
    pub(crate) fn place_of(&self, vertex: u32) -> Option<u32> {
        let body = self.bodies.iter().find(|b| b.vertices.contains(&(vertex as usize)))?;
        let own = vertex - body.vertices.start as u32;
        Some(body.vertices.start as u32 + body.embedding.unknown_of(own)?)
    }

    /// The index of a body's vertex among those of all bodies, and the engine's.
    pub(crate) fn numbered(&self, body: usize, vertex: u32) -> Result<(u32, u32), WorldError> {
        let Some(tables) = self.bodies.get(body) else {
            return Err(WorldError::NoSuchBody { body, count: self.bodies.len() });
        };
        let described = &self.description.bodies[body];
        let place = tables.embedding.unknown_of(vertex).ok_or_else(|| WorldError::NoSuchVertex {
            kind: described.kind(),
            name: described.name().into(),
            vertex,
            count: tables.embedding.point_count(),
        })?;
        let first = tables.vertices.start as u32;
        Ok((first + vertex, first + place))
    }
}

impl State {
    /// Pins vertex `vertex` of body `body` (in the caller's order), or moves a pinned one: over the next
    /// frame it moves to `target` \[m\] in a straight line, is exactly there at the frame's end, and stays
    /// until it gets another target. Overrides pins of the description.
    ///
    /// ```
    /// use glam::Vec3;
    /// use taut::{Cloth, Description, Material, State, Stepper, World, mesh::generate};
    ///
    /// let mesh = generate::grid([1.0, 1.0], [8, 8], generate::Diagonals::Alternating, 0);
    /// let sheet = Cloth::new("sheet", mesh, Material::named("polyester").unwrap());
    /// let world = World::new(Description { bodies: vec![sheet.into()], ..Description::default() })?;
    /// let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 1)?);
    /// let target = state.positions(&world, 0)[40] + Vec3::new(0.0, 0.02, 0.0);
    /// state.pin(&world, 0, 40, target)?;
    /// stepper.advance_frame(&world, &mut state);
    /// assert_eq!(state.positions(&world, 0)[40], target);
    /// state.unpin(&world, 0, 40)?;
    /// # Ok::<(), taut::WorldError>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such body or vertex, or the target is not finite and within 1e6 m.
    pub fn pin(&mut self, world: &World, body: usize, vertex: u32, target: Vec3) -> Result<(), WorldError> {
        let number = world.numbered(body, vertex)?;
        if !(target.is_finite() && target.abs().max_element() <= 1e6) {
            let what = format!("target of vertex {vertex}");
            let problem = format!("is {target} m, must be finite and within 1e6 m");
            return Err(WorldError::Invalid { what, problem });
        }
        self.override_pin(number, Some(target));
        Ok(())
    }

    /// Unpins vertex `vertex` of body `body`, whoever pinned it: from the next frame on it moves freely, with
    /// its present velocity.
    ///
    /// # Errors
    /// If there is no such body or vertex.
    pub fn unpin(&mut self, world: &World, body: usize, vertex: u32) -> Result<(), WorldError> {
        let number = world.numbered(body, vertex)?;
        if world.pins.iter().any(|pin| pin.vertex == number.1) {
            self.override_pin(number, None);
        } else {
            self.pin_overrides.retain(|(place, _)| *place != number.1);
        }
        Ok(())
    }

    /// Vertices that the caller has pinned, and pins of the description that it has released.
    pub fn pin_overrides(&self) -> impl Iterator<Item = PinOverride> {
        self.pin_overrides.iter().map(|(_, pin)| *pin)
    }

    /// Bodies and vertices (in the caller's order) that are held in the next frame.
    pub(crate) fn held<'a>(&'a self, world: &'a World) -> impl Iterator<Item = (usize, u32)> + 'a {
        let overridden =
            |vertex: u32| self.pin_overrides.binary_search_by_key(&vertex, |(place, _)| *place).is_ok();
        let pinned = world.pins_during(self.frame).map(|pin| &world.pins[pin]);
        let pinned = pinned.filter(|pin| pin.spring.is_none()).map(|pin| pin.vertex);
        let grabbed =
            self.pin_overrides.iter().filter(|(_, pin)| pin.target.is_some()).map(|(place, _)| *place);
        pinned.filter(move |&vertex| !overridden(vertex)).chain(grabbed).map(|vertex| {
            let body = world.bodies.partition_point(|b| b.vertices.end <= vertex as usize);
            let tables = &world.bodies[body];
            (body, tables.order()[vertex as usize - tables.vertices.start])
        })
    }

    /// `vertex` in the caller's and in the engine's order.
    pub(crate) fn override_pin(&mut self, (vertex, place): (u32, u32), target: Option<Vec3>) {
        match self.pin_overrides.binary_search_by_key(&place, |(place, _)| *place) {
            Ok(at) => self.pin_overrides[at].1.target = target,
            Err(at) => self.pin_overrides.insert(at, (place, PinOverride { vertex, target })),
        }
    }

    /// Records what pins catch in this frame, writes all vertices that are held during the next one to
    /// `holds`, by vertex, and sets their inverse mass to 0. Those that springs pull are among the grips.
    pub(crate) fn begin_frame(&mut self, world: &World, holds: &mut Vec<Hold>) {
        if self.frame > 0 {
            self.caught.note_all(world, self.frame, &self.x);
        }
        holds.clear();
        self.grips.clear_springs();
        for pin in world.pins_during(self.frame) {
            let PinnedVertex { vertex, spring, .. } = world.pins[pin];
            match spring {
                None => holds.push(Hold { vertex, goal: Goal::Pin(pin as u32) }),
                Some(spring) => self.grips.add_spring(world, pin as u32, vertex, spring.stiffness),
            }
        }
        for &(vertex, pin) in &self.pin_overrides {
            holds.retain(|hold| hold.vertex != vertex);
            self.grips.remove_spring(vertex);
            if let Some(target) = pin.target {
                holds.push(Hold { vertex, goal: Goal::PinOverride(target) });
            }
        }
        holds.sort_unstable_by_key(|hold| hold.vertex);
        for (x, w) in self.x.iter_mut().zip(&world.inverse_masses) {
            x[3] = *w;
        }
        for hold in holds {
            self.x[hold.vertex as usize][3] = 0.0;
        }
    }

    /// Largest distance of a held vertex of body `body` from its target \[m\].
    pub(crate) fn pin_error(&self, world: &World, body: usize) -> f64 {
        let positions = in_callers_order(world, body, &self.x);
        self.caught.largest_error(world, body, self.frame, &positions, &self.pin_overrides)
    }
}
