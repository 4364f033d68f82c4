//! Light on a fibre: the model of Marschner et al. 2003 with the approximations of its lobes that are common
//! in games (Karis 2016), and diffuse light as by Kajiya and Kay 1989.
//!
//! A fibre reflects light into a cone around its tangent. Its cuticle is tilted, so that the white highlight
//! of its surface (R) is shifted towards the root, and the coloured one of light that was reflected inside
//! (TRT) towards the tip; light from behind passes through (TT). Light that is scattered from strand to
//! strand has no direction left; it is what a diffuse term stands for.

use glam::Vec3;

use crate::{light::Lights, scene::Color};

/// Tilt of the cuticle, as the sine of the shift of the first highlight.
const TILT: f32 = 0.07;
/// Width of the first highlight, over the sum of the sines of both directions.
const WIDTH: f32 = 0.16;
/// Reflectance of the surface, seen across.
const FRESNEL: f32 = 0.046;
/// Strength of both highlights, and of light that passes through.
const GLOSS: f32 = 4.5;
const THROUGH: f32 = 0.5;
/// Variation of brightness, of warmth and of the shift of highlights from strand to strand.
const UNEVEN: [f32; 3] = [0.17, 0.05, 0.035];

/// How a strand differs from others.
#[derive(Clone, Copy, Debug)]
pub struct Fiber {
    tint: Color,
    shift: f32,
}

impl Fiber {
    /// Strand number `number`. Colours that stand for values, with `shading` below 1, vary less.
    pub fn new(number: u32, shading: f32) -> Self {
        let [a, b, c] = [0, 1, 2].map(|k| noise(3 * number + k));
        let [bright, warm, shift] = [UNEVEN[0] * a, UNEVEN[1] * b, UNEVEN[2] * c].map(|u| u * shading);
        Self { tint: (1.0 + bright) * Vec3::new(1.0 + warm, 1.0, 1.0 - warm), shift }
    }

    /// Light towards `view` from a point with this tangent (towards the tip) and colour, that `key` and
    /// `sky`, fractions of their lights, reach.
    pub fn light(
        &self,
        lights: &Lights,
        tangent: Vec3,
        view: Vec3,
        albedo: Color,
        [key, sky]: [f32; 2],
    ) -> Color {
        let albedo = albedo * self.tint;
        let along = tangent.dot(lights.key);
        let diffuse = (1.0 - along * along).max(0.0).sqrt();
        let glints = self.glints(tangent, lights.key, view, albedo);
        let mut sum = lights.key_color * key * (0.62 * diffuse * albedo + glints);
        let fill = tangent.dot(lights.fill);
        let fill = (1.0 - fill * fill).max(0.0).sqrt();
        sum += lights.fill_color * albedo * (fill * sky);
        sum += lights.fill_color * self.glints(tangent, lights.fill, view, albedo) * (0.8 * sky);
        // The sky is so wide that its highlight is a veil.
        let rise = tangent.dot(lights.up);
        let veil = 0.035 * (1.0 - rise * rise).max(0.0).sqrt();
        sum += lights.sky_color * (albedo + veil) * sky;
        sum + lights.bounce_color * albedo * (0.3 + 0.5 * sky) * 0.6
    }

    /// Highlights, and light from behind.
    fn glints(&self, tangent: Vec3, toward: Vec3, view: Vec3, albedo: Color) -> Color {
        let [a, b] = [tangent.dot(toward), tangent.dot(view)];
        let cross = (toward - tangent * a).dot(view - tangent * b);
        let lengths = ((1.0 - a * a) * (1.0 - b * b)).max(1e-6).sqrt();
        // Cosine of the angle between light and viewer around the fibre.
        let around = (cross / lengths).clamp(-1.0, 1.0);
        let half = (0.5 + 0.5 * around).sqrt();
        let lobe = |shift: f32, width: f32| {
            let x = (a + b - shift - self.shift) / width;
            (-0.5 * x * x).exp() / width
        };
        let facing = (0.5 + 0.5 * toward.dot(view)).max(0.0).sqrt();
        let fresnel = FRESNEL + (1.0 - FRESNEL) * (1.0 - facing).powi(5);
        let inside = (1.0 - fresnel) * (1.0 - fresnel);
        let surface = lobe(-TILT, WIDTH) * 0.25 * half * fresnel;
        let back = lobe(2.0 * TILT, 2.0 * WIDTH) * (17.0 * around - 16.78).exp().min(1.0) * inside * fresnel;
        let wide = lobe(2.0 * TILT, 2.0 * WIDTH) * 0.12 * half * inside * fresnel;
        let through = lobe(-0.5 * TILT, 1.5 * WIDTH) * (-3.65 * around - 3.98).exp() * inside;
        let root = Vec3::new(albedo.x.max(0.0).sqrt(), albedo.y.max(0.0).sqrt(), albedo.z.max(0.0).sqrt());
        // Nothing is seen along a fibre.
        let seen = (1.0 - a * a).max(0.0).sqrt();
        GLOSS * seen * (Vec3::splat(surface) + root * (back + wide)) + THROUGH * seen * through * albedo
    }
}

/// A number from −1 to 1 that belongs to `n`.
fn noise(n: u32) -> f32 {
    let mut h = n.wrapping_mul(0x9E37_79B9) ^ 0x85EB_CA6B;
    h = (h ^ (h >> 16)).wrapping_mul(0x7FEB_352D);
    h = (h ^ (h >> 15)).wrapping_mul(0x846C_A68B);
    h ^= h >> 16;
    h as f32 / (0.5 * u32::MAX as f32) - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn highlights_are_shifted_towards_root_and_tip() {
        // A fibre along x, root on the left; light from above, the viewer moves along it.
        let fiber = Fiber { tint: Vec3::ONE, shift: 0.0 };
        let at = |slope: f32, albedo: Color| {
            fiber.glints(Vec3::X, Vec3::Y, Vec3::new(slope, 1.0, 0.2).normalize(), albedo)
        };
        let peak = |albedo: Color| {
            let slopes = (-100..=100).map(|k| 0.01 * k as f32);
            slopes.max_by(|&a, &b| at(a, albedo).x.total_cmp(&at(b, albedo).x)).unwrap()
        };
        let (black, white) = (peak(Vec3::ZERO), peak(Vec3::ONE));
        assert!(black < -0.04 && white > black, "{black} {white}");
        for k in -100..=100 {
            let light = at(0.01 * k as f32, Vec3::ONE);
            assert!(light.is_finite() && light.min_element() >= 0.0 && light.max_element() < 3.0);
        }
    }

    #[test]
    fn strands_differ_and_each_stays_as_it_is() {
        let tints: Vec<Color> = (0..100).map(|k| Fiber::new(k, 1.0).tint).collect();
        let mean = tints.iter().sum::<Color>() / 100.0;
        assert!((mean - 1.0).abs().max_element() < 0.05, "{mean}");
        assert!(tints.windows(2).all(|t| t[0] != t[1]));
        assert_eq!(Fiber::new(7, 1.0).tint, tints[7]);
        assert_eq!(Fiber::new(7, 0.0).tint, Vec3::ONE);
    }
}
