//! What closed cloth with pressure inside has come to.

use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};

use super::Ruler;
use crate::boundary::bag::{Bag, volume};

/// Volume and pressure of a closed cloth.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BagCertificate {
    /// Name of the cloth that has the pressure.
    pub name: String,
    /// Volume inside \[m³\]; none while seams of it are open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<f64>,
    /// Volume over the reference volume; none if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume_factor: Option<f64>,
    /// Pressure above that of the air around in the last step \[Pa\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure: Option<f64>,
}

/// Measures the volumes of all closed cloth of `ruler`, without pressures; `positions` \[m\] are those of
/// each of its bodies, in the caller's order.
pub fn measure_bags<P: AsRef<[Vec3]>>(ruler: &Ruler, positions: &[P]) -> Vec<BagCertificate> {
    ruler.bags.iter().map(|bag| measure_bag(ruler, bag, positions)).collect()
}

fn measure_bag<P: AsRef<[Vec3]>>(ruler: &Ruler, bag: &Bag, positions: &[P]) -> BagCertificate {
    let mut x = vec![DVec3::ZERO; ruler.vertex_count];
    for &body in &bag.bodies {
        let tables = &ruler.bodies[body];
        for (k, &v) in tables.order().iter().enumerate() {
            x[tables.vertices.start + k] = positions[body].as_ref()[v as usize].as_dvec3();
        }
    }
    let at = |v: u32| x[v as usize];
    let volume = bag.is_closed(&ruler.sewing, at).then(|| volume(&bag.triangles, at));
    BagCertificate {
        name: ruler.description.bodies[bag.bodies[0]].name().into(),
        volume,
        volume_factor: volume.filter(|_| bag.volume > 0.0).map(|volume| volume / bag.volume),
        pressure: None,
    }
}
