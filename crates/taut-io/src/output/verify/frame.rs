//! Checks one frame: reads its positions, measures them, and compares with the limits and the recorded
//! certificate.

use glam::{DVec3, Vec3};
use taut::{
    Body, Certificate, FrameReport, RigidBody, Ruler,
    low_level::{Caught, Threads},
    measure::BodyCertificate,
    measure::Examiner,
    measure::RigidCertificate,
    measure::SeamCertificate,
    measure::certify_positions,
    measure::{BagCertificate, measure_bags, measure_seams},
};

use super::{Failure, Kind, locate};
use crate::output::{
    layout::Layout,
    metrics::FrameLine,
    npy,
    tears::{self, Tears},
};

/// Positions are single precision: a residual equal to the tolerance may be measured as slightly more.
const STRAIN_SLACK: f64 = 1e-5;
/// The same for an excess past a bend limit \[°\].
const BEND_SLACK: f64 = 0.01;
/// Penetration depth that counts as touching \[m\].
const PENETRATION_SLACK: f64 = 1e-4;
/// Distance of a pinned vertex from its target that rounding can cause \[m\].
const PIN_SLACK: f64 = 1e-5;
/// Largest difference, absolute or relative, between a recomputed and a recorded figure.
const FIGURE_SLACK: f64 = 1e-6;

/// Result of checking one frame.
pub(super) struct Checked {
    /// Failures.
    pub failures: Vec<Failure>,
    /// The recomputed certificate, as a line of metrics, if all bodies could be read.
    pub line: Option<FrameLine>,
    /// Positions of each body, if all could be read and this is the last frame \[m\].
    pub last: Option<Vec<Vec<Vec3>>>,
}

/// Positions at which pins that begin later caught their vertices, from the frames in which they begin.
/// Unreadable frames are reported when they are checked.
/// `ruler` is that of cloth as it has torn by frame `now`.
pub(super) fn caught(files: &Layout, ruler: &Ruler, tears: &Tears, now: u32) -> Caught {
    let mut caught = Caught::new(ruler);
    let bodies: Vec<&Body> = ruler.description().bodies.iter().collect();
    for (body, frame) in ruler.catches() {
        let path = files.frame(bodies[body].name(), frame);
        let Ok(mut positions) = npy::read_any(&path) else { continue };
        if frame < now {
            positions = tears.spread(ruler.description(), body, [frame, now], positions);
        }
        if positions.len() == bodies[body].rest_positions().len() {
            caught.note(ruler, body, frame, &positions);
        }
    }
    caught
}

/// Checks frame `frame` of the run in `files` against `line`, its recorded metrics; contact is examined by
/// `examiner`, and checked elsewhere, because it depends on earlier frames. Positions are returned if
/// `is_last`.
pub(super) fn check(
    files: &Layout,
    ruler: &Ruler,
    caught: &Caught,
    examiner: Option<&mut Examiner>,
    frame: u32,
    line: Option<&FrameLine>,
    is_last: bool,
) -> Checked {
    let mut failures = Vec::new();
    let mut bodies = Vec::new();
    let mut positions = Vec::new();
    let all = ruler.description().bodies.iter();
    let count = all.len();
    for (index, body) in all.enumerate() {
        let context = Context { ruler, caught, frame, body, index, line };
        if let Some((x, certificate)) = context.check(files, &mut failures) {
            positions.push(x);
            bodies.push(certificate);
        }
    }
    if let Some(extra) = line.and_then(|line| line.certificate.bodies.get(count)) {
        let message = format!("metrics.jsonl has a body {:?} that the scene does not have", extra.name);
        failures.push(Failure { frame: Some(frame), ..Failure::new(Kind::Extra, message) });
    }
    let whole = bodies.len() == count;
    let report = line.and_then(|line| line.report).or((frame > 0).then(FrameReport::default));
    let seams = if whole { measure_seams(ruler, &positions) } else { Vec::new() };
    let mut bags = if whole { measure_bags(ruler, &positions) } else { Vec::new() };
    if let (true, Some(line)) = (whole, line) {
        compare_seams(frame, &line.certificate.seams, &seams, &mut failures);
        compare_bags(frame, &line.certificate.bags, &mut bags, &mut failures);
    }
    let contact = examiner.filter(|_| whole).map(|examiner| {
        examiner.examine(&Threads::alone(), ruler, frame, positions.iter().map(Vec::as_slice))
    });
    let rigid_bodies = line.map(|line| line.certificate.rigid_bodies.clone()).unwrap_or_default();
    failures.extend(line.and_then(|line| check_rigid(ruler, frame, &line.certificate.rigid_bodies)));
    let certificate = Certificate { bodies, seams, bags, contact, rigid_bodies, ..Certificate::default() };
    let line = whole.then(|| FrameLine { frame, report, certificate, ..FrameLine::default() });
    Checked { failures, line, last: (whole && is_last).then_some(positions) }
}

/// Compares the openings of seams with the recorded ones.
fn compare_seams(frame: u32, then: &[SeamCertificate], now: &[SeamCertificate], failures: &mut Vec<Failure>) {
    let mut fail = |message: String| {
        failures.push(Failure { frame: Some(frame), ..Failure::new(Kind::Changed, message) });
    };
    if then.len() != now.len() {
        fail(format!("metrics.jsonl has {} seams, the scene has {}", then.len(), now.len()));
        return;
    }
    for (then, now) in then.iter().zip(now) {
        if then.name != now.name || exceeds((then.max_opening - now.max_opening).abs(), FIGURE_SLACK) {
            fail(format!(
                "the opening of seam \"{}\" is {:.7} m, recorded {:.7} m of seam \"{}\"",
                now.name, now.max_opening, then.max_opening, then.name
            ));
        }
    }
}

/// Compares volumes of closed cloth with the recorded ones, and takes the recorded pressures, which positions
/// do not tell.
fn compare_bags(
    frame: u32,
    then: &[BagCertificate],
    now: &mut [BagCertificate],
    failures: &mut Vec<Failure>,
) {
    let mut fail = |message: String| {
        failures.push(Failure { frame: Some(frame), ..Failure::new(Kind::Changed, message) });
    };
    if then.len() != now.len() {
        fail(format!("metrics.jsonl has {} closed cloths, the scene has {}", then.len(), now.len()));
        return;
    }
    for (then, now) in then.iter().zip(now) {
        now.pressure = then.pressure;
        let [was, is] = [then.volume, now.volume].map(|volume| volume.unwrap_or(0.0));
        let is_other = then.volume.is_some() != now.volume.is_some();
        if then.name != now.name || is_other || exceeds((was - is).abs(), VOLUME_SLACK * is.abs().max(was)) {
            fail(format!(
                "the volume of cloth \"{}\" is {is:.9} m³, recorded {was:.9} m³ of cloth \"{}\"",
                now.name, then.name
            ));
        }
    }
}

/// Largest relative difference of a volume.
const VOLUME_SLACK: f64 = 1e-9;

/// One body in one frame.
struct Context<'a> {
    ruler: &'a Ruler,
    caught: &'a Caught,
    frame: u32,
    body: &'a Body,
    index: usize,
    line: Option<&'a FrameLine>,
}

impl Context<'_> {
    fn failure(&self, kind: Kind, element: Option<String>, message: impl Into<String>) -> Failure {
        let (frame, body) = (Some(self.frame), Some(self.body.name().to_owned()));
        Failure { kind, frame, body, element, message: message.into() }
    }

    fn check(&self, files: &Layout, failures: &mut Vec<Failure>) -> Option<(Vec<Vec3>, BodyCertificate)> {
        let path = files.frame(self.body.name(), self.frame);
        let positions = match tears::read_whole(&path, self.body.rest_positions().len()) {
            Ok(positions) => positions,
            Err(problem) => {
                let kind = if path.exists() { Kind::Damaged } else { Kind::Missing };
                failures.push(self.failure(kind, None, problem.to_string()));
                return None;
            }
        };
        if let Some(vertex) = positions.iter().position(|x| !x.is_finite()) {
            let message = format!("its position {} is not finite", positions[vertex]);
            failures.push(self.failure(Kind::NotFinite, Some(format!("vertex {vertex}")), message));
            return None;
        }
        let mut now = certify_positions(self.ruler, self.index, self.frame, &positions, self.caught);
        if let Some(line) = self.line {
            let poses = line.certificate.rigid_bodies.iter().map(RigidCertificate::pose);
            now.add_rigid_bodies((self.ruler, self.index), poses, &positions);
        }
        if self.frame == 0 {
            self.check_start(&positions, failures);
        } else {
            self.check_limits(&now, failures);
        }
        if let Some(line) = self.line {
            match line.certificate.bodies.get(self.index) {
                Some(then) => self.compare(then, &now, &positions, failures),
                None => failures.push(self.failure(
                    Kind::Missing,
                    None,
                    "metrics.jsonl has no data for this body",
                )),
            }
        }
        Some((positions, now))
    }

    /// Frame 0 is given, not simulated: it may exceed any limit, and must match the scene.
    fn check_start(&self, positions: &[Vec3], failures: &mut Vec<Failure>) {
        let start = self.ruler.start_positions(self.index);
        if let Some(vertex) = start.iter().zip(positions).position(|(a, b)| a != b) {
            let message = format!("is initially at {} m, expected {} m", positions[vertex], start[vertex]);
            failures.push(self.failure(Kind::Changed, Some(format!("vertex {vertex}")), message));
        }
    }

    fn check_limits(&self, now: &BodyCertificate, failures: &mut Vec<Failure>) {
        let past = self.ruler.description().solver.tolerance.past();
        let allowed = f64::from(past) + STRAIN_SLACK;
        let tolerance = if past > 0.0 { format!(", tolerance {past}") } else { String::new() };
        let unconverged = self.line.and_then(|line| line.report).is_some_and(|report| !report.converged);
        let (kind, prefix) =
            if unconverged { (Kind::LimitNotReached, "limit not reached: ") } else { (Kind::Limit, "") };
        let strain = &now.strain;
        if exceeds(strain.max_residual, allowed) {
            let worst = strain.worst_element;
            let vertices = self.body.element(worst as usize).unwrap_or_default();
            let limit = match self.body {
                Body::Cloth(cloth) => cloth.strain,
                Body::Solid(solid) => solid.strain,
                Body::Particles(particles) => particles.edge,
                Body::Hair(hair) => hair.stretch,
            };
            let what = describe_element(strain.max_stretch, strain.min_stretch, limit);
            let message = format!("{prefix}{what} (vertices {}){tolerance}", list(&vertices));
            let element = format!("{} {worst}", self.body.element_kind());
            failures.push(self.failure(kind, Some(element), message));
        }
        if exceeds(strain.max_edge_residual, allowed) {
            let element = format!("edge {}", list(&strain.worst_edge));
            let message = format!(
                "{prefix}its strain exceeds the limit {} by {:.6}{tolerance}",
                describe_limit(self.body.edge()),
                strain.max_edge_residual
            );
            failures.push(self.failure(kind, Some(element), message));
        }
        let bend_tolerance = self.ruler.description().solver.bend_tolerance;
        if exceeds(now.bend.max_bend_excess, f64::from(bend_tolerance) + BEND_SLACK) {
            let element = format!("hinge {}", list(&now.bend.worst_hinge));
            let message = format!(
                "{prefix}its bend exceeds the limit {} degrees per centimetre by {:.4} degrees, tolerance {bend_tolerance}",
                describe_limit(self.body.bend()),
                now.bend.max_bend_excess
            );
            failures.push(self.failure(kind, Some(element), message));
        }
        if exceeds(now.max_penetration, PENETRATION_SLACK) {
            let message = format!(
                "{} vertices are inside an obstacle, the deepest by {:.3} mm",
                now.penetrating,
                now.max_penetration * 1e3
            );
            failures.push(self.failure(Kind::Penetration, None, message));
        }
        if exceeds(now.max_pin_error, PIN_SLACK) {
            let message = format!("a pinned vertex is {:.3} mm from its target", now.max_pin_error * 1e3);
            failures.push(self.failure(Kind::Pin, None, message));
        }
    }

    /// Compares with the recorded certificate.
    fn compare(
        &self,
        then: &BodyCertificate,
        now: &BodyCertificate,
        positions: &[Vec3],
        failures: &mut Vec<Failure>,
    ) {
        if then.name != now.name {
            let message = format!("metrics.jsonl calls this body {:?}", then.name);
            failures.push(self.failure(Kind::Changed, None, message));
            return;
        }
        let differing = figures(then)
            .into_iter()
            .zip(figures(now))
            .find(|((_, then), (_, now))| exceeds((then - now).abs(), FIGURE_SLACK * then.abs().max(1.0)));
        let found = locate::locate(then.fingerprint, positions);
        if differing.is_none() && found == locate::Located::Same {
            return;
        }
        let figure = match differing {
            Some(((name, then), (_, now))) => format!("{name} is {now:.7}, recorded {then:.7}"),
            None => "the sum of its positions differs from the recorded one".into(),
        };
        let (element, found) = locate::describe(found, self.body);
        failures.push(self.failure(Kind::Changed, element, format!("{found}: {figure}")));
    }
}

/// Failures of the rigid bodies in metrics.jsonl: no other file contains their poses, but frame 0 must match
/// the scene, and their figures must be consistent.
fn check_rigid(ruler: &Ruler, frame: u32, found: &[RigidCertificate]) -> Option<Failure> {
    let bodies = &ruler.description().rigid_bodies;
    let failure = |kind, body: Option<&RigidBody>, message: String| {
        let body = body.map(|body| body.obstacle.name.clone());
        Some(Failure { frame: Some(frame), body, ..Failure::new(kind, message) })
    };
    if found.len() != bodies.len() {
        let message =
            format!("metrics.jsonl has {} rigid bodies, the scene has {}", found.len(), bodies.len());
        return failure(Kind::Missing, None, message);
    }
    for (body, found) in bodies.iter().zip(found) {
        let gravity = ruler.description().gravity.as_dvec3();
        let mass = f64::from(body.mass);
        let height = -mass * DVec3::from(found.position).dot(gravity);
        let momentum = (mass * DVec3::from(found.velocity)).distance(DVec3::from(found.momentum));
        let fits = (found.gravity - height).abs() <= FIGURE_SLACK * height.abs().max(1.0)
            && momentum <= FIGURE_SLACK * DVec3::from(found.momentum).length().max(1.0)
            && found.name == body.obstacle.name;
        let turned = found.rotation.iter().map(|q| q * q).sum::<f64>();
        if !fits || exceeds((turned - 1.0).abs(), 1e-3) {
            let message = "its pose and its figures in metrics.jsonl are inconsistent".into();
            return failure(Kind::Changed, Some(body), message);
        }
        if frame == 0 && found.pose() != body.start().pose {
            let message = format!(
                "is initially at {} m, expected {} m",
                found.pose().position,
                body.start().pose.position
            );
            return failure(Kind::Changed, Some(body), message);
        }
    }
    None
}

/// Whether `value` is above `allowed`, or NaN.
fn exceeds(value: f64, allowed: f64) -> bool {
    value > allowed || value.is_nan()
}

/// Describes how far an element with these principal stretches exceeds `limit`.
fn describe_element(max_stretch: f64, min_stretch: f64, limit: taut::Limit) -> String {
    let over = limit.max.map_or(f64::NEG_INFINITY, |max| max_stretch - 1.0 - f64::from(max));
    let under = limit.min.map_or(f64::NEG_INFINITY, |min| 1.0 + f64::from(min) - min_stretch);
    let (value, bound) = if over >= under { (max_stretch, limit.max) } else { (min_stretch, limit.min) };
    let verb = if over >= under { "stretched" } else { "compressed" };
    format!("{verb} to {value:.6}, limit {}", 1.0 + bound.unwrap_or(0.0))
}

fn describe_limit(limit: taut::Limit) -> String {
    let side = |value: Option<f32>| value.map_or("none".into(), |v| v.to_string());
    format!("[{}, {}]", side(limit.min), side(limit.max))
}

fn list(vertices: &[u32]) -> String {
    vertices.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// All figures that depend on positions alone.
fn figures(body: &BodyCertificate) -> Vec<(&'static str, f64)> {
    let s = &body.strain;
    let solid = body.solid.unwrap_or_default();
    let [x, y, z] = body.center_of_mass;
    vec![
        ("max_stretch", s.max_stretch),
        ("mean_stretch", s.mean_stretch),
        ("min_stretch", s.min_stretch),
        ("mean_compression", s.mean_compression),
        ("max_residual", s.max_residual),
        ("mean_residual", s.mean_residual),
        ("violations", s.violations as f64),
        ("max_edge_strain", s.max_edge_strain),
        ("min_edge_strain", s.min_edge_strain),
        ("max_edge_residual", s.max_edge_residual),
        ("mean_edge_residual", s.mean_edge_residual),
        ("edge_violations", s.edge_violations as f64),
        ("max_bend", body.bend.max_bend),
        ("max_bend_excess", body.bend.max_bend_excess),
        ("mean_bend_excess", body.bend.mean_bend_excess),
        ("bend_violations", body.bend.bend_violations as f64),
        ("center_of_mass x", x),
        ("center_of_mass y", y),
        ("center_of_mass z", z),
        ("max_penetration", body.max_penetration),
        ("max_pin_error", body.max_pin_error),
        ("inverted", solid.inverted as f64),
        ("volume", solid.volume),
        ("max_ring_volume_error", solid.max_ring_volume_error),
        ("mean_ring_volume_error", solid.mean_ring_volume_error),
    ]
}
