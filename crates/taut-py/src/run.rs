//! Runs: frames into a folder, one at a time, so that Python shows progress and is interrupted between them.

use std::{
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use pyo3::{prelude::*, types::PyAny};
use taut::{Description, World, low_level::Threads};
use taut_io::{
    Problem, Problems,
    cache::{
        self,
        fit::{Cache, fit_scene},
    },
    export::{self as exports, Format},
    output::{
        resume,
        session::{End, Session, SessionError, Start},
        verify as verification,
    },
    recording::Recording,
    scene::LoadedScene,
};

use crate::{convert::to_python, errors, scene::Scene};

/// A run that is being written.
#[pyclass(frozen, module = "taut")]
pub struct Run {
    session: Mutex<Session>,
    warnings: Vec<String>,
}

impl Run {
    fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Run {
    /// Begins a run, and writes frame 0.
    #[staticmethod]
    #[pyo3(signature = (scene, out, force = false, threads = 0))]
    fn create(py: Python<'_>, scene: &Scene, out: PathBuf, force: bool, threads: usize) -> PyResult<Self> {
        let loaded = scene.loaded.clone();
        let made = py.detach(|| -> Result<Self, SessionError> {
            let (world, mut warnings) = world(&loaded, threads)?;
            warnings.extend(loaded.warnings().iter().map(ToString::to_string).chain(world.warnings()));
            let start = Start { root: &out, force, threads };
            let session = Session::create(start, loaded, world)?;
            Ok(Self { session: Mutex::new(session), warnings })
        });
        made.map_err(|error| errors::session(py, &error))
    }

    /// Goes on with a run that was stopped, which must be one of `scene`, if that is given.
    #[staticmethod]
    #[pyo3(signature = (out, scene = None, frames = None, threads = 0))]
    fn resume(
        py: Python<'_>,
        out: PathBuf,
        scene: Option<&Scene>,
        frames: Option<i64>,
        threads: usize,
    ) -> PyResult<Self> {
        let given = scene.map(|scene| scene.loaded.clone());
        let made = py.detach(|| -> Result<Self, SessionError> {
            if let Some(given) = &given
                && let Some(difference) = resume::difference(given, &out)?
            {
                let message = format!("{} contains a run of a different scene: {difference}", out.display());
                return Err(Problems::from(Problem { message, ..Problem::default() }).into());
            }
            let loaded = Session::stored_scene(&out, frames)?;
            let (world, mut warnings) = world(&loaded, threads)?;
            let (session, more) = Session::resume(&out, loaded, world, threads)?;
            warnings.extend(more);
            Ok(Self { session: Mutex::new(session), warnings })
        });
        made.map_err(|error| errors::session(py, &error))
    }

    /// What its user should be told.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// Its folder.
    #[getter]
    fn out(&self) -> PathBuf {
        self.session().root().to_path_buf()
    }

    /// The frame that was written last.
    #[getter]
    fn frame(&self) -> u32 {
        self.session().simulation().frame()
    }

    /// How many frames it will have.
    #[getter]
    fn frames(&self) -> u32 {
        self.session().scene().frames
    }

    /// Simulates and writes the next frame; `None` if there is none.
    fn advance<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let line = py.detach(|| {
            let mut session = self.session();
            session.has_next().then(|| session.advance())
        });
        match line {
            None => Ok(None),
            Some(Ok(line)) => to_python(py, &line).map(Some),
            Some(Err(error)) => Err(errors::output(py, &error)),
        }
    }

    /// Writes a checkpoint and the outcome, which it gives.
    fn finish<'py>(&self, py: Python<'py>, interrupted: bool) -> PyResult<Bound<'py, PyAny>> {
        let ended = py.detach(|| {
            let mut session = self.session();
            session.save()?;
            let end = if interrupted || session.has_next() { End::Interrupted } else { End::Complete };
            let outcome = session.outcome(&end);
            session.finish(&outcome).map(|()| outcome)
        });
        to_python(py, &ended.map_err(|error| errors::output(py, &error))?)
    }
}

/// The engine of a scene, with fitted limits of levels where its scheme uses them; and warnings.
fn world(scene: &LoadedScene, threads: usize) -> Result<(World, Vec<String>), SessionError> {
    let mut description: Description = scene.build()?;
    let mut warnings = Vec::new();
    if scene.fits_levels() {
        let folder = cache::folder();
        let cache = Cache { folder: folder.as_deref(), force: false };
        let threads = Threads::new(threads).map_err(taut::SimulationError::from)?;
        let fits = fit_scene(&mut description, scene.fit_method(), cache, &threads, &|_| {});
        warnings.extend(fits.into_iter().flat_map(|fit| fit.warnings));
    }
    let world = World::new(description).map_err(taut::SimulationError::from)?;
    Ok((world, warnings))
}

/// Measures all frames of a run again, from its files alone.
#[pyfunction]
#[pyo3(signature = (out, threads = 0))]
pub fn verify(py: Python<'_>, out: PathBuf, threads: usize) -> PyResult<Bound<'_, PyAny>> {
    let found = py.detach(|| verification::verify(&out, threads));
    to_python(py, &found.map_err(|problems| errors::problems(py, &problems))?)
}

/// Exports frames of a run; gives the path.
#[pyfunction]
#[pyo3(signature = (out, format, to = None, frames = None, force = false))]
pub fn export(
    py: Python<'_>,
    out: PathBuf,
    format: &str,
    to: Option<PathBuf>,
    frames: Option<(u32, u32)>,
    force: bool,
) -> PyResult<PathBuf> {
    let Some(known) = Format::of_name(format) else {
        let names: Vec<&str> = Format::ALL.into_iter().map(Format::name).collect();
        let message = format!("format is {format:?}; must be one of {}", names.join(", "));
        return Err(errors::raise(py, "ParameterError", message));
    };
    let recording = py.detach(|| Recording::open(&out)).map_err(|found| errors::problems(py, &found))?;
    let (from, last) = (frames.map(|f| f.0), frames.map(|f| f.1));
    let frames = recording.frames(from, last).map_err(|found| errors::problem(py, found))?;
    let path = to.unwrap_or_else(|| known.default_path(&recording));
    let done = py.detach(|| exports::export(&recording, known, &path, frames, force, &()));
    done.map(|()| path).map_err(|error| errors::export(py, error))
}
