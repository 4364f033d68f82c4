//! Optical depth of strands along a light: how much of it they cover in front of any point.
//!
//! A lattice along the light adds up the area of all strands, cell by cell, and then sums away from the
//! light. It is the deep opacity map of Yuksel and Keyser 2008 with layers at fixed depths, which costs more
//! memory, and has no artefacts where the first layer would begin. One lookup is an interpolation of eight
//! cells.

use glam::Vec3;

/// Pieces that a segment is divided into at most.
const MOST_PIECES: f32 = 16.0;
/// Offsets of a soft shadow, in radii of it.
const AROUND: [[f32; 2]; 8] = [
    [0.35, 0.0],
    [-0.35, 0.1],
    [0.0, 0.75],
    [0.05, -0.75],
    [0.7, 0.45],
    [-0.72, 0.4],
    [0.65, -0.5],
    [-0.68, -0.45],
];

/// Optical depths along a light.
#[derive(Clone, Debug, Default)]
pub struct Opacity {
    /// Unit vectors across the light, and away from it.
    axes: [Vec3; 3],
    /// The centre of the first cell, along the axes \[m\].
    low: Vec3,
    /// Cells per metre, along the axes.
    scale: Vec3,
    /// Cells along the sides, and along the light.
    cells: [usize; 2],
    /// Optical depth at the centre of each cell; cells along the light follow each other.
    depths: Vec<f32>,
}

impl Opacity {
    /// Direction towards the light, of unit length.
    pub fn toward(&self) -> Vec3 {
        -self.axes[2]
    }

    /// Adds up `segments`, each from a point to the next.
    pub fn draw(
        &mut self,
        toward: Vec3,
        cells: [usize; 2],
        positions: &[Vec3],
        radii: &[f32],
        segments: &[u32],
    ) {
        let away = -toward.normalize_or(Vec3::Y);
        let (x, y) = away.any_orthonormal_pair();
        self.axes = [x, y, away];
        self.cells = cells;
        let [side, deep] = cells;
        self.depths.clear();
        self.depths.resize(side * side * deep, 0.0);
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for &v in segments {
            for p in [positions[v as usize], positions[v as usize + 1]] {
                let p = self.turn(p);
                (low, high) = (low.min(p), high.max(p));
            }
        }
        let size = (high - low).max(Vec3::splat(1e-6));
        // One cell is left free all around.
        let free = Vec3::new((side - 3) as f32, (side - 3) as f32, (deep - 3) as f32);
        self.scale = free / size;
        self.low = low - Vec3::ONE / self.scale;
        let area = 1.0 / (self.scale.x * self.scale.y);
        for &v in segments {
            let v = v as usize;
            let [a, b] = [self.turn(positions[v]), self.turn(positions[v + 1])];
            // The area that is seen from the light.
            let covered = (b - a).truncate().length() * (radii[v] + radii[v + 1]) / area;
            let pieces = ((b - a) * self.scale).abs().max_element().ceil().clamp(1.0, MOST_PIECES);
            for k in 0..pieces as usize {
                let at = (a.lerp(b, (k as f32 + 0.5) / pieces) - self.low) * self.scale;
                self.add(at, covered / pieces);
            }
        }
        for column in self.depths.chunks_exact_mut(deep) {
            let mut sum = 0.0;
            for depth in column {
                let own = *depth;
                // Half of what is in a cell is in front of its centre.
                *depth = sum + 0.5 * own;
                sum += own;
            }
        }
    }

    fn turn(&self, p: Vec3) -> Vec3 {
        Vec3::from_array(self.axes.map(|axis| p.dot(axis)))
    }

    /// Cell and shares of the next ones for a point in cells, which is inside.
    fn cell(&self, at: Vec3) -> (usize, Vec3) {
        let [side, deep] = self.cells;
        let last = Vec3::new((side - 2) as f32, (side - 2) as f32, (deep - 2) as f32);
        let first = at.floor().clamp(Vec3::ZERO, last);
        let index = (first.y as usize * side + first.x as usize) * deep + first.z as usize;
        (index, (at - first).clamp(Vec3::ZERO, Vec3::ONE))
    }

    fn add(&mut self, at: Vec3, amount: f32) {
        let (index, share) = self.cell(at);
        let [side, deep] = self.cells;
        for (row, y) in [1.0 - share.y, share.y].into_iter().enumerate() {
            for (column, x) in [1.0 - share.x, share.x].into_iter().enumerate() {
                let at = index + (row * side + column) * deep;
                self.depths[at] += amount * x * y * (1.0 - share.z);
                self.depths[at + 1] += amount * x * y * share.z;
            }
        }
    }

    /// Optical depth at a point in cells.
    fn depth(&self, at: Vec3) -> f32 {
        let [side, deep] = self.cells;
        let last = (side - 1) as f32;
        if !(at.x > 0.0 && at.y > 0.0 && at.z > 0.0 && at.x < last && at.y < last) {
            return 0.0;
        }
        let (index, share) = self.cell(at);
        let column = |at: usize| self.depths[at] + (self.depths[at + 1] - self.depths[at]) * share.z;
        let row = |at: usize| column(at) * (1.0 - share.x) + column(at + deep) * share.x;
        row(index) * (1.0 - share.y) + row(index + side * deep) * share.y
    }

    /// Fraction of the light that reaches `p`, which takes `extinction` of what strands cover. Shadows far
    /// behind all strands get softer by `softness`, the tangent of half the angular size of the light.
    pub fn transmittance(&self, p: Vec3, extinction: f32, softness: f32) -> f32 {
        let turned = self.turn(p) - self.low;
        let at = turned * self.scale;
        let behind = turned.z - self.cells[1] as f32 / self.scale.z;
        let blur = softness * behind;
        let pass = |at: Vec3| (-extinction * self.depth(at)).exp();
        if blur.is_nan() || blur * self.scale.x <= 0.5 {
            return pass(at);
        }
        let reach = Vec3::new(self.scale.x, self.scale.y, 0.0) * blur;
        let around = AROUND.map(|[x, y]| pass(at + reach * Vec3::new(x, y, 0.0)));
        (pass(at) + around.iter().sum::<f32>()) / (1 + AROUND.len()) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curtain_of_strands_takes_what_it_covers() {
        // 200 strands of 1 mm radius on 1 m, in a plane across the light: 40 % of the light.
        let mut positions = Vec::new();
        for k in 0..200 {
            let x = (k as f32 + 0.5) / 200.0;
            positions.extend((0..21).map(|row| Vec3::new(x, 0.05 * row as f32, 0.0)));
        }
        let segments: Vec<u32> = (0..4200).filter(|v| v % 21 < 20).collect();
        let mut opacity = Opacity::default();
        opacity.draw(Vec3::Z, [64, 16], &positions, &vec![1e-3; 4200], &segments);
        let at = |z: f32| opacity.transmittance(Vec3::new(0.5, 0.5, z), 1.0, 0.0);
        assert_eq!(at(0.1), 1.0, "in front");
        assert!((at(-0.1) - (-0.4_f32).exp()).abs() < 0.02, "behind: {}", at(-0.1));
        assert_eq!(opacity.transmittance(Vec3::new(1.5, 0.5, -0.1), 1.0, 0.0), 1.0, "beside");
        let soft = |x: f32| opacity.transmittance(Vec3::new(x, 0.5, -1.0), 1.0, 0.3);
        assert!(soft(1.1) < 1.0 && soft(0.9) > (-0.4_f32).exp() + 0.02 && soft(2.0) == 1.0);
    }
}
