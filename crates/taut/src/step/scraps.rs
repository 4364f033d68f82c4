//! Scraps of torn cloth whose solve went astray.
//!
//! A scrap of a few triangles that spins by more than a radian in a step may be far from converged after all
//! iterations, and further away with each. It is no part of anything that is looked at closely, so it moves
//! on without turning: by the mean of where its vertices would have gone, which keeps its momentum and its
//! shape.

use super::{
    FrameReport, Stepper,
    cut_short::{FAR_PAST, stretch},
};
use crate::{State, World, element::triangle::StrainElement, kernel::lanes::Quad, limit::NO_LIMIT};

/// Stretch from which on a scrap without an upper limit has gone astray.
const ASTRAY: f32 = 2.0;

/// What is known of a scrap.
#[derive(Clone, Copy, Debug, Default)]
struct Scrap {
    is_astray: bool,
    is_held: bool,
    /// Sum of masses times ways \[kg m\], and of masses \[kg\].
    way: [f32; 3],
    mass: f32,
}

/// Memory for all scraps of a world.
#[derive(Debug, Default)]
pub(super) struct Scraps {
    all: Vec<Scrap>,
    /// By vertex of the engine.
    of: Vec<Option<u32>>,
}

impl Scraps {
    /// Those of `world`.
    pub fn new(world: &World) -> Self {
        let mut scraps = Self::default();
        if world.bodies.iter().all(|body| body.scraps.is_empty()) {
            return scraps;
        }
        scraps.of = vec![None; world.start.len()];
        for body in &world.bodies {
            let first = scraps.all.len() as u32;
            for (v, scrap) in body.vertices.clone().zip(&body.scraps) {
                scraps.of[v] = scrap.map(|number| first + number);
            }
            let count = body.scraps.iter().flatten().map(|number| *number as usize + 1).max().unwrap_or(0);
            scraps.all.resize(scraps.all.len() + count, Scrap::default());
        }
        scraps
    }
}

impl Stepper {
    /// Moves scraps that went astray on by the mean of where they would have gone, if no pin holds them. Says
    /// whether there were any.
    pub(super) fn settle_scraps(
        &mut self,
        world: &World,
        state: &mut State,
        report: &mut FrameReport,
    ) -> bool {
        let Self { scraps, old, predicted, .. } = self;
        if scraps.all.is_empty() {
            return false;
        }
        let Scraps { all, of } = scraps;
        all.fill(Scrap::default());
        for triangle in world.elements.triangles.elements() {
            if let Some(number) = of[triangle.vertices[0] as usize] {
                all[number as usize].is_astray |= is_astray(triangle, &state.x);
            }
        }
        if all.iter().all(|scrap| !scrap.is_astray) {
            return false;
        }
        for (v, number) in of.iter().enumerate() {
            let Some(scrap) = number.map(|number| &mut all[number as usize]).filter(|scrap| scrap.is_astray)
            else {
                continue;
            };
            let inverse_mass = state.x[v][3];
            scrap.is_held |= inverse_mass <= 0.0;
            let mass = if inverse_mass > 0.0 { 1.0 / inverse_mass } else { 0.0 };
            (0..3).for_each(|k| scrap.way[k] += mass * (predicted[v][k] - old[v][k]));
            scrap.mass += mass;
        }
        for (v, number) in of.iter().enumerate() {
            let Some(scrap) = number.map(|number| all[number as usize]).filter(|scrap| scrap.is_astray)
            else {
                continue;
            };
            if state.x[v][3] > 0.0 {
                let part = if scrap.is_held { 0.0 } else { 1.0 / scrap.mass };
                (0..3).for_each(|k| state.x[v][k] = old[v][k] + part * scrap.way[k]);
            }
        }
        report.converged = false;
        true
    }
}

/// Whether a triangle at `x` \[m\] is far past its limit, far stretched, or nowhere.
fn is_astray(triangle: &StrainElement, x: &[Quad]) -> bool {
    let most = if triangle.range.max >= NO_LIMIT { ASTRAY } else { triangle.range.max + FAR_PAST };
    let now = stretch(triangle, triangle.vertices.map(|v| x[v as usize]));
    now > most || now.is_nan()
}
