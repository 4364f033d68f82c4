//! Leap-frog over one step, in as many substeps as the stiffness asks for.
//!
//! v += dt M⁻¹ f(x), x += dt v is stable while dt ω < 2 for the stiffest mode ω. A bound on ω² comes from
//! single elements (`membrane_frequency`, `hinge_frequency`), times what the present stretch adds to St.
//! Venant–Kirchhoff's stiffness. Where more substeps would be needed than allowed, stiffness is scaled down
//! to what the allowed ones carry, bending last: the limits hold the cloth together, bending gives it its
//! folds.

use super::{
    air::{AddDrag, Gusts},
    bending::{AddHingeForces, HingeBatch},
    fem::{AddMembraneForces, LargestStretch, MembraneBatch},
    fem_tetrahedron::{AddSolidForces, LargestSolidStretch, SolidBatch},
    spring::{AddSpringForces, SpringBatch},
};
use crate::{
    World,
    boundary::seam::Sewn,
    kernel::lanes::{LaneKind, Quad, run},
    limit::colored::{Colored, SharedQuads},
    parallel::Threads,
};

/// How close to the limit of stability substeps go.
const SAFETY: f64 = 0.8;

/// Stretch up to which stress grows, as a factor on the largest stretch that the step starts with.
const HEADROOM: f64 = 1.2;

/// Batches below which a colour is not shared between threads.
const GRAIN: usize = 16;

/// Vertices below which a loop is not shared between threads.
const VERTEX_GRAIN: usize = 1024;

/// Elements of the forces, and what bounds the substep.
#[derive(Clone, Debug, Default)]
pub struct Forces {
    /// Triangles.
    pub membrane: Colored<MembraneBatch>,
    /// Whether triangles have forces: not if all cloth is of the edge model.
    pub stretches: bool,
    /// Edges, of cloth of the edge model.
    pub springs: Colored<SpringBatch>,
    /// Tetrahedra.
    pub solids: Colored<SolidBatch>,
    /// Hinges.
    pub hinges: Colored<HingeBatch>,
    /// Hinges across seams, which act while all seams are closed.
    pub seam_hinges: Colored<HingeBatch>,
    /// Bound on ω² of stretching at rest, of triangles and tetrahedra \[1/s²\].
    pub membrane_frequency: f64,
    /// Bound on ω² of bending \[1/s²\].
    pub hinge_frequency: f64,
    /// Largest viscosity of any material \[s\].
    pub viscosity: f64,
    /// Whether stretching and bending are left to the limiter, which is implicit: then there are no such
    /// forces here.
    pub inside: bool,
}

/// Substeps of one step, and how the material must be softened for them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Number of substeps.
    pub substeps: u32,
    /// Factor on the stretch stiffness.
    pub stretch: f32,
    /// Factor on the bending stiffness.
    pub bend: f32,
    /// Norm of Green's strain beyond which stress stays constant.
    pub cap: f32,
}

impl Forces {
    /// Plans a step of `dt` \[s\] that starts with triangles stretched by at most `stretch`.
    pub fn plan(&self, dt: f64, stretch: f64, max_substeps: u32) -> Plan {
        if self.inside {
            return Plan { substeps: 1, stretch: 0.0, bend: 0.0, cap: 0.0 };
        }
        let reach = HEADROOM * stretch.max(1.0);
        let cap = 0.5 * (reach * reach - 1.0);
        // Material part λ² C, and geometric part: the stress itself.
        let membrane = self.membrane_frequency * (reach * reach + cap);
        // Viscosity β shortens the stable step by √(1 + ξ²) − ξ with ξ = β ω / 2.
        let needed = |membrane: f64, bend: f64| {
            let omega = (membrane + bend).sqrt();
            let xi = 0.5 * self.viscosity * omega;
            dt * omega / (2.0 * SAFETY * ((1.0 + xi * xi).sqrt() - xi))
        };
        let plan = |substeps: f64, stretch: f64, bend: f64| Plan {
            substeps: substeps.ceil().clamp(1.0, f64::from(max_substeps)) as u32,
            stretch: stretch as f32,
            bend: bend as f32,
            cap: cap as f32,
        };
        let all = needed(membrane, self.hinge_frequency);
        let allowed = f64::from(max_substeps);
        if all <= allowed {
            return plan(all, 1.0, 1.0);
        }
        // Bisection, since viscosity makes the need a curved function of the stiffness; first at the cost of
        // stretch, down to a tenth of the room, then of bending.
        let fit = |need: &dyn Fn(f64) -> f64| {
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if need(middle) <= allowed { low = middle } else { high = middle }
            }
            low
        };
        let bend = if needed(0.0, self.hinge_frequency) <= 0.95 * allowed {
            1.0
        } else {
            fit(&|factor| needed(0.0, self.hinge_frequency * factor) / 0.95)
        };
        let stretch = fit(&|factor| needed(membrane * factor, self.hinge_frequency * bend));
        plan(allowed, stretch, bend)
    }
}

impl Forces {
    /// The largest principal stretch of any triangle or tetrahedron (of these a bound); 1 where that is not
    /// asked for.
    pub fn largest_stretch(&self, threads: &Threads, lanes: LaneKind, x: &mut [Quad]) -> f64 {
        if self.inside {
            return 1.0;
        }
        let x = SharedQuads::new(x);
        let square = threads
            .largest(&self.membrane.batches, GRAIN, |batches| run(lanes, LargestStretch { batches, x }));
        let solid = threads
            .largest(&self.solids.batches, GRAIN, |batches| run(lanes, LargestSolidStretch { batches, x }));
        f64::from(square.max(solid)).sqrt()
    }
}

/// What a velocity update works on.
#[derive(Debug)]
pub struct Motion<'a> {
    /// Positions, and inverse mass as fourth component.
    pub x: &'a mut [Quad],
    /// Velocities \[m/s\]; those of pinned vertices are given, and kept.
    pub v: &'a mut [Quad],
    /// Scratch: forces.
    pub forces: &'a mut [Quad],
    /// Scratch: forces that stay the same over the step.
    pub steady: &'a mut [Quad],
    /// Which twins move as one.
    pub sewn: &'a Sewn,
}

/// Advances positions and velocities over a step of `dt` from `time`, as if there were no limits.
pub fn update(
    world: &World,
    threads: &Threads,
    lanes: LaneKind,
    motion: Motion,
    time: f32,
    dt: f32,
    plan: &Plan,
) {
    let Motion { x, v, forces, steady, sewn } = motion;
    steady.fill([0.0; 4]);
    if world.description.air.density > 0.0 {
        add_drag(world, threads, lanes, x, v, forces, steady, time, dt);
    }
    let tables = &world.forces;
    let h = dt / plan.substeps as f32;
    let gravity = world.description.gravity;
    for _ in 0..plan.substeps {
        threads.each(forces, VERTEX_GRAIN, |first, part| {
            part.copy_from_slice(&steady[first..first + part.len()]);
        });
        let shared = (SharedQuads::new(x), SharedQuads::new(forces));
        let moving = (tables.viscosity > 0.0).then(|| SharedQuads::new(v));
        let membrane = if plan.stretch > 0.0 && tables.stretches { tables.membrane.colors.len() } else { 0 };
        for color in 0..membrane {
            threads.largest(tables.membrane.of(color), GRAIN, |batches| {
                let (x, forces) = shared;
                run(
                    lanes,
                    AddMembraneForces {
                        batches,
                        x,
                        v: moving,
                        forces,
                        softening: plan.stretch,
                        cap: plan.cap,
                    },
                )
            });
        }
        let springs = if plan.stretch > 0.0 { tables.springs.colors.len() } else { 0 };
        for color in 0..springs {
            threads.largest(tables.springs.of(color), GRAIN, |batches| {
                let ((x, forces), v) = (shared, moving);
                let (softening, cap) = (plan.stretch, (1.0 + 2.0 * plan.cap).sqrt() - 1.0);
                run(lanes, AddSpringForces { batches, x, v, forces, softening, cap })
            });
        }
        let solids = if plan.stretch > 0.0 { tables.solids.colors.len() } else { 0 };
        for color in 0..solids {
            threads.largest(tables.solids.of(color), GRAIN, |batches| {
                let ((x, forces), v) = (shared, moving);
                let (softening, cap) = (plan.stretch, plan.cap);
                run(lanes, AddSolidForces { batches, x, v, forces, softening, cap })
            });
        }
        if plan.bend > 0.0 {
            let across = sewn.all_closed.then_some(&tables.seam_hinges);
            for hinges in std::iter::once(&tables.hinges).chain(across) {
                for color in 0..hinges.colors.len() {
                    threads.largest(hinges.of(color), GRAIN, |batches| {
                        let (x, forces) = shared;
                        run(lanes, AddHingeForces { batches, x, forces, softening: plan.bend })
                    });
                }
            }
        }
        sewn.share_forces(&world.sewing, x, forces);
        for body in &world.bodies {
            let keep = (-body.damping * h).exp();
            // A whole frame may be one step of a solid, in which a load that is damped along would weigh
            // less.
            let [before, after] = if body.solid.is_some() { [keep, 1.0] } else { [1.0, keep] };
            let (range, forces) = (body.vertices.clone(), &forces[body.vertices.clone()]);
            let positions = SharedQuads::new(&mut x[range.clone()]);
            threads.each(&mut v[range], VERTEX_GRAIN, |first, part| {
                for (k, v) in part.iter_mut().enumerate() {
                    // SAFETY: position k belongs to velocity k, which this thread alone has.
                    let x = unsafe { &mut *positions.base().add(first + k) };
                    let w = x[3];
                    if w > 0.0 {
                        let f = &forces[first + k];
                        for c in 0..3 {
                            let gained = h * (f[c] * w * world.inverse_mass_unit + gravity[c]);
                            v[c] = (v[c] * before + gained) * after;
                        }
                    }
                    for c in 0..3 {
                        x[c] += h * v[c];
                    }
                }
            });
        }
    }
}

/// Drag of the air over the step; `relative` is scratch.
#[expect(clippy::too_many_arguments, reason = "private, called once: what a step is")]
fn add_drag(
    world: &World,
    threads: &Threads,
    lanes: LaneKind,
    x: &mut [Quad],
    v: &[Quad],
    relative: &mut [Quad],
    steady: &mut [Quad],
    time: f32,
    dt: f32,
) {
    let air = &world.description.air;
    let wind = air.wind(time + 0.5 * dt);
    let gusty = (air.gust > 0.0 && wind != glam::Vec3::ZERO).then_some(&world.gusts);
    let positions: &[Quad] = x;
    threads.each(relative, VERTEX_GRAIN, |first, part| {
        for (k, u) in part.iter_mut().enumerate() {
            let v = &v[first + k];
            let here = gusty.map_or(wind, |gusts: &Gusts| {
                let [a, b, c, _] = positions[first + k];
                wind * (1.0 + air.gust * gusts.at(glam::Vec3::new(a, b, c), time))
            });
            *u = [v[0] - here.x, v[1] - here.y, v[2] - here.z, 0.0];
        }
    });
    let (x, relative, forces) = (SharedQuads::new(x), SharedQuads::new(relative), SharedQuads::new(steady));
    for color in 0..world.forces.membrane.colors.len() {
        threads.largest(world.forces.membrane.of(color), GRAIN, |batches| {
            run(lanes, AddDrag { batches, x, relative, forces, density: air.density, dt })
        });
    }
}
