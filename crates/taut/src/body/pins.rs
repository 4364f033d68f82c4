//! Pins of a body: what is wrong with them, and what they become.

use std::ops::Range;

use glam::Vec3;

use super::{BodyTables, in_order};
use crate::{
    AttachedShape, Body, Description, Pin, WorldError,
    boundary::{
        attachment::{self, Attachment, RigidGroup},
        motion::Motion,
        pin::Spring,
    },
};

/// A vertex that is held for some time.
#[derive(Clone, Debug)]
pub(crate) struct PinnedVertex {
    /// In the engine's order.
    pub vertex: u32,
    /// Where it starts \[m\].
    pub start: Vec3,
    /// Its motion, of the world's motions; also the number of its pin, and of its rigid group.
    pub motion: u32,
    /// During which it is held: from the end of the first to the end of the last.
    pub frames: Range<u32>,
    /// What it follows in place of the motion.
    pub attachment: Option<Attachment>,
    /// What pulls it to its target, if it is not held there exactly.
    pub spring: Option<Spring>,
}

impl PinnedVertex {
    /// Whether by frame `frame` it was caught somewhere other than its start.
    pub fn has_caught(&self, frame: u32) -> bool {
        self.frames.start > 0 && self.frames.start < frame
    }
}

/// Says what is wrong with the pins of `body`.
pub(crate) fn check_pins(body: &Body) -> Result<(), WorldError> {
    let (pins, count) = (body.pins(), body.rest_positions().len());
    let rules = [
        (
            pins.iter().flat_map(|p| &p.vertices).all(|&v| (v as usize) < count),
            "a pin names a vertex that does not exist",
        ),
        (
            pins.iter().all(|p| p.from >= 0.0 && p.from.is_finite() && p.until.is_none_or(|u| u > p.from)),
            "a pin's from must be at least 0 s, its until later",
        ),
        (
            pins.iter().all(|p| p.attach.is_none() || p.motion.keys.is_empty()),
            "a pin that is attached to an obstacle has no motion of its own",
        ),
        (
            pins.iter().all(|p| p.attach.is_none() || p.stiffness.is_some() || p.from <= 0.0),
            "a pin that is attached to an obstacle begins at the start, unless it has a stiffness",
        ),
        (
            pins.iter().all(|p| p.stiffness.is_none_or(|k| (0.0..=1e9).contains(&k))),
            "a pin's stiffness must lie between 0 and 1e9 N/m",
        ),
        (
            pins.iter().all(|p| p.weights.is_empty() || p.weights.len() == p.vertices.len()),
            "a pin has as many weights as vertices, or none",
        ),
        (
            pins.iter().flat_map(|p| &p.weights).all(|w| (0.0..=1e6).contains(w)),
            "a pin's weights must lie between 0 and 1e6",
        ),
        (
            pins.iter().all(|p| p.fade.iter().all(|f| (0.0..=1e6).contains(f))),
            "a pin's fade must lie between 0 and 1e6 s",
        ),
        (
            pins.iter().all(|p| p.fade == [0.0; 2] || p.stiffness.is_some()),
            "a pin that fades requires a stiffness",
        ),
        (
            pins.iter().all(|p| p.fade[1] <= 0.0 || p.until.is_some()),
            "a pin that fades out requires an until",
        ),
    ];
    let broken = rules.into_iter().find(|(fine, _)| !fine);
    broken.map_or(Ok(()), |(_, problem)| Err(refused(body, problem.into())))
}

fn refused(body: &Body, problem: String) -> WorldError {
    WorldError::Pin { kind: body.kind(), name: body.name().into(), problem }
}

/// Adds the pins of `body`, whose tables are `tables`; one motion and one group each.
pub(crate) fn add_pins(
    description: &Description,
    body: &Body,
    tables: &BodyTables,
    pins: &mut Vec<PinnedVertex>,
    motions: &mut Vec<Motion>,
    groups: &mut Vec<Option<RigidGroup>>,
) -> Result<(), WorldError> {
    let place = in_order(tables.order(), tables.vertices.start);
    for pin in body.pins() {
        let attached = attachments(description, body, pin)?;
        let is_rigid = pin.attach.is_some() && pin.shape == AttachedShape::Rigid;
        groups.push(is_rigid.then(|| {
            let places = pin.vertices.iter().map(|&v| body.start()[v as usize]);
            RigidGroup::new(&description.mesh_obstacles, &attached, places, &pin.weights)
        }));
        let mut attached = attached.into_iter();
        pins.extend(pin.vertices.iter().enumerate().map(|(k, &v)| PinnedVertex {
            vertex: place[v as usize],
            start: body.start()[v as usize],
            motion: motions.len() as u32,
            frames: pin.frames(description.frame_time),
            attachment: attached.next(),
            spring: pin.spring(k),
        }));
        motions.push(pin.motion.clone());
    }
    Ok(())
}

/// What the vertices of a pin follow; empty if it is no mesh obstacle.
fn attachments(description: &Description, body: &Body, pin: &Pin) -> Result<Vec<Attachment>, WorldError> {
    let Some(number) = pin.attach else { return Ok(Vec::new()) };
    let Some(obstacle) = description.mesh_obstacles.get(number) else {
        let count = description.mesh_obstacles.len();
        let problem = format!("a pin is attached to mesh obstacle {number}; there are {count}");
        return Err(refused(body, problem));
    };
    let places = pin.vertices.iter().map(|&v| body.start()[v as usize]);
    attachment::attach(obstacle, number as u32, places).ok_or_else(|| {
        let name = &obstacle.name;
        let problem =
            format!("a pin is attached to obstacle \"{name}\", which has no face with three corners");
        refused(body, problem)
    })
}
