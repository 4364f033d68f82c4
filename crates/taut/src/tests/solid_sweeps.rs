//! Soft solids under the schemes that go from element to element: limits hold, momentum is kept, threads and
//! lanes give the same bits, and elements that are inside out come back.

use glam::{UVec3, Vec3};
use taut::{
    Description, Limit, Motion, Pin, Projection, Scheme, Solid, SolidMaterial, State, Stepper, World,
    certify,
    element::{
        colored,
        iterate::{serial, sweep},
        tetrahedron::{TetrahedronElement, TetrahedronLanes},
    },
    exec::threads::Threads,
    exec::{color::color, colored::Colored},
    kernel::{
        lanes::{LaneKind, Quad},
        random::Random,
        strain::Range,
        tetrahedron::{residual3, rest_inverse3},
    },
    limit::Settings,
    mesh::tetrahedra::TetrahedronMesh,
};

/// A block of cubes, each of six tetrahedra around a diagonal.
fn block(cells: UVec3, spacing: f32) -> TetrahedronMesh {
    let points = cells + UVec3::ONE;
    let vertex = |p: UVec3| p.x + points.x * (p.y + points.y * p.z);
    let mut mesh = TetrahedronMesh { positions: Vec::new(), tetrahedra: Vec::new() };
    for z in 0..points.z {
        for y in 0..points.y {
            for x in 0..points.x {
                let p = UVec3::new(x, y, z);
                mesh.positions.push(p.as_vec3() * spacing);
                if p.cmplt(cells).all() {
                    for axes in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]] {
                        let mut corner = p;
                        let mut corners = [vertex(p); 4];
                        for (k, axis) in axes.into_iter().enumerate() {
                            corner[axis] += 1;
                            corners[k + 1] = vertex(corner);
                        }
                        if axes == [0, 2, 1] || axes == [2, 1, 0] || axes == [1, 0, 2] {
                            corners.swap(2, 3);
                        }
                        mesh.tetrahedra.push(corners);
                    }
                }
            }
        }
    }
    mesh
}

const RANGE: Range<f32> = Range { min: 0.95, max: 1.05 };

/// A block at large, with its tables and positions that are past the limits.
struct Lump {
    elements: Vec<TetrahedronElement>,
    colored: Colored<TetrahedronLanes, 4>,
    x: Vec<Quad>,
}

impl Lump {
    /// Every coordinate is stretched by `stretch`, and moved by up to `noise` \[m\].
    fn new(stretch: Vec3, noise: f32) -> Self {
        let mesh = block(UVec3::new(6, 4, 3), 0.1);
        let count = mesh.positions.len();
        let elements: Vec<_> = (0..mesh.tetrahedra.len())
            .map(|t| {
                let vertices = mesh.tetrahedra[t];
                let corners = vertices.map(|v| mesh.positions[v as usize].as_dvec3().to_array());
                let rest = rest_inverse3(corners).expect("right side out").0;
                TetrahedronElement {
                    vertices,
                    rest: rest.map(|c| c.map(|r| r as f32)),
                    range: RANGE,
                    share: 0.05,
                }
            })
            .collect();
        let colored = colored(count, count as u32, &elements);
        let mut random = Random::new(4, 0);
        let mut x: Vec<Quad> = mesh
            .positions
            .iter()
            .map(|p| {
                let [x, y, z] = [0, 1, 2].map(|k| p[k] * stretch[k] + noise * (2.0 * random.unit() - 1.0));
                [x, y, z, 0.01 * (0.5 + random.unit())]
            })
            .collect();
        x.push([0.0; 4]);
        Self { elements, colored, x }
    }

    fn residual(&self) -> f32 {
        let past = |e: &TetrahedronElement| {
            let x = e.vertices.map(|v| self.x[v as usize]).map(|q| [q[0], q[1], q[2]]);
            residual3(&x, &e.rest, e.range)
        };
        self.elements.iter().map(past).fold(0.0, f32::max)
    }

    fn sweep(&mut self, settings: &Settings, sweeps: usize) {
        let (mut random, mut order) = (Random::new(9, 0), Vec::new());
        for _ in 0..sweeps {
            sweep(settings, &self.colored, &mut self.x, &mut random, &mut order);
        }
    }

    /// Linear and angular momentum (times dt) of moves from `before`.
    fn impulse(&self, before: &[Quad]) -> [glam::DVec3; 2] {
        let mut sums = [glam::DVec3::ZERO; 2];
        for (x, old) in self.x.iter().zip(before).filter(|(x, _)| x[3] > 0.0) {
            let point = |q: &Quad| Vec3::new(q[0], q[1], q[2]).as_dvec3();
            let moved = (point(x) - point(old)) / f64::from(x[3]);
            sums[0] += moved;
            sums[1] += point(old).cross(moved);
        }
        sums
    }
}

fn settings(threads: &Threads, lanes: LaneKind, projection: Projection) -> Settings<'_> {
    Settings { threads, lanes, projection, relaxation: 1.0 }
}

#[test]
fn sweeps_bring_a_block_within_its_limits() {
    let threads = Threads::new(1).expect("threads");
    for projection in [Projection::Gradient, Projection::Paper] {
        let settings = settings(&threads, LaneKind::detect(), projection);
        let mut lump = Lump::new(Vec3::new(1.3, 0.8, 1.0), 0.02);
        assert!(lump.residual() > 0.3);
        lump.sweep(&settings, 200);
        assert!(lump.residual() < 0.01, "{projection:?} {}", lump.residual());
    }
}

#[test]
fn elements_inside_out_come_back() {
    let threads = Threads::new(1).expect("threads");
    for projection in [Projection::Gradient, Projection::Paper] {
        let settings = settings(&threads, LaneKind::detect(), projection);
        // Noise of nearly a cell: many elements are inside out.
        let mut lump = Lump::new(Vec3::ONE, 0.08);
        assert!(lump.residual() > 1.0, "{}", lump.residual());
        lump.sweep(&settings, 400);
        assert!(lump.residual() < 0.05, "{projection:?} {}", lump.residual());
    }
}

#[test]
fn sweeps_keep_momentum() {
    let threads = Threads::new(1).expect("threads");
    let settings = settings(&threads, LaneKind::detect(), Projection::Gradient);
    let mut lump = Lump::new(Vec3::new(1.2, 0.9, 1.0), 0.01);
    let before = lump.x.clone();
    lump.sweep(&settings, 1);
    let [linear, _] = lump.impulse(&before);
    // Angular momentum is kept about where each element is when its turn comes, which one sweep of one colour
    // shows.
    let scale: f64 = lump.x.iter().filter(|x| x[3] > 0.0).map(|x| 1.0 / f64::from(x[3])).sum();
    assert!(linear.length() < 1e-6 * scale, "{linear} of {scale}");
    let mut lump = Lump::new(Vec3::new(1.2, 0.9, 1.0), 0.01);
    let vertices: Vec<_> = lump.elements.iter().map(|e| e.vertices).collect();
    let first = color(before.len(), &vertices).swap_remove(0);
    let alone: Vec<_> = first.iter().map(|&e| lump.elements[e as usize]).collect();
    lump.colored = colored(before.len() - 1, before.len() as u32 - 1, &alone);
    assert_eq!(lump.colored.color_count(), 1);
    lump.sweep(&settings, 1);
    let [linear, angular] = lump.impulse(&before);
    assert!(lump.x != before, "something moves");
    assert!(
        linear.length() < 1e-6 * scale && angular.length() < 1e-6 * scale,
        "{linear} {angular} of {scale}"
    );
}

#[test]
fn threads_and_lanes_give_the_same_bits() {
    let mut reference: Option<Vec<[u32; 4]>> = None;
    for lanes in LaneKind::available() {
        for threads in [1, 2, 5] {
            let threads = Threads::new(threads).expect("threads");
            let mut lump = Lump::new(Vec3::new(1.3, 0.8, 1.0), 0.03);
            // A few pins, so that every branch is taken.
            for k in [0, 1, 2, 7, 8, 50] {
                lump.x[k][3] = 0.0;
            }
            lump.sweep(&settings(&threads, lanes, Projection::Gradient), 6);
            let bits: Vec<_> = lump.x.iter().map(|q| q.map(f32::to_bits)).collect();
            let reference = reference.get_or_insert_with(|| bits.clone());
            assert!(*reference == bits, "{lanes:?}");
        }
    }
}

#[test]
fn one_at_a_time_lands_too() {
    let threads = Threads::new(1).expect("threads");
    let settings = settings(&threads, LaneKind::PORTABLE, Projection::Gradient);
    let mut lump = Lump::new(Vec3::new(1.3, 0.8, 1.0), 0.02);
    let (mut random, mut order) = (Random::new(9, 0), Vec::new());
    for _ in 0..200 {
        serial(&settings, &lump.elements, &mut lump.x, &mut random, &mut order);
    }
    assert!(lump.residual() < 0.01, "{}", lump.residual());
}

/// A soft bar that is held at one end and sags.
fn bar(scheme: Scheme) -> (World, State) {
    let mesh = block(UVec3::new(6, 2, 2), 0.05);
    let held = (0..mesh.positions.len() as u32).filter(|&v| mesh.positions[v as usize].x < 1e-6).collect();
    let mut solid = Solid::new("bar", mesh, SolidMaterial::named("foam").expect("in the table"));
    solid.strain = Limit { min: Some(-0.01), max: Some(0.01) };
    // At rest within two seconds.
    solid.material.damping = 3.0;
    solid.pins = vec![Pin { vertices: held, motion: Motion::default(), ..Pin::default() }];
    let mut description = Description { bodies: vec![solid.into()], ..Description::default() };
    description.solver.scheme = scheme;
    description.solver.iterations = 100;
    // What sweeps leave within their tolerance is sag.
    description.solver.tolerance = crate::Tolerance::Past(0.001);
    let world = World::new(description).expect("a good description");
    let state = State::new(&world);
    (world, state)
}

#[test]
fn every_scheme_holds_a_sagging_bar() {
    let mut sags = Vec::new();
    for scheme in [Scheme::Sweep, Scheme::Serial, Scheme::Jacobi, Scheme::Nearest] {
        let (world, mut state) = bar(scheme);
        let mut stepper = Stepper::new(&world, 0).expect("threads");
        let mut worst = 0.0f64;
        for _ in 0..30 {
            stepper.advance_frame(&world, &mut state);
            let certificate = certify(&world, &state);
            let body = &certificate.bodies[0];
            worst = worst.max(body.strain.max_residual);
            assert_eq!(body.solid.as_ref().expect("a solid").inverted, 0, "{scheme:?}");
        }
        let lowest = state.positions(&world, 0).iter().map(|p| p.y).fold(f32::INFINITY, f32::min);
        println!("{scheme:?}: residual {worst:.4}, lowest {lowest:.4} m");
        // Jacobi iterations are slow.
        assert!(worst < if scheme == Scheme::Jacobi { 0.03 } else { 0.003 }, "{scheme:?} {worst}");
        sags.push(lowest);
    }
    let (low, high) = sags.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(l, h), &s| (l.min(s), h.max(s)));
    assert!(low < -0.005 && high - low < 0.2 * low.abs(), "{sags:?}");
}
