//! Torn cloth in a run folder: triangles from the frame on in which they change (`NAME.0012.faces.npy`).
//!
//! Triangles keep their number and the order of their corners, so that these files and the scene tell all of
//! the torn cloth: [`taut::Cloth::torn`].

use std::{collections::BTreeMap, ops::Range};

use glam::Vec3;
use taut::{Body, Description, mesh::split};

use super::{layout::Layout, npy};
use crate::Problem;

/// Changes of connectivity of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Tears {
    /// By body: the triangles from a frame on.
    changes: Vec<BTreeMap<u32, Vec<[u32; 3]>>>,
}

impl Tears {
    /// Reads all changes up to frame `last` of the bodies of `whole`.
    ///
    /// # Errors
    /// A file that is damaged, or does not fit the cloth.
    pub fn read(files: &Layout, whole: &Description, last: u32) -> Result<Self, Problem> {
        let mut changes = vec![BTreeMap::new(); whole.bodies.len()];
        let Ok(entries) = std::fs::read_dir(files.frames()) else { return Ok(Self { changes }) };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some((body, frame)) = name.to_str().and_then(Layout::parse_faces) else { continue };
            let index = whole.bodies.iter().position(|own| own.name() == body);
            let Some(index) = index.filter(|_| frame <= last) else { continue };
            let path = files.faces(body, frame);
            let triangles = npy::read_triangles(&path)?;
            let fits = whole.bodies[index].as_cloth().is_some_and(|cloth| cloth.torn(&triangles).is_some());
            if !fits {
                let message = format!("does not contain the triangles of the torn \"{body}\"");
                return Err(Problem { file: Some(path), message, ..Problem::default() });
            }
            changes[index].insert(frame, triangles);
        }
        Ok(Self { changes })
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

    /// Triangles of body `body` in frame `frame`, if they are not those of the whole.
    pub fn triangles(&self, body: usize, frame: u32) -> Option<&[[u32; 3]]> {
        self.changes.get(body)?.range(..=frame).next_back().map(|(_, triangles)| &triangles[..])
    }

    /// `whole` as it is in frame `frame`.
    pub fn at(&self, whole: &Description, frame: u32) -> Description {
        let mut torn = whole.clone();
        for (index, body) in torn.bodies.iter_mut().enumerate() {
            if let (Body::Cloth(cloth), Some(triangles)) = (&mut *body, self.triangles(index, frame))
                && let Some(changed) = cloth.torn(triangles)
            {
                *cloth = changed;
            }
        }
        torn
    }

    /// Positions of body `body` in frame `frame` as they are for `torn`, the cloth of a later frame `now`: what
    /// was split off since is where it was split from.
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
