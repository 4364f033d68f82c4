//! Pictures of runs.

use std::path::PathBuf;

use numpy::{IntoPyArray, PyArray3, ndarray::Array3};
use pyo3::prelude::*;
use taut_io::recording::Recording;
use taut_render::{
    Camera, Picture, Renderer,
    camera::View,
    encode::{self, Clip},
    film::{self, Film, FilmError, Options, Placement},
};

use crate::errors;

/// What can be chosen of a picture.
struct Wanted {
    size: [usize; 2],
    color: String,
    view: Option<String>,
    camera: Option<String>,
    zoom: f32,
    caption: Option<String>,
}

impl Wanted {
    fn options(&self, recording: &Recording) -> Result<Options, String> {
        let largest = taut_render::render::LARGEST;
        if !self.size.iter().all(|n| (1..=largest).contains(n)) {
            return Err(format!(
                "size is {:?}; must be a width and a height of 1 to {largest} pixels",
                self.size
            ));
        }
        let placement = match (&self.camera, &self.view) {
            (Some(words), _) => {
                Placement::Given(Camera::parse(words, film::up(recording))?.zoomed(self.zoom)?)
            }
            (None, Some(view)) => Placement::Framing(view.parse()?, self.zoom),
            (None, None) => Placement::Framing(View::ThreeQuarter, self.zoom),
        };
        let coloring = self.color.parse()?;
        let caption = self.caption.clone();
        Ok(Options { size: self.size, coloring, placement, caption, ..Options::default() })
    }
}

/// Draws a frame of a run as a (height, width, 3) array, or frames into a file.
#[pyfunction]
#[pyo3(signature = (out, to = None, *, frame = None, size = [960, 540], color = "fabric", view = None, camera = None,
    zoom = 1.0, caption = None, fps = None))]
#[allow(clippy::too_many_arguments)]
pub fn render<'py>(
    py: Python<'py>,
    out: PathBuf,
    to: Option<PathBuf>,
    frame: Option<u32>,
    size: [usize; 2],
    color: &str,
    view: Option<String>,
    camera: Option<String>,
    zoom: f32,
    caption: Option<String>,
    fps: Option<f32>,
) -> PyResult<Option<Bound<'py, PyArray3<u8>>>> {
    let wrong = |message: String| errors::raise(py, "ParameterError", message);
    let recording = py.detach(|| Recording::open(&out)).map_err(|found| errors::problems(py, &found))?;
    let wanted = Wanted { size, color: color.into(), view, camera, zoom, caption };
    let options = wanted.options(&recording).map_err(wrong)?;
    let extension = to.as_ref().map(|to| to.extension().unwrap_or_default().to_string_lossy().to_lowercase());
    let is_clip = match extension.as_deref() {
        None | Some("png") => false,
        Some("mp4" | "gif" | "apng") => true,
        Some(_) => {
            let path = to.as_deref().unwrap_or(&out).display();
            return Err(wrong(format!("{path}: must end in .png, .gif, .apng or .mp4")));
        }
    };
    let last = recording.last_frame();
    let frames = match (frame, is_clip) {
        (None, true) => 0..=last,
        (None, false) => last..=last,
        (Some(frame), _) => {
            recording.frames(Some(frame), Some(frame)).map_err(|found| errors::problem(py, found))?
        }
    };
    let film = py.detach(|| Film::new(&recording, frames.clone(), options)).map_err(|error| match error {
        FilmError::Frame(found) => errors::problem(py, found),
        FilmError::Refused { message, .. } => wrong(message),
    })?;
    let mut renderer = Renderer::new(0).map_err(|error| wrong(error.to_string()))?;
    let mut picture = Picture::new(size[0], size[1], [255; 4]);
    let failed = |error: encode::EncodeError| errors::raise(py, "RunFolderError", error.to_string());
    let fps = fps.unwrap_or(recording.frame_rate());
    let mut clip = match (&to, is_clip) {
        (Some(path), true) => Some(Clip::create(path, size[0], size[1], fps).map_err(failed)?),
        _ => None,
    };
    for frame in frames {
        py.check_signals()?;
        let drawn = py.detach(|| film.draw(&mut renderer, frame, &mut picture));
        drawn.map_err(|found| errors::problem(py, found))?;
        if let Some(clip) = &mut clip {
            py.detach(|| clip.add(&picture)).map_err(failed)?;
        }
    }
    if let Some(clip) = clip {
        clip.finish().map_err(failed)?;
        return Ok(None);
    }
    if let Some(path) = to {
        let written = taut_io::output::atomic::write(&path, &encode::png(&picture));
        return written.map(|()| None).map_err(|error| errors::output(py, &error));
    }
    let [width, height] = size;
    let flat: Vec<u8> = picture.pixels().iter().flat_map(|[r, g, b, _]| [*r, *g, *b]).collect();
    let array = Array3::from_shape_vec((height, width, 3), flat).map_err(|error| wrong(error.to_string()))?;
    Ok(Some(array.into_pyarray(py)))
}
