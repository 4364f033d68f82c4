//! Torn cloth and hair that are whole again, cuts by the caller, and thresholds that change while it runs.

use super::{Simulation, carry::Origins, handle::Handle};
use crate::{
    Body, BodyHandle, Cloth, Description, HairModel, SimulationError, State, Tear, World,
    body::{cloth::validate::check_tear, hair::validate::check_tear as check_hair_tear},
};

/// A cloth before it tore, by the handle of its body.
pub(super) type Whole = (Handle, Cloth);

impl Simulation {
    /// Changes where a cloth or hair tears; `None`: nowhere. Nothing is built again, and what has torn stays
    /// torn.
    ///
    /// ```
    /// # use taut::{Cloth, Material, Simulation, SimulationError, Tear, mesh::generate};
    /// # let mesh = generate::grid([1.0, 1.0], [4, 4], generate::Diagonals::Regular, 0);
    /// # let mut simulation = Simulation::builder().threads(1).build()?;
    /// let cloth = simulation.insert(Cloth::new("sheet", mesh, Material::default()))?;
    /// simulation.set_tear(cloth, Some(Tear::at(0.2)))?;
    /// assert!(simulation.set_tear(cloth, Some(Tear::at(-1.0))).is_err());
    /// # Ok::<(), SimulationError>(())
    /// ```
    ///
    /// # Errors
    /// If the handle is stale, the body is neither, its hair cannot tear, or the threshold or a factor is out
    /// of range. Nothing has changed then.
    pub fn set_tear(&mut self, body: BodyHandle, tear: Option<Tear>) -> Result<(), SimulationError> {
        let index = self.bodies.index(body.0)?;
        match &self.description().bodies[index] {
            Body::Cloth(cloth) => check_tear(cloth, tear.as_ref())?,
            Body::Hair(hair) => check_hair_tear(hair, tear.as_ref())?,
            Body::Solid(_) | Body::Particles(_) => {
                let problem = "is neither cloth nor hair, and cannot tear";
                return Err(SimulationError::Unsupported { body: self.name(index), problem });
            }
        }
        match &mut self.world.ruler.description.bodies[index] {
            Body::Cloth(cloth) => cloth.tear = tear,
            Body::Hair(hair) => hair.tear = tear,
            Body::Solid(_) | Body::Particles(_) => {}
        }
        Ok(())
    }

    /// Cuts strands of hair before these of its `points`; what is cut off falls. Points without a segment
    /// before them that can be cut ([`Hair::cut`](crate::Hair::cut)) are passed over. Says how many were cut.
    ///
    /// # Errors
    /// If the handle is stale, the body is no hair, or its model is that of springs. Nothing has changed
    /// then.
    pub fn cut_hair(&mut self, body: BodyHandle, points: &[u32]) -> Result<usize, SimulationError> {
        let index = self.bodies.index(body.0)?;
        let hair = self.description().bodies[index].as_hair();
        let Some(hair) = hair.filter(|hair| hair.model == HairModel::Rod && hair.full.is_none()) else {
            let problem = "is no hair of the model \"rod\" without guides, and cannot be cut";
            return Err(SimulationError::Unsupported { body: self.name(index), problem });
        };
        let (cut, count) = hair.cut_some(points);
        if count == 0 {
            return Ok(0);
        }
        let (mut description, origins) = (self.description().clone(), Origins::all(&self.world));
        description.bodies[index] = Body::Hair(cut);
        self.rebuild(description, &origins)?;
        Ok(count)
    }

    /// Keeps the cloths that are whole now and torn in `next`, which has `origins`.
    pub(super) fn keep_wholes(&mut self, next: &Description, origins: &Origins) {
        for (body, origin) in next.bodies.iter().zip(&origins.bodies) {
            let Some(old) = *origin else { continue };
            let before = self.world.description.bodies[old].as_cloth();
            let tears = body.as_cloth().is_some_and(|cloth| cloth.torn.is_some());
            if let Some(whole) = before.filter(|cloth| tears && cloth.torn.is_none()) {
                let whole = whole.clone();
                let handle = self.bodies.handle(old);
                self.wholes.retain(|(other, _)| *other != handle);
                self.wholes.push((handle, whole));
            }
        }
    }

    /// Makes torn cloth and hair whole, with the material, limits and threshold that it has now, in a state
    /// at the start.
    pub(super) fn mend(&mut self) {
        let mut description = self.description().clone();
        let mut is_torn = false;
        for (index, body) in description.bodies.iter_mut().enumerate() {
            if let Body::Hair(hair) = &mut *body {
                if hair.whole.is_some() {
                    *hair = hair.clone().mended();
                    is_torn = true;
                }
                continue;
            }
            let handle = self.bodies.handle(index);
            let whole = self.wholes.iter().find(|(other, _)| *other == handle);
            let (Body::Cloth(torn), Some((_, whole))) = (&mut *body, whole) else { continue };
            if torn.torn.is_none() {
                continue;
            }
            let mut cloth = whole.clone();
            cloth.material = torn.material.clone();
            cloth.tear = torn.tear.take().map(|mut tear| {
                tear.factors.truncate(cloth.mesh.positions.len());
                tear
            });
            *body = Body::Cloth(cloth);
            self.settings[index].apply(body);
            is_torn = true;
        }
        if !is_torn {
            return;
        }
        // What was simulated whole can be again: with other settings it was checked torn.
        let Ok(world) = World::with_cache(description, &self.cache) else { return };
        self.stepper.adapt(&world);
        self.state = State::new(&world);
        self.world = world;
        self.wholes.clear();
        self.index();
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::{Budget, Limiter, Material, Motion, Pin, low_level::Keyframe, mesh::generate};

    /// A strip whose ends are pulled apart.
    fn strip() -> Description {
        let mesh = generate::grid([0.4, 0.1], [16, 4], generate::Diagonals::Alternating, 0);
        let end = |x: f32| -> Vec<u32> {
            let all = mesh.positions.iter().enumerate();
            all.filter(|(_, p)| (p.x - x).abs() < 1e-3).map(|(v, _)| v as u32).collect()
        };
        let pulled = |x: f32, speed: f32| {
            let key = |time: f32| Keyframe { time, translate: time * speed * Vec3::X, ..Keyframe::default() };
            let motion = Motion { keys: vec![key(0.0), key(1.0)], ..Motion::default() };
            Pin { vertices: end(x), motion, ..Pin::default() }
        };
        let pins = vec![pulled(0.0, -0.1), pulled(0.4, 0.1)];
        let mut cloth = Cloth::new("strip", mesh, Material::named("polyester").unwrap());
        (cloth.pins, cloth.tear, cloth.masses) = (pins, Some(Tear::at(0.08)), Some(vec![1e-4; 85]));
        Description { bodies: vec![cloth.into()], gravity: Vec3::ZERO, ..Description::default() }
    }

    fn vertices(simulation: &Simulation) -> usize {
        simulation.description().bodies[0].rest_positions().len()
    }

    fn run(simulation: &mut Simulation) -> Vec<Vec3> {
        (0..16).for_each(|_| _ = simulation.step(1.0 / 60.0, Budget::unlimited()).unwrap());
        simulation.state().positions(simulation.world(), 0)
    }

    #[test]
    fn torn_cloth_is_whole_after_a_reset_and_tears_as_before() {
        let mut simulation = Simulation::from_description(strip(), 1).unwrap();
        let first = run(&mut simulation);
        assert!(first.len() > 85, "it did not tear");
        simulation.reset();
        let [now, before] = [simulation.description(), &strip()].map(|all| format!("{:?}", all.bodies));
        assert_eq!(now, before);
        // Flat cloth starts with a slight imperfection.
        let fresh = Simulation::from_description(strip(), 1).unwrap();
        let start = |simulation: &Simulation| simulation.state().positions(simulation.world(), 0);
        assert_eq!(start(&simulation), start(&fresh));
        assert_eq!(run(&mut simulation), first);

        // Settings that were changed while it was torn stay, and so does a cloth that is not torn.
        let cloth = simulation.bodies().next().unwrap();
        simulation.limit_all(Limiter::Isotropic, (..=0.04).into()).unwrap();
        simulation.stiffen_all(2.0).unwrap();
        simulation.reset();
        simulation.reset();
        let now = simulation.description().bodies[0].as_cloth().unwrap();
        assert_eq!((now.strain.max, now.mesh.positions.len()), (Some(0.04), 85));
        let before = strip().bodies[0].as_cloth().unwrap().material.stretch;
        assert_eq!(now.material.stretch, before.scaled(2.0));
        assert!(simulation.pins().all(|(body, _)| body == cloth));
    }

    #[test]
    fn thresholds_change_while_it_runs() {
        let mut simulation = Simulation::from_description(strip(), 1).unwrap();
        let cloth = simulation.bodies().next().unwrap();
        simulation.set_tear(cloth, None).unwrap();
        assert_eq!(run(&mut simulation).len(), 85);
        for (tear, what) in [
            (Tear::at(0.0), "stretch"),
            (Tear::at(f32::NAN), "stretch"),
            (Tear { factors: vec![1.0; 84], ..Tear::at(0.1) }, "84 factors"),
            (Tear { factors: vec![f32::NAN; 85], ..Tear::at(0.1) }, "vertex 0"),
        ] {
            let error = simulation.set_tear(cloth, Some(tear)).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
        assert_eq!(simulation.description().bodies[0].as_cloth().unwrap().tear, None);
        simulation.set_tear(cloth, Some(Tear::at(0.05))).unwrap();
        run(&mut simulation);
        assert!(vertices(&simulation) > 85);
    }
}
