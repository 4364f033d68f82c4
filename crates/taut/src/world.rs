//! What does not change while a simulation runs: rest shapes ([`Ruler`]), and the tables of the solver made
//! from them.

mod build;
mod cache;
pub(crate) mod check;
mod filters;
pub(crate) mod hair;
mod law;
mod pressure;
pub(crate) mod relimit;
pub(crate) mod sewing;

use std::{ops::Range, sync::OnceLock};

use glam::Vec3;

use crate::{
    Description, Schedule, Scheme, WorldError,
    boundary::obstacle_contacts::PUSH_OUT_SPEED,
    contact::{surface::Surface, untangle::Piercings},
    element::{hinge::BendElement, set::ElementSets},
    exec::threads::Threads,
    kernel::lanes::{BATCH, Quad},
    limit::{
        aim::Aim,
        bend_paper::BendTriangle,
        edge_model::EdgeModelTables,
        levels::{parts::Leveled, solid::SolidLimits, tables::TriangleLimits},
    },
    measure::Ruler,
    pbd::PbdTables,
    solve::nearest::filter::Filter,
    velocity::{
        air::Gusts,
        update::{Forces, Plan},
    },
};
pub use law::CarriedStiffness;

use hair::HairTables;

pub(crate) use cache::HierarchyCache;

/// What does not change while a simulation runs: a [`Ruler`], and what the solver needs. What can be asked of
/// a ruler can be asked of a world.
#[derive(Debug)]
pub struct World {
    /// What it is measured by: rest shapes, masses, pins, time.
    pub(crate) ruler: Ruler,
    /// What the solver aims at, inside the limits.
    pub(crate) aim: Aim,
    /// What has limits, but for cloth of the edge model.
    pub(crate) elements: ElementSets,
    /// Triangles with limited angles, for [`Scheme::Paper`].
    pub(crate) bend_triangles: Vec<BendTriangle>,
    /// What depends on the length of a step: the usual, and that of frames in which no cloth comes near
    /// anything, if that is another.
    pub(crate) paces: Vec<Pace>,
    /// One for each cloth with limits on coarser levels, if the scheme asks for them.
    pub(crate) levels: Vec<Leveled<TriangleLimits>>,
    /// The same for soft solids.
    pub(crate) solid_levels: Vec<Leveled<SolidLimits, 4>>,
    /// Cloth of the edge model.
    pub(crate) edge_model: EdgeModelTables,
    /// All bodies, if they are of position-based dynamics.
    pub(crate) pbd: Option<PbdTables>,
    /// Filters to measure other schemes by, made when they are first asked for.
    pub(crate) judges: OnceLock<Vec<Filter>>,
    /// Hair, in the order of the bodies.
    pub(crate) hair: Vec<HairTables>,
    pub(crate) forces: Forces,
    pub(crate) gusts: Gusts,
    /// What may touch, if cloth is kept from passing through cloth, or there are mesh obstacles.
    pub(crate) surface: Option<Surface>,
}

/// Steps of one length, and the tables of the solver that depend on it.
#[derive(Debug)]
pub(crate) struct Pace {
    /// How time is divided.
    pub schedule: Schedule,
    /// Length of a step \[s\].
    pub dt: f32,
    /// One for each body with limits on its triangles or hinges, if the scheme asks for them.
    pub filters: Vec<Filter>,
    /// What takes the place of each of these while its seams are closed, if it has seams: twins are one
    /// vertex there.
    pub welded: Vec<Option<Filter>>,
}

impl std::ops::Deref for World {
    type Target = Ruler;

    fn deref(&self) -> &Ruler {
        &self.ruler
    }
}

impl World {
    /// How far inside its limits on strain the solver aims, so that what converges ends within them (strain,
    /// without unit); 0 with [`Tolerance::Past`](crate::Tolerance::Past).
    pub fn aims_inside(&self) -> f32 {
        self.aim.band
    }

    /// Builds the tables of a simulation.
    ///
    /// # Errors
    /// If the description holds something that cannot be simulated.
    pub fn new(description: Description) -> Result<Self, WorldError> {
        check::check_not_empty(&description)?;
        Self::with_cache(description, &HierarchyCache::default())
    }

    /// The same, with levels of meshes that were made for other worlds. There may be no body: obstacles and
    /// rigid bodies move by themselves then.
    pub(crate) fn with_cache(description: Description, cache: &HierarchyCache) -> Result<Self, WorldError> {
        build::build(description, cache)
    }

    /// Filters for steps of the usual length.
    pub(crate) fn filters(&self) -> &[Filter] {
        &self.paces[0].filters
    }

    /// What frames take in which no cloth comes near anything (`alone`), or others.
    pub(crate) fn pace(&self, alone: bool) -> &Pace {
        &self.paces[self.pace_number(alone)]
    }

    /// Its number.
    pub(crate) fn pace_number(&self, alone: bool) -> usize {
        usize::from(alone).min(self.paces.len() - 1)
    }

    /// Whether frames in which no cloth comes near anything are divided in another way.
    pub(crate) fn has_alone(&self) -> bool {
        self.paces.len() > 1
    }

    /// What measures its results.
    pub fn ruler(&self) -> &Ruler {
        &self.ruler
    }

    /// Most substeps a step: those asked for, or those chosen.
    pub(crate) fn max_substeps(&self) -> u32 {
        self.schedule.max_substeps
    }

    /// Floats that the filters keep from one step to the next.
    pub(crate) fn dual_count(&self) -> usize {
        self.filters().iter().map(Filter::kept_count).sum::<usize>() + self.pull_count()
    }

    /// Floats that strands of hair keep from one step to the next.
    pub(crate) fn strand_count(&self) -> usize {
        self.hair.last().map_or(0, |hair| hair.kept.end)
    }

    /// How many of these, the last ones, are pulls of edges of the edge model.
    pub(crate) fn pull_count(&self) -> usize {
        BATCH * self.edge_model.edges.batch_count()
    }

    /// Mean mass of the vertices of all cloth \[kg\].
    pub(crate) fn mean_mass(&self) -> f32 {
        (1.0 / (f64::from(self.inverse_mass_unit) * f64::from(self.edge_length).powi(2))) as f32
    }

    /// Vertices of mesh obstacles in the arrays of the engine, one obstacle after the other.
    pub fn fixtures(&self) -> Range<usize> {
        self.fixtures.clone()
    }

    /// Number of vertices of each level that the scheme works on, finest first; of all bodies together.
    pub fn level_sizes(&self) -> Vec<usize> {
        let mut sizes = vec![self.vertex_count];
        let mut add = |level: usize, count: usize| {
            sizes.resize(sizes.len().max(level + 1), 0);
            sizes[level] += count;
        };
        for filter in self.filters() {
            for (level, size) in filter.level_sizes().into_iter().enumerate().skip(1) {
                add(level, size);
            }
        }
        for body in &self.levels {
            for (level, tables) in body.levels.levels.iter().enumerate() {
                add(level + 1, tables.inverse_masses.len());
            }
        }
        for body in &self.edge_model.bodies {
            for (level, tables) in body.leveled.levels.levels.iter().enumerate() {
                add(level + 1, tables.inverse_masses.len());
            }
        }
        for body in &self.solid_levels {
            for (level, tables) in body.levels.levels.iter().enumerate() {
                add(level + 1, tables.inverse_masses.len());
            }
        }
        sizes
    }

    /// What results are measured by: the scheme's own filters, or those of [`Scheme::Nearest`] for this
    /// world.
    pub(crate) fn judges(&self) -> &[Filter] {
        if self.description.solver.scheme == Scheme::Nearest {
            return self.filters();
        }
        self.judges.get_or_init(|| {
            let mut description = self.description.clone();
            (description.solver.scheme, description.solver.passes) = (Scheme::Nearest, 0);
            // It was fine with the other scheme, so it is with this one.
            Self::new(description)
                .map(|mut world| {
                    let Pace { filters, welded, .. } = world.paces.swap_remove(0);
                    filters.into_iter().zip(welded).map(|(open, welded)| welded.unwrap_or(open)).collect()
                })
                .unwrap_or_default()
        })
    }

    /// How far the worst segment of particles is past what limits aim at (strain), at `x`.
    pub(crate) fn segment_residual(&self, x: &[Quad]) -> f32 {
        let mut worst = 0.0f64;
        for spring in self.springs.iter().filter(|spring| spring.is_limited) {
            let range = self.aim.inside(spring.range);
            let stretch = spring.tension(x, x, &[]).2 / spring.length;
            worst = worst.max(stretch - f64::from(range.max)).max(f64::from(range.min) - stretch);
        }
        worst as f32
    }

    /// Number of colours that the limited triangles need.
    pub fn color_count(&self) -> usize {
        self.elements.triangles.color_count()
    }

    /// Hinges with limits on their bend, in the engine's vertex order.
    pub fn bend_elements(&self) -> &[BendElement] {
        self.elements.hinges.elements()
    }

    /// √(g ℓ) \[m/s\], with ℓ the size of the largest body: about the speed of what falls that far.
    pub(crate) fn fall_speed(&self) -> f32 {
        let size = self.bodies.iter().map(|body| body.size()).fold(0.0, f64::max);
        (self.description.gravity.length() * size as f32).sqrt()
    }

    /// How many substeps the material asks for at rest, and how it is softened if that is more than allowed.
    pub fn plan(&self) -> Plan {
        self.forces.plan(f64::from(self.step_time()), 1.0, self.max_substeps())
    }

    /// How many edges pass through a triangle at the start, each counted with each such triangle, of what is
    /// kept from passing through.
    pub fn tangled_at_start(&self) -> usize {
        let find = |surface| Piercings::default().find(&Threads::alone(), surface, &self.start);
        self.surface.as_ref().map_or(0, |surface| find(surface).len())
    }

    /// The mass of each body, in the order of the description \[kg\].
    pub fn body_masses(&self) -> Vec<f64> {
        self.bodies.iter().map(|body| body.masses.iter().sum()).collect()
    }

    /// Cloth that has less than its material's stiffness against stretching, with an implicit integrator,
    /// because iterations of its steps would not carry more.
    pub fn carried_stiffness(&self) -> Vec<CarriedStiffness> {
        if !self.schedule.is_implicit() {
            return Vec::new();
        }
        law::carried_stiffness(
            &self.description,
            (&self.bodies, &self.bags),
            law::TimeStep::new(&self.description, &self.schedule),
        )
    }

    /// Warnings for the user: cloth that starts inside an obstacle, stiffness that was softened; one line
    /// each.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        for (described, body) in self.description.bodies.iter().zip(&self.bodies) {
            for obstacle in &self.description.obstacles {
                let pose = obstacle.pose(0.0);
                let inside = self.start[body.vertices.clone()]
                    .iter()
                    .map(|q| obstacle.shape.distance(pose.to_body(Vec3::new(q[0], q[1], q[2]))).0)
                    .filter(|d| *d < -1e-6);
                let (count, deepest) = inside.fold((0, 0.0f32), |(n, deepest), d| (n + 1, deepest.max(-d)));
                if count > 0 {
                    warnings.push(format!(
                        "{} \"{}\" starts inside obstacle \"{}\": {count} of {} vertices, up to {:.1} mm deep; they are pushed out at {PUSH_OUT_SPEED:.0} m/s",
                        described.kind(),
                        described.name(),
                        obstacle.name,
                        body.vertices.len(),
                        1e3 * deepest
                    ));
                }
            }
        }
        let plan = self.plan();
        // Nothing is softened where the filter is elastic itself.
        let softened = if self.schedule.is_implicit() {
            [("stretch", 1.0), ("bending", 1.0)]
        } else {
            [("stretch", plan.stretch), ("bending", plan.bend)]
        };
        for (what, factor) in softened {
            if factor < 1.0 {
                let steps = counted(self.steps_per_frame(), "step");
                let substeps = counted(plan.substeps, "substep");
                warnings.push(format!(
                    "{what} stiffness is softened to {:.3} % inside the limits, which {steps} of {substeps} can carry; raise solver.max_substeps for stiffer cloth",
                    100.0 * factor,
                ));
            }
        }
        warnings
    }
}

/// A number of things, in words.
fn counted(count: u32, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}
