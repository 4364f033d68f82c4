//! Tables of a batch of strands: masses, lengths, stiffness and rest shape, lane by lane.

use super::{limits::JointLimits, rest::StrandRest};
use crate::kernel::lanes::{BATCH, Row};

/// Rest curvature and twist below which a joint counts as straight.
const STRAIGHT: f64 = 1e-5;

/// Move below which a strand is solved, over the mean length of its segments. With 5e-3, tips of curls are
/// 0.26 mm from those of converged steps after 4 s of shaking, and with this 0.1 mm, for 16 iterations in
/// place of 12. Straight ones on a head are 0.65 mm off in the mean with 5e-3, as some take another way
/// around it, and 0.04 mm with this, for 6.9 iterations in place of 6.2.
const SETTLED: f64 = 1.5e-3;

/// What does not change of a batch of strands. Rows are by node; segment j begins at node j, joint i is at
/// node i. Masses and stiffness are in units of `unit`.
#[derive(Clone, Debug)]
pub(super) struct Rods {
    /// Nodes of each strand.
    pub(super) nodes: usize,
    /// Whether strands have material frames: those with a rest shape other than straight, or limits on twist.
    pub(super) is_curly: bool,
    /// Mean mass of a node \[kg\].
    pub(super) unit: Row,
    pub(super) mass: Vec<Row>,
    /// Move below which a strand is solved \[m\].
    pub(super) settled: Row,
    /// Length of segments \[m\], and its inverse.
    pub(super) length: Vec<Row>,
    pub(super) inverse_length: Vec<Row>,
    /// Stiffness of joints: EI and GJ over their length \[N m / unit\], as the energy has them.
    pub(super) bend: Vec<Row>,
    pub(super) twist: Vec<Row>,
    /// Rest curvature in the material frame, and rest twist; of curly strands.
    pub(super) curvature: Vec<[Row; 2]>,
    pub(super) rest_twist: Vec<Row>,
    /// Turning at rest \[rad\], of curly strands.
    pub(super) turning: Vec<Row>,
    /// Limits on the change of angles; empty if there are none.
    pub(super) limits: Vec<JointLimits>,
}

impl Rods {
    /// Packs strands of the same number of nodes. `limits` are those on bend and twist \[°/cm\].
    pub(super) fn new(strands: [&StrandRest; BATCH], limits: [Option<f32>; 2]) -> Self {
        let nodes = strands[0].mass.len();
        let joints = |strand: &StrandRest| {
            let straight = |k: &[f64; 2]| k.iter().all(|k| k.abs() < STRAIGHT);
            strand.curvature.iter().all(straight) && strand.twist.iter().all(|t| t.abs() < STRAIGHT)
        };
        let is_curly = limits[1].is_some() || !strands.iter().copied().all(joints);
        let row = |value: &dyn Fn(&StrandRest) -> f64| Row(strands.map(|strand| value(strand) as f32));
        let unit_of = |strand: &StrandRest| strand.mass.iter().sum::<f64>() / nodes as f64;
        let rows = |count: usize, value: &dyn Fn(&StrandRest, usize) -> f64| -> Vec<Row> {
            (0..count).map(|k| row(&|strand| value(strand, k))).collect()
        };
        let joints = if is_curly { nodes } else { 0 };
        let curvature = |i: usize| [0, 1].map(|k| row(&|strand| strand.curvature[i][k]));
        let has_limits = limits.iter().any(Option::is_some);
        Self {
            nodes,
            is_curly,
            unit: row(&unit_of),
            settled: row(&|strand| SETTLED * strand.length.iter().sum::<f64>() / (nodes - 1) as f64),
            mass: rows(nodes, &|strand, i| strand.mass[i] / unit_of(strand)),
            length: rows(nodes - 1, &|strand, j| strand.length[j]),
            inverse_length: rows(nodes - 1, &|strand, j| 1.0 / strand.length[j]),
            bend: rows(nodes, &|strand, i| strand.stiffness(i).0 / unit_of(strand)),
            twist: rows(joints, &|strand, i| strand.stiffness(i).1 / unit_of(strand)),
            curvature: (0..joints).map(curvature).collect(),
            rest_twist: rows(joints, &|strand, i| strand.twist[i]),
            turning: rows(joints, &StrandRest::turning),
            limits: if has_limits {
                (0..nodes).map(|i| JointLimits::new(strands, i, limits)).collect()
            } else {
                Vec::new()
            },
        }
    }

    /// Number of segments.
    pub(super) fn segments(&self) -> usize {
        self.nodes - 1
    }

    /// Rows that are kept from step to step: tensions, and of curly strands the twist and the first frame.
    pub(super) fn kept_rows(&self) -> usize {
        if self.is_curly { 2 * self.segments() + 3 } else { self.segments() }
    }
}
