//! Converts `[[solid]]` to the engine's soft bodies: fills surfaces with tetrahedra or reads tetrahedra, then
//! places and pins them.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use glam::{DVec3, Vec3};
use taut::{
    LevelKind,
    mesh::{
        TriangleMesh, generate,
        stuff::{StuffOptions, stuff},
        tetrahedra::TetrahedronMesh,
    },
};

use super::{
    build::{Builder, Place, vector},
    format::{Scheme, Solid, SolidLevels, SolidMesh, Volume},
    select::Selection,
};
use crate::{
    Problem,
    mesh::{SolidFormat, Tetrahedra},
};

/// A soft body at rest.
struct Filled {
    mesh: TetrahedronMesh,
    /// The filled surface.
    skin: Option<TriangleMesh>,
    /// Spacing of the tetrahedra that fill it \[m\].
    spacing: Option<f32>,
}

impl Builder<'_> {
    /// One soft body, or `None` if a problem was reported.
    pub fn solid(&mut self, index: usize, solid: &Solid) -> Option<taut::Solid> {
        let name = solid.name.clone().unwrap_or_default();
        let place = Place { kind: "solid", index, name: &name };
        let Filled { mesh, skin, spacing } = self.filled(place, solid)?;
        let start = self.start(place, &solid.transform, mesh.positions.clone())?;
        let before = self.report.problems.len();
        let pins =
            self.pins(place, &solid.pin, &start, |select, file| selected(select, &mesh, skin.as_ref(), file));
        let mut built = taut::Solid {
            name: name.clone(),
            mesh,
            start,
            velocity: vector(solid.velocity).as_vec3(),
            material: solid.material.build(),
            model: solid.engine_model(),
            strain: solid.strain.build(),
            preserve_volume: solid.volume == Volume::Preserve,
            levels: Vec::new(),
            skin,
            pins,
            masses: None,
        };
        if self.report.problems.len() > before {
            return None;
        }
        self.make_levels(place, solid, &mut built, spacing);
        Some(built)
    }

    /// The tetrahedra, scaled.
    fn filled(&mut self, place: Place<'_>, solid: &Solid) -> Option<Filled> {
        let scale = vector(solid.transform.scale.factors());
        match &solid.mesh {
            SolidMesh::Bar(bar) => match generate::bar((scale * vector(bar.size)).as_vec3(), bar.cells) {
                Ok(mesh) => Some(Filled { mesh, skin: None, spacing: None }),
                Err(error) => self.refuse(place, &["mesh", "bar"], error.to_string()),
            },
            SolidMesh::File(file) => {
                let path = self.scene.resolve(file);
                if !path.exists() {
                    let message = format!("file not found: {}", path.display());
                    return self.refuse(place, &["mesh", "file"], message);
                }
                if SolidFormat::of_path(&path).is_some() {
                    return self.read_tetrahedra(place, &path, scale);
                }
                match crate::mesh::read(&path) {
                    Ok(surface) => self.fill(place, solid, surface, Some(&path)),
                    Err(problem) => self.blame_file(place, problem),
                }
            }
            made => {
                let generator = made.surface()?;
                let generator = generator.generator(self.scene.scene.scene.seed).ok()?;
                match generator.generate() {
                    Ok(surface) => self.fill(place, solid, surface, None),
                    Err(error) => self.refuse(place, &["mesh", made.tag()], error.to_string()),
                }
            }
        }
    }

    /// Reports a problem with a file of a soft body.
    fn blame_file<T>(&mut self, place: Place<'_>, problem: Problem) -> Option<T> {
        let message = format!("{} (mesh of solid \"{}\")", problem.message, place.name);
        self.report.problems.push(Problem { message, ..problem });
        None
    }

    /// Tetrahedra from a file.
    fn read_tetrahedra(&mut self, place: Place<'_>, path: &Path, scale: DVec3) -> Option<Filled> {
        match crate::mesh::read_tetrahedra(path) {
            Ok(Tetrahedra { mut mesh, notes }) => {
                for note in notes {
                    let warning = self.in_mesh(place, &["mesh", "file"], Some(path), note);
                    self.warnings.push(warning);
                }
                scale_all(&mut mesh.positions, scale);
                Some(Filled { mesh, skin: None, spacing: None })
            }
            Err(problem) => self.blame_file(place, problem),
        }
    }

    /// Fills a `surface`, which came from `file` if it was read.
    fn fill(
        &mut self,
        place: Place<'_>,
        solid: &Solid,
        mut surface: TriangleMesh,
        file: Option<&Path>,
    ) -> Option<Filled> {
        let keys = ["mesh", solid.mesh.tag()];
        scale_all(&mut surface.positions, vector(solid.transform.scale.factors()));
        let options = match (solid.spacing, solid.tetrahedra) {
            (Some(spacing), _) => Ok(StuffOptions { spacing: spacing as f32 }),
            // The rules ensure that one of the two is present.
            (None, count) => StuffOptions::for_count(&surface, count.unwrap_or_default() as usize),
        };
        let filled = options.and_then(|options| Ok((options.spacing, stuff(&surface, &options)?)));
        match filled {
            Ok((spacing, stuffed)) => {
                for warning in stuffed.warnings {
                    let warning = self.in_mesh(place, &keys, file, warning);
                    self.warnings.push(warning);
                }
                Some(Filled { mesh: stuffed.mesh, skin: Some(surface), spacing: Some(spacing) })
            }
            Err(error) => {
                let problem = self.in_mesh(place, &keys, file, error.to_string());
                self.report.problems.push(problem);
                None
            }
        }
    }

    /// Coarser levels, if the scheme limits them. Why some are lattices is of interest to those who ask for
    /// others.
    fn make_levels(
        &mut self,
        place: Place<'_>,
        solid: &Solid,
        built: &mut taut::Solid,
        spacing: Option<f32>,
    ) {
        if let (SolidMesh::Bar(bar), None | Some(SolidLevels::Lattice)) = (&solid.mesh, solid.levels) {
            // Made in no time, whatever the scheme.
            let size = (vector(solid.transform.scale.factors()) * vector(bar.size)).as_vec3();
            built.levels = halved(bar.cells).filter_map(|cells| generate::bar(size, cells).ok()).collect();
            return;
        }
        if !matches!(self.scene.scene.solver.scheme, Scheme::Cycle | Scheme::Paper) {
            return;
        }
        let kind = match solid.levels {
            None => LevelKind::default(),
            Some(SolidLevels::Lattice) => LevelKind::Lattice,
            Some(SolidLevels::Surface) => LevelKind::Surface,
        };
        for note in built.make_levels(kind, spacing) {
            if solid.levels.is_some() {
                let warning = self.at(place, &["levels"], note);
                self.warnings.push(warning);
            }
        }
    }

    /// A message about the mesh of a soft body: located at its file, if it has one, otherwise at its key.
    fn in_mesh(&self, place: Place<'_>, keys: &[&str], file: Option<&Path>, message: String) -> Problem {
        match file {
            Some(path) => Problem {
                file: Some(path.into()),
                message: format!("{message} (mesh of solid \"{}\")", place.name),
                ..Problem::default()
            },
            None => self.at(place, keys, message),
        }
    }
}

/// Minimum number of boxes along the longest side of the coarsest bar: with fewer, limits on them prevent
/// sagging.
const FEWEST_BOXES: u32 = 4;

/// Coarser bars: half as many boxes along every side.
fn halved(cells: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    let half = |cells: &[u32; 3]| {
        let half = cells.map(|n| n.div_ceil(2));
        half.iter().any(|&n| n >= FEWEST_BOXES).then_some(half)
    };
    std::iter::successors(Some(cells), half).skip(1)
}

fn scale_all(positions: &mut [Vec3], scale: DVec3) {
    if scale != DVec3::ONE {
        positions.iter_mut().for_each(|x| *x = (scale * x.as_dvec3()).as_vec3());
    }
}

/// The selected tetrahedral vertices.
fn selected(
    select: &Selection,
    mesh: &TetrahedronMesh,
    skin: Option<&TriangleMesh>,
    file: &dyn Fn(&str) -> PathBuf,
) -> Result<Vec<u32>, String> {
    let outside = || {
        let mut vertices = mesh.boundary().concat();
        vertices.sort_unstable();
        vertices.dedup();
        vertices
    };
    if *select == Selection::Boundary {
        return Ok(outside());
    }
    let groups = match (select, skin) {
        (Selection::Group(_) | Selection::Corner(_), Some(skin)) if !skin.groups.is_empty() => {
            carried(mesh, &outside(), skin)
        }
        _ => Default::default(),
    };
    let points = TriangleMesh { positions: mesh.positions.clone(), groups, ..TriangleMesh::default() };
    select.resolve(&points, file)
}

/// The groups of a surface as groups of the vertices `outside`: each joins the groups of the nearest surface
/// vertex.
fn carried(mesh: &TetrahedronMesh, outside: &[u32], skin: &TriangleMesh) -> BTreeMap<String, Vec<u32>> {
    let mut along_x: Vec<u32> = (0..skin.positions.len() as u32).collect();
    along_x.sort_by(|a, b| skin.positions[*a as usize].x.total_cmp(&skin.positions[*b as usize].x));
    let nearest: Vec<u32> =
        outside.iter().map(|&v| nearest(&along_x, &skin.positions, mesh.positions[v as usize])).collect();
    let carry = |members: &Vec<u32>| {
        let mut chosen = vec![false; skin.positions.len()];
        members.iter().for_each(|&v| chosen[v as usize] = true);
        let both = outside.iter().zip(&nearest);
        both.filter(|(_, near)| chosen[**near as usize]).map(|(&v, _)| v).collect()
    };
    skin.groups.iter().map(|(name, members)| (name.clone(), carry(members))).collect()
}

/// The nearest of `positions` to `x`; `along_x` has them sorted by their first coordinate.
fn nearest(along_x: &[u32], positions: &[Vec3], x: Vec3) -> u32 {
    let middle = along_x.partition_point(|&v| positions[v as usize].x < x.x);
    let (before, after) = along_x.split_at(middle);
    let mut best = (f32::INFINITY, 0);
    let mut look = |v: u32| {
        let place = positions[v as usize];
        let distance = place.distance_squared(x);
        best = if (distance, v) < best { (distance, v) } else { best };
        // All that follow are further away along x alone.
        (place.x - x.x).powi(2) <= best.0
    };
    let _ = before.iter().rev().all(|&v| look(v));
    let _ = after.iter().all(|&v| look(v));
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_point_is_found() {
        let positions: Vec<Vec3> = (0..500)
            .map(|i| Vec3::new((i as f32 * 1.7).sin(), (i as f32 * 0.9).cos(), (i as f32 * 0.31).sin()))
            .collect();
        let mut along_x: Vec<u32> = (0..500).collect();
        along_x.sort_by(|a, b| positions[*a as usize].x.total_cmp(&positions[*b as usize].x));
        for k in 0..50 {
            let x = Vec3::new((k as f32).cos() * 1.2, k as f32 * 0.02 - 0.5, (k as f32 * 2.3).sin());
            let plain = (0..500).min_by(|a, b| {
                positions[*a].distance_squared(x).total_cmp(&positions[*b].distance_squared(x))
            });
            assert_eq!(nearest(&along_x, &positions, x), plain.unwrap() as u32);
        }
    }

    #[test]
    fn groups_of_a_surface_reach_the_tetrahedra() {
        let mesh = generate::bar(Vec3::ONE, [2, 2, 2]).unwrap();
        let mut skin = mesh.surface();
        let right = (0..).zip(&skin.positions).filter(|(_, x)| x.x > 0.9).map(|(v, _)| v).collect();
        skin.groups.insert("right".into(), right);
        let select = |text: &str| {
            let select = Selection::parse(text).unwrap();
            selected(&select, &mesh, Some(&skin), &|file| file.into())
        };
        let right = select("group:right").unwrap();
        assert_eq!(right.len(), 9);
        assert!(right.iter().all(|&v| mesh.positions[v as usize].x == 1.0));
        assert_eq!(select("boundary").unwrap().len(), 26, "all but the middle");
        assert_eq!(select("box:1,0,0,1,1,1").unwrap(), right);
        assert!(select("group:left").unwrap_err().contains("group:right"));
    }

    #[test]
    fn bars_are_halved_until_few_boxes_are_left() {
        let all = |cells: [u32; 3]| halved(cells).collect::<Vec<_>>();
        assert_eq!(all([32, 8, 8]), [[16, 4, 4], [8, 2, 2], [4, 1, 1]]);
        assert_eq!(all([20, 13, 1]), [[10, 7, 1], [5, 4, 1]]);
        assert_eq!(all([6, 6, 6]), [[0; 3]; 0]);
    }
}
