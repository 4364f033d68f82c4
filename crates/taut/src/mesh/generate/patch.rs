//! A rectangle of quads, each split into two triangles: used by grids, tubes, tori and the faces of boxes.

use glam::Vec2;

/// Collects triangles and their texture coordinates.
#[derive(Default)]
pub(super) struct Faces {
    pub triangles: Vec<[u32; 3]>,
    pub uvs: Vec<[Vec2; 3]>,
}

impl Faces {
    pub fn with_capacity(count: usize) -> Self {
        Self { triangles: Vec::with_capacity(count), uvs: Vec::with_capacity(count) }
    }

    /// Adds the quad `a b c d` (counter-clockwise from the front) as two triangles, split from `a` to `c` or,
    /// if `other_way`, from `b` to `d`.
    pub fn quad(&mut self, corners: [u32; 4], uvs: [Vec2; 4], other_way: bool) {
        let cut = if other_way { [[0, 1, 3], [1, 2, 3]] } else { [[0, 1, 2], [0, 2, 3]] };
        for triangle in cut {
            self.triangles.push(triangle.map(|i| corners[i]));
            self.uvs.push(triangle.map(|i| uvs[i]));
        }
    }

    /// Adds `cells` quads. `vertex(i, j)` is a vertex of the patch and `uv(i, j)` its texture coordinate,
    /// with i ≤ `cells[0]` and j ≤ `cells[1]`; the front is where j, seen from i, turns counter-clockwise.
    pub fn patch(
        &mut self,
        cells: [u64; 2],
        vertex: impl Fn(u64, u64) -> u64,
        uv: impl Fn(u64, u64) -> Vec2,
        mut other_way: impl FnMut(u64, u64) -> bool,
    ) {
        for j in 0..cells[1] {
            for i in 0..cells[0] {
                let corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)];
                // At most MAX_VERTICES vertices: the index fits.
                let indices = corners.map(|(i, j)| vertex(i, j) as u32);
                self.quad(indices, corners.map(|(i, j)| uv(i, j)), other_way(i, j));
            }
        }
    }
}

/// Splits neighbouring cells alternately.
pub(super) fn alternating(i: u64, j: u64) -> bool {
    (i + j) % 2 == 1
}

/// Texture coordinate of point (i, j) of a patch that fills the unit square.
pub(super) fn unit_square(cells: [u64; 2]) -> impl Fn(u64, u64) -> Vec2 {
    move |i, j| Vec2::new((i as f64 / cells[0] as f64) as f32, (j as f64 / cells[1] as f64) as f32)
}
