//! Tearing while it runs (S6).
//!
//! A frame is computed; what it stretches past its threshold is split ([`body::cloth::tear`]), and the frame
//! is computed again from its start with the torn cloth, round after round, until nothing tears. So a tear
//! runs as far in a frame as the load drives it, and what a frame shows is within thresholds and limits.
//! Frames with a time budget that is used up take what they have: the rest tears in the next.
//!
//! The tables of torn cloth follow from the whole cloth and its triangles alone, whatever happened between,
//! so that a resumed run has the same bits.
//!
//! Strands of hair are cut likewise ([`body::hair::tear`]), one segment of each a round.
//!
//! [`body::cloth::tear`]: crate::body::cloth::tear
//! [`body::hair::tear`]: crate::body::hair::tear

use super::{
    BodyHandle, Event, Simulation,
    carry::Origins,
    open::{BodyVertex, Opened, open},
};
use crate::{
    Body, Budget, Cloth, Description, FrameReport, Hair, State,
    body::{
        cloth::tear::{Held, tear},
        hair,
    },
    mesh::split,
};

/// Most rounds of a frame. What is left tears in the next frame.
const MAX_ROUNDS: u32 = 24;

/// Times that a round is tried again without vertices that cannot be split.
const MAX_TRIES: u32 = 4;

impl Simulation {
    /// Advances by a frame within `budget`, and tears what must tear.
    pub(super) fn advance(&mut self, budget: &Budget) -> FrameReport {
        let deadline = budget.deadline(budget.now(), 1.0);
        let may_tear = self.world.description.bodies.iter().any(Body::may_tear);
        let mut start = may_tear.then(|| self.state.clone());
        let counts = self.vertex_counts();
        let (mut unsplit, mut grown) = (Vec::new(), Vec::new());
        let mut report = self.advance_once(budget);
        for _ in 0..MAX_ROUNDS {
            let Some(before) = &start else { break };
            // Limits that were not met for want of time are no reason to tear.
            let is_late = deadline.is_some_and(|deadline| deadline.is_past());
            let from = if is_late { &self.state } else { before };
            let Some((description, origins, opened)) =
                self.torn_and_open(!is_late, from, (&mut unsplit, &grown))
            else {
                break;
            };
            if !is_late {
                self.state = before.clone();
            }
            let grips = self.torn_grips(&description);
            self.grow(&description, &mut grown);
            if self.rebuild(description, &origins).is_err() {
                // Tears leave nothing that could not be simulated; but the frame must go on.
                if !is_late {
                    report = report.followed_by(&self.advance_once(budget));
                }
                break;
            }
            self.state.grips.replace_corners(grips);
            self.move_to(&opened);
            if is_late {
                break;
            }
            start = Some(self.state.clone());
            report = report.followed_by(&self.advance_once(budget));
        }
        self.end_poses();
        self.lighten_brushed();
        self.collect_events(&report);
        self.collect_tears(&counts, &mut report);
        report
    }

    fn advance_once(&mut self, budget: &Budget) -> FrameReport {
        self.begin_poses();
        self.stepper.advance_within(&self.world, &mut self.state, budget)
    }

    /// By body: its vertices, and strands of hair.
    fn vertex_counts(&self) -> Vec<[usize; 2]> {
        let bodies = self.world.bodies.iter().zip(&self.world.description.bodies);
        let strands = |body: &Body| body.as_hair().map_or(0, |hair| hair.groom.counts.len());
        bodies.map(|(tables, body)| [tables.vertices.len(), strands(body)]).collect()
    }

    /// The description after another round of tearing, `at_limits` that could not be met as well, where its
    /// vertices come from, and where those that were split are if it begins at `from`; `None` if nothing
    /// tears. Vertices that cannot be split without an intersection are added to `unsplit`; it tears only
    /// where it has `grown` in this frame, if it has.
    fn torn_and_open(
        &self,
        at_limits: bool,
        from: &State,
        (unsplit, grown): (&mut Vec<BodyVertex>, &[Vec<bool>]),
    ) -> Option<(Description, Origins, Opened)> {
        for _ in 0..MAX_TRIES {
            let (description, origins) = self.torn(at_limits, (unsplit, grown))?;
            if origins.splits.iter().all(Vec::is_empty) {
                return Some((description, origins, Opened::new()));
            }
            match open((&self.world, from), &self.places, &description, &origins) {
                Ok(opened) => return Some((description, origins, opened)),
                Err(stuck) => unsplit.extend(stuck),
            }
        }
        None
    }

    /// The description after another round of tearing, and where its vertices come from; vertices `unsplit`
    /// are not split, and nothing but what hangs together with what has `grown`.
    fn torn(
        &self,
        at_limits: bool,
        (unsplit, grown): (&[BodyVertex], &[Vec<bool>]),
    ) -> Option<(Description, Origins)> {
        let mut torn: Option<(Description, Origins)> = None;
        let whole = || (self.world.description.clone(), Origins::all(&self.world));
        for (index, described) in self.world.description.bodies.iter().enumerate() {
            match described {
                Body::Cloth(cloth) if cloth.tear.is_some() => {
                    let is_grown = grown.get(index).map(Vec::as_slice);
                    let found = self.torn_cloth(at_limits, (index, cloth), (unsplit, is_grown));
                    let Some((changed, splits)) = found else { continue };
                    let (description, origins) = torn.get_or_insert_with(whole);
                    description.bodies[index] = Body::Cloth(changed);
                    origins.splits[index] = splits;
                }
                Body::Hair(hair) if hair.tear.is_some() => {
                    let Some(changed) = self.torn_hair(at_limits, index, hair) else { continue };
                    torn.get_or_insert_with(whole).0.bodies[index] = Body::Hair(changed);
                }
                _ => {}
            }
        }
        torn
    }

    /// The cloth of body `index` after another round, and places of what its new vertices were split from.
    fn torn_cloth(
        &self,
        at_limits: bool,
        (index, cloth): (usize, &Cloth),
        (unsplit, is_grown): (&[BodyVertex], Option<&[bool]>),
    ) -> Option<(Cloth, Vec<u32>)> {
        let x = self.state.positions(&self.world, index);
        let mut is_fixed = self.fixed_vertices(index);
        let own = unsplit.iter().filter(|(body, _)| *body == index);
        own.for_each(|(_, vertex)| is_fixed[*vertex as usize] = true);
        let is_held_up = self.stopped_vertices(index);
        let held = Held { is_fixed: &is_fixed, is_held_up: &is_held_up, is_grown };
        let triangles = tear(cloth, &x, at_limits, held)?;
        let count = cloth.mesh.positions.len();
        let parents = split::origins(&cloth.mesh.triangles, &triangles, count)?;
        let places = &self.places[index];
        let splits = parents[count..].iter().map(|&parent| places[parent as usize]).collect();
        Some((cloth.torn(&triangles)?, splits))
    }

    /// The hair of body `index` after another round.
    fn torn_hair(&self, at_limits: bool, index: usize, hair: &Hair) -> Option<Hair> {
        let tables = self.world.hair.iter().find(|tables| tables.body == index)?;
        let load = hair::tear::Load {
            x: &self.state.positions(&self.world, index),
            tension: &tables.strands.tensions(&self.state.strands[tables.kept.clone()]),
            is_held: &self.fixed_vertices(index),
        };
        hair.cut(&hair::tear::tear(hair, &load, at_limits)?)
    }

    /// Adds the surroundings of what `description`, which is torn further, has split to `grown`, vertices of
    /// each body.
    fn grow(&self, description: &Description, grown: &mut Vec<Vec<bool>>) {
        grown.resize(description.bodies.len(), Vec::new());
        let bodies = self.world.description.bodies.iter().zip(&description.bodies).zip(grown);
        for ((before, after), grown) in bodies {
            grown.resize(after.rest_positions().len(), false);
            let (Some(before), Some(after)) = (before.as_cloth(), after.as_cloth()) else { continue };
            let mut is_split = vec![false; after.mesh.positions.len()];
            let corners =
                before.mesh.triangles.as_flattened().iter().zip(after.mesh.triangles.as_flattened());
            for (old, new) in corners.filter(|(old, new)| old != new) {
                (is_split[*old as usize], is_split[*new as usize]) = (true, true);
            }
            for t in after.mesh.triangles.iter().filter(|t| t.iter().any(|&v| is_split[v as usize])) {
                t.iter().for_each(|&v| grown[v as usize] = true);
            }
        }
    }

    /// Moves vertices to where their tears have opened.
    fn move_to(&mut self, opened: &Opened) {
        for &((body, vertex), to) in opened {
            let first = self.world.bodies[body].vertices.start;
            let x = &mut self.state.x[first + self.places[body][vertex as usize] as usize];
            x[..3].copy_from_slice(&to.to_array());
        }
    }

    /// Vertices of a body that are held exactly or sewn: nothing tears there.
    fn fixed_vertices(&self, index: usize) -> Vec<bool> {
        let tables = &self.world.bodies[index];
        let mut fixed: Vec<bool> = vec![false; tables.vertices.len()];
        for (k, &v) in tables.order().iter().enumerate() {
            fixed[v as usize] = self.state.x[tables.vertices.start + k][3] == 0.0;
        }
        let pairs = self.world.description.seams.iter().flat_map(|seam| seam.pairs.iter().flatten());
        for (_, vertex) in pairs.filter(|(body, _)| *body == index) {
            fixed[*vertex as usize] = true;
        }
        fixed
    }

    /// Vertices of a body that were stopped short of where they were to go.
    fn stopped_vertices(&self, index: usize) -> Vec<bool> {
        let tables = &self.world.bodies[index];
        let mut stopped = vec![false; tables.vertices.len()];
        for (k, &v) in tables.order().iter().enumerate() {
            stopped[v as usize] = self.stepper.has_stopped(tables.vertices.start + k);
        }
        stopped
    }

    /// Corners of all grips in `description`, a torn one: those of the triangle that each pulls at.
    fn torn_grips(&self, description: &Description) -> Vec<Option<[u32; 3]>> {
        let corners = |(body, vertices): (u32, [u32; 3])| {
            let body = body as usize;
            let tables = &self.world.bodies[body];
            let own = vertices.map(|v| tables.order()[v as usize - tables.vertices.start]);
            let [before, after] =
                [self.world.description.bodies[body].as_cloth()?, description.bodies[body].as_cloth()?];
            let is_same = |t: &[u32; 3]| own.iter().all(|v| t.contains(v)) && own[0] != own[1];
            let t = before.mesh.triangles.iter().position(is_same)?;
            let [old, new] = [before.mesh.triangles[t], after.mesh.triangles[t]];
            Some(own.map(|v| new[old.iter().position(|o| *o == v).unwrap_or(0)]))
        };
        let found: Vec<Option<[u32; 3]>> = self.state.grips.held().map(corners).collect();
        // Places in the engine: those of the whole are as before, what was split off comes behind.
        let bodies: Vec<u32> = self.state.grips.held().map(|(body, _)| body).collect();
        let mut first = vec![0u32];
        description
            .bodies
            .iter()
            .for_each(|b| first.push(first[first.len() - 1] + b.rest_positions().len() as u32));
        let place = |(corners, body): (Option<[u32; 3]>, &u32)| {
            let body = *body as usize;
            let known = &self.places[body];
            corners.map(|c| c.map(|v| first[body] + known.get(v as usize).copied().unwrap_or(v)))
        };
        found.into_iter().zip(&bodies).map(place).collect()
    }

    /// Notes what the frame has torn.
    fn collect_tears(&mut self, counts: &[[usize; 2]], report: &mut FrameReport) {
        for (index, (now, before)) in self.vertex_counts().iter().zip(counts).enumerate() {
            let body = BodyHandle(self.bodies.handle(index));
            let [vertices, strands] = [0, 1].map(|k| before[k] as u32..now[k] as u32);
            report.torn += (vertices.len() + strands.len()) as u32;
            if !vertices.is_empty() {
                self.events.push(Event::Torn { body, vertices });
            }
            if !strands.is_empty() {
                self.events.push(Event::Cut { body, pieces: strands.len() as u32 });
            }
        }
    }
}

impl FrameReport {
    /// The report of a frame that was computed once more: how it ended, and what all rounds took.
    fn followed_by(&self, last: &Self) -> Self {
        Self {
            iterations: self.iterations + last.iterations,
            substeps: self.substeps + last.substeps,
            velocity_ms: self.velocity_ms + last.velocity_ms,
            limit_ms: self.limit_ms + last.limit_ms,
            contact_ms: self.contact_ms + last.contact_ms,
            position_ms: self.position_ms + last.position_ms,
            ..*last
        }
    }
}
