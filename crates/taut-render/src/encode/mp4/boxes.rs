//! The boxes of an MP4 file (ISO/IEC 14496-12, -14 and -15) with one track of video.

use crate::encode::Rate;

/// One encoded frame.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Its size.
    pub bytes: u32,
    /// Whether playback can begin here.
    pub sync: bool,
    /// Number of frame durations that it is shown.
    pub frames: u32,
}

/// Contents of the index.
#[derive(Debug)]
pub struct Track {
    size: [usize; 2],
    rate: Rate,
    samples: Vec<Sample>,
    /// Sequence and picture parameters for the decoder.
    sequence: Vec<u8>,
    picture: Vec<u8>,
}

impl Track {
    /// A track without frames.
    pub fn new(size: [usize; 2], rate: Rate) -> Self {
        Self { size, rate, samples: Vec::new(), sequence: Vec::new(), picture: Vec::new() }
    }

    /// Sets the sequence parameters, which the encoder repeats in front of every sync frame.
    pub fn set_sequence(&mut self, unit: &[u8]) {
        unit.clone_into(&mut self.sequence);
    }

    /// Sets the picture parameters.
    pub fn set_picture(&mut self, unit: &[u8]) {
        unit.clone_into(&mut self.picture);
    }

    /// Appends a frame.
    pub fn add(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    /// Shows the last frame for one frame longer.
    pub fn prolong(&mut self) {
        if let Some(last) = self.samples.last_mut() {
            last.frames += 1;
        }
    }

    /// Everything before the frames, and their total size in bytes.
    pub fn head(&self) -> (Vec<u8>, u64) {
        let length: u64 = self.samples.iter().map(|s| u64::from(s.bytes)).sum();
        let brand = |b: &[u8; 4]| b.to_vec();
        let kind = bytes(
            b"ftyp",
            &[brand(b"isom"), word(0x200), brand(b"isom"), brand(b"iso2"), brand(b"avc1"), brand(b"mp41")],
        );
        // A size that does not fit 32 bits follows the name of the box.
        let long = length + 8 > u64::from(u32::MAX);
        let data = if long {
            [word(1), b"mdat".to_vec(), (length + 16).to_be_bytes().to_vec()].concat()
        } else {
            [word(length as u32 + 8), b"mdat".to_vec()].concat()
        };
        // The length of the index does not depend on the offsets in it, given their encoding.
        let before = |index: &[u8]| (kind.len() + index.len() + data.len()) as u64;
        let wide = before(&self.index(0, true)) + length > u64::from(u32::MAX);
        let index = self.index(before(&self.index(0, wide)), wide);
        ([kind, index, data].concat(), length)
    }

    /// Ticks per frame, and ticks per second.
    fn ticks(&self) -> (u32, u32) {
        // A fine clock, for players that count in milliseconds.
        let finer = 1000u32.div_ceil(self.rate.frames);
        (self.rate.seconds * finer, self.rate.frames * finer)
    }

    fn index(&self, first: u64, wide: bool) -> Vec<u8> {
        let (frame, second) = self.ticks();
        let frames: u64 = self.samples.iter().map(|s| u64::from(s.frames)).sum();
        let duration = u32::try_from(frames * u64::from(frame)).unwrap_or(u32::MAX);
        let [width, height] = self.size.map(|n| n as u32);
        let unity: Vec<u8> = [0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000u32]
            .iter()
            .flat_map(|n| n.to_be_bytes())
            .collect();

        let movie = full(
            b"mvhd",
            0,
            &[
                words(&[0, 0, second, duration, 0x1_0000]),
                half(0x100),
                vec![0; 10],
                unity.clone(),
                vec![0; 24],
                word(2),
            ],
        );
        let track = full(
            b"tkhd",
            3,
            &[words(&[0, 0, 1, 0, duration]), vec![0; 16], unity, words(&[width << 16, height << 16])],
        );
        let media = full(b"mdhd", 0, &[words(&[0, 0, second, duration]), half(0x55c4), half(0)]);
        let handler = full(b"hdlr", 0, &[word(0), b"vide".to_vec(), vec![0; 12], b"Video\0".to_vec()]);
        let look = full(b"vmhd", 1, &[vec![0; 8]]);
        let here = full(b"url ", 1, &[]);
        let data = bytes(b"dinf", &[full(b"dref", 0, &[word(1), here])]);
        let table = bytes(b"stbl", &self.tables(frame, first, wide));
        let information = bytes(b"minf", &[look, data, table]);
        let media = bytes(b"mdia", &[media, handler, information]);
        bytes(b"moov", &[movie, bytes(b"trak", &[track, media])])
    }

    fn tables(&self, frame: u32, first: u64, wide: bool) -> Vec<Vec<u8>> {
        let description = full(b"stsd", 0, &[word(1), self.entry()]);

        let mut runs: Vec<[u32; 2]> = Vec::new();
        for sample in &self.samples {
            let lasts = sample.frames * frame;
            match runs.last_mut() {
                Some([count, last]) if *last == lasts => *count += 1,
                _ => runs.push([1, lasts]),
            }
        }
        let times = full(b"stts", 0, &[word(runs.len() as u32), words(runs.as_flattened())]);

        let sync: Vec<u32> = (1u32..).zip(&self.samples).filter(|(_, s)| s.sync).map(|(i, _)| i).collect();
        let starts = full(b"stss", 0, &[word(sync.len() as u32), words(&sync)]);

        // A chunk of about a second; the last may be shorter.
        let chunk = (self.rate.frames / self.rate.seconds).max(1) as usize;
        let (whole, rest) = (self.samples.len() / chunk, (self.samples.len() % chunk) as u32);
        let mut groups = Vec::new();
        if whole > 0 {
            groups.push([1, chunk as u32, 1]);
        }
        if rest > 0 {
            groups.push([whole as u32 + 1, rest, 1]);
        }
        let grouping = full(b"stsc", 0, &[word(groups.len() as u32), words(groups.as_flattened())]);

        let lengths: Vec<u32> = self.samples.iter().map(|s| s.bytes).collect();
        let sizes = full(b"stsz", 0, &[words(&[0, lengths.len() as u32]), words(&lengths)]);

        let mut at = first;
        let mut places = Vec::new();
        for samples in self.samples.chunks(chunk) {
            places.extend(if wide { at.to_be_bytes().to_vec() } else { word(at as u32) });
            at += samples.iter().map(|s| u64::from(s.bytes)).sum::<u64>();
        }
        let name = if wide { b"co64" } else { b"stco" };
        let offsets = full(name, 0, &[word(self.samples.len().div_ceil(chunk) as u32), places]);
        vec![description, times, starts, grouping, sizes, offsets]
    }

    /// How frames are encoded: size, decoder set-up, colours and square pixels.
    fn entry(&self) -> Vec<u8> {
        let [width, height] = self.size.map(|n| half(n as u16));
        let set_up = bytes(b"avcC", &[self.decoder()]);
        // Primaries, transfer and matrix of BT.709; luma from 16 to 235.
        let colors = bytes(b"colr", &[b"nclx".to_vec(), half(1), half(1), half(1), vec![0]]);
        let square = bytes(b"pasp", &[words(&[1, 1])]);
        bytes(
            b"avc1",
            &[
                vec![0; 6],
                half(1),
                vec![0; 16],
                width,
                height,
                // 72 pixels per inch, one frame per sample, no name, 24 bits.
                words(&[0x48_0000, 0x48_0000, 0]),
                half(1),
                vec![0; 32],
                half(24),
                half(0xffff),
                set_up,
                colors,
                square,
            ],
        )
    }

    fn decoder(&self) -> Vec<u8> {
        let profile: Vec<u8> = (1..4).map(|i| self.sequence.get(i).copied().unwrap_or(0)).collect();
        let high = matches!(profile[0], 100 | 110 | 122 | 144);
        let parameters = |unit: &[u8]| [half(unit.len() as u16), unit.to_vec()].concat();
        [
            vec![1],
            profile,
            // Lengths of units take 4 bytes; one set of sequence parameters.
            vec![0xff, 0xe1],
            parameters(&self.sequence),
            vec![1],
            parameters(&self.picture),
            // High profiles repeat: 4:2:0, 8 bits each, nothing more.
            if high { vec![0xfd, 0xf8, 0xf8, 0] } else { Vec::new() },
        ]
        .concat()
    }
}

fn word(value: u32) -> Vec<u8> {
    value.to_be_bytes().to_vec()
}

fn half(value: u16) -> Vec<u8> {
    value.to_be_bytes().to_vec()
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_be_bytes()).collect()
}

/// A box.
fn bytes(name: &[u8; 4], parts: &[Vec<u8>]) -> Vec<u8> {
    let inside = parts.concat();
    [word(inside.len() as u32 + 8), name.to_vec(), inside].concat()
}

/// A box with version 0 and flags.
fn full(name: &[u8; 4], flags: u32, parts: &[Vec<u8>]) -> Vec<u8> {
    bytes(name, &[word(flags), parts.concat()])
}
