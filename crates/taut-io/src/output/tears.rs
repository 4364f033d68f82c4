//! Torn cloth in a run folder: triangles from the frame on in which they change (`NAME.0012.faces.npy`); and
//! strands of hair that were cut (`NAME.0012.strands.npy`).
//!
//! Triangles keep their number and the order of their corners, so that these files and the scene tell all of
//! the torn cloth: [`taut::Cloth::torn`]. Points of hair keep their numbers, so that its strands say where it
//! was cut: [`taut::Hair::cut`].

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    path::Path,
};

use glam::Vec3;
use taut::{Body, Description, Hair, mesh::split};

use super::{layout::Layout, npy};
use crate::Problem;

/// What is wrong with a file of torn triangles.
#[derive(Clone, Debug)]
pub struct Complaint {
    /// Its frame.
    pub frame: u32,
    /// The body.
    pub body: usize,
    /// The problem, with the file.
    pub problem: Problem,
}

/// Reads `count` positions \[m\] of a body that is whole in its frame, as far as files tell.
///
/// # Errors
/// A problem with the file. More positions are those of torn triangles, whose file is not there.
pub fn read_whole(path: &Path, count: usize) -> Result<Vec<Vec3>, Problem> {
    npy::read(path, count).map_err(|problem| {
        if npy::read_any(path).is_ok_and(|found| found.len() > count) {
            let message = format!(
                "{}: the file with its torn triangles (.faces.npy, of this frame or one before) is missing or damaged",
                problem.message
            );
            return Problem { message, ..problem };
        }
        problem
    })
}

/// Whether a body tears somewhere.
pub fn may_tear(body: &Body) -> bool {
    match body {
        Body::Cloth(cloth) => cloth.tear.is_some(),
        Body::Hair(hair) => hair.tear.is_some(),
        Body::Solid(_) | Body::Particles(_) => false,
    }
}

/// The rows of a file of strands with `counts` points each, pieces of the strands `whole`: first point,
/// number of points, the strand of the whole.
pub fn strand_rows(counts: &[u32], whole: &[u32]) -> Vec<[u32; 3]> {
    let (mut first, mut strand, mut end) = (0, 0, whole.first().copied().unwrap_or(0));
    let row = |&count: &u32| {
        while first >= end && strand + 1 < whole.len() {
            strand += 1;
            end += whole[strand];
        }
        let row = [first, count, strand as u32];
        first += count;
        row
    };
    counts.iter().map(row).collect()
}

/// Reads the numbers of points of strands, of `points` in all, which were the strands `whole`.
///
/// # Errors
/// If these are not pieces of them, one after the other, each with two points or more.
pub fn read_strands(path: &Path, whole: &[u32]) -> Result<Vec<u32>, Problem> {
    let rows = npy::read_triangles(path)?;
    let counts: Vec<u32> = rows.iter().map(|row| row[1]).collect();
    let sum = |counts: &[u32]| counts.iter().map(|&count| u64::from(count)).sum::<u64>();
    let is_fine = sum(&counts) == sum(whole) && counts.iter().all(|&count| count >= 2);
    let starts =
        |counts: &[u32]| strand_rows(counts, whole).iter().map(|row| row[0]).collect::<BTreeSet<u32>>();
    if is_fine && strand_rows(&counts, whole) == rows && starts(whole).is_subset(&starts(&counts)) {
        return Ok(counts);
    }
    let message = format!(
        "does not contain pieces of the {} strands, one after the other: first point, number of points, strand",
        whole.len()
    );
    Err(Problem { file: Some(path.into()), message, ..Problem::default() })
}

/// Changes of connectivity of a run.
#[derive(Clone, Debug, Default)]
pub struct Tears {
    /// By body: the triangles from a frame on, or the rows of strands.
    changes: Vec<BTreeMap<u32, Vec<[u32; 3]>>>,
}

impl Tears {
    /// Reads all changes up to frame `last` of the bodies of `whole`, and what is wrong with their files:
    /// those that are damaged or do not follow from the ones before are left out.
    pub fn read(files: &Layout, whole: &Description, last: u32) -> (Self, Vec<Complaint>) {
        let mut tears = Self { changes: vec![BTreeMap::new(); whole.bodies.len()] };
        let Ok(entries) = std::fs::read_dir(files.frames()) else { return (tears, Vec::new()) };
        let names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
        let numbered = names.iter().filter_map(|name| name.to_str().and_then(Layout::parse_changes));
        let index = |name: &str| whole.bodies.iter().position(|body| body.name() == name);
        let mut found: Vec<(u32, usize)> = numbered
            .filter(|(_, frame)| *frame <= last)
            .filter_map(|(body, frame)| Some((frame, index(body)?)))
            .collect();
        found.sort_unstable();
        found.dedup();
        let mut complaints = Vec::new();
        for (frame, body) in found {
            match tears.follow(files, whole, body, frame) {
                Ok(triangles) => _ = tears.changes[body].insert(frame, triangles),
                Err(problem) => complaints.push(Complaint { frame, body, problem }),
            }
        }
        (tears, complaints)
    }

    /// The triangles of body `body` from frame `frame` on.
    ///
    /// # Errors
    /// If they are not those of the frame before with vertices split.
    fn follow(
        &self,
        files: &Layout,
        whole: &Description,
        body: usize,
        frame: u32,
    ) -> Result<Vec<[u32; 3]>, Problem> {
        let described = &whole.bodies[body];
        if let Body::Hair(hair) = described {
            return self.follow_hair(files, hair, body, frame);
        }
        let path = files.faces(described.name(), frame);
        let wrong = |message: String| Problem { file: Some(path.clone()), message, ..Problem::default() };
        let Some(cloth) = described.as_cloth().filter(|cloth| cloth.tear.is_some()) else {
            return Err(wrong(format!("\"{}\" does not tear in this scene", described.name())));
        };
        if frame == 0 {
            return Err(wrong(format!("\"{}\" is whole in frame 0", cloth.name)));
        }
        let triangles = npy::read_triangles(&path)?;
        let before = self.triangles(body, frame).unwrap_or(&cloth.mesh.triangles);
        let count = 1 + before.iter().flatten().copied().max().unwrap_or(0) as usize;
        let origins = split::origins(before, &triangles, count.max(cloth.mesh.positions.len()));
        match origins {
            Some(_) if triangles == before => Err(wrong("has the triangles of the frame before".into())),
            Some(_) => Ok(triangles),
            None => Err(wrong(format!(
                "does not contain the triangles of \"{}\" with vertices split: {} triangles, each with the corners \
                 that it had in the frame before, or new ones",
                cloth.name,
                before.len()
            ))),
        }
    }

    /// The rows of strands of hair from frame `frame` on.
    ///
    /// # Errors
    /// If they are not those of the frame before with some cut.
    fn follow_hair(
        &self,
        files: &Layout,
        hair: &Hair,
        body: usize,
        frame: u32,
    ) -> Result<Vec<[u32; 3]>, Problem> {
        let path = files.strands(&hair.name, frame);
        let wrong = |message: String| Problem { file: Some(path.clone()), message, ..Problem::default() };
        if hair.tear.is_none() {
            return Err(wrong(format!("\"{}\" does not tear in this scene", hair.name)));
        }
        if frame == 0 {
            return Err(wrong(format!("\"{}\" is whole in frame 0", hair.name)));
        }
        let whole = &hair.groom.counts;
        let rows = strand_rows(&read_strands(&path, whole)?, whole);
        let whole = strand_rows(whole, whole);
        let before = self.triangles(body, frame).unwrap_or(&whole);
        let starts = |rows: &[[u32; 3]]| rows.iter().map(|row| row[0]).collect::<BTreeSet<u32>>();
        match (starts(before), starts(&rows)) {
            (before, now) if before == now => Err(wrong("has the strands of the frame before".into())),
            (before, now) if before.is_subset(&now) => Ok(rows),
            _ => {
                Err(wrong(format!("does not contain the strands of \"{}\" with some of them cut", hair.name)))
            }
        }
    }

    /// Frames from which the bodies stay the same, up to frame `last`: ranges that follow each other.
    pub fn spans(&self, last: u32) -> Vec<Range<u32>> {
        let mut starts: Vec<u32> = self.changes.iter().flat_map(|own| own.keys().copied()).collect();
        starts.push(0);
        starts.sort_unstable();
        starts.dedup();
        let ends = starts[1..].iter().copied().chain([last + 1]);
        starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
    }

    /// Triangles, or rows of strands, of body `body` in frame `frame`, if they are not those of the whole.
    pub fn triangles(&self, body: usize, frame: u32) -> Option<&[[u32; 3]]> {
        self.changes.get(body)?.range(..=frame).next_back().map(|(_, triangles)| &triangles[..])
    }

    /// `whole` as it is in frame `frame`.
    pub fn at(&self, whole: &Description, frame: u32) -> Description {
        let mut torn = whole.clone();
        for (index, body) in torn.bodies.iter_mut().enumerate() {
            let Some(rows) = self.triangles(index, frame) else { continue };
            match body {
                Body::Cloth(cloth) => {
                    if let Some(changed) = cloth.torn(rows) {
                        *cloth = changed;
                    }
                }
                Body::Hair(hair) => {
                    let starts: BTreeSet<u32> = hair.groom.strands().map(|own| own.start as u32).collect();
                    let cuts: Vec<u32> =
                        rows.iter().map(|row| row[0]).filter(|start| !starts.contains(start)).collect();
                    if let Some(changed) = hair.cut(&cuts) {
                        *hair = changed;
                    }
                }
                Body::Solid(_) | Body::Particles(_) => {}
            }
        }
        torn
    }

    /// Positions of body `body` in frame `frame` as they are for `torn`, the cloth of a later frame `now`:
    /// what was split off since is where it was split from.
    pub fn spread(&self, torn: &Description, body: usize, [frame, now]: [u32; 2], x: Vec<Vec3>) -> Vec<Vec3> {
        let Some(cloth) = torn.bodies[body].as_cloth() else { return x };
        let whole = cloth.torn.as_ref().map_or(&cloth.mesh.triangles, |torn| &torn.whole.triangles);
        let [before, after] = [frame, now].map(|f| self.triangles(body, f).unwrap_or(whole));
        match split::origins(before, after, x.len()) {
            Some(origins) => origins.iter().map(|&v| x[v as usize]).collect(),
            None => x,
        }
    }
}
