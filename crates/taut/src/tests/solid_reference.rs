//! The reference of solids is what another solver finds: gradient descent on inertia and energy, with
//! stretches by another decomposition.

use glam::{DMat3, DVec3, Vec3};
use taut::{
    Description, Integrator, Limit, Pin, Solid, SolidMaterial, State, Stepper, World,
    exec::threads::Threads,
    kernel::svd3::{Svd3, svd3_f64},
    mesh::generate,
    solve::nearest::reference::Aim,
    velocity::fem_tetrahedron::lame,
};

/// A bar of 0.4 m, held at x = 0, of 4 × 1 × 1 cells.
fn bar(limit: Option<f32>, poisson: f32) -> Description {
    let mesh = generate::bar(Vec3::new(0.4, 0.1, 0.1), [4, 1, 1]).unwrap();
    let held = (0..mesh.positions.len() as u32).filter(|&v| mesh.positions[v as usize].x <= 0.0).collect();
    let material =
        SolidMaterial { young: 2e5, poisson, damping: 0.0, ..SolidMaterial::named("flesh").unwrap() };
    let mut solid = Solid::new("bar", mesh, material);
    solid.strain = Limit { min: limit.map(|l| -l), max: limit };
    solid.pins = vec![Pin { vertices: held, ..Pin::default() }];
    let mut description = Description { bodies: vec![solid.into()], ..Description::default() };
    description.solver.integrator = Some(Integrator::Bdf2);
    description.solver.tolerance = crate::Tolerance::Past(0.01);
    description
}

/// What is least where a step of BDF2 ends, in the engine's order of vertices.
struct Energy {
    /// Corners, inverse rest shape, rest volume \[m³\].
    tetrahedra: Vec<([usize; 4], DMat3, f64)>,
    /// 0 where held \[kg\].
    masses: Vec<f64>,
    /// λ and μ times the squared step \[kg/m\].
    moduli: [f64; 2],
    /// Stretches beyond are held back by a spring of so many times μ.
    limit: Option<(f64, f64)>,
}

impl Energy {
    fn new(world: &World, limit: Option<(f64, f64)>) -> Self {
        let (body, solid) = (&world.bodies[0], world.description().bodies[0].as_solid().unwrap());
        let mut place = vec![0; body.order().len()];
        body.order().iter().enumerate().for_each(|(k, &v)| place[v as usize] = k);
        let dt = f64::from(world.description().frame_time) / f64::from(world.steps_per_frame());
        let tetrahedra = solid.mesh.tetrahedra.iter().map(|t| {
            let [a, b, c, d] = t.map(|v| solid.mesh.positions[v as usize].as_dvec3());
            let edges = DMat3::from_cols(b - a, c - a, d - a);
            (t.map(|v| place[v as usize]), edges.inverse(), edges.determinant() / 6.0)
        });
        let masses = body
            .order()
            .iter()
            .enumerate()
            .map(|(k, &v)| if world.start[k][3] > 0.0 { body.masses[v as usize] } else { 0.0 });
        let lame = lame(f64::from(solid.material.young), f64::from(solid.material.poisson));
        Self {
            tetrahedra: tetrahedra.collect(),
            masses: masses.collect(),
            moduli: lame.map(|modulus| 4.0 / 9.0 * dt * dt * modulus),
            limit,
        }
    }

    /// Its gradient at `x`, for inertia that would go to `goal`.
    fn gradient(&self, x: &[DVec3], goal: &[DVec3]) -> Vec<DVec3> {
        let mut g: Vec<DVec3> = (0..x.len()).map(|i| self.masses[i] * (x[i] - goal[i])).collect();
        for (corners, inverse, volume) in &self.tetrahedra {
            let [a, b, c, d] = corners.map(|v| x[v]);
            let Svd3 { u, s, v } = svd3_f64(DMat3::from_cols(b - a, c - a, d - a) * *inverse);
            let [lambda, mu] = self.moduli;
            let trace = s.element_sum() - 3.0;
            let mut stress = 2.0 * mu * (s - 1.0) + lambda * trace;
            if let Some((limit, spring)) = self.limit {
                stress +=
                    spring * mu * ((s - 1.0 - limit).max(DVec3::ZERO) + (s - 1.0 + limit).min(DVec3::ZERO));
            }
            let pull = u * DMat3::from_diagonal(stress) * v.transpose() * inverse.transpose() * *volume;
            for (k, &v) in corners[1..].iter().enumerate() {
                g[v] += pull.col(k);
                g[corners[0]] -= pull.col(k);
            }
        }
        (0..x.len()).for_each(|i| {
            if self.masses[i] <= 0.0 {
                g[i] = DVec3::ZERO
            }
        });
        g
    }

    /// The least of it from `x`, by steps of Barzilai and Borwein.
    fn least(&self, mut x: Vec<DVec3>, goal: &[DVec3]) -> Vec<DVec3> {
        let dot = |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum::<f64>();
        let mut g = self.gradient(&x, goal);
        let first = dot(&g, &g);
        let mut step = 0.01 / self.masses.iter().copied().fold(0.0, f64::max);
        for _ in 0..60_000 {
            let moves: Vec<DVec3> = g.iter().map(|g| -step * *g).collect();
            x.iter_mut().zip(&moves).for_each(|(x, m)| *x += *m);
            let next = self.gradient(&x, goal);
            let change: Vec<DVec3> = next.iter().zip(&g).map(|(a, b)| *a - *b).collect();
            step = (dot(&moves, &moves) / dot(&moves, &change)).abs();
            g = next;
            if dot(&g, &g) < 1e-18 * first {
                break;
            }
        }
        assert!(dot(&g, &g) < 1e-12 * first, "descent did not converge: {}", dot(&g, &g) / first);
        x
    }
}

/// How far the reference is from what descent finds, over how far the prediction is, after some frames; and
/// how far the engine's own step was.
fn disagreement(limit: Option<f32>, poisson: f32, spring: f64) -> [f64; 2] {
    let world = World::new(bar(limit, poisson)).unwrap();
    let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 1).unwrap());
    for _ in 0..7 {
        stepper.advance_frame(&world, &mut state);
    }
    let own = stepper.mass_metric_error(&world, &state).unwrap();
    // From a state in motion, a goal some way off.
    let (_, predicted) = stepper.attempt(&world, &state, 0);
    let filter = &world.filters()[0];
    let goal: Vec<[f64; 3]> =
        predicted.x[filter.vertices.clone()].iter().map(|q| [q[0], q[1], q[2]].map(f64::from)).collect();
    let nearest = filter.nearest(&Threads::new(1).unwrap(), Aim::at(&goal));
    let vectors: Vec<DVec3> = goal.iter().map(|x| DVec3::from_array(*x)).collect();
    let energy = Energy::new(&world, limit.map(|l| (f64::from(l), spring)));
    let start = state.x.iter().map(|q| DVec3::new(q[0].into(), q[1].into(), q[2].into()));
    // Held vertices are where the step takes them.
    let start =
        start.zip(&vectors).zip(&energy.masses).map(|((x, goal), m)| if *m > 0.0 { x } else { *goal });
    let found = energy.least(start.collect(), &vectors);
    let (mut off, mut all) = (0.0, 0.0);
    for i in 0..goal.len() {
        off += energy.masses[i] * found[i].distance_squared(DVec3::from_array(nearest.x[i]));
        all += energy.masses[i] * found[i].distance_squared(vectors[i]);
    }
    println!(
        "limit {limit:?}, Poisson {poisson}: {:.2e}, {} iterations, residual {:.1e}, imbalance {:.1e}, gap {:.1e}; own {own:.4}",
        (off / all).sqrt(),
        nearest.iterations,
        nearest.residual,
        nearest.imbalance,
        nearest.gap
    );
    assert!(nearest.is_settled());
    [(off / all).sqrt(), own]
}

#[test]
fn the_reference_is_what_descent_finds() {
    for poisson in [0.0, 0.3, 0.45] {
        let [off, own] = disagreement(None, poisson, 0.0);
        assert!(off < 2e-3, "Poisson {poisson}: {off}");
        assert!(own < 0.1, "Poisson {poisson}: the step itself is off by {own}");
    }
}

#[test]
fn the_reference_with_limits_is_what_descent_finds_with_stiff_springs_in_their_place() {
    let [soft, stiff] = [1e2, 1e4].map(|spring| disagreement(Some(0.01), 0.3, spring)[0]);
    assert!(stiff < 0.02 && stiff < 0.5 * soft, "{soft}, {stiff}");
}
