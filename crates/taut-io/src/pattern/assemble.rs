//! Panels as triangles: the rest shape side by side, the start in space, and pairs of sewn vertices.

use std::collections::BTreeMap;

use glam::{DVec2, DVec3, Vec2, Vec3};
use taut::mesh::{
    TriangleMesh,
    generate::{Garment, fill},
};

use super::{
    Contents, Difference, MAX_VERTICES, Panel, Pattern, SewnPattern, Stitch, outline,
    sew::{Sets, segments},
};
use crate::{Problem, Problems};

/// Distance of panels from each other in the rest shape \[m\].
const GAP: f64 = 0.05;
/// Panels that are larger or smaller than this \[m\] hint at wrong units.
const USUAL_SIZES: [f64; 2] = [0.03, 10.0];
/// How much nearer the other ends of a stitch must be for a warning.
const MUCH_NEARER: f64 = 0.5;
/// Rounds in which edges between sewn vertices are split.
const MAX_SPLITS: usize = 8;

/// A panel that has been sampled: its outline seen from outside, counter-clockwise.
struct Cut {
    /// Outline \[m\].
    polygon: Vec<DVec2>,
    /// By edge, in the order of the file: vertices of the outline, both ends included.
    chains: Vec<Vec<u32>>,
    /// By side of the outline: its edge.
    edges: Vec<usize>,
    /// −1 if the outside is the panel's back, so that it is mirrored.
    mirror: f64,
}

/// See [`Pattern::sew`].
pub(super) fn sew(pattern: &Pattern, edge: f64) -> Result<SewnPattern, Problems> {
    check_size(pattern, edge)?;
    let counts = segments(pattern, edge);
    let mut problems = Vec::new();
    let mut work = Work::default();
    for (panel, counts) in pattern.panels.iter().zip(&counts) {
        match cut(pattern, panel, counts).and_then(|cut| work.add(pattern, panel, cut, edge)) {
            Ok(()) => {}
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(Problems(problems));
    }
    for Stitch { sides: [a, b], is_right_wrong } in &pattern.stitches {
        let (a, b) = (&work.chains[a.panel][a.edge], &work.chains[b.panel][b.edge]);
        let mut partners = b.clone();
        if !is_right_wrong {
            partners.reverse();
        }
        // A dart's sides meet at its tip.
        work.seams
            .extend(a.iter().zip(&partners).filter(|(v, w)| v != w).map(|(&v, &w)| [v.min(w), v.max(w)]));
    }
    work.seams.sort_unstable();
    work.seams.dedup();
    work.split_sewn_edges(pattern)?;
    let warnings = warnings(pattern);
    let garment = work.finish();
    let contents = contents(pattern, &garment);
    Ok(SewnPattern { garment, contents, warnings })
}

/// The mesh must not be too large.
fn check_size(pattern: &Pattern, edge: f64) -> Result<(), Problems> {
    let mut vertices = 0.0;
    for panel in &pattern.panels {
        let outline: Vec<DVec2> = panel
            .order
            .iter()
            .flat_map(|&e| panel.edges[e].curve.points(16))
            .map(|p| p / pattern.units)
            .collect();
        let length: f64 = panel.edges.iter().map(|edge| edge.curve.length() / pattern.units).sum();
        vertices += 0.5 * outline::twice_area(&outline).abs() / (0.866 * edge * edge) + length / edge;
    }
    if vertices <= MAX_VERTICES {
        return Ok(());
    }
    let (units, size) = (pattern.units, largest(pattern));
    let message = format!(
        "would have about {vertices:.1e} vertices, must have at most {MAX_VERTICES:.0e}: panels are up to {size:.2} m \
         with {units} units in a metre; use a longer edge than {edge} m, or other units"
    );
    Err(pattern.problem("pattern".into(), message).into())
}

/// Extent of the largest panel \[m\].
fn largest(pattern: &Pattern) -> f64 {
    let size = |panel: &Panel| {
        let points = || panel.edges.iter().flat_map(|edge| edge.curve.points(8));
        let low = points().fold(DVec2::MAX, DVec2::min);
        let high = points().fold(DVec2::MIN, DVec2::max);
        (high - low).max_element() / pattern.units
    };
    pattern.panels.iter().map(size).fold(0.0, f64::max)
}

/// Samples the outline of a panel.
fn cut(pattern: &Pattern, panel: &Panel, counts: &[usize]) -> Result<Cut, Problem> {
    let mut cut = Cut {
        polygon: Vec::new(),
        chains: vec![Vec::new(); panel.edges.len()],
        edges: Vec::new(),
        mirror: 1.0,
    };
    let total: usize = counts.iter().sum();
    for &number in &panel.order {
        let first = cut.polygon.len();
        let points = panel.edges[number].curve.points(counts[number]);
        cut.polygon.extend(points[..counts[number]].iter().map(|p| p / pattern.units));
        cut.edges.resize(cut.polygon.len(), number);
        cut.chains[number] = (first..=first + counts[number]).map(|v| (v % total) as u32).collect();
    }
    if outline::twice_area(&cut.polygon) < 0.0 {
        cut.mirror = -1.0;
        cut.polygon.iter_mut().for_each(|p| p.x = -p.x);
    }
    match outline::crossing(&cut.polygon) {
        None => Ok(cut),
        Some(sides) => {
            let [a, b] = sides.map(|side| cut.edges[side]);
            let at = cut.polygon[sides[1]] * pattern.units;
            let which =
                if a == b { format!("edge {a} crosses itself") } else { format!("edges {a} and {b} meet") };
            let message = format!(
                "crosses itself: {which} near ({:.4}, {:.4}); an outline may only meet itself where edges join",
                cut.mirror * at.x,
                at.y
            );
            Err(pattern.problem(format!("panel {}", panel.name), message))
        }
    }
}

/// Panels so far.
#[derive(Default)]
struct Work {
    flat: Vec<DVec2>,
    start: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    /// By panel and edge: its vertices.
    chains: Vec<Vec<Vec<u32>>>,
    groups: BTreeMap<String, Vec<u32>>,
    seams: Vec<[u32; 2]>,
    /// Vertices of each panel.
    ranges: Vec<std::ops::Range<usize>>,
}

impl Work {
    fn add(&mut self, pattern: &Pattern, panel: &Panel, cut: Cut, edge: f64) -> Result<(), Problem> {
        let Some((points, triangles)) = fill(&cut.polygon, edge) else {
            let message =
                "cannot be filled with triangles: its outline nearly touches itself; use a shorter edge";
            return Err(pattern.problem(format!("panel {}", panel.name), message.into()));
        };
        let first = self.flat.len() as u32;
        let place =
            |p: &DVec2| panel.place(DVec2::new(cut.mirror * p.x, p.y) * pattern.units) / pattern.units;
        self.start.extend(points.iter().map(place));
        self.flat.extend(&points);
        self.triangles.extend(triangles.iter().map(|t| t.map(|v| v + first)));
        self.ranges.push(first as usize..self.flat.len());
        let chains: Vec<Vec<u32>> =
            cut.chains.iter().map(|chain| chain.iter().map(|v| v + first).collect()).collect();
        let all = || first..first + points.len() as u32;
        self.groups.entry(format!("panel:{}", panel.name)).or_default().extend(all());
        if let Some(label) = &panel.label {
            self.groups.entry(label.clone()).or_default().extend(all());
        }
        for (edge, chain) in panel.edges.iter().zip(&chains) {
            if let Some(label) = &edge.label {
                self.groups.entry(label.clone()).or_default().extend(chain);
            }
        }
        self.chains.push(chains);
        Ok(())
    }

    /// Splits edges between vertices that are sewn together: triangles with such an edge would have no area.
    fn split_sewn_edges(&mut self, pattern: &Pattern) -> Result<(), Problem> {
        for _ in 0..MAX_SPLITS {
            let mut sets = Sets::new(self.flat.len());
            for &[a, b] in &self.seams {
                sets.join(a as usize, b as usize);
            }
            let mut sides: BTreeMap<[u32; 2], Vec<usize>> = BTreeMap::new();
            for (t, &[a, b, c]) in self.triangles.iter().enumerate() {
                for [p, q] in [[a, b], [b, c], [c, a]] {
                    if sets.root(p as usize) == sets.root(q as usize) {
                        sides.entry([p.min(q), p.max(q)]).or_default().push(t);
                    }
                }
            }
            if sides.is_empty() {
                return Ok(());
            }
            let mut touched = vec![false; self.triangles.len()];
            for ([p, q], beside) in sides {
                if beside.len() < 2 {
                    return Err(self.collapsed(pattern, p));
                }
                // Two edges of one triangle: the other in the next round.
                if beside.iter().any(|&t| touched[t]) {
                    continue;
                }
                let middle = self.flat.len() as u32;
                self.flat.push(0.5 * (self.flat[p as usize] + self.flat[q as usize]));
                self.start.push(0.5 * (self.start[p as usize] + self.start[q as usize]));
                for members in self.groups.values_mut() {
                    if members.contains(&p) && members.contains(&q) {
                        members.push(middle);
                    }
                }
                for t in beside {
                    touched[t] = true;
                    let old = self.triangles[t];
                    self.triangles[t] = old.map(|v| if v == p { middle } else { v });
                    self.triangles.push(old.map(|v| if v == q { middle } else { v }));
                    touched.push(true);
                }
            }
        }
        let message = "its stitches sew whole triangles together; use a shorter edge";
        Err(pattern.problem("pattern".into(), message.into()))
    }

    /// The problem of an edge of the outline whose ends are sewn together.
    fn collapsed(&self, pattern: &Pattern, vertex: u32) -> Problem {
        let panel = self.ranges.iter().position(|range| range.contains(&(vertex as usize))).unwrap_or(0);
        let edge = self.chains[panel].iter().position(|chain| chain.contains(&vertex)).unwrap_or(0);
        let message =
            "its stitches sew neighbouring vertices together, which leaves no area; use a shorter edge";
        pattern.problem(format!("panel {}, edge {edge}", pattern.panels[panel].name), message.into())
    }

    /// Moves panels apart, in rows of about equal length.
    fn lay_out(&mut self) {
        let boxes: Vec<[DVec2; 2]> = self
            .ranges
            .iter()
            .map(|range| {
                let points = &self.flat[range.clone()];
                [
                    points.iter().fold(DVec2::MAX, |a, p| a.min(*p)),
                    points.iter().fold(DVec2::MIN, |a, p| a.max(*p)),
                ]
            })
            .collect();
        let area: f64 = boxes.iter().map(|[low, high]| (high.x - low.x + GAP) * (high.y - low.y + GAP)).sum();
        let widest = boxes.iter().map(|[low, high]| high.x - low.x).fold(0.0, f64::max);
        let row = widest.max(1.5 * area.sqrt());
        let (mut at, mut height) = (DVec2::ZERO, 0.0f64);
        let mut shifts = Vec::new();
        for [low, high] in &boxes {
            if at.x > 0.0 && at.x + high.x - low.x > row {
                at = DVec2::new(0.0, at.y + height + GAP);
                height = 0.0;
            }
            shifts.push(at - *low);
            at.x += high.x - low.x + GAP;
            height = height.max(high.y - low.y);
        }
        for (range, shift) in self.ranges.iter().zip(shifts) {
            self.flat[range.clone()].iter_mut().for_each(|p| *p += shift);
        }
    }

    fn finish(mut self) -> Garment {
        // Vertices that split edges are in no range: they follow their neighbours, which moved as one.
        let inside = self.ranges.last().map_or(0, |range| range.end);
        let before: Vec<DVec2> = self.flat.clone();
        self.lay_out();
        for t in &self.triangles {
            let Some(&known) = t.iter().find(|&&v| (v as usize) < inside) else { continue };
            let shift = self.flat[known as usize] - before[known as usize];
            for v in t.map(|v| v as usize).into_iter().filter(|&v| v >= inside) {
                self.flat[v] = before[v] + shift;
            }
        }
        let high = self.flat.iter().fold(DVec2::ZERO, |high, p| high.max(*p));
        let scale = 1.0 / high.max_element().max(1e-9);
        let uv = |v: u32| (self.flat[v as usize] * scale).as_vec2();
        let uvs: Vec<[Vec2; 3]> = self.triangles.iter().map(|t| t.map(uv)).collect();
        // Flat, facing up: the pattern's upward direction is −z.
        let positions = self.flat.iter().map(|p| Vec3::new(p.x as f32, 0.0, -p.y as f32)).collect();
        for members in self.groups.values_mut() {
            members.sort_unstable();
            members.dedup();
        }
        let start = self.start.iter().map(|p| p.as_vec3()).collect();
        let mesh = TriangleMesh { positions, triangles: self.triangles, uvs: Some(uvs), groups: self.groups };
        Garment { mesh, start, seams: self.seams }
    }
}

fn contents(pattern: &Pattern, garment: &Garment) -> Contents {
    let lengths = |stitch: &Stitch| stitch.sides.map(|side| pattern.length(side));
    let differs = |stitch: &Stitch| {
        let [a, b] = lengths(stitch);
        (a - b).abs() / (a + b)
    };
    let worst = pattern
        .stitches
        .iter()
        .enumerate()
        .max_by(|(i, a), (j, b)| differs(a).total_cmp(&differs(b)).then(j.cmp(i)));
    let opening = garment.seams.iter().map(|pair| {
        let [a, b] = pair.map(|v| garment.start[v as usize]);
        f64::from(a.distance(b))
    });
    Contents {
        panels: pattern.panels.len(),
        stitches: pattern.stitches.len(),
        triangles: garment.mesh.triangles.len(),
        opening: opening.fold(0.0, f64::max),
        worst_stitch: worst.map(|(number, stitch)| Difference {
            stitch: number,
            sides: stitch.sides.map(|side| pattern.side_name(side)),
            lengths: lengths(stitch),
        }),
    }
}

/// What looks odd.
fn warnings(pattern: &Pattern) -> Vec<String> {
    let mut warnings = pattern.notes.clone();
    let size = largest(pattern);
    if !(USUAL_SIZES[0]..=USUAL_SIZES[1]).contains(&size) {
        let units = pattern.units;
        warnings.push(format!(
            "the largest panel measures {size:.3} m with {units} units in a metre; set units_in_meter if that is wrong"
        ));
    }
    let mut seen = BTreeMap::new();
    for (number, Stitch { sides, is_right_wrong }) in pattern.stitches.iter().enumerate() {
        let ends = sides.map(|side| {
            let panel = &pattern.panels[side.panel];
            panel.edges[side.edge].curve.ends().map(|p| panel.place(p))
        });
        let [[a, b], [c, d]] = ends;
        let (opposite, same) = (a.distance(d) + b.distance(c), a.distance(c) + b.distance(d));
        let (own, other) = if *is_right_wrong { (same, opposite) } else { (opposite, same) };
        let [first, second] = sides.map(|side| pattern.side_name(side));
        if other < MUCH_NEARER * own && sides[0].panel != sides[1].panel {
            let mark = if *is_right_wrong { "is" } else { "is not" };
            warnings.push(format!(
                "stitch {number} ({first}, {second}) {mark} marked right_wrong, and its panels start nearer the other way round"
            ));
        }
        for side in sides {
            if let Some(before) = seen.insert(*side, number) {
                let name = pattern.side_name(*side);
                warnings.push(format!(
                    "{name} is sewn by stitch {before} and by stitch {number}: three layers meet there"
                ));
            }
        }
    }
    warnings
}
