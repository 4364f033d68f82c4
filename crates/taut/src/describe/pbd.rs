//! Position-based dynamics (S2, S3): what a caller says of a body that it simulates.

/// How stiff the constraints of one kind are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PbdStiffness {
    /// The lecture's k, from 0 (no such constraints) to 1 (met as well as the iterations of a step allow).
    /// With n iterations a step each projects by k' = 1 − (1 − k)^(1/n), so that a step moves a constraint by
    /// the same part of its error whatever n is. The motion depends on the length of a step.
    Part(f32),
    /// The inverse of a stiffness, as extended position-based dynamics (XPBD) has it: the same motion
    /// whatever the iterations and the length of a step, once iterations converge. Stretch \[m/N\], bend
    /// \[1/(N m)\], volume \[m³/Pa\]; 0 is rigid.
    Compliance(f32),
}

impl PbdStiffness {
    /// Whether there are such constraints.
    pub fn acts(self) -> bool {
        self != Self::Part(0.0)
    }

    /// What is wrong with it.
    fn problem(self, kind: &str) -> Option<String> {
        match self {
            Self::Part(k) if !(0.0..=1.0).contains(&k) => {
                Some(format!("pbd.{kind} is {k}, must lie between 0 and 1"))
            }
            Self::Compliance(alpha) if !(0.0..=1e9).contains(&alpha) => {
                Some(format!("pbd.compliance.{kind} is {alpha}, must lie between 0 and 1e9"))
            }
            _ => None,
        }
    }
}

/// Settings of [`Model::Pbd`](crate::Model::Pbd).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PbdModel {
    /// Of the lengths of edges.
    pub stretch: PbdStiffness,
    /// Of the angles between adjacent triangles. Cloth only.
    pub bend: PbdStiffness,
    /// Of the volume that closed cloth encloses, or of every tetrahedron of a solid. `None`: k = 1 for
    /// solids, none for cloth.
    pub volume: Option<PbdStiffness>,
    /// The lecture's k_d, from 0 to 1: the part of all motion but that of a rigid body that is lost in a
    /// step.
    pub damping: f32,
    /// Iterations of a step, 1 to 10000. All bodies of a scene share one solver, which takes the most that
    /// any of them asks for.
    pub iterations: u32,
}

impl Default for PbdModel {
    fn default() -> Self {
        Self {
            stretch: PbdStiffness::Part(1.0),
            bend: PbdStiffness::Part(0.1),
            volume: None,
            damping: 0.0,
            iterations: 20,
        }
    }
}

impl PbdModel {
    /// What is wrong with it, and what is allowed.
    pub(crate) fn problem(&self) -> Option<String> {
        let volume = self.volume.unwrap_or(PbdStiffness::Part(0.0));
        let kinds = [(self.stretch, "stretch"), (self.bend, "bend"), (volume, "volume")];
        let damping = self.damping;
        kinds.into_iter().find_map(|(stiffness, kind)| stiffness.problem(kind)).or_else(|| {
            if !(0.0..=1.0).contains(&damping) {
                return Some(format!("pbd.damping is {damping}, must lie between 0 and 1"));
            }
            let iterations = self.iterations;
            let is_fine = (1..=10_000).contains(&iterations);
            (!is_fine).then(|| format!("pbd.iterations is {iterations}, must lie between 1 and 10000"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_out_of_range_is_named() {
        let usual = PbdModel::default();
        assert_eq!(usual.problem(), None);
        let wrong = [
            (PbdModel { stretch: PbdStiffness::Part(1.5), ..usual }, "pbd.stretch is 1.5"),
            (PbdModel { bend: PbdStiffness::Part(f32::NAN), ..usual }, "pbd.bend is NaN"),
            (
                PbdModel { volume: Some(PbdStiffness::Compliance(-1.0)), ..usual },
                "pbd.compliance.volume is -1",
            ),
            (PbdModel { damping: -0.1, ..usual }, "pbd.damping is -0.1"),
            (PbdModel { iterations: 0, ..usual }, "pbd.iterations is 0"),
        ];
        for (model, named) in wrong {
            let problem = model.problem().expect(named);
            assert!(problem.contains(named) && problem.contains("must lie between"), "{problem}");
        }
    }
}
