//! Seeded noise of several octaves that displaces initial positions, as in the main paper's figure 14.
//!
//! White noise is easy for a limiter: it has no long waves, and a few sweeps remove the short ones. Octaves
//! have both. Each octave is a smooth random vector field on a cubic lattice: random vectors at the lattice
//! points, interpolated by a quintic. It displaces along the normal and in the plane, whatever the
//! orientation. With half the amplitude at twice the frequency, every octave strains the cloth as much as the
//! previous one.

use glam::{DVec3, Vec3};

/// Parameters of [`displace`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Octaves {
    /// Largest displacement of the lowest octave along each axis \[m\].
    pub amplitude: f64,
    /// Number of octaves.
    pub count: u32,
    /// Frequency of the lowest octave \[1/m\].
    pub frequency: f64,
    /// Seed.
    pub seed: u64,
}

/// Displaces positions \[m\].
pub(crate) fn displace(positions: &mut [Vec3], octaves: Octaves) {
    for x in positions {
        *x += displacement(x.as_dvec3(), octaves).as_vec3();
    }
}

/// Random numbers within 0 and 1, for number `index` of what has such.
pub(crate) fn uniform(seed: u64, index: usize) -> impl Iterator<Item = f64> {
    let seed = mix(seed ^ mix(index as u64 + 1));
    (0u64..).map(move |k| (mix(seed ^ mix(k + 1)) >> 11) as f64 / (1u64 << 53) as f64)
}

fn displacement(x: DVec3, octaves: Octaves) -> DVec3 {
    let (mut amplitude, mut frequency, mut sum) = (octaves.amplitude, octaves.frequency, DVec3::ZERO);
    for octave in 0..octaves.count {
        let seed = mix(octaves.seed ^ mix(u64::from(octave) + 1));
        // Shifted, so that the lattices of the octaves do not coincide at the origin.
        sum += amplitude * field(frequency * x + random_vector(seed) * 64.0, seed);
        amplitude *= 0.5;
        frequency *= 2.0;
    }
    sum
}

/// A smooth vector field, each component within −1 and 1.
fn field(x: DVec3, seed: u64) -> DVec3 {
    let cell = x.floor();
    let t = x - cell;
    // Second derivatives vanish at the lattice points, so there are no creases.
    let blend = t * t * t * (t * (t * 6.0 - 15.0) + 10.0);
    let mut sum = DVec3::ZERO;
    for corner in 0..8_u8 {
        let offset = DVec3::new(f64::from(corner & 1), f64::from(corner >> 1 & 1), f64::from(corner >> 2));
        let weight = offset * blend + (DVec3::ONE - offset) * (DVec3::ONE - blend);
        let point = cell + offset;
        let hash = [point.x, point.y, point.z].iter().fold(seed, |hash, x| mix(hash ^ (*x as i64 as u64)));
        sum += weight.element_product() * random_vector(hash);
    }
    sum
}

/// A random vector, each component within −1 and 1.
fn random_vector(seed: u64) -> DVec3 {
    let part = |salt: u64| (mix(seed.wrapping_add(salt)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
    DVec3::new(part(1), part(2), part(3))
}

/// A hash of `x`: the finalizer of SplitMix64.
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OCTAVES: Octaves = Octaves { amplitude: 0.1, count: 4, frequency: 3.0, seed: 7 };

    #[test]
    fn is_smooth_bounded_and_moves_along_every_axis() {
        let mut most = DVec3::ZERO;
        for i in 0..1000 {
            let x = DVec3::new(f64::from(i) * 0.01, 0.0, f64::from(i) * 0.003);
            let d = displacement(x, OCTAVES);
            most = most.max(d.abs());
            let near = displacement(x + DVec3::splat(1e-6), OCTAVES);
            assert!((near - d).length() < 1e-4, "a jump at {x}");
        }
        assert!(most.max_element() <= 0.2 && most.min_element() > 0.02, "{most}");
    }

    #[test]
    fn the_seed_decides() {
        let x = DVec3::new(0.3, 0.0, 0.7);
        assert_eq!(displacement(x, OCTAVES), displacement(x, OCTAVES));
        assert_ne!(displacement(x, OCTAVES), displacement(x, Octaves { seed: 8, ..OCTAVES }));
    }

    #[test]
    fn has_short_and_long_waves() {
        let rough = |octaves: Octaves| {
            let at = |i: i32| displacement(DVec3::new(f64::from(i) * 0.005, 0.0, 0.0), octaves).y;
            (1..1000).map(|i| (at(i + 1) - 2.0 * at(i) + at(i - 1)).abs()).sum::<f64>()
        };
        assert!(rough(OCTAVES) > 2.0 * rough(Octaves { count: 1, ..OCTAVES }));
    }
}
