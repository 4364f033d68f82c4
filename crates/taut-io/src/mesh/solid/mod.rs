//! Tetrahedral meshes: Gmsh (.msh), Medit (.mesh), VTK (.vtk, .vtu), TetGen (.node with .ele).
//!
//! Only the tetrahedra and their vertices are read; triangles, lines and data are skipped. Of tetrahedra with
//! mid-edge nodes only the corners are used. Inverted ones are reoriented; degenerate ones are refused.

mod cursor;
mod gmsh;
mod gmsh_binary;
mod medit;
mod tetgen;
mod vtk;
mod vtu;

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use glam::Vec3;
use taut::mesh::tetrahedra::TetrahedronMesh;

use super::{
    fault::{Fault, fault},
    file,
};
use crate::Problem;

/// A file format of tetrahedral meshes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SolidFormat {
    /// Gmsh, versions 2 and 4.1, text or binary.
    Gmsh,
    /// Medit, text.
    Medit,
    /// VTK's older format, text or binary.
    Vtk,
    /// VTK's XML format: text, base64 or raw, compressed by zlib or not.
    Vtu,
    /// TetGen: vertices in .node, tetrahedra in .ele.
    TetGen,
}

impl SolidFormat {
    /// The format that a file name's extension stands for, in upper or lower case.
    pub fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "msh" => Some(Self::Gmsh),
            "mesh" => Some(Self::Medit),
            "vtk" => Some(Self::Vtk),
            "vtu" => Some(Self::Vtu),
            "node" | "ele" => Some(Self::TetGen),
            _ => None,
        }
    }

    /// TetGen's two files, of which `path` is one; the other has the same name but for its ending.
    fn node_and_ele(path: &Path) -> [PathBuf; 2] {
        let given = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        ["node", "ele"].map(|extension| {
            if given.eq_ignore_ascii_case(extension) {
                path.to_path_buf()
            } else {
                path.with_extension(extension)
            }
        })
    }

    /// The file that is read beside `path`, if that is one of TetGen's.
    pub(crate) fn other_of(path: &Path) -> Option<PathBuf> {
        let two = || Self::node_and_ele(path).into_iter().find(|other| other != path);
        (Self::of_path(path) == Some(Self::TetGen)).then(two).flatten()
    }
}

/// A tetrahedral mesh from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Tetrahedra {
    /// Positive volumes; every vertex is used.
    pub mesh: TetrahedronMesh,
    /// Notes on changes.
    pub notes: Vec<String>,
}

/// What a format's reader found.
#[derive(Debug, Default)]
struct Found {
    positions: Vec<Vec3>,
    /// Corners by number of the vertex, counted from 0.
    tetrahedra: Vec<[u64; 4]>,
    /// How many had more nodes than corners.
    quadratic: usize,
}

/// Reads a tetrahedral mesh; the format is chosen by the file's extension (msh, mesh, vtk, vtu, node, ele).
/// Of TetGen's two files either may be given; the other one lies beside it.
///
/// # Errors
/// A problem that names the file, and the line or element.
pub fn read_tetrahedra(path: &Path) -> Result<Tetrahedra, Problem> {
    let read =
        || {
            let format = SolidFormat::of_path(path).ok_or_else(|| {
            fault("unknown tetrahedral format: the extension must be .msh, .mesh, .vtk, .vtu, .node or .ele")
        })?;
            if format != SolidFormat::TetGen {
                return parse(&file::read(path)?, &[], format);
            }
            let [node, ele] = SolidFormat::node_and_ele(path);
            let bytes = |path: &Path| file::read(path).map_err(|fault| fault.in_file(path.into()));
            let (points, cells) = (bytes(&node)?, bytes(&ele)?);
            finish(tetgen::parse(&points, &cells).map_err(|(fault, of_cells)| {
                fault.in_file(if of_cells { ele.clone() } else { node.clone() })
            })?)
        };
    read().map_err(|fault| fault.into_problem(Some(path)))
}

/// Reads a tetrahedral mesh from the bytes of a file. `cells` is the .ele file of TetGen's format, whose
/// .node file is `bytes`; the others do not use it.
///
/// # Errors
/// A problem that names the line or element.
pub fn parse_tetrahedra(bytes: &[u8], cells: &[u8], format: SolidFormat) -> Result<Tetrahedra, Problem> {
    parse(bytes, cells, format).map_err(|fault| fault.into_problem(None))
}

fn parse(bytes: &[u8], cells: &[u8], format: SolidFormat) -> Result<Tetrahedra, Fault> {
    if bytes.is_empty() {
        return Err(fault("the file is empty"));
    }
    if bytes.len() as u64 > file::MAX_BYTES {
        return Err(file::too_large(bytes.len() as u64));
    }
    finish(match format {
        SolidFormat::Gmsh => gmsh::parse(bytes)?,
        SolidFormat::Medit => medit::parse(bytes)?,
        SolidFormat::Vtk => vtk::parse(bytes)?,
        SolidFormat::Vtu => vtu::parse(bytes)?,
        SolidFormat::TetGen => tetgen::parse(bytes, cells).map_err(|(fault, _)| fault)?,
    })
}

/// Smallest volume relative to the cube of the longest edge: below, a tetrahedron is flat.
const FLAT: f64 = 1e-7;

/// Checks, turns and tidies.
fn finish(found: Found) -> Result<Tetrahedra, Fault> {
    let Found { positions, tetrahedra, quadratic } = found;
    if tetrahedra.is_empty() {
        let count = positions.len();
        return Err(fault(format!("contains no tetrahedra ({count} vertices): at least one is required")));
    }
    let mut mesh = TetrahedronMesh { positions, tetrahedra: Vec::with_capacity(tetrahedra.len()) };
    let mut turned = 0;
    for (t, corners) in tetrahedra.iter().enumerate() {
        let element = || format!("tetrahedron {t} (from 0)");
        if let Some(v) = corners.iter().find(|&&v| v >= mesh.positions.len() as u64) {
            let count = mesh.positions.len();
            return Err(fault(format!("uses vertex {v} (from 0): there are {count} vertices")).at(element()));
        }
        let corners = corners.map(|v| v as u32);
        let x = corners.map(|v| mesh.positions[v as usize].as_dvec3());
        mesh.tetrahedra.push(corners);
        let volume = mesh.volume(t);
        let longest = (0..4).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| x[i].distance(x[j]));
        let longest = longest.fold(0.0, f64::max);
        if volume.abs() <= FLAT * longest.powi(3) || !volume.is_finite() {
            let volume = format!("has a volume of {volume:.3e} m³ with edges of up to {longest:.3e} m");
            return Err(fault(format!("{volume}: it is degenerate")).at(element()));
        }
        if volume < 0.0 {
            mesh.tetrahedra[t].swap(0, 1);
            turned += 1;
        }
    }
    let mut notes = Vec::new();
    if quadratic > 0 {
        notes.push(format!("{quadratic} tetrahedra have mid-edge nodes: only their corners are used"));
    }
    if turned > 0 {
        notes.push(format!("{turned} tetrahedra are inverted: they are reoriented"));
    }
    let unused = drop_unused(&mut mesh);
    if unused > 0 {
        notes.push(format!("{unused} vertices belong to no tetrahedron and are dropped"));
    }
    Ok(Tetrahedra { mesh, notes })
}

/// Drops vertices that nothing uses; how many there were.
fn drop_unused(mesh: &mut TetrahedronMesh) -> usize {
    let mut place = vec![u32::MAX; mesh.positions.len()];
    mesh.tetrahedra.iter().flatten().for_each(|&v| place[v as usize] = 0);
    let mut kept = Vec::new();
    for (place, &x) in place.iter_mut().zip(&mesh.positions) {
        if *place == 0 {
            *place = kept.len() as u32;
            kept.push(x);
        }
    }
    mesh.tetrahedra.iter_mut().flatten().for_each(|v| *v = place[*v as usize]);
    let unused = mesh.positions.len() - kept.len();
    mesh.positions = kept;
    unused
}

/// Places of vertices by the numbers that a file gives them.
#[derive(Default)]
struct Numbers(HashMap<u64, u64>);

impl Numbers {
    fn add(&mut self, number: u64) -> Result<(), Fault> {
        let place = self.0.len() as u64;
        match self.0.insert(number, place) {
            None => Ok(()),
            Some(_) => Err(fault("this number is given twice").at(format!("vertex {number}"))),
        }
    }

    fn place(&self, number: u64, element: u64) -> Result<u64, Fault> {
        let missing =
            || fault(format!("uses vertex {number}, which does not exist")).at(format!("element {element}"));
        self.0.get(&number).copied().ok_or_else(missing)
    }
}
