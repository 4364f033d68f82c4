//! Invariants of the figure: a closed, even surface that does not intersect itself while it moves.

use super::*;
use crate::{
    contact::{intersection::piercings, surface::Surface},
    mesh::check::check,
};

fn volume(positions: &[Vec3], triangles: &[[u32; 3]]) -> f64 {
    let six: f64 = triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|v| positions[v as usize].as_dvec3());
            a.dot(b.cross(c))
        })
        .sum();
    six / 6.0
}

#[test]
fn closed_even_and_of_human_size() {
    for edge in [0.025, 0.018, 0.011] {
        let figure = Figure::new(edge).unwrap();
        let mesh = figure.mesh();
        assert_eq!(check(mesh), []);
        let adjacency = Adjacency::new(&mesh.triangles);
        assert_eq!(adjacency.boundary, []);
        assert_eq!(
            adjacency.hinges.len(),
            adjacency.edges.len(),
            "every edge between two triangles of one sense"
        );
        let euler = mesh.positions.len() + mesh.triangles.len() - adjacency.edges.len();
        assert_eq!(euler, 2, "one piece without handles");
        let mut lengths: Vec<f32> = adjacency
            .edges
            .iter()
            .map(|e| (mesh.positions[e[0] as usize] - mesh.positions[e[1] as usize]).length() / edge)
            .collect();
        lengths.sort_by(f32::total_cmp);
        let [least, middle, most] = [0, lengths.len() / 2, lengths.len() - 1].map(|k| lengths[k]);
        assert!(
            least > 0.4 && most < 1.7 && (middle - 1.0).abs() < 0.05,
            "{least} {middle} {most} at {edge}"
        );
        let low = mesh.positions.iter().fold(Vec3::MAX, |low, p| low.min(*p));
        let high = mesh.positions.iter().fold(Vec3::MIN, |high, p| high.max(*p));
        assert!(low.y.abs() < 0.003 && (high.y - 1.71).abs() < 0.01, "{low} {high}");
        // 55 to 75 litres of a lean adult.
        let volume = volume(&mesh.positions, &mesh.triangles);
        assert!((0.04..0.08).contains(&volume), "{volume} m³");
    }
    assert!(Figure::new(0.03).is_err() && Figure::new(f32::NAN).is_err());
}

#[test]
fn moves_smoothly_without_passing_through_itself() {
    let figure = Figure::new(0.02).unwrap();
    let mesh = figure.mesh();
    let surface = Surface::new(mesh.triangles.clone());
    assert_eq!(figure.at(0.0), figure.at(0.5), "it begins to move after half a second");
    for time in [0.0, 0.9, 1.4, 2.0, 2.3, 3.1, 4.05, 5.3, 7.7] {
        let x = figure.at(time);
        let arrays: Vec<[f32; 3]> = x.iter().map(|p| p.to_array()).collect();
        assert_eq!(piercings(&surface, &arrays), [], "at {time} s");
        let volumes = [&x, &mesh.positions].map(|x| volume(x, &mesh.triangles));
        assert!((volumes[0] / volumes[1] - 1.0).abs() < 0.03, "{volumes:?} at {time} s");
    }
    let far = |a: f32, b: f32| {
        let (a, b) = (figure.at(a), figure.at(b));
        a.iter().zip(&b).map(|(p, q)| (*p - *q).length()).fold(0.0, f32::max)
    };
    assert!(far(0.0, 2.0) > 0.3, "arms go up");
    for frame in 0..200 {
        let time = frame as f32 / 30.0;
        let [first, second] = [far(time, time + 1.0 / 60.0), far(time + 1.0 / 60.0, time + 1.0 / 30.0)];
        assert!(first < 0.04 && (first - second).abs() < 0.005, "{first} {second} m at {time} s");
    }
}

#[test]
fn the_same_every_time() {
    let [a, b] = [0, 1].map(|_| Figure::new(0.025).unwrap());
    assert_eq!((a.mesh(), a.at(1.3)), (b.mesh(), b.at(1.3)));
}
