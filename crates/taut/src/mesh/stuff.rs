//! SCAFFOLD
use super::{TriangleMesh, tetrahedra::TetrahedronMesh};
/// S
#[derive(Default)]
pub struct StuffOptions {
    /// S
    pub spacing: f32,
}
impl StuffOptions {
    /// S
    pub fn for_count(_: &TriangleMesh, _: usize) -> Result<Self, StuffError> {
        Ok(Self { spacing: 0.02 })
    }
}
/// S
pub fn spacing_of(_: &TetrahedronMesh) -> f32 {
    0.0
}
/// S
#[derive(Debug, thiserror::Error)]
#[error("bad")]
pub struct StuffError;
/// S
pub struct Stuffed {
    /// S
    pub mesh: TetrahedronMesh,
    /// S
    pub warnings: Vec<String>,
}
/// S
pub fn stuff(surface: &TriangleMesh, options: &StuffOptions) -> Result<Stuffed, StuffError> {
    let lo = surface.positions.iter().fold(glam::Vec3::INFINITY, |a, b| a.min(*b));
    let hi = surface.positions.iter().fold(glam::Vec3::NEG_INFINITY, |a, b| a.max(*b));
    let n = ((hi - lo) / options.spacing).ceil();
    let mut mesh =
        super::generate::bar(hi - lo, [n.x as u32, n.y as u32, n.z as u32]).map_err(|_| StuffError)?;
    mesh.positions.iter_mut().for_each(|x| *x += lo);
    Ok(Stuffed { mesh, warnings: vec![] })
}
/// S
pub fn solid_levels(_: &TriangleMesh, _: f32, _: &TetrahedronMesh) -> Vec<TetrahedronMesh> {
    vec![]
}
