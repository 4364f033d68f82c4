//! The search for one element's limits: 16 searches at once, one per lane, on the same patch of the finer
//! mesh.
//!
//! Each round pushes the element a little further in lanes where all limits of the patch are satisfied, moves
//! the vertices that carry its corners along, sweeps over the patch's triangles and hinges (Gauss–Seidel, the
//! limiter's own kernels) and measures the element. The result is the furthest state in which every limit was
//! satisfied to [`TOLERANCE`] before the last sweep.
//!
//! Before that, rolls are scanned: 16 curvatures about each axis, without sweeps. The furthest that satisfy
//! the limits are starts, and so are rolls slightly beyond them.
//!
//! Lengths are in edges of the finer mesh, so that the kernels can use inverse masses of 1.

use glam::DVec3;

use super::patch::{Element, Fine, Patch, Places};
use super::starts::{self, Drive, Start, Starts};
use super::{angle_and_heights, within_half_turn};
use crate::{
    element::hinge::NO_ANGLE,
    kernel::{
        dihedral::dihedral,
        lanes::{self, BATCH, LaneKind, Lanes, Work},
        real::{V3, add, combine, dot, scale},
        strain::{Range, limit_strain_gradient},
        svd2::{cauchy, deformation_gradient, rest_inverse},
    },
    limit::NO_LIMIT,
};

/// Residual at which a limit counts as satisfied: strain, and half of an angle \[rad\].
const TOLERANCE: f32 = 0.003;
/// Sweeps per round.
const SWEEPS_PER_ROUND: usize = 4;
/// Rounds for an element of zero width, and additional rounds per edge of the finer mesh of its width.
const ROUNDS: [f64; 2] = [40.0, 8.0];
/// Width, in edges of the finer mesh, beyond which an element gets no additional rounds.
const MAX_WIDTH: f64 = 64.0;
/// Approximate displacement of the element's corners in the first round, in edges of the finer mesh: larger
/// steps crumple it.
const FIRST_PUSH: f32 = 0.15;
/// Fraction of that in the last round.
const LAST_PUSH_FRACTION: f32 = 0.1;
/// Curvature of the starts beyond those that satisfy the limits, as a factor.
const BEYOND_FACTOR: f64 = 1.35;
/// Result of lanes without any state that satisfied the limits.
const NOTHING: f32 = -1e9;
/// sin(θ/2) past which a hinge counts as folded flat: 164 degrees.
const FOLDED: f32 = 0.99;

/// One float per lane.
type Column = [f32; BATCH];

/// Scratch of a search, reused by the next.
#[derive(Default)]
pub(super) struct Memory {
    local: Local,
    x: Vec<[Column; 3]>,
}

/// A patch in the form that the sweeps use.
#[derive(Default)]
struct Local {
    /// Vertices at rest, in edges of the finer mesh relative to the element's centre.
    rest: Vec<DVec3>,
    triangles: Vec<LocalTriangle>,
    hinges: Vec<LocalHinge>,
    corners: Vec<LocalSite>,
}

struct LocalTriangle {
    vertices: [u32; 3],
    rest: [f32; 3],
    range: Range<f32>,
}

struct LocalHinge {
    vertices: [u32; 4],
    /// Allowed sin(θ/2).
    sin_half: [f32; 2],
}

struct LocalSite {
    vertices: [u32; 3],
    weights: [f32; 3],
    /// Displacement of each vertex for a unit displacement of the site: the smallest one that achieves it.
    shares: [f32; 3],
}

/// Limits of `element`, within its closed-form `bounds`.
pub(super) fn search(
    fine: &Fine,
    patch: (&Patch, Places<'_>),
    element: &Element,
    bounds: [f32; 2],
    kind: LaneKind,
    memory: &mut Memory,
) -> [f32; 2] {
    if element.is_triangle() {
        search_triangle(fine, patch, element, bounds, kind, memory)
    } else {
        search_hinge(fine, patch, element, bounds, kind, memory)
    }
}

fn search_triangle(
    fine: &Fine,
    patch: (&Patch, Places<'_>),
    element: &Element,
    [low, high]: [f32; 2],
    kind: LaneKind,
    memory: &mut Memory,
) -> [f32; 2] {
    // The value of a uniformly scaled rest shape.
    let range = patch.0.triangles.iter().map(|&t| fine.strain[t as usize]);
    let (min, max) = range.fold((0f32, NO_LIMIT), |(min, max), r| (min.max(r.min), max.min(r.max)));
    let edge = patch.0.edge;
    let rest = rest_inverse([0, 1, 2].map(|k| (element.points[k] / edge).to_array()));
    let shrinks = low < min && bends_are_limited(fine, patch.0);
    let stretches = high > max;
    let Some((rest, _)) = rest.filter(|_| shrinks || stretches) else {
        return [low, high];
    };
    let rest = rest.map(|r| r as f32);
    memory.local.fill(fine, patch, element);
    let (mut lower, mut upper) = (low, high);
    let aim = Aim::new(Some(rest), element, edge);
    if shrinks {
        let starts = starts::shrinking(element, edge, f64::from(low / min));
        let found = memory.search(&starts, aim, kind);
        lower = found.iter().fold(min, |l, f| l.min(-f.1)).max(low);
    }
    if stretches {
        let found = memory.run(&starts::stretching(element), aim, kind, aim.rounds(), SWEEPS_PER_ROUND);
        upper = found.iter().fold(max, |u, &f| u.max(f)).min(high);
    }
    [lower, upper]
}

fn search_hinge(
    fine: &Fine,
    patch: (&Patch, Places<'_>),
    element: &Element,
    [low, high]: [f32; 2],
    kind: LaneKind,
    memory: &mut Memory,
) -> [f32; 2] {
    if !bends_are_limited(fine, patch.0) {
        return [low, high];
    }
    let rest = angle_and_heights([0, 1, 2, 3].map(|k| element.points[k])).0 as f32;
    let edge = patch.0.edge;
    memory.local.fill(fine, patch, element);
    let aim = Aim::new(None, element, edge);
    let found = memory.search(&starts::bending(element, edge, [low - rest, high - rest]), aim, kind);
    let (mut lower, mut upper) = (rest, rest);
    for (sign, furthest) in found.into_iter().filter(|f| f.1 > NOTHING) {
        let sin_half = sign * furthest;
        let angle = if sin_half.abs() > FOLDED {
            NO_ANGLE.copysign(sin_half)
        } else {
            within_half_turn(2.0 * f64::from(sin_half).asin())
        };
        if sign < 0.0 {
            lower = lower.min(angle);
        } else {
            upper = upper.max(angle);
        }
    }
    [lower.max(low), upper.min(high)]
}

/// Whether any hinge of a patch has a limit.
fn bends_are_limited(fine: &Fine, patch: &Patch) -> bool {
    let angles = patch.hinges.iter().flat_map(|&h| fine.bend[h as usize]);
    angles.into_iter().any(|angle| angle.abs() < std::f32::consts::PI)
}

impl Local {
    fn fill(&mut self, fine: &Fine, (patch, places): (&Patch, Places<'_>), element: &Element) {
        let center = element.points.iter().sum::<DVec3>() / element.points.len() as f64;
        let scale = 1.0 / patch.edge;
        self.rest.clear();
        self.rest.extend(patch.vertices.iter().map(|&v| (fine.positions[v as usize] - center) * scale));
        self.triangles.clear();
        for &t in &patch.triangles {
            let vertices = fine.triangles[t as usize].map(|v| places.of(v));
            let corners = vertices.map(|v| self.rest[v as usize].to_array());
            if let Some((rest, _)) = rest_inverse(corners) {
                let rest = rest.map(|r| r as f32);
                self.triangles.push(LocalTriangle { vertices, rest, range: fine.strain[t as usize] });
            }
        }
        self.hinges.clear();
        for &h in &patch.hinges {
            let sin_half = fine.bend[h as usize].map(|angle| {
                if angle.abs() < std::f32::consts::PI { (0.5 * angle).sin() } else { 2f32.copysign(angle) }
            });
            if sin_half[0] > -1.0 || sin_half[1] < 1.0 {
                let vertices = fine.hinges[h as usize].map(|v| places.of(v));
                self.hinges.push(LocalHinge { vertices, sin_half });
            }
        }
        self.corners.clear();
        self.corners.extend(element.sites.iter().map(|site| {
            let weights = site.weights;
            let square: f32 = weights.iter().map(|w| w * w).sum();
            LocalSite {
                vertices: fine.triangles[site.triangle as usize].map(|v| places.of(v)),
                weights,
                shares: weights.map(|w| w / square),
            }
        }));
    }
}

impl Memory {
    /// Scans rolls and searches from the furthest that satisfy the limits: sign of each search or scan, and
    /// its result in that direction.
    fn search(&mut self, starts: &Starts, aim: Aim, kind: LaneKind) -> Vec<(f32, f32)> {
        let mut found = Vec::new();
        let mut rolls = starts.rolled;
        for roll in &mut rolls {
            let scanned = self.run(&std::array::from_fn(|lane| roll.part(lane, BATCH)), aim, kind, 1, 1);
            let lanes = 0..BATCH;
            let best = lanes.max_by(|&a, &b| scanned[a].total_cmp(&scanned[b])).unwrap_or(0);
            found.push((roll.sign(), scanned[best]));
            *roll = roll.part(if scanned[best] > NOTHING { best } else { 0 }, BATCH);
        }
        let lanes: [Start; BATCH] = std::array::from_fn(|lane| match lane {
            0..6 => rolls[lane],
            6..12 => rolls[lane - 6].bent(BEYOND_FACTOR),
            _ => starts.at_rest[lane - 12],
        });
        let furthest = self.run(&lanes, aim, kind, aim.rounds(), SWEEPS_PER_ROUND);
        found.extend(lanes.iter().map(Start::sign).zip(furthest));
        found
    }

    /// The result of each lane in the direction of its sign: its smaller or larger stretch, or sin(θ/2).
    fn run(
        &mut self,
        starts: &[Start; BATCH],
        aim: Aim,
        kind: LaneKind,
        rounds: usize,
        sweeps: usize,
    ) -> Column {
        self.x.clear();
        self.x.resize(self.local.rest.len(), [[0.0; BATCH]; 3]);
        for (lane, start) in starts.iter().enumerate() {
            for (x, place) in self.x.iter_mut().zip(start.positions(&self.local.rest)) {
                for k in 0..3 {
                    x[k][lane] = place[k] as f32;
                }
            }
        }
        let drives = Drives::new(starts);
        lanes::run(kind, Rounds { local: &self.local, x: &mut self.x, drives, aim, rounds, sweeps })
    }
}

/// What is measured and pushed.
#[derive(Clone, Copy)]
struct Aim {
    /// Rest inverse of the triangle whose stretches it is; `None` for the angle of a hinge.
    rest: Option<[f32; 3]>,
    /// Approximate width of the element in edges of the finer mesh.
    size: f32,
}

impl Aim {
    fn new(rest: Option<[f32; 3]>, element: &Element, edge: f64) -> Self {
        Self { rest, size: (element.size() / edge).clamp(1.0, MAX_WIDTH) as f32 }
    }

    fn rounds(&self) -> usize {
        (ROUNDS[0] + ROUNDS[1] * f64::from(self.size)) as usize
    }
}

/// Push direction of each lane.
struct Drives {
    /// 1 grows (stretch, angle), −1 shrinks.
    sign: Column,
    /// Symmetric matrix of the strain that it pushes, in the triangle's rest frame: xx, xy, yy.
    strain: [Column; 3],
}

impl Drives {
    fn new(starts: &[Start; BATCH]) -> Self {
        let mut drives = Self { sign: [0.0; BATCH], strain: [[0.0; BATCH]; 3] };
        for (lane, start) in starts.iter().enumerate() {
            drives.sign[lane] = start.sign();
            if let Drive::Strain(_, strain) = start.drive {
                for k in 0..3 {
                    drives.strain[k][lane] = strain[k];
                }
            }
        }
        drives
    }
}

struct Rounds<'a> {
    local: &'a Local,
    x: &'a mut [[Column; 3]],
    drives: Drives,
    aim: Aim,
    rounds: usize,
    sweeps: usize,
}

impl Work for Rounds<'_> {
    type Output = Column;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Column {
        let mut best = [0.0; BATCH];
        let fade = LAST_PUSH_FRACTION.powf(1.0 / self.rounds as f32);
        for at in (0..BATCH).step_by(L::WIDTH) {
            let sign = L::load(&self.drives.sign, at);
            let strain = L::load_all(&self.drives.strain, at);
            let mut furthest = L::splat(NOTHING);
            let mut push = L::splat(0.0);
            let mut length = FIRST_PUSH / self.aim.size;
            for _ in 0..self.rounds {
                match self.aim.rest {
                    Some(rest) => push_triangle(self.local, self.x, at, rest, &strain, sign * push),
                    None => push_hinge(self.local, self.x, at, sign * push),
                }
                let mut residual = L::splat(0.0);
                for _ in 0..self.sweeps {
                    residual = sweep(self.local, self.x, at);
                }
                let measured = match self.aim.rest {
                    Some(rest) => measure_triangle(self.local, self.x, at, rest, sign),
                    None => dihedral(&corners(self.local, self.x, at)).sin_half,
                };
                let holds = residual.le(L::splat(TOLERANCE));
                furthest = L::select(holds, furthest.max(sign * measured), furthest);
                push = L::select(holds, L::splat(length), L::splat(0.0));
                length *= fade;
            }
            furthest.store(&mut best, at);
        }
        best
    }
}

#[inline(always)]
fn load<L: Lanes>(x: &[[Column; 3]], v: u32, at: usize) -> V3<L> {
    L::load_all(&x[v as usize], at)
}

#[inline(always)]
fn store<L: Lanes>(x: &mut [[Column; 3]], v: u32, at: usize, value: V3<L>) {
    for k in 0..3 {
        value[k].store(&mut x[v as usize][k], at);
    }
}

#[inline(always)]
fn splat3<L: Lanes>(values: [f32; 3]) -> [L; 3] {
    [L::splat(values[0]), L::splat(values[1]), L::splat(values[2])]
}

/// Positions of the element's corners.
#[inline(always)]
fn corners<L: Lanes, const K: usize>(local: &Local, x: &[[Column; 3]], at: usize) -> [V3<L>; K] {
    let mut corners = [[L::splat(0.0); 3]; K];
    for k in 0..K {
        let site = &local.corners[k];
        let w = splat3::<L>(site.weights);
        let (a, b) = (load::<L>(x, site.vertices[0], at), load::<L>(x, site.vertices[1], at));
        let c = load::<L>(x, site.vertices[2], at);
        corners[k] = add(combine(a, w[0], b, w[1]), scale(c, w[2]));
    }
    corners
}

#[inline(always)]
fn move_corner<L: Lanes>(local: &Local, x: &mut [[Column; 3]], at: usize, corner: usize, by: V3<L>) {
    let site = &local.corners[corner];
    for k in 0..3 {
        let old = load::<L>(x, site.vertices[k], at);
        store(x, site.vertices[k], at, add(old, scale(by, L::splat(site.shares[k]))));
    }
}

/// Strains the triangle by `push` times the matrix `strain`, about its centre.
#[inline(always)]
fn push_triangle<L: Lanes>(
    local: &Local,
    x: &mut [[Column; 3]],
    at: usize,
    rest: [f32; 3],
    strain: &[L; 3],
    push: L,
) {
    let f = deformation_gradient(&corners::<L, 3>(local, x, at), splat3(rest));
    let g = [combine(f[0], strain[0], f[1], strain[1]), combine(f[0], strain[1], f[1], strain[2])];
    // Corners of the rest triangle, from its inverse; the first is the origin.
    let [i00, i01, i11] = rest;
    let (first, second) = (1.0 / i00, [-i01 / (i00 * i11), 1.0 / i11]);
    let center = [(first + second[0]) / 3.0, second[1] / 3.0];
    let places = [[0.0, 0.0], [first, 0.0], second];
    for k in 0..3 {
        let (px, py) = (places[k][0] - center[0], places[k][1] - center[1]);
        move_corner(local, x, at, k, combine(g[0], L::splat(px) * push, g[1], L::splat(py) * push));
    }
}

/// Bends the hinge by `push` \[rad\], along the gradient of its angle.
#[inline(always)]
fn push_hinge<L: Lanes>(local: &Local, x: &mut [[Column; 3]], at: usize, push: L) {
    let g = dihedral(&corners::<L, 4>(local, x, at)).gradient;
    let square = dot(g[0], g[0]) + dot(g[1], g[1]) + dot(g[2], g[2]) + dot(g[3], g[3]);
    let k = push / square.max(L::splat(1e-12));
    for i in 0..4 {
        move_corner(local, x, at, i, scale(g[i], k));
    }
}

/// The larger stretch where it should grow, the smaller elsewhere.
#[inline(always)]
fn measure_triangle<L: Lanes>(local: &Local, x: &[[Column; 3]], at: usize, rest: [f32; 3], sign: L) -> L {
    let c = cauchy(&deformation_gradient(&corners::<L, 3>(local, x, at), splat3(rest)));
    L::select(sign.lt(L::splat(0.0)), c.smaller, c.larger).sqrt()
}

/// One sweep over the patch. Returns the largest residual found.
#[inline(always)]
fn sweep<L: Lanes>(local: &Local, x: &mut [[Column; 3]], at: usize) -> L {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let mut worst = zero;
    for hinge in &local.hinges {
        let [a, b, c, d] = hinge.vertices;
        let q = [load::<L>(x, a, at), load::<L>(x, b, at), load::<L>(x, c, at), load::<L>(x, d, at)];
        let fold = dihedral(&q);
        let goal = fold.sin_half.clamp(L::splat(hinge.sin_half[0]), L::splat(hinge.sin_half[1]));
        let miss = goal - fold.sin_half;
        worst = worst.max(miss.abs());
        if !L::any(zero.lt(miss.abs())) {
            continue;
        }
        // dθ = 2 d sin(θ/2) / cos(θ/2), which is unreliable near half a turn.
        let turn = (miss + miss) / fold.cos_half.max(L::splat(0.25));
        let g = fold.gradient;
        let square = dot(g[0], g[0]) + dot(g[1], g[1]) + dot(g[2], g[2]) + dot(g[3], g[3]);
        let k = turn / square.max(L::splat(1e-12));
        for i in 0..4 {
            store(x, hinge.vertices[i], at, add(q[i], scale(g[i], k)));
        }
    }
    for triangle in &local.triangles {
        let [a, b, c] = triangle.vertices;
        let q = [load::<L>(x, a, at), load::<L>(x, b, at), load::<L>(x, c, at)];
        let range = Range { min: L::splat(triangle.range.min), max: L::splat(triangle.range.max) };
        let projected = limit_strain_gradient(&q, [one; 3], splat3(triangle.rest), range, one);
        let Some(projected) = projected else { continue };
        worst = worst.max(projected.residual);
        for i in 0..3 {
            store(x, triangle.vertices[i], at, add(q[i], projected.moves[i]));
        }
    }
    worst
}
