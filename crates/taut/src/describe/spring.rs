//! Springs between vertices of bodies: what a caller says of them.

use glam::Vec3;

use super::{Description, WorldError};

/// What one end of a [`Spring`] is at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SpringEnd {
    /// A vertex or particle of a body.
    Vertex {
        /// Number of the body in [`Description::bodies`].
        body: usize,
        /// Its vertex, in the caller's order.
        vertex: u32,
    },
    /// A point in space that does not move \[m\].
    Point(Vec3),
    /// A point of a rigid body. The other end is a point in space or of another rigid body.
    RigidBody {
        /// Number of the body in [`Description::rigid_bodies`].
        body: usize,
        /// The point, in the body's frame: relative to its centre, before its rotation \[m\].
        at: Vec3,
    },
}

/// A spring with damping between two vertices of any bodies, or a vertex and a point in space (S1), or
/// between rigid bodies. One of length 0 between rigid bodies is a ball joint: these do not collide. It pulls
/// both ends along the line l between them with f = k (|l| − l₀) + c Δv·l/|l|.
#[derive(Clone, Debug, PartialEq)]
pub struct Spring {
    /// Its name in files and messages.
    pub name: String,
    /// What it joins.
    pub ends: [SpringEnd; 2],
    /// l₀ \[m\]; `None`: the distance of its ends at the start.
    pub rest: Option<f32>,
    /// k \[N/m\].
    pub stiffness: f32,
    /// c \[N s/m\].
    pub damping: f32,
    /// Force at the end of a step, pull or push, beyond which it breaks \[N\]. A broken spring is gone.
    pub breaking_force: Option<f32>,
}

impl Spring {
    /// A spring without damping that is slack at the start and does not break.
    pub fn new(name: impl Into<String>, ends: [SpringEnd; 2], stiffness: f32) -> Self {
        Self { name: name.into(), ends, rest: None, stiffness, damping: 0.0, breaking_force: None }
    }

    /// What is wrong with it in `description`.
    pub(crate) fn check(&self, description: &Description) -> Result<(), WorldError> {
        let wrong = |problem: String| WorldError::Spring { name: self.name.clone(), problem };
        let number = |value: f32, what: &str| match value.is_finite() && value >= 0.0 {
            true => Ok(()),
            false => Err(wrong(format!("{what} is {value}; must be finite and at least 0"))),
        };
        number(self.stiffness, "stiffness")?;
        number(self.damping, "damping")?;
        number(self.rest.unwrap_or(0.0), "rest_length")?;
        if let Some(force) = self.breaking_force.filter(|force| !(force.is_finite() && *force > 0.0)) {
            return Err(wrong(format!("breaking_force is {force}; must be finite and above 0")));
        }
        for end in &self.ends {
            match *end {
                SpringEnd::Point(point) if !(point.is_finite() && point.abs().max_element() <= 1e6) => {
                    return Err(wrong("an end must be finite and within 1e6 m".into()));
                }
                SpringEnd::Point(_) => {}
                SpringEnd::RigidBody { body, at } => {
                    let count = description.rigid_bodies.len();
                    if body >= count {
                        return Err(wrong(format!("there is no rigid body {body}; the world has {count}")));
                    }
                    if !(at.is_finite() && at.abs().max_element() <= 1e6) {
                        return Err(wrong("a point of a rigid body must be finite and within 1e6 m".into()));
                    }
                }
                SpringEnd::Vertex { body, vertex } => {
                    let count = description.bodies.len();
                    let Some(body) = description.bodies.get(body) else {
                        return Err(wrong(format!("there is no body {body}; the world has {count}")));
                    };
                    let (name, count) = (body.name(), body.rest_positions().len());
                    if vertex as usize >= count {
                        return Err(wrong(format!("\"{name}\" has no vertex {vertex}; it has {count}")));
                    }
                    if body.as_hair().is_some() {
                        return Err(wrong(format!(
                            "\"{name}\" is hair, which supports no springs; hold it by its roots or by pins"
                        )));
                    }
                    if body.as_cloth().is_some_and(|cloth| cloth.model.edge().is_some()) {
                        return Err(wrong(format!(
                            "\"{name}\" is cloth of the model edge, which supports no springs; use the model fem"
                        )));
                    }
                }
            }
        }
        match self.ends {
            [SpringEnd::Point(_), SpringEnd::Point(_)] => {
                Err(wrong("one end must be a vertex or a rigid body".into()))
            }
            [SpringEnd::RigidBody { .. }, SpringEnd::Vertex { .. }]
            | [SpringEnd::Vertex { .. }, SpringEnd::RigidBody { .. }] => Err(wrong(
                "joins a rigid body to a vertex; join it to a point or to another rigid body".into(),
            )),
            [SpringEnd::RigidBody { body: a, .. }, SpringEnd::RigidBody { body: b, .. }] if a == b => {
                Err(wrong("both ends are on the same rigid body".into()))
            }
            [a, b] if a == b => Err(wrong("both ends are the same vertex".into())),
            _ => Ok(()),
        }
    }
}
