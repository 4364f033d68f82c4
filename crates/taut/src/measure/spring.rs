//! What springs have come to.

use serde::{Deserialize, Serialize};

use crate::{State, World};

/// What all springs of a world have come to, segments of particles among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpringCertificate {
    /// How many there are, broken ones among them.
    pub count: u64,
    /// How many are broken.
    pub broken: u64,
    /// Largest force of one that is not, pull or push \[N\]; that of damping included, that of limits not.
    pub max_force: f64,
    /// Energy stored in those that are not broken \[J\].
    pub energy: f64,
}

impl SpringCertificate {
    /// Measures the springs of `world` in `state`; `None` if there are none.
    pub(crate) fn of(world: &World, state: &State) -> Option<Self> {
        let mut measured = Self { count: world.springs.len() as u64, ..Self::default() };
        for (spring, broken) in world.springs.iter().zip(&state.broken) {
            if *broken {
                measured.broken += 1;
                continue;
            }
            let (tension, _, _) = spring.tension(&state.x, &state.v, &state.rigid);
            measured.max_force = measured.max_force.max(tension.abs());
            measured.energy += spring.energy(&state.x, &state.v, &state.rigid);
        }
        (measured.count > 0).then_some(measured)
    }
}
