//! MP4: H.264 by OpenH264 in a container that begins with its index, so that browsers can stream it.
//!
//! Frames are encoded one by one into a temporary file; after the last, the index ([`boxes`]) is written and
//! the frames after it. Quality is constant over all frames, at any bit rate; players can seek to a sync
//! frame every two seconds.

mod boxes;

use std::io;

use openh264::{
    OpenH264API,
    encoder::{
        BitRate, Complexity, Encoder, EncoderConfig, FrameRate, IntraFramePeriod, Profile, QpRange,
        RateControlMode, VuiConfig,
    },
    formats::YUVSource,
};

use self::boxes::{Sample, Track};
use super::{EncodeError, Rate, Sink, part::Part, yuv::Planes};
use crate::Picture;

/// Quantiser of the frames: wrinkles and text stay clean (45 dB for smooth shading), and files small. The
/// second is for pictures that change completely.
const QUANTISER: u8 = 20;
const COARSEST: u8 = 22;

/// An MP4 that is being written.
pub struct Mp4 {
    part: Part,
    parked: Part,
    encoder: Encoder,
    planes: Planes,
    track: Track,
}

impl Mp4 {
    /// Begins a file.
    pub fn create(path: &std::path::Path, size: [usize; 2], rate: Rate) -> Result<Self, EncodeError> {
        let (part, parked) = (Part::create(path, "")?, Part::create(path, ".frames")?);
        let even = size.map(|n| n.next_multiple_of(2));
        let per_second = rate.frames as f32 / rate.seconds as f32;
        // Unused with a given quantiser, but must be valid.
        let bits = even[0] as f32 * even[1] as f32 * per_second * 0.15;
        let config = EncoderConfig::new()
            .profile(Profile::High)
            // The only mode that keeps the quantiser, skips nothing and reports no error.
            .rate_control_mode(RateControlMode::Bufferbased)
            .bitrate(BitRate::from_bps(bits.clamp(500e3, 100e6) as u32))
            .qp(QpRange::new(QUANTISER, COARSEST))
            .max_frame_rate(FrameRate::from_hz(per_second))
            .skip_frames(false)
            .scene_change_detect(false)
            .adaptive_quantization(false)
            .background_detection(false)
            .complexity(Complexity::Medium)
            .intra_frame_period(IntraFramePeriod::from_num_frames((2.0 * per_second).round().max(1.0) as u32))
            .vui(VuiConfig::bt709());
        let encoder = Encoder::with_api_config(OpenH264API::from_source(), config)
            .map_err(|error| EncodeError::Encoder { path: path.into(), message: error.to_string() })?;
        Ok(Self { part, parked, encoder, planes: Planes::default(), track: Track::new(even, rate) })
    }
}

impl YUVSource for Planes {
    fn dimensions(&self) -> (usize, usize) {
        (self.size[0], self.size[1])
    }

    fn strides(&self) -> (usize, usize, usize) {
        (self.size[0], self.size[0] / 2, self.size[0] / 2)
    }

    fn y(&self) -> &[u8] {
        &self.y
    }

    fn u(&self) -> &[u8] {
        &self.u
    }

    fn v(&self) -> &[u8] {
        &self.v
    }
}

/// Kinds of the units of a stream.
const IDR: u8 = 5;
const SEQUENCE: u8 = 7;
const PICTURE: u8 = 8;

impl Sink for Mp4 {
    fn add(&mut self, picture: &Picture) -> Result<(), EncodeError> {
        self.planes.set(picture);
        let encoded = self.encoder.encode(&self.planes).map_err(|error| EncodeError::Encoder {
            path: self.part.path().into(),
            message: error.to_string(),
        })?;
        let mut sample = Vec::new();
        let mut sync = false;
        for layer in (0..encoded.num_layers()).filter_map(|i| encoded.layer(i)) {
            for unit in (0..layer.nal_count()).filter_map(|i| layer.nal_unit(i)) {
                let unit = without_start_code(unit);
                match unit.first().map(|kind| kind & 31) {
                    Some(SEQUENCE) => self.track.set_sequence(unit),
                    Some(PICTURE) => self.track.set_picture(unit),
                    Some(kind) => {
                        sync |= kind == IDR;
                        sample.extend((unit.len() as u32).to_be_bytes());
                        sample.extend(unit);
                    }
                    None => {}
                }
            }
        }
        if sample.is_empty() {
            // The encoder skipped the frame: the previous one is shown longer. Never for the first.
            self.track.prolong();
            return Ok(());
        }
        self.track.add(Sample { bytes: sample.len() as u32, sync, frames: 1 });
        self.parked.write(&sample)
    }

    fn finish(mut self: Box<Self>) -> Result<(), EncodeError> {
        let (head, length) = self.track.head();
        self.part.write(&head)?;
        let mut parked = self.parked.read_back()?;
        let copied = self.part.with(|file| io::copy(&mut parked, file))?;
        if copied != length {
            let source = io::Error::other("the frames that were parked are not all there");
            return Err(self.part.error(source));
        }
        self.part.keep()
    }
}

fn without_start_code(unit: &[u8]) -> &[u8] {
    let zeros = unit.iter().take_while(|byte| **byte == 0).count();
    unit.get(zeros + 1..).unwrap_or_default()
}
