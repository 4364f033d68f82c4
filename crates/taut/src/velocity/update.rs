//! Leap-frog over one step, in as many substeps as the stiffness asks for.
//!
//! v += dt M⁻¹ f(x), x += dt v is stable while dt ω < 2 for the stiffest mode ω. A bound on ω² comes from
//! single elements (`membrane_frequency`, `hinge_frequency`), times what the present stretch adds to St.
//! Venant–Kirchhoff's stiffness. Where more substeps would be needed than allowed, stiffness is scaled down
//! to what the allowed ones carry, bending last: the limits hold the cloth together, bending gives it its
//! folds.

use super::{
    air::{Drag, Gusts, PieceInAir, StrandDrag},
    bending::HingeLanes,
    fem::{LargestStretch, MembraneLanes},
    fem_tetrahedron::SolidLanes,
    predict::SEWING_DAMPING,
    spring::SpringLanes,
};
use glam::Vec3;

use crate::{
    Body, World,
    body::Rest,
    boundary::{seam::Sewn, spring},
    element::force::{Scaled, accumulate, add_forces},
    exec::colored::{Colored, Exec},
    kernel::lanes::{BATCH, Quad, run},
};

/// How close to the limit of stability substeps go.
const SAFETY: f64 = 0.8;

/// Stretch up to which stress grows, as a factor on the largest stretch that the step starts with.
const HEADROOM: f64 = 1.2;

/// Vertices below which a loop is not shared between threads.
const VERTEX_GRAIN: usize = 1024;

/// Elements of the forces, and what bounds the substep.
#[derive(Clone, Debug, Default)]
pub struct Forces {
    /// Triangles.
    pub membrane: Colored<MembraneLanes, 3>,
    /// Whether triangles have forces: not if all cloth is of the edge model.
    pub stretches: bool,
    /// Edges, of cloth of the edge model.
    pub springs: Colored<SpringLanes, 2>,
    /// Tetrahedra.
    pub solids: Colored<SolidLanes, 4>,
    /// Hinges.
    pub hinges: Colored<HingeLanes, 4>,
    /// Hinges across seams, which act while all seams are closed.
    pub seam_hinges: Colored<HingeLanes, 4>,
    /// Bound on ω² of stretching at rest, of triangles and tetrahedra \[1/s²\].
    pub membrane_frequency: f64,
    /// Bound on ω² of bending \[1/s²\].
    pub hinge_frequency: f64,
    /// Largest viscosity of any material \[s\].
    pub viscosity: f64,
    /// Whether stretching and bending are left to the limiter, which is implicit: then there are no such
    /// forces here.
    pub is_elastic: bool,
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
        if self.is_elastic {
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

impl Plan {
    /// The same with as many substeps as springs with these [rates](spring::rates) need in a step of `dt`
    /// \[s\].
    pub fn with_springs(self, rates: [f64; 2], dt: f32) -> Self {
        Self { substeps: self.substeps.max(spring::substeps(rates, dt.into())), ..self }
    }
}

impl Forces {
    /// The largest principal stretch of any triangle or tetrahedron (of these a bound); 1 where that is not
    /// asked for.
    pub fn largest_stretch(&self, exec: Exec, x: &[Quad]) -> f64 {
        if self.is_elastic {
            return 1.0;
        }
        let square = self.membrane.measure(exec, x, &LargestStretch);
        let solid = self.solids.measure(exec, x, &LargestStretch);
        f64::from(square.max(solid)).sqrt()
    }

    /// Adds the forces of all elements at positions `x` \[m\] and velocities `v` \[m/s\] to `forces` \[N\];
    /// those of hinges across seams if these are `sewn` up.
    fn add(&self, exec: Exec, (x, v): (&[Quad], &[Quad]), sewn: &Sewn, plan: &Plan, forces: &mut [Quad]) {
        let viscous = (x, (self.viscosity > 0.0).then_some(v));
        if plan.stretch > 0.0 {
            let scaled = Scaled { softening: plan.stretch, cap: plan.cap };
            if self.stretches {
                add_forces(exec, &self.membrane, viscous, forces, scaled);
            }
            let cap = (1.0 + 2.0 * plan.cap).sqrt() - 1.0;
            add_forces(exec, &self.springs, viscous, forces, Scaled { cap, ..scaled });
            add_forces(exec, &self.solids, viscous, forces, scaled);
        }
        if plan.bend > 0.0 {
            let across = sewn.all_closed.then_some(&self.seam_hinges);
            for hinges in std::iter::once(&self.hinges).chain(across) {
                add_forces(exec, hinges, (x, None), forces, Scaled { softening: plan.bend, cap: plan.cap });
            }
        }
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
    /// Which springs of the world are broken.
    pub broken: &'a [bool],
}

/// Advances positions and velocities over a step of `dt` from `time`, as if there were no limits.
pub fn update(world: &World, exec: Exec, motion: Motion, time: f32, dt: f32, plan: &Plan) {
    let Motion { x, v, forces, steady, sewn, broken } = motion;
    let threads = exec.threads;
    steady.fill([0.0; 4]);
    add_drag(world, exec, (x, v), forces, steady, [time, dt]);
    let h = dt / plan.substeps as f32;
    let gravity = world.description.gravity_at(time);
    let sewing = if world.description.is_sewing(time) { SEWING_DAMPING } else { 0.0 };
    for _ in 0..plan.substeps {
        threads.each(forces, VERTEX_GRAIN, |first, part| {
            part.copy_from_slice(&steady[first..first + part.len()]);
        });
        world.forces.add(exec, (x, v), sewn, plan, forces);
        spring::add_forces(&world.springs, broken, (x, v), forces);
        sewn.share_forces(&world.sewing, x, forces);
        for body in &world.bodies {
            let keep = (-(body.damping + sewing) * h).exp();
            // A whole frame may be one step of a solid, in which a load that is damped along would weigh
            // less.
            let [before, after] =
                if !matches!(body.rest, Rest::Cloth(_)) { [keep, 1.0] } else { [1.0, keep] };
            let (range, forces) = (body.vertices.clone(), &forces[body.vertices.clone()]);
            threads.each_pair(&mut v[range.clone()], &mut x[range], VERTEX_GRAIN, |first, v, x| {
                for ((v, x), f) in v.iter_mut().zip(x).zip(&forces[first..]) {
                    let w = x[3];
                    if w > 0.0 {
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

/// Adds the drag of strands of hair, whose velocities relative to the air are `relative` \[m/s\].
fn add_strand_drag(
    world: &World,
    exec: Exec,
    (x, relative): (&[Quad], &[Quad]),
    steady: &mut [Quad],
    dt: f32,
) {
    for (body, tables) in world.description.bodies.iter().zip(&world.bodies) {
        let (Body::Hair(hair), Rest::Hair(rest)) = (body, &tables.rest) else { continue };
        let (density, first) = (world.description.air.density, tables.vertices.start);
        let at = |quads: &[Quad], v: usize| Vec3::new(quads[v][0], quads[v][1], quads[v][2]);
        exec.threads.each(&mut steady[tables.vertices.clone()], VERTEX_GRAIN, |from, forces| {
            for (part, forces) in forces.chunks_mut(BATCH).enumerate() {
                let from = from + part * BATCH;
                let mut pieces = [PieceInAir::default(); BATCH];
                for (k, known) in pieces.iter_mut().enumerate().take(forces.len()) {
                    let (v, piece) = (first + from + k, &rest.pieces[from + k]);
                    *known = PieceInAir {
                        way: at(x, v + piece.after) - at(x, v - piece.before),
                        velocity: at(relative, v),
                        length: piece.length,
                        radius: piece.radius,
                        inverse_mass: x[v][3] * world.inverse_mass_unit,
                    };
                }
                let mut drag = [[0.0; 4]; BATCH];
                run(exec.lanes, StrandDrag { density, dt, pieces: &pieces, drag: &mut drag });
                for (force, drag) in forces.iter_mut().zip(drag) {
                    (0..3).for_each(|c| force[c] += hair.air_drag * drag[c]);
                }
            }
        });
    }
}

/// Adds the drag of the air over the step of `dt` from `time` \[s\] to `steady` \[N\]; `relative` is scratch.
pub fn add_drag(
    world: &World,
    exec: Exec,
    (x, v): (&[Quad], &[Quad]),
    relative: &mut [Quad],
    steady: &mut [Quad],
    [time, dt]: [f32; 2],
) {
    let air = &world.description.air;
    if air.density <= 0.0 {
        return;
    }
    let wind = air.wind(time + 0.5 * dt);
    let gusty = (air.gust > 0.0 && wind != glam::Vec3::ZERO).then_some(&world.gusts);
    exec.threads.each(relative, VERTEX_GRAIN, |first, part| {
        for (k, u) in part.iter_mut().enumerate() {
            let v = &v[first + k];
            let here = gusty.map_or(wind, |gusts: &Gusts| {
                let [a, b, c, _] = x[first + k];
                wind * (1.0 + air.gust * gusts.at(glam::Vec3::new(a, b, c), time))
            });
            *u = [v[0] - here.x, v[1] - here.y, v[2] - here.z, 0.0];
        }
    });
    let kernel = Drag { density: air.density, dt };
    accumulate(exec, &world.forces.membrane, (x, Some(relative)), steady, &kernel);
    add_strand_drag(world, exec, (x, relative), steady, dt);
}
