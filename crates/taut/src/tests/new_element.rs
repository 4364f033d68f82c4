//! A limit on elements that the engine does not know, defined here by the steps of ARCHITECTURE.md, "How to
//! add an element": tethers, which keep two vertices of different bodies within a distance of each other.

use glam::Vec3;
use taut::{
    Cloth, Description, Limit, Material, Motion, Pin, Projection, Scheme, State, Stepper, World, certify,
    element::{
        Element, LimitLanes, Limited,
        set::{LimitedElements, Quantity},
    },
    exec::{
        batch::{lanes_of, weights, xyz},
        colored::Corners,
    },
    kernel::{
        lanes::{BATCH, Lanes},
        real::{Real, V3, dot, scale, sub},
    },
    mesh::generate,
};

/// Two vertices, and how far apart they may be \[m\].
#[derive(Clone, Copy, Debug)]
struct Tether {
    vertices: [u32; 2],
    length: f32,
}

/// How far a tether is too long, over its length, and moves that make it as long as it may be.
#[inline(always)]
fn project<R: Real>(x: &[V3<R>; 2], w: [R; 2], length: R, relaxation: R) -> (R, [V3<R>; 2]) {
    let (zero, tiny) = (R::splat(0.0), R::splat(1e-30));
    let d = sub(x[1], x[0]);
    let distance = dot(d, d).sqrt();
    let residual = (distance / length - R::splat(1.0)).max(zero);
    let pull = residual * length * relaxation / ((w[0] + w[1]) * distance).max(tiny);
    (residual, [scale(d, pull * w[0]), scale(d, -(pull * w[1]))])
}

#[derive(Debug)]
#[repr(C, align(64))]
struct TetherLanes {
    length: [f32; BATCH],
}

impl Element<2> for Tether {
    type Lanes = TetherLanes;

    fn vertices(&self) -> [u32; 2] {
        self.vertices
    }

    fn pack(numbers: &[u32], elements: &[Self]) -> TetherLanes {
        TetherLanes { length: lanes_of(numbers, 1.0, |e| elements[e].length) }
    }
}

impl LimitLanes<2> for TetherLanes {
    #[inline(always)]
    fn share<L: Lanes>(&self, _at: usize) -> L {
        L::splat(0.5)
    }

    #[inline(always)]
    fn project<L: Lanes, const PAPER: bool>(
        &self,
        at: usize,
        corners: &Corners<L, 2>,
        relaxation: L,
        worst: &mut L,
    ) -> Option<[V3<L>; 2]> {
        let (x, w) = (xyz(&corners.quads), weights(&corners.quads));
        let (residual, moves) = project(&x, w, L::load(&self.length, at), relaxation);
        *worst = worst.max(residual);
        L::any(L::splat(0.0).lt(residual)).then_some(moves)
    }

    #[inline(always)]
    fn residual<L: Lanes>(&self, at: usize, x: &[V3<L>; 2]) -> L {
        project(x, [L::splat(1.0); 2], L::load(&self.length, at), L::splat(0.0)).0
    }
}

impl Limited<2> for Tether {
    fn project_one(
        &self,
        x: &[V3<f32>; 2],
        w: [f32; 2],
        _projection: Projection,
        relaxation: f32,
    ) -> (f32, Option<[V3<f32>; 2]>) {
        let (residual, moves) = project(x, w, self.length, relaxation);
        (residual, Some(moves))
    }
}

const LENGTH: f32 = 0.3;

/// A sheet that is held at all four corners, and under it one that nothing but tethers at its corners holds.
fn two_sheets(scheme: Scheme, tethered: bool) -> World {
    let sheet = |name: &str, height: f32| {
        let mut mesh = generate::grid([0.5, 0.5], [6, 6], generate::Diagonals::Alternating, 0);
        mesh.positions.iter_mut().for_each(|p| *p += height * Vec3::Y);
        let mut cloth = Cloth::new(name, mesh, Material::named("polyester").unwrap());
        cloth.strain = Limit { min: None, max: Some(0.05) };
        cloth
    };
    let corners = [0, 6, 42, 48];
    let (mut above, below) = (sheet("above", 1.0), sheet("below", 0.9));
    above.pins = vec![Pin { vertices: corners.to_vec(), motion: Motion::default(), ..Pin::default() }];
    let mut description = Description { bodies: vec![above.into(), below.into()], ..Description::default() };
    description.solver.scheme = scheme;
    description.solver.iterations = 400;
    let mut world = World::new(description).unwrap();
    if tethered {
        let place = |body: usize, v: u32| world.numbered(body, v).unwrap().1;
        let tethers = corners.map(|v| Tether { vertices: [place(0, v), place(1, v)], length: LENGTH });
        let spare = world.vertex_count as u32;
        let set = LimitedElements::new("tethers", Quantity::Strain, spare, tethers.to_vec());
        world.elements.more.push(Box::new(set));
    }
    world
}

#[test]
fn a_new_element_holds_is_certified_and_survives_a_resume() {
    for scheme in [Scheme::Sweep, Scheme::Serial, Scheme::Cycle, Scheme::Nearest] {
        let world = two_sheets(scheme, true);
        let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
        let mut saved = None;
        for frame in 0..30 {
            let report = stepper.advance_frame(&world, &mut state);
            assert!(report.converged, "{scheme:?} frame {frame}: {report:?}");
            if frame == 14 {
                saved = Some(state.snapshot(&world));
            }
        }
        let certificate = certify(&world, &state);
        let tethers = &certificate.elements[0];
        let tolerance = world.aim.tolerance;
        assert_eq!(tethers.name, "tethers");
        assert!(tethers.max_residual <= tolerance, "{scheme:?} {tethers:?}");
        // They carry the sheet: without them it would have fallen by metres, and with them it hangs by them.
        let lowest = state.positions(&world, 1).iter().map(|p| p.y).fold(f32::INFINITY, f32::min);
        assert!(lowest > 0.4, "{scheme:?} {lowest}");
        let [a, b] = [0, 1].map(|body| state.positions(&world, body)[0]);
        assert!(a.distance(b) > 0.9 * LENGTH, "{scheme:?} {}", a.distance(b));

        let mut again = State::restore(&world, &saved.unwrap()).unwrap();
        let mut stepper = Stepper::new(&world, 1).unwrap();
        for _ in 15..30 {
            stepper.advance_frame(&world, &mut again);
        }
        let bits = |state: &State| state.x.iter().flatten().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert!(bits(&again) == bits(&state), "{scheme:?}: other bits after a resume");
    }
}

#[test]
#[should_panic(expected = "state and world do not match")]
fn a_state_of_another_world_is_not_advanced() {
    let (world, other) = (two_sheets(Scheme::Sweep, false), two_sheets(Scheme::Nearest, false));
    let mut state = State::new(&other);
    assert!(!state.fits(&world));
    Stepper::new(&world, 1).unwrap().advance_frame(&world, &mut state);
}

#[test]
fn without_it_the_lower_sheet_falls() {
    let world = two_sheets(Scheme::Sweep, false);
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 1).unwrap());
    for _ in 0..30 {
        stepper.advance_frame(&world, &mut state);
    }
    assert!(state.positions(&world, 1).iter().all(|p| p.y < 0.0));
    assert!(certify(&world, &state).elements.is_empty());
}
