//! Angles from sines and cosines and back, by polynomials: only operations that every machine rounds the same
//! way, in any kind of lanes. Good to single precision.

use super::real::Real;

/// The angle \[rad\], within (−π, π], of which the sine and cosine of a *half* are given; that cosine is not
/// negative.
#[inline(always)]
pub fn angle_of_half<R: Real>(sin_half: R, cos_half: R) -> R {
    let one = R::splat(1.0);
    // Tangents of a quarter and an eighth of the angle; the last is at most √2 − 1, where the series is
    // short.
    let quarter = sin_half / (cos_half + one);
    let t = quarter / (one + (one + quarter * quarter).sqrt());
    let square = t * t;
    let mut sum = R::splat(-1.0 / 15.0);
    for denominator in [13.0, -11.0, 9.0, -7.0, 5.0, -3.0, 1.0f32] {
        sum = sum * square + R::splat(1.0 / denominator);
    }
    R::splat(8.0) * t * sum
}

/// Sine and cosine of an angle of at most a turn \[rad\].
#[inline(always)]
pub fn sin_cos<R: Real>(angle: R) -> (R, R) {
    let one = R::splat(1.0);
    let part = angle * R::splat(0.0625);
    let square = part * part;
    let mut sine = R::splat(-1.0 / 5040.0);
    for coefficient in [1.0 / 120.0, -1.0 / 6.0, 1.0f32] {
        sine = sine * square + R::splat(coefficient);
    }
    let mut sine = sine * part;
    // 1 − cos instead of cos: doubling keeps its small values exact.
    let mut lack = R::splat(1.0 / 40320.0);
    for coefficient in [-1.0 / 720.0, 1.0 / 24.0, -0.5f32] {
        lack = lack * square + R::splat(coefficient);
    }
    let mut lack = -(lack * square);
    for _ in 0..4 {
        (sine, lack) = (R::splat(2.0) * sine * (one - lack), R::splat(2.0) * sine * sine);
    }
    (sine, one - lack)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_library() {
        for k in -10_000..=10_000 {
            let angle = f64::from(k) * 1e-4 * std::f64::consts::PI;
            let (sine, cosine) = (0.5 * angle).sin_cos();
            let found = angle_of_half(sine, cosine.max(0.0));
            assert!((found - angle).abs() < 2e-7, "{angle} {found}");
            let found = angle_of_half(sine as f32, cosine.max(0.0) as f32);
            assert!((f64::from(found) - angle).abs() < 1.5e-6, "{angle} {found}");
            for angle in [angle, 2.0 * angle] {
                let (s, c) = sin_cos(angle as f32);
                let (sine, cosine) = f64::from(angle as f32).sin_cos();
                assert!(
                    (f64::from(s) - sine).abs() < 4e-6 && (f64::from(c) - cosine).abs() < 4e-6,
                    "{angle}"
                );
            }
        }
    }
}
