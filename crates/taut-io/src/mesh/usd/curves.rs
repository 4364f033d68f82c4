//! Strands of a USD file: its `BasisCurves`.
//!
//! Linear curves are read as they are. Cubic ones (`bezier`, `bspline`, `catmullRom`) are evaluated where
//! their segments meet, and Bézier segments at two points between: about as many points as the file has
//! control points. Pinned curves get the phantom points that USD defines. `widths` are diameters, with any
//! interpolation.

use glam::DMat4;
use taut::mesh::groom::Groom;

use super::{
    super::{
        fault::{Fault, fault},
        groom::check_size,
    },
    open,
    stage::{Stage, When},
};

/// Reads the strands that the bytes of a USD file show.
pub(in super::super) fn parse(bytes: &[u8]) -> Result<Groom, Fault> {
    let stage = open(bytes)?;
    let (mut groom, mut all_have_radii) = (Groom::default(), true);
    for prim in stage.shown("BasisCurves")? {
        let own = stage.strands(prim)?;
        check_size(groom.positions.len() + own.positions.len())?;
        all_have_radii &= own.positions.is_empty() || !own.radii.is_empty();
        groom.positions.extend(own.positions);
        groom.counts.extend(own.counts);
        groom.radii.extend(own.radii);
    }
    if !all_have_radii {
        groom.radii.clear();
    }
    Ok(groom)
}

/// A point of a curve, over its control points, by their weights.
struct Sample {
    controls: [(usize, f64); 4],
    /// Where it is among the ends of segments, from 0: for values that vary along the curve.
    along: f64,
}

/// How control points make a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Linear,
    Bezier,
    Spline { is_catmull_rom: bool, is_pinned: bool },
}

impl Kind {
    /// Why `count` control points make no curve, if they do not.
    fn problem(self, count: usize) -> Option<String> {
        let least = match self {
            Self::Linear | Self::Spline { is_pinned: true, .. } => 2,
            _ => 4,
        };
        if count < least {
            return Some(format!("has {count} points: must have at least {least}"));
        }
        if self == Self::Bezier && count % 3 != 1 {
            return Some(format!("has {count} points: Bézier segments need 4, and 3 for each further one"));
        }
        None
    }

    /// Number of ends of segments of a curve of `count` control points.
    fn ends(self, count: usize) -> usize {
        match self {
            Self::Linear | Self::Spline { is_pinned: true, .. } => count,
            Self::Bezier => count / 3 + 1,
            Self::Spline { .. } => count.saturating_sub(2),
        }
    }

    /// Points of a curve of `count` control points, which are enough.
    fn samples(self, count: usize) -> Vec<Sample> {
        let one = |k: usize| [(k, 1.0), (k, 0.0), (k, 0.0), (k, 0.0)];
        match self {
            Self::Linear => (0..count).map(|k| Sample { controls: one(k), along: k as f64 }).collect(),
            Self::Bezier => {
                let sample = |i: usize| {
                    let (segment, step) = if i == 0 { (0, 0) } else { ((i - 1) / 3, (i - 1) % 3 + 1) };
                    let t = step as f64 / 3.0;
                    let s = 1.0 - t;
                    let weights = [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t];
                    let controls = [0, 1, 2, 3].map(|k| (3 * segment + k, weights[k]));
                    Sample { controls, along: segment as f64 + t }
                };
                (0..count).map(sample).collect()
            }
            Self::Spline { is_catmull_rom, is_pinned } => {
                let inner = |k: usize| {
                    if is_catmull_rom {
                        return one(k);
                    }
                    [(k - 1, 1.0 / 6.0), (k, 4.0 / 6.0), (k + 1, 1.0 / 6.0), (k, 0.0)]
                };
                let first = if is_pinned { 0 } else { 1 };
                // A pinned curve begins and ends at its first and last control point.
                let at = |k: usize| if k == 0 || k + 1 == count { one(k) } else { inner(k) };
                let sample = |k: usize| Sample { controls: at(k), along: (k - first) as f64 };
                (first..count - first).map(sample).collect()
            }
        }
    }
}

impl Stage<'_> {
    /// The strands of a `BasisCurves`.
    fn strands(&self, prim: usize) -> Result<Groom, Fault> {
        let placement = self.placement(prim, When::Still)?;
        let controls = self.positions(prim, When::Still, placement)?;
        let kind = self.kind(prim)?;
        let Some(counts) = self.indices(prim, "curveVertexCounts", When::Still, None)? else {
            return Err(self.at(
                fault("is missing: BasisCurves must have it"),
                prim,
                Some("curveVertexCounts"),
            ));
        };
        let wrong = |message: String| Err(self.at(fault(message), prim, Some("curveVertexCounts")));
        let sum: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        if sum != controls.len() as u64 {
            return wrong(format!("add up to {sum}: there are {} points", controls.len()));
        }
        let widths = self.widths(prim, &counts, kind, placement)?;
        let mut groom = Groom::default();
        let (mut first, mut first_end) = (0, 0);
        for (curve, &count) in counts.iter().enumerate() {
            let count = count as usize;
            if let Some(problem) = kind.problem(count) {
                return wrong(format!("curve {curve} (from 0) {problem}"));
            }
            let samples = kind.samples(count);
            for Sample { controls: at, along } in &samples {
                let mean =
                    |value: &dyn Fn(usize) -> f64| at.iter().map(|&(k, w)| w * value(first + k)).sum::<f64>();
                let [x, y, z] = [0, 1, 2].map(|axis| mean(&|k| f64::from(controls[k][axis])) as f32);
                groom.positions.push(glam::Vec3::new(x, y, z));
                let width = match &widths {
                    Widths::None => continue,
                    Widths::Constant(width) => *width,
                    Widths::Uniform(widths) => widths[curve],
                    Widths::Vertex(widths) => mean(&|k| widths[k]),
                    Widths::Varying(widths) => {
                        let low = (along.floor() as usize).min(kind.ends(count) - 1);
                        let high = (low + 1).min(kind.ends(count) - 1);
                        let [a, b] = [low, high].map(|end| widths[first_end + end]);
                        a + (b - a) * (along - low as f64)
                    }
                };
                groom.radii.push((0.5 * width) as f32);
            }
            groom.counts.push(samples.len() as u32);
            (first, first_end) = (first + count, first_end + kind.ends(count));
        }
        Ok(groom)
    }

    fn kind(&self, prim: usize) -> Result<Kind, Fault> {
        let wrong = |name: &str, word: &str, allowed: &str| {
            Err(self.at(fault(format!("is {word:?}: must be {allowed}")), prim, Some(name)))
        };
        let word = |name: &str| self.word(prim, name, When::Still);
        let is_pinned = match word("wrap")?.as_deref() {
            None | Some("nonperiodic") => false,
            Some("pinned") => true,
            Some(other) => {
                return wrong(
                    "wrap",
                    other,
                    "\"nonperiodic\" or \"pinned\": a strand must have a root and a tip",
                );
            }
        };
        match word("type")?.as_deref() {
            Some("linear") => return Ok(Kind::Linear),
            None | Some("cubic") => {}
            Some(other) => return wrong("type", other, "\"linear\" or \"cubic\""),
        }
        match word("basis")?.as_deref() {
            None | Some("bezier") => Ok(Kind::Bezier),
            Some("bspline") => Ok(Kind::Spline { is_catmull_rom: false, is_pinned }),
            Some("catmullRom") => Ok(Kind::Spline { is_catmull_rom: true, is_pinned }),
            Some(other) => wrong("basis", other, "\"bezier\", \"bspline\" or \"catmullRom\""),
        }
    }

    /// Diameters \[m\].
    fn widths(&self, prim: usize, counts: &[u32], kind: Kind, placement: DMat4) -> Result<Widths, Fault> {
        let name =
            ["primvars:widths", "widths"].into_iter().find(|name| self.attribute(prim, name).is_some());
        let Some(name) = name else { return Ok(Widths::None) };
        let Some(mut widths) = self.numbers(prim, name, When::Still)?.filter(|widths| !widths.is_empty())
        else {
            return Ok(Widths::None);
        };
        // What is larger by a scale is thicker by it.
        let scale = placement.determinant().abs().cbrt();
        widths.iter_mut().for_each(|width| *width *= scale);
        let vertex: usize = counts.iter().map(|&count| count as usize).sum();
        let varying: usize = counts.iter().map(|&count| kind.ends(count as usize)).sum();
        let given = self.attribute(prim, name).and_then(|own| own.interpolation.as_deref());
        let number = widths.len();
        let is = |interpolation: &str, count: usize| {
            number == count && given.is_none_or(|given| given == interpolation)
        };
        if is("vertex", vertex) {
            return Ok(Widths::Vertex(widths));
        }
        if is("varying", varying) {
            return Ok(Widths::Varying(widths));
        }
        if is("uniform", counts.len()) {
            return Ok(Widths::Uniform(widths));
        }
        if is("constant", 1) {
            return Ok(Widths::Constant(widths[0]));
        }
        let message = format!(
            "has {number} values with interpolation {}: must have {vertex} (vertex), {varying} (varying), {} (uniform) or 1 (constant)",
            given.unwrap_or("not given"),
            counts.len()
        );
        Err(self.at(fault(message), prim, Some(name)))
    }
}

/// Diameters of curves \[m\].
enum Widths {
    None,
    Constant(f64),
    /// One for each curve.
    Uniform(Vec<f64>),
    /// One for each control point.
    Vertex(Vec<f64>),
    /// One for each end of a segment.
    Varying(Vec<f64>),
}
