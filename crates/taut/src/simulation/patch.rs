//! Limits that are changed without building the tables again.
//!
//! Matrices, levels and schedules do not depend on the value of a strain limit, only on which limits there
//! are: where a limit of triangles takes the place of one of the same kind, its value is written into the
//! tables that hold it. Everything else (a limit where there was none or none where there was one, limits by
//! direction, sewn cloth, coarser levels with limits of their own) builds the tables again.

use std::{ops::Range, sync::OnceLock};

use super::{Limiter, Simulation, tune::Settings};
use crate::{Body, Limit, Model, Scheme, World};

impl Simulation {
    /// Changes the settings of the bodies `range` to those of `changed` without building the tables again.
    /// Says whether that could be done; nothing has changed otherwise.
    pub(super) fn patch(&mut self, range: Range<usize>, changed: &[Settings]) -> bool {
        let differing: Vec<usize> = range.filter(|&body| self.settings[body] != changed[body]).collect();
        let fits =
            |&body: &usize| is_value(&self.settings[body], &changed[body]) && self.world.can_patch(body);
        if !differing.iter().all(fits) {
            return false;
        }
        for &body in &differing {
            self.world.patch_strain(body, changed[body].strain);
        }
        if !differing.is_empty() {
            self.stepper.adapt(&self.world);
        }
        true
    }
}

/// Whether `new` has other values of limits on strain than `old`, and is the same in everything else.
fn is_value(old: &Settings, new: &Settings) -> bool {
    let kind = |limit: Limit| {
        let range = limit.range();
        (limit.min.is_some(), limit.max.is_some(), range.min > 0.0)
    };
    let same = Settings { strain: new.strain, ..old.clone() } == *new;
    same && new.limiter == Limiter::Isotropic
        && new.weave.is_none()
        && new.strain.is_some()
        && kind(old.strain) == kind(new.strain)
}

impl World {
    /// Whether the limit on the strain of body `body` is nowhere but where [`World::patch_strain`] writes it.
    fn can_patch(&self, body: usize) -> bool {
        let plain = |body: &Body| match body {
            Body::Cloth(cloth) => {
                cloth.model == Model::Fem && cloth.weave.is_none() && cloth.strain.is_some()
            }
            Body::Solid(_) => false,
        };
        let scheme = self.description.solver.scheme;
        let has_coarse_limits = matches!(scheme, Scheme::Cycle | Scheme::Paper);
        plain(&self.description.bodies[body]) && !has_coarse_limits && self.sewing.is_empty()
    }

    /// Gives the triangles of cloth `body` other limits on their strain.
    fn patch_strain(&mut self, body: usize, limit: Limit) {
        let vertices = self.bodies[body].vertices.clone();
        let range = limit.range();
        if let Body::Cloth(cloth) = &mut self.ruler.description.bodies[body] {
            (cloth.strain, cloth.coarse) = (limit, None);
        }
        self.elements.triangles.set_range(self.ruler.vertex_count as u32, &vertices, range);
        self.filters.iter_mut().for_each(|filter| filter.set_range(&vertices, range));
        self.judges = OnceLock::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cloth, Description, Material, mesh::generate};

    /// A sheet within `limit`, beside one that has its own.
    fn simulation(limit: Limit, scheme: Scheme) -> Simulation {
        let sheet = |name: &str, limit: Limit| {
            let mesh = generate::grid([1.0, 1.0], [10, 10], generate::Diagonals::Alternating, 0);
            Cloth::new(name, mesh, Material::default()).stretch(limit).pin([0, 10]).into()
        };
        let bodies = vec![sheet("first", (..=0.03).into()), sheet("second", limit)];
        let mut description = Description { bodies, ..Description::default() };
        description.solver.scheme = scheme;
        Simulation::from_description(description, 1).unwrap()
    }

    #[test]
    fn what_is_patched_is_bit_for_bit_what_is_built_with_the_limit() {
        for scheme in [Scheme::Nearest, Scheme::Sweep, Scheme::Jacobi] {
            let mut patched = simulation((..=0.1).into(), scheme);
            let body = patched.bodies().nth(1).unwrap();
            patched.set_stretch_limit(body, ..=0.02).unwrap();
            let mut built = simulation((..=0.02).into(), scheme);
            for frame in 0..6 {
                patched.step_frame();
                built.step_frame();
                assert_eq!(patched.state.x, built.state.x, "{scheme:?}: frame {frame}");
            }
        }
    }

    #[test]
    fn another_kind_of_limit_is_not_patched() {
        let simulation = |limit: Limit| simulation(limit, Scheme::Nearest);
        let mut sheet = simulation((..=0.1).into());
        let mut patches = |change: &dyn Fn(&mut Settings)| {
            let mut changed = sheet.settings.clone();
            change(&mut changed[1]);
            sheet.patch(1..2, &changed)
        };
        assert!(patches(&|settings| settings.strain.max = Some(0.2)));
        assert!(!patches(&|settings| settings.strain.min = Some(-0.1)));
        assert!(!patches(&|settings| settings.strain.max = None));
        assert!(!patches(&|settings| settings.bend.max = Some(10.0)));
        assert!(!patches(&|settings| settings.stiffness = 2.0));
        assert!(!patches(&|settings| settings.limiter = Limiter::Edge));
    }
}
