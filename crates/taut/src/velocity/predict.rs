//! Where bodies would go in a step without limits or stiffness: the x₀ of an implicit step.
//!
//! An implicit step looks for the minimum of ½ (x − x₀)ᵀ M (x − x₀) + c dt² W(x), with W the elastic energy.
//!
//! | | c | x₀ | velocity at the end |
//! |---|---|---|---|
//! | backward Euler | 1 | x + dt v + dt² a | (x' − x) / dt |
//! | BDF2 | 4/9 | x̂ + ⅔ dt v̂ + 4/9 dt² a, where x̂ = 4/3 x − ⅓ x₋, v̂ = 4/3 v − ⅓ v₋ | 3/2 (x' − x̂) / dt |
//!
//! x₋ and v₋ are those of the step before. (English and Bridson, *Animating developable surfaces using
//! nonconforming elements*, print the second without the dt of v₋.) Damping γ is implicit as well,
//! a − γ v': it divides dt v + dt² a by 1 + γ dt (⅔ γ dt), and makes the mass heavier by that factor
//! ([`drag_factor`]), so that weight and stiffness stay in balance: damped cloth weighs what it weighs.

use crate::{World, exec::threads::Threads, kernel::lanes::Quad, state::History};

/// Vertices below which a loop is not shared between threads.
const VERTEX_GRAIN: usize = 1024;

/// How a step is integrated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formula {
    /// Backward Euler.
    Euler,
    /// The second-order backward differentiation formula.
    Bdf2,
}

impl Formula {
    /// What v dt grows by with a way.
    pub fn rate(self) -> f32 {
        match self {
            Self::Euler => 1.0,
            Self::Bdf2 => 1.5,
        }
    }
}

/// How much heavier damping of rate `damping` \[1/s\] makes what it acts on, in a step of `dt` \[s\].
pub fn drag_factor(formula: Formula, damping: f64, dt: f64) -> f64 {
    1.0 + damping * dt / f64::from(formula.rate())
}

/// Moves positions `x` \[m\], with the inverse mass as fourth component, and velocities `v` \[m/s\] of all
/// bodies to where a step of `dt` \[s\] would take them without limits and stiffness, under `forces` \[N\]
/// and gravity. Vertices that are held move with the velocity that they have.
pub fn predict(
    world: &World,
    threads: &Threads,
    (x, v): (&mut [Quad], &mut [Quad]),
    forces: &[Quad],
    history: &History,
    (formula, dt): (Formula, f32),
) {
    let gravity = world.description.gravity;
    for body in &world.bodies {
        let drag = 1.0 / drag_factor(formula, body.damping.into(), dt.into()) as f32;
        let range = body.vertices.clone();
        let start = range.start;
        threads.each_pair(&mut v[range.clone()], &mut x[range], VERTEX_GRAIN, |first, v, x| {
            for (k, (v, x)) in v.iter_mut().zip(x).enumerate() {
                let (i, w) = (start + first + k, x[3]);
                if w <= 0.0 {
                    (0..3).for_each(|c| x[c] += dt * v[c]);
                    continue;
                }
                let past = &history.steps[i];
                for c in 0..3 {
                    let gained = dt * (forces[i][c] * w * world.inverse_mass_unit + gravity[c]);
                    let (carried, speed) = match formula {
                        Formula::Euler => (0.0, v[c] + gained),
                        Formula::Bdf2 => {
                            let [position, velocity] = past.map(|quad| quad[c]);
                            let speed = v[c] + (v[c] - velocity) / 3.0 + 2.0 / 3.0 * gained;
                            ((x[c] - position) / 3.0, speed)
                        }
                    };
                    v[c] = speed * drag;
                    x[c] += carried + dt / formula.rate() * v[c];
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damping_is_divided_by_the_rate() {
        assert_eq!(drag_factor(Formula::Euler, 3.0, 0.1), 1.3);
        assert!((drag_factor(Formula::Bdf2, 3.0, 0.1) - 1.2).abs() < 1e-12);
    }
}
