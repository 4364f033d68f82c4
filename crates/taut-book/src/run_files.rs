//! The keys of `metrics.jsonl` and `outcome.json`, and the formats of exports, one row each.
//!
//! The meanings of keys are written here; the keys themselves come from the types, and a test compares the
//! two.

use taut_io::export::Format;

use crate::scene_reference::table;

/// Keys of a line of `metrics.jsonl`; `bodies[]` stands for each body.
pub const METRICS: &[(&str, &str)] = &[
    ("frame", "Number of the frame; 0 is the initial state."),
    ("time", "Time since the start [s]."),
    ("frame_ms", "Time to simulate the frame, without writing it [ms]."),
    ("report", "Report of the solver; `null` for frame 0."),
    ("report.iterations", "Iterations of the limiter, over all steps of the frame."),
    ("report.substeps", "Substeps of the velocity update, over all steps of the frame."),
    ("report.converged", "Whether every step converged."),
    ("report.residual", "Largest residual at the end of the frame, as measured by the limiter."),
    (
        "report.bend_excess",
        "Largest excess past a bend limit at the end of the frame, as measured by the limiter [°].",
    ),
    (
        "report.stopped",
        "Vertices whose motion was shortened because they would have intersected cloth, over all steps of the frame.",
    ),
    (
        "report.given_way",
        "Elements whose limits had given way at the end of the frame, because they could not be met.",
    ),
    ("report.torn", "Vertices that were split off, and strands that were cut, in this frame."),
    (
        "report.unsettled",
        "Strands of hair whose equilibrium was not found to the last, over all steps; their limits hold all the same.",
    ),
    (
        "report.tangled",
        "Edges that still intersect a triangle at the end of the frame: remains of a tangled initial state, or forced by an obstacle on cloth that could not yield.",
    ),
    ("report.broken", "Springs that broke in the frame."),
    ("report.rescued", "Vertices reset because their prediction was non-finite."),
    ("report.velocity_ms", "Time spent in the velocity update [ms]."),
    ("report.limit_ms", "Time spent limiting [ms]."),
    (
        "report.contact_ms",
        "Time spent on contact outside limiting: separating tangles, and the guard at the end of a step [ms].",
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
    (
        "certificate.bodies[].max_compression_residual",
        "Largest residual past the lower limits alone; it belongs to the triangle `most_compressed`, unless limits differ.",
    ),
    ("certificate.bodies[].mean_compression_residual", "Mean over all triangles of that residual."),
    ("certificate.bodies[].max_stretch_residual", "Largest residual past the upper limits alone."),
    ("certificate.bodies[].violations", "Triangles past a limit by more than 0.000001."),
    (
        "certificate.bodies[].worst_element",
        "Triangle or tetrahedron with the largest residual, or with the largest strain if none exceeds its limits.",
    ),
    (
        "certificate.bodies[].midpoints.max_jump",
        "Largest distance of the corners of two triangles at the ends of their edge, over its length. `midpoints` is present for cloth of the model `developable` only.",
    ),
    ("certificate.bodies[].midpoints.mean_jump", "Mean of that over inner edges."),
    (
        "certificate.bodies[].midpoints.max_shown_strain",
        "Largest principal strain of the triangles that are shown, which no limit holds.",
    ),
    ("certificate.bodies[].midpoints.min_shown_strain", "Smallest principal strain of these."),
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
        "Vertices of the edge with the largest excess, or with the largest bend if none exceeds its limits.",
    ),
    (
        "certificate.bodies[].solid.inverted",
        "Inverted tetrahedra. `solid` is present for soft bodies, for which all figures of triangles refer to tetrahedra.",
    ),
    ("certificate.bodies[].solid.volume", "Volume of all tetrahedra [m³]."),
    (
        "certificate.bodies[].solid.max_ring_volume_error",
        "Largest relative change of the volume of the tetrahedra around a vertex.",
    ),
    ("certificate.bodies[].solid.mean_ring_volume_error", "Mean of that over vertices."),
    ("certificate.bodies[].center_of_mass", "Mass-weighted mean position [m]."),
    (
        "certificate.bodies[].fingerprint",
        "Sums of the positions, plain and weighted with the vertex index [m]: they identify a vertex that was changed later.",
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
        "Largest distance of a pinned vertex from its target in this frame [m].",
    ),
    ("certificate.seams[].name", "Name of a seam; `seams` is present only in scenes with seams."),
    ("certificate.seams[].max_opening", "Largest distance of two sewn vertices [m]; 0: it is closed."),
    ("certificate.seams[].open", "Open pairs of vertices."),
    ("certificate.seams[].worst_pair", "The pair with the largest distance, counted from 0."),
    (
        "certificate.bags[].name",
        "Name of a closed cloth with pressure; `bags` is present only in scenes with pressure.",
    ),
    ("certificate.bags[].volume", "Volume inside [m³]; absent while seams of it are open."),
    ("certificate.bags[].volume_factor", "Volume over the volume at rest; absent if that is not known."),
    ("certificate.bags[].pressure", "Pressure above that of the air around in the last step [Pa]."),
    (
        "certificate.springs.count",
        "Springs, segments of particles among them; `springs` is present only in scenes with springs.",
    ),
    ("certificate.springs.broken", "How many of them are broken."),
    (
        "certificate.springs.max_force",
        "Largest force of one that is not, pull or push, with damping and without limits [N].",
    ),
    ("certificate.springs.energy", "Energy stored in those that are not broken [J]."),
    (
        "certificate.contact.intersections",
        "Edges that intersect a face without a common vertex, counted once per face; of cloth with itself, other cloth and mesh obstacles. Exact. `contact` is present if contact is on.",
    ),
    (
        "certificate.contact.tangled",
        "Whether they remain from a tangled initial state: every frame so far, including frame 0, had some.",
    ),
    ("certificate.contact.first", "The first of them; `null` if there is none."),
    ("certificate.contact.first.edge_body", "Body or obstacle that its edge belongs to."),
    ("certificate.contact.first.edge", "Vertices of the edge."),
    ("certificate.contact.first.face_body", "Body or obstacle that its face belongs to."),
    ("certificate.contact.first.face", "The face."),
    (
        "certificate.contact.smallest_gap",
        "Smallest distance between non-adjacent vertices and faces, or edges and edges [m]; 0 if there is an intersection, `null` if no gap is below thickness and margins. Adjacent parts share a vertex, or were that near initially.",
    ),
    (
        "certificate.rigid_bodies[].name",
        "Name of the rigid body; `rigid_bodies` is present if the scene has any.",
    ),
    ("certificate.rigid_bodies[].position", "Position of its centre [m]."),
    ("certificate.rigid_bodies[].rotation", "Rotation: a unit quaternion, x, y, z, w."),
    ("certificate.rigid_bodies[].velocity", "Mean velocity of its centre over the last step [m/s]."),
    ("certificate.rigid_bodies[].angular_velocity", "Mean angular velocity over the last step [rad/s]."),
    ("certificate.rigid_bodies[].kinetic", "Kinetic energy, translational and rotational [J]."),
    ("certificate.rigid_bodies[].gravity", "Potential energy in gravity [J]."),
    (
        "certificate.rigid_bodies[].momentum",
        "Linear momentum [kg m/s]; with those of all `bodies`, that of the whole scene.",
    ),
    ("certificate.rigid_bodies[].angular_momentum", "Angular momentum about the origin [kg m²/s]."),
];

/// Keys of `outcome.json`. Each `figures.max_…` and `figures.min_strain` is an object with `value`, `frame`,
/// `body` and `element`.
pub const OUTCOME: &[(&str, &str)] = &[
    ("status", "`done`, `interrupted` (it can be resumed), `expectation-failed` or `failed`."),
    ("reason", "Reason, in one sentence."),
    ("unmet", "Unmet expectations of the scene, one line each."),
    ("scene", "Name of the scene."),
    ("frames", "Completed frames, without frame 0."),
    ("frames_wanted", "Frames of the scene."),
    ("bodies[].name", "Name of a body."),
    ("bodies[].vertices", "Number of its vertices."),
    ("bodies[].triangles", "Number of its triangles; 0 for a soft body."),
    ("bodies[].tetrahedra", "Number of its tetrahedra, for a soft body."),
    ("bodies[].segments", "Number of its segments, for particles."),
    ("figures.max_strain", "Largest principal strain; 0.05: stretched by 5 %."),
    ("figures.min_strain", "Smallest principal strain; −0.05: compressed by 5 %."),
    ("figures.max_residual", "Largest residual of a triangle past its limits."),
    ("figures.max_compression_residual", "Largest residual past a lower limit."),
    ("figures.max_stretch_residual", "Largest residual past an upper limit."),
    (
        "figures.mean_compression_residual",
        "Mean over frames and bodies of the mean residual past lower limits.",
    ),
    (
        "figures.given_way_frames",
        "Frames in which limits had given way because they could not be met: lower limits first, then upper ones.",
    ),
    ("figures.most_given_way", "Most elements of a frame whose limits had given way."),
    ("figures.max_edge_residual", "Largest residual of an edge past its limits."),
    ("figures.max_bend", "Largest bend [°/cm]."),
    ("figures.max_bend_excess", "Largest excess of a hinge past its bend limits [°]."),
    ("figures.mean_residual", "Mean over frames and bodies of the mean residual of a triangle."),
    ("figures.mean_strain", "Mean over frames and bodies of the mean larger principal strain."),
    ("figures.max_penetration", "Deepest penetration of an obstacle [m]."),
    ("figures.max_pin_error", "Largest distance of a pinned vertex from its target [m]."),
    ("figures.final_opening", "Largest opening of a seam in the last frame [m]."),
    (
        "figures.bags[].name",
        "Name of a closed cloth with pressure; `bags` is present only in scenes with pressure.",
    ),
    ("figures.bags[].final_volume", "Volume at the last frame [m³]; `null` if seams of it are open."),
    ("figures.bags[].final_volume_factor", "The same over the volume at rest; `null` if that is not known."),
    ("figures.bags[].final_pressure", "Pressure above that of the air around at the last frame [Pa]."),
    ("figures.bags[].max_pressure", "Largest such pressure in any frame [Pa]."),
    (
        "figures.contact.crossed_frames",
        "Frames with new intersections, other than remains of a tangled initial state. `contact` is present if contact is on.",
    ),
    (
        "figures.contact.first_crossed",
        "The first of them: an object whose `value` is its number of intersections, and whose `body` and `element` name the edge of one; `null` if there is none.",
    ),
    (
        "figures.contact.tangled_frames",
        "Frames that are still tangled from the initial state, including frame 0.",
    ),
    ("figures.contact.most_intersections", "Most intersections in a frame, from any cause."),
    (
        "figures.contact.smallest_gap",
        "Smallest gap in the frames after frame 0 [m]; `null` if no gap was below thickness and margins.",
    ),
    ("figures.contact.smallest_gap_frame", "Its frame."),
    (
        "figures.solid.inverted_frames",
        "Frames with inverted tetrahedra. `solid` is present if there are soft bodies.",
    ),
    ("figures.solid.most_inverted", "Most inverted tetrahedra in a body and frame."),
    ("figures.solid.max_ring_volume_error", "Largest relative change of the volume around a vertex."),
    (
        "figures.final_energy",
        "Kinetic, gravitational, stretching and bending energy of all bodies in the last frame [J].",
    ),
    ("figures.iterations", "Total iterations of the limiter."),
    ("figures.max_iterations", "Most iterations in a frame."),
    ("figures.unconverged_frames", "Frames that had a step that did not converge."),
    ("figures.first_unconverged", "The first of them."),
    ("figures.rescued", "Vertices reset because their prediction was non-finite."),
    ("figures.median_ms", "Median time per frame [ms]."),
    ("figures.worst_ms", "Longest time of a frame [ms]."),
    ("wall_seconds", "Run time of the program since its last start [s]."),
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
        measure::{
            BagCertificate, BodyCertificate, ContactCertificate, Intersection, MidpointCertificate,
            RigidCertificate, SeamCertificate, SolidMeasure, SpringCertificate,
        },
    };
    use taut_io::output::{
        metrics::FrameLine,
        outcome::{BagFigures, BodySize, ContactFigures, Figures, Outcome, SolidFigures, Status},
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
            bodies: vec![BodyCertificate {
                solid: Some(SolidMeasure::default()),
                midpoints: Some(MidpointCertificate::default()),
                ..Default::default()
            }],
            seams: vec![SeamCertificate::default()],
            bags: vec![BagCertificate {
                volume: Some(1.0),
                volume_factor: Some(1.0),
                pressure: Some(1.0),
                ..BagCertificate::default()
            }],
            springs: Some(SpringCertificate::default()),
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
            bodies: vec![BodySize { tetrahedra: 1, segments: 1, ..BodySize::default() }],
            figures: Figures {
                bags: vec![BagFigures::default()],
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
