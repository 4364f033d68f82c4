//! Judges the contact of one frame: what passes through what, and whether the run said the same.

use taut::certificate::ContactCertificate;

use super::{Failure, Kind};
use crate::output::metrics::FrameLine;

/// Largest difference, relative, between a gap now and then: the same positions give the same gap, but for
/// the last digits of the file.
const GAP_SLACK: f64 = 1e-6;

/// What is wrong with the contact in `line`, which was recomputed, and which `written` should agree with.
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
        let message = format!("passes through face {} of {}{more}", first.face, first.face_body);
        fail(Kind::Intersection, Some(first.edge_body.clone()), Some(format!("edge {a}, {b}")), message);
    }
    match written.map(|written| &written.certificate.contact) {
        Some(None) => {
            fail(Kind::Changed, None, None, "metrics.jsonl says nothing of contact in this frame".into());
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

/// How what is found differs from what the run wrote.
fn difference(then: &ContactCertificate, now: &ContactCertificate) -> Option<String> {
    if then.intersections != now.intersections {
        return Some(format!(
            "there are {} intersections, where the run wrote {}",
            now.intersections, then.intersections
        ));
    }
    if (then.tangled, &then.first) != (now.tangled, &now.first) {
        return Some("its intersections are not those that the run wrote".into());
    }
    let same = match (then.smallest_gap, now.smallest_gap) {
        (Some(then), Some(now)) => (then - now).abs() <= GAP_SLACK * now.abs(),
        (then, now) => then == now,
    };
    let words =
        |gap: Option<f64>| gap.map_or("as much as is asked for".into(), |gap| format!("{:.6} mm", 1e3 * gap));
    (!same).then(|| {
        format!(
            "the smallest gap is {}, where the run wrote {}",
            words(now.smallest_gap),
            words(then.smallest_gap)
        )
    })
}
