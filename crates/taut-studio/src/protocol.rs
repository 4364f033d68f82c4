//! What page and server say to each other: texts are JSON objects with a `type`, see PROTOCOL.md.

use serde::{Deserialize, Serialize};

/// Version of the protocol.
pub const VERSION: u32 = 1;

/// How strain is limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Limiter {
    /// Not at all.
    Off,
    /// The strain of edges.
    Edge,
    /// Principal strains.
    #[default]
    Isotropic,
}

/// What colours show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Colouring {
    /// One colour a body.
    #[default]
    None,
    /// The larger principal strain.
    Strain,
    /// How far strains are past their limits.
    Residual,
    /// Direction, excess and difference of strains: the main paper's figure 14.
    Hsv,
}

/// What can be changed while it runs.
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
    /// Factor on the stiffness of all materials.
    pub stiffness: f32,
    /// Gravity, along the scene's direction or downwards \[m/s²\].
    pub gravity: f32,
    /// Wind \[m/s\].
    pub wind: [f32; 3],
    /// Time that limiting may take of a frame \[ms\].
    pub budget_ms: f32,
    /// Simulated frames a second; 30 or 60 in a live scene.
    pub fps: f32,
    /// What colours show.
    pub colouring: Colouring,
    /// The strain or residual at full colour.
    pub colour_range: f32,
    /// Whether coarser levels are in the frames.
    pub levels_shown: bool,
}

/// What a page asks for.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Request {
    /// To drive.
    Drive,
    /// To run.
    Play,
    /// To stop.
    Pause,
    /// One frame.
    Step,
    /// Back to the start.
    Reset,
    /// Another frame of a finished run.
    Seek {
        /// Its number.
        frame: u32,
    },
    /// Another scene.
    Scene {
        /// As `/api/scenes` has it.
        name: String,
    },
    /// Another value of one of the parameters.
    Set {
        /// Its name.
        key: String,
        /// The value.
        value: serde_json::Value,
    },
    /// To take hold of a point of a body.
    Grab {
        /// The body.
        body: u32,
        /// The triangle, as the body's mesh has them.
        triangle: u32,
        /// Weights of its corners.
        weights: [f32; 3],
        /// Where the point is wanted \[m\].
        point: [f32; 3],
        /// Whether the grip is hard.
        #[serde(default)]
        hard: bool,
        /// What the page calls the grip.
        id: u32,
    },
    /// To pull it.
    Drag {
        /// The grip.
        id: u32,
        /// Where the point is wanted \[m\].
        point: [f32; 3],
        /// When the page saw the pointer there, by its own clock \[ms\].
        #[serde(default)]
        stamp: f64,
    },
    /// To let go.
    Release {
        /// The grip.
        id: u32,
    },
    /// To hold a vertex where it is.
    Pin {
        /// The body.
        body: u32,
        /// The vertex, as the body's mesh has them.
        vertex: u32,
    },
    /// To let it go.
    Unpin {
        /// The body.
        body: u32,
        /// The vertex.
        vertex: u32,
    },
    /// To write the scene as it is now into the scene folder.
    Save {
        /// Name of the file, with or without `.toml`.
        name: String,
    },
    /// To hear how long an answer takes.
    Ping {
        /// Comes back as it is.
        stamp: f64,
    },
    /// To be told to the simulation: whether the page draws on the processor, which it shares with the
    /// simulation then.
    Draws {
        /// Whether it does.
        software: bool,
    },
    /// A frame has been drawn.
    Ack {
        /// Its number.
        #[serde(default)]
        frame: u32,
    },
}

impl Request {
    /// Whether everybody may ask for it, not the driver alone.
    pub fn is_free(&self) -> bool {
        matches!(self, Self::Drive | Self::Ping { .. } | Self::Draws { .. } | Self::Ack { .. })
    }
}

/// What the server says.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Answer<'a> {
    /// The first words.
    Hello {
        /// Of the protocol.
        version: u32,
        /// Number of the viewer.
        viewer: u32,
        /// Whether it drives.
        driving: bool,
        /// `live` or `replay`.
        mode: &'a str,
        /// Number of viewers.
        viewers: usize,
    },
    /// All parameters.
    Parameters(&'a Parameters),
    /// Who drives, and whether it runs.
    State {
        /// Whether it runs.
        playing: bool,
        /// Number of the frame.
        frame: u32,
        /// Whether this viewer drives.
        driving: bool,
        /// Number of viewers.
        viewers: usize,
    },
    /// Something worth knowing.
    Notice {
        /// In words.
        text: &'a str,
    },
    /// Something was refused.
    Problem {
        /// Why, and what would be right.
        text: &'a str,
    },
    /// The scene was written.
    Saved {
        /// Where.
        path: &'a str,
    },
    /// The answer to a ping.
    Pong {
        /// As it came.
        stamp: f64,
    },
}

impl Answer<'_> {
    /// As JSON.
    pub fn to_text(&self) -> String {
        // Numbers and texts: there is nothing that could not be written.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The scene that is shown, followed by the meshes that it names.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename = "scene")]
pub struct SceneMessage<'a> {
    /// Counts scenes.
    pub epoch: u32,
    /// Its name.
    pub name: &'a str,
    /// What it shows.
    pub description: &'a str,
    /// Frames a second \[1/s\].
    pub fps: f32,
    /// Number of the last frame of a finished run.
    pub frames: Option<u32>,
    /// Cloth, then soft solids.
    pub bodies: Vec<BodyMessage<'a>>,
    /// Obstacles.
    pub obstacles: Vec<ObstacleMessage<'a>>,
    /// Coarser levels of the first cloth.
    pub levels: Vec<LevelMessage>,
    /// What can be changed.
    pub parameters: &'a Parameters,
    /// Whether it runs.
    pub playing: bool,
    /// Around all bodies at the start \[m\].
    pub bounds: BoundsMessage,
    /// Lamps.
    pub lights: Vec<LightMessage>,
    /// How far past a limit a step may end (strain).
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
    /// Number of vertices of what is shown.
    pub vertices: usize,
    /// Number of triangles of what is shown.
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
    /// Number of triangles of what is shown.
    pub triangles: usize,
}

/// A coarser level.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LevelMessage {
    /// Its number; 1 is the finest.
    pub level: usize,
    /// Number of vertices.
    pub vertices: usize,
    /// Number of triangles.
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
    /// Where it is \[m\].
    pub position: [f32; 3],
    /// `#rrggbb`.
    pub color: String,
    /// 1 is a usual lamp.
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
