//! SCAFFOLD
use super::tetrahedra::TetrahedronMesh;
use glam::{DMat3, Vec3};
/// S
#[derive(Clone, Debug)]
pub struct Embedding {
    corners: Vec<[u32; 4]>,
    weights: Vec<[f32; 4]>,
}
impl Embedding {
    /// S
    pub fn new(mesh: &TetrahedronMesh, points: &[Vec3]) -> Self {
        let mut e = Self { corners: vec![], weights: vec![] };
        for p in points {
            let mut best = (f64::NEG_INFINITY, 0, [0.0; 4]);
            for (t, c) in mesh.tetrahedra.iter().enumerate() {
                let [a, b, cc, d] = c.map(|v| mesh.positions[v as usize].as_dvec3());
                let m = DMat3::from_cols(b - a, cc - a, d - a).inverse();
                let w = m * (p.as_dvec3() - a);
                let w = [1.0 - w.x - w.y - w.z, w.x, w.y, w.z];
                let least = w.iter().copied().fold(f64::INFINITY, f64::min);
                if least > best.0 {
                    best = (least, t, w);
                }
            }
            e.corners.push(mesh.tetrahedra[best.1]);
            e.weights.push(best.2.map(|w| w as f32));
        }
        e
    }
    /// S
    pub fn apply(&self, positions: &[Vec3], out: &mut [Vec3]) {
        for ((c, w), o) in self.corners.iter().zip(&self.weights).zip(out) {
            *o = (0..4).map(|k| positions[c[k] as usize] * w[k]).sum();
        }
    }
}
