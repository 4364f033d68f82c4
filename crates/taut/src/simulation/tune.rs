//! Limits, stiffness and materials that are changed while it runs.

#[cfg(test)]
mod tests;

use super::{BodyHandle, Simulation, SimulationError, carry::Origins};
use crate::{
    Bending, Body, Cloth, Description, DevelopableModel, Hair, Limit, Material, Model, Particles, Pressure,
    Solid, SolidMaterial, Solver, Stretching, Weave, schedule, world::relimit::BodyLimits,
};

/// Limit on stretch of a body that is to be limited but has none \[strain\].
const USUAL: f32 = 0.05;

/// Largest factor on stiffness.
const STIFFEST: f32 = 1e6;

/// How the strain of a body is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limiter {
    /// Not at all.
    Off,
    /// Edge by edge (T1).
    Edge,
    /// The principal strains of every triangle or tetrahedron (W1, W2).
    Isotropic,
}

/// What can be changed of a body.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Settings {
    pub limiter: Limiter,
    pub strain: Limit,
    pub bend: Limit,
    pub weave: Option<Weave>,
    /// Factor on the stiffness of its material.
    pub stiffness: f32,
    /// Stiffness of its material.
    pub material: Stiffness,
}

impl Simulation {
    /// Changes the limits on the strain of a body: of what its [limiter](Simulation::set_limiter) limits; if
    /// that is off, when it is on again. Takes the place of limits along warp and weft.
    ///
    /// ```
    /// # use taut::{Cloth, Limit, Material, Simulation, SimulationError, mesh::generate};
    /// # let mesh = generate::grid([1.0, 1.0], [4, 4], generate::Diagonals::Regular, 0);
    /// # let mut simulation = Simulation::builder().threads(1).build()?;
    /// let cloth = simulation.insert(Cloth::new("sheet", mesh, Material::default()).stretch(..=0.05))?;
    /// simulation.set_stretch_limit(cloth, -0.02..=0.01)?;
    /// let refused = simulation.set_stretch_limit(cloth, ..=-0.5);
    /// assert!(matches!(refused, Err(SimulationError::LimitOutOfRange { .. })));
    /// assert_eq!(simulation.stretch_limit(cloth)?, Limit { min: Some(-0.02), max: Some(0.01) });
    /// # Ok::<(), SimulationError>(())
    /// ```
    ///
    /// # Errors
    /// If the handle is stale, or the limits are out of range. Nothing has changed then.
    pub fn set_stretch_limit(
        &mut self,
        body: BodyHandle,
        limit: impl Into<Limit>,
    ) -> Result<(), SimulationError> {
        let limit = limit.into();
        self.change_one(body, true, |_, settings| (settings.strain, settings.weave) = (limit, None))
    }

    /// Changes the limits on the strain of cloth to such along warp, weft and bias, in the same way.
    ///
    /// # Errors
    /// If the handle is stale, the body is no cloth, or the limits or the direction of the warp are out of
    /// range. Nothing has changed then.
    pub fn set_weave(&mut self, body: BodyHandle, weave: Weave) -> Result<(), SimulationError> {
        let index = self.bodies.index(body.0)?;
        if self.description().bodies[index].as_cloth().is_none() {
            let problem = "has no warp; only cloth has";
            return Err(SimulationError::Unsupported { body: self.name(index), problem });
        }
        self.change_one(body, true, |_, settings| {
            (settings.strain, settings.weave) = (weave.loosest(), Some(weave));
        })
    }

    /// Changes the limits on the bend of cloth \[°/cm\]; they hold while its limiter is not off.
    ///
    /// # Errors
    /// If the handle is stale, the body is no cloth, or the limits are out of range. Nothing has changed
    /// then.
    pub fn set_bend_limit(
        &mut self,
        body: BodyHandle,
        limit: impl Into<Limit>,
    ) -> Result<(), SimulationError> {
        let index = self.bodies.index(body.0)?;
        if self.description().bodies[index].as_cloth().is_none() {
            let problem = "has no hinges to limit; only cloth has";
            return Err(SimulationError::Unsupported { body: self.name(index), problem });
        }
        let limit = limit.into();
        self.change_one(body, true, |_, settings| settings.bend = limit)
    }

    /// Changes how the strain of a body is limited. One that had no limit gets one of 5 % stretch.
    ///
    /// # Errors
    /// If the handle is stale, or the body has no edges to limit, as soft solids have none. Nothing has
    /// changed then.
    pub fn set_limiter(&mut self, body: BodyHandle, limiter: Limiter) -> Result<(), SimulationError> {
        let index = self.bodies.index(body.0)?;
        let described = &self.description().bodies[index];
        if let (Limiter::Isotropic, Body::Particles(_) | Body::Hair(_)) = (limiter, described) {
            let problem = "has no triangles to limit; particles and hair have edge limits or none";
            return Err(SimulationError::Unsupported { body: self.name(index), problem });
        }
        if let (Limiter::Edge, Body::Solid(_)) = (limiter, &self.description().bodies[index]) {
            let problem = "supports isotropic limits or none; only cloth has edge limits";
            return Err(SimulationError::Unsupported { body: self.name(index), problem });
        }
        self.change_one(body, true, |_, settings| {
            settings.limiter = limiter;
            if limiter != Limiter::Off && !settings.strain.is_some() {
                settings.strain.max = Some(USUAL);
            }
        })
    }

    /// Changes the stiffness of a body to `factor` times that of its material: stretching and bending of
    /// cloth, Young's modulus of soft solids. Motion goes on from where it is, as with
    /// [`set_material`](Simulation::set_material): tables are built again, levels and fitted curvatures stay.
    ///
    /// # Errors
    /// If the handle is stale, or the factor is negative or above 1e6. Nothing has changed then.
    pub fn set_stiffness(&mut self, body: BodyHandle, factor: f32) -> Result<(), SimulationError> {
        check_stiffness(factor)?;
        self.change_one(body, true, |_, settings| settings.stiffness = factor)
    }

    /// Changes what cloth is made of. A factor on its stiffness stays. Motion goes on from where it is; the
    /// result is that of a simulation which is built with the material. Levels stay, and so do curvatures
    /// that were fitted to the mesh, unless the material differs by direction in another way.
    ///
    /// # Errors
    /// If the handle is stale, the body is no cloth, or the material cannot be simulated. Nothing has changed
    /// then.
    pub fn set_material(&mut self, body: BodyHandle, material: Material) -> Result<(), SimulationError> {
        self.set_materials([(body, material)])
    }

    /// Changes what several cloths are made of, at the cost of one.
    ///
    /// # Errors
    /// If a handle is stale, a body is no cloth, or a material cannot be simulated. Nothing has changed then.
    pub fn set_materials(
        &mut self,
        materials: impl IntoIterator<Item = (BodyHandle, Material)>,
    ) -> Result<(), SimulationError> {
        let (mut description, mut changed) = (self.description().clone(), self.settings.clone());
        for (body, material) in materials {
            let index = self.bodies.index(body.0)?;
            let described = &mut description.bodies[index];
            let Body::Cloth(cloth) = described else {
                let problem = "is no cloth; `set_solid_material` changes what it is made of";
                return Err(SimulationError::Unsupported { body: self.name(index), problem });
            };
            changed[index].material = Stiffness::Cloth(material.stretch, material.bend);
            cloth.material = material;
            changed[index].apply(described);
        }
        self.rebuild(description, &Origins::all(&self.world))?;
        self.settings = changed;
        Ok(())
    }

    /// Changes the pressure inside closed cloth; `None` lets it out. Motion goes on from where it is; tables
    /// are built again, as with [`set_material`](Simulation::set_material), because κ follows the load.
    ///
    /// # Errors
    /// If the handle is stale, the body is no cloth, is not closed, or the pressure is out of range. Nothing
    /// has changed then.
    pub fn set_pressure(
        &mut self,
        body: BodyHandle,
        pressure: Option<Pressure>,
    ) -> Result<(), SimulationError> {
        let index = self.bodies.index(body.0)?;
        let mut description = self.description().clone();
        let Body::Cloth(cloth) = &mut description.bodies[index] else {
            let problem = "is no cloth, and has no pressure";
            return Err(SimulationError::Unsupported { body: self.name(index), problem });
        };
        cloth.pressure = pressure;
        self.rebuild(description, &Origins::all(&self.world))
    }

    /// Changes what a soft solid is made of. A factor on its stiffness stays.
    ///
    /// # Errors
    /// If the handle is stale, the body is no soft solid, or the material cannot be simulated. Nothing has
    /// changed then.
    pub fn set_solid_material(
        &mut self,
        body: BodyHandle,
        material: SolidMaterial,
    ) -> Result<(), SimulationError> {
        let index = self.bodies.index(body.0)?;
        let mut description = self.description().clone();
        let Body::Solid(solid) = &mut description.bodies[index] else {
            let problem = "is no soft solid; `set_material` changes what it is made of";
            return Err(SimulationError::Unsupported { body: self.name(index), problem });
        };
        let mut settings = self.settings[index].clone();
        settings.material = Stiffness::Solid(material.young);
        solid.material = material;
        settings.apply(&mut description.bodies[index]);
        self.rebuild(description, &Origins::all(&self.world))?;
        self.settings[index] = settings;
        Ok(())
    }

    /// The limits on the strain of a body, be its limiter on or off.
    ///
    /// # Errors
    /// If the handle is stale.
    pub fn stretch_limit(&self, body: BodyHandle) -> Result<Limit, SimulationError> {
        Ok(self.settings[self.bodies.index(body.0)?].strain)
    }

    /// The limits on the bend of a body likewise \[°/cm\].
    ///
    /// # Errors
    /// If the handle is stale.
    pub fn bend_limit(&self, body: BodyHandle) -> Result<Limit, SimulationError> {
        Ok(self.settings[self.bodies.index(body.0)?].bend)
    }

    /// How the strain of a body is limited.
    ///
    /// # Errors
    /// If the handle is stale.
    pub fn limiter(&self, body: BodyHandle) -> Result<Limiter, SimulationError> {
        Ok(self.settings[self.bodies.index(body.0)?].limiter)
    }

    /// The factor on the stiffness of a body.
    ///
    /// # Errors
    /// If the handle is stale.
    pub fn stiffness(&self, body: BodyHandle) -> Result<f32, SimulationError> {
        Ok(self.settings[self.bodies.index(body.0)?].stiffness)
    }

    /// Limits the strain of all bodies alike, at the cost of one. Soft solids have no edges to limit:
    /// [`Limiter::Edge`] limits their principal strains.
    ///
    /// # Errors
    /// If the limits are out of range. Nothing has changed then.
    pub fn limit_all(&mut self, limiter: Limiter, limit: Limit) -> Result<(), SimulationError> {
        self.change(0..self.settings.len(), false, |body, settings| {
            let edgeless = matches!(body, Body::Solid(_)) && limiter == Limiter::Edge;
            let faceless =
                matches!(body, Body::Particles(_) | Body::Hair(_)) && limiter == Limiter::Isotropic;
            settings.limiter = match limiter {
                _ if edgeless => Limiter::Isotropic,
                _ if faceless => Limiter::Edge,
                _ => limiter,
            };
            if limiter != Limiter::Off {
                (settings.strain, settings.weave) = (limit, None);
            }
        })
    }

    /// Changes the limits on the bend of all cloth \[°/cm\], at the cost of one.
    ///
    /// # Errors
    /// If the limits are out of range. Nothing has changed then.
    pub fn limit_all_bends(&mut self, limit: Limit) -> Result<(), SimulationError> {
        self.change(0..self.settings.len(), false, |body, settings| {
            if let Body::Cloth(_) = body {
                settings.bend = limit;
            }
        })
    }

    /// Changes the stiffness of all bodies, at the cost of one.
    ///
    /// # Errors
    /// If the factor is negative or above 1e6. Nothing has changed then.
    pub fn stiffen_all(&mut self, factor: f32) -> Result<(), SimulationError> {
        check_stiffness(factor)?;
        self.change(0..self.settings.len(), false, |_, settings| settings.stiffness = factor)
    }

    fn change_one(
        &mut self,
        body: BodyHandle,
        adapt: bool,
        change: impl Fn(&Body, &mut Settings),
    ) -> Result<(), SimulationError> {
        let index = self.bodies.index(body.0)?;
        self.change(index..index + 1, adapt, change)
    }

    /// Changes the settings of the bodies `range`; `adapt`: steps and substeps are chosen anew.
    fn change(
        &mut self,
        range: std::ops::Range<usize>,
        adapt: bool,
        change: impl Fn(&Body, &mut Settings),
    ) -> Result<(), SimulationError> {
        let mut changed = self.settings.clone();
        for index in range.clone() {
            let settings = &mut changed[index];
            let body = &self.description().bodies[index];
            change(body, settings);
            if let Some(problem) = settings.problem().or_else(|| settings.problem_of(body)) {
                return Err(SimulationError::LimitOutOfRange { body: self.name(index), problem });
            }
        }
        if self.patch(range.clone(), &changed) {
            self.settings = changed;
            return Ok(());
        }
        let mut description = self.description().clone();
        for index in range {
            changed[index].apply(&mut description.bodies[index]);
        }
        if adapt {
            self.adapt_steps(&changed, &mut description.solver);
        }
        self.rebuild(description, &Origins::all(&self.world))?;
        self.settings = changed;
        Ok(())
    }

    /// Chooses steps and substeps for bodies with `settings`, where the solver's leave that open; the rules
    /// are those of [`schedule`]. Only explicit forces ask for others.
    fn adapt_steps(&self, settings: &[Settings], solver: &mut Solver) {
        if schedule::is_implicit(self.description()) {
            return;
        }
        let both = || settings.iter().zip(&self.description().bodies);
        let cloths = || both().filter_map(|(settings, body)| Some((settings, body.as_cloth()?)));
        let off =
            cloths().any(|(settings, cloth)| cloth.model == Model::Fem && settings.limiter == Limiter::Off);
        if self.solver.steps_per_frame == 0 {
            solver.steps_per_frame = schedule::steps_while_running(off);
        }
        let stiffest = cloths().map(|(settings, _)| settings.stiffness).reduce(f32::max);
        if let (0, Some(factor)) = (self.solver.max_substeps, stiffest) {
            solver.max_substeps = schedule::substeps_while_running(off, self.substeps, factor);
        }
    }
}

/// Stiffness of a material: of cloth, or Young's modulus of a solid \[Pa\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Stiffness {
    Cloth(Stretching, Bending),
    Solid(f32),
    /// Of segments of particles \[N/m\].
    Segments(f32),
    /// Young's and the shear modulus of hair \[Pa\].
    Hair([f32; 2]),
}

impl Settings {
    /// The same, for what `body` is.
    fn problem_of(&self, body: &Body) -> Option<&'static str> {
        body.as_cloth()?.midpoints.as_ref()?;
        let limits = self.weave.map_or([self.strain; 3], |w| [w.warp, w.weft, w.bias]);
        let other = self.limiter == Limiter::Edge || self.bend.is_some();
        other.then_some("developable cloth has no such limit").or_else(|| DevelopableModel::problem(&limits))
    }

    /// What is wrong with its limits, and what is allowed.
    fn problem(&self) -> Option<&'static str> {
        let woven = self.weave.map_or([self.strain; 3], |weave| [weave.warp, weave.weft, weave.bias]);
        for Limit { min, max } in [self.strain].into_iter().chain(woven) {
            let fine = max.is_none_or(|m| m >= 0.0 && m.is_finite());
            if !(fine && min.is_none_or(|m| (-1.0..=0.0).contains(&m))) {
                return Some("a limit's min must lie between -1 and 0, its max be at least 0");
            }
        }
        if let Some(Err(problem)) = self.weave.map(|weave| weave.check()) {
            return Some(problem);
        }
        let Limit { min, max } = self.bend;
        let fine = |m: f32| m >= 0.0 && m.is_finite();
        if !(min.is_none_or(|m| fine(-m)) && max.is_none_or(fine)) {
            return Some("a bend limit's min must be at most 0, its max at least 0 degrees per centimetre");
        }
        None
    }

    /// The limits that a body has by them.
    pub fn limits(&self) -> BodyLimits {
        let limit = |limiter: Limiter| if self.limiter == limiter { self.strain } else { Limit::default() };
        BodyLimits {
            strain: limit(Limiter::Isotropic),
            edge: limit(Limiter::Edge),
            bend: if self.limiter == Limiter::Off { Limit::default() } else { self.bend },
            weave: self.weave.filter(|_| self.limiter == Limiter::Isotropic),
        }
    }

    /// Makes `body` what these settings say of it.
    pub(super) fn apply(&self, body: &mut Body) {
        self.limits().put(body);
        let factor = self.stiffness;
        match (body, self.material) {
            (Body::Cloth(cloth), Stiffness::Cloth(stretch, bend)) => {
                (cloth.material.stretch, cloth.material.bend) = (stretch.scaled(factor), bend.scaled(factor));
            }
            (Body::Solid(solid), Stiffness::Solid(young)) => solid.material.young = young * factor,
            (Body::Hair(hair), Stiffness::Hair([young, shear])) => {
                (hair.material.young, hair.material.shear) = (young * factor, shear * factor);
            }
            (Body::Particles(particles), Stiffness::Segments(stiffness)) => {
                particles.springs.stiffness = stiffness * factor;
            }
            _ => {}
        }
    }
}

/// What a description says of its bodies.
pub(super) fn settings(description: &Description) -> Vec<Settings> {
    description.bodies.iter().map(setting).collect()
}

/// What a body says of itself.
pub(super) fn setting(body: &Body) -> Settings {
    match body {
        Body::Cloth(cloth) => of_cloth(cloth),
        Body::Solid(solid) => of_solid(solid),
        Body::Particles(particles) => of_particles(particles),
        Body::Hair(hair) => of_hair(hair),
    }
}

fn of_cloth(cloth: &Cloth) -> Settings {
    let woven = cloth.strain_bounds();
    let limiter = match (woven.is_some(), cloth.edge.is_some()) {
        (true, _) => Limiter::Isotropic,
        (false, true) => Limiter::Edge,
        (false, false) if cloth.bend.is_some() => Limiter::Isotropic,
        (false, false) => Limiter::Off,
    };
    Settings {
        limiter,
        strain: if limiter == Limiter::Edge { cloth.edge } else { woven },
        bend: cloth.bend,
        weave: cloth.weave,
        stiffness: 1.0,
        material: Stiffness::Cloth(cloth.material.stretch, cloth.material.bend),
    }
}

fn of_solid(solid: &Solid) -> Settings {
    Settings {
        limiter: if solid.strain.is_some() { Limiter::Isotropic } else { Limiter::Off },
        strain: solid.strain,
        bend: Limit::default(),
        weave: None,
        stiffness: 1.0,
        material: Stiffness::Solid(solid.material.young),
    }
}

fn of_particles(particles: &Particles) -> Settings {
    Settings {
        limiter: if particles.edge.is_some() { Limiter::Edge } else { Limiter::Off },
        strain: particles.edge,
        bend: Limit::default(),
        weave: None,
        stiffness: 1.0,
        material: Stiffness::Segments(particles.springs.stiffness),
    }
}

fn of_hair(hair: &Hair) -> Settings {
    Settings {
        limiter: if hair.stretch.is_some() { Limiter::Edge } else { Limiter::Off },
        strain: hair.stretch,
        bend: Limit { min: None, max: hair.bend },
        weave: None,
        stiffness: 1.0,
        material: Stiffness::Hair([hair.material.young, hair.material.shear]),
    }
}

fn check_stiffness(factor: f32) -> Result<(), SimulationError> {
    if (0.0..=STIFFEST).contains(&factor) {
        return Ok(());
    }
    let (what, allowed) = ("the factor on stiffness", "lie between 0 and 1e6");
    Err(SimulationError::OutOfRange { what, value: factor.to_string(), allowed })
}
