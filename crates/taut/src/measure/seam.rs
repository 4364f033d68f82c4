//! How far seams are open.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::Ruler;
use crate::boundary::seam::Seam;

/// What one seam has come to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SeamCertificate {
    /// The seam's name.
    pub name: String,
    /// Largest distance of two vertices that are sewn together \[m\]; 0 if it is closed.
    pub max_opening: f64,
    /// Pairs that are apart.
    pub open: u64,
    /// The pair with the largest distance, of the seam's pairs.
    pub worst_pair: u32,
}

/// Measures all seams of `ruler`; `positions` \[m\] are those of each of its bodies, in the caller's order.
pub fn measure_seams<P: AsRef<[Vec3]>>(ruler: &Ruler, positions: &[P]) -> Vec<SeamCertificate> {
    ruler.description.seams.iter().map(|seam| measure_seam(seam, positions)).collect()
}

fn measure_seam<P: AsRef<[Vec3]>>(seam: &Seam, positions: &[P]) -> SeamCertificate {
    let mut measured = SeamCertificate { name: seam.name.clone(), ..SeamCertificate::default() };
    for (number, pair) in seam.pairs.iter().enumerate() {
        let [a, b] = pair.map(|(body, v)| positions[body].as_ref()[v as usize].as_dvec3());
        let apart = a.distance(b);
        measured.open += u64::from(apart > 0.0);
        if apart > measured.max_opening {
            (measured.max_opening, measured.worst_pair) = (apart, number as u32);
        }
    }
    measured
}
