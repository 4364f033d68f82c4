//! Messages between page and server: JSON objects with a `type`, see PROTOCOL.md.

use serde::{Deserialize, Serialize};

/// Version of the protocol.
pub const VERSION: u32 = 1;

/// How strain is limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Limiter {
    /// No limits.
    Off,
    /// Limits on edge strains.
    Edge,
    /// Limits on principal strains.
    #[default]
    Isotropic,
}

/// Colouring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Colouring {
    /// One colour per body.
    #[default]
    None,
    /// The larger principal strain.
    Strain,
    /// Excess of strains past their limits.
    Residual,
    /// Direction, excess and difference of strains: the main paper's figure 14.
    Hsv,
}

/// Parameters that can be changed during the simulation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameters {
    /// How strain is limited.
    pub limiter: Limiter,
    /// Largest strain; `None`: no limit.
    pub stretch_max: Option<f32>,
    /// Smallest strain, a negative number; `None`: no limit.
    pub stretch_min: Option<f32>,
    /// Largest bend either way \[°/cm\]; `None`: no limit.
    pub bend_max: Option<f32>,
    /// Strain beyond which cloth tears; `None`: it does not.
    pub tear: Option<f32>,
    /// Name of the material of all cloth; `None`: as in the scene.
    pub material: Option<String>,
    /// Factor on the stiffness of all materials.
    pub stiffness: f32,
    /// Gravity, along the scene's direction or downwards \[m/s²\].
    pub gravity: f32,
    /// Wind \[m/s\].
    pub wind: [f32; 3],
    /// Time budget of limiting per frame \[ms\].
    pub budget_ms: f32,
    /// Simulated frames per second; 30 or 60 in a live scene.
    pub fps: f32,
    /// Colouring.
    pub colouring: Colouring,
    /// The strain or residual at full colour.
    pub colour_range: f32,
    /// Whether frames contain coarser levels.
    pub levels_shown: bool,
}

/// A request of a page.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Request {
    /// Take control.
    Drive,
    /// Run.
    Play,
    /// Pause.
    Pause,
    /// Advance by one frame.
    Step,
    /// Reset to the initial state.
    Reset,
    /// Seek to a frame of a finished run.
    Seek {
        /// Its number.
        frame: u32,
    },
    /// Open another scene.
    Scene {
        /// Name as in `/api/scenes`.
        name: String,
    },
    /// Set a parameter.
    Set {
        /// Its name.
        key: String,
        /// The value.
        value: serde_json::Value,
    },
    /// Grip a point of a body.
    Grab {
        /// The body.
        body: u32,
        /// The triangle, as the body's mesh has them.
        triangle: u32,
        /// Weights of its corners.
        weights: [f32; 3],
        /// Target of the point \[m\].
        point: [f32; 3],
        /// Whether the grip is hard.
        #[serde(default)]
        hard: bool,
        /// Id of the grip, chosen by the page.
        id: u32,
    },
    /// Move the target of a grip.
    Drag {
        /// The grip.
        id: u32,
        /// Target of the point \[m\].
        point: [f32; 3],
        /// Time of the pointer event, by the page's clock \[ms\].
        #[serde(default)]
        stamp: f64,
    },
    /// Release a grip.
    Release {
        /// The grip.
        id: u32,
    },
    /// Comb hair: a brush went on.
    Comb {
        /// Where it was \[m\].
        from: [f32; 3],
        /// Where it is \[m\].
        to: [f32; 3],
        /// Its radius \[m\].
        radius: f32,
    },
    /// Cut the strands that cross a triangle: of the eye and both ends of a stroke.
    Cut {
        /// The eye \[m\].
        eye: [f32; 3],
        /// A point far behind the start of the stroke \[m\].
        from: [f32; 3],
        /// The same of its end \[m\].
        to: [f32; 3],
    },
    /// Pin a vertex at its current position.
    Pin {
        /// The body.
        body: u32,
        /// The vertex, as the body's mesh has them.
        vertex: u32,
    },
    /// Unpin a vertex.
    Unpin {
        /// The body.
        body: u32,
        /// The vertex.
        vertex: u32,
    },
    /// Save the current scene to the scene folder.
    Save {
        /// Name of the file, with or without `.toml`.
        name: String,
    },
    /// Measure the round-trip time.
    Ping {
        /// Returned unchanged.
        stamp: f64,
    },
    /// Report whether the page renders in software, and so shares the CPU with the simulation.
    Draws {
        /// Whether it does.
        software: bool,
    },
    /// Acknowledge a drawn frame.
    Ack {
        /// Its number.
        #[serde(default)]
        frame: u32,
    },
}

impl Request {
    /// Whether every viewer may send it, not only the one in control.
    pub fn is_free(&self) -> bool {
        matches!(self, Self::Drive | Self::Ping { .. } | Self::Draws { .. } | Self::Ack { .. })
    }
}

/// A message of the server.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Answer<'a> {
    /// The first message.
    Hello {
        /// Version of the protocol.
        version: u32,
        /// Id of the viewer.
        viewer: u32,
        /// Whether it has control.
        driving: bool,
        /// `live` or `replay`.
        mode: &'a str,
        /// Number of viewers.
        viewers: usize,
    },
    /// All parameters.
    Parameters(&'a Parameters),
    /// Control and playback state.
    State {
        /// Whether it runs.
        playing: bool,
        /// Number of the frame.
        frame: u32,
        /// Whether this viewer has control.
        driving: bool,
        /// Number of viewers.
        viewers: usize,
    },
    /// A notice.
    Notice {
        /// Text.
        text: &'a str,
    },
    /// A refused request.
    Problem {
        /// The reason, and what is expected.
        text: &'a str,
    },
    /// The scene was saved.
    Saved {
        /// Path.
        path: &'a str,
    },
    /// The answer to a ping.
    Pong {
        /// As sent.
        stamp: f64,
    },
}

impl Answer<'_> {
    /// As JSON.
    pub fn to_text(&self) -> String {
        // Numbers and strings always serialise.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The current scene, followed by its meshes.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename = "scene")]
pub struct SceneMessage<'a> {
    /// Sequence number.
    pub epoch: u32,
    /// Its name.
    pub name: &'a str,
    /// Description.
    pub description: &'a str,
    /// Frames per second \[1/s\].
    pub fps: f32,
    /// Number of the last frame of a finished run.
    pub frames: Option<u32>,
    /// Cloths, then soft bodies.
    pub bodies: Vec<BodyMessage<'a>>,
    /// Obstacles.
    pub obstacles: Vec<ObstacleMessage<'a>>,
    /// Whether the first body is cloth, so that it may have coarser levels.
    pub has_levels: bool,
    /// Materials that cloth can be made of; none in a finished run, or without cloth.
    pub materials: Vec<&'static str>,
    /// Parameters.
    pub parameters: &'a Parameters,
    /// Whether it runs.
    pub playing: bool,
    /// Initial bounding box of all bodies \[m\].
    pub bounds: BoundsMessage,
    /// Lamps.
    pub lights: Vec<LightMessage>,
    /// Tolerance of limits (strain).
    pub tolerance: f32,
}

/// A body.
#[derive(Clone, Debug, Serialize)]
pub struct BodyMessage<'a> {
    /// Its name.
    pub name: &'a str,
    /// `cloth` or `solid`.
    pub kind: &'a str,
    /// `fem` or `edge`.
    pub model: &'a str,
    /// Number of displayed vertices.
    pub vertices: usize,
    /// Number of displayed triangles.
    pub triangles: usize,
    /// `#rrggbb`.
    pub color: String,
    /// Whether strain is limited.
    pub limited: bool,
}

/// An obstacle.
#[derive(Clone, Debug, Serialize)]
pub struct ObstacleMessage<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its shape.
    pub kind: &'a str,
    /// Number of displayed triangles.
    pub triangles: usize,
}

/// Corners of a box \[m\].
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BoundsMessage {
    /// Lowest.
    pub min: [f32; 3],
    /// Highest.
    pub max: [f32; 3],
}

/// A lamp.
#[derive(Clone, Debug, Serialize)]
pub struct LightMessage {
    /// Position \[m\].
    pub position: [f32; 3],
    /// `#rrggbb`.
    pub color: String,
    /// Relative brightness; 1 is a typical lamp.
    pub intensity: f32,
}

impl From<taut_io::scene::Light> for LightMessage {
    fn from(light: taut_io::scene::Light) -> Self {
        Self { position: light.position, color: light.color, intensity: light.intensity }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read() {
        let read = |text: &str| serde_json::from_str::<Request>(text);
        assert_eq!(read(r#"{"type":"play"}"#).unwrap(), Request::Play);
        let drag = read(r#"{"type":"drag","id":3,"point":[0,1,2.5],"stamp":17.5}"#).unwrap();
        assert_eq!(drag, Request::Drag { id: 3, point: [0.0, 1.0, 2.5], stamp: 17.5 });
        assert!(read(r#"{"type":"fly"}"#).unwrap_err().to_string().contains("expected one of"));
        assert!(read(r#"{"type":"seek","frame":-1}"#).is_err());
        assert!(read("[").is_err());
    }

    #[test]
    fn answers_are_objects_with_a_type() {
        let text = Answer::Problem { text: "\"quoted\"" }.to_text();
        assert_eq!(text, r#"{"type":"problem","text":"\"quoted\""}"#);
        let text = Answer::State { playing: true, frame: 7, driving: false, viewers: 2 }.to_text();
        assert_eq!(text, r#"{"type":"state","playing":true,"frame":7,"driving":false,"viewers":2}"#);
    }
}
