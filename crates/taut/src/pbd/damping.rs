//! Damping that keeps both momenta (the lecture's "PBD: Damping"): all motion but that of a rigid body dies
//! away.
//!
//! vᵢ ← vᵢ + k_d (v_cm + ω × rᵢ − vᵢ), with rᵢ = xᵢ − x_cm (in the lecture r and so ω have the other sign,
//! and their product the same), L = Σ rᵢ × mᵢ vᵢ, J = Σ mᵢ (|rᵢ|² 1 − rᵢ rᵢᵀ), ω = J⁻¹ L. If all vertices of
//! a body lie on one line, J has no inverse: no velocity depends on how fast it turns about that line, so
//! that the pseudo-inverse serves. Vertices that are held are left out. Sums are in double precision, one
//! after the other.

use glam::{DMat3, DVec3};

use crate::kernel::{
    lanes::Quad,
    svd3::{Svd3, svd3_f64},
};

/// Moments of inertia below this part of the largest are none.
const NO_MOMENT: f64 = 1e-10;

/// Damps the velocities `v` \[m/s\] of one body with vertices at `x` by the part `damping` from 0 to 1. A
/// fourth component of `x` that is 0 marks a vertex that is held.
pub fn damp(x: &[Quad], v: &mut [Quad], damping: f32) {
    let Some(motion) = RigidMotion::of(x, v) else { return };
    let damping = f64::from(damping);
    for (x, v) in x.iter().zip(v).filter(|(x, _)| x[3] > 0.0) {
        let own = vector(v);
        let damped = own + damping * (motion.at(vector(x)) - own);
        v[..3].copy_from_slice(&damped.as_vec3().to_array());
    }
}

/// The motion of a rigid body.
#[derive(Clone, Copy, Debug)]
pub struct RigidMotion {
    /// Centre of mass \[m\] and its velocity \[m/s\].
    center: DVec3,
    velocity: DVec3,
    /// \[rad/s\]
    angular: DVec3,
}

impl RigidMotion {
    /// The one with the momenta of these vertices; `None` if all are held.
    fn of(x: &[Quad], v: &[Quad]) -> Option<Self> {
        let free = || x.iter().zip(v).filter(|(x, _)| x[3] > 0.0).map(|(x, v)| (1.0 / f64::from(x[3]), x, v));
        let mut mass = 0.0;
        let (mut center, mut velocity) = (DVec3::ZERO, DVec3::ZERO);
        for (m, x, v) in free() {
            mass += m;
            center += m * vector(x);
            velocity += m * vector(v);
        }
        if mass == 0.0 {
            return None;
        }
        (center, velocity) = (center / mass, velocity / mass);
        let (mut momentum, mut square, mut outer) = (DVec3::ZERO, 0.0, DMat3::ZERO);
        for (m, x, v) in free() {
            let r = vector(x) - center;
            momentum += m * r.cross(vector(v) - velocity);
            square += m * r.length_squared();
            outer += DMat3::from_cols(r * (m * r.x), r * (m * r.y), r * (m * r.z));
        }
        let Svd3 { u, s, v } = svd3_f64(DMat3::from_diagonal(DVec3::splat(square)) - outer);
        let mut angular = DVec3::ZERO;
        for k in (0..3).filter(|k| s[*k] > NO_MOMENT * s.x) {
            angular += v.col(k) * (u.col(k).dot(momentum) / s[k]);
        }
        Some(Self { center, velocity, angular })
    }

    /// Its velocity at `x` \[m/s\].
    fn at(&self, x: DVec3) -> DVec3 {
        self.velocity + self.angular.cross(x - self.center)
    }
}

fn vector(quad: &Quad) -> DVec3 {
    DVec3::new(quad[0].into(), quad[1].into(), quad[2].into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places and masses that have nothing in common; `flat` of their axes are 0.
    fn body(count: u32, flat: usize) -> Vec<Quad> {
        let number = |k: u32| ((k * 2_654_435_761) >> 8) as f32 / (1 << 24) as f32;
        (0..count)
            .map(|i| {
                let at: [f32; 3] =
                    std::array::from_fn(|k| if k < flat { 0.3 } else { number(3 * i + k as u32) });
                [at[0], at[1], at[2], 0.5 + number(7 * i + 1)]
            })
            .collect()
    }

    fn turning(x: &[Quad]) -> Vec<Quad> {
        let (velocity, angular) = (DVec3::new(1.0, -2.0, 0.5), DVec3::new(0.7, 1.3, -2.0));
        x.iter()
            .map(|x| {
                let v = (velocity + angular.cross(vector(x) - DVec3::splat(0.2))).as_vec3();
                [v.x, v.y, v.z, 0.0]
            })
            .collect()
    }

    fn momenta(x: &[Quad], v: &[Quad]) -> [DVec3; 2] {
        let each = x.iter().zip(v).map(|(x, v)| {
            let p = vector(v) / f64::from(x[3]);
            [p, vector(x).cross(p)]
        });
        each.fold([DVec3::ZERO; 2], |a, b| [a[0] + b[0], a[1] + b[1]])
    }

    #[test]
    fn rigid_motion_is_left_alone_also_of_flat_and_straight_bodies() {
        for flat in 0..3 {
            let x = body(200, flat);
            let v = turning(&x);
            for damping in [0.3, 1.0] {
                let mut damped = v.clone();
                damp(&x, &mut damped, damping);
                for (a, b) in v.iter().zip(&damped) {
                    assert!((vector(a) - vector(b)).length() < 1e-6, "{flat}: {a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn all_other_motion_dies_and_both_momenta_stay() {
        let x = body(300, 0);
        let rigid = turning(&x);
        let mut v = rigid.clone();
        for (i, v) in v.iter_mut().enumerate() {
            v[i % 3] += (i as f32).sin();
        }
        let before = momenta(&x, &v);
        for damping in [0.25, 1.0] {
            let mut damped = v.clone();
            damp(&x, &mut damped, damping);
            let after = momenta(&x, &damped);
            for (a, b) in before.iter().zip(after) {
                assert!((*a - b).length() < 1e-4 * (1.0 + a.length()), "{a} {b}");
            }
            let motion = RigidMotion::of(&x, &v).unwrap();
            let rest = |v: &[Quad]| -> f64 {
                x.iter().zip(v).map(|(x, v)| (vector(v) - motion.at(vector(x))).length_squared()).sum()
            };
            let left = (rest(&damped) / rest(&v)).sqrt();
            assert!((left - f64::from(1.0 - damping)).abs() < 1e-6, "{damping}: {left}");
        }
    }

    #[test]
    fn what_is_held_keeps_its_velocity_and_a_single_vertex_its_own() {
        let mut x = body(5, 0);
        let mut v = turning(&x);
        v[0][0] += 3.0;
        x[0][3] = 0.0;
        let before = v[0];
        damp(&x, &mut v, 1.0);
        assert_eq!(v[0], before);
        let mut one = vec![[1.0, 2.0, 3.0, 0.0]];
        damp(&body(1, 0), &mut one, 1.0);
        assert_eq!(one[0], [1.0, 2.0, 3.0, 0.0]);
        x.iter_mut().for_each(|x| x[3] = 0.0);
        let before = v.clone();
        damp(&x, &mut v, 1.0);
        assert_eq!(v, before);
    }
}
