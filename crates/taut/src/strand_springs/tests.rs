use glam::{DVec3, Quat, Vec3};

use super::*;
use crate::{
    exec::threads::Threads,
    kernel::{lanes::LaneKind, random::Random, real},
};

const G: f32 = 9.81;

/// A model with the state of its strands.
struct Hair {
    model: SpringModel,
    x: Vec<Quad>,
    v: Vec<Quad>,
    kept: Vec<f32>,
    scratch: SpringScratch,
}

impl Hair {
    fn new(groom: &Groom, setup: &SpringSetup) -> Self {
        Self::starting(groom, setup, &groom.positions)
    }

    fn starting(groom: &Groom, setup: &SpringSetup, start: &[Vec3]) -> Self {
        let model = SpringModel::new(groom, setup);
        let mut x: Vec<Quad> = start.iter().map(|p| [p.x, p.y, p.z, 7.0]).collect();
        let mut v = vec![[0.0, 0.0, 0.0, 7.0]; x.len()];
        let mut kept = vec![f32::NAN; model.kept_count()];
        model.begin(SpringState { x: &mut x, v: &mut v, kept: &mut kept });
        let scratch = model.scratch();
        Self { model, x, v, kept, scratch }
    }

    fn step(&mut self, step: &SpringStep) -> SpringReport<'_> {
        self.step_on((&Threads::alone(), LaneKind::detect()), step, &NoForces)
    }

    fn step_on<F: OutsideForces>(
        &mut self,
        exec: (&Threads, LaneKind),
        step: &SpringStep,
        outside: &F,
    ) -> SpringReport<'_> {
        let state = SpringState { x: &mut self.x, v: &mut self.v, kept: &mut self.kept };
        self.model.advance(exec, state, step, outside, &mut self.scratch)
    }

    fn place(&self, v: usize) -> Vec3 {
        let [x, y, z, _] = self.x[v];
        Vec3::new(x, y, z)
    }

    /// A particle of a lane of the first batch: position and velocity.
    fn particle(&self, p: usize, lane: usize) -> [DVec3; 2] {
        let row = |row: usize| f64::from(self.kept[(p * build::PARTICLE_ROWS + row) * BATCH + lane]);
        [0, substep::V].map(|first| DVec3::from_array([0, 1, 2].map(|c| row(first + c) + row(first + 3 + c))))
    }

    /// Mass of such a particle.
    fn mass(&self, p: usize, lane: usize) -> f64 {
        let w = f64::from(self.model.batches[0].inverse_mass[p][lane]);
        if w > 0.0 { 1.0 / w } else { 0.0 }
    }

    /// Momentum, angular momentum about the origin, and energy of a lane of the first batch.
    fn invariants(&self, lane: usize) -> (DVec3, DVec3, f64) {
        let batch = &self.model.batches[0];
        let (mut p, mut l, mut energy) = (DVec3::ZERO, DVec3::ZERO, 0.0);
        for i in 0..batch.len() {
            let ([x, v], m) = (self.particle(i, lane), self.mass(i, lane));
            (p, l, energy) = (p + m * v, l + m * x.cross(v), energy + 0.5 * m * v.length_squared());
            let anchor = &batch.anchors[i];
            for (kind, side) in anchor.sides.iter().enumerate() {
                let length = self.particle(i + kind + 1, lane)[0].distance(x);
                let strain = length - f64::from(side.length[lane]);
                energy += 0.5 * f64::from(side.stiffness[lane]) * strain * strain;
            }
            let [k, floor] = [anchor.altitude.stiffness, anchor.altitude.length].map(|r| f64::from(r[lane]));
            if k > 0.0 {
                let [a, b, c] = [1, 2, 3].map(|k| (self.particle(i + k, lane)[0] - x).to_array());
                let gap = ((floor - altitude::shortest(a, b, c).height) * floor.signum()).max(0.0);
                energy += 0.5 * k * gap * gap;
            }
        }
        (p, l, energy)
    }
}

/// Straight strands of `segments` segments along `along`, side by side.
fn straight(strands: usize, segments: usize, along: Vec3) -> Groom {
    let positions = (0..strands).flat_map(|s| {
        let from = 0.01 * s as f32 * Vec3::Z;
        (0..=segments).map(move |k| from + along * (k as f32 / segments as f32))
    });
    Groom { positions: positions.collect(), counts: vec![segments as u32 + 1; strands], radii: Vec::new() }
}

/// A helix along −y.
fn helix(segments: usize, per_turn: f32, [radius, pitch]: [f32; 2]) -> Groom {
    let positions = (0..=segments).map(|k| {
        let turn = k as f32 / per_turn;
        let (sin, cos) = (std::f32::consts::TAU * turn).sin_cos();
        Vec3::new(radius * cos, -pitch * turn, radius * sin)
    });
    Groom { positions: positions.collect(), counts: vec![segments as u32 + 1], radii: Vec::new() }
}

fn setup(young: f64, radius: f64, is_rooted: bool) -> SpringSetup {
    let material = StrandMaterial { density: 1000.0, young, shear: young / 3.0, radius };
    SpringSetup { material, damping_ratio: 0.0, is_rooted, seed: 1 }
}

const REAL: StrandMaterial = StrandMaterial { density: 1300.0, young: 3e9, shear: 1e9, radius: 4e-5 };

fn step(dt: f32, gravity: Vec3) -> SpringStep<'static> {
    SpringStep {
        dt,
        gravity,
        drag: 0.0,
        roots: None,
        max_substeps: u32::MAX,
        limits: SegmentLimits::default(),
    }
}

/// Tip deflection of a cantilever of `n` segments whose joints have stiffness EI/l, per weight of a length.
fn sag(n: usize, length: f64, bending: f64, weight: f64) -> f64 {
    let l = length / n as f64;
    let mass = |p: usize| if p == n { 0.5 * l } else { l };
    let turn =
        |j: usize| (j + 1..=n).map(|p| weight * mass(p) * l * (p - j) as f64).sum::<f64>() * l / bending;
    (1..n).map(|j| turn(j) * l * (n - j) as f64).sum()
}

#[test]
fn a_cantilever_sags_as_its_bending_stiffness_says() {
    let (n, length) = (8, 0.05);
    let groom = straight(1, n, length as f32 * Vec3::X);
    let bending = 3e9 * std::f64::consts::PI / 4.0 * 1e-16;
    let wanted = sag(n, length, bending, 1000.0 * std::f64::consts::PI * 1e-8 * f64::from(G));
    for seed in 0..3 {
        for gravity in [-G * Vec3::Y, G * Vec3::Z] {
            let mut hair = Hair::new(&groom, &SpringSetup { seed, ..setup(3e9, 1e-4, true) });
            for _ in 0..10 {
                hair.step(&SpringStep { drag: 250.0, ..step(0.01, gravity) });
            }
            let tip = hair.place(n) - groom.positions[n];
            let (down, aside) = (f64::from(tip.dot(gravity) / G), tip.reject_from(gravity).length());
            println!("sag {down:.3e} of {wanted:.3e}: {:.4}, aside {aside:.1e}", down / wanted);
            assert!((down / wanted - 1.0).abs() < 0.08 && aside < 0.1 * down as f32);
        }
    }
}

#[test]
fn a_hanging_strand_swings_with_the_period_of_a_chain() {
    let (n, length) = (20, 0.2f32);
    let groom = straight(1, n, -length * Vec3::Y);
    // The first mode of a chain that hangs from the second point: J0(2.405 √(s/L)), s from the tip.
    let free = length * (n - 1) as f32 / n as f32;
    let shape = |s: f32| {
        let q = 2.404_826f32.powi(2) * s / free / 4.0;
        (1..12)
            .fold((1.0, 1.0), |(sum, term), k| {
                let term = -term * q / (k * k) as f32;
                (sum + term, term)
            })
            .0
    };
    let start: Vec<Vec3> = groom
        .positions
        .iter()
        .enumerate()
        .map(|(k, p)| *p + if k < 2 { 0.0 } else { 0.01 * length * shape(length + p.y) } * Vec3::X)
        .collect();
    let mut hair =
        Hair::starting(&groom, &SpringSetup { damping_ratio: 0.05, ..setup(4e7, 5e-5, true) }, &start);
    let (dt, mut crossings, mut last) = (2e-3, Vec::new(), start[n].x);
    for k in 1..1000 {
        hair.step(&step(dt, -G * Vec3::Y));
        let now = hair.place(n).x;
        if last * now < 0.0 {
            crossings.push(dt * (k as f32 - now / (now - last)));
        }
        last = now;
    }
    let count = crossings.len();
    let period = 2.0 * (crossings[count - 1] - crossings[0]) / (count - 1) as f32;
    let wanted = 5.2255 * (free / G).sqrt();
    println!("period {period} of {wanted}: {:.4}", period / wanted);
    assert!((period / wanted - 1.0).abs() < 0.02);
}

/// Free strands that were struck.
fn struck(groom: &Groom, setup: &SpringSetup, speed: f32) -> Hair {
    let mut hair = Hair::new(groom, setup);
    let mut random = Random::new(3, 0);
    for v in &mut hair.v {
        (0..3).for_each(|c| v[c] = speed * (random.unit() - 0.5));
    }
    hair
}

#[test]
fn free_strands_keep_momentum() {
    for groom in [straight(1, 12, 0.1 * Vec3::X), helix(24, 6.0, [0.01, 0.02])] {
        for limits in [
            SegmentLimits::default(),
            SegmentLimits { min: Some(-1e-3), max: Some(1e-3), break_strain: None },
        ] {
            let mut hair =
                struck(&groom, &SpringSetup { damping_ratio: 0.05, ..setup(1e8, 1e-3, false) }, 1.0);
            hair.step(&SpringStep { limits, ..step(1e-9, Vec3::ZERO) });
            let (p, l, _) = hair.invariants(0);
            for _ in 0..50 {
                hair.step(&SpringStep { limits, ..step(2e-3, Vec3::ZERO) });
            }
            let (q, m, _) = hair.invariants(0);
            println!(
                "momentum {:.2e}, lost {:.1e}; angular {:.2e}, lost {:.1e}",
                p.length(),
                (p - q).length(),
                l.length(),
                (l - m).length()
            );
            assert!((p - q).length() < 1e-4 * p.length());
            assert!((l - m).length() < 1e-3 * l.length() || limits.max.is_some());
        }
    }
}

#[test]
fn energy_does_not_grow() {
    for groom in [straight(1, 12, 0.1 * Vec3::X), helix(24, 6.0, [0.01, 0.02])] {
        let mut hair = struck(&groom, &setup(1e8, 1e-3, false), 0.5);
        hair.step(&step(1e-9, Vec3::ZERO));
        let start = hair.invariants(0).2;
        // Symplectic Euler conserves an energy that differs from this one by a term of the step, which
        // swings: means over 0.1 s are compared.
        let means = [0; 5].map(|_| {
            let energies = [0; 50].map(|_| {
                hair.step(&step(2e-3, Vec3::ZERO));
                hair.invariants(0).2 / start
            });
            energies.iter().sum::<f64>() / 50.0
        });
        println!("energy in five parts of 0.5 s, by that at the start: {means:.4?}");
        assert!(means.iter().all(|&mean| mean < 1.01 * means[0]), "{means:?}");
    }
}

#[test]
fn inverted_tetrahedra_recover_with_altitude_springs_only() {
    // Four points that span a tetrahedron, and their mirror image: all six sides are as long.
    let positions =
        vec![Vec3::ZERO, 0.01 * Vec3::X, Vec3::new(0.01, 0.01, 0.0), Vec3::new(0.005, 0.005, 0.006)];
    let groom = Groom { positions, counts: vec![4], radii: Vec::new() };
    let start: Vec<Vec3> = groom.positions.iter().map(|p| Vec3::new(p.x, p.y, -p.z)).collect();
    let volume = |hair: &Hair| {
        let [a, b, c] = [1, 2, 3].map(|k| hair.place(k) - hair.place(0));
        a.dot(b.cross(c)) / 6.0
    };
    let recovers = |has_altitude: bool| {
        let setup = SpringSetup { damping_ratio: 0.05, ..setup(1e7, 1e-3, false) };
        let mut hair = Hair::starting(&groom, &setup, &start);
        assert_eq!(hair.model.batches[0].layout, chain::Layout { first: 0, stride: 1 });
        if !has_altitude {
            hair.model.batches[0].anchors[0].altitude.stiffness = [0.0; BATCH];
        }
        let before = volume(&hair);
        for _ in 0..50 {
            hair.step(&step(2e-3, Vec3::ZERO));
        }
        println!("volume {before:.2e} becomes {:.2e}, altitude springs {has_altitude}", volume(&hair));
        before * volume(&hair) < 0.0
    };
    assert!(recovers(true) && !recovers(false));
}

#[test]
fn extra_particles_are_a_tenth_beside_their_segments_and_tetrahedra_have_volume() {
    let groom = straight(1, 10, Vec3::X);
    let hair = Hair::new(&groom, &setup(1e9, 1e-3, true));
    let batch = &hair.model.batches[0];
    assert_eq!((batch.len(), batch.layout), (21, chain::Layout { first: 0, stride: 2 }));
    let x: Vec<DVec3> = (0..21).map(|p| hair.particle(p, 0)[0]).collect();
    for k in (1..21).step_by(2) {
        assert!((x[k].distance(0.5 * (x[k - 1] + x[k + 1])) - 0.01).abs() < 1e-6);
    }
    for w in x.windows(4) {
        let [a, b, c] = [1, 2, 3].map(|k| (w[k] - w[0]).to_array());
        let height = altitude::shortest(a, b, c).height.abs();
        assert!(height > 0.005, "{height}");
    }
    let mass: f64 = (0..21).map(|p| hair.mass(p, 0)).sum();
    let held = 1000.0 * std::f64::consts::PI * 1e-6 * (1.0 - 0.05 * 0.5 - 0.05 - 0.05 - 0.025);
    assert!((mass / held - 1.0).abs() < 0.03, "{mass} {held}");
}

/// Strands of all sorts, some with few points.
fn mixed() -> Groom {
    let mut all = straight(21, 7, -0.1 * Vec3::Y);
    let mut add = |groom: Groom, at: Vec3| {
        all.positions.extend(groom.positions.iter().map(|&p| p + at));
        all.counts.extend(groom.counts);
    };
    for k in 0..5 {
        add(helix(9 + k, 6.0, [0.01, 0.02]), 0.1 * k as f32 * Vec3::X);
        add(straight(3, 1 + k, -0.1 * Vec3::X), Vec3::ONE);
    }
    all
}

#[test]
fn any_number_of_threads_and_lanes_gives_the_same_bits() {
    let groom = mixed();
    let limits = SegmentLimits { min: None, max: Some(0.01), break_strain: Some(0.05) };
    let walk = |exec: (&Threads, LaneKind)| {
        let mut hair = Hair::new(&groom, &SpringSetup { damping_ratio: 0.1, ..setup(1e8, 1e-3, true) });
        for k in 1..=4 {
            let turn = Quat::from_rotation_z(0.05 * k as f32);
            let roots: Vec<RootTarget> = groom
                .strands()
                .map(|own| RootTarget {
                    points: [0, 1].map(|p| turn * groom.positions[own.start + p]),
                    rotation: turn,
                })
                .collect();
            let step = SpringStep {
                roots: Some(&roots),
                limits,
                max_substeps: 200,
                drag: 1.0,
                ..step(1.0 / 60.0, -G * Vec3::Y)
            };
            let report = hair.step_on(exec, &step, &Sphere { center: [0.0, -0.1, 0.0], radius: 0.03 });
            assert_eq!(report.resets, 0);
        }
        let bits = |values: &[Quad]| values.iter().flatten().map(|f| f.to_bits()).collect::<Vec<_>>();
        (bits(&hair.x), bits(&hair.v), hair.kept.iter().map(|f| f.to_bits()).collect::<Vec<_>>())
    };
    let wanted = walk((&Threads::alone(), LaneKind::PORTABLE));
    for count in [1, 2, 5] {
        let threads = Threads::new(count).unwrap();
        for lanes in LaneKind::available() {
            assert!(walk((&threads, lanes)) == wanted, "{count} threads, {}", lanes.name());
        }
    }
}

/// A ball that pushes out what is inside.
struct Sphere {
    center: [f32; 3],
    radius: f32,
}

impl OutsideForces for Sphere {
    #[inline(always)]
    fn acceleration<L: Lanes>(&self, _: Site, x: V3<L>, v: V3<L>, _: L) -> V3<L> {
        let [a, b, c] = self.center;
        let away = real::sub(x, [L::splat(a), L::splat(b), L::splat(c)]);
        let distance = real::dot(away, away).sqrt().max(L::splat(1e-9));
        let depth = (L::splat(self.radius) - distance).max(L::splat(0.0));
        let normal = real::scale(away, L::splat(1.0) / distance);
        let damping = L::select(L::splat(0.0).lt(depth), L::splat(100.0), L::splat(0.0));
        let push = L::splat(1e5) * depth - damping * real::dot(normal, v);
        real::scale(normal, push)
    }
}

#[test]
fn strands_lie_on_a_sphere() {
    let groom = straight(3, 20, 0.2 * Vec3::X);
    let mut hair = Hair::new(&groom, &SpringSetup { damping_ratio: 0.05, ..setup(1e6, 2e-4, true) });
    let sphere = Sphere { center: [0.08, -0.06, 0.01], radius: 0.04 };
    let center = Vec3::from_array(sphere.center);
    let mut least = f32::MAX;
    for _ in 0..40 {
        let step = SpringStep { drag: 5.0, ..step(1.0 / 60.0, -G * Vec3::Y) };
        assert_eq!(hair.step_on((&Threads::alone(), LaneKind::detect()), &step, &sphere).resets, 0);
        let gaps = (0..hair.x.len()).map(|v| hair.place(v).distance(center) - sphere.radius);
        least = gaps.fold(least, f32::min);
    }
    // They are stopped by it, within what its penalty lets them sink in, and fall past it.
    assert!((-4e-3..0.0).contains(&least), "{least}");
    assert!(hair.place(20).y < -0.05);
}

/// Non-finite for one strand, after a while.
struct Poison(u32);

impl OutsideForces for Poison {
    #[inline(always)]
    fn acceleration<L: Lanes>(&self, site: Site, _: V3<L>, _: V3<L>, _: L) -> V3<L> {
        let mut bad = [0.0; BATCH];
        for lane in 0..BATCH {
            if site.strands[lane] == self.0 && site.time > 5e-3 {
                bad[lane] = f32::NAN;
            }
        }
        [L::load(&bad, site.at); 3]
    }
}

#[test]
fn a_strand_that_is_not_finite_is_reset_alone() {
    let groom = mixed();
    let walk = |poisoned: u32| {
        let mut hair = Hair::new(&groom, &setup(1e7, 1e-3, true));
        let step = step(0.01, -G * Vec3::Y);
        hair.step(&step);
        let before = hair.x.clone();
        let exec = (&Threads::alone(), LaneKind::detect());
        let resets = hair.step_on(exec, &step, &Poison(poisoned)).resets;
        (resets, before, hair)
    };
    let (none, _, fine) = walk(u32::MAX);
    let (one, before, hair) = walk(4);
    assert_eq!((none, one), (0, 1));
    for (strand, own) in groom.strands().enumerate() {
        let wanted = if strand == 4 { &before[own.clone()] } else { &fine.x[own.clone()] };
        assert!(hair.x[own.clone()] == *wanted, "strand {strand}");
    }
    assert!(hair.kept.iter().all(|f| f.is_finite()));
}

/// The largest strain of any segment.
fn strain(hair: &Hair, groom: &Groom) -> f32 {
    let strain = |s: [u32; 2]| {
        let [a, b] = s.map(|v| hair.place(v as usize));
        (a.distance(b) / groom.length(s) as f32 - 1.0).abs()
    };
    groom.segments().map(strain).fold(0.0, f32::max)
}

#[test]
fn real_hair_in_few_substeps_is_softened_reported_and_kept_in_limits() {
    let groom = straight(4, 50, 0.22 * Vec3::X);
    let setup = SpringSetup { material: REAL, damping_ratio: 0.1, is_rooted: true, seed: 5 };
    for limited in [true, false] {
        let limits = SegmentLimits { min: Some(-0.01), max: Some(0.01), break_strain: None };
        let limits = if limited { limits } else { SegmentLimits::default() };
        let mut hair = Hair::new(&groom, &setup);
        let mut worst = 0.0f32;
        for k in 0..60 {
            let at = 0.05 * (0.3 * k as f32).sin() * Vec3::X;
            let roots: Vec<RootTarget> = groom
                .strands()
                .map(|own| RootTarget {
                    points: [0, 1].map(|p| groom.positions[own.start + p] + at),
                    rotation: Quat::IDENTITY,
                })
                .collect();
            let step = SpringStep {
                roots: Some(&roots),
                drag: 1.0,
                max_substeps: 300,
                limits,
                ..step(1.0 / 60.0, -G * Vec3::Y)
            };
            let report = hair.step(&step);
            assert!(report.resets == 0 && report.plan.substeps == 300 && report.plan.stretch < 0.05);
            worst = worst.max(strain(&hair, &groom));
        }
        println!(
            "limits {limited}: strain {worst}, tip at {}, {:?}",
            hair.place(50),
            hair.model.bounds.plan(1.0 / 60.0, 1.0, 300)
        );
        assert!((limited && worst < 0.0101) || (!limited && worst > 0.1));
    }
}

#[test]
fn held_points_end_exactly_where_they_are_sent() {
    let groom = mixed();
    let mut hair = Hair::new(&groom, &setup(1e6, 1e-3, true));
    let turn = Quat::from_rotation_x(0.1);
    let to = |p: usize| turn * groom.positions[p] + Vec3::new(0.01, 0.02, 0.03);
    let roots: Vec<RootTarget> = groom
        .strands()
        .map(|own| RootTarget { points: [to(own.start), to(own.start + 1)], rotation: turn })
        .collect();
    hair.step(&SpringStep { roots: Some(&roots), ..step(0.01, Vec3::ZERO) });
    for (own, root) in groom.strands().zip(&roots) {
        assert_eq!(hair.place(own.start), root.points[0]);
        assert!(own.len() == 2 || hair.place(own.start + 1) == root.points[1]);
    }
    assert!(hair.x.iter().chain(&hair.v).all(|q| q[3] == 7.0));
}

#[test]
fn a_segment_past_the_break_strain_is_cut_and_the_rest_falls() {
    let groom = straight(2, 10, -0.1 * Vec3::Y);
    let mut hair = Hair::new(&groom, &SpringSetup { damping_ratio: 0.1, ..setup(1e6, 1e-3, true) });
    // EA = 3.1 N: the second point of strand 1 is pulled beyond 5 %.
    struct Pull;
    impl OutsideForces for Pull {
        #[inline(always)]
        fn acceleration<L: Lanes>(&self, site: Site, _: V3<L>, _: V3<L>, _: L) -> V3<L> {
            let mut down = [0.0; BATCH];
            for lane in 0..BATCH {
                if site.strands[lane] == 1 && site.point == Some(5) {
                    down[lane] = -1e5;
                }
            }
            [L::splat(0.0), L::load(&down, site.at), L::splat(0.0)]
        }
    }
    let limits = SegmentLimits { min: None, max: None, break_strain: Some(0.05) };
    let step = SpringStep { limits, ..step(2e-3, -G * Vec3::Y) };
    let mut broken = Vec::new();
    for _ in 0..5 {
        let report = hair.step_on((&Threads::alone(), LaneKind::detect()), &step, &Pull);
        broken.extend_from_slice(report.broken);
    }
    println!("{broken:?}");
    assert!(broken[0] == 14 && broken.iter().all(|s| (10..20).contains(s)), "{broken:?}");
    assert!(hair.place(21).y < -0.15 && hair.place(10).y > -0.11);
}

/// Figures of the book's page on the lecture. Run by hand.
#[test]
#[ignore = "measures"]
fn figures_of_the_book() {
    let exec = (&Threads::alone(), LaneKind::detect());
    for (name, groom) in [
        ("straight, 50 segments of 4.4 mm", straight(16, 50, 0.22 * Vec3::X)),
        ("curl, 50 segments of 4 mm, 6 a turn", helix(50, 6.0, [0.004, 0.008])),
        ("curl, 50 segments of 1.6 mm, 20 a turn", helix(50, 20.0, [0.005, 0.005])),
    ] {
        let setup = SpringSetup { material: REAL, damping_ratio: 0.0, is_rooted: true, seed: 5 };
        let model = SpringModel::new(&groom, &setup);
        let planned = 1.0 / f64::from(model.bounds.plan(1.0, 0.0, u32::MAX).substeps);
        let only = |kept: [f64; 2]| {
            let bounds =
                plan::Bounds { squares: [0, 1].map(|k| kept[k] * model.bounds.squares[k]), rates: [0.0; 2] };
            1.0 / f64::from(bounds.plan(1.0, 0.0, u32::MAX).substeps)
        };
        let layout = model.batches[0].layout;
        println!(
            "{name}: {layout:?}, planned step {planned:.2e} s, {:.0} a frame of 1/60 s; \
             stretch alone {:.2e}, shape alone {:.2e}",
            1.0 / 60.0 / planned,
            only([1.0, 0.0]),
            only([0.0, 1.0])
        );
        // The largest stable step: bounds scaled down until strands fly off within 20,000 substeps.
        let stable = |factor: f64, has_altitude: bool| {
            let mut hair = Hair::new(&groom, &setup);
            hair.model.bounds.squares = model.bounds.squares.map(|s| s / (factor * factor));
            if !has_altitude {
                for anchor in hair.model.batches.iter_mut().flat_map(|b| &mut b.anchors) {
                    anchor.altitude.stiffness = [0.0; BATCH];
                }
            }
            let dt = (planned * factor * 1000.0) as f32;
            (0..20).all(|_| {
                let fine = hair.step(&step(dt, -G * Vec3::Y)).resets == 0;
                fine && strain(&hair, &groom) < 0.5
            })
        };
        for has_altitude in [true, false] {
            let factors = (0..20).map(|k| 1.0 + 0.1 * f64::from(k));
            let best = factors.take_while(|&f| stable(f, has_altitude)).last();
            let best = best.map_or(f64::NAN, |f| f * planned);
            println!("  stable up to {best:.2e} s, altitude springs {has_altitude}");
        }
        let mut hair = Hair::new(&groom, &setup);
        let dt = (1000.0 * planned) as f32;
        let clock = std::time::Instant::now();
        let substeps: u32 =
            (0..5).map(|_| hair.step_on(exec, &step(dt, -G * Vec3::Y), &NoForces).plan.substeps).sum();
        let each = clock.elapsed().as_secs_f64() / f64::from(substeps);
        println!("  {:.2} µs a substep of 16 strands on {}", 1e6 * each, exec.1.name());
        for max_substeps in [100, 1000, 10_000] {
            println!("  at most {max_substeps}: {:?}", model.bounds.plan(1.0 / 60.0, 1.0, max_substeps));
        }
    }
}
