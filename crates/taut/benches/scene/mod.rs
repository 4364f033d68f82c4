//! Sheets that benches work on.

use taut::{
    Projection,
    element::{
        colored, iterate,
        triangle::{StrainElement, TriangleLanes},
    },
    exec::{colored::Colored, threads::Threads},
    kernel::{
        lanes::{LaneKind, Quad},
        random::Random,
        strain::Range,
        svd2::rest_inverse,
    },
    limit::Settings,
    mesh::generate,
};

/// A sheet of cells × cells quads, stretched so that every triangle is past its limits.
pub struct Sheet {
    pub elements: Vec<StrainElement>,
    pub colored: Colored<TriangleLanes, 3>,
    pub x: Vec<Quad>,
    order: Vec<u32>,
}

impl Sheet {
    /// `mixed`: one direction too long and the other too short, so that both stretches of most triangles are
    /// clamped.
    pub fn violating(cells: u32, mixed: bool) -> Self {
        let mesh = generate::grid([1.0, 1.0], [cells, cells], generate::Diagonals::Alternating, 0);
        let count = mesh.positions.len();
        let range = if mixed { Range { min: 0.95, max: 1.05 } } else { Range { min: 0.0, max: 1.05 } };
        let elements: Vec<StrainElement> = mesh
            .triangles
            .iter()
            .map(|&vertices| {
                let corners = vertices.map(|v| mesh.positions[v as usize].as_dvec3().to_array());
                let rest = rest_inverse(corners).expect("a grid has no flat triangle").0.map(|r| r as f32);
                StrainElement { vertices, rest, range, weave: None, share: 1.0 / 6.0 }
            })
            .collect();
        let colored = colored(count, count as u32, &elements);
        let mut random = Random::new(7, cells.into());
        // Little enough that one stretch alone is clamped unless `mixed`.
        let noise = 0.05 / cells as f32;
        let squeeze = if mixed { 0.8 } else { 0.97 };
        let x = mesh
            .positions
            .iter()
            .map(|p| {
                [
                    1.25 * p.x + noise * random.unit(),
                    noise * random.unit(),
                    squeeze * p.z,
                    1.0 + 0.5 * random.unit(),
                ]
            })
            .chain([[0.0; 4]])
            .collect();
        Self { elements, colored, x, order: Vec::new() }
    }

    /// Projects every triangle on one thread and leaves all where they are (a relaxation of 0), so that every
    /// triangle is past its limits every time.
    pub fn project_all(&mut self, lanes: LaneKind, projection: Projection) -> f32 {
        let threads = Threads::alone();
        let settings = Settings { threads: &threads, lanes, projection, relaxation: 0.0 };
        iterate::sweep(&settings, &self.colored, &mut self.x, &mut Random::new(1, 1), &mut self.order)
    }
}
