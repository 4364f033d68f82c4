//! Noise of several octaves that displaces a sheet, as in figure 14 of the main paper: white noise would be
//! too easy, since it has no long waves.

use glam::Vec3;
use taut::kernel::random::Random;

/// Displaces flat `positions` \[m\], within a square metre, by waves of random direction and phase: `octaves`
/// octaves, the first of `amplitude` \[m\] and two waves a metre, each half as high and twice as short as the
/// one before, eight waves an octave.
pub fn displace(positions: &mut [Vec3], amplitude: f32, octaves: u32, seed: u64) {
    let mut random = Random::new(seed, 0);
    let mut waves = Vec::new();
    for octave in 0..octaves {
        let scale = 2f32.powi(octave as i32);
        for _ in 0..8 {
            let signed = |random: &mut Random| 2.0 * random.unit() - 1.0;
            let way = Vec3::new(signed(&mut random), signed(&mut random), signed(&mut random));
            let turn = std::f32::consts::TAU * random.unit();
            let k = Vec3::new(turn.cos(), 0.0, turn.sin()) * (std::f32::consts::TAU * 2.0 * scale);
            waves.push((k, std::f32::consts::TAU * random.unit(), way * (amplitude / scale)));
        }
    }
    for p in positions {
        let at = *p;
        for (k, phase, way) in &waves {
            *p += *way * (k.dot(at) + phase).sin();
        }
    }
}
