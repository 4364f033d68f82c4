//! Mesh obstacles: of any shape, open or closed, at rest, moved by keyframes, or deforming from frame to
//! frame as an animated character does.
//!
//! Both sides of a face collide with cloth. The vertices of all mesh obstacles are in the engine's arrays,
//! after those of cloth ([`World::place_fixtures`]); their contacts are in [`contact`](crate::contact).

use glam::Vec3;

use super::motion::Motion;
use crate::{Ruler, kernel::lanes::Quad};

/// Maximum distance of anything from the origin \[m\].
const MAX_DISTANCE: f32 = 1e6;

/// Vertex positions of a mesh, by frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeshFrames {
    /// Positions in each frame \[m\], all with the same number of vertices; at least one frame.
    pub positions: Vec<Vec<Vec3>>,
    /// Time of each frame \[s\], strictly increasing. Between two frames vertices are interpolated linearly;
    /// before the first and after the last they stay.
    pub times: Vec<f32>,
}

/// A triangle mesh that cloth may not pass through.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeshObstacle {
    /// Its name in messages.
    pub name: String,
    /// Vertices of each face.
    pub triangles: Vec<[u32; 3]>,
    /// Positions of its vertices, before its motion.
    pub frames: MeshFrames,
    /// Rigid motion of the whole mesh, applied after that.
    pub motion: Motion,
    /// Coulomb friction coefficient.
    pub friction: f32,
    /// Distance that cloth keeps from its faces, in addition to half the thickness of the cloth \[m\].
    pub margin: f32,
}

impl MeshFrames {
    /// One shape that does not change.
    pub fn still(positions: Vec<Vec3>) -> Self {
        Self { positions: vec![positions], times: vec![0.0] }
    }

    /// Frames at equal intervals: `rate` per second, the first at `start` \[s\].
    pub fn at_rate(positions: Vec<Vec<Vec3>>, rate: f32, start: f32) -> Self {
        let time = |k: usize| (f64::from(start) + k as f64 / f64::from(rate)) as f32;
        Self { times: (0..positions.len()).map(time).collect(), positions }
    }

    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.positions.first().map_or(0, Vec::len)
    }

    /// The frames before and after `time` \[s\], and the fraction from the first to the second, 0 to 1.
    fn around(&self, time: f32) -> (&[Vec3], &[Vec3], f32) {
        let frame = |k: usize| self.positions.get(k).map_or(&[][..], Vec::as_slice);
        let next = self.times.partition_point(|&t| t <= time);
        if next == 0 || next >= self.times.len() {
            let only = frame(next.saturating_sub(1));
            return (only, only, 0.0);
        }
        let (from, to) = (self.times[next - 1], self.times[next]);
        (frame(next - 1), frame(next), (time - from) / (to - from))
    }

    /// Position of vertex `vertex` at `time` \[m\], before the obstacle's motion.
    fn vertex_at(&self, vertex: usize, time: f32) -> Vec3 {
        let (a, b, share) = self.around(time);
        a[vertex] + (b[vertex] - a[vertex]) * share
    }
}

impl MeshObstacle {
    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.frames.vertex_count()
    }

    /// Whether any vertex ever moves.
    pub fn is_moving(&self) -> bool {
        self.motion.is_moving() || self.frames.positions.windows(2).any(|pair| pair[0] != pair[1])
    }

    /// The largest speed of a vertex \[m/s\]: that of its deformation and that of its motion.
    pub(crate) fn speed(&self) -> f32 {
        let MeshFrames { positions, times } = &self.frames;
        let frames = positions.windows(2).zip(times.windows(2)).map(|(x, t)| {
            let farthest = x[0].iter().zip(&x[1]).map(|(a, b)| a.distance_squared(*b)).fold(0.0, f32::max);
            farthest.sqrt() / (t[1] - t[0])
        });
        let reach = positions.iter().flatten().map(|p| p.distance_squared(self.motion.pivot));
        frames.fold(0.0, f32::max) + self.motion.speed(reach.fold(0.0, f32::max).sqrt())
    }

    /// Half the longest side of the box around its first frame \[m\].
    pub(crate) fn radius(&self) -> f32 {
        let corners = self.frames.positions.first().into_iter().flatten();
        let [low, high] =
            corners.fold([Vec3::INFINITY, Vec3::NEG_INFINITY], |[low, high], p| [low.min(*p), high.max(*p)]);
        0.5 * (high - low).max_element()
    }

    /// Writes the positions of its vertices at `time` \[s\] to `x` \[m\], which has the same length.
    pub fn at(&self, time: f32, x: &mut [Vec3]) {
        self.place(time, |vertex, p| x[vertex] = p);
    }

    /// Positions of its vertices at `time` \[s\] \[m\].
    pub fn positions_at(&self, time: f32) -> Vec<Vec3> {
        let mut x = vec![Vec3::ZERO; self.vertex_count()];
        self.at(time, &mut x);
        x
    }

    /// Position of vertex `vertex` at `time` \[s\] \[m\]; bit-identical to [`MeshObstacle::at`].
    pub fn vertex_at(&self, vertex: usize, time: f32) -> Vec3 {
        let p = self.frames.vertex_at(vertex, time);
        if self.motion.is_empty() { p } else { self.motion.at(time).to_world(p) }
    }

    fn place(&self, time: f32, mut put: impl FnMut(usize, Vec3)) {
        let pose = (!self.motion.is_empty()).then(|| self.motion.at(time));
        let (a, b, share) = self.frames.around(time);
        for (vertex, (&a, &b)) in a.iter().zip(b).enumerate() {
            let p = a + (b - a) * share;
            put(vertex, pose.map_or(p, |pose| pose.to_world(p)));
        }
    }

    /// Checks it; the error names the frame, face or vertex.
    ///
    /// # Errors
    /// If there is no frame or face, a face names a vertex that does not exist, frames differ in their number
    /// of vertices or are not in temporal order, or a number is not finite or out of range.
    pub fn check(&self) -> Result<(), String> {
        let Self { frames: MeshFrames { positions, times }, .. } = self;
        let need = |ok: bool, problem: &dyn Fn() -> String| if ok { Ok(()) } else { Err(problem()) };
        let count = self.vertex_count();
        need(!positions.is_empty(), &|| "it has no frame; at least one is needed".into())?;
        need(positions.len() == times.len(), &|| {
            format!("it has {} frames and {} times; each frame needs one", positions.len(), times.len())
        })?;
        for (k, &time) in times.iter().enumerate() {
            need(time.is_finite() && (k == 0 || times[k - 1] < time), &|| {
                format!("frame {k} is at {time} s; times must be finite, each later than the one before")
            })?;
        }
        for (k, frame) in positions.iter().enumerate() {
            need(frame.len() == count, &|| {
                format!(
                    "frame {k} has {} vertices, the first {count}; all must have the same number",
                    frame.len()
                )
            })?;
            let wild = frame.iter().position(|p| !(p.is_finite() && p.abs().max_element() <= MAX_DISTANCE));
            if let Some(v) = wild {
                let p = frame[v];
                return Err(format!("frame {k}: vertex {v} is at {p} m; must be finite and within 1e6 m"));
            }
        }
        need(!self.triangles.is_empty(), &|| "it has no face".into())?;
        for (t, triangle) in self.triangles.iter().enumerate() {
            if let Some(v) = triangle.iter().find(|&&v| v as usize >= count) {
                return Err(format!("face {t} names vertex {v}; there are {count}, counted from 0"));
            }
        }
        need((0.0..=MAX_DISTANCE).contains(&self.friction), &|| {
            format!("friction is {}; must lie between 0 and 1e6", self.friction)
        })?;
        need((0.0..=MAX_DISTANCE).contains(&self.margin), &|| {
            format!("margin is {} m; must lie between 0 and 1e6 m", self.margin)
        })?;
        let keys = &self.motion.keys;
        for (k, key) in keys.iter().enumerate() {
            let finite = key.time.is_finite() && key.translate.is_finite() && key.rotate.is_finite();
            let near = key.translate.abs().max_element() <= MAX_DISTANCE;
            need(finite && near && (k == 0 || keys[k - 1].time < key.time), &|| {
                format!("keyframe {k} must be finite, within 1e6 m and later than the one before")
            })?;
        }
        need(self.motion.pivot.is_finite(), &|| "the pivot of its motion must be finite".into())
    }
}

impl Ruler {
    /// Writes the positions of the vertices of all mesh obstacles at `time` \[s\] to their range in `x`, an
    /// array over all of the engine's vertices. Allocates nothing.
    pub fn place_fixtures(&self, time: f32, x: &mut [Quad]) {
        let mut first = self.fixtures.start;
        for obstacle in &self.description.mesh_obstacles {
            obstacle.place(time, |vertex, p| x[first + vertex] = [p.x, p.y, p.z, 0.0]);
            first += obstacle.vertex_count();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Cloth, Description, Limit, Material, Pin, State, Stepper, World, boundary::motion::Keyframe, certify,
        mesh::generate,
    };

    fn triangle() -> MeshObstacle {
        let frame = |y: f32| vec![Vec3::new(0.0, y, 0.0), Vec3::X, Vec3::Z];
        MeshObstacle {
            name: "flap".into(),
            triangles: vec![[0, 1, 2]],
            frames: MeshFrames::at_rate(vec![frame(0.0), frame(1.0), frame(-1.0)], 10.0, 0.5),
            ..MeshObstacle::default()
        }
    }

    #[test]
    fn stays_before_and_after_its_frames_and_goes_straight_between_them() {
        let flap = triangle();
        for (time, y) in [
            (-1.0, 0.0),
            (0.0, 0.0),
            (0.5, 0.0),
            (0.55, 0.5),
            (0.6, 1.0),
            (0.65, 0.0),
            (0.7, -1.0),
            (9.0, -1.0),
        ] {
            let x = flap.positions_at(time);
            assert!((x[0].y - y).abs() < 1e-5, "{time}: {}", x[0]);
            assert_eq!(x[1..], [Vec3::X, Vec3::Z]);
            assert_eq!(x[0], flap.vertex_at(0, time));
        }
        assert!(flap.is_moving());
    }

    #[test]
    fn the_rigid_motion_comes_on_top() {
        let turn =
            |time, degrees| Keyframe { time, translate: Vec3::Y, rotate: Vec3::new(0.0, degrees, 0.0) };
        let mut flap = triangle();
        flap.motion =
            Motion { keys: vec![turn(0.0, 0.0), turn(1.0, 90.0)], pivot: Vec3::ZERO, ..Motion::default() };
        let x = flap.positions_at(1.0);
        assert!((x[1] - Vec3::new(0.0, 1.0, -1.0)).length() < 1e-6, "{}", x[1]);
        assert!(x[0].length() < 1e-6, "the frame is 1 m below, the motion 1 m above: {}", x[0]);
        assert_eq!(x[2], flap.vertex_at(2, 1.0));
    }

    /// A sheet below a flap that is `far` \[m\] away.
    fn world(far: f32) -> World {
        let mesh = generate::grid([1.0, 1.0], [6, 6], generate::Diagonals::Alternating, 0);
        let mut cloth = Cloth::new("sheet", mesh, Material::named("polyester").unwrap());
        cloth.strain = Limit { min: None, max: Some(0.05) };
        cloth.pins.push(Pin { vertices: vec![0, 6], ..Pin::default() });
        let mut flap = triangle();
        flap.frames.times = vec![0.01, 0.04, 0.08];
        flap.frames.positions.iter_mut().flatten().for_each(|p| p.y += far);
        let mut description =
            Description { bodies: vec![cloth.into()], mesh_obstacles: vec![flap], ..Description::default() };
        description.solver.steps_per_frame = 4;
        World::new(description).unwrap()
    }

    #[test]
    fn vertices_are_where_the_time_has_them_and_a_snapshot_goes_on_to_the_same_bits() {
        let world = world(5.0);
        let flap = &world.description.mesh_obstacles[0];
        let places = |state: &State| -> Vec<Vec3> {
            let fixtures = state.x[world.fixtures()].iter();
            fixtures.map(|q| Vec3::new(q[0], q[1], q[2])).collect()
        };
        assert_eq!(world.fixtures(), 50..53);
        let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 1).unwrap());
        assert_eq!(places(&state), flap.positions_at(0.0));
        for frame in 1..4 {
            let snapshot = state.snapshot(&world);
            assert_eq!(snapshot.positions.len(), 49);
            let mut again = State::restore(&world, &snapshot).unwrap();
            assert_eq!(again.x, state.x);
            stepper.advance_frame(&world, &mut state);
            stepper.advance_frame(&world, &mut again);
            assert_eq!((&again.x, &again.v), (&state.x, &state.v));
            let end = world.time_of_frame(frame);
            assert_eq!(places(&state), flap.positions_at(end));
            let before = flap.positions_at(world.time_of_step(u64::from(frame) * 4 - 1));
            for (k, i) in world.fixtures().enumerate() {
                let v = (flap.positions_at(end)[k] - before[k]) / world.step_time();
                assert_eq!([v.x, v.y, v.z, 0.0], state.v[i]);
                assert_eq!(state.x[i][3], 0.0);
            }
        }
    }

    #[test]
    fn how_far_away_an_obstacle_is_changes_no_bit_of_the_cloth() {
        // Bits differ from those without any obstacle: with one, stretching and bending are left to the
        // filter.
        let fall = |far: f32| {
            let world = world(far);
            let (mut state, mut stepper) = (State::new(&world), Stepper::new(&world, 2).unwrap());
            for _ in 0..5 {
                stepper.advance_frame(&world, &mut state);
            }
            (state.positions(&world, 0), certify(&world, &state))
        };
        assert_eq!(fall(20.0), fall(50.0));
    }

    #[test]
    fn the_world_says_which_obstacle_is_wrong() {
        let mut description = world(5.0).description.clone();
        description.mesh_obstacles[0].triangles[0][1] = 7;
        let error = World::new(description).unwrap_err().to_string();
        assert_eq!(error, "obstacle \"flap\": face 0 names vertex 7; there are 3, counted from 0");
    }

    #[test]
    fn the_certificate_knows_who_is_inside_a_closed_mesh() {
        let description = world(5.0).description.clone();
        let ball = generate::Generator::Sphere { radius: 0.3, frequency: 8 }.generate().unwrap();
        let middle = Vec3::new(0.5, 0.0, 0.5);
        let positions = ball.positions.iter().map(|&p| p + middle).collect();
        let mut obstacle =
            MeshObstacle { triangles: ball.triangles, frames: MeshFrames::still(positions), ..triangle() };
        let measured = |obstacle: &MeshObstacle| {
            let description = Description { mesh_obstacles: vec![obstacle.clone()], ..description.clone() };
            let world = World::new(description).unwrap();
            let body = certify(&world, &State::new(&world)).bodies.swap_remove(0);
            (body.max_penetration, body.penetrating)
        };
        let (depth, inside) = measured(&obstacle);
        // The centre of the sheet is at the centre of the ball, and the vertices within 0.3 m are inside.
        assert!((depth - 0.3).abs() < 3e-3 && inside == 9, "{depth} {inside}");
        obstacle.motion.keys.push(Keyframe { translate: Vec3::Y, ..Keyframe::default() });
        assert_eq!(measured(&obstacle), (0.0, 0));
        obstacle.motion.keys.clear();
        obstacle.triangles.pop();
        assert_eq!(measured(&obstacle), (0.0, 0), "what is open has no inside");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let says = |change: &dyn Fn(&mut MeshObstacle), words: &str| {
            let mut flap = triangle();
            flap.check().unwrap();
            change(&mut flap);
            let problem = flap.check().unwrap_err();
            assert!(problem.contains(words), "{problem}");
        };
        says(&|m| m.triangles.push([0, 3, 1]), "face 1 names vertex 3; there are 3");
        says(&|m| m.triangles.clear(), "no face");
        says(&|m| m.frames = MeshFrames::default(), "no frame");
        says(&|m| m.frames.positions[1][2].x = f32::NAN, "frame 1: vertex 2");
        says(&|m| m.frames.positions[2][0].x = 2e6, "frame 2: vertex 0");
        says(&|m| m.frames.positions[1].truncate(2), "frame 1 has 2 vertices, the first 3");
        says(&|m| m.frames.times[2] = 0.6, "frame 2 is at 0.6 s");
        says(&|m| m.frames.times.truncate(1), "3 frames and 1 times");
        says(&|m| m.friction = -1.0, "friction is -1");
        says(&|m| m.margin = f32::INFINITY, "margin is inf");
        says(
            &|m| m.motion.keys.push(Keyframe { time: f32::NAN, ..Keyframe::default() }),
            "keyframe 0 must be finite",
        );
    }
}
