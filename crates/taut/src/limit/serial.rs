//! The paper's own way through the mesh (W5): Gauss–Seidel, one element at a time, in a random order anew
//! each iteration. One thread, one lane; here to compare with.

use super::{
    Settings,
    bend::BendElement,
    edge::{EdgeElement, limit_edge},
    strain_tetrahedron::TetrahedronElement,
    strain_triangle::StrainElement,
};
use crate::{
    Projection, World,
    kernel::{
        bend::limit_bend,
        lanes::Quad,
        random::Random,
        real::add,
        strain::{limit_strain_gradient, limit_strain_paper},
        strain3::{limit_strain_gradient3, limit_strain_paper3},
    },
};

/// What an iteration goes over.
#[derive(Clone, Copy, Debug, Default)]
pub struct Elements<'a> {
    /// Triangles with limits.
    pub triangles: &'a [StrainElement],
    /// Tetrahedra with limits.
    pub tetrahedra: &'a [TetrahedronElement],
    /// Edges with limits.
    pub edges: &'a [EdgeElement],
    /// Hinges with limits.
    pub bends: &'a [BendElement],
}

impl<'a> Elements<'a> {
    /// All of a world's.
    pub(crate) fn of(world: &'a World) -> Self {
        Self {
            triangles: &world.strain_elements,
            tetrahedra: &world.tetrahedra_elements,
            edges: &world.edge_elements,
            bends: &world.bend_elements,
        }
    }
}

/// One iteration over all triangles, then all tetrahedra, all edges, and all hinges with limits. `order` is
/// scratch. Gives the largest residual met, and the largest excess of a bend.
pub fn iterate(
    settings: &Settings,
    elements: &Elements,
    x: &mut [Quad],
    random: &mut Random,
    order: &mut Vec<u32>,
) -> [f32; 2] {
    let &Settings { projection, relaxation, .. } = settings;
    let &Elements { triangles, tetrahedra, edges, bends } = elements;
    let position = |q: &Quad| [q[0], q[1], q[2]];
    let mut worst = 0.0f32;
    order.clear();
    order.extend(0..triangles.len() as u32);
    random.shuffle(order);
    for &e in order.iter() {
        let element = &triangles[e as usize];
        let quads = element.vertices.map(|v| x[v as usize]);
        let (p, w) = (quads.map(|q| position(&q)), quads.map(|q| q[3]));
        let projected = match (projection, element.weave) {
            (Projection::Gradient, None) => {
                limit_strain_gradient(&p, w, element.rest, element.range, relaxation)
            }
            (Projection::Gradient, Some(weave)) => {
                limit_strain_gradient(&p, w, element.rest, weave, relaxation)
            }
            (Projection::Paper, None) => limit_strain_paper(&p, w, element.rest, element.range, relaxation),
            (Projection::Paper, Some(weave)) => limit_strain_paper(&p, w, element.rest, weave, relaxation),
        };
        if let Some(projected) = projected {
            worst = worst.max(projected.residual);
            for k in 0..3 {
                x[element.vertices[k] as usize][..3].copy_from_slice(&add(p[k], projected.moves[k]));
            }
        }
    }
    order.clear();
    order.extend(0..tetrahedra.len() as u32);
    random.shuffle(order);
    for &e in order.iter() {
        let element = &tetrahedra[e as usize];
        let quads = element.vertices.map(|v| x[v as usize]);
        let (p, w) = (quads.map(|q| position(&q)), quads.map(|q| q[3]));
        let projected = match projection {
            Projection::Gradient => limit_strain_gradient3(&p, w, &element.rest, element.range, relaxation),
            Projection::Paper => limit_strain_paper3(&p, w, &element.rest, element.range, relaxation),
        };
        if let Some(projected) = projected {
            worst = worst.max(projected.residual);
            for k in 0..4 {
                x[element.vertices[k] as usize][..3].copy_from_slice(&add(p[k], projected.moves[k]));
            }
        }
    }
    order.clear();
    order.extend(0..edges.len() as u32);
    random.shuffle(order);
    for &e in order.iter() {
        let element = &edges[e as usize];
        let quads = element.vertices.map(|v| x[v as usize]);
        let p = quads.map(|q| position(&q));
        let (moves, residual) = limit_edge(p, quads.map(|q| q[3]), element.rest, element.range, relaxation);
        worst = worst.max(residual);
        for k in 0..2 {
            x[element.vertices[k] as usize][..3].copy_from_slice(&add(p[k], moves[k]));
        }
    }
    let mut most = 0.0f32;
    order.clear();
    order.extend(0..bends.len() as u32);
    random.shuffle(order);
    for &e in order.iter() {
        let element = &bends[e as usize];
        let quads = element.vertices.map(|v| x[v as usize]);
        let p = quads.map(|q| position(&q));
        let (moves, excess) = limit_bend(&p, quads.map(|q| q[3]), &element.allowed(), relaxation);
        most = most.max(excess);
        for k in 0..4 {
            x[element.vertices[k] as usize][..3].copy_from_slice(&add(p[k], moves[k]));
        }
    }
    [worst, most]
}
