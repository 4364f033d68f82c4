//! Simulations that are changed while they run (T5): points that are dragged, pins, limits, stiffness,
//! limiters.

use glam::Vec3;
use taut::{
    BodyHandle, Budget, Certificate, Cloth, Description, Grip, Limit, Limiter, Material, Pin, Scheme,
    Simulation, Solid, SolidMaterial,
    mesh::{generate, tetrahedra::TetrahedronMesh},
};

const LIMIT: f64 = 0.05;
const TOLERANCE: f64 = 0.01;

/// The built-in hanging sheet: 1 m, `cells` × `cells`, upper limit 5 %, held at two corners of one edge.
fn sheet(cells: u32) -> Description {
    let mesh = generate::grid([1.0, 1.0], [cells, cells], generate::Diagonals::Alternating, 0);
    let mut cloth = Cloth::new("sheet", mesh, Material::named("polyester").unwrap());
    cloth.strain = Limit { min: None, max: Some(LIMIT as f32) };
    let corners = ["top-left", "top-right"].map(|name| corner(&cloth, name));
    cloth.pins = vec![Pin { vertices: corners.to_vec(), ..Pin::default() }];
    Description { bodies: vec![cloth.into()], ..Description::default() }
}

fn corner(cloth: &Cloth, name: &str) -> u32 {
    cloth.mesh.groups[&format!("corner:{name}")][0]
}

fn measured(live: &Simulation) -> Certificate {
    live.certificate()
}

/// How far the worst triangle is stretched past its rest length.
fn stretch(live: &Simulation) -> f64 {
    measured(live).bodies[0].strain.max_stretch - 1.0
}

/// Its only body.
fn first(live: &Simulation) -> BodyHandle {
    live.bodies().next().unwrap()
}

/// Goes on for some frames.
fn frames(live: &mut Simulation, count: u32) {
    for _ in 0..count {
        live.step_frame();
    }
}

/// A pointer that runs through places at a given speed.
struct Path {
    at: Vec3,
    next: usize,
}

impl Path {
    fn advance(&mut self, places: &[Vec3], way: f32) -> Vec3 {
        let mut left = way;
        loop {
            let goal = places[self.next % places.len()];
            let distance = self.at.distance(goal);
            if distance > left {
                self.at += (goal - self.at) * (left / distance);
                return self.at;
            }
            (self.at, self.next, left) = (goal, self.next + 1, left - distance);
        }
    }
}

/// Places within and far beyond reach, in front of and behind the sheet.
const PLACES: [Vec3; 8] = [
    Vec3::new(0.5, -0.5, 0.8),
    Vec3::new(1.5, 0.4, 0.6),
    Vec3::new(3.0, 1.0, 2.0),
    Vec3::new(0.2, -0.9, 0.0),
    Vec3::new(-1.0, 0.3, 0.4),
    Vec3::new(0.5, 0.9, 0.5),
    Vec3::new(0.5, -2.5, 0.2),
    Vec3::new(0.9, -0.9, 0.1),
];

/// Whether a corner of the sheet can be there while the other two are held: beside one of them, across from
/// the other.
fn within_reach(place: Vec3) -> bool {
    place.distance(Vec3::ZERO) < 1.35 && place.distance(Vec3::X) < 0.97
}

/// Drags a corner for `frames` frames at 2 m/s. Gives how many were past limit and tolerance, the largest
/// stretch, and the mean distance from the pointer while that was within reach, once it has been so for three
/// frames.
fn drag(live: &mut Simulation, grip: Grip, frames: u32) -> (u32, f64, f64) {
    drag_within(live, grip, frames, Budget::unlimited())
}

/// The same with so much time for each frame.
fn drag_within(live: &mut Simulation, grip: Grip, frames: u32, budget: Budget) -> (u32, f64, f64) {
    let corner = corner(live.description().bodies[0].as_cloth().unwrap(), "bottom-right");
    let id = live.grip(first(live), [corner; 3], [1.0, 0.0, 0.0], grip).unwrap();
    let mut path = Path { at: live.grip_point(id).unwrap(), next: 0 };
    let (mut past, mut largest) = (0, 0.0f64);
    let (mut distance, mut near, mut since) = (0.0, 0u32, 0);
    for _ in 0..frames {
        let pointer = path.advance(&PLACES, 2.0 / 30.0);
        live.move_grip(id, pointer).unwrap();
        live.step(1.0 / 30.0, budget).unwrap();
        let stretch = stretch(live);
        past += u32::from(stretch > LIMIT + TOLERANCE + 1e-6);
        largest = largest.max(stretch);
        since = if within_reach(pointer) { since + 1 } else { 0 };
        if since > 3 {
            distance += f64::from(live.grip_point(id).unwrap().distance(pointer));
            near += 1;
        }
    }
    live.release(id).unwrap();
    assert!(near > frames / 8, "the path is within reach for {near} of {frames} frames");
    (past, largest, distance / f64::from(near))
}

#[test]
fn a_corner_dragged_hard_for_ten_seconds_stays_within_the_limits_and_follows() {
    let mut live = Simulation::from_description(sheet(40), 2).unwrap();
    let (past, largest, distance) = drag(&mut live, Grip::Hard, 300);
    assert!(past <= 15, "{past} of 300 frames are past limit and tolerance");
    assert!(largest <= LIMIT + 0.05, "stretched by {largest}");
    assert!(distance < 0.01, "{distance} m from the pointer on average");
}

#[test]
fn with_contact_limits_hold_too_however_little_time_there_is() {
    for budget in [Budget::unlimited(), Budget::millis(16.0), Budget::millis(0.0)] {
        let mut description = sheet(40);
        description.contact.thickness = 0.006;
        let mut live = Simulation::from_description(description, 2).unwrap();
        let (past, largest, distance) = drag_within(&mut live, Grip::Hard, 300, budget);
        assert!(past <= 15, "{budget:?}: {past} of 300 frames are past limit and tolerance");
        assert!(largest <= LIMIT + 0.05, "{budget:?}: stretched by {largest}");
        assert!(distance < 0.01, "{budget:?}: {distance} m from the pointer on average");
    }
}

/// A pointer that draws a tilted eight through `start` at about 2 m/s, as a hand would, `seed` by seed.
fn eight(start: Vec3, seed: u32, frame: u32) -> Vec3 {
    let tilt = 0.7 * seed as f32;
    let forward = Vec3::new(tilt.sin(), 0.4 * (1.7 * tilt).sin(), tilt.cos()).normalize();
    let right = Vec3::Y.cross(forward).normalize();
    let up = forward.cross(right);
    let a = (3.0 + 0.3 * (seed % 5) as f32) * (frame + 1) as f32 / 30.0;
    start + right * (0.5 * a.sin()) + up * (0.1 * (1.0 - a.cos()) - 0.2 * (2.0 * a).sin())
}

/// However early steps are cut: contact then stops some vertices of a triangle whose others go on.
#[test]
fn a_step_that_runs_out_of_time_ends_near_its_limits() {
    let (mut cut, mut largest) = (0, 0.0f64);
    for seed in 0..4 {
        let mut description = sheet(24);
        description.contact.thickness = 0.01;
        let mut live = Simulation::from_description(description, 1).unwrap();
        frames(&mut live, 45);
        let corner = corner(live.description().bodies[0].as_cloth().unwrap(), "bottom-right");
        let id = live.grip(first(&live), [corner; 3], [1.0, 0.0, 0.0], Grip::Hard).unwrap();
        let start = live.grip_point(id).unwrap();
        for frame in 0..150 {
            live.move_grip(id, eight(start, seed, frame)).unwrap();
            // No time at all, so that nothing depends on the machine.
            let report = live.step(1.0 / 30.0, Budget::millis(0.0).with_min_iterations(24)).unwrap();
            cut += u32::from(!report.converged);
            largest = largest.max(stretch(&live));
        }
    }
    assert!(cut > 50, "{cut} steps were cut short");
    assert!(largest <= LIMIT + 0.04, "stretched by {largest}");
}

/// Limits that are far from being met at the start are not a reason to stay there.
#[test]
fn cloth_that_starts_stretched_comes_back_without_any_time() {
    let mut description = sheet(16);
    description.contact.thickness = 0.015;
    let cloth = description.bodies[0].as_cloth_mut().unwrap();
    cloth.start = cloth.mesh.positions.iter().map(|p| Vec3::new(p.x, p.y, 1.6 * p.z)).collect();
    let mut live = Simulation::from_description(description, 1).unwrap();
    for _ in 0..30 {
        live.step(1.0 / 30.0, Budget::millis(0.0)).unwrap();
    }
    assert!(stretch(&live) <= LIMIT + TOLERANCE + 1e-6, "still stretched by {}", stretch(&live));
}

#[test]
fn it_springs_back_when_it_is_let_go() {
    let mut live = Simulation::from_description(sheet(24), 2).unwrap();
    frames(&mut live, 40);
    let rest = measured(&live).bodies[0].center_of_mass;
    let corner = corner(live.description().bodies[0].as_cloth().unwrap(), "bottom-right");
    let id = live.grip(first(&live), [corner; 3], [1.0, 0.0, 0.0], Grip::Hard).unwrap();
    for _ in 0..20 {
        live.move_grip(id, Vec3::new(1.0, 0.5, 2.5)).unwrap();
        live.step_frame();
    }
    // Taut on the way to a pointer out of reach.
    let point = live.grip_point(id).unwrap();
    assert!(point.y > 0.1 && point.distance(Vec3::X) > 0.98, "{point}");
    live.release(id).unwrap();
    assert!(live.grip_point(id).is_err() && live.move_grip(id, Vec3::ZERO).is_err());
    frames(&mut live, 90);
    let end = measured(&live).bodies[0].center_of_mass;
    let apart = (0..3).map(|k| (rest[k] - end[k]).powi(2)).sum::<f64>().sqrt();
    assert!(apart < 0.1, "it hangs {apart} m from where it hung");
}

#[test]
fn soft_grips_lag_behind_hard_ones_and_limits_hold() {
    let mut distances = Vec::new();
    for grip in [Grip::Hard, Grip::Soft { stiffness: 20.0 }, Grip::Soft { stiffness: 1.0 }] {
        let mut live = Simulation::from_description(sheet(20), 2).unwrap();
        let (past, largest, distance) = drag(&mut live, grip, 150);
        assert!(past <= 7, "{grip:?}: {past} of 150 frames are past limit and tolerance");
        assert!(largest <= LIMIT + 0.05, "{grip:?}: stretched by {largest}");
        distances.push(distance);
    }
    assert!(distances[0] < distances[1] && distances[1] < distances[2], "{distances:?}");
}

#[test]
fn every_scheme_lets_itself_be_dragged() {
    for scheme in [Scheme::Sweep, Scheme::Serial, Scheme::Jacobi, Scheme::Cycle, Scheme::Paper] {
        let mut description = sheet(10);
        (description.solver.scheme, description.solver.iterations) = (scheme, 300);
        let mut live = Simulation::from_description(description, 1).unwrap();
        let (_, largest, distance) = drag(&mut live, Grip::Hard, 60);
        assert!(largest < 0.5 && distance < 0.2, "{scheme:?}: stretched by {largest}, {distance} m behind");
    }
}

#[test]
fn a_point_inside_a_triangle_follows_too() {
    let mut live = Simulation::from_description(sheet(20), 2).unwrap();
    frames(&mut live, 20);
    let corners = live.description().bodies[0].as_cloth().unwrap().mesh.triangles[333];
    let id = live.grip(first(&live), corners, [0.5, 0.25, 0.25], Grip::Hard).unwrap();
    let start = live.grip_point(id).unwrap();
    for k in 1..=10 {
        let pointer = start + Vec3::new(0.0, 0.02, 0.01) * k as f32;
        live.move_grip(id, pointer).unwrap();
        live.step_frame();
        assert!(live.grip_point(id).unwrap().distance(pointer) < 0.005, "frame {k}");
        assert!(stretch(&live) <= LIMIT + TOLERANCE + 1e-6);
    }
}

#[test]
fn pins_are_switched_on_and_off() {
    for scheme in [Scheme::Nearest, Scheme::Cycle] {
        let mut description = sheet(16);
        description.solver.scheme = scheme;
        let mut live = Simulation::from_description(description, 2).unwrap();
        frames(&mut live, 15);
        let (left, right) = {
            let cloth = live.description().bodies[0].as_cloth().unwrap();
            (corner(cloth, "top-left"), corner(cloth, "bottom-right"))
        };
        live.pin(first(&live), right).unwrap();
        live.unpin(first(&live), left).unwrap();
        let mut held: Vec<_> = live.pins().collect();
        held.sort_unstable();
        let top_right = corner(live.description().bodies[0].as_cloth().unwrap(), "top-right");
        let mut wanted = vec![(first(&live), right), (first(&live), top_right)];
        wanted.sort_unstable();
        assert_eq!(held, wanted);
        let before = live.positions(first(&live)).unwrap().to_vec();
        for _ in 0..20 {
            live.step_frame();
            assert!(stretch(&live) <= LIMIT + TOLERANCE + 1e-6, "{scheme:?}");
        }
        let after = live.positions(first(&live)).unwrap().to_vec();
        assert_eq!(before[right as usize], after[right as usize], "{scheme:?}: what is pinned stays");
        assert!(
            before[left as usize].distance(after[left as usize]) > 0.2,
            "{scheme:?}: what is let go falls"
        );
        live.unpin(first(&live), right).unwrap();
        frames(&mut live, 10);
        let last = live.positions(first(&live)).unwrap().to_vec();
        assert!(last[right as usize].distance(after[right as usize]) > 0.05, "{scheme:?}");
        live.reset();
        assert_eq!(live.pins().collect::<Vec<_>>().len(), 2);
    }
}

#[test]
fn limits_that_are_changed_hold_after_a_few_frames() {
    let mut description = sheet(24);
    description.bodies[0].as_cloth_mut().unwrap().strain.max = Some(0.2);
    let mut live = Simulation::from_description(description, 2).unwrap();
    frames(&mut live, 40);
    assert!(stretch(&live) > 0.06, "loose: {}", stretch(&live));
    for max in [0.01f32, 0.1, 0.02] {
        live.set_stretch_limit(first(&live), Limit { min: None, max: Some(max) }).unwrap();
        frames(&mut live, 3);
        for _ in 0..5 {
            live.step_frame();
            assert!(stretch(&live) <= f64::from(max) + TOLERANCE + 1e-6, "{max}: {}", stretch(&live));
        }
    }
    // Both sides, and bends.
    live.set_stretch_limit(first(&live), Limit { min: Some(-0.05), max: Some(0.05) }).unwrap();
    live.set_bend_limit(first(&live), Limit { min: Some(-30.0), max: Some(30.0) }).unwrap();
    frames(&mut live, 5);
    let body = &measured(&live).bodies[0];
    assert!(body.strain.max_residual <= TOLERANCE + 1e-6, "{}", body.strain.max_residual);
    assert!(body.bend.max_bend_excess <= 2.0 + 1e-3, "{} degrees", body.bend.max_bend_excess);
}

#[test]
fn limiters_stiffness_and_surroundings_are_changed_while_it_runs() {
    let mut live = Simulation::from_description(sheet(16), 2).unwrap();
    frames(&mut live, 30);
    let frame = live.frame();
    assert_eq!(live.limiter(first(&live)).unwrap(), Limiter::Isotropic);
    live.set_limiter(first(&live), Limiter::Off).unwrap();
    live.set_stiffness(first(&live), 0.05).unwrap();
    frames(&mut live, 30);
    let sagging = stretch(&live);
    assert!(sagging > 2.0 * LIMIT, "nothing holds it: {sagging}");
    live.set_stiffness(first(&live), 1.0).unwrap();
    frames(&mut live, 60);
    assert!(stretch(&live) < 0.6 * sagging, "stiffer: {} after {sagging}", stretch(&live));
    live.set_limiter(first(&live), Limiter::Edge).unwrap();
    frames(&mut live, 10);
    let edges = measured(&live).bodies[0].strain.max_edge_strain;
    assert!(edges <= LIMIT + TOLERANCE + 1e-6, "edges are limited: {edges}");
    live.set_limiter(first(&live), Limiter::Isotropic).unwrap();
    frames(&mut live, 5);
    assert!(stretch(&live) <= LIMIT + TOLERANCE + 1e-6);
    assert_eq!(live.frame(), frame + 105, "time goes on");

    let center = |live: &Simulation| measured(live).bodies[0].center_of_mass;
    frames(&mut live, 30);
    let hanging = center(&live);
    live.set_gravity(Vec3::new(0.0, 9.81, 0.0)).unwrap();
    frames(&mut live, 60);
    assert!(center(&live)[1] > hanging[1] + 0.3, "it falls up");
    live.set_gravity(Vec3::new(0.0, -9.81, 0.0)).unwrap();
    live.set_wind(Vec3::new(0.0, 0.0, 8.0)).unwrap();
    frames(&mut live, 60);
    assert!(center(&live)[2] > hanging[2] + 0.1, "it is blown away");
    // No time at all: it goes on until limits hold, for 64 iterations at most.
    let hurried = live.step(1.0 / 30.0, Budget::millis(0.0)).unwrap();
    assert!(hurried.iterations <= 64, "{} iterations", hurried.iterations);
    assert!(hurried.iterations == 64 || stretch(&live) <= LIMIT + TOLERANCE + 1e-6);
    let time = live.time();
    live.step(1.0 / 60.0, Budget::unlimited()).unwrap();
    let later = live.time();
    assert!((later - time - 1.0 / 60.0).abs() < 1e-4);
}

#[test]
fn what_cannot_be_is_refused_and_changes_nothing() {
    let mut live = Simulation::from_description(sheet(8), 1).unwrap();
    live.step_frame();
    let before = live.positions(first(&live)).unwrap().to_vec();
    let limit = |min, max| Limit { min, max };
    assert!(live.set_stretch_limit(first(&live), limit(Some(0.5), None)).is_err());
    assert!(live.set_bend_limit(first(&live), limit(None, Some(-1.0))).is_err());
    assert!(live.set_stiffness(first(&live), f32::NAN).is_err());
    assert!(live.set_stiffness(first(&live), -1.0).is_err());
    assert!(live.set_gravity(Vec3::NAN).is_err());
    assert!(live.set_wind(Vec3::splat(f32::INFINITY)).is_err());
    assert!(live.step(0.0, Budget::unlimited()).is_err());
    assert!(live.grip(first(&live), [0, 1, 9999], [1.0; 3], Grip::Hard).is_err());
    assert!(live.grip(first(&live), [0, 1, 2], [0.0; 3], Grip::Hard).is_err());
    assert!(live.grip(first(&live), [0, 1, 2], [f32::NAN; 3], Grip::Hard).is_err());
    assert!(live.grip(first(&live), [0, 1, 2], [1.0; 3], Grip::Soft { stiffness: -1.0 }).is_err());
    assert!(live.pin(first(&live), 81).is_err() && live.unpin(first(&live), 81).is_err());
    assert_eq!(live.positions(first(&live)).unwrap().to_vec(), before);
    assert_eq!(
        (live.limiter(first(&live)).unwrap(), live.stiffness(first(&live)).unwrap()),
        (Limiter::Isotropic, 1.0)
    );
    // A pointer from nowhere.
    let id = live.grip(first(&live), [70; 3], [1.0, 0.0, 0.0], Grip::Hard).unwrap();
    for target in [Vec3::NAN, Vec3::splat(1e30), Vec3::splat(1e6)] {
        assert_eq!(live.move_grip(id, target).is_ok(), target == Vec3::splat(1e6));
        live.step_frame();
        assert!(live.positions(first(&live)).unwrap().to_vec().iter().all(|p| p.is_finite()));
        assert!(stretch(&live) <= LIMIT + 0.05, "{target}: {}", stretch(&live));
    }
}

#[test]
fn what_is_never_used_changes_no_bit() {
    let mut live = Simulation::from_description(sheet(12), 2).unwrap();
    let world = taut::World::new(sheet(12)).unwrap();
    let (mut state, mut stepper) = (taut::State::new(&world), taut::Stepper::new(&world, 2).unwrap());
    for frame in 0..20 {
        if frame == 10 {
            // Built again with nothing changed.
            live.set_stiffness(first(&live), 1.0).unwrap();
        }
        live.step_frame();
        stepper.advance_frame(&world, &mut state);
        assert_eq!(
            live.positions(first(&live)).unwrap().to_vec(),
            state.positions(&world, 0),
            "frame {frame}"
        );
    }
}

#[test]
fn levels_can_be_shown() {
    let mut live = Simulation::from_description(sheet(40), 2).unwrap();
    frames(&mut live, 5);
    let meshes = live.level_meshes(first(&live)).unwrap();
    assert!(meshes.len() >= 2 && meshes[0].positions.len() > meshes[1].positions.len());
    let fine = live.level_positions(first(&live), 0).unwrap();
    for (k, mesh) in meshes.iter().enumerate() {
        let positions = live.level_positions(first(&live), k + 1).unwrap();
        assert_eq!(positions.len(), mesh.positions.len());
        let near = |p: &Vec3| fine.iter().any(|q| p.distance(*q) < 0.04);
        assert!(positions.iter().all(near), "level {}", k + 1);
    }
    assert!(live.level_positions(first(&live), meshes.len() + 1).unwrap().is_empty());
}

/// A bar of 5 × 1 × 1 cubes of 4 cm, each of five tetrahedra.
fn bar() -> TetrahedronMesh {
    let place = |i: u32, j: u32, k: u32| i * 4 + j * 2 + k;
    let positions = (0..6)
        .flat_map(|i| [[i, 0, 0], [i, 0, 1], [i, 1, 0], [i, 1, 1]])
        .map(|p: [u32; 3]| 0.04 * Vec3::new(p[0] as f32, p[1] as f32, p[2] as f32))
        .collect();
    let mut tetrahedra = Vec::new();
    for i in 0..5 {
        let at = |c: usize| {
            let [x, j, k] = [c >> 2 & 1, c >> 1 & 1, c & 1].map(|b| b as u32);
            // Every other cube is mirrored, so that diagonals meet.
            place(i + if i % 2 == 0 { x } else { 1 - x }, j, k)
        };
        for corners in [[0, 4, 2, 1], [6, 4, 7, 2], [5, 4, 1, 7], [3, 1, 2, 7], [1, 4, 2, 7]] {
            let mut t = corners.map(at);
            if i % 2 == 1 {
                t.swap(2, 3);
            }
            tetrahedra.push(t);
        }
    }
    TetrahedronMesh { positions, tetrahedra }
}

#[test]
fn a_soft_solid_is_pulled_by_a_spring_and_swings_back() {
    let mesh = bar();
    let inverted = (0..mesh.tetrahedra.len()).filter(|&t| mesh.volume(t) <= 0.0).count();
    assert_eq!(inverted, 0);
    let mut solid = Solid::new("bar", mesh, SolidMaterial::named("foam").unwrap());
    solid.strain = Limit { min: Some(-0.2), max: Some(0.2) };
    solid.pins = vec![Pin { vertices: vec![0, 1, 2, 3], ..Pin::default() }];
    let mut live =
        Simulation::from_description(Description { bodies: vec![solid.into()], ..Description::default() }, 2)
            .unwrap();
    frames(&mut live, 15);
    let end = |live: &Simulation| live.positions(first(live)).unwrap().to_vec()[23];
    let before = end(&live);
    assert!(live.set_limiter(first(&live), Limiter::Edge).is_err());
    let id = live.grip(first(&live), [23, 21, 22], [0.8, 0.1, 0.1], Grip::Soft { stiffness: 200.0 }).unwrap();
    let target = live.grip_point(id).unwrap() + Vec3::new(0.0, 0.04, 0.0);
    for _ in 0..30 {
        live.move_grip(id, target).unwrap();
        live.step_frame();
        let strain = &measured(&live).bodies[0].strain;
        assert!(strain.max_residual <= TOLERANCE + 1e-5, "{}", strain.max_residual);
    }
    let moved = end(&live).y - before.y;
    assert!(moved > 0.005, "moved by {moved} m");
    live.release(id).unwrap();
    frames(&mut live, 60);
    assert!((end(&live) - before).length() < 0.3 * moved, "{} after {moved}", (end(&live) - before).length());
    // Limits of solids can be changed too.
    live.set_stretch_limit(first(&live), Limit { min: Some(-0.02), max: Some(0.02) }).unwrap();
    live.set_stiffness(first(&live), 0.5).unwrap();
    frames(&mut live, 5);
    let strain = &measured(&live).bodies[0].strain;
    assert!(strain.max_residual <= TOLERANCE + 1e-5, "{}", strain.max_residual);
}
