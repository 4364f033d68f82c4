use std::collections::BTreeSet;

use glam::{DVec3, Vec3};

use super::{
    forces::{NodeBlock, PairLaw, PairState, respond},
    segment::{nearest, touching_length},
    *,
};
use crate::kernel::random::Random;

const LAW: PairLaw = PairLaw { thickness: 1e-3, friction: 0.3, cohesion: 0.0, stiffness: PairLaw::STIFFNESS };

fn vector(random: &mut Random) -> Vec3 {
    Vec3::from_array([(); 3].map(|()| 2.0 * random.unit() - 1.0))
}

fn quad(x: Vec3) -> Quad {
    [x.x, x.y, x.z, 0.0]
}

/// Random walks of `counts` nodes in a cube of `size` \[m\], with steps of `step` \[m\].
fn walks(random: &mut Random, counts: &[u32], size: f32, step: f32) -> Vec<Quad> {
    let mut x = Vec::new();
    for &count in counts {
        let mut at = vector(random) * size * 0.5;
        let mut along = vector(random);
        for _ in 0..count {
            x.push(quad(at));
            along = (along + 0.5 * vector(random)).normalize_or(Vec3::X);
            at += along * step * (0.5 + random.unit());
        }
    }
    x
}

/// Strands that hang from a head with a radius of 9 cm.
fn head(strands: usize, segments: usize) -> (Vec<u32>, Vec<Quad>) {
    let mut random = Random::new(5, 0);
    let (radius, length) = (0.09, 0.25 / segments as f32);
    let mut x = Vec::new();
    for k in 0..strands {
        // Spiral over the upper 60 % of the sphere.
        let y = 1.0 - 1.2 * (k as f32 + 0.5) / strands as f32;
        let (sin, cos) = (k as f32 * 2.399_963).sin_cos();
        let out = Vec3::new(cos * (1.0 - y * y).sqrt(), y, sin * (1.0 - y * y).sqrt());
        let (mut at, mut along) = (out * radius, out);
        let lift = 0.012 * random.unit();
        for _ in 0..=segments {
            x.push(quad(at));
            along = (along + 0.25 * Vec3::NEG_Y + 0.05 * vector(&mut random)).normalize();
            at += along * length;
            let least = radius + lift;
            if at.length() < least && at != out * radius {
                at *= least.min(at.length() + length) / at.length();
            }
        }
    }
    (vec![segments as u32 + 1; strands], x)
}

fn ends(x: &[Quad], v: u32) -> [DVec3; 2] {
    [v, v + 1].map(|v| point(&x[v as usize]).as_dvec3())
}

fn true_distance(x: &[Quad], a: u32, b: u32) -> f64 {
    let ([a, b], [c, d]) = (ends(x, a), ends(x, b));
    edge_edge(&[a, b, c, d]).squared.sqrt()
}

/// All pairs that may touch, with their distances \[m\].
fn all_pairs(pairs: &StrandPairs, x: &[Quad], reach: f64) -> Vec<(u32, u32, f64)> {
    let segments: Vec<_> = (0..x.len() as u32).filter(|&v| pairs.is_segment[v as usize]).collect();
    let mut all = Vec::new();
    for (k, &a) in segments.iter().enumerate() {
        for &b in &segments[k + 1..] {
            let distance = true_distance(x, a, b);
            if distance < reach && StrandPairs::may_touch(&pairs.strands, a, b) {
                all.push((a, b, distance));
            }
        }
    }
    all
}

/// Pairs each of which is among the nearest of both its segments.
fn expected(all: &[(u32, u32, f64)]) -> BTreeSet<[u32; 2]> {
    let mut lists: std::collections::BTreeMap<u32, Vec<(f64, u32)>> = Default::default();
    for &(a, b, distance) in all {
        lists.entry(a).or_default().push((distance, b));
        lists.entry(b).or_default().push((distance, a));
    }
    for list in lists.values_mut() {
        list.sort_by(|a, b| a.partial_cmp(b).unwrap());
        list.truncate(MAX_PARTNERS);
    }
    let has = |a: u32, b: u32| lists[&a].iter().any(|&(_, other)| other == b);
    all.iter().filter(|&&(a, b, _)| has(a, b) && has(b, a)).map(|&(a, b, _)| [a, b]).collect()
}

#[test]
fn search_finds_what_brute_force_finds() {
    let cases = [
        // Strands, their nodes, size of the cube, length of steps, distance.
        (60, 20, 0.05, 0.005, 0.0015),
        (60, 20, 0.02, 0.005, 0.0003),
        (60, 30, 0.3, 0.05, 0.008),
        (40, 25, 3.0, 0.01, 0.2),
        (300, 2, 0.1, 0.02, 0.002),
        (10, 300, 0.01, 0.004, 0.004),
    ];
    let threads = Threads::new(2).unwrap();
    for (k, (strands, nodes, size, step, reach)) in cases.into_iter().enumerate() {
        for shift in [0.0, 17.0] {
            let mut random = Random::new(3, k as u64);
            let counts: Vec<_> = (0..strands).map(|_| nodes + random.below(5)).collect();
            let mut x = walks(&mut random, &counts, size, step);
            x.iter_mut().for_each(|x| x[1] += shift);
            let mut pairs = StrandPairs::new(&counts);
            pairs.search(&x, reach, &threads);
            let found: BTreeSet<_> = pairs.pairs().collect();
            let expected = expected(&all_pairs(&pairs, &x, f64::from(reach)));
            assert!(shift > 0.0 || expected.len() > 10, "case {k}: {} pairs", expected.len());
            // Distances that rounding may bring to the other side of the limit, or of a ninth neighbour.
            let doubtful = found.symmetric_difference(&expected).count();
            assert!(doubtful <= expected.len() / 100, "case {k}: {doubtful} of {}", expected.len());
            for &[a, b] in &found {
                assert!(true_distance(&x, a, b) < f64::from(reach) + 2e-5, "case {k}");
            }
            assert_eq!(pairs.skipped(), 0);
        }
    }
}

#[test]
fn search_finds_every_pair_where_fewer_than_eight_are_near() {
    let mut random = Random::new(8, 0);
    let counts = vec![12; 150];
    let x = walks(&mut random, &counts, 0.12, 0.01);
    let reach = 0.003;
    let mut pairs = StrandPairs::new(&counts);
    pairs.search(&x, reach, &Threads::alone());
    let found: BTreeSet<_> = pairs.pairs().collect();
    let all = all_pairs(&pairs, &x, f64::from(reach));
    let mut near = vec![0; x.len()];
    all.iter().for_each(|&(a, b, _)| [a, b].iter().for_each(|&v| near[v as usize] += 1));
    let mut checked = 0;
    for &(a, b, distance) in &all {
        if near[a as usize] <= MAX_PARTNERS && near[b as usize] <= MAX_PARTNERS {
            let is_clear = distance < f64::from(reach) - 1e-7;
            assert!(!is_clear || found.contains(&[a, b]), "{a} {b} {distance}");
            checked += 1;
        }
    }
    assert!(checked > 200, "{checked}");
}

#[test]
fn segments_much_longer_than_others_are_found_once() {
    let mut random = Random::new(2, 0);
    // Most segments are short, so that long ones make the boxes that they are in much larger.
    let mut counts = vec![40; 30];
    let mut x = walks(&mut random, &counts, 0.1, 0.002);
    for _ in 0..40 {
        let at = vector(&mut random) * 0.05;
        x.extend([at, at + vector(&mut random) * 0.06].map(quad));
    }
    counts.extend([2; 40]);
    let mut pairs = StrandPairs::new(&counts);
    let reach = 0.001;
    pairs.search(&x, reach, &Threads::alone());
    assert_eq!(pairs.skipped(), 0);
    let all = all_pairs(&pairs, &x, f64::from(reach));
    assert_eq!(pairs.pairs().collect::<BTreeSet<_>>(), expected(&all));
    for partners in &pairs.partners {
        let listed: Vec<_> = partners.iter().filter(|&&other| other != NONE).collect();
        assert_eq!(listed.iter().collect::<BTreeSet<_>>().len(), listed.len(), "listed twice");
    }
    let overlap = pairs.overlap(&x, reach, &Threads::alone());
    assert_eq!(overlap.pairs, all.len() as u64);
    let deepest = all.iter().fold(0.0f64, |deepest, pair| deepest.max(f64::from(reach) - pair.2));
    assert!((overlap.deepest - deepest).abs() < 1e-15, "{} {deepest}", overlap.deepest);
}

#[test]
fn overlap_counts_beyond_eight() {
    // 30 strands through one point: each overlaps all others.
    let mut random = Random::new(4, 0);
    let counts = vec![2; 30];
    let across = (0..30).flat_map(|_| {
        let along = vector(&mut random).normalize() * 0.01;
        [along, -along]
    });
    let x: Vec<_> = across.map(quad).collect();
    let mut pairs = StrandPairs::new(&counts);
    pairs.search(&x, 1e-3, &Threads::alone());
    assert!(pairs.partners.iter().all(|own| own.iter().filter(|&&v| v != NONE).count() <= MAX_PARTNERS));
    let before: Vec<_> = pairs.pairs().collect();
    let overlap = pairs.overlap(&x, 1e-3, &Threads::alone());
    assert_eq!(overlap.pairs, 30 * 29 / 2);
    assert!((overlap.deepest - 1e-3).abs() < 1e-8, "{}", overlap.deepest);
    assert_eq!(pairs.pairs().collect::<Vec<_>>(), before);
}

#[test]
fn neighbours_on_a_strand_do_not_touch() {
    // A ring of 12 segments: only those at least 8 apart count.
    let x: Vec<_> = (0..13).map(|k| (k as f32 * std::f32::consts::TAU / 12.0).sin_cos()).collect();
    let x: Vec<_> = x.iter().map(|(s, c)| quad(Vec3::new(*s, *c, 0.0) * 0.01)).collect();
    let mut pairs = StrandPairs::new(&[13]);
    pairs.search(&x, 0.1, &Threads::alone());
    assert!(pairs.pairs().all(|[a, b]| b - a >= 8));
    assert_eq!(pairs.pairs().count(), 4 + 3 + 2 + 1);
}

#[test]
fn nearest_points_are_nearer_than_samples() {
    let mut random = Random::new(1, 0);
    for round in 0..2000 {
        let mut p = [(); 4].map(|()| vector(&mut random));
        match round % 8 {
            // Almost parallel, parallel, on one line, a point, two points.
            0 => p[3] = p[2] + (p[1] - p[0]) * 0.7 + vector(&mut random) * 1e-3,
            1 => p[3] = p[2] + (p[1] - p[0]) * (random.unit() - 0.5) * 3.0,
            2 => (p[2], p[3]) = (p[0] + (p[1] - p[0]) * 2.0, p[0] + (p[1] - p[0]) * -0.5),
            3 => p[3] = p[2],
            4 => (p[1], p[3]) = (p[0], p[2]),
            5 => p[1] = p[0],
            _ => {}
        }
        let found = nearest([p[0], p[1]], [p[2], p[3]]);
        let [s, t] = found.at;
        assert!((0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t));
        let apart = p[0].lerp(p[1], s) - p[2].lerp(p[3], t);
        assert!((apart - found.apart).length() < 1e-5);
        let squared = edge_edge(&p.map(|p| p.as_dvec3())).squared;
        let error = f64::from(found.apart.length()) - squared.sqrt();
        // Nearly parallel segments have an error of 1e-4 of their length, at most 3.5 here.
        let rounding = if round % 8 == 0 { 3.5e-4 } else { 2e-6 };
        assert!(error.abs() < rounding, "round {round}: {error}");
        for i in 0..=10 {
            for j in 0..=10 {
                let [s, t] = [i, j].map(|k| k as f32 / 10.0);
                let sample = p[0].lerp(p[1], s).distance(p[2].lerp(p[3], t));
                assert!(found.apart.length() < sample + rounding as f32, "round {round}");
            }
        }
    }
}

#[test]
fn parallel_segments_touch_in_the_middle_of_their_overlap() {
    let a = [Vec3::ZERO, Vec3::X];
    let b = [Vec3::new(1.5, 0.1, 0.0), Vec3::new(0.5, 0.1, 0.0)];
    let found = nearest(a, b);
    assert!((found.at[0] - 0.75).abs() < 1e-6 && (found.at[1] - 0.75).abs() < 1e-6, "{found:?}");
    assert!((touching_length(a, b, 0.01) - 0.5).abs() < 1e-6);
    // Across each other: no longer than they are wide.
    let across = [Vec3::new(0.5, 0.1, -1.0), Vec3::new(0.5, 0.1, 1.0)];
    assert!((touching_length(a, across, 0.01) - 0.01).abs() < 1e-6);
}

#[test]
fn threads_and_lanes_do_not_change_a_bit() {
    let (counts, x) = head(800, 30);
    let old: Vec<_> = x.iter().map(|x| [x[0] + 1e-4, x[1], x[2] - 2e-4, 0.0]).collect();
    let mass: Vec<_> = (0..x.len()).map(|v| if v % 31 < 2 { 0.0 } else { 3e-8 }).collect();
    let law = PairLaw { thickness: 4e-3, cohesion: 1e-4, ..LAW };
    let run = |count: usize| {
        let threads = Threads::new(count).unwrap();
        let mut pairs = StrandPairs::new(&counts);
        let mut blocks = vec![NodeBlock::default(); x.len()];
        // The second search reuses all memory.
        for _ in 0..2 {
            pairs.search(&x, law.reach() + 1e-3, &threads);
            let state = PairState { x: &x, old: &old, mass: &mass, c_dt2: 2e-4 };
            pairs.evaluate(&law, &state, &mut blocks, &threads);
        }
        let overlap = pairs.overlap(&x, law.thickness, &threads);
        (pairs.partners, blocks, overlap)
    };
    let one = run(1);
    assert!(one.2.pairs > 1000 && one.1.iter().any(|block| block.b[0] != 0.0));
    for count in [2, 5] {
        assert_eq!(run(count), one, "{count} threads");
    }
}

/// Two random strands that cross near each other, with the start of the step.
fn crossing(random: &mut Random) -> (Vec<Quad>, Vec<Quad>) {
    let strand = |random: &mut Random, height: f32| {
        let along = vector(random).with_z(0.0).normalize() * 3e-3;
        let middle = Vec3::new(random.unit() * 2e-3, random.unit() * 2e-3, height);
        [middle - along, middle + along * (0.5 + random.unit())].map(|x| x + vector(random) * 3e-4)
    };
    let x: Vec<_> = strand(random, 0.0).into_iter().chain(strand(random, 9e-4)).map(quad).collect();
    let moved = |x: &Quad, random: &mut Random| quad(point(x) + vector(random) * 1e-4);
    let old = x.iter().map(|x| moved(x, random)).collect();
    (x, old)
}

#[test]
fn gradient_is_that_of_the_energy() {
    let mut random = Random::new(6, 0);
    let law = PairLaw { friction: 0.0, ..LAW };
    let mut tested = 0;
    for _ in 0..200 {
        let (x, old) = crossing(&mut random);
        let mass = [3e-8, 2e-8, 4e-8, 5e-8];
        let energy = |x: &[Quad]| {
            let state = PairState { x, old: &old, mass: &mass, c_dt2: 2e-4 };
            respond(&law, &state, 0, 2).map(|response| (response.energy, response))
        };
        let Some((value, response)) = energy(&x) else { continue };
        if value < 0.5 * 2e-5 * 1e-4 * 1e-4 {
            continue;
        }
        let scale = response.gradient.length();
        for v in 0..4 {
            for c in 0..3 {
                let step = 2e-6;
                let [up, down] = [step, -step].map(|step| {
                    let mut x = x.clone();
                    x[v][c] += step;
                    energy(&x).map_or(0.0, |(value, _)| f64::from(value))
                });
                let numeric = (up - down) / (2.0 * f64::from(step));
                let exact = f64::from(response.gradient[c] * response.weights[v]);
                assert!((numeric - exact).abs() < 0.02 * f64::from(scale), "{numeric} {exact} {scale}");
            }
        }
        tested += 1;
    }
    assert!(tested > 50, "{tested}");
}

#[test]
fn forces_of_a_pair_are_equal_and_opposite() {
    let mut random = Random::new(7, 0);
    let law = PairLaw { cohesion: 1e-3, ..LAW };
    for _ in 0..200 {
        let (x, old) = crossing(&mut random);
        let mut pairs = StrandPairs::new(&[2, 2]);
        pairs.search(&x, law.reach(), &Threads::alone());
        let mut blocks = [NodeBlock::default(); 4];
        let state = PairState { x: &x, old: &old, mass: &[3e-8, 2e-8, 0.0, 5e-8], c_dt2: 2e-4 };
        pairs.evaluate(&law, &state, &mut blocks, &Threads::alone());
        for c in 0..3 {
            let [sum, largest] = [0.0f32; 2];
            let (sum, largest) = blocks.iter().fold((sum, largest), |(sum, largest), block| {
                (sum + block.b[c], largest.max(block.b[c].abs()))
            });
            assert!(sum.abs() <= 1e-6 * largest, "{sum} {largest}");
        }
    }
}

#[test]
fn forces_of_many_strands_sum_to_zero() {
    let (counts, x) = head(500, 30);
    let old: Vec<_> = x.iter().map(|x| [x[0] + 1e-4, x[1], x[2] - 2e-4, 0.0]).collect();
    let mass = vec![3e-8; x.len()];
    let law = PairLaw { thickness: 4e-3, cohesion: 1e-4, ..LAW };
    let mut pairs = StrandPairs::new(&counts);
    pairs.search(&x, law.reach(), &Threads::alone());
    let mut blocks = vec![NodeBlock::default(); x.len()];
    let state = PairState { x: &x, old: &old, mass: &mass, c_dt2: 2e-4 };
    pairs.evaluate(&law, &state, &mut blocks, &Threads::alone());
    for c in 0..3 {
        let sum: f64 = blocks.iter().map(|block| f64::from(block.b[c])).sum();
        let size: f64 = blocks.iter().map(|block| f64::from(block.b[c].abs())).sum();
        assert!(size > 0.0 && sum.abs() < 1e-5 * size, "{sum} {size}");
    }
}

/// Value of the quadratic form of a block.
fn form(block: &NodeBlock, d: Vec3) -> f32 {
    let [xx, xy, yy, xz, yz, zz] = block.h;
    let across = xy * d.x * d.y + xz * d.x * d.z + yz * d.y * d.z;
    xx * d.x * d.x + yy * d.y * d.y + zz * d.z * d.z + 2.0 * across
}

#[test]
fn blocks_are_positive_and_bound_the_energy_of_the_pair() {
    let mut random = Random::new(9, 0);
    let mut bounded = 0;
    for (cohesion, friction) in [(0.0, 0.0), (0.0, 0.3), (1e-3, 0.3)] {
        let law = PairLaw { cohesion, friction, ..LAW };
        for _ in 0..300 {
            let (x, old) = crossing(&mut random);
            let mass = [3e-8; 4];
            let state = PairState { x: &x, old: &old, mass: &mass, c_dt2: 2e-4 };
            let Some(response) = respond(&law, &state, 0, 2) else { continue };
            let mut pairs = StrandPairs::new(&[2, 2]);
            pairs.search(&x, law.reach(), &Threads::alone());
            let mut blocks = [NodeBlock::default(); 4];
            pairs.evaluate(&law, &state, &mut blocks, &Threads::alone());
            let moves = [(); 4].map(|()| vector(&mut random));
            let together = (0..4).fold(Vec3::ZERO, |sum, k| sum + moves[k] * response.weights[k]);
            let bound: f32 = (0..4).map(|k| form(&blocks[k], moves[k])).sum();
            assert!((0..4).all(|k| form(&blocks[k], moves[k]) >= -1e-9));
            let stiffness = law.stiffness * 3e-8;
            let along = together.dot(response.gradient.normalize_or_zero());
            // Without friction the gradient is along the normal.
            if friction == 0.0 {
                bounded += 1;
                assert!(stiffness * along * along <= bound * 1.001 + 1e-12);
            }
        }
    }
    assert!(bounded > 50, "{bounded}");
}

/// Two parallel segments `apart` \[m\], with the block of the first node of the first.
fn beside(law: &PairLaw, apart: f32, slid: f32) -> NodeBlock {
    let x = [[0.0, 0.0], [5e-3, 0.0], [0.0, apart], [5e-3, apart]].map(|[x, y]| [x, y, 0.0, 0.0]);
    let old = [0, 1, 2, 3].map(|v| if v < 2 { [x[v][0], x[v][1], -slid, 0.0] } else { x[v] });
    let mut pairs = StrandPairs::new(&[2, 2]);
    pairs.search(&x, law.reach(), &Threads::alone());
    let mut blocks = [NodeBlock::default(); 4];
    let state = PairState { x: &x, old: &old, mass: &[1e-7; 4], c_dt2: 1e-4 };
    pairs.evaluate(law, &state, &mut blocks, &Threads::alone());
    blocks[0]
}

#[test]
fn friction_is_coulombs_and_bounded() {
    let normal = |depth: f32| 0.5 * LAW.stiffness * 1e-7 * depth;
    // Sliding: μ times the normal force, against the motion.
    let block = beside(&LAW, 0.9e-3, 1e-3);
    assert!((block.b[1] - normal(1e-4)).abs() < 1e-3 * normal(1e-4), "{block:?}");
    assert!((block.b[2] - 0.3 * normal(1e-4)).abs() < 1e-3 * normal(1e-4), "{block:?}");
    // Sticking: in proportion to the slip.
    let block = beside(&LAW, 0.9e-3, 1e-5);
    assert!((block.b[2] - 0.03 * normal(1e-4)).abs() < 1e-3 * normal(1e-4), "{block:?}");
    // Not in touch.
    assert_eq!(beside(&LAW, 1.01e-3, 1e-3), NodeBlock::default());
}

#[test]
fn cohesion_pulls_within_its_range_and_no_further_than_touch() {
    let force = 0.05;
    let law = PairLaw { cohesion: force, friction: 0.0, ..LAW };
    let b = |apart: f32| beside(&law, apart, 0.0).b[1];
    // The gradient of the lower node points away from the other: it is pulled up. Half of 5 mm each.
    let weak = PairLaw { cohesion: 1e-4, ..law };
    let full = 0.5 * 1e-4 * 5e-3 * 1e-4;
    let pulled = beside(&weak, 1.2e-3, 0.0).b[1];
    assert!((pulled + full).abs() < 1e-2 * full, "{pulled} {full}");
    assert_eq!(b(1.51e-3), 0.0);
    assert!(b(1.49e-3) < 0.0 && b(1.001e-3) < 0.0);
    // However strong: a step by the blocks of both sides closes the gap and no more.
    for apart in [1.001e-3f32, 1.1e-3, 1.4e-3] {
        let block = beside(&law, apart, 0.0);
        let step = -2.0 * block.b[1] / block.h[2];
        assert!(step > 0.0 && step <= (apart - 1e-3) * 1.01, "{apart}: {step}");
    }
    // In touch there is no pull, but friction feels it.
    assert!(b(0.99e-3) > 0.0);
    let rough = beside(&PairLaw { friction: 0.3, ..weak }, 1.0e-3 + 1e-9, 1e-3).b[2];
    assert!((rough - 0.3 * full).abs() < 0.05 * full, "{rough} {full}");
}

#[test]
fn strands_that_have_passed_each_other_are_pushed_back() {
    let law = PairLaw { friction: 0.0, ..LAW };
    let flat = |height: f32| [[-2e-3, 0.0, height, 0.0], [3e-3, 0.0, height, 0.0]];
    let across = [[0.0, -2e-3, 0.0, 0.0], [0.0, 3e-3, 0.0, 0.0]];
    let [x, old] = [-0.4e-3, 1.2e-3].map(|height| [flat(height), across].concat());
    let state = PairState { x: &x, old: &old, mass: &[1e-7; 4], c_dt2: 1e-4 };
    let response = respond(&law, &state, 0, 2).unwrap();
    let force = -response.gradient.z / (law.stiffness * 1e-7);
    assert!((force - 1.4e-3).abs() < 1e-6, "{force}");
    // Exactly on each other: pushed to where they came from.
    let x = [flat(0.0), across].concat();
    let state = PairState { x: &x, ..state };
    assert!(respond(&law, &state, 0, 2).unwrap().gradient.z < 0.0);
}

#[test]
fn steps_by_blocks_separate_strands() {
    // A bundle squeezed to half its thickness, solved as points without anything else: the depth dies away.
    let mut random = Random::new(11, 0);
    let counts = vec![6; 40];
    let mut x: Vec<Quad> = Vec::new();
    for _ in 0..40 {
        let at = vector(&mut random).with_x(0.0) * 4e-3;
        x.extend((0..6).map(|k| quad(at + Vec3::X * 5e-3 * k as f32 + vector(&mut random) * 1e-4)));
    }
    let (old, mass) = (x.clone(), vec![3e-8; x.len()]);
    let law = PairLaw { friction: 0.0, ..LAW };
    let mut pairs = StrandPairs::new(&counts);
    let mut blocks = vec![NodeBlock::default(); x.len()];
    let before = pairs.overlap(&x, law.thickness, &Threads::alone());
    for _ in 0..60 {
        pairs.search(&x, 1.5 * law.thickness, &Threads::alone());
        let state = PairState { x: &x, old: &old, mass: &mass, c_dt2: 2e-4 };
        pairs.evaluate(&law, &state, &mut blocks, &Threads::alone());
        for (x, block) in x.iter_mut().zip(&blocks) {
            let [xx, xy, yy, xz, yz, zz] = block.h.map(f64::from);
            let h = glam::DMat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz]);
            let h = h + glam::DMat3::from_diagonal(DVec3::splat(3e-8));
            let step = h.inverse() * Vec3::from_array(block.b).as_dvec3();
            *x = quad(point(x) - step.as_vec3());
        }
    }
    let after = pairs.overlap(&x, law.thickness, &Threads::alone());
    assert!(before.deepest > 5e-4 && after.deepest < 0.2 * before.deepest, "{before:?} {after:?}");
}

#[test]
fn broken_points_are_skipped() {
    let mut random = Random::new(10, 0);
    let counts = vec![11; 10_000];
    let mut x = walks(&mut random, &counts, 0.3, 0.005);
    let wild = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, -1e30, 1e12, 3e7];
    for _ in 0..5000 {
        let v = random.below(x.len() as u32) as usize;
        x[v][random.below(3) as usize] = wild[random.below(wild.len() as u32) as usize];
    }
    let threads = Threads::new(2).unwrap();
    let law = PairLaw { thickness: 2e-3, cohesion: 1e-3, ..LAW };
    let mut pairs = StrandPairs::new(&counts);
    let mut blocks = vec![NodeBlock::default(); x.len()];
    pairs.search(&x, 3e-3, &threads);
    assert!(pairs.skipped() > 5000 && pairs.skipped() < 12_000, "{}", pairs.skipped());
    assert!(pairs.pairs().count() > 1000);
    let mut later = x.clone();
    (0..500).for_each(|k| later[k * 17] = [f32::NAN; 4]);
    let mass = vec![1e-8; x.len()];
    let state = PairState { x: &later, old: &x, mass: &mass, c_dt2: 1e-4 };
    pairs.evaluate(&law, &state, &mut blocks, &threads);
    assert!(blocks.iter().all(|block| block.h.iter().chain(&block.b).all(|v| v.is_finite())));
    pairs.overlap(&x, 2e-3, &threads);
    // Nothing that is finite, everything in one place, nothing at all.
    for x in [vec![[f32::NAN; 4]; x.len()], vec![[1.0; 4]; x.len() / 11 * 11]] {
        let few = 22 * 3;
        let mut pairs = StrandPairs::new(&[11; 6]);
        for reach in [0.0, 1e-3, 1e30, f32::INFINITY, f32::NAN] {
            pairs.search(&x[..few], reach, &threads);
            pairs.overlap(&x[..few], reach, &threads);
        }
    }
    StrandPairs::new(&[]).search(&[], 1e-3, &threads);
    StrandPairs::new(&[0, 1, 1]).search(&[[0.0; 4]; 2], 1e-3, &threads);
}

#[test]
fn no_memory_is_taken_after_the_first_search() {
    let (counts, x) = head(200, 20);
    let mut pairs = StrandPairs::new(&counts);
    pairs.search(&x, 2e-3, &Threads::alone());
    let places =
        |pairs: &StrandPairs| (pairs.found.as_ptr(), pairs.found.capacity(), pairs.tree.capacities());
    pairs.overlap(&x, 2e-3, &Threads::alone());
    let before = places(&pairs);
    for k in 0..5 {
        let x: Vec<_> = x.iter().map(|x| quad(point(x) + Vec3::X * 0.01 * k as f32)).collect();
        pairs.search(&x, 2e-3, &Threads::alone());
        assert_eq!(places(&pairs), before);
    }
}

/// Time that this thread has had a processor \[ms\]: the machine may be busy with other things.
fn processor_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    stat.split(' ').next().and_then(|word| word.parse::<f64>().ok()).unwrap_or(0.0) * 1e-6
}

#[test]
#[ignore = "prints times; needs Linux"]
fn time_of_a_head() {
    let (counts, x) = head(10_000, 50);
    let old: Vec<_> = x.iter().map(|x| [x[0] + 1e-4, x[1], x[2] - 2e-4, 0.0]).collect();
    let mass = vec![3e-8; x.len()];
    let threads = Threads::alone();
    for (thickness, margin) in [(1e-3, 0.0), (1e-3, 0.5e-3), (0.5e-3, 0.25e-3)] {
        let law = PairLaw { thickness, ..LAW };
        let mut pairs = StrandPairs::new(&counts);
        let mut blocks = vec![NodeBlock::default(); x.len()];
        let mut best = [f64::INFINITY; 4];
        let mut overlap = Overlap::default();
        for _ in 0..3 {
            let mut times = [processor_time(); 5];
            pairs.tree.build(&pairs.is_segment, &x, thickness + margin, &threads);
            times[1] = processor_time();
            pairs.search(&x, thickness + margin, &threads);
            times[2] = processor_time();
            let state = PairState { x: &x, old: &old, mass: &mass, c_dt2: 2e-4 };
            pairs.evaluate(&law, &state, &mut blocks, &threads);
            times[3] = processor_time();
            overlap = pairs.overlap(&x, thickness, &threads);
            times[4] = processor_time();
            (0..4).for_each(|k| best[k] = best[k].min(times[k + 1] - times[k]));
        }
        let [built, searched, evaluated, measured] = best;
        let (count, touching) = (pairs.pairs().count(), overlap.pairs);
        println!(
            "{thickness} + {margin} m, processor ms: search {searched:.1} (tree {built:.1}), {count} pairs, \
             evaluate {evaluated:.1} ({:.0} ns a pair), overlap {measured:.1} ({touching} touch)",
            evaluated * 1e6 / count as f64,
        );
    }
}
