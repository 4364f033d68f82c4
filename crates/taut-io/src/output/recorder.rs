//! Writes a run to its folder, frame by frame.
//!
//! [`Recorder::create`] starts a folder, [`resume`](super::resume) reopens one; then record every frame in
//! order, and finish with an outcome.

use std::{
    fs,
    path::{Path, PathBuf},
};

use taut::{Body, FrameReport, Ruler, State, World, measure::Certifier};

use super::{
    OutputError, atomic,
    checkpoint::{self, Store},
    folder::{Manifest, RunFolder, is_inside, write_json},
    layout::{self, Layout},
    metrics::{FrameLine, MetricsWriter},
    npy,
    outcome::{BodySize, Outcome, Tally},
    tears,
};
use crate::{export, mesh, recording::ShownLines, scene::LoadedScene};

/// A run folder that is being written.
#[derive(Debug)]
pub struct Recorder {
    pub(super) folder: RunFolder,
    pub(super) metrics: MetricsWriter,
    pub(super) checkpoints: Store,
    pub(super) tally: Tally,
    pub(super) frame_rate: f32,
    pub(super) certifier: Certifier,
    /// Threads that frames are measured with.
    pub(super) threads: usize,
    /// By body: vertices and strands in the frame before. What has more has torn.
    pub(super) counts: Vec<[usize; 2]>,
}

impl Recorder {
    /// Starts the folder `root` of a run of `scene`, whose engine is `world`: scene, inputs and rest meshes
    /// are written when this returns. `identity` is the text that identifies the scene (see
    /// [`identity`](super::resume::identity)). Frames are measured with `threads` threads (0: one per core).
    ///
    /// # Errors
    /// If the folder may not be used ([`RunFolder::create`]), an input can no longer be read, or a write
    /// fails.
    pub fn create(
        root: &Path,
        force: bool,
        scene: &LoadedScene,
        identity: &str,
        world: &World,
        threads: usize,
    ) -> Result<Self, OutputError> {
        let bodies = || world.description().bodies.iter().map(Body::name);
        layout::check_names(bodies()).map_err(|problems| {
            OutputError::refused(root, problems.to_string(), "rename the bodies in the scene")
        })?;
        let inputs = Inputs::read(scene, root)?;
        let manifest = Manifest {
            taut: env!("CARGO_PKG_VERSION").into(),
            scene: scene.name.clone(),
            bodies: bodies().map(str::to_owned).collect(),
            inputs: inputs.files.iter().map(|(name, _)| name.clone()).collect(),
        };
        let folder = RunFolder::create(root, force, &manifest)?;
        let files = folder.layout();
        for (name, bytes) in &inputs.files {
            let path = files.inputs().join(name);
            let parent = path.parent().unwrap_or(root);
            fs::create_dir_all(parent).map_err(OutputError::io("create", parent))?;
            atomic::write(&path, bytes)?;
        }
        // After its inputs, so that an existing scene can always be run.
        atomic::write(&files.scene(), inputs.scene.to_toml().as_bytes())?;
        atomic::sync_folder(root)?;
        Self::begin(folder, scene, identity, world, threads)
    }

    /// Starts at frame 0 in a folder that has its scene.
    pub(super) fn begin(
        folder: RunFolder,
        scene: &LoadedScene,
        identity: &str,
        world: &World,
        threads: usize,
    ) -> Result<Self, OutputError> {
        let files = folder.layout();
        for body in world.description().bodies.iter() {
            for (path, bytes) in rest_files(files, body) {
                atomic::write(&path, &bytes)?;
            }
        }
        checkpoint::clear(&files.checkpoint())?;
        Ok(Self {
            metrics: MetricsWriter::open(files.metrics(), 0)?,
            checkpoints: Store::new(files.checkpoint(), checkpoint::hash(identity)),
            tally: Tally::default(),
            frame_rate: scene.frame_rate,
            certifier: certifier(world, threads, files.root())?,
            threads,
            counts: connection_counts(world),
            folder,
        })
    }

    /// Paths of its files.
    pub fn layout(&self) -> &Layout {
        self.folder.layout()
    }

    /// The figures over all frames so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Records the current frame of `state`, which took `frame_ms` \[ms\]; `report` is none for frame 0.
    /// Saves a checkpoint if the last one is a second old.
    ///
    /// # Errors
    /// A write error, for example a full disk. All earlier frames are complete.
    pub fn record(
        &mut self,
        world: &World,
        state: &State,
        report: Option<&FrameReport>,
        frame_ms: f64,
    ) -> Result<FrameLine, OutputError> {
        let frame = state.frame();
        self.record_tears(world, frame)?;
        for (index, body) in world.description().bodies.iter().enumerate() {
            let positions = state.positions(world, index);
            atomic::write(&self.layout().frame(body.name(), frame), &npy::encode(&positions))?;
        }
        let mut certificate = self.certifier.certify(world, state);
        self.tally.carry_tangle(&mut certificate);
        let line = FrameLine {
            frame,
            time: f64::from(frame) / f64::from(self.frame_rate),
            report: report.copied(),
            frame_ms,
            certificate,
        };
        self.metrics.append(&line)?;
        self.tally.add(&line);
        if self.checkpoints.is_due() {
            self.save_checkpoint(world, state)?;
        }
        Ok(line)
    }

    /// Writes the triangles of cloth that has torn, and the strands of hair, before their positions: what is
    /// there of a frame can be read.
    fn record_tears(&mut self, world: &World, frame: u32) -> Result<(), OutputError> {
        let counts = connection_counts(world);
        for (body, (now, before)) in world.description().bodies.iter().zip(counts.iter().zip(&self.counts)) {
            let layout = self.layout();
            let (path, rows) = match body {
                _ if now == before => continue,
                Body::Cloth(cloth) => (layout.faces(&cloth.name, frame), cloth.mesh.triangles.clone()),
                Body::Hair(hair) => {
                    let counts = &hair.groom.counts;
                    let rows = tears::strand_rows(counts, hair.whole.as_deref().unwrap_or(counts));
                    (layout.strands(&hair.name, frame), rows)
                }
                Body::Solid(_) | Body::Particles(_) => continue,
            };
            atomic::write(&path, &npy::encode_triangles(&rows))?;
        }
        if counts != self.counts {
            self.certifier = certifier(world, self.threads, self.layout().root())?;
            self.counts = counts;
        }
        Ok(())
    }

    /// Saves a checkpoint of `state` now, before the program ends.
    ///
    /// # Errors
    /// A write error.
    pub fn save_checkpoint(&mut self, world: &World, state: &State) -> Result<(), OutputError> {
        // After a power cut, a checkpoint must not refer to frames that were lost.
        atomic::sync_folder(&self.layout().frames())?;
        self.checkpoints.save(&state.snapshot(world))
    }

    /// Writes the outcome.
    ///
    /// # Errors
    /// A write error.
    pub fn finish(&self, outcome: &Outcome) -> Result<(), OutputError> {
        write_json(&self.layout().outcome(), outcome)?;
        atomic::sync_folder(self.layout().root())
    }
}

/// What changes with the connectivity of each body of `world`: its vertices, and strands of hair.
pub(super) fn connection_counts(world: &World) -> Vec<[usize; 2]> {
    let strands = |body: &Body| body.as_hair().map_or(0, |hair| hair.groom.counts.len());
    world.description().bodies.iter().map(|body| [body.rest_positions().len(), strands(body)]).collect()
}

/// Measures the frames of `world` that are written to `root`.
pub(super) fn certifier(world: &World, threads: usize, root: &Path) -> Result<Certifier, OutputError> {
    Certifier::new(world, threads)
        .map_err(|error| OutputError::io("measure", root)(std::io::Error::other(error)))
}

/// The files of the rest shape of a body, with their contents.
pub(super) fn rest_files(files: &Layout, body: &Body) -> Vec<(PathBuf, Vec<u8>)> {
    match body {
        Body::Cloth(cloth) => match &cloth.midpoints {
            Some(midpoints) => vec![
                (files.rest(&cloth.name), mesh::write_ply(&midpoints.shown)),
                (files.points(&cloth.name), mesh::write_ply(&cloth.element_mesh())),
            ],
            None => vec![(files.rest(&cloth.name), mesh::write_ply(&cloth.mesh))],
        },
        Body::Solid(solid) => vec![
            (files.rest_tetrahedra(&solid.name), export::tetrahedra_file(&solid.mesh)),
            (files.skin(&solid.name), mesh::write_ply(&solid.shown_surface())),
        ],
        Body::Particles(particles) => {
            let shown = ShownLines::new(&particles.mesh);
            let points = shown.points(&particles.mesh.positions);
            vec![(files.rest(&particles.name), mesh::write_strands(&points, &shown.counts))]
        }
        Body::Hair(hair) => {
            vec![(files.rest(&hair.name), mesh::write_strands(&hair.groom.positions, &hair.groom.counts))]
        }
    }
}

/// Sizes of the bodies of `world`.
pub fn body_sizes(ruler: &Ruler) -> Vec<BodySize> {
    let size = |body: &Body| BodySize {
        name: body.name().into(),
        vertices: body.rest_positions().len(),
        triangles: if let Body::Cloth(_) = body { body.element_count() } else { 0 },
        tetrahedra: if let Body::Solid(_) = body { body.element_count() } else { 0 },
        segments: if let Body::Particles(_) | Body::Hair(_) = body { body.element_count() } else { 0 },
    };
    ruler.description().bodies.iter().map(size).collect()
}

/// The input files of a scene, in memory because they may be in the folder that is about to be cleared.
struct Inputs {
    /// The scene, with its files in the run folder.
    scene: LoadedScene,
    /// Path below `inputs/` and contents.
    files: Vec<(String, Vec<u8>)>,
}

impl Inputs {
    fn read(scene: &LoadedScene, root: &Path) -> Result<Self, OutputError> {
        let moved = scene.with_inputs_in(root);
        let inside = Layout::new(root).inputs();
        let mut files = Vec::new();
        for ((_, from), (_, to)) in scene.inputs().into_iter().zip(moved.inputs()) {
            let name = to.strip_prefix(&inside).ok().and_then(Path::to_str).map(str::to_owned);
            let name = name.filter(|name| is_inside(name));
            let name = name.ok_or_else(|| {
                let hint = "rename the file";
                OutputError::refused(&from, format!("cannot be copied into {}", inside.display()), hint)
            })?;
            if files.iter().any(|(other, _)| *other == name) {
                continue;
            }
            files.push((name, fs::read(&from).map_err(OutputError::io("read", from))?));
        }
        Ok(Self { scene: moved, files })
    }
}
