//! Checks the contact of one frame: intersections, and agreement with the recorded ones.

use taut::measure::ContactCertificate;

use super::{Failure, Kind};
use crate::output::metrics::FrameLine;

/// Largest relative difference between recomputed and recorded gap: the same positions give the same gap, up
/// to the last digits in the file.
const GAP_SLACK: f64 = 1e-6;

/// Failures of the contact in `line`, which was recomputed, compared with `written`.
pub(super) fn judge(line: &FrameLine, written: Option<&FrameLine>) -> Vec<Failure> {
    let Some(now) = &line.certificate.contact else { return Vec::new() };
    let mut failures = Vec::new();
    let mut fail = |kind, body: Option<String>, element: Option<String>, message: String| {
        failures.push(Failure { kind, frame: Some(line.frame), body, element, message });
    };
    if let Some(first) = now.first.as_ref().filter(|_| !now.tangled) {
        let more = match now.intersections {
            1 => String::new(),
            n => format!(", one of {n} intersections"),
        };
        let [a, b] = first.edge;
        let message = format!("intersects face {} of {}{more}", first.face, first.face_body);
        fail(Kind::Intersection, Some(first.edge_body.clone()), Some(format!("edge {a}, {b}")), message);
    }
    match written.map(|written| &written.certificate.contact) {
        Some(None) => {
            fail(Kind::Changed, None, None, "metrics.jsonl has no contact data for this frame".into());
        }
        Some(Some(then)) => {
            if let Some(message) = difference(then, now) {
                let (body, element) = match &now.first {
                    Some(first) => (Some(first.edge_body.clone()), Some(format!("face {}", first.face))),
                    None => (None, None),
                };
                fail(Kind::Changed, body, element, message);
            }
        }
        None => {}
    }
    failures
}

/// The difference between recomputed and recorded contact.
fn difference(then: &ContactCertificate, now: &ContactCertificate) -> Option<String> {
    if then.intersections != now.intersections {
        return Some(format!("{} intersections, recorded {}", now.intersections, then.intersections));
    }
    if (then.tangled, &then.first) != (now.tangled, &now.first) {
        return Some("intersections differ from the recorded ones".into());
    }
    let same = match (then.smallest_gap, now.smallest_gap) {
        (Some(then), Some(now)) => (then - now).abs() <= GAP_SLACK * now.abs(),
        (then, now) => then == now,
    };
    let words = |gap: Option<f64>| {
        gap.map_or("above the contact distance".into(), |gap| format!("{:.6} mm", 1e3 * gap))
    };
    (!same).then(|| {
        format!("the smallest gap is {}, recorded {}", words(now.smallest_gap), words(then.smallest_gap))
    })
}
