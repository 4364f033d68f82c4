//! Whether a strand in equilibrium stays there: the sign of its second variation.
//!
//! Unknowns are the rotations ω_j of the frames of segments, which know of no constraint. The energy of a
//! joint depends on the rotation from frame to frame, exp(−ω₀) exp(ω₁), which to second order is that of ω₁ −
//! ω₀ − ½ ω₀ × ω₁. With M its first derivative and S the symmetric second one for ω₁ alone,
//!
//!   δ²E = M·(−½ ω₀ × ω₁) + ½ (ω₁ − ω₀)ᵀ S (ω₁ − ω₀),
//!
//! and of weight, −F·exp(ω) e, it is ½ ((F·e)|ω|² − (F·ω)(e·ω)). That is a block tridiagonal matrix of 3 × 3
//! blocks; it must be positive definite with the first segment held. Unlike the matrix of the Newton steps,
//! which is made positive, this one is exact. About 300 operations a joint.

use glam::{DMat3, DVec3};

use super::rest::StrandRest;

/// ½ (u vᵀ + v uᵀ) − (u·v) 1: twice the second variation of v·exp(ω)u.
fn linear(u: DVec3, v: DVec3) -> DMat3 {
    let outer = outer(u, v);
    (outer + outer.transpose()) * 0.5 - DMat3::from_diagonal(DVec3::splat(u.dot(v)))
}

/// u vᵀ.
fn outer(u: DVec3, v: DVec3) -> DMat3 {
    DMat3::from_cols(u * v.x, u * v.y, u * v.z)
}

/// ω ↦ m × ω.
fn crossing(m: DVec3) -> DMat3 {
    DMat3::from_cols(m.cross(DVec3::X), m.cross(DVec3::Y), m.cross(DVec3::Z))
}

/// First and second derivative of the energy of joint `i` by the rotation of the segment behind it.
fn derivatives(rest: &StrandRest, i: usize, t: [DVec3; 2], m: [DVec3; 2]) -> (DVec3, DMat3) {
    let [a, b] = rest.curvature[i];
    let (k, g) = rest.stiffness(i);
    let bent = [0, 1].map(|j| m[j] * a + t[j].cross(m[j]) * b);
    let moment = t[1].cross(t[0]) + 0.5 * t[1].cross(bent[0]) - 0.5 * bent[1].cross(t[0]);
    let second = linear(t[1], t[0]) + linear(t[1], bent[0]) * 0.5 - linear(bent[1], t[0]) * 0.5;
    // Frames are those of the style, which have no twist.
    let (twist, share) = (-rest.twist[i], 1.0 / (1.0 + t[0].dot(t[1])));
    let axis = (t[0] + t[1]) * share;
    // δt₁ = ω × t₁ = −t₁ × ω, and t₀·δt₁ = (t₁ × t₀)·ω.
    let turning = -crossing(t[1]) * share - outer(axis, t[1].cross(t[0])) * share;
    let turning = (turning + turning.transpose()) * 0.5;
    (moment * -k + axis * (g * twist), second * -k + outer(axis, axis) * g + turning * (g * twist))
}

/// Whether the strand `rest`, in equilibrium under `gravity` \[m/s²\] with these tangents and frames, stays
/// so.
pub(super) fn holds(rest: &StrandRest, tangents: &[DVec3], frames: &[DVec3], gravity: DVec3) -> bool {
    let n = tangents.len();
    let mut weights = vec![DVec3::ZERO; n];
    let mut weight = DVec3::ZERO;
    for j in (0..n).rev() {
        weight += rest.mass[j + 1] * gravity;
        weights[j] = weight;
    }
    let at = |i: usize| derivatives(rest, i, [tangents[i - 1], tangents[i]], [frames[i - 1], frames[i]]);
    // What the segments before leave of the block of this one.
    let mut reduced = DMat3::ZERO;
    for j in 1..n {
        let (_, second) = at(j);
        let mut own = reduced + second - linear(tangents[j] * rest.length[j], weights[j]);
        let next = (j + 1 < n).then(|| at(j + 1));
        if let Some((_, second)) = next {
            own += second;
        }
        if !is_positive(&own) {
            return false;
        }
        if let Some((moment, second)) = next {
            let beside = crossing(moment) * 0.5 - second;
            reduced = -(beside.transpose() * own.inverse() * beside);
        }
    }
    true
}

fn is_positive(m: &DMat3) -> bool {
    let first = m.x_axis.x;
    let second = m.x_axis.x * m.y_axis.y - m.x_axis.y * m.y_axis.x;
    first > 0.0 && second > 0.0 && m.determinant() > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A vertical column, held at its foot, buckles under its own weight when q L³ / EI passes 7.837.
    #[test]
    fn a_column_buckles_at_greenhills_load() {
        let (n, length) = (60, 0.1);
        let l = length / (f64::from(n) - 0.5);
        let n = n as usize;
        let (ei, gravity) = (1e-9, 9.81);
        let column = |load: f64| {
            let line = load * ei / length.powi(3) / gravity;
            let joint = |i: usize, value: f64| if i == 0 || i == n { 0.0 } else { value / l };
            let rest = StrandRest {
                mass: (0..=n).map(|i| line * l * if i == 0 || i == n { 0.5 } else { 1.0 }).collect(),
                length: vec![l; n],
                curvature: vec![[0.0; 2]; n + 1],
                twist: vec![0.0; n + 1],
                bend_stiffness: (0..=n).map(|i| joint(i, ei)).collect(),
                twist_stiffness: (0..=n).map(|i| joint(i, ei)).collect(),
                frame: DVec3::X,
            };
            holds(&rest, &vec![DVec3::Y; n], &vec![DVec3::X; n], DVec3::new(0.0, -gravity, 0.0))
        };
        assert!(column(7.837 * 0.98));
        assert!(!column(7.837 * 1.02));
    }
}
