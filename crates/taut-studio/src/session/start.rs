//! Properties of a scene before it runs: its parameters, its size, its meshes.

use glam::Vec3;
use taut::{Body, Description, Limit};
use taut_render::color::scale::round_up;

use super::{body::ShownBody, obstacle::ShownObstacle};
use crate::{
    hub::Sheet,
    protocol::{Colouring, Limiter, Parameters},
    wire::{self, MeshOf},
};

/// Number of elements up to which a core is left to the browser.
const SMALL: usize = 20_000;

/// One thread per core. Small scenes leave one core to the browser on the same machine, and large ones do
/// while it renders in software (`painting`): threads that wait for one without a core achieve less than
/// fewer threads.
pub fn chosen_threads(description: &Description, painting: bool) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let elements: usize = description.bodies.iter().map(Body::element_count).sum();
    if elements <= SMALL || painting { (cores - 1).max(1) } else { cores }
}

/// Meshes of all bodies and obstacles, as messages.
pub fn meshes(epoch: u32, bodies: &[ShownBody], obstacles: &[ShownObstacle]) -> Vec<Sheet> {
    let bodies = bodies.iter().enumerate().map(|(k, body)| Sheet {
        change: body.change,
        bytes: wire::mesh(
            epoch,
            MeshOf::Body,
            k,
            &body.mesh.positions,
            &body.mesh.triangles,
            body.uvs().as_deref(),
        ),
    });
    let obstacles = obstacles.iter().enumerate().map(|(k, o)| Sheet {
        change: 0,
        bytes: wire::mesh(epoch, MeshOf::Obstacle, k, &o.positions, &o.triangles, None),
    });
    bodies.chain(obstacles).collect()
}

/// The newest change of connectivity of `bodies`.
pub fn change(bodies: &[ShownBody]) -> u32 {
    bodies.iter().map(|body| body.change).max().unwrap_or(0)
}

/// Initial parameters of a scene.
pub fn parameters_of(description: &Description, fps: f32, budget_ms: f32) -> Parameters {
    let limited = |body: &&Body| body.strain_bounds() != Limit::default();
    let first = description.bodies.iter().find(limited);
    let by_edges = description.bodies.iter().find(|body| body.edge() != Limit::default());
    let (limiter, limit) = match (first, by_edges) {
        (Some(body), _) => (Limiter::Isotropic, body.strain_bounds()),
        (None, Some(body)) => (Limiter::Edge, body.edge()),
        (None, None) => (Limiter::Off, Limit::default()),
    };
    let wind = description.air.wind.last().map_or(Vec3::ZERO, |(_, wind)| *wind);
    let mut parameters = Parameters {
        limiter,
        stretch_max: limit.max,
        stretch_min: limit.min,
        bend_max: description.bodies.iter().find_map(|body| body.bend().max),
        tear: description.bodies.iter().find_map(tear_stretch),
        material: None,
        stiffness: 1.0,
        gravity: description.gravity.length(),
        wind: wind.to_array(),
        budget_ms,
        fps,
        colouring: Colouring::None,
        colour_range: 0.0,
        levels_shown: false,
    };
    parameters.colour_range = colour_range(&parameters);
    parameters
}

/// The strain or residual at full colour.
pub fn colour_range(parameters: &Parameters) -> f32 {
    if matches!(parameters.colouring, Colouring::Residual | Colouring::Hsv) {
        return 0.05;
    }
    let limit = parameters.stretch_max.or(parameters.stretch_min.map(|min| -min)).unwrap_or(0.0);
    round_up(if limit > 0.0 { 1.2 * limit } else { 0.1 })
}

/// Corners of the initial bounding box of all bodies \[m\].
pub fn bounds(description: &Description) -> [Vec3; 2] {
    let all = description.bodies.iter().flat_map(|body| body.start());
    let [low, high] =
        all.fold([Vec3::INFINITY, Vec3::NEG_INFINITY], |[low, high], &x| [low.min(x), high.max(x)]);
    if low.is_finite() && high.is_finite() { [low, high] } else { [Vec3::ZERO, Vec3::ONE] }
}

/// Diagonal of that box \[m\].
pub fn extent(description: &Description) -> f32 {
    let [low, high] = bounds(description);
    low.distance(high)
}

/// The threshold at which a body tears.
fn tear_stretch(body: &Body) -> Option<f32> {
    let tear = match body {
        Body::Cloth(cloth) => cloth.tear.as_ref(),
        Body::Hair(hair) => hair.tear.as_ref(),
        Body::Solid(_) | Body::Particles(_) => None,
    };
    tear.map(|tear| tear.stretch)
}
