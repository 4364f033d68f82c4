//! What springs and particles mean for filters: which bodies they join, and what a filter has of them.

use std::{iter::once, ops::Range};

use super::{super::law::TimeStep, Together};
use crate::{
    Description,
    body::{BodyTables, Rest},
    boundary::spring::{End, SpringTable},
    limit::aim::Aim,
};

/// Ranges of bodies that are filtered together, `joined` where springs join them.
pub(super) fn joined(
    mut joined: Vec<Range<usize>>,
    springs: &[SpringTable],
    bodies: &[BodyTables],
) -> Vec<Range<usize>> {
    for spring in springs {
        let [a, b] = spring.ends.map(|end| match end {
            End::Vertex(v) => bodies.iter().position(|body| body.vertices.contains(&(v as usize))),
            End::Point(_) | End::Body { .. } => None,
        });
        if let (Some(a), Some(b)) = (a, b)
            && a != b
        {
            let [low, high] = [a.min(b), a.max(b)];
            let first = joined.iter().position(|range| range.contains(&low)).unwrap_or(0);
            let last = joined.iter().position(|range| range.contains(&high)).unwrap_or(first);
            let whole = joined[first].start..joined[last].end;
            joined.splice(first..=last, [whole]);
        }
    }
    joined
}

/// Mass of particles \[kg\] that springs may hang on cloth or soft solids.
pub(super) fn hung_on(springs: &[SpringTable], bodies: &[BodyTables]) -> f64 {
    let of = |end: End| match end {
        End::Vertex(v) => bodies.iter().find(|body| body.vertices.contains(&(v as usize))),
        End::Point(_) | End::Body { .. } => None,
    };
    let is_particles = |body: &BodyTables| matches!(body.rest, Rest::Particles(_));
    let hangs = springs.iter().any(|spring| {
        let [a, b] = spring.ends.map(of);
        a.zip(b).is_some_and(|(a, b)| is_particles(a) != is_particles(b))
    });
    let all = bodies.iter().filter(|body| hangs && is_particles(body));
    all.flat_map(|body| &body.masses).sum()
}

impl Together {
    pub(super) fn particles(body: &BodyTables, time: TimeStep) -> Self {
        let count = body.order().len();
        let all = 0..count as u32;
        Self {
            vertices: body.vertices.clone(),
            bodies: once(0..count).collect(),
            masses: time.masses(body),
            size: body.size(),
            particles: all.clone().collect(),
            // Each stays as it is on all levels.
            lattices: vec![(0..count, Vec::new())],
            ..Self::default()
        }
    }

    /// Springs of these bodies: number and spring, with vertices of the filter, of the world's `all`.
    pub(super) fn springs(
        &self,
        description: &Description,
        all: &[SpringTable],
        stand_in: impl Fn(u32) -> u32,
    ) -> Vec<(u32, SpringTable)> {
        let aim = Aim::new(description);
        let own = |end: &End| matches!(end, End::Vertex(v) if self.vertices.contains(&(*v as usize)));
        let of_filter = |end: End| match end {
            End::Vertex(v) => End::Vertex(stand_in(v) - self.vertices.start as u32),
            point => point,
        };
        let springs = (0..).zip(all).filter(|(_, spring)| spring.ends.iter().any(own));
        let aimed = |spring: &SpringTable| SpringTable {
            ends: spring.ends.map(of_filter),
            range: aim.inside(spring.range),
            ..*spring
        };
        springs.map(|(number, spring)| (number, aimed(spring))).collect()
    }
}
