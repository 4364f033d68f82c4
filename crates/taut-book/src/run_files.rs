//! The keys of `metrics.jsonl` and `outcome.json`, and the formats of exports, one row each.
//!
//! What a key means is written here; which keys there are is what the types write, and a test compares the
//! two.

use taut_io::export::Format;

use crate::scene_reference::table;

/// Keys of a line of `metrics.jsonl`; `bodies[]` stands for each body.
pub const METRICS: &[(&str, &str)] = &[
    ("frame", "Number of the frame; 0 is the start."),
    ("time", "Time since the start [s]."),
    ("frame_ms", "Time that simulating the frame took, without writing it [ms]."),
    ("report", "What the solver said; `null` for frame 0, which nothing solved."),
    ("report.iterations", "Iterations of the limiter, over all steps of the frame."),
    ("report.substeps", "Substeps of the velocity update, over all steps of the frame."),
    ("report.converged", "Whether every step ended within the tolerance."),
    ("report.residual", "Largest residual past a limit at the end of the frame, as the limiter saw it."),
    (
        "report.bend_excess",
        "Largest excess past a bend limit at the end of the frame, as the limiter saw it [°].",
    ),
    (
        "report.stopped",
        "Vertices that were stopped short because they would have passed through cloth, over all steps of the frame.",
    ),
    (
        "report.tangled",
        "Edges that still pass through a triangle at the end of the frame: what is left of a tangled start, or what an obstacle forced on cloth that could not give way.",
    ),
    ("report.rescued", "Vertices whose prediction was not a finite number and was put back."),
    ("report.velocity_ms", "Time spent in the velocity update [ms]."),
    ("report.limit_ms", "Time spent limiting [ms]."),
    (
        "report.contact_ms",
        "Time spent on contact beside limiting: drawing apart what is tangled, and what a step may not end with [ms].",
    ),
    ("report.position_ms", "Time spent on the rest of the step [ms]."),
    ("certificate.bodies[].name", "Name of the body."),
    (
        "certificate.bodies[].max_stretch",
        "Largest principal stretch of any triangle; 1 is at rest, 1.05 is 5 % longer.",
    ),
    ("certificate.bodies[].most_stretched", "Triangle that it belongs to."),
    ("certificate.bodies[].mean_stretch", "Mean over triangles of the larger principal stretch."),
    ("certificate.bodies[].min_stretch", "Smallest principal stretch of any triangle."),
    ("certificate.bodies[].most_compressed", "Triangle that it belongs to."),
    ("certificate.bodies[].mean_compression", "Mean over triangles of the smaller principal stretch."),
    (
        "certificate.bodies[].max_residual",
        "Largest residual past the strain limits of triangles; 0: all inside.",
    ),
    ("certificate.bodies[].mean_residual", "Mean over all triangles of that residual."),
    ("certificate.bodies[].violations", "Triangles past a limit by more than 0.000001."),
    (
        "certificate.bodies[].worst_triangle",
        "Triangle with the largest residual, or with the largest strain if none is past its limits.",
    ),
    ("certificate.bodies[].max_edge_strain", "Largest strain of an edge; 0 is at rest."),
    ("certificate.bodies[].min_edge_strain", "Smallest strain of an edge."),
    ("certificate.bodies[].max_edge_residual", "Largest residual past the limits on edges."),
    ("certificate.bodies[].mean_edge_residual", "Mean over edges of that residual."),
    ("certificate.bodies[].edge_violations", "Edges past a limit by more than 0.000001."),
    ("certificate.bodies[].worst_edge", "Vertices of the worst edge."),
    (
        "certificate.bodies[].max_bend",
        "Largest bend of any hinge away from its rest angle, either way [°/cm].",
    ),
    ("certificate.bodies[].max_bend_excess", "Largest excess past the bend limits [°]; 0: all inside."),
    ("certificate.bodies[].mean_bend_excess", "Mean over all hinges of that excess [°]."),
    ("certificate.bodies[].bend_violations", "Hinges past a limit by more than 0.001°."),
    (
        "certificate.bodies[].worst_hinge",
        "Vertices of the edge with the largest excess, or with the largest bend if none is past its limits.",
    ),
    (
        "certificate.bodies[].solid.inverted",
        "Tetrahedra that are inside out. `solid` is there in soft solids, where all that is said of triangles is said of tetrahedra.",
    ),
    ("certificate.bodies[].solid.volume", "Volume of all tetrahedra [m³]."),
    (
        "certificate.bodies[].solid.max_ring_volume_error",
        "Largest relative change of the volume around a vertex, that of all tetrahedra that share it.",
    ),
    ("certificate.bodies[].solid.mean_ring_volume_error", "Mean over vertices of that."),
    ("certificate.bodies[].center_of_mass", "Mass-weighted mean position [m]."),
    (
        "certificate.bodies[].fingerprint",
        "Sums of the positions, plain and weighted with the vertex index [m]: they tell which vertex of a file was changed later.",
    ),
    ("certificate.bodies[].energy.kinetic", "½ m v² [J]."),
    ("certificate.bodies[].energy.gravity", "−m g·x [J]."),
    ("certificate.bodies[].energy.stretch", "Stored in stretched triangles [J]."),
    ("certificate.bodies[].energy.bend", "Stored in bent hinges [J]."),
    ("certificate.bodies[].momentum", "Linear momentum [kg m/s]."),
    ("certificate.bodies[].angular_momentum", "Angular momentum about the origin [kg m²/s]."),
    (
        "certificate.bodies[].max_penetration",
        "Depth of the deepest vertex inside an obstacle [m]; 0 if none is inside.",
    ),
    ("certificate.bodies[].penetrating", "Vertices inside an obstacle by more than 1 µm."),
    (
        "certificate.bodies[].max_pin_error",
        "Largest distance of a vertex from where a pin that holds it in this frame has it [m].",
    ),
    ("certificate.seams[].name", "Name of a seam; there are no `seams` in scenes without."),
    (
        "certificate.seams[].max_opening",
        "Largest distance of two vertices that are sewn together [m]; 0: it is closed.",
    ),
    ("certificate.seams[].open", "Pairs of vertices that are apart."),
    ("certificate.seams[].worst_pair", "The pair with the largest distance, of the seam's pairs from 0."),
    (
        "certificate.contact.intersections",
        "Edges that pass through a face which they share no vertex with, each counted with each such face; of cloth with itself, other cloth and mesh obstacles. Exact. `contact` is there if contact is on.",
    ),
    (
        "certificate.contact.tangled",
        "Whether they are what is left of a start that was tangled: every frame so far, the start among them, had some.",
    ),
    ("certificate.contact.first", "The first of them; `null` if there is none."),
    ("certificate.contact.first.edge_body", "Body or obstacle that its edge belongs to."),
    ("certificate.contact.first.edge", "Vertices of the edge."),
    ("certificate.contact.first.face_body", "Body or obstacle that its face belongs to."),
    ("certificate.contact.first.face", "The face."),
    (
        "certificate.contact.smallest_gap",
        "Smallest distance of a vertex from a face, or of an edge from an edge, that are no neighbours [m]; 0 if something passes through something, `null` if everything is as far apart as thickness and margins ask for. Neighbours share a vertex, or were as near as that at the start.",
    ),
    (
        "certificate.rigid_bodies[].name",
        "Obstacle with mass that the entry is about; `rigid_bodies` is there if there are some.",
    ),
    ("certificate.rigid_bodies[].position", "Where its middle is [m]."),
    ("certificate.rigid_bodies[].rotation", "How it is turned: a unit quaternion, x, y, z, w."),
    ("certificate.rigid_bodies[].velocity", "Mean velocity of its middle over the last step [m/s]."),
    ("certificate.rigid_bodies[].angular_velocity", "Mean angular velocity over the last step [rad/s]."),
    ("certificate.rigid_bodies[].kinetic", "Kinetic energy, of flight and of turning [J]."),
    ("certificate.rigid_bodies[].gravity", "Potential energy in gravity [J]."),
    (
        "certificate.rigid_bodies[].momentum",
        "Linear momentum [kg m/s]; with those of all `bodies`, that of the whole scene.",
    ),
    ("certificate.rigid_bodies[].angular_momentum", "Angular momentum about the origin [kg m²/s]."),
];

/// Keys of `outcome.json`. Each `figures.max_…` and `figures.min_strain` is a table with `value`, `frame`,
/// `body` and `element`.
pub const OUTCOME: &[(&str, &str)] = &[
    (
        "status",
        "`done`, `interrupted` (it can go on), `expectation-failed` or `failed` (it could not go on).",
    ),
    ("reason", "Why, in a sentence."),
    ("unmet", "What of the scene's `[expect]` does not hold, one line each."),
    ("scene", "Name of the scene."),
    ("frames", "Frames that are there, without the start."),
    ("frames_wanted", "Frames that the scene asks for."),
    ("bodies[].name", "Name of a body."),
    ("bodies[].vertices", "Number of its vertices."),
    ("bodies[].triangles", "Number of its triangles; 0 of a soft solid."),
    ("bodies[].tetrahedra", "Number of its tetrahedra, of a soft solid."),
    ("figures.max_strain", "Largest principal strain; 0.05: stretched by 5 %."),
    ("figures.min_strain", "Smallest principal strain; −0.05: compressed by 5 %."),
    ("figures.max_residual", "Largest residual of a triangle past its limits."),
    ("figures.max_edge_residual", "Largest residual of an edge past its limits."),
    ("figures.max_bend", "Largest bend [°/cm]."),
    ("figures.max_bend_excess", "Largest excess of a hinge past its bend limits [°]."),
    ("figures.mean_residual", "Mean over frames and bodies of the mean residual of a triangle."),
    ("figures.mean_strain", "Mean over frames and bodies of the mean larger principal strain."),
    ("figures.max_penetration", "Deepest penetration of an obstacle [m]."),
    ("figures.max_pin_error", "Largest distance of a pinned vertex from where it should be [m]."),
    ("figures.final_opening", "Largest opening of a seam at the last frame [m]."),
    (
        "figures.contact.crossed_frames",
        "Frames in which something passes through something, other than what is left of a tangled start. `contact` is there if contact is on.",
    ),
    (
        "figures.contact.first_crossed",
        "The first of them: a table whose `value` is its number of intersections, and whose `body` and `element` name the edge of one; `null` if there is none.",
    ),
    ("figures.contact.tangled_frames", "Frames that are tangled as the start was, the start among them."),
    ("figures.contact.most_intersections", "Most intersections in a frame, whatever they come from."),
    (
        "figures.contact.smallest_gap",
        "Smallest gap in the frames after the start [m]; `null` if everything was as far apart as thickness and margins ask for.",
    ),
    ("figures.contact.smallest_gap_frame", "Frame in which it was."),
    (
        "figures.solid.inverted_frames",
        "Frames at whose end a tetrahedron is inside out. `solid` is there if there are soft solids.",
    ),
    ("figures.solid.most_inverted", "Most tetrahedra that are inside out in a body and frame."),
    ("figures.solid.max_ring_volume_error", "Largest relative change of the volume around a vertex."),
    (
        "figures.final_energy",
        "Kinetic, gravitational, stretching and bending energy at the last frame, all bodies together [J].",
    ),
    ("figures.iterations", "Iterations of the limiter in all frames."),
    ("figures.max_iterations", "Most iterations in a frame."),
    ("figures.unconverged_frames", "Frames in which a step ended with a residual above the tolerance."),
    ("figures.first_unconverged", "The first of them."),
    ("figures.rescued", "Vertices that had to be put back because their prediction was not finite."),
    ("figures.median_ms", "Median time a frame [ms]."),
    ("figures.worst_ms", "Longest time a frame [ms]."),
    ("wall_seconds", "Time that the program ran, since it was last started [s]."),
    ("taut", "Version of taut."),
    ("threads", "Threads it ran with."),
    ("lanes", "SIMD lanes it ran with."),
];

/// The table of the keys of `metrics.jsonl`.
pub fn metrics() -> String {
    keys(METRICS)
}

/// The table of the keys of `outcome.json`.
pub fn outcome() -> String {
    keys(OUTCOME)
}

/// The table of the formats of `taut export`.
pub fn formats() -> String {
    let mut rows = vec![["format", "writes", ""].map(String::from)];
    rows.extend(Format::ALL.into_iter().map(|format| {
        let writes =
            format.extension().map_or_else(|| "a folder".into(), |ending| format!("one `.{ending}` file"));
        [format!("`{}`", format.name()), writes, format.purpose().into()]
    }));
    table(&rows)
}

fn keys(list: &[(&str, &str)]) -> String {
    let mut rows = vec![["key", ""].map(String::from)];
    rows.extend(list.iter().map(|(key, text)| [format!("`{key}`"), (*text).into()]));
    table(&rows)
}

#[cfg(test)]
mod tests {
    use serde_json::Value as Json;
    use taut::{
        Certificate, FrameReport,
        certificate::{
            BodyCertificate, ContactCertificate, Intersection, RigidCertificate, SeamCertificate,
            SolidMeasure,
        },
    };
    use taut_io::output::{
        metrics::FrameLine,
        outcome::{BodySize, ContactFigures, Figures, Outcome, SolidFigures, Status},
    };

    use super::*;

    /// Paths of all values; of lists of tables, those of the first; tables with `value` and `frame` count as
    /// one value.
    fn paths(value: &Json, path: &str, found: &mut Vec<String>) {
        match value {
            Json::Object(table) if !table.contains_key("value") => {
                for (key, value) in table {
                    paths(value, &format!("{path}{}{key}", if path.is_empty() { "" } else { "." }), found);
                }
            }
            Json::Array(items) if items.first().is_some_and(Json::is_object) => {
                paths(&items[0], &format!("{path}[]"), found);
            }
            _ => found.push(path.into()),
        }
    }

    fn compare(value: &Json, list: &[(&str, &str)], tables: &[&str]) {
        let mut found = Vec::new();
        paths(value, "", &mut found);
        let mut listed: Vec<&str> =
            list.iter().map(|(key, _)| *key).filter(|key| !tables.contains(key)).collect();
        found.sort_unstable();
        listed.sort_unstable();
        assert_eq!(found, listed);
    }

    #[test]
    fn metrics_are_what_the_types_write() {
        let contact = ContactCertificate { first: Some(Intersection::default()), ..Default::default() };
        let certificate = Certificate {
            bodies: vec![BodyCertificate { solid: Some(SolidMeasure::default()), ..Default::default() }],
            seams: vec![SeamCertificate::default()],
            contact: Some(contact),
            rigid_bodies: vec![RigidCertificate::default()],
            ..Certificate::default()
        };
        let line = FrameLine { report: Some(FrameReport::default()), certificate, ..FrameLine::default() };
        compare(&serde_json::to_value(&line).unwrap(), METRICS, &["report", "certificate.contact.first"]);
    }

    #[test]
    fn the_outcome_is_what_the_types_write() {
        let outcome = Outcome {
            status: Status::Done,
            reason: String::new(),
            unmet: Vec::new(),
            scene: String::new(),
            frames: 0,
            frames_wanted: 0,
            bodies: vec![BodySize { tetrahedra: 1, ..BodySize::default() }],
            figures: Figures {
                contact: Some(ContactFigures::default()),
                solid: Some(SolidFigures::default()),
                ..Figures::default()
            },
            wall_seconds: 0.0,
            taut: String::new(),
            threads: 1,
            lanes: String::new(),
        };
        compare(&serde_json::to_value(&outcome).unwrap(), OUTCOME, &[]);
    }
}
