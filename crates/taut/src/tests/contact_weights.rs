//! What holds cloth up weighs the same in every stage of the κ ramp.

use glam::{Quat, Vec3};
use taut::{
    Cloth, Contact, Description, Material, Motion, Obstacle, Projection, World,
    boundary::{grip::Grips, obstacle::Shape, obstacle_contacts::ObstacleContacts, seam::Sewn},
    contact::{tangle::Tangle, touching::Finder},
    exec::threads::Threads,
    kernel::lanes::LaneKind,
    limit::Settings,
    mesh::generate,
    solve::nearest::tuning::STAGES,
    term::{Block, Scene, Stage, Step, obstacle::Obstacles, obstacle::Surroundings, pair::Pairs},
};

/// Two sheets on each other, and on a floor.
fn lying() -> World {
    let sheet = |name: &str, height: f32| {
        let mesh = generate::grid([1.0, 1.0], [6, 6], generate::Diagonals::Alternating, 0);
        let mut sheet = Cloth::new(name, mesh, Material::named("denim").unwrap());
        sheet.strain.max = Some(0.05);
        sheet.start.iter_mut().for_each(|p| p.y += height);
        sheet.into()
    };
    let floor = Obstacle {
        name: "floor".into(),
        shape: Shape::Plane,
        position: Vec3::ZERO,
        rotation: Quat::IDENTITY,
        motion: Motion::default(),
        friction: 0.3,
        restitution: 0.0,
        margin: 0.001,
    };
    World::new(Description {
        bodies: vec![sheet("lower", 0.0005), sheet("upper", 0.005)],
        obstacles: vec![floor],
        contact: Contact { thickness: 0.005, ..Contact::default() },
        ..Description::default()
    })
    .unwrap()
}

#[test]
fn contacts_weigh_the_same_in_every_stage_of_the_ramp() {
    let world = lying();
    let (threads, filter, old) = (Threads::new(1).unwrap(), &world.filters()[0], &world.start);
    let settings = Settings {
        threads: &threads,
        lanes: LaneKind::detect(),
        projection: Projection::default(),
        relaxation: 1.0,
    };
    let obstacles = &world.description.obstacles;
    let mut contacts = ObstacleContacts::with_capacity(world.vertex_count, 1);
    contacts.begin(&Threads::alone(), obstacles, [0.0, world.step_time()], old, &mut old.clone(), 0.1);
    let mut finder = Finder::new(world.surface.as_ref().unwrap(), old);
    // They were further apart: what begins near each other may stay so.
    let mut apart = old.clone();
    apart[world.bodies[1].vertices.clone()].iter_mut().for_each(|x| x[1] += 1.0);
    let surface = world.surface.as_ref().unwrap();
    let touching = finder.find(&threads, surface, &Tangle::default(), [&apart, old, old]);
    assert!(!touching.is_empty() && !contacts.candidates().is_empty());
    let scene = Scene {
        springs: Default::default(),
        old,
        x: old,
        touching,
        near_obstacles: contacts.candidates(),
        sewing: &world.sewing,
        sewn: &Sewn::new(&world.sewing),
        grips: &Grips::default(),
        poses: &[],
        mean_mass: world.mean_mass(),
        time: 0.0,
        dt: world.step_time(),
        reach: 0.1,
    };
    let step = Step {
        settings: &settings,
        filter,
        around: Surroundings { obstacles, obstacle_contacts: &contacts, old },
        tolerance: 0.01,
        bend_tolerance: 0.01,
        shallow: 0.001,
        touching: true,
        between_surfaces: true,
        is_loaded: false,
        stiffening: 1.0,
        is_calm: false,
        is_short: true,
    };
    let count = filter.vertices.len();
    let blocks: [std::sync::Arc<dyn Block>; 2] =
        [std::sync::Arc::new(Obstacles { count }), std::sync::Arc::new(Pairs { count })];
    for block in blocks {
        let name = block.name();
        let kept = vec![1e-4; block.kept()];
        let mut weighed = Vec::new();
        for index in 0..STAGES.len() {
            let stage = Stage {
                index,
                c: STAGES[index],
                kappa: filter.stiffness[index],
                over_relaxation: 1.0,
                is_last: false,
            };
            let mut term = block.clone().term();
            term.prepare(&scene, filter);
            term.enter(&step, old, &kept, &stage);
            // What happens between stages, and what is pulled in the next.
            term.rescale(10.0);
            let mut diagonal = vec![0.0; count];
            term.weigh(&step, &stage, &mut diagonal);
            let mut pulled = vec![[0.0; 4]; count];
            term.pull(&step, old, &stage, &mut pulled);
            let mut left = kept.clone();
            term.end(&step, &mut old.clone(), &stage, &mut left);
            assert!(diagonal.iter().any(|d| *d > 0.0), "{name}");
            assert!(pulled.as_flattened().iter().any(|r| *r != 0.0), "{name}");
            weighed.push((diagonal, pulled, left));
        }
        assert!(weighed.iter().all(|stage| *stage == weighed[0]), "{name}");
    }
}
