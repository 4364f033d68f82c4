//! Outcome of a run, and the extremes over all its frames: the file `outcome.json`, written last.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use taut::{Certificate, measure::TearCertificate};

use super::metrics::FrameLine;
use crate::scene::RunExtremes;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// All frames are complete, and all expectations are met.
    Done,
    /// Stopped by the user; it can be resumed.
    Interrupted,
    /// All frames are complete, and an expectation is not met.
    ExpectationFailed,
    /// It failed, for example because the disk is full.
    Failed,
}

/// The worst value of a figure, and its location.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Worst {
    /// The figure.
    pub value: f64,
    /// Its frame.
    pub frame: u32,
    /// Its body.
    pub body: String,
    /// Triangle or tetrahedron with the largest residual (or strain) of that body and frame, or vertices of
    /// the worst edge or hinge.
    pub element: Vec<u32>,
}

/// Intersections over all frames, and the smallest gap.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ContactFigures {
    /// Frames with new intersections, other than those remaining from a tangled initial state.
    pub crossed_frames: u32,
    /// The first of them: its number of intersections, and body and edge of one of them.
    pub first_crossed: Option<Worst>,
    /// Frames that are still tangled from the initial state, including frame 0.
    pub tangled_frames: u32,
    /// Most intersections in a frame, from any cause.
    pub most_intersections: u64,
    /// Smallest gap in the frames after frame 0 \[m\]; none if no gap was below thickness and margins.
    pub smallest_gap: Option<f64>,
    /// Frame in which it was.
    pub smallest_gap_frame: Option<u32>,
}

/// Closed cloth with pressure inside.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BagFigures {
    /// Name of the cloth.
    pub name: String,
    /// Volume at the last frame \[m³\]; none if seams of it are open.
    pub final_volume: Option<f64>,
    /// The same over the reference volume; none if there is none.
    pub final_volume_factor: Option<f64>,
    /// Pressure above that of the air around at the last frame \[Pa\].
    pub final_pressure: Option<f64>,
    /// Largest such pressure in any frame \[Pa\].
    pub max_pressure: Option<f64>,
}

/// Figures of soft bodies, over the frames after frame 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SolidFigures {
    /// Frames with inverted tetrahedra.
    pub inverted_frames: u32,
    /// Most inverted tetrahedra in a body and frame.
    pub most_inverted: Worst,
    /// Largest relative change of the volume around a vertex.
    pub max_ring_volume_error: Worst,
}

/// Extremes over the frames after frame 0, and times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Largest principal strain (0.05: stretched by 5 %).
    pub max_strain: Worst,
    /// Smallest principal strain (−0.05: compressed by 5 %).
    pub min_strain: Worst,
    /// Largest residual of a triangle or tetrahedron past its limits.
    pub max_residual: Worst,
    /// Largest residual past a lower limit.
    #[serde(default)]
    pub max_compression_residual: Worst,
    /// Largest residual past an upper limit.
    #[serde(default)]
    pub max_stretch_residual: Worst,
    /// Mean over frames and bodies of the mean residual past lower limits.
    #[serde(default)]
    pub mean_compression_residual: f64,
    /// Frames in which limits had given way, because they could not be met.
    #[serde(default)]
    pub given_way_frames: u32,
    /// Most elements of a frame whose limits had.
    #[serde(default)]
    pub most_given_way: u32,
    /// Largest residual of an edge past its limits.
    pub max_edge_residual: Worst,
    /// Largest bend \[°/cm\].
    #[serde(default)]
    pub max_bend: Worst,
    /// Largest excess of a hinge past its bend limits \[°\].
    #[serde(default)]
    pub max_bend_excess: Worst,
    /// Mean over frames and bodies of the mean residual of a triangle or tetrahedron.
    pub mean_residual: f64,
    /// Mean over frames and bodies of the mean larger principal strain.
    pub mean_strain: f64,
    /// Deepest penetration of an obstacle \[m\].
    pub max_penetration: Worst,
    /// Largest distance of a pinned vertex from its target \[m\].
    pub max_pin_error: Worst,
    /// Largest opening of a seam at the last frame \[m\].
    #[serde(default)]
    pub final_opening: f64,
    /// What all cloth that may tear has torn to by the last frame, if there is such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torn: Option<TearCertificate>,
    /// Closed cloth with pressure inside, if any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bags: Vec<BagFigures>,
    /// Contact; none if contact is off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<ContactFigures>,
    /// Soft bodies, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solid: Option<SolidFigures>,
    /// Kinetic, gravitational, stretching and bending energy of all bodies in the last frame \[J\].
    pub final_energy: f64,
    /// Total iterations of the limiter.
    pub iterations: u64,
    /// Most iterations in a frame.
    pub max_iterations: u32,
    /// Frames that ended with a residual above the tolerance.
    pub unconverged_frames: u32,
    /// The first of them.
    pub first_unconverged: Option<u32>,
    /// Vertices reset because their prediction was non-finite.
    pub rescued: u64,
    /// Median time per frame \[ms\].
    pub median_ms: f64,
    /// Longest time of a frame \[ms\].
    pub worst_ms: f64,
}

/// Size of a body.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BodySize {
    /// Its name.
    pub name: String,
    /// Number of vertices.
    pub vertices: usize,
    /// Number of triangles; 0 for a soft body.
    pub triangles: usize,
    /// Number of tetrahedra of a soft body.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tetrahedra: usize,
    /// Number of segments of particles.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub segments: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Contents of `outcome.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Status.
    pub status: Status,
    /// Reason, in one sentence.
    pub reason: String,
    /// Unmet expectations of the scene, one line each.
    pub unmet: Vec<String>,
    /// Name of the scene.
    pub scene: String,
    /// Completed frames, without frame 0.
    pub frames: u32,
    /// Frames of the scene.
    pub frames_wanted: u32,
    /// Its bodies.
    pub bodies: Vec<BodySize>,
    /// Extremes over all frames, including those before a resume.
    pub figures: Figures,
    /// Run time of the program since its last start \[s\].
    pub wall_seconds: f64,
    /// Version of taut.
    pub taut: String,
    /// Threads it ran with.
    pub threads: usize,
    /// SIMD lanes it ran with.
    pub lanes: String,
}

/// Accumulates [`Figures`] frame by frame.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    figures: Figures,
    frames: u32,
    times: Vec<f64>,
    residuals: f64,
    compressions: f64,
    strains: f64,
    measured: f64,
    tangled: bool,
}

impl Tally {
    /// Marks in the certificate of the next frame whether it is still tangled from the initial state: as long
    /// as every frame so far had intersections. For frame 0 the certificate already says so.
    pub fn carry_tangle(&self, certificate: &mut Certificate) {
        if let Some(contact) = &mut certificate.contact {
            contact.tangled |= self.tangled && contact.intersections > 0;
        }
    }

    fn add_contact(&mut self, line: &FrameLine) {
        let Some(found) = &line.certificate.contact else { return };
        self.tangled = found.tangled;
        let contact = self.figures.contact.get_or_insert_default();
        contact.most_intersections = contact.most_intersections.max(found.intersections);
        contact.tangled_frames += u32::from(found.tangled);
        if found.intersections > 0 && !found.tangled {
            contact.crossed_frames += 1;
            contact.first_crossed.get_or_insert_with(|| {
                let first = found.first.clone().unwrap_or_default();
                let (value, element) = (found.intersections as f64, first.edge.into());
                Worst { value, frame: line.frame, body: first.edge_body, element }
            });
        }
        let is_smaller = |gap: f64| contact.smallest_gap.is_none_or(|smallest| gap < smallest);
        if let Some(gap) = found.smallest_gap.filter(|&gap| line.report.is_some() && is_smaller(gap)) {
            (contact.smallest_gap, contact.smallest_gap_frame) = (Some(gap), Some(line.frame));
        }
    }

    fn add_bags(&mut self, line: &FrameLine) {
        let bags = &mut self.figures.bags;
        bags.resize(line.certificate.bags.len(), BagFigures::default());
        for (figures, bag) in bags.iter_mut().zip(&line.certificate.bags) {
            let max_pressure = match (figures.max_pressure, bag.pressure) {
                (Some(before), Some(now)) => Some(before.max(now)),
                (before, now) => before.or(now),
            };
            *figures = BagFigures {
                name: bag.name.clone(),
                final_volume: bag.volume,
                final_volume_factor: bag.volume_factor,
                final_pressure: bag.pressure,
                max_pressure,
            };
        }
    }

    fn add_solids(&mut self, line: &FrameLine) {
        let mut inverted = false;
        for body in &line.certificate.bodies {
            let Some(found) = &body.solid else { continue };
            let solid = self.figures.solid.get_or_insert_default();
            inverted |= found.inverted > 0;
            let worst = |of: &mut Worst, value: f64| {
                if of.body.is_empty() || value > of.value {
                    let (frame, body) = (line.frame, body.name.clone());
                    *of = Worst { value, frame, body, element: Vec::new() };
                }
            };
            worst(&mut solid.most_inverted, found.inverted as f64);
            worst(&mut solid.max_ring_volume_error, found.max_ring_volume_error);
        }
        if let Some(solid) = &mut self.figures.solid {
            solid.inverted_frames += u32::from(inverted);
        }
    }

    /// Adds a frame. Of frame 0 only the energy counts: nothing was simulated yet.
    pub fn add(&mut self, line: &FrameLine) {
        let energies = line.certificate.bodies.iter().map(|body| body.energy);
        self.figures.final_energy = energies.map(|e| e.kinetic + e.gravity + e.stretch + e.bend).sum();
        let openings = line.certificate.seams.iter().map(|seam| seam.max_opening);
        self.figures.final_opening = openings.fold(0.0, f64::max);
        self.add_bags(line);
        self.figures.torn = line.certificate.bodies.iter().filter_map(|body| body.tear).reduce(both);
        self.add_contact(line);
        let Some(report) = &line.report else { return };
        self.add_solids(line);
        let f = &mut self.figures;
        for body in &line.certificate.bodies {
            let strain = &body.strain;
            let first = self.measured == 0.0;
            let worst = |of: &mut Worst, value: f64, lower: bool, element: &[u32]| {
                if first || (if lower { value < of.value } else { value > of.value }) {
                    *of =
                        Worst { value, frame: line.frame, body: body.name.clone(), element: element.into() };
                }
            };
            worst(&mut f.max_strain, strain.max_stretch - 1.0, false, &[strain.most_stretched]);
            worst(&mut f.min_strain, strain.min_stretch - 1.0, true, &[strain.most_compressed]);
            worst(&mut f.max_residual, strain.max_residual, false, &[strain.worst_element]);
            let [below, above] = [strain.max_compression_residual, strain.max_stretch_residual];
            worst(&mut f.max_compression_residual, below, false, &[strain.most_compressed]);
            worst(&mut f.max_stretch_residual, above, false, &[strain.most_stretched]);
            worst(&mut f.max_edge_residual, strain.max_edge_residual, false, &strain.worst_edge);
            worst(&mut f.max_bend, body.bend.max_bend, false, &[]);
            worst(&mut f.max_bend_excess, body.bend.max_bend_excess, false, &body.bend.worst_hinge);
            worst(&mut f.max_penetration, body.max_penetration, false, &[]);
            worst(&mut f.max_pin_error, body.max_pin_error, false, &[]);
            self.residuals += strain.mean_residual;
            self.compressions += strain.mean_compression_residual;
            self.strains += strain.mean_stretch - 1.0;
            self.measured += 1.0;
        }
        f.iterations += u64::from(report.iterations);
        f.max_iterations = f.max_iterations.max(report.iterations);
        f.given_way_frames += u32::from(report.given_way > 0);
        f.most_given_way = f.most_given_way.max(report.given_way);
        f.rescued += u64::from(report.rescued);
        if !report.converged {
            f.unconverged_frames += 1;
            f.first_unconverged.get_or_insert(line.frame);
        }
        self.times.push(line.frame_ms);
        self.frames = self.frames.max(line.frame);
    }

    /// Frames added so far, without frame 0.
    pub fn frames(&self) -> u32 {
        self.frames
    }

    /// The figures over all frames added so far.
    pub fn figures(&self) -> Figures {
        let mut figures = self.figures.clone();
        let mean = |sum: f64| if self.measured > 0.0 { sum / self.measured } else { 0.0 };
        (figures.mean_residual, figures.mean_strain) = (mean(self.residuals), mean(self.strains));
        figures.mean_compression_residual = mean(self.compressions);
        (figures.median_ms, figures.worst_ms) = median_and_worst(&self.times);
        figures
    }

    /// Extremes for the scene's `[expect]`; `last` are the positions of each body in the last frame \[m\].
    pub fn extremes<'a>(&self, last: impl IntoIterator<Item = &'a [Vec3]>) -> RunExtremes {
        let f = &self.figures;
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for x in last.into_iter().flatten() {
            (low, high) = (low.min(*x), high.max(*x));
        }
        RunExtremes {
            max_strain: f.max_strain.value,
            min_strain: f.min_strain.value,
            max_residual: f.max_residual.value.max(f.max_edge_residual.value),
            max_bend_excess: f.max_bend_excess.value,
            max_penetration: f.max_penetration.value,
            final_opening: f.final_opening,
            final_volumes: volumes(&f.bags),
            torn: f.torn.unwrap_or_default(),
            final_bounds: [low, high].map(|corner| corner.as_dvec3().to_array()),
        }
    }
}

/// What two cloths have torn to.
fn both(a: TearCertificate, b: TearCertificate) -> TearCertificate {
    let bounds = match (a.bounds, b.bounds) {
        (Some([low, high]), Some([other_low, other_high])) => Some([
            std::array::from_fn(|k| low[k].min(other_low[k])),
            std::array::from_fn(|k| high[k].max(other_high[k])),
        ]),
        (a, b) => a.or(b),
    };
    TearCertificate { vertices: a.vertices + b.vertices, pieces: a.pieces + b.pieces, bounds }
}

/// Smallest and largest volume; none if there is none, or one is open.
fn volumes(bags: &[BagFigures]) -> Option<[f64; 2]> {
    let volumes = bags.iter().map(|bag| bag.final_volume);
    let all: Vec<f64> = volumes.collect::<Option<_>>()?;
    let smallest = all.iter().copied().reduce(f64::min)?;
    Some([smallest, all.iter().copied().fold(smallest, f64::max)])
}

/// Median and largest of `values`; 0 if there are none.
pub fn median_and_worst(values: &[f64]) -> (f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |index: usize| sorted.get(index).copied().unwrap_or(0.0);
    let n = sorted.len();
    (0.5 * (at(n.saturating_sub(1) / 2) + at(n / 2)), at(n.saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use taut::measure::{BodyCertificate, ContactCertificate, SolidMeasure, StrainMeasure};

    use super::*;
    use taut::FrameReport;

    fn line(frame: u32, max_stretch: f64, converged: bool) -> FrameLine {
        let strain =
            StrainMeasure { max_stretch, min_stretch: 0.9, most_stretched: frame, ..Default::default() };
        let body = BodyCertificate { name: "sheet".into(), strain, ..Default::default() };
        let report = (frame > 0).then_some(FrameReport { converged, iterations: 10, ..Default::default() });
        let certificate = Certificate { bodies: vec![body], ..Certificate::default() };
        FrameLine { frame, report, certificate, frame_ms: f64::from(frame), ..Default::default() }
    }

    #[test]
    fn the_start_does_not_count_and_the_worst_frame_is_named() {
        let mut tally = Tally::default();
        for line in [line(0, 9.0, true), line(1, 0.95, true), line(2, 1.04, false), line(3, 1.01, true)] {
            tally.add(&line);
        }
        let figures = tally.figures();
        assert!((figures.max_strain.value - 0.04).abs() < 1e-12);
        assert_eq!((figures.max_strain.frame, &figures.max_strain.element[..]), (2, &[2][..]));
        assert_eq!((figures.unconverged_frames, figures.first_unconverged), (1, Some(2)));
        assert_eq!((figures.median_ms, figures.worst_ms, figures.iterations), (2.0, 3.0, 30));
        assert!((tally.extremes([&[Vec3::X, -Vec3::X][..]]).final_bounds[1][0] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_cloth_that_is_only_ever_compressed_has_a_negative_largest_strain() {
        let mut tally = Tally::default();
        tally.add(&line(1, 0.95, true));
        assert!(tally.figures().max_strain.value < 0.0);
    }

    #[test]
    fn a_tangled_start_is_carried_on_until_it_comes_apart() {
        let mut tally = Tally::default();
        for (frame, intersections) in [5, 3, 0, 2, 1].into_iter().enumerate() {
            let mut line = line(frame as u32, 1.0, true);
            let tangled = frame == 0;
            let smallest_gap = Some(if intersections > 0 { 0.0 } else { 2e-3 });
            let contact = ContactCertificate { intersections, tangled, first: None, smallest_gap };
            line.certificate.contact = Some(contact);
            tally.carry_tangle(&mut line.certificate);
            assert_eq!(line.certificate.contact.as_ref().unwrap().tangled, frame < 2, "frame {frame}");
            tally.add(&line);
        }
        let contact = tally.figures().contact.unwrap();
        assert_eq!((contact.crossed_frames, contact.tangled_frames, contact.most_intersections), (2, 2, 5));
        let first = contact.first_crossed.unwrap();
        assert_eq!((first.frame, first.value), (3, 2.0));
        assert_eq!((contact.smallest_gap, contact.smallest_gap_frame), (Some(0.0), Some(1)));
    }

    #[test]
    fn volumes_of_solids_are_gathered() {
        let mut tally = Tally::default();
        tally.add(&line(1, 1.0, true));
        assert_eq!(tally.figures().solid, None);
        for (frame, inverted, error) in [(0, 9, 0.9), (1, 0, 0.02), (2, 3, 0.01)] {
            let mut line = line(frame, 1.0, true);
            let measure = SolidMeasure { inverted, max_ring_volume_error: error, ..SolidMeasure::default() };
            line.certificate.bodies[0].solid = Some(measure);
            tally.add(&line);
        }
        let solid = tally.figures().solid.unwrap();
        assert_eq!(
            (solid.inverted_frames, solid.most_inverted.value, solid.most_inverted.frame),
            (1, 3.0, 2)
        );
        assert_eq!((solid.max_ring_volume_error.value, solid.max_ring_volume_error.frame), (0.02, 1));
    }

    #[test]
    fn median_of_few() {
        assert_eq!(median_and_worst(&[]), (0.0, 0.0));
        assert_eq!(median_and_worst(&[3.0]), (3.0, 3.0));
        assert_eq!(median_and_worst(&[3.0, 1.0]), (2.0, 3.0));
    }
}
