//! Summary of a run in a dozen lines: limits, extremes, timing, and the next command.

use std::path::Path;

use taut::{Body, Description, Limit, Scheme, Solver, World};
use taut_io::output::outcome::{BagFigures, ContactFigures, Figures, Outcome, SolidFigures, Status, Worst};

use crate::terminal::{BAD, BOLD, DIM, GOOD, WARN, styled};

/// The summary of a run of `world` into `root`.
pub fn summary(outcome: &Outcome, world: &World, root: &Path, expects: bool) -> String {
    let f = &outcome.figures;
    let mut text = heading(outcome);
    let mut row = |name: &str, value: String| {
        text.push_str(&format!("  {}{value}\n", styled(DIM, format_args!("{name:<13}"))));
    };
    let limit_of = |worst: &Worst| {
        let body = world.description().body(&worst.body);
        body.map_or((Limit::default(), Limit::default()), |body| (body.strain_bounds(), body.edge()))
    };
    let place = |worst: &Worst| place(worst, world);
    let aim = match world.description().solver.tolerance.past() {
        0.0 => format!("aimed {} inside the limits", world.aims_inside()),
        past => format!("tolerance {past}"),
    };
    if outcome.frames > 0 {
        row(
            "stretch",
            format!(
                "largest {} {}, mean {}, {}",
                percent(f.max_strain.value),
                place(&f.max_strain),
                percent(f.mean_strain),
                limit("limit", limit_of(&f.max_strain).0.max)
            ),
        );
        row(
            "compression",
            format!(
                "largest {} {}, {}",
                percent(f.min_strain.value),
                place(&f.min_strain),
                limit("limit", limit_of(&f.min_strain).0.min)
            ),
        );
        row(
            "residual",
            format!(
                "largest {:.5} {}, mean {:.6}, {aim}",
                f.max_residual.value,
                place(&f.max_residual),
                f.mean_residual
            ),
        );
        if f.given_way_frames > 0 {
            row("gave way", styled(WARN, given_way(f, world)));
        }
        let edge = limit_of(&f.max_edge_residual).1;
        if edge != Limit::default() {
            let bounds = format!("{}, {}", limit("lower", edge.min), limit("upper", edge.max));
            row("edges", format!("largest residual {:.5}, {bounds}", f.max_edge_residual.value));
        }
        let bend = world.description().body(&f.max_bend_excess.body).map(Body::bend);
        if let Some(bend) = bend.filter(|_| world.description().cloths().any(|c| c.bend != Limit::default()))
        {
            let side = |bound: Option<f32>| bound.map_or("none".into(), |b| format!("{b:+}"));
            row(
                "bend",
                format!(
                    "largest {:.2} °/cm, limits {} to {}; at most {:.3}° past them {}, tolerance {}°",
                    f.max_bend.value,
                    side(bend.min),
                    side(bend.max),
                    f.max_bend_excess.value,
                    place(&f.max_bend_excess),
                    world.description().solver.bend_tolerance
                ),
            );
        }
        if let Some(solid) = &f.solid {
            row("volume", volume(solid));
        }
        for bag in &f.bags {
            row("pressure", pressure(bag));
        }
        row("iterations", format!("{} in total, at most {} per frame", f.iterations, f.max_iterations));
        row(
            "time",
            format!(
                "median {:.2} ms per frame, worst {:.2} ms, {:.1} s in total ({} threads, {})",
                f.median_ms, f.worst_ms, outcome.wall_seconds, outcome.threads, outcome.lanes
            ),
        );
        row("energy", format!("{:.4} J at the end", f.final_energy));
        let description = world.description();
        let solid = !description.obstacles.is_empty() || !description.rigid_bodies.is_empty();
        if solid || !description.mesh_obstacles.is_empty() {
            row("penetration", format!("at most {:.4} mm", f.max_penetration.value * 1e3));
        }
        if let Some(found) = &f.contact {
            row("contact", contact(found));
        }
        if f.rescued > 0 {
            let vertices = format!("{} vertices were reset after becoming non-finite", f.rescued);
            row("rescued", styled(WARN, vertices));
        }
        row("limits", limits(outcome, world.description()));
    }
    if expects && matches!(outcome.status, Status::Done | Status::ExpectationFailed) {
        row("expectations", expectations(outcome));
    }
    row("files", root.display().to_string());
    let next = match outcome.status {
        Status::Interrupted => format!("taut run --resume -o {}", root.display()),
        _ => format!("taut verify {0}, taut render {0}", root.display()),
    };
    row("next", styled(BOLD, next));
    text
}

/// Limits that could not be met, and how far each side gave way.
fn given_way(f: &Figures, world: &World) -> String {
    let side = |worst: &Worst| format!("{} {}", percent(worst.value), place(worst, world));
    format!(
        "limits that could not be met, in {} of the frames, up to {} elements: lower ones by up to {}, {} on average; upper ones by up to {}",
        f.given_way_frames,
        f.most_given_way,
        side(&f.max_compression_residual),
        percent(f.mean_compression_residual),
        side(&f.max_stretch_residual)
    )
}

/// Volume and pressure of a closed cloth.
fn pressure(bag: &BagFigures) -> String {
    let Some(volume) = bag.final_volume else {
        return format!("none inside cloth \"{}\": seams of it are open", bag.name);
    };
    let factor = bag.final_volume_factor.map_or(String::new(), |factor| format!(" ({factor:.4} V₀)"));
    let [last, largest] = [bag.final_pressure, bag.max_pressure].map(|p| p.unwrap_or(0.0));
    format!(
        "{last:.1} Pa at the end, at most {largest:.1} Pa; volume {:.4} l{factor}, cloth \"{}\"",
        1e3 * volume,
        bag.name
    )
}

fn heading(outcome: &Outcome) -> String {
    let triangles = outcome.bodies.iter().map(|body| body.triangles).sum();
    let tetrahedra = outcome.bodies.iter().map(|body| body.tetrahedra).sum();
    let (style, word) = match outcome.status {
        Status::Done => (GOOD, "done"),
        Status::Interrupted => (WARN, "interrupted"),
        Status::ExpectationFailed => (BAD, "done, expectations not met"),
        Status::Failed => (BAD, "failed"),
    };
    let segments = outcome.bodies.iter().map(|body| body.segments).sum();
    let elements = elements(triangles, tetrahedra, segments);
    let size = format!("{} of {} frames, {elements}", outcome.frames, outcome.frames_wanted);
    format!("{}  {size}: {}\n", styled(BOLD, &outcome.scene), styled(style, word))
}

/// Element counts as text.
pub fn elements(triangles: usize, tetrahedra: usize, segments: usize) -> String {
    let all = [(triangles, "triangles"), (tetrahedra, "tetrahedra"), (segments, "segments")];
    let there = all.iter().filter(|(count, _)| *count > 0);
    let there: Vec<String> = there.map(|(count, what)| format!("{count} {what}")).collect();
    if there.is_empty() { "no elements".into() } else { there.join(", ") }
}

/// Contact figures as text.
pub fn contact(found: &ContactFigures) -> String {
    let gap = found.smallest_gap.map_or_else(
        || "no pair within the contact distance".into(),
        |gap| format!("smallest gap {}", millimetres(gap)),
    );
    match (&found.first_crossed, found.tangled_frames) {
        (Some(first), _) => {
            let places = counted(first.value as u64, "new intersection");
            let body = &first.body;
            let frames = counted(u64::from(found.crossed_frames), "frame");
            styled(
                BAD,
                format!(
                    "frame {}: {places} of {body} with a body or an obstacle ({frames} in total)",
                    first.frame
                ),
            )
        }
        (None, 0) => styled(GOOD, format!("no intersections, {gap}")),
        (None, tangled) => {
            let frames = counted(u64::from(tangled), "frame");
            let most = found.most_intersections;
            styled(
                WARN,
                format!(
                    "tangled at the start, for {frames} (at most {most} intersections); no new intersections"
                ),
            )
        }
    }
}

/// Volume figures of soft bodies as text.
pub fn volume(found: &SolidFigures) -> String {
    let ring = &found.max_ring_volume_error;
    let around = format!(
        "of vertex rings changed by at most {:.3} % (frame {} of {})",
        100.0 * ring.value,
        ring.frame,
        ring.body
    );
    match found.inverted_frames {
        0 => format!("{around}, no inverted elements"),
        frames => {
            let most = &found.most_inverted;
            let count = counted_tetrahedra(most.value as u64);
            let frames = counted(u64::from(frames), "frame");
            let inverted = format!(
                "{frames} with inverted elements, at most {count} (frame {} of {})",
                most.frame, most.body
            );
            format!("{around}, {}", styled(WARN, inverted))
        }
    }
}

fn counted_tetrahedra(count: u64) -> String {
    if count == 1 { "1 tetrahedron".into() } else { format!("{count} tetrahedra") }
}

/// A length with three significant digits.
fn millimetres(gap: f64) -> String {
    let mm = 1e3 * gap;
    let digits = (2.0 - mm.max(1e-9).log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{mm:.digits$} mm")
}

fn counted(count: u64, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

fn limits(outcome: &Outcome, description: &Description) -> String {
    let f = &outcome.figures;
    match (f.unconverged_frames, f.first_unconverged) {
        (0, _) | (_, None) => styled(GOOD, "held in every frame"),
        (n, Some(first)) => {
            let more = if description.cloths().any(|cloth| cloth.model.edge().is_some()) {
                "raise iterations of cloth with model = \"edge\", or widen the limits"
            } else if description.is_position_based() {
                "raise pbd.iterations or steps_per_frame, or widen the limits"
            } else if f.given_way_frames > 0 {
                "limits that could not be met gave way, see above; widen them, or reduce what presses and pulls"
            } else {
                advice(f.max_iterations, &description.solver)
            };
            // A frame of several steps may still end within its limits.
            let frames = counted(n.into(), "frame");
            styled(WARN, format!("{frames} had a step that did not converge, first frame {first} ({more})"))
        }
    }
}

/// Advice for unconverged frames; `most` is the largest number of iterations of a frame.
fn advice(most: u32, solver: &Solver) -> &'static str {
    if most >= solver.iterations || solver.budget_ms.is_some() {
        "raise solver.iterations, or widen the limits"
    } else if solver.scheme == Scheme::Paper || solver.passes > 0 {
        "raise solver.passes, or widen the limits"
    } else {
        "iterations remained: obstacles or pins demand more than the limits allow; reduce their load or widen the limits"
    }
}

fn expectations(outcome: &Outcome) -> String {
    match outcome.unmet.len() {
        0 => styled(GOOD, "met"),
        n => styled(BAD, format!("{n} not met")),
    }
}

fn percent(strain: f64) -> String {
    format!("{:+.3} %", strain * 100.0)
}

fn limit(name: &str, value: Option<f32>) -> String {
    value.map_or_else(
        || format!("no {name}"),
        |v| format!("{name} {:+} %", (f64::from(v) * 1e5).round() / 1e3),
    )
}

fn place(worst: &Worst, world: &World) -> String {
    let kind = world.description().body(&worst.body).map_or("element", Body::element_kind);
    let element = match worst.element.as_slice() {
        [element] => format!(", {kind} {element}"),
        [a, b] => format!(", edge {a}, {b}"),
        _ => String::new(),
    };
    format!("(frame {}{element} of {})", worst.frame, worst.body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_matches_the_stopping_criterion() {
        let solver = |scheme, passes| Solver { scheme, passes, iterations: 1000, ..Solver::default() };
        let nearest = solver(Scheme::Nearest, 0);
        assert!(advice(1000, &nearest).contains("solver.iterations"));
        assert!(advice(999, &nearest).contains("widen the limits"));
        assert!(advice(999, &Solver { budget_ms: Some(10.0), ..nearest }).contains("solver.iterations"));
        assert!(advice(128, &solver(Scheme::Paper, 0)).contains("solver.passes"));
        assert!(advice(40, &solver(Scheme::Cycle, 3)).contains("solver.passes"));
        assert!(advice(40, &solver(Scheme::Cycle, 0)).contains("widen the limits"));
    }
}
