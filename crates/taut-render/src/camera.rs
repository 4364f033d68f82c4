//! The camera: given, or placed to frame the whole motion.

use std::str::FromStr;

use glam::Vec3;

/// A perspective camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Position \[m\].
    pub eye: Vec3,
    /// Point at the image centre \[m\].
    pub target: Vec3,
    /// Up direction.
    pub up: Vec3,
    /// Vertical field of view \[degrees\].
    pub field_of_view: f32,
}

/// Smallest and largest field of view \[degrees\].
const FIELDS: [f32; 2] = [1.0, 150.0];

/// Default field of view \[degrees\].
const FIELD: f32 = 32.0;

/// Orthonormal axes of a camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axes {
    /// To the right of the picture.
    pub right: Vec3,
    /// Up in the picture.
    pub up: Vec3,
    /// Into the picture.
    pub forward: Vec3,
}

impl Camera {
    /// A camera at `eye` that looks at `target`.
    ///
    /// # Errors
    /// The problem: a non-finite coordinate, coincident points, an invalid field of view.
    pub fn new(eye: Vec3, target: Vec3, up: Vec3, field_of_view: f32) -> Result<Self, String> {
        if !eye.is_finite() || !target.is_finite() {
            return Err("camera coordinates must be finite".into());
        }
        let distance = (target - eye).as_dvec3().length();
        let size = eye.abs().max(target.abs()).max_element();
        if distance <= 1e-6 * f64::from(size) || distance == 0.0 {
            return Err("eye and target of the camera must be apart".into());
        }
        if distance > 1e9 {
            return Err("the camera is more than a million kilometres from its target".into());
        }
        if !(FIELDS[0]..=FIELDS[1]).contains(&field_of_view) {
            let [least, most] = FIELDS;
            return Err(format!("the field of view is {field_of_view}, must be {least} to {most} degrees"));
        }
        Ok(Self { eye, target, up, field_of_view })
    }

    /// Its axes. If it looks straight up or down, any direction serves as up.
    pub fn axes(&self) -> Axes {
        let forward = (self.target - self.eye).normalize_or(-Vec3::Z);
        let mut right = forward.cross(self.up.normalize_or(Vec3::Y));
        if right.length() < 1e-4 {
            // From above, the back is up in the image.
            right = forward.cross(if self.up.z.abs() < 0.9 { -Vec3::Z } else { Vec3::Y });
        }
        let right = right.normalize_or(Vec3::X);
        Axes { right, up: right.cross(forward), forward }
    }

    /// The camera that frames all of `extent` from a `view`, with the aspect ratio `aspect`. `up` is a unit
    /// vector.
    pub fn framing(extent: &Extent, view: View, up: Vec3, aspect: f32) -> Self {
        let [azimuth, elevation] = view.angles();
        let side = if up.z.abs() < 0.9 { Vec3::Z } else { Vec3::X };
        let front = (side - up * side.dot(up)).normalize();
        let across = up.cross(front);
        let (s, c) = azimuth.to_radians().sin_cos();
        let (es, ec) = elevation.to_radians().sin_cos();
        let toward = ec * (c * front + s * across) + es * up;
        let up = if es.abs() > 0.999 { -front } else { up };
        let mut camera = Self { eye: toward, target: Vec3::ZERO, up, field_of_view: FIELD };
        camera.fit(extent, aspect);
        camera
    }

    /// Translates it so that `extent` fills the image up to a margin.
    fn fit(&mut self, extent: &Extent, aspect: f32) {
        let Axes { right, up, forward } = self.axes();
        let center = extent.center();
        let tangent = (0.5 * self.field_of_view).to_radians().tan() * 0.86;
        // Every point requires a minimum distance of the eye, along the image's four borders.
        let reach = |axis: Vec3, tangent: f32| {
            let of = |sign: f32| {
                let points = extent.points().map(|p| p - center);
                points
                    .map(|p| sign * p.dot(axis) - tangent * p.dot(forward))
                    .fold(f32::NEG_INFINITY, f32::max)
            };
            let [a, b] = [of(1.0), of(-1.0)];
            (0.5 * (a - b), -(a + b) / (2.0 * tangent))
        };
        let (x, x_depth) = reach(right, tangent * aspect);
        let (y, y_depth) = reach(up, tangent);
        let nearest = extent.points().map(|p| (p - center).dot(forward)).fold(f32::INFINITY, f32::min);
        let depth = x_depth.min(y_depth).min(nearest - 0.05 * extent.radius());
        self.eye = center + right * x + up * y + forward * depth;
        self.target = self.eye - forward * depth;
    }

    /// The same camera with its field of view reduced by the factor `zoom`.
    ///
    /// # Errors
    /// If the field of view is out of range, with the range of `zoom`.
    pub fn zoomed(self, zoom: f32) -> Result<Self, String> {
        let tangent = |degrees: f32| (0.5 * degrees).to_radians().tan();
        let own = tangent(self.field_of_view);
        let [most, least] = FIELDS.map(|field| own / tangent(field));
        // The request may be rounded: the bounds themselves must be accepted.
        if !(0.999 * least..=1.001 * most).contains(&zoom) {
            return Err(format!("zoom is {zoom}, must be {least:.2} to {most:.1} with this camera"));
        }
        let field = 2.0 * (own / zoom).atan().to_degrees();
        Ok(Self { field_of_view: field.clamp(FIELDS[0], FIELDS[1]), ..self })
    }

    /// Whether a triangle of a body may be visible with the aspect ratio `aspect`. Conservative: never false
    /// if one is.
    pub fn sees(&self, positions: &[Vec3], triangles: &[[u32; 3]], aspect: f32) -> bool {
        let Axes { right, up, forward } = self.axes();
        let ty = (0.5 * self.field_of_view).to_radians().tan();
        let tx = ty * aspect;
        // Outcode: one bit for each border of the view that a point is outside of.
        let outside = |v: u32| {
            let Some(&p) = positions.get(v as usize) else { return u8::MAX };
            let d = p - self.eye;
            let (x, y, z) = (d.dot(right), d.dot(up), d.dot(forward));
            u8::from(z <= 0.0)
                | u8::from(x > tx * z) << 1
                | u8::from(x < -tx * z) << 2
                | u8::from(y > ty * z) << 3
                | u8::from(y < -ty * z) << 4
        };
        triangles.iter().any(|t| t.map(outside).into_iter().fold(u8::MAX, |a, b| a & b) == 0)
    }

    /// In the syntax of `--camera`.
    pub fn to_words(&self) -> String {
        // A ten-thousandth of the distance is precise enough; small scenes have small distances.
        let distance = self.eye.distance(self.target).max(1e-9);
        let digits = 4 + (-distance.log10()).ceil().max(0.0) as usize;
        let [e, t] =
            [self.eye, self.target].map(|p| format!("{:.digits$},{:.digits$},{:.digits$}", p.x, p.y, p.z));
        format!("{e}/{t}/{:.4}", self.field_of_view)
    }

    /// Parses `EYE_X,EYE_Y,EYE_Z/TARGET_X,TARGET_Y,TARGET_Z` with an optional `/FIELD_OF_VIEW`.
    ///
    /// # Errors
    /// The problem, and what is expected.
    pub fn parse(words: &str, up: Vec3) -> Result<Self, String> {
        let form = "a camera is EYE_X,EYE_Y,EYE_Z/TARGET_X,TARGET_Y,TARGET_Z, optionally with /FIELD_OF_VIEW in degrees";
        let parts: Vec<&str> = words.split('/').collect();
        let (eye, target, field) = match parts[..] {
            [eye, target] => (eye, target, None),
            [eye, target, field] => (eye, target, Some(field)),
            _ => return Err(format!("{form}; number of parts of {words:?}: {}", parts.len())),
        };
        let point = |text: &str| -> Result<Vec3, String> {
            let numbers: Result<Vec<f32>, _> = text.split(',').map(|n| n.trim().parse::<f32>()).collect();
            match numbers.as_deref() {
                Ok(&[x, y, z]) => Ok(Vec3::new(x, y, z)),
                _ => Err(format!("{form}; {text:?} is not three numbers")),
            }
        };
        let number =
            |text: &str| text.trim().parse().map_err(|_| format!("{form}; {text:?} is not a number"));
        Self::new(point(eye)?, point(target)?, up, field.map_or(Ok(FIELD), number)?)
    }
}

/// View direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// From z, a little from above.
    Front,
    /// From x, a little from above.
    Side,
    /// From above.
    Top,
    /// From between front and side, from above.
    #[default]
    ThreeQuarter,
}

impl View {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Front => "front",
            Self::Side => "side",
            Self::Top => "top",
            Self::ThreeQuarter => "three-quarter",
        }
    }

    /// Angle from the front, and above the horizon \[degrees\].
    fn angles(self) -> [f32; 2] {
        match self {
            Self::Front => [0.0, 8.0],
            Self::Side => [90.0, 8.0],
            Self::Top => [0.0, 90.0],
            Self::ThreeQuarter => [32.0, 20.0],
        }
    }
}

impl FromStr for View {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "front" => Ok(Self::Front),
            "side" => Ok(Self::Side),
            "top" => Ok(Self::Top),
            "three-quarter" => Ok(Self::ThreeQuarter),
            _ => Err("views are front, side, top and three-quarter".into()),
        }
    }
}

/// Approximate convex hull of all added points: the extreme points in many directions.
#[derive(Clone, Debug)]
pub struct Extent {
    directions: Vec<Vec3>,
    furthest: Vec<(f32, Vec3)>,
}

impl Default for Extent {
    fn default() -> Self {
        let mut directions = Vec::new();
        for x in -2i8..=2 {
            for y in -2i8..=2 {
                for z in -2i8..=2 {
                    let d = [x, y, z].map(f32::from);
                    // The surface of a cube of 5×5×5 points: 98 directions.
                    if [x, y, z].iter().any(|c| c.abs() == 2) {
                        directions.push(Vec3::from(d).normalize());
                    }
                }
            }
        }
        let furthest = vec![(f32::NEG_INFINITY, Vec3::ZERO); directions.len()];
        Self { directions, furthest }
    }
}

impl Extent {
    /// Adds points; non-finite ones are skipped.
    pub fn add(&mut self, points: impl IntoIterator<Item = Vec3>) {
        for p in points {
            if !p.is_finite() {
                continue;
            }
            for (&direction, furthest) in self.directions.iter().zip(&mut self.furthest) {
                let reach = p.dot(direction);
                if reach > furthest.0 {
                    *furthest = (reach, p);
                }
            }
        }
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.furthest[0].0 == f32::NEG_INFINITY
    }

    /// The extreme points.
    pub fn points(&self) -> impl Iterator<Item = Vec3> {
        let empty = self.is_empty();
        self.furthest.iter().map(move |&(_, p)| if empty { Vec3::ZERO } else { p })
    }

    /// Lowest and highest coordinates.
    pub fn bounds(&self) -> [Vec3; 2] {
        let first = self.points().next().unwrap_or_default();
        self.points().fold([first; 2], |[low, high], p| [low.min(p), high.max(p)])
    }

    /// Centre of the bounds \[m\].
    pub fn center(&self) -> Vec3 {
        let [low, high] = self.bounds();
        0.5 * (low + high)
    }

    /// Distance from the centre to the furthest point \[m\].
    pub fn radius(&self) -> f32 {
        let center = self.center();
        self.points().map(|p| p.distance(center)).fold(1e-6, f32::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube() -> Vec<Vec3> {
        (0..8).map(|k| Vec3::new((k & 1) as f32, 2.0 * (k >> 1 & 1) as f32, 3.0 * (k >> 2) as f32)).collect()
    }

    #[test]
    fn a_framing_camera_has_all_points_in_the_picture_and_wastes_little() {
        for view in [View::Front, View::Side, View::Top, View::ThreeQuarter] {
            for aspect in [0.5, 1.0, 16.0 / 9.0] {
                let mut extent = Extent::default();
                extent.add(cube());
                let camera = Camera::framing(&extent, view, Vec3::Y, aspect);
                let Axes { right, up, forward } = camera.axes();
                let tangent = (0.5 * camera.field_of_view).to_radians().tan();
                let mut most = 0f32;
                for p in cube() {
                    let d = p - camera.eye;
                    let z = d.dot(forward);
                    assert!(z > 0.0);
                    let at =
                        (d.dot(right) / (z * tangent * aspect)).abs().max((d.dot(up) / (z * tangent)).abs());
                    most = most.max(at);
                }
                assert!((0.8..0.95).contains(&most), "{view:?} {aspect}: {most}");
            }
        }
    }

    #[test]
    fn cameras_are_read_and_written() {
        let camera = Camera::parse("1,2,3/-1,0.5,0/40", Vec3::Y).unwrap();
        assert_eq!((camera.eye, camera.target), (Vec3::new(1.0, 2.0, 3.0), Vec3::new(-1.0, 0.5, 0.0)));
        assert_eq!(Camera::parse(&camera.to_words(), Vec3::Y).unwrap(), camera);
        assert_eq!(Camera::parse("1,2,3/0,0,0", Vec3::Y).unwrap().field_of_view, FIELD);
    }

    #[test]
    fn cameras_of_small_scenes_are_told_with_enough_digits() {
        let camera = Camera::new(Vec3::new(0.000_12, 0.0, 0.000_3), Vec3::ZERO, Vec3::Y, 40.0).unwrap();
        let again = Camera::parse(&camera.to_words(), Vec3::Y).unwrap();
        assert!(again.eye.distance(camera.eye) < 1e-3 * camera.eye.length(), "{}", camera.to_words());
    }

    #[test]
    fn lenses_have_limits() {
        let camera = Camera::parse("1,2,3/0,0,0/40", Vec3::Y).unwrap();
        assert!((camera.zoomed(2.0).unwrap().field_of_view - 20.6).abs() < 0.1);
        for zoom in [1e9, 1e38, 1e-9, 60.0, 0.05] {
            let error = camera.zoomed(zoom).unwrap_err();
            assert!(error.contains("0.10 to 41.7"), "{zoom}: {error}");
        }
    }

    #[test]
    fn cameras_that_cannot_be_are_refused() {
        for (words, says) in [
            ("1,2,3", "parts"),
            ("1,2/0,0,0", "three numbers"),
            ("1,2,x/0,0,0", "three numbers"),
            ("nan,2,3/0,0,0", "finite"),
            ("1,2,3/inf,0,0", "finite"),
            ("1,2,3/1,2,3", "apart"),
            ("1,2,3/0,0,0/0", "field of view"),
            ("1,2,3/0,0,0/180", "field of view"),
            ("1,2,3/0,0,0/NaN", "field of view"),
            ("1,2,3/0,0,0/wide", "not a number"),
            ("0,0,2e9/0,0,0", "kilometres"),
        ] {
            let error = Camera::parse(words, Vec3::Y).unwrap_err();
            assert!(error.contains(says), "{words}: {error}");
        }
    }

    #[test]
    fn a_camera_sees_what_is_in_front_of_it() {
        let triangle = [[0, 1, 2]];
        let points = [Vec3::new(-1.0, -1.0, 0.0), Vec3::new(1.0, -1.0, 0.0), Vec3::Y];
        let sees = |words: &str| Camera::parse(words, Vec3::Y).unwrap().sees(&points, &triangle, 1.0);
        assert!(sees("0,0,5/0,0,0"));
        assert!(sees("0,0,0.1/0,0,0"), "no corner is in the picture, but the triangle is");
        assert!(!sees("0,0,5/0,0,9"), "behind");
        assert!(!sees("0,0,5/5,0,0"), "beside");
    }

    #[test]
    fn looking_straight_down_has_axes() {
        let axes = Camera::new(Vec3::Y, Vec3::ZERO, Vec3::Y, 40.0).unwrap().axes();
        assert!((axes.right.cross(axes.forward) - axes.up).length() < 1e-6 && axes.right.length() > 0.999);
    }
}
