//! Curves of a recording: as round threads where they are wider than a pixel, otherwise as hair.

use glam::Vec3;
use taut::Limit;
use taut_io::recording::{Body, Connections};

use super::{Film, known::Known};
use crate::{
    color::{self, Coloring, measure::Measured},
    scene::{Color, Paint, Strands, Threads, back_of},
};

/// Width of the widest strand that is drawn as hair \[pixels\].
const WIDEST_HAIR: f32 = 2.5;
/// Radius of curves whose own is not known, over that of what is shown.
const SHOWN_RADIUS: f32 = 0.004;
/// Radius of the tip of hair of constant radius, over that of the rest, and where it begins to taper.
const TIP: f32 = 0.3;
const TAPERS_FROM: f32 = 0.55;

/// Curves of a body in one frame.
pub(super) enum Curves {
    /// Round threads.
    Threads(Threads),
    /// Hair.
    Strands(Strands),
}

/// The rest shape of curves, prepared for measuring.
#[derive(Clone, Debug)]
pub(super) struct CurveGauge {
    /// Length of the segment after each point at rest \[m\]; 0 after the last of a strand.
    lengths: Vec<f32>,
    limit: Limit,
}

impl CurveGauge {
    /// Prepares `body` with the limits of its description; `None` if it has no curves.
    pub fn new(body: &Body, described: Option<&taut::Body>) -> Option<Self> {
        let Connections::Curves(_) = &*body.rest.connections else { return None };
        let x = &body.rest.positions;
        let mut lengths = vec![0.0; x.len()];
        for [a, b] in body.rest.connections.edges_of_curves() {
            lengths[a as usize] = x[a as usize].distance(x[b as usize]);
        }
        let own = described.map(taut::Body::edge).unwrap_or_default();
        let limit = match described {
            Some(body) if own == Limit::default() => body.strain_bounds(),
            _ => own,
        };
        Some(Self { lengths, limit })
    }

    /// Measures every point of a frame, in which strands have `counts` points: the strain of the segment
    /// before or after it that is further from rest. Curves have one strain, which stands for both.
    pub fn measure(&self, positions: &[Vec3], counts: &[u32]) -> Vec<Measured> {
        let mut measured = vec![Measured::default(); positions.len()];
        let Limit { min, max } = self.limit;
        let mut ends = counts.iter().scan(0, |end, &count| {
            *end += count as usize;
            Some(*end)
        });
        let mut end = ends.next();
        for (v, (pair, &rest)) in positions.windows(2).zip(&self.lengths).enumerate() {
            let is_last = end == Some(v + 1);
            if is_last {
                end = ends.next();
            }
            if rest == 0.0 || is_last {
                continue;
            }
            let strain = pair[0].distance(pair[1]) / rest - 1.0;
            let past = [min.map_or(0.0, |min| min - strain), max.map_or(0.0, |max| strain - max)];
            let residuals = past.map(|past| past.max(0.0));
            let residual = residuals[0].max(residuals[1]);
            let own = Measured { strains: [strain; 2], residual, residuals, angle: 0.0 };
            for measured in &mut measured[v..=v + 1] {
                if strain.abs() > measured.strains[0].abs() {
                    *measured = own;
                }
            }
        }
        measured
    }
}

impl Film<'_> {
    /// The curves of body `k` at `positions`, `counts` points each.
    pub(super) fn curves(&self, k: usize, known: &Known, positions: Vec<Vec3>, counts: &[u32]) -> Curves {
        let body = &self.recording.bodies()[k];
        let coloring = self.options.coloring;
        let colors: Vec<Color> = match &known.curve {
            Some(gauge) => {
                gauge.measure(&positions, counts).iter().map(|m| coloring.color(m, self.range)).collect()
            }
            None => Vec::new(),
        };
        let shading = coloring.shading();
        let plain = |own: Color| if coloring == Coloring::Fabric { own } else { color::NEUTRAL };
        if !self.is_hair(body) {
            let own = body.radii.as_ref().map(|radii| radii.iter().sum::<f32>() / radii.len().max(1) as f32);
            return Curves::Threads(Threads {
                positions,
                strands: counts.to_vec(),
                radius: own.unwrap_or(SHOWN_RADIUS * self.extent.radius()),
                color: plain(color::fabric(k)),
                colors,
                shading,
            });
        }
        let front = plain(if self.is_styled(body) { color::hair(k) } else { color::fabric(k) });
        let paint = match colors.is_empty() {
            true => Paint::Plain { front, back: back_of(front) },
            false => Paint::Vertices(colors),
        };
        // Strands that were cut are as thick as they were.
        let whole = match &*body.rest.connections {
            Connections::Curves(whole) => whole,
            Connections::Triangles(_) => counts,
        };
        let radii = tapered(body.radii.as_deref().unwrap_or_default(), whole, self.is_styled(body));
        Curves::Strands(Strands { positions, counts: counts.to_vec(), radii, paint, shading })
    }

    /// Whether the curves of `body` grow from roots and end in tips.
    fn is_styled(&self, body: &Body) -> bool {
        body.lines.is_none()
    }

    /// Whether the curves of `body` are drawn as hair, in all frames alike: if they are hair, or not much
    /// wider than a pixel where the scene is.
    fn is_hair(&self, body: &Body) -> bool {
        let Some(radii) = &body.radii else { return false };
        if self.is_styled(body) {
            return true;
        }
        let widest = 2.0 * radii.iter().copied().fold(0.0, f32::max);
        let distance = self.camera.eye.distance(self.extent.center()).max(self.extent.radius());
        let tangent = (0.5 * self.camera.field_of_view).to_radians().tan();
        let pixels = widest * 0.5 * self.options.size[1] as f32 / (tangent * distance);
        pixels <= WIDEST_HAIR
    }
}

/// Radii of points. Strands of constant radius get tips if they are `styled`.
fn tapered(radii: &[f32], counts: &[u32], styled: bool) -> Vec<f32> {
    let mut radii = radii.to_vec();
    if !styled || radii.windows(2).any(|pair| pair[0] != pair[1]) {
        return radii;
    }
    let mut rest = &mut radii[..];
    for &count in counts {
        let (own, after) = rest.split_at_mut((count as usize).min(rest.len()));
        let last = own.len().saturating_sub(1).max(1) as f32;
        for (v, radius) in own.iter_mut().enumerate() {
            let past = ((v as f32 / last - TAPERS_FROM) / (1.0 - TAPERS_FROM)).max(0.0);
            *radius *= 1.0 - (1.0 - TIP) * past * past;
        }
        rest = after;
    }
    radii
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tips_are_thin_and_given_radii_stay() {
        let radii = tapered(&[1.0; 9], &[5, 4], true);
        assert_eq!([radii[0], radii[2], radii[5]], [1.0; 3]);
        assert!((radii[4] - TIP).abs() < 1e-6 && (radii[8] - TIP).abs() < 1e-6, "{radii:?}");
        assert_eq!(tapered(&[1.0; 9], &[5, 4], false), [1.0; 9]);
        assert_eq!(tapered(&[1.0, 2.0], &[2], true), [1.0, 2.0]);
    }

    #[test]
    fn strain_of_a_point_is_that_of_its_worse_segment() {
        let limit = Limit { min: None, max: Some(0.1) };
        let gauge = CurveGauge { lengths: vec![1.0, 1.0, 0.0, 2.0, 0.0], limit };
        let x = [0.0, 1.2, 2.2, 9.0, 10.0].map(|x| Vec3::X * x);
        let measured = gauge.measure(&x, &[3, 2]);
        let strains: Vec<f32> = measured.iter().map(|m| m.strains[0]).collect();
        for (found, wanted) in strains.iter().zip([0.2, 0.2, 0.0, -0.5, -0.5]) {
            assert!((found - wanted).abs() < 1e-5, "{strains:?}");
        }
        assert!((measured[0].residual - 0.1).abs() < 1e-5 && measured[4].residual == 0.0);
        // A segment that was cut has no strain.
        let cut = gauge.measure(&x, &[1, 2, 2]);
        assert_eq!((cut[0].strains[0], cut[0].residual), (0.0, 0.0));
    }
}
