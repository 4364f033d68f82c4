//! Limits that are changed without building the tables again.
//!
//! A limit that takes the place of one of the same kind is written into the tables that hold it
//! (`World::set_limits`). Everything else (a limit where there was none or none where there
//! was one, another stiffness or material) builds the tables again, from what is cached.

use std::ops::Range;

use super::{Simulation, tune::Settings};
use crate::world::relimit::BodyLimits;

impl Simulation {
    /// Changes the settings of the bodies `range` to those of `changed` without building the tables again.
    /// Says whether that could be done; nothing has changed otherwise.
    pub(super) fn patch(&mut self, range: Range<usize>, changed: &[Settings]) -> bool {
        let differing: Vec<usize> = range.filter(|&body| self.settings[body] != changed[body]).collect();
        let fits = |&body: &usize| {
            let (old, new) = (&self.settings[body], &changed[body]);
            let limits = BodyLimits::of(&self.description().bodies[body]);
            // Limits of segments are tables of a term.
            let is_surface = self.description().bodies[body].as_particles().is_none();
            is_surface
                && (old.stiffness, old.material) == (new.stiffness, new.material)
                && new.limits().is_like(&limits)
        };
        if !differing.iter().all(fits) {
            return false;
        }
        for &body in &differing {
            self.world.set_limits(body, &changed[body].limits(), &self.cache);
        }
        if !differing.is_empty() {
            self.stepper.take_limits(&self.world);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::{
        Body, Cloth, Description, Direction, EdgeModel, Limiter, Material, Model, Pin, Scheme, Seam, Solid,
        SolidMaterial, Weave,
        mesh::generate::{self, bar},
        simulation::carry::Origins,
    };

    const SCHEMES: [Scheme; 6] =
        [Scheme::Nearest, Scheme::Sweep, Scheme::Serial, Scheme::Jacobi, Scheme::Cycle, Scheme::Paper];

    /// What a body may be limited in.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Kind {
        Strain,
        Bend,
        Edge,
        EdgeModel,
        EdgeModelBend,
        Woven,
        Sewn,
        Tetrahedra,
    }

    const KINDS: [Kind; 8] = [
        Kind::Strain,
        Kind::Bend,
        Kind::Edge,
        Kind::EdgeModel,
        Kind::EdgeModelBend,
        Kind::Woven,
        Kind::Sewn,
        Kind::Tetrahedra,
    ];

    fn weave(most: f32) -> Weave {
        let [warp, weft, bias] = [most, 2.0 * most, 3.0 * most].map(|max| (-0.1..=max).into());
        Weave { warp, weft, bias, direction: Direction::Along(Vec3::new(1.0, 0.0, 0.3)) }
    }

    fn sheet(name: &str) -> Cloth {
        let mesh = generate::grid([1.0, 1.0], [16, 16], generate::Diagonals::Alternating, 0);
        Cloth::new(name, mesh, Material::default()).pin([0, 16])
    }

    /// A body that is limited in `kind`, beside a sheet that has its own limits.
    fn simulation(kind: Kind, scheme: Scheme) -> Simulation {
        let mut second = sheet("second").stretch(-0.3..=0.1);
        let limit = std::mem::take(&mut second.strain);
        let mut seams = Vec::new();
        match kind {
            Kind::Strain => second.strain = limit,
            Kind::Sewn => {
                second.strain = limit;
                let shift = Vec3::new(1.0, 0.0, 0.0);
                second.start.iter_mut().for_each(|x| *x += shift);
                second.pins = vec![Pin { vertices: vec![16], ..Pin::default() }];
                let pairs = (0..17).map(|k| [(0, 17 * k + 16), (1, 17 * k)]).collect();
                seams.push(Seam { pairs, ..Seam::default() });
            }
            Kind::Bend => (second.strain, second.bend) = (limit, (-6.0..=6.0).into()),
            Kind::Edge => second.edge = limit,
            Kind::EdgeModel | Kind::EdgeModelBend => {
                second.model = Model::Edge(EdgeModel { levels: 3, iterations: 20 });
                (second.edge, second.bend) = (limit, (-6.0..=6.0).into());
            }
            Kind::Woven => second.weave = Some(weave(0.1)),
            Kind::Tetrahedra => {}
        }
        let mut bodies: Vec<Body> = vec![sheet("first").stretch(..=0.03).into(), second.into()];
        if kind == Kind::Tetrahedra {
            let size = Vec3::new(1.0, 0.2, 0.2);
            let solid = SolidMaterial { young: 2e3, ..SolidMaterial::named("rubber").unwrap() };
            let mut solid = Solid::new("second", bar(size, [20, 4, 4]).unwrap(), solid);
            solid.levels = vec![bar(size, [10, 2, 2]).unwrap()];
            solid.strain = limit;
            let held = |v: &u32| solid.mesh.positions[*v as usize].x < 0.01;
            let vertices = (0..solid.mesh.positions.len() as u32).filter(held).collect();
            solid.pins = vec![Pin { vertices, ..Pin::default() }];
            bodies[1] = solid.into();
        }
        let mut description = Description { bodies, seams, ..Description::default() };
        description.solver.scheme = scheme;
        description.solver.iterations = 12;
        Simulation::from_description(description, 1).unwrap()
    }

    /// Other limits of the second body, of the same kind.
    fn tighter(kind: Kind, settings: &mut Settings) {
        match kind {
            Kind::Bend | Kind::EdgeModelBend => settings.bend = (-2.0..=1.0).into(),
            Kind::Woven => (settings.strain, settings.weave) = (weave(0.01).loosest(), Some(weave(0.01))),
            _ => settings.strain = (-0.1..=0.01).into(),
        }
    }

    /// Some frames in, with a vertex pinned by the caller, levels and matrices for which are no part of the
    /// world.
    fn running(kind: Kind, scheme: Scheme) -> Simulation {
        let mut simulation = simulation(kind, scheme);
        let body = simulation.bodies().nth(1).unwrap();
        let at = simulation.positions(body).unwrap().at(150);
        simulation.pin_to(body, 150, at + Vec3::new(0.0, 0.05, 0.0)).unwrap();
        for _ in 0..3 {
            simulation.step_frame();
        }
        simulation
    }

    #[test]
    fn what_is_changed_in_place_is_bit_for_bit_what_is_built_with_the_limit() {
        for (kind, scheme) in KINDS.into_iter().flat_map(|kind| SCHEMES.map(|scheme| (kind, scheme))) {
            let [mut same, mut patched, mut built] = [(); 3].map(|()| running(kind, scheme));
            let mut changed = patched.settings.clone();
            tighter(kind, &mut changed[1]);
            assert!(patched.patch(1..2, &changed), "{kind:?}, {scheme:?}: not in place");
            let mut description = built.description().clone();
            changed[1].limits().put(&mut description.bodies[1]);
            built.rebuild(description, &Origins::all(&built.world)).unwrap();
            for frame in 0..4 {
                for simulation in [&mut same, &mut patched, &mut built] {
                    simulation.step_frame();
                }
                let [a, b] = [&patched, &built].map(|s| (&s.state.x, &s.state.v, &s.state.duals));
                assert!(a == b, "{kind:?}, {scheme:?}: frame {frame}");
                assert_eq!(patched.certificate(), built.certificate(), "{kind:?}, {scheme:?}: frame {frame}");
            }
            assert_ne!(patched.state.x, same.state.x, "{kind:?}, {scheme:?}: the limit changes nothing");
        }
    }

    #[test]
    fn another_kind_of_limit_is_not_patched() {
        let mut sheet = simulation(Kind::Strain, Scheme::Nearest);
        let mut patches = |change: &dyn Fn(&mut Settings)| {
            let mut changed = sheet.settings.clone();
            change(&mut changed[1]);
            sheet.patch(1..2, &changed)
        };
        assert!(patches(&|settings| settings.strain.max = Some(0.2)));
        assert!(!patches(&|settings| settings.strain.min = None));
        assert!(!patches(&|settings| settings.strain.min = Some(-1.0)));
        assert!(!patches(&|settings| settings.strain.max = None));
        assert!(!patches(&|settings| settings.bend.max = Some(10.0)));
        assert!(!patches(&|settings| settings.weave = Some(weave(0.1))));
        assert!(!patches(&|settings| settings.stiffness = 2.0));
        assert!(!patches(&|settings| settings.limiter = Limiter::Edge));
    }

    #[test]
    fn the_warp_runs_where_it_ran_or_tables_are_built_again() {
        let mut sheet = simulation(Kind::Woven, Scheme::Nearest);
        let body = sheet.bodies().nth(1).unwrap();
        let mut changed = sheet.settings.clone();
        let along = Direction::Along(Vec3::Z);
        changed[1].weave = Some(Weave { direction: along, ..weave(0.1) });
        assert!(!sheet.patch(1..2, &changed));
        sheet.set_weave(body, Weave { direction: along, ..weave(0.1) }).unwrap();
        let refused = sheet.set_weave(body, Weave { direction: Direction::Along(Vec3::Y), ..weave(0.1) });
        assert!(refused.is_err(), "the warp is normal to all faces");
        assert!(sheet.set_weave(body, Weave { bias: (..=-0.5).into(), ..weave(0.1) }).is_err());
        assert_eq!(sheet.description().bodies[1].as_cloth().unwrap().weave.unwrap().direction, along);
    }
}
