use glam::{Quat, Vec3};

use super::*;
use crate::{
    kernel::random::Random,
    mesh::{check::MAX_LISTED_PER_KIND, generate},
};

fn straight(roots: &[Vec3], segments: u32, step: Vec3) -> Groom {
    let strand = |x: &Vec3| (0..=segments).map(|i| *x + i as f32 * step).collect::<Vec<_>>();
    Groom {
        positions: roots.iter().flat_map(strand).collect(),
        counts: vec![segments + 1; roots.len()],
        radii: Vec::new(),
    }
}

fn plane() -> Skin {
    let mesh = generate::grid([1.0, 1.0], [8, 8], generate::Diagonals::Alternating, 0);
    Skin::mesh(mesh.positions, mesh.triangles)
}

#[test]
fn segments_join_neighbours_of_the_same_strand() {
    let positions = (0..5).map(|k| Vec3::X * k as f32).collect();
    let groom = Groom { positions, counts: vec![3, 2], radii: Vec::new() };
    assert_eq!(groom.segments().collect::<Vec<_>>(), [[0, 1], [1, 2], [3, 4]]);
    assert_eq!((groom.segment_count(), groom.length([3, 4])), (3, 1.0));
    assert_eq!(groom.strand_lengths().collect::<Vec<_>>(), [2.0, 1.0]);
    let second = groom.subset(&[1, 7]);
    assert_eq!((second.counts.as_slice(), second.positions[0]), (&[2][..], Vec3::X * 3.0));
}

#[test]
fn problems_name_strand_and_point() {
    let good = straight(&[Vec3::ZERO, Vec3::X], 3, Vec3::Y * 0.1);
    assert_eq!(good.problems(), []);
    let says = |change: &dyn Fn(&mut Groom)| {
        let mut groom = good.clone();
        change(&mut groom);
        groom.problems().iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    assert!(says(&|g| *g = Groom::default()).contains("no strands"));
    assert!(says(&|g| g.counts[1] = 9).contains("13 points together, the groom 8"));
    assert!(says(&|g| g.radii = vec![1.0; 3]).contains("3 radii and 8 points"));
    assert!(says(&|g| g.counts = vec![1, 7]).contains("strand 0 (from 0) has 1 points"));
    assert!(says(&|g| g.positions[6].y = f32::NAN).contains("strand 1, point 2 (from 0)"));
    assert!(says(&|g| g.positions[6].y = 2e6).contains("is the unit right?"));
    let twice = says(&|g| g.positions[6] = g.positions[5]);
    assert!(twice.contains("strand 1, points 1 and 2 (from 0) are 0e0 m apart"), "{twice}");
    let radius = says(&|g| g.radii = vec![1e-4, 1e-4, -1.0, 1e-4, 1e-4, 1e-4, 1e-4, f32::INFINITY]);
    assert!(radius.contains("strand 0, point 2") && radius.contains("strand 1, point 3"), "{radius}");
    let many = Groom { counts: vec![0; MAX_POINTS + 1], ..Groom::default() };
    assert!(many.problems()[0].to_string().contains("at most 10000000"));
    let long = straight(&[Vec3::ZERO], MAX_SEGMENTS as u32 + 1, Vec3::Y * 0.01);
    assert!(long.problems()[0].to_string().contains("65536 segments"));
    let short = straight(&vec![Vec3::ZERO; 30], 1, Vec3::ZERO);
    assert_eq!(short.problems().len(), MAX_LISTED_PER_KIND + 1);
    assert_eq!(short.problems()[MAX_LISTED_PER_KIND].to_string(), "and 10 more segments without length");
}

#[test]
fn roots_off_the_surface_and_exchanged_ends_are_found() {
    let skin = Skin::sphere(Vec3::Y, 0.1).unwrap();
    let mut groom = straight(&[Vec3::Y * 1.1, Vec3::Y * 1.3, Vec3::Y * 1.2], 2, Vec3::Y * 0.05);
    groom.positions[6..].reverse();
    groom.positions[8] = Vec3::Y * 1.1;
    let said: Vec<String> =
        groom.problems_on(|p| skin.distance(p), 1e-3).iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), 2);
    assert!(said[0].starts_with("strand 2 ") && said[0].contains("reverse it"), "{said:?}");
    assert!(said[1].starts_with("strand 1 ") && said[1].contains("within 0.001 m"), "{said:?}");
}

#[test]
fn grown_strands_are_even_sound_and_the_same_again() {
    let skin = plane();
    let growth = Growth { length_variation: 0.3, ..Growth::new(Amount::Count(400), 0.1) };
    let groom = grow(&skin, &growth).unwrap();
    assert_eq!((groom.counts.len(), groom.positions.len()), (400, 400 * 17));
    assert_eq!(groom.problems(), []);
    assert_eq!(groom.problems_on(|p| skin.distance(p), 1e-6), []);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(pool.install(|| grow(&skin, &growth).unwrap()), groom);
    assert_ne!(grow(&skin, &Growth { seed: 1, ..growth.clone() }).unwrap(), groom);
    // The best that 400 points can do is 0.0537 m; random ones come as near as 1e-3 m.
    let roots = groom.roots();
    let apart = |i: usize| {
        let others = roots.iter().enumerate().filter(|(j, _)| *j != i);
        others.map(|(_, x)| x.distance(roots[i])).fold(f32::INFINITY, f32::min)
    };
    let least = (0..400).map(apart).fold(f32::INFINITY, f32::min);
    assert!(least > 0.03, "{least}");
    // And every quarter has its share.
    let left = roots.iter().filter(|x| x.x < 0.5).count();
    assert!((185..=215).contains(&left), "{left}");
    for length in groom.strand_lengths() {
        assert!((0.0699..=0.10001).contains(&length), "{length}");
    }
    assert!(groom.segments().all(|pair| groom.length(pair) < 0.00626));
}

#[test]
fn density_counts_by_area_and_weights_choose_where() {
    let skin = plane();
    let growth = Growth::new(Amount::Density(900.0), 0.05);
    assert_eq!(grow(&skin, &growth).unwrap().counts.len(), 900);
    let weights: Vec<f32> = skin.positions().iter().map(|x| if x.x < 0.26 { 1.0 } else { 0.0 }).collect();
    let part = grow(&skin.weighted(&weights), &growth).unwrap();
    assert!((200..340).contains(&part.counts.len()), "{}", part.counts.len());
    assert!(part.roots().iter().all(|x| x.x < 0.376));
    let nowhere = plane().weighted(&[]);
    assert_eq!(grow(&nowhere, &growth), Err(GrowError::NoArea));
}

#[test]
fn hair_on_a_sphere_stands_on_it_and_stays_outside() {
    let skin = Skin::sphere(Vec3::new(0.0, 1.7, 0.0), 0.1).unwrap();
    let plain = Growth::new(Amount::Count(300), 0.2);
    let groom = grow(&skin, &plain).unwrap();
    for own in groom.strands() {
        let out = groom.positions[own.start] - Vec3::Y * 1.7;
        assert!((out.length() - 0.1).abs() < 1e-6);
        let tip = groom.positions[own.end - 1] - Vec3::Y * 1.7;
        assert!(tip.distance(out * 3.0) < 1e-5, "straight out");
    }
    let down = grow(&skin, &Growth { droop: 3.0, comb: Vec3::Z * 0.5, ..plain }).unwrap();
    for own in down.strands() {
        for v in own.clone().skip(1) {
            let (distance, _) = skin.signed(down.positions[v]).unwrap();
            assert!(distance > -5e-4, "strand at {} is {distance} m in", own.start);
        }
        let tip = down.positions[own.end - 1];
        assert!(tip.y < down.positions[own.start].y + 0.2, "bent down");
    }
    assert!(down.strand_lengths().all(|length| (length - 0.2).abs() < 1e-4));
    let lower = |groom: &Groom| groom.strands().map(|own| groom.positions[own.end - 1].y).sum::<f32>();
    assert!(lower(&down) < lower(&groom) - 300.0 * 0.05);
}

#[test]
fn curls_have_their_radius_and_too_few_segments_are_refused() {
    let growth = Growth {
        curl: Some(Curl { radius: 0.005, pitch: 0.02 }),
        segments: 120,
        ..Growth::new(Amount::Count(20), 0.2)
    };
    let groom = grow(&plane(), &growth).unwrap();
    assert!(groom.strand_lengths().all(|length| (length - 0.2).abs() < 1e-4));
    let up = groom.positions[..121].iter().map(|x| (*x - groom.positions[0]).reject_from(Vec3::Y));
    // From its second turn on, the helix is a radius from an axis through the root, give or take the scale.
    let far: Vec<f32> = up.skip(60).map(|x| x.length()).collect();
    assert!(far.iter().all(|r| (0.0045..0.0055).contains(r)), "{far:?}");
    let few = grow(&plane(), &Growth { segments: 16, ..growth }).unwrap_err();
    assert!(few.to_string().contains("16 segments are too few"), "{few}");
}

#[test]
fn clumps_come_together_at_their_tips() {
    let growth = Growth { noise: 0.002, ..Growth::new(Amount::Count(500), 0.4) };
    let spread_of = |strength: f32| {
        let clump = Some(Clump { count: 60, strength });
        let groom = grow(&plane(), &Growth { clump, ..growth.clone() }).unwrap();
        assert_eq!(groom.problems(), []);
        let tips: Vec<Vec3> = groom.strands().map(|own| groom.positions[own.end - 1]).collect();
        let nearest = |i: usize| {
            let others = tips.iter().enumerate().filter(|(j, _)| *j != i);
            others.map(|(_, x)| x.distance(tips[i])).fold(f32::INFINITY, f32::min)
        };
        (0..tips.len()).map(nearest).sum::<f32>() / tips.len() as f32
    };
    assert!(spread_of(0.9) < 0.4 * spread_of(0.0));
}

#[test]
fn impossible_grooms_are_refused_by_number() {
    let says = |change: &dyn Fn(&mut Growth)| {
        let mut growth = Growth::new(Amount::Count(10), 0.1);
        change(&mut growth);
        grow(&plane(), &growth).unwrap_err().to_string()
    };
    assert!(says(&|g| g.amount = Amount::Count(3_000_000)).contains("3000000 strands of 17 points"));
    assert!(says(&|g| g.amount = Amount::Density(f32::NAN)).contains("density is NaN"));
    assert!(says(&|g| g.amount = Amount::Density(0.1)).contains("increase the density"));
    assert!(says(&|g| g.length = 0.0).contains("length is 0: must be above 0"));
    assert!(says(&|g| g.segments = 0).contains("segments is 0"));
    assert!(says(&|g| g.radius[1] = -1.0).contains("radius at the tip"));
    assert!(says(&|g| g.comb.x = f32::INFINITY).contains("comb"));
    let empty = Skin::mesh(vec![Vec3::ZERO], vec![[0, 1, 2], [0, 0, 0]]);
    assert_eq!(grow(&empty, &Growth::new(Amount::Count(1), 0.1)), Err(GrowError::NoArea));
}

#[test]
fn resampling_keeps_ends_shape_and_length() {
    let arc = |i: u32| Vec3::new((i as f32 * 0.2).cos(), (i as f32 * 0.2).sin(), 0.0);
    let groom = Groom {
        positions: (0..=10).map(arc).chain([Vec3::ZERO, Vec3::Y]).collect(),
        counts: vec![11, 2],
        radii: (0..13).map(|i| 1.0 + i as f32).collect(),
    };
    let fine = groom.resampled(40);
    assert_eq!(fine.counts, [41, 41]);
    assert_eq!((fine.positions[0], fine.positions[40]), (groom.positions[0], groom.positions[10]));
    assert!(fine.positions[..41].iter().all(|x| (x.length() - 1.0).abs() < 2e-3));
    assert_eq!((fine.radii[0], fine.radii[40], fine.radii[81]), (1.0, 11.0, 13.0));
    let lengths: Vec<f64> = fine.segments().take(40).map(|pair| fine.length(pair)).collect();
    assert!(lengths.iter().all(|l| (l / 0.05 - 1.0).abs() < 0.01), "{lengths:?}");
    assert!(fine.positions[41..].iter().all(|x| x.x == 0.0 && x.z == 0.0), "straight stays straight");
    assert_eq!(groom.resampled(10).positions[..11], groom.positions[..11], "as it was");
    assert_eq!(groom.resampled(3).counts, [4, 4]);
    assert_eq!(Groom::default().resampled(5), Groom::default());
}

#[test]
fn spread_takes_the_ends_of_a_row_and_all_of_few() {
    let row: Vec<Vec3> = (0..1000).map(|i| Vec3::X * i as f32 * 0.001).collect();
    let mut chosen = spread(&row, 10);
    chosen.sort_unstable();
    assert_eq!(chosen.len(), 10);
    assert!(chosen.windows(2).all(|pair| pair[1] - pair[0] > 40), "{chosen:?}");
    assert_eq!(spread(&row[..3], 10).len(), 3);
    assert_eq!(spread(&[Vec3::ONE; 5], 3).len(), 3, "coinciding points");
    assert_eq!(spread(&[Vec3::NAN, Vec3::ONE], 2), [1, 0]);
    assert!(spread(&[], 3).is_empty());
}

fn head() -> (Groom, Groom) {
    let skin = Skin::sphere(Vec3::ZERO, 0.1).unwrap();
    let growth = Growth {
        length_variation: 0.2,
        curl: Some(Curl { radius: 0.004, pitch: 0.03 }),
        segments: 40,
        ..Growth::new(Amount::Count(600), 0.15)
    };
    let full = grow(&skin, &growth).unwrap();
    let guides = full.subset(&spread(&full.roots(), 80));
    (guides, full)
}

#[test]
fn guides_at_rest_and_turned_give_the_groom_at_rest_and_turned() {
    let (guides, full) = head();
    let follow = Interpolation::new(guides.clone(), full.clone(), 3).unwrap();
    let mut x = Vec::new();
    follow.interpolate(&guides.positions, None, None, &mut x);
    let apart = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(apart(&x, &full.positions) < 1e-6, "{}", apart(&x, &full.positions));
    for axis in [Vec3::Y, Vec3::X, Vec3::new(0.3, -0.5, 0.8)] {
        let turn = Quat::from_axis_angle(axis.normalize(), 2.5);
        let moved = |x: &Vec3| turn * *x + Vec3::new(1.0, 2.0, 3.0);
        let now: Vec<Vec3> = guides.positions.iter().map(moved).collect();
        let wanted: Vec<Vec3> = full.positions.iter().map(moved).collect();
        follow.interpolate(&now, None, None, &mut x);
        assert!(apart(&x, &wanted) < 1e-5, "fitted: {}", apart(&x, &wanted));
        follow.interpolate(&now, Some(&vec![turn; 80]), None, &mut x);
        assert!(apart(&x, &wanted) < 1e-5, "given: {}", apart(&x, &wanted));
    }
}

#[test]
fn strands_keep_their_lengths_and_guides_come_out_as_they_are() {
    let (guides, full) = head();
    let chosen = spread(&full.roots(), 80);
    let follow = Interpolation::new(guides.clone(), full.clone(), 3).unwrap();
    // Guides hang down, each by another angle.
    let mut random = Random::new(5, 0);
    let mut now = guides.positions.clone();
    for own in guides.strands() {
        let angle = 0.5 + random.unit();
        for v in own.clone().skip(1) {
            let part = (v - own.start) as f32 / own.len() as f32;
            let turn = Quat::from_rotation_z(angle * part);
            now[v] = now[v - 1] + turn * (guides.positions[v] - guides.positions[v - 1]);
        }
    }
    let mut x = Vec::new();
    follow.interpolate(&now, None, None, &mut x);
    let moved = Groom { positions: x.clone(), ..full.clone() };
    for (now, rest) in moved.strand_lengths().zip(full.strand_lengths()) {
        assert!((now / rest - 1.0).abs() < 1e-4, "{now} {rest}");
    }
    for (guide, own) in guides.strands().enumerate() {
        let strand = full.strands().nth(chosen[guide] as usize).unwrap();
        for (v, w) in own.zip(strand) {
            assert!(now[v].distance(x[w]) < 1e-4, "guide {guide}: {}", now[v].distance(x[w]));
        }
    }
    // And a body is kept out of.
    let floor = |p: Vec3| (p.y + 0.05, Vec3::Y);
    follow.interpolate(&now, None, Some(&floor), &mut x);
    let over = full.strands().filter(|own| full.positions[own.start].y > -0.04);
    for v in over.flat_map(|own| own.skip(1)) {
        assert!(x[v].y > -0.0515, "{}", x[v].y);
    }
}

#[test]
fn weights_are_smooth_and_sum_to_one() {
    let guides = straight(&[Vec3::ZERO, Vec3::X, Vec3::Z, Vec3::new(1.0, 0.0, 1.0)], 2, Vec3::Y);
    let roots: Vec<Vec3> = (0..=100).map(|i| Vec3::new(0.01 * i as f32, 0.0, 0.2)).collect();
    let follow = Interpolation::new(guides.clone(), straight(&roots, 2, Vec3::Y), 3).unwrap();
    let of = |strand: usize, guide: u32| {
        follow.guides_of(strand).iter().find(|near| near.0 == guide).map_or(0.0, |near| near.1)
    };
    for strand in 0..=100 {
        let sum: f64 = follow.guides_of(strand).iter().map(|near| near.1).sum();
        assert!((sum - 1.0).abs() < 1e-12);
        for guide in 0..4 {
            let jump = (of(strand.max(1), guide) - of(strand.max(1) - 1, guide)).abs();
            assert!(jump < 0.05, "{strand} {guide}: {jump}");
        }
    }
    assert!(Interpolation::new(Groom::default(), guides.clone(), 3).is_none());
    assert!(Interpolation::new(guides.clone(), guides, 0).is_none());
}

#[test]
fn a_single_guide_moves_all_strands() {
    let one = straight(&[Vec3::ZERO], 4, Vec3::Y * 0.1);
    let full = straight(&[Vec3::X, Vec3::ZERO], 7, Vec3::Y * 0.05);
    let follow = Interpolation::new(one.clone(), full.clone(), 3).unwrap();
    let now: Vec<Vec3> = one.positions.iter().map(|x| *x + Vec3::Z).collect();
    let mut x = Vec::new();
    follow.interpolate(&now, None, None, &mut x);
    for (x, rest) in x.iter().zip(&full.positions) {
        assert!(x.distance(*rest + Vec3::Z) < 1e-6);
    }
}

#[test]
fn strands_grow_between_guides_and_nowhere_else() {
    let skin = plane();
    let mut roots = Vec::new();
    for i in 0..8 {
        for j in 0..8 {
            roots.push(Vec3::new(0.05 + 0.05 * i as f32, 0.0, 0.05 + 0.05 * j as f32));
        }
    }
    let mut guides = straight(&roots, 5, Vec3::new(0.0, 0.01, 0.01));
    guides.radii = vec![3e-5; guides.positions.len()];
    let full = fill(&skin, &guides, 1000, 3).unwrap();
    assert_eq!((full.counts.len(), full.radii.len()), (1000, 6000));
    assert_eq!(full.problems(), []);
    assert_eq!(full.problems_on(|p| skin.distance(p), 1e-6), []);
    assert!(full.roots().iter().all(|x| x.x < 0.5 && x.z < 0.5));
    for own in full.strands() {
        let bend = full.positions[own.end - 1] - full.positions[own.start];
        assert!(bend.distance(Vec3::new(0.0, 0.05, 0.05)) < 1e-5, "{bend}");
    }
    assert!(fill(&skin, &Groom::default(), 10, 0).is_err());
    assert!(fill(&skin, &guides, 5_000_000, 0).is_err());
}
