//! Materials and stiffness that change while a simulation runs.

use std::sync::Arc;

use glam::Vec3;

use super::*;
use crate::{
    Contact, Integrator, Pin, Scheme,
    body::{BodyTables, Rest},
    mesh::generate::{self, Diagonals, bar},
    world::HierarchyCache,
};

/// What runs while its material changes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Limited,
    Free,
    Touching,
    Curved,
    Euler,
    Sweeps,
    Cycles,
    Beside,
}

const KINDS: [Kind; 8] = [
    Kind::Limited,
    Kind::Free,
    Kind::Touching,
    Kind::Curved,
    Kind::Euler,
    Kind::Sweeps,
    Kind::Cycles,
    Kind::Beside,
];

fn sheet(name: &str) -> Cloth {
    let mesh = generate::grid([0.5, 0.5], [12, 12], Diagonals::Alternating, 0);
    Cloth::new(name, mesh, Material::named("cotton").unwrap()).pin([0, 12])
}

/// Two cloths of the same mesh and material; the second will change.
fn simulation(kind: Kind) -> Simulation {
    let mut cloths = [sheet("first"), sheet("second")];
    cloths[1].start.iter_mut().for_each(|p| p.y += 0.01);
    if kind != Kind::Free {
        cloths.iter_mut().for_each(|cloth| cloth.strain.max = Some(0.1));
    }
    if kind == Kind::Curved {
        cloths[1].mesh.positions.iter_mut().for_each(|p| p.y = 0.2 * p.x * p.x);
    }
    let mut bodies: Vec<Body> = cloths.into_iter().map(Body::from).collect();
    if kind == Kind::Beside {
        let solid = SolidMaterial { young: 2e3, ..SolidMaterial::named("rubber").unwrap() };
        let mut solid = Solid::new("bar", bar(Vec3::new(0.4, 0.1, 0.1), [8, 2, 2]).unwrap(), solid);
        let held = |v: &u32| solid.mesh.positions[*v as usize].x < 0.01;
        let vertices = (0..solid.mesh.positions.len() as u32).filter(held).collect();
        solid.pins = vec![Pin { vertices, ..Pin::default() }];
        bodies.push(solid.into());
    }
    let mut description = Description { bodies, ..Description::default() };
    match kind {
        Kind::Touching => description.contact = Contact { thickness: 0.004, ..Contact::default() },
        Kind::Euler => description.solver.integrator = Some(Integrator::Euler),
        Kind::Sweeps => description.solver.scheme = Scheme::Sweep,
        Kind::Cycles => description.solver.scheme = Scheme::Cycle,
        _ => {}
    }
    Simulation::from_description(description, 1).unwrap()
}

fn second(simulation: &Simulation) -> BodyHandle {
    simulation.bodies().nth(1).unwrap()
}

type Change = fn(&mut Simulation);

/// Changes of every number of a material.
const CHANGES: [(&str, Change); 6] = [
    ("stiffness", |s| s.set_stiffness(second(s), 3.0).unwrap()),
    ("all stiffness", |s| s.stiffen_all(0.2).unwrap()),
    ("another by direction", |s| s.set_material(second(s), Material::named("denim").unwrap()).unwrap()),
    ("the same in all directions", |s| {
        s.set_material(second(s), Material::named("paper").unwrap()).unwrap();
    }),
    ("density and damping", |s| {
        let cotton = Material::named("cotton").unwrap();
        let material = Material { density: 2.0 * cotton.density, damping: 2.0, bend_damping: 0.2, ..cotton };
        s.set_material(second(s), material).unwrap();
    }),
    ("all of them", |s| {
        let bodies: Vec<_> =
            s.bodies().take(2).map(|body| (body, Material::named("silk").unwrap())).collect();
        s.set_materials(bodies).unwrap();
    }),
];

fn bits(simulation: &Simulation) -> (&[crate::kernel::lanes::Quad], &[f32]) {
    (&simulation.state.x, &simulation.state.duals)
}

#[test]
fn what_has_changed_is_bit_for_bit_what_is_built_with_it() {
    for (kind, (name, change)) in KINDS.into_iter().flat_map(|kind| CHANGES.map(|change| (kind, change))) {
        let [mut same, mut changed, mut built] = [(); 3].map(|()| simulation(kind));
        for simulation in [&mut same, &mut changed, &mut built] {
            (0..3).for_each(|_| _ = simulation.step_frame());
        }
        change(&mut changed);
        // Nothing that was made before is known to this one.
        built.cache = HierarchyCache::default();
        built.rebuild(changed.description().clone(), &Origins::all(&built.world)).unwrap();
        if changed.world.schedule().is_implicit() {
            assert_eq!(same.state.history.is_known, changed.state.history.is_known, "{kind:?}, {name}");
        }
        for frame in 0..3 {
            for simulation in [&mut same, &mut changed, &mut built] {
                simulation.step_frame();
            }
            assert!(bits(&changed) == bits(&built), "{kind:?}, {name}: frame {frame}");
            assert_eq!(changed.certificate(), built.certificate(), "{kind:?}, {name}: frame {frame}");
        }
        assert_ne!(changed.state.x, same.state.x, "{kind:?}, {name} changes nothing");
        // From the start, it is a simulation of that description.
        let mut new = Simulation::from_description(changed.description().clone(), 1).unwrap();
        changed.reset();
        for simulation in [&mut new, &mut changed] {
            (0..2).for_each(|_| _ = simulation.step_frame());
        }
        assert!(bits(&changed) == bits(&new), "{kind:?}, {name}: from the start");
    }
}

/// A sheet of soft cloth without limits after it has come to rest.
fn hanging() -> Simulation {
    let mut cloth = sheet("sheet");
    let soft = Material::named("cotton").unwrap();
    cloth.material = Material { stretch: soft.stretch.scaled(0.01), damping: 8.0, ..soft };
    let description = Description { bodies: vec![cloth.into()], ..Description::default() };
    let mut simulation = Simulation::from_description(description, 1).unwrap();
    (0..150).for_each(|_| _ = simulation.step_frame());
    simulation
}

/// Height of the lowest vertex \[m\].
fn lowest(simulation: &Simulation) -> f32 {
    let count = simulation.world.vertex_count();
    simulation.state.x[..count].iter().map(|q| q[1]).fold(f32::INFINITY, f32::min)
}

#[test]
fn a_small_change_moves_little_and_a_large_one_hangs_higher() {
    let [mut same, mut little, mut much] = [(); 3].map(|()| hanging());
    let body = little.bodies().next().unwrap();
    let before = little.state.x.clone();
    little.set_stiffness(body, 1.01).unwrap();
    assert!(little.state.x == before && little.state.history.is_known, "changing is not moving");
    for simulation in [&mut same, &mut little] {
        simulation.step_frame();
    }
    let moved = |(a, b): (&[f32; 4], &[f32; 4])| (0..3).map(|c| (a[c] - b[c]).powi(2)).sum::<f32>().sqrt();
    let largest = same.state.x.iter().zip(&little.state.x).map(moved).fold(0.0, f32::max);
    assert!(largest > 0.0 && largest < 1e-3, "a hundredth of the stiffness moves it by {largest} m");
    let body = much.bodies().next().unwrap();
    for factor in [2.0, 5.0, 10.0] {
        much.set_stiffness(body, factor).unwrap();
        (0..20).for_each(|_| _ = much.step_frame());
    }
    (0..90).for_each(|_| _ = much.step_frame());
    let sags = [&same, &much].map(lowest);
    assert!(sags[1] > sags[0] + 0.01, "ten times as stiff: {sags:?}");
    let steps = much.world.schedule();
    assert_eq!((steps.steps_per_frame, much.description().solver.max_substeps), (1, 0));
}

#[test]
fn a_factor_on_stiffness_takes_the_curvatures_that_were_fitted() {
    let mut simulation = simulation(Kind::Limited);
    let curvatures = |s: &Simulation| -> Vec<_> {
        let fitted = |body: &BodyTables| match &body.rest {
            Rest::Cloth(rest) => Some(Arc::as_ptr(&rest.curvatures)),
            Rest::Solid(_) | Rest::Particles(_) | Rest::Hair(_) => None,
        };
        s.world.bodies.iter().map(fitted).collect()
    };
    let before = curvatures(&simulation);
    assert!(before[0].is_some() && before[0] == before[1], "one mesh, one material");
    simulation.stiffen_all(2.5).unwrap();
    assert_eq!(curvatures(&simulation), before);
    simulation.set_material(second(&simulation), Material::named("denim").unwrap()).unwrap();
    let after = curvatures(&simulation);
    assert!(after[0] == before[0] && after[1] != before[1]);
}

#[test]
fn what_cannot_be_simulated_changes_nothing_and_is_named_with_its_bound() {
    let mut simulation = simulation(Kind::Limited);
    let material = |s: &Simulation| s.description().bodies[1].as_cloth().unwrap().material.clone();
    let before = material(&simulation);
    let body = second(&simulation);
    let cotton = || Material::named("cotton").unwrap();
    let refused = simulation.set_material(body, Material { density: 0.0, ..cotton() }).unwrap_err();
    assert!(refused.to_string().contains("density must be positive"), "{refused}");
    let refused = simulation.set_material(body, Material { poisson: 50.0, ..cotton() }).unwrap_err();
    assert!(refused.to_string().contains("Poisson's ratio must lie between"), "{refused}");
    let refused = simulation.set_stiffness(body, -1.0).unwrap_err();
    assert!(refused.to_string().contains("between 0 and 1e6"), "{refused}");
    assert_eq!(material(&simulation), before);
    assert_eq!(simulation.stiffness(body).unwrap(), 1.0);
}
