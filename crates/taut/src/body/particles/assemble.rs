//! From point masses to unknowns: one a particle, in the caller's order.

use super::measure::RestSegments;
use crate::{
    Particles,
    body::{BodyTables, Rest, elements::Elements},
    element::edge::EdgeElement,
    embedding::Embedding,
};

/// What stands for the length of an edge where there is none \[m\].
const LEAST_LENGTH: f64 = 0.01;

/// Tables of point masses whose unknowns begin at `first`. Their springs are those of the world
/// ([`boundary::spring`](crate::boundary::spring)); their limits are elements only for schemes that sweep.
pub(crate) fn add(particles: &Particles, first: usize, elements: &mut Elements) -> BodyTables {
    let count = particles.mesh.positions.len();
    let at = |v: u32| first as u32 + v;
    let mut lengths = (0.0, 0);
    for (k, &[a, b]) in particles.mesh.segments.iter().enumerate() {
        let rest = particles.mesh.length(k);
        if rest > 0.0 {
            lengths = (lengths.0 + rest, lengths.1 + 1);
        }
        if elements.limits_segments && particles.edge.is_some() {
            let (rest, range) = (rest as f32, particles.edge.range());
            elements.edges.push(EdgeElement { vertices: [at(a), at(b)], rest, range, share: 1.0 });
        }
    }
    if lengths.1 == 0 {
        lengths = (LEAST_LENGTH.max(2.0 * f64::from(particles.radius)), 1);
    }
    elements.edge_length_sum += lengths.0;
    elements.edge_count += lengths.1;
    BodyTables {
        vertices: first..first + count,
        embedding: Embedding::Identity { order: (0..count as u32).collect() },
        masses: particles.masses.clone(),
        surface: Vec::new(),
        rest: Rest::Particles(RestSegments::new(&particles.mesh, particles.radius)),
        damping: particles.damping,
        scraps: Vec::new(),
    }
}
