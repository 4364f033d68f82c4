//! Elements: what has limits or forces of its own, and `K` vertices.
//!
//! One file a kind of limit ([`triangle`], [`woven`] triangle, [`tetrahedron`], [`edge`], [`hinge`]): the
//! element, its batch in lanes, its projection and its measure. All ways through a mesh are generic over them
//! ([`iterate`]: coloured sweeps, the paper's serial order, Jacobi, residuals; [`force`]: sums of forces),
//! and [`set`] is the one list of everything that a world limits.

pub mod edge;
pub mod force;
pub mod hinge;
pub mod iterate;
pub mod set;
pub mod tetrahedron;
pub mod triangle;
pub mod woven;

use crate::{
    Projection,
    exec::colored::{Colored, Corners},
    kernel::{lanes::Lanes, real::V3},
};

/// An element of `K` vertices that can be packed into batches of lanes.
pub trait Element<const K: usize>: Copy + Send + Sync {
    /// What a batch holds of it, beside its vertices.
    type Lanes: Send + Sync;

    /// Its vertices.
    fn vertices(&self) -> [u32; K];

    /// The elements with these numbers side by side. Lanes that are left get an element that does nothing if
    /// all its vertices are one.
    fn pack(numbers: &[u32], elements: &[Self]) -> Self::Lanes;
}

/// A batch of elements with limits.
pub trait LimitLanes<const K: usize> {
    /// Weights of the corrections in a Jacobi iteration.
    fn share<L: Lanes>(&self, at: usize) -> L;

    /// Moves of the vertices that bring elements back to their limits; `None` if all lanes are inside. Takes
    /// residuals into `worst`. `PAPER`: as [`Projection::Paper`] does it.
    fn project<L: Lanes, const PAPER: bool>(
        &self,
        at: usize,
        corners: &Corners<L, K>,
        relaxation: L,
        worst: &mut L,
    ) -> Option<[V3<L>; K]>;

    /// How far elements are past their limits; 0 inside.
    fn residual<L: Lanes>(&self, at: usize, x: &[V3<L>; K]) -> L;
}

/// An element with limits.
pub trait Limited<const K: usize>: Element<K, Lanes: LimitLanes<K>> {
    /// The same as [`LimitLanes::project`] for this element alone: its residual before, and moves if it is
    /// not inside its limits.
    fn project_one(
        &self,
        x: &[V3<f32>; K],
        w: [f32; K],
        projection: Projection,
        relaxation: f32,
    ) -> (f32, Option<[V3<f32>; K]>);

    /// How far it is past its limits; 0 inside.
    fn residual_one(&self, x: &[V3<f32>; K]) -> f32 {
        self.project_one(x, [1.0; K], Projection::Gradient, 0.0).0
    }
}

/// Elements by colour. `spare` is a vertex that none of them has, for lanes that are left.
pub fn colored<E: Element<K>, const K: usize>(
    vertex_count: usize,
    spare: u32,
    elements: &[E],
) -> Colored<E::Lanes, K> {
    let vertices: Vec<_> = elements.iter().map(E::vertices).collect();
    Colored::new(vertex_count, spare, &vertices, |numbers| E::pack(numbers, elements))
}

/// The weight of each element in a Jacobi iteration: one over the largest number of elements at one of its
/// vertices.
///
/// Each correction keeps momentum, so their weighted sum does, and no vertex is moved by more than an
/// average. (Dividing by the number of *active* corrections at each vertex loses momentum.)
pub fn shares<E: Element<K>, const K: usize>(vertex_count: usize, elements: &[E]) -> Vec<f32> {
    let mut counts = vec![0u32; vertex_count];
    for v in elements.iter().flat_map(E::vertices) {
        counts[v as usize] += 1;
    }
    let most = |e: &E| e.vertices().iter().map(|&v| counts[v as usize]).max().unwrap_or(1);
    elements.iter().map(|e| 1.0 / most(e) as f32).collect()
}
