//! Cloth that is not the same in all directions (W13): limits along warp, weft and bias, and where the warp
//! runs.

use glam::{DVec2, Vec3};

use super::{Cloth, Limit};
use crate::{
    kernel::{svd2::rest_inverse, weave::WeaveRange},
    mesh::TriangleMesh,
};

/// Limits on the principal strains of every triangle by their direction in the rest shape.
///
/// A principal strain along the warp has the limits of the warp, one at right angles to it those of the weft,
/// one half-way between those of the bias; between these, limits change smoothly (`kernel::weave` says how).
/// Three equal limits are the same as [`Cloth::strain`], to the bit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weave {
    /// Limits along the warp.
    pub warp: Limit,
    /// Limits along the weft, at right angles to the warp.
    pub weft: Limit,
    /// Limits at 45 degrees to both.
    pub bias: Limit,
    /// Where the warp runs.
    pub direction: Direction,
}

/// Where the warp of cloth runs in its rest shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Direction {
    /// Along a vector in rest space, projected to each triangle. Its length does not matter.
    Along(Vec3),
    /// Where the first texture coordinate grows while the second stays.
    U,
    /// Where the second texture coordinate grows while the first stays.
    V,
}

/// Least sine of the angle between a triangle's normal and the warp, and between its texture axes.
const LEAST: f64 = 1e-3;

impl Weave {
    /// Checks what does not need a mesh: a lower and an upper limit must be there for all three or for none,
    /// since there is nothing half-way between a limit and none.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let all = [self.warp, self.weft, self.bias];
        let alike = |some: [bool; 3]| some == [some[0]; 3];
        if !alike(all.map(|l| l.min.is_some())) {
            return Err("warp, weft and bias must all have a min, or none of them");
        }
        if !alike(all.map(|l| l.max.is_some())) {
            return Err("warp, weft and bias must all have a max, or none of them");
        }
        match self.direction {
            Direction::Along(v) if !(v.is_finite() && v.length() > 1e-6) => {
                Err("the direction of the warp must be a finite vector with a length")
            }
            _ => Ok(()),
        }
    }

    /// The loosest of the three limits on each side.
    pub fn loosest(&self) -> Limit {
        let all = [self.warp, self.weft, self.bias];
        let fold = |side: fn(&Limit) -> Option<f32>, pick: fn(f32, f32) -> f32| {
            all.iter().map(side).reduce(|a, b| Some(pick(a?, b?))).flatten()
        };
        Limit { min: fold(|l| l.min, f32::min), max: fold(|l| l.max, f32::max) }
    }

    /// The limits of triangle `t`, or what is wrong with the warp there. Limits are those of the engine, in
    /// single precision.
    pub(crate) fn range(&self, mesh: &TriangleMesh, t: usize) -> Result<WeaveRange<f32>, String> {
        let warp = self.direction.at(mesh, t)?;
        let square = warp.length_squared();
        let axis = [(warp.x * warp.x - warp.y * warp.y) / square, 2.0 * warp.x * warp.y / square];
        Ok(WeaveRange {
            warp: self.warp.range(),
            weft: self.weft.range(),
            bias: self.bias.range(),
            axis: axis.map(|a| a as f32),
        })
    }
}

impl Direction {
    /// The warp of triangle `t` in its rest frame, whose x axis is the first edge. Not of unit length.
    fn at(self, mesh: &TriangleMesh, t: usize) -> Result<DVec2, String> {
        let corners = mesh.triangles[t].map(|v| mesh.positions[v as usize].as_dvec3());
        let edges = [corners[1] - corners[0], corners[2] - corners[0]];
        let normal = edges[0].cross(edges[1]).normalize_or_zero();
        let x = edges[0].normalize_or_zero();
        let y = normal.cross(x);
        let column = match self {
            Direction::Along(vector) => {
                let vector = vector.as_dvec3().normalize_or_zero();
                let flat = DVec2::new(vector.dot(x), vector.dot(y));
                return if flat.length() >= LEAST {
                    Ok(flat)
                } else {
                    Err(format!("the warp is at right angles to face {t}; it must not be normal to any face"))
                };
            }
            Direction::U => 0,
            Direction::V => 1,
        };
        let name = ["u", "v"][column];
        let Some(uv) = mesh.uvs.as_ref().and_then(|uvs| uvs.get(t)) else {
            return Err(format!(
                "the warp runs along {name}, but the mesh has no texture coordinates; give it some, or a vector"
            ));
        };
        let [a, b] = [uv[1] - uv[0], uv[2] - uv[0]].map(|e| e.as_dvec2());
        // Along u: the combination of both edges that changes u by 1 and v by nothing, up to a factor; along
        // v alike.
        let [first, second] = if column == 0 { [b.y, -a.y] } else { [-b.x, a.x] };
        let determinant = a.perp_dot(b);
        let along = (first * edges[0] + second * edges[1]) * determinant.signum();
        let flat = DVec2::new(along.dot(x), along.dot(y));
        let sound = determinant.abs() >= LEAST * a.length() * b.length() && flat.length() > 0.0;
        if sound && flat.is_finite() {
            return Ok(flat);
        }
        Err(format!(
            "the warp runs along {name}, but the texture coordinates of face {t} span no area, so that it has none"
        ))
    }
}

/// Where the warp of every triangle runs in its rest frame, whose x axis is the first edge.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Warps {
    /// Unit vectors; empty if all run along the first edge.
    directions: Vec<[f32; 2]>,
}

impl Warps {
    /// Of triangle `t`.
    pub fn direction(&self, t: usize) -> [f64; 2] {
        self.directions.get(t).map_or([1.0, 0.0], |d| d.map(f64::from))
    }

    /// Cosine and sine of twice its angle from the first edge of triangle `t`.
    pub fn double_angle(&self, t: usize) -> [f32; 2] {
        let [c, s] = self.direction(t);
        [c * c - s * s, 2.0 * c * s].map(|part| part as f32)
    }
}

/// Least mean square of the sine between y and the normals of a cloth whose warp runs along y by default.
const UPRIGHT: f64 = 0.25;

impl Cloth {
    /// Where its warp runs; nowhere in particular if its material is the same in all directions.
    pub(crate) fn warps(&self) -> Result<Warps, String> {
        if self.material.is_isotropic() {
            return Ok(Warps::default());
        }
        let mesh = self.element_mesh();
        let count = mesh.triangles.len();
        let asked = self.warp.or(self.weave.map(|weave| weave.direction));
        let v = mesh.uvs.is_some().then_some(Direction::V);
        let upright = self.upright().map(|along| Some(Direction::Along(along)));
        let usual = || std::iter::once(v).chain(upright).flatten();
        let of = |t: usize| {
            let warp = match asked {
                Some(direction) => direction.at(&mesh, t)?,
                None => usual().find_map(|d| d.at(&mesh, t).ok()).unwrap_or(DVec2::X),
            };
            Ok(warp.normalize_or(DVec2::X).as_vec2().to_array())
        };
        Ok(Warps { directions: (0..count).map(of).collect::<Result<_, String>>()? })
    }

    /// y and z, or z and y for cloth that lies in a horizontal plane: where the warp runs by default, and
    /// where that is normal to a face.
    fn upright(&self) -> [Vec3; 2] {
        let p = |v: u32| self.mesh.positions[v as usize].as_dvec3();
        let (mut sum, mut total) = (0.0, 0.0);
        for [a, b, c] in self.mesh.triangles.iter().map(|t| t.map(p)) {
            let normal = (b - a).cross(c - a);
            let area = normal.length();
            if area > 0.0 {
                sum += area * (1.0 - (normal.y / area).powi(2));
                total += area;
            }
        }
        if sum >= UPRIGHT * total { [Vec3::Y, Vec3::Z] } else { [Vec3::Z, Vec3::Y] }
    }

    /// Whether the strain of its triangles is limited.
    pub fn limits_strain(&self) -> bool {
        self.strain_bounds().is_some()
    }

    /// The limits on principal strains, the loosest where they differ by direction.
    pub fn strain_bounds(&self) -> Limit {
        self.weave.map_or(self.strain, |weave| weave.loosest())
    }

    /// Limits of every triangle along warp, weft and bias; empty if there are none such.
    ///
    /// # Errors
    /// Says which triangle has no warp, and why.
    pub fn weave_ranges(&self) -> Result<Vec<WeaveRange<f32>>, String> {
        let Some(weave) = self.weave.filter(|weave| weave.loosest().is_some()) else { return Ok(Vec::new()) };
        let mesh = self.element_mesh();
        (0..mesh.triangles.len()).map(|t| weave.range(&mesh, t)).collect()
    }

    /// What is wrong with its weave or its warp: limits or directions. Faces without area are left to the
    /// checks of the mesh.
    ///
    /// # Errors
    /// If the cloth has a weave or a warp that cannot be simulated.
    pub fn check_weave(&self) -> Result<(), String> {
        if let Some(weave) = &self.weave {
            weave.check()?;
        }
        let asked = self.weave.map(|weave| weave.direction).into_iter().chain(self.warp);
        let mesh = self.element_mesh();
        let at = |v: u32| mesh.positions[v as usize].as_dvec3().to_array();
        (0..mesh.triangles.len())
            .filter(|&t| rest_inverse(mesh.triangles[t].map(at)).is_some())
            .try_for_each(|t| asked.clone().try_for_each(|direction| direction.at(&mesh, t).map(|_| ())))
    }
}
