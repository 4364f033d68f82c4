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
//! ([`drag_factor`]), so that weight and stiffness stay in balance: damped cloth weighs what it weighs. What
//! is almost at rest is slowed down a little more, whatever its damping ([`REST_SPEED`]); slow solids take
//! steps of backward Euler ([`EULER_BELOW`]), and so do scraps of torn cloth, which spin by more than a
//! radian in a step: BDF2 would gain energy there.

use crate::{World, body::Rest, exec::threads::Threads, kernel::lanes::Quad, state::History};

/// Vertices below which a loop is not shared between threads.
const VERTEX_GRAIN: usize = 1024;

/// Speed of a body (root of the mean square) below which it comes to rest, over √(g ℓ), with ℓ its size.
/// Yarns rub on each other, which ends small motions that damping in proportion to speed would keep up.
const REST_SPEED: f32 = 0.01;

/// Rate at which such a body is slowed down in addition \[1/s\], the more the slower it is. A hanging sheet
/// of polyester moves with 9 mm/s after 8 s without it, with 0.6 mm/s with it.
const REST_DAMPING: f32 = 1.0;

/// Rate at which all motion is slowed down in the sewing phase \[1/s\]: panels move because seams pull, and
/// should not swing on when these are closed.
pub(super) const SEWING_DAMPING: f32 = 20.0;

/// Speed of a soft solid (root of the mean square) below which its steps are of backward Euler, over √(g ℓ).
/// A step of BDF2 damps nothing that iterations leave undone: a clamped bar at its limits (±5 %, 6K
/// tetrahedra) keeps trembling with 12 mm/s, and comes to rest within 3 s with this. Converged steps of BDF2
/// come to rest by themselves, but take ten times the iterations.
const EULER_BELOW: f32 = 0.03;

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
/// bodies to where a step of `dt` from `time` \[s\] would take them without limits and stiffness, under
/// `forces` \[N\] and gravity. Vertices that are held move with the velocity that they have. Those that begin
/// anew ([`History::anew`]), slow solids, scraps, and all in the sewing phase are moved by backward Euler,
/// with the factor on their mass in `inertia`, which is 1 for the others.
pub fn predict(
    world: &World,
    threads: &Threads,
    (x, v, inertia): (&mut [Quad], &mut [Quad], &mut [f32]),
    forces: &[Quad],
    history: &History,
    (formula, time, dt): (Formula, f32, f32),
) {
    let weight = world.description.gravity.length();
    let gravity = world.description.gravity_at(time);
    let is_sewing = world.description.is_sewing(time);
    let sewing = if is_sewing { 1.0 / (1.0 + SEWING_DAMPING * dt) } else { 1.0 };
    for body in &world.bodies {
        let drag_of = |formula: Formula| drag_factor(formula, body.damping.into(), dt.into());
        let drags = [drag_of(Formula::Euler), drag_of(formula)];
        // The tables have masses and stiffness for `formula`, which multiplies forces by another factor.
        let alone = drags[0] / (f64::from(formula.rate()).powi(2) * drags[1]);
        // Particles and strands have no yarns that rub.
        let rubs = !matches!(body.rest, Rest::Particles(_) | Rest::Hair(_));
        let now = if rubs { speed(&v[body.vertices.clone()]) } else { f32::INFINITY };
        let fall = (weight * body.size() as f32).sqrt();
        let is_slow = matches!(body.rest, Rest::Solid(_)) && now < EULER_BELOW * fall;
        let anew = |i: usize, x: &Quad, v: &Quad| {
            let is_scrap = body.scraps.get(i - body.vertices.start).is_some_and(Option::is_some);
            let by_euler = is_slow || is_sewing || is_scrap || History::is_anew(&history.steps[i], x, v);
            formula == Formula::Bdf2 && by_euler
        };
        let first = body.vertices.start;
        threads.each(&mut inertia[body.vertices.clone()], VERTEX_GRAIN, |from, inertia| {
            for (i, inertia) in (first + from..).zip(inertia) {
                *inertia = if anew(i, &x[i], &v[i]) { alone as f32 } else { 1.0 };
            }
        });
        let drags = drags.map(|drag| (1.0 / drag) as f32);
        let range = body.vertices.clone();
        let slow = 1.0 - (now / (REST_SPEED * fall).max(f32::MIN_POSITIVE)).min(1.0);
        let keep = sewing / (1.0 + REST_DAMPING * dt * slow);
        let start = range.start;
        threads.each_pair(&mut v[range.clone()], &mut x[range], VERTEX_GRAIN, |first, v, x| {
            for (k, (v, x)) in v.iter_mut().zip(x).enumerate() {
                let (i, w) = (start + first + k, x[3]);
                if w <= 0.0 {
                    (0..3).for_each(|c| x[c] += dt * v[c]);
                    continue;
                }
                let past = &history.steps[i];
                let (formula, drag) =
                    if anew(i, x, v) { (Formula::Euler, drags[0]) } else { (formula, drags[1]) };
                for c in 0..3 {
                    v[c] *= keep;
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

/// The root of the mean square \[m/s\].
fn speed(v: &[Quad]) -> f32 {
    let sum: f64 = v.iter().map(|v| f64::from(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])).sum();
    (sum / v.len().max(1) as f64).sqrt() as f32
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
