//! What taut implements of each paper: the one table that the pages of the papers show.
//!
//! Letters are papers: W is Wang, O'Brien and Ramamoorthi 2010, T is Tang, Wan and Huang, S the lecture on
//! soft bodies, E English 2008. A part is *whole* if taut does what the paper says, if need be by another
//! method; the pages say by which. Change a status here, together with the code.

use std::path::Path;

use crate::scene_reference::table;

/// How much of a part exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// All of it.
    Whole,
    /// Some of it, and what is missing or different.
    Part(&'static str),
    /// None of it.
    Missing,
}

/// One part of a paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Letter of the paper and number.
    pub id: &'static str,
    /// Section of the paper: its number, or its heading where sections have no numbers.
    pub section: &'static str,
    /// What it is, in one line.
    pub title: &'static str,
    /// How much of it exists.
    pub status: Status,
    /// Files of the repository that implement it, relative to its folder; none if it is missing.
    pub files: &'static [&'static str],
}

/// All parts, in the order of their numbers.
pub const PARTS: [Part; 38] = [
    Part {
        id: "W1",
        section: "3.1.2, Eq. 4",
        title: "strain limit of a triangle, with pinned vertices",
        status: Status::Whole,
        files: &["crates/taut/src/element/triangle.rs", "crates/taut/src/kernel/strain.rs"],
    },
    Part {
        id: "W2",
        section: "3.1.3",
        title: "strain limit of a tetrahedron; inverted ones turn right side out",
        status: Status::Whole,
        files: &[
            "crates/taut/src/element/tetrahedron.rs",
            "crates/taut/src/kernel/strain3.rs",
            "crates/taut/src/kernel/tetrahedron.rs",
        ],
    },
    Part {
        id: "W3",
        section: "3.1.5",
        title: "early-out without an SVD",
        status: Status::Whole,
        files: &["crates/taut/src/kernel/strain.rs", "crates/taut/src/kernel/tetrahedron.rs"],
    },
    Part {
        id: "W4",
        section: "3.1.4, Eqs. 5, 6",
        title: "bend limit, with the compensation of each triangle",
        status: Status::Whole,
        files: &[
            "crates/taut/src/limit/bend_paper.rs",
            "crates/taut/src/kernel/bend_paper.rs",
            "crates/taut/src/element/hinge.rs",
        ],
    },
    Part {
        id: "W5",
        section: "3.2",
        title: "randomised Gauss–Seidel, Jacobi; coloured Gauss–Seidel in addition",
        status: Status::Whole,
        files: &["crates/taut/src/element/iterate.rs", "crates/taut/src/limit/enforce.rs"],
    },
    Part {
        id: "W6",
        section: "3.2, Eq. 7",
        title: "obstacles, self-collision and friction inside the iterations",
        status: Status::Whole,
        files: &[
            "crates/taut/src/boundary/obstacle_contacts.rs",
            "crates/taut/src/term/obstacle.rs",
            "crates/taut/src/contact/mod.rs",
            "crates/taut/src/term/pair.rs",
            "crates/taut/src/limit/contact.rs",
            "crates/taut/src/limit/rigid.rs",
        ],
    },
    Part {
        id: "W7",
        section: "4.1",
        title: "hierarchy of triangles and of tetrahedra",
        status: Status::Whole,
        files: &[
            "crates/taut/src/hierarchy/mod.rs",
            "crates/taut/src/hierarchy/collapse.rs",
            "crates/taut/src/hierarchy/flip.rs",
            "crates/taut/src/hierarchy/solid.rs",
            "crates/taut/src/mesh/tessellate.rs",
            "crates/taut/src/mesh/stuff/levels.rs",
        ],
    },
    Part {
        id: "W8",
        section: "4.1",
        title: "transfer: barycentric upsampling, averaged downsampling",
        status: Status::Whole,
        files: &["crates/taut/src/hierarchy/transfer.rs", "crates/taut/src/limit/levels.rs"],
    },
    Part {
        id: "W9",
        section: "4.2",
        title: "fitted limits of coarse triangles and hinges, direct and indirect, cached",
        status: Status::Whole,
        files: &[
            "crates/taut/src/hierarchy/fit.rs",
            "crates/taut/src/hierarchy/fit/search.rs",
            "crates/taut-io/src/cache/fit.rs",
        ],
    },
    Part {
        id: "W10",
        section: "4.3, Fig. 2",
        title: "the multi-resolution solver (scheme `paper`)",
        status: Status::Whole,
        files: &[
            "crates/taut/src/limit/paper.rs",
            "crates/taut/src/limit/contact.rs",
            "crates/taut/src/limit/levels.rs",
            "crates/taut/src/velocity_filter.rs",
        ],
    },
    Part {
        id: "W11",
        section: "5",
        title: "base simulator: linear elements, Green's strain, linear law, hinge bending, leap-frog",
        status: Status::Part(
            "leap-frog softens stiffness that needs more than `solver.max_substeps`, and is not the default: \
             implicit steps have a linear law of the stretches (corotated) instead of Green's strain",
        ),
        files: &[
            "crates/taut/src/velocity/fem.rs",
            "crates/taut/src/velocity/fem_tetrahedron.rs",
            "crates/taut/src/velocity/bending.rs",
            "crates/taut/src/velocity/update.rs",
        ],
    },
    Part {
        id: "W12",
        section: "5.1, 5.2",
        title: "the examples, figures 1 and 7 to 14",
        status: Status::Part(
            "procedural meshes instead of the bunny, the duck and the dragon; the shirt's lower limit gives way \
             in the armpits, some tetrahedra of the solid dragon are crushed, the hollow one keeps its bend \
             limits under a higher roller only; figure 12 holds on a shaken chain only",
        ),
        files: &[
            "scenes/bunny.toml",
            "scenes/bunny-b.toml",
            "scenes/bunny-c.toml",
            "scenes/bunny-d.toml",
            "scenes/duck.toml",
            "scenes/bend-loose.toml",
            "scenes/bend-tight.toml",
            "scenes/shirt.toml",
            "scenes/tori.toml",
            "scenes/dragon-roller.toml",
            "scenes/dragon-roller-shell.toml",
            "scenes/dragon-roller-bends.toml",
            "scenes/twisted-bar.toml",
            "scenes/noisy-sheet.toml",
            "crates/taut/src/tests/paper_figure_9.rs",
            "crates/taut-book/src/chain.rs",
            "crates/taut/src/tests/paper_figure_13.rs",
            "crates/taut/src/tests/paper_figure_13_solid.rs",
            "crates/taut/src/tests/paper_figure_14.rs",
            "crates/taut-book/src/noisy.rs",
        ],
    },
    Part {
        id: "W13",
        section: "5.3, 6",
        title: "left open there: limits by direction, a global solve, threads, other cycles, twists, volume",
        status: Status::Whole,
        files: &[
            "crates/taut/src/kernel/weave.rs",
            "crates/taut/src/solve/nearest.rs",
            "crates/taut/src/exec/threads.rs",
            "crates/taut/src/limit/cycle.rs",
            "crates/taut/src/term/volume.rs",
            "scenes/twist.toml",
        ],
    },
    Part {
        id: "T1",
        section: "Strain limiting constraints",
        title: "strain limits of edges, no SVD",
        status: Status::Whole,
        files: &["crates/taut/src/element/edge.rs", "crates/taut/src/limit/edge_model.rs"],
    },
    Part {
        id: "T2",
        section: "Simulation system overview, Eqs. 1 to 3",
        title: "edge membrane energy, hinge bending, semi-implicit step",
        status: Status::Whole,
        files: &[
            "crates/taut/src/velocity/spring.rs",
            "crates/taut/src/velocity/angle_bending.rs",
            "crates/taut/src/velocity/bending.rs",
            "crates/taut/src/velocity/update.rs",
        ],
    },
    Part {
        id: "T3",
        section: "The hierarchical construction",
        title: "decimation hierarchy of three to five levels",
        status: Status::Whole,
        files: &["crates/taut/src/hierarchy/mod.rs", "crates/taut/src/limit/levels/edges.rs"],
    },
    Part {
        id: "T4",
        section: "Handling constraints",
        title: "pins held at every level",
        status: Status::Part(
            "pins get vertices on all levels but a few, of irregular meshes, where several lie in one coarse triangle; soft bodies only move vertices",
        ),
        files: &[
            "crates/taut/src/limit/levels.rs",
            "crates/taut/src/limit/levels/tables.rs",
            "crates/taut/src/limit/levels/insert.rs",
            "crates/taut/src/hierarchy/insert.rs",
            "crates/taut/src/hierarchy/fit/again.rs",
        ],
    },
    Part {
        id: "T5",
        section: "Handling constraints",
        title: "grab, pin and release while it runs, at every level",
        status: Status::Whole,
        files: &[
            "crates/taut/src/simulation.rs",
            "crates/taut/src/boundary/grip.rs",
            "crates/taut/src/boundary/hold.rs",
            "crates/taut/src/limit/levels/parts.rs",
        ],
    },
    Part {
        id: "T6",
        section: "Detail preserving, Algorithms 1, 2",
        title: "only corrections are prolonged",
        status: Status::Whole,
        files: &["crates/taut/src/limit/levels.rs", "crates/taut/src/limit/edge_model.rs"],
    },
    Part {
        id: "T7",
        section: "Strain limiting constraints, Handling constraints",
        title: "collisions with friction",
        status: Status::Part("model `edge` refuses obstacles with a mass"),
        files: &["crates/taut/src/boundary/obstacle_contacts.rs", "crates/taut/src/limit/contact.rs"],
    },
    Part {
        id: "T8",
        section: "Simulation system overview",
        title: "random order",
        status: Status::Whole,
        files: &["crates/taut/src/element/iterate.rs", "crates/taut/src/kernel/random.rs"],
    },
    Part {
        id: "T9",
        section: "Results and discussion",
        title: "interaction at frame rate: sheet, star, ten curtains",
        status: Status::Whole,
        files: &[
            "scenes/tang-sheet.toml",
            "scenes/tang-star.toml",
            "scenes/curtains.toml",
            "scenes/sponza-like.toml",
            "crates/taut-studio/src/session/live.rs",
        ],
    },
    Part {
        id: "T10",
        section: "Results and discussion",
        title: "named, measured materials",
        status: Status::Whole,
        files: &["crates/taut/src/velocity/material.rs", "crates/taut/src/velocity/fabrics.rs"],
    },
    Part {
        id: "S1",
        section: "Mass-spring",
        title: "springs with rest length and damping",
        status: Status::Part("segments do not collide"),
        files: &[
            "crates/taut/src/boundary/spring.rs",
            "crates/taut/src/term/spring.rs",
            "crates/taut/src/body/particles/assemble.rs",
        ],
    },
    Part {
        id: "S2",
        section: "Position based dynamics",
        title: "the position-based loop: damping, collision by ray, k' = 1 − (1 − k)^(1/n)",
        status: Status::Whole,
        files: &[
            "crates/taut/src/pbd/mod.rs",
            "crates/taut/src/pbd/spring.rs",
            "crates/taut/src/pbd/damping.rs",
            "crates/taut/src/kernel/pbd.rs",
            "crates/taut/src/boundary/obstacle_contacts.rs",
            "scenes/pbd-four-cloths.toml",
        ],
    },
    Part {
        id: "S3",
        section: "Modeling cloth",
        title: "stretch and bend constraints on any manifold triangle mesh",
        status: Status::Whole,
        files: &[
            "crates/taut/src/pbd/constraint.rs",
            "crates/taut/src/pbd/enclosed.rs",
            "crates/taut/src/element/edge.rs",
            "crates/taut/src/element/triangle.rs",
            "crates/taut/src/element/hinge.rs",
        ],
    },
    Part {
        id: "S4",
        section: "Modeling cloth",
        title: "vertex–triangle collision at a thickness, impulses on rigid bodies",
        status: Status::Whole,
        files: &[
            "crates/taut/src/term/pair.rs",
            "crates/taut/src/term/rigid.rs",
            "crates/taut/src/limit/contact.rs",
            "crates/taut/src/limit/rigid.rs",
            "crates/taut/src/boundary/rigid.rs",
            "crates/taut/src/collide/mod.rs",
        ],
    },
    Part {
        id: "S5",
        section: "Modeling cloth",
        title: "overpressure (balloons)",
        status: Status::Whole,
        files: &[
            "crates/taut/src/term/pressure.rs",
            "crates/taut/src/boundary/bag.rs",
            "crates/taut/src/pbd/enclosed.rs",
        ],
    },
    Part {
        id: "S6",
        section: "Modeling cloth",
        title: "tearing",
        status: Status::Part("all tables are built again when something tears"),
        files: &[
            "crates/taut/src/body/cloth/tear.rs",
            "crates/taut/src/mesh/split.rs",
            "crates/taut/src/simulation/tear.rs",
            "crates/taut/src/simulation/open.rs",
            "crates/taut/src/describe/tear.rs",
            "crates/taut/src/body/hair/tear.rs",
        ],
    },
    Part {
        id: "S7",
        section: "Modeling hair",
        title: "hair, straight and curly: edge, bending, torsion and altitude springs",
        status: Status::Whole,
        files: &[
            "crates/taut/src/strand_springs/mod.rs",
            "crates/taut/src/strand/mod.rs",
            "crates/taut/src/hair_pairs/mod.rs",
            "crates/taut/src/step/strands.rs",
        ],
    },
    Part {
        id: "E1",
        section: "3.1",
        title: "nonconforming (Crouzeix–Raviart) elements",
        status: Status::Part(
            "with limits on strain, ±0.1 % by default, in place of rigidity, and jumps at corners limited to a tenth \
             of an edge, which the paper does not limit; meshes that are flat at rest",
        ),
        files: &[
            "crates/taut/src/mesh/midpoints.rs",
            "crates/taut/src/body/cloth/nonconforming.rs",
            "crates/taut/src/term/jump.rs",
        ],
    },
    Part {
        id: "E2",
        section: "3.1",
        title: "conforming ribbon of boundary triangles",
        status: Status::Whole,
        files: &["crates/taut/src/mesh/midpoints.rs", "crates/taut/src/solve/nearest/means.rs"],
    },
    Part {
        id: "E3",
        section: "3.2",
        title: "quadratic bending B = k KᵀW⁻¹K of nonconforming elements",
        status: Status::Whole,
        files: &["crates/taut/src/body/cloth/nonconforming.rs", "crates/taut/src/term/curvature.rs"],
    },
    Part {
        id: "E4",
        section: "5.2",
        title: "fast projection with a sparse direct solve",
        status: Status::Missing,
        files: &[],
    },
    Part {
        id: "E5",
        section: "5.1, Eqs. 20 to 23",
        title: "BDF2 with constraints",
        status: Status::Part(
            "for conforming triangles and tetrahedra within limits; not with the rigidity constraints and the \
             projection of E1 and E4",
        ),
        files: &["crates/taut/src/velocity/predict.rs", "crates/taut/src/step/boxes.rs"],
    },
    Part {
        id: "E6",
        section: "4.1",
        title: "ghost conforming mesh",
        status: Status::Part("it is shown and exported; what collides is a mesh between the unknowns"),
        files: &["crates/taut/src/mesh/midpoints.rs", "crates/taut/src/mesh/midpoints/faces.rs"],
    },
    Part {
        id: "E7",
        section: "4.2",
        title: "collisions in three stages: repulsion, swept impulses, rigid impact zones",
        status: Status::Part(
            "none of the three stages: contact in taut is another method. In common is a tree of boxes that is \
             refitted in every step",
        ),
        files: &["crates/taut/src/contact/tree.rs"],
    },
    Part {
        id: "E8",
        section: "6",
        title: "sheet pinned at two corners, drop on a sphere, cape, shirt",
        status: Status::Part("the same situations with conforming cloth within limits; none is developable"),
        files: &[
            "scenes/hanging-sheet.toml",
            "scenes/sheet-on-sphere.toml",
            "scenes/cape.toml",
            "scenes/shirt.toml",
        ],
    },
];

/// The table of one paper, by its letter: W, T, S or E.
///
/// # Errors
/// If no part has this letter.
pub fn table_of(letter: &str) -> Result<String, String> {
    let parts: Vec<&Part> = PARTS.iter().filter(|part| paper(part.id) == letter).collect();
    if parts.is_empty() {
        return Err(format!("no paper has the letter {letter:?}; known: W, T, S, E"));
    }
    let mut rows = vec![["", "section", "part", "status", "where"].map(String::from)];
    rows.extend(parts.into_iter().map(row));
    Ok(table(&rows))
}

/// One row of a table.
fn row(part: &Part) -> [String; 5] {
    let status = match part.status {
        Status::Whole => "whole".into(),
        Status::Part(missing) => format!("**in part**: {missing}"),
        Status::Missing => "**missing**".into(),
    };
    let files: Vec<String> = part.files.iter().map(|file| format!("`{file}`")).collect();
    [part.id.into(), part.section.into(), part.title.into(), status, files.join(", ")]
}

/// The letter of the paper that a part is of.
fn paper(id: &str) -> &str {
    id.trim_end_matches(|digit: char| digit.is_ascii_digit())
}

/// All faults of the table: files that are not in `repository`, and parts that name files although they are
/// missing, or none although they exist.
pub fn faults(repository: &Path) -> Vec<String> {
    let mut faults = Vec::new();
    for part in PARTS {
        let id = part.id;
        match part.status {
            Status::Missing if !part.files.is_empty() => {
                faults.push(format!("{id} is missing and names files"))
            }
            Status::Whole | Status::Part(_) if part.files.is_empty() => {
                faults.push(format!("{id} exists and names no file"));
            }
            Status::Part("") => faults.push(format!("{id} does not say what is missing")),
            _ => {}
        }
        let gone = part.files.iter().filter(|file| !repository.join(file).is_file());
        faults.extend(gone.map(|file| format!("{id} names {file}, which is not in the repository")));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_exist_and_missing_parts_name_none() {
        assert_eq!(faults(&crate::repository()), Vec::<String>::new());
        assert!(!faults(Path::new("nowhere")).is_empty());
    }

    #[test]
    fn every_part_of_every_paper_is_there_once() {
        let papers = [("W", 13), ("T", 10), ("S", 7), ("E", 8)];
        let all = papers.iter().flat_map(|(letter, count)| (1..=*count).map(move |k| format!("{letter}{k}")));
        let ids: Vec<&str> = PARTS.iter().map(|part| part.id).collect();
        assert_eq!(ids, all.collect::<Vec<_>>());
    }

    #[test]
    fn a_table_has_the_parts_of_its_paper() {
        let table = table_of("E").unwrap();
        assert_eq!(table.lines().count(), 2 + 8);
        assert!(table.contains("| E4 | 5.2 | fast projection with a sparse direct solve | **missing** |  |"));
        assert!(!table.contains("| W1 |"));
        assert!(table_of("X").unwrap_err().contains("known: W, T, S, E"));
    }
}
