//! `[[hair]]`: reads or grows the groom, chooses guides, and finds what its roots follow.

use glam::Vec3;
use taut::{
    MeshObstacle, Roots,
    mesh::{
        TriangleMesh,
        groom::{Amount, Clump, Curl, Groom, GrowError, Growth, Skin, fill, grow, spread},
    },
};

use super::{
    build::{Builder, Place, vector},
    format::{FromFile, Grow, Guides, Hair, HairMesh, MeshSource, Root, RootWord},
    nearest::hint,
    select::Selection,
    shapes,
};
use crate::Problem;

/// Distance of roots from the surface of their obstacle that is called a mistake \[m\].
const ROOT_TOLERANCE: f32 = 0.005;

/// A surface that hair grows on, and its vertices by name.
struct Ground {
    skin: Skin,
    mesh: TriangleMesh,
}

/// The points of a groom as selections see them.
fn as_surface(groom: &Groom) -> TriangleMesh {
    let mut surface = TriangleMesh { positions: groom.positions.clone(), ..TriangleMesh::default() };
    let ends =
        |end: &dyn Fn(std::ops::Range<usize>) -> usize| groom.strands().map(|own| end(own) as u32).collect();
    surface.groups.insert("corner:root".into(), ends(&|own| own.start));
    surface.groups.insert("corner:tip".into(), ends(&|own| own.end - 1));
    surface
}

fn selected(
    select: &Selection,
    groom: &Groom,
    file: &dyn Fn(&str) -> std::path::PathBuf,
) -> Result<Vec<u32>, String> {
    match select {
        Selection::Boundary => {
            Err("is for surfaces; corner:root and corner:tip select ends of strands".into())
        }
        select => select.resolve(&as_surface(groom), file),
    }
}

impl Builder<'_> {
    /// One body of hair, or `None` if a problem was reported; `meshes` are the mesh obstacles of the
    /// description.
    pub fn hair(&mut self, index: usize, given: &Hair, meshes: &[MeshObstacle]) -> Option<taut::Hair> {
        let name = given.name.clone().unwrap_or_default();
        let place = Place { kind: "hair", index, name: &name };
        let before = self.report.problems.len();
        let (roots, rooted) = self.roots(place, given, meshes)?;
        let material = given.material.build();
        let (mut groom, grown_on) = match &given.mesh {
            HairMesh::File(file) => (self.groom_file(place, file)?, None),
            HairMesh::Grow(grow) => {
                let (groom, ground) = self.grown(place, grow, (material.radius, meshes))?;
                (groom, Some(ground))
            }
        };
        // As the file has it, before it is placed: numbers that are not finite are the file's fault.
        self.check_groom(place, given, &groom)?;
        if let Some(segments) = given.segments {
            groom = groom.resampled(segments);
        }
        let scale = given.transform.scale.factors()[0];
        groom.radii.iter_mut().for_each(|radius| *radius *= scale as f32);
        groom.positions.iter_mut().for_each(|x| *x = (scale * x.as_dvec3()).as_vec3());
        groom.positions = self.start(place, &given.transform, groom.positions)?;
        self.check_groom(place, given, &groom)?;
        if let Some(skin) = &rooted {
            self.warn_of_roots(place, &groom, skin)?;
        }
        let skin = match (rooted, grown_on) {
            (Some(skin), _) => Some(skin),
            // The surface is where the hair is.
            (None, Some(ground)) => {
                let scaled = ground.mesh.positions.iter().map(|x| (scale * x.as_dvec3()).as_vec3());
                let placed = self.start(place, &given.transform, scaled.collect())?;
                Some(Skin::mesh(placed, ground.mesh.triangles))
            }
            (None, None) => None,
        };
        let (groom, full) = self.guides(place, given, groom, skin)?;
        let pins =
            self.pins(place, &given.pin, &groom.positions, |select, file| selected(select, &groom, file));
        let tear = given.tear.as_ref().map(|tear| self.tear(place, &tear.thresholds(), &as_surface(&groom)));
        (self.report.problems.len() == before).then(|| taut::Hair {
            full,
            velocity: vector(given.velocity).as_vec3(),
            rest: given.rest.build(),
            model: given.model.build(),
            roots,
            stretch: taut::Limit { min: Some(given.stretch.min as f32), max: Some(given.stretch.max as f32) },
            bend: given.bend.map(|bend| bend as f32),
            twist: given.twist.map(|twist| twist as f32),
            contact: given.contact.build(),
            air_drag: given.air_drag as f32,
            pins,
            tear,
            ..taut::Hair::new(name.clone(), groom, material)
        })
    }

    /// What roots follow, and the surface of it where it is at the start.
    fn roots(
        &mut self,
        place: Place<'_>,
        given: &Hair,
        meshes: &[MeshObstacle],
    ) -> Option<(Roots, Option<Skin>)> {
        let Some(name) = given.obstacle() else {
            let is_free = given.root == Some(Root::Word(RootWord::Free));
            return Some((if is_free { Roots::Free } else { Roots::Fixed }, None));
        };
        let keys: &[&str] =
            if given.root.is_some() { &["root", "obstacle"] } else { &["mesh", "grow", "on"] };
        let obstacles = &self.scene.scene.obstacle;
        let number = |of: &dyn Fn(&super::format::Obstacle) -> bool| {
            obstacles.iter().filter(|o| of(o)).position(|o| o.name.as_deref() == Some(name))
        };
        let roots = if let Some(k) = number(&|o| o.shape.is_none()) {
            Roots::MeshObstacle(k)
        } else if let Some(k) = number(&|o| o.shape.is_some() && o.mass.is_some()) {
            Roots::RigidBody(k)
        } else {
            // Unknown names are refused below.
            Roots::Obstacle(number(&|o| o.shape.is_some() && o.mass.is_none()).unwrap_or(0))
        };
        match self.ground_of(name, meshes) {
            Ok(ground) => Some((roots, Some(ground.skin))),
            Err(message) => self.refuse(place, keys, message),
        }
    }

    /// The surface of an obstacle where it is at the start.
    fn ground_of(&self, name: &str, meshes: &[MeshObstacle]) -> Result<Ground, String> {
        let obstacles = &self.scene.scene.obstacle;
        let Some(obstacle) = obstacles.iter().find(|obstacle| obstacle.name.as_deref() == Some(name)) else {
            let names = || obstacles.iter().filter_map(|obstacle| obstacle.name.as_deref());
            let known = if obstacles.is_empty() {
                "there are none".into()
            } else {
                names().collect::<Vec<_>>().join(", ")
            };
            let shown: String = name.chars().take(64).collect();
            return Err(format!("no obstacle is named {shown:?}{} known: {known}", hint(name, names())));
        };
        if let Some(mesh) = meshes.iter().find(|mesh| mesh.name == name) {
            let (positions, triangles) = (mesh.positions_at(0.0), mesh.triangles.clone());
            let groups = match obstacle.mesh.as_ref().and_then(|mesh| mesh.file()) {
                // Names of parts are in the file alone.
                Some(file) => {
                    crate::mesh::read(&self.scene.resolve(file)).map(|mesh| mesh.groups).unwrap_or_default()
                }
                None => Default::default(),
            };
            let skin = Skin::mesh(positions.clone(), triangles.clone());
            return Ok(Ground { skin, mesh: TriangleMesh { positions, triangles, uvs: None, groups } });
        }
        let shape = shapes::fixed(obstacle).or_else(|| shapes::rigid(obstacle).map(|body| body.obstacle));
        let Some(shape) = shape else { return Err(format!("\"{name}\" has no surface")) };
        let skin = match shape.shape {
            taut::Shape::Plane => return Err(format!("\"{name}\" is a plane, must have a bounded surface")),
            taut::Shape::Sphere { radius } => {
                Skin::sphere(shape.position, radius).map_err(|error| error.to_string())?
            }
            solid => {
                let surface = solid.surface(0.0);
                let placed = surface.positions.iter().map(|x| shape.rotation * *x + shape.position).collect();
                Skin::mesh(placed, surface.triangles)
            }
        };
        let mesh = TriangleMesh {
            positions: skin.positions().to_vec(),
            triangles: skin.triangles().to_vec(),
            ..TriangleMesh::default()
        };
        Ok(Ground { skin, mesh })
    }

    /// A groom from a file.
    fn groom_file(&mut self, place: Place<'_>, file: &str) -> Option<Groom> {
        let path = self.scene.resolve(file);
        if !path.exists() {
            return self.refuse(place, &["mesh", "file"], format!("file not found: {}", path.display()));
        }
        match crate::mesh::read_groom(&path) {
            Ok(groom) => Some(groom),
            Err(problem) => {
                let message = format!("{} (mesh of hair \"{}\")", problem.message, place.name);
                self.report.problems.push(Problem { message, ..problem });
                None
            }
        }
    }

    /// A groom that is grown, and what on.
    fn grown(
        &mut self,
        place: Place<'_>,
        given: &Grow,
        (radius, meshes): (f32, &[MeshObstacle]),
    ) -> Option<(Groom, Ground)> {
        let ground = match (&given.on, &given.mesh) {
            (Some(name), _) => match self.ground_of(name, meshes) {
                Ok(ground) => ground,
                Err(message) => return self.refuse(place, &["mesh", "grow", "on"], message),
            },
            (None, Some(source)) => self.ground(place, source)?,
            // The rules ensure that one is present.
            (None, None) => return None,
        };
        let skin = self.weighted(place, given, &ground)?;
        let settings = &self.scene.scene.scene;
        let radius = given.radius.map_or(radius, |radius| radius as f32);
        let growth = Growth {
            amount: match (given.count, given.density) {
                (Some(count), _) => Amount::Count(count),
                (None, density) => Amount::Density(density.unwrap_or_default() as f32),
            },
            length: given.length as f32,
            length_variation: given.length_variation as f32,
            segments: given.segments,
            radius: [radius, radius * (1.0 - given.taper) as f32],
            comb: vector(given.comb).as_vec3(),
            droop: given.droop as f32,
            down: vector(settings.gravity).as_vec3(),
            curl: given.curl.map(|curl| Curl { radius: curl.radius as f32, pitch: curl.pitch as f32 }),
            clump: given.clump.map(|clump| Clump { count: clump.count, strength: clump.strength as f32 }),
            noise: given.noise as f32,
            seed: given.seed.unwrap_or(settings.seed),
        };
        match grow(&skin, &growth) {
            Ok(groom) => Some((groom, Ground { skin, ..ground })),
            Err(error) => {
                let key = match error {
                    GrowError::FewSegments { .. } => "segments",
                    GrowError::NoArea if given.select.is_some() => "select",
                    GrowError::NoArea => return self.refuse(place, &["mesh", "grow"], error.to_string()),
                    _ if given.count.is_some() => "count",
                    _ => "density",
                };
                self.refuse(place, &["mesh", "grow", key], error.to_string())
            }
        }
    }

    /// A surface that is no obstacle.
    fn ground(&mut self, place: Place<'_>, source: &MeshSource) -> Option<Ground> {
        let keys = ["mesh", "grow", "mesh", source.tag()];
        let mesh = match source.generator(self.scene.scene.scene.seed) {
            Ok(generator) => generator.generate().map_err(|error| error.to_string()),
            Err(FromFile::Pattern(_)) => Err("is for cloth, hair must grow on another mesh".into()),
            Err(FromFile::Mesh(file)) => {
                let path = self.scene.resolve(file);
                if !path.exists() {
                    return self.refuse(place, &keys, format!("file not found: {}", path.display()));
                }
                match crate::mesh::read(&path) {
                    Ok(mesh) => Ok(mesh),
                    Err(problem) => {
                        let message =
                            format!("{} (mesh that hair \"{}\" grows on)", problem.message, place.name);
                        self.report.problems.push(Problem { message, ..problem });
                        return None;
                    }
                }
            }
        };
        match mesh {
            Ok(mesh) => {
                let skin = Skin::mesh(mesh.positions.clone(), mesh.triangles.clone());
                Some(Ground { skin, mesh })
            }
            Err(message) => self.refuse(place, &keys, message),
        }
    }

    /// The surface with hair where `select` and `weight` say.
    fn weighted(&mut self, place: Place<'_>, given: &Grow, ground: &Ground) -> Option<Skin> {
        let count = ground.mesh.positions.len();
        let mut weights = vec![1.0; count];
        if let Some(text) = &given.weight {
            match self.weights(text, count) {
                Ok(numbers) => weights = numbers.into_iter().map(|number| number as f32).collect(),
                Err(message) => return self.refuse(place, &["mesh", "grow", "weight"], message),
            }
        }
        if let Some(text) = &given.select {
            let file = |file: &str| self.scene.resolve(file);
            match Selection::parse(text).and_then(|select| select.resolve(&ground.mesh, file)) {
                Ok(vertices) => {
                    let mut is_chosen = vec![false; count];
                    vertices.iter().for_each(|&v| is_chosen[v as usize] = true);
                    weights
                        .iter_mut()
                        .zip(is_chosen)
                        .filter(|(_, chosen)| !chosen)
                        .for_each(|(w, _)| *w = 0.0);
                }
                Err(message) => return self.refuse(place, &["mesh", "grow", "select"], message),
            }
        }
        let all = given.weight.is_none() && given.select.is_none();
        Some(if all { ground.skin.clone() } else { ground.skin.clone().weighted(&weights) })
    }

    /// Reports what is wrong with a groom.
    fn check_groom(&mut self, place: Place<'_>, given: &Hair, groom: &Groom) -> Option<()> {
        let problems = groom.problems();
        for problem in &problems {
            let found = match &given.mesh {
                HairMesh::File(file) => Problem {
                    file: Some(self.scene.resolve(file)),
                    message: format!("{problem} (mesh of hair \"{}\")", place.name),
                    ..Problem::default()
                },
                HairMesh::Grow(_) => self.at(place, &["mesh", "grow"], problem.to_string()),
            };
            self.report.problems.push(found);
        }
        problems.is_empty().then_some(())
    }

    /// Refuses strands whose tip is on the obstacle instead of their root, and warns of roots off it.
    fn warn_of_roots(&mut self, place: Place<'_>, groom: &Groom, skin: &Skin) -> Option<()> {
        let mut is_sound = true;
        for problem in groom.problems_on(|p: Vec3| skin.distance(p), ROOT_TOLERANCE) {
            let found = self.at(place, &["root"], problem.to_string());
            if matches!(problem, taut::mesh::groom::GroomProblem::Reversed { .. }) {
                is_sound = false;
                self.report.problems.push(found);
            } else {
                self.warnings.push(found);
            }
        }
        is_sound.then_some(())
    }

    /// The strands that are simulated, and all of them if these are fewer.
    fn guides(
        &mut self,
        place: Place<'_>,
        given: &Hair,
        groom: Groom,
        skin: Option<Skin>,
    ) -> Option<(Groom, Option<Groom>)> {
        let strands = groom.counts.len();
        let count = match given.guides {
            None => return Some((groom, None)),
            Some(Guides::Interpolate(count)) => {
                let seed = match &given.mesh {
                    HairMesh::Grow(grow) => grow.seed,
                    HairMesh::File(_) => None,
                };
                // The rules ensure that there is one.
                let Some(skin) = skin else { return Some((groom, None)) };
                return match fill(&skin, &groom, count, seed.unwrap_or(self.scene.scene.scene.seed)) {
                    Ok(full) => Some((groom, Some(full))),
                    Err(error) => self.refuse(place, &["guides", "interpolate"], error.to_string()),
                };
            }
            Some(Guides::Count(count)) => count as usize,
            Some(Guides::Fraction(fraction)) => ((fraction * strands as f64).round() as usize).max(1),
        };
        if count >= strands {
            return Some((groom, None));
        }
        let mut chosen = spread(&groom.roots(), count);
        chosen.sort_unstable();
        Some((groom.subset(&chosen), Some(groom)))
    }
}

#[cfg(test)]
mod tests;
