//! Checkpoints: the state of a run, to resume it to the same bits after it was killed.
//!
//! A checkpoint is one binary file, little-endian: magic, version, hash of the scene, frame, numbers of
//! vertices, of the limiter's floats, of vertices caught by pins, of pin overrides, of rigid bodies, of
//! vertices whose last step is kept and of broken springs; whether the next frame is begun as one of cloth
//! that nothing is near; positions, velocities, those floats, caught positions, pin overrides (vertex,
//! whether it is held, target) and rigid bodies (position, rotation, velocities), last steps and broken
//! springs; and a CRC-32 of
//! all that. Two are kept and the older one is replaced each time, so that one is always complete. A
//! checkpoint that is damaged, or belongs to another scene, is ignored.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use glam::{Quat, Vec3};
use taut::{
    Pose, RigidState,
    low_level::{PinOverride, Snapshot},
};

use super::{OutputError, atomic};

const MAGIC: &[u8; 8] = b"TAUTSTAT";
const VERSION: u32 = 8;
const HEADER: usize = 8 + 4 + 8 + 4 + 7 * 8 + 4;
const CRC: usize = 4;
const BYTES_PER_VERTEX: usize = 24;
const BYTES_PER_CAUGHT: usize = 12;
const BYTES_PER_PIN_OVERRIDE: usize = 20;
const BYTES_PER_BODY: usize = 52;
const GENERATIONS: [&str; 2] = ["a.state", "b.state"];
/// Saving costs about as much as a frame file; once a second makes it negligible and loses at most a second
/// of work.
const INTERVAL: Duration = Duration::from_secs(1);

/// A hash of the text of a scene (FNV-1a, 64 bits), the same on every machine.
pub fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, byte| (h ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The bytes of a checkpoint.
pub fn encode(scene: u64, snapshot: &Snapshot) -> Vec<u8> {
    let count = snapshot.positions.len();
    let Snapshot { duals, caught, pin_overrides, rigid, broken, .. } = snapshot;
    let rest =
        duals.len() * 4 + caught.len() * BYTES_PER_CAUGHT + pin_overrides.len() * BYTES_PER_PIN_OVERRIDE;
    let rest = rest + rigid.len() * BYTES_PER_BODY;
    let [places, speeds] = &snapshot.history;
    let rest = rest + places.len() * BYTES_PER_VERTEX + broken.len() * 4;
    let mut bytes = Vec::with_capacity(HEADER + count * BYTES_PER_VERTEX + rest + CRC);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&scene.to_le_bytes());
    bytes.extend_from_slice(&snapshot.frame.to_le_bytes());
    for number in
        [count, duals.len(), caught.len(), pin_overrides.len(), rigid.len(), places.len(), broken.len()]
    {
        bytes.extend_from_slice(&(number as u64).to_le_bytes());
    }
    bytes.extend_from_slice(&u32::from(snapshot.is_alone).to_le_bytes());
    let put = |bytes: &mut Vec<u8>, values: &[f32]| {
        values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
    };
    for vector in snapshot.positions.iter().chain(&snapshot.velocities) {
        put(&mut bytes, &vector.to_array());
    }
    put(&mut bytes, duals);
    caught.iter().for_each(|place| put(&mut bytes, &place.to_array()));
    for pin in pin_overrides {
        bytes.extend_from_slice(&pin.vertex.to_le_bytes());
        bytes.extend_from_slice(&u32::from(pin.target.is_some()).to_le_bytes());
        put(&mut bytes, &pin.target.unwrap_or_default().to_array());
    }
    for body in rigid {
        put(&mut bytes, &body.pose.position.to_array());
        put(&mut bytes, &body.pose.rotation.to_array());
        put(&mut bytes, &body.velocity.to_array());
        put(&mut bytes, &body.angular_velocity.to_array());
    }
    for vector in places.iter().chain(speeds) {
        put(&mut bytes, &vector.to_array());
    }
    broken.iter().for_each(|spring| bytes.extend_from_slice(&spring.to_le_bytes()));
    let crc = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&crc.to_le_bytes());
    bytes
}

/// The snapshot in `bytes`, which must be of the scene with hash `scene`.
///
/// # Errors
/// The problem, to be appended to "the checkpoint …".
pub fn decode(scene: u64, bytes: &[u8]) -> Result<Snapshot, String> {
    if bytes.len() < HEADER + CRC || !bytes.starts_with(MAGIC) {
        return Err("is not a complete file of taut".into());
    }
    let (body, crc) = bytes.split_at(bytes.len() - CRC);
    if crc != crc32fast::hash(body).to_le_bytes() {
        return Err("is damaged (checksum mismatch)".into());
    }
    let u32_at = |at: usize| u32::from_le_bytes([body[at], body[at + 1], body[at + 2], body[at + 3]]);
    let u64_at = |at: usize| u64::from(u32_at(at)) | u64::from(u32_at(at + 4)) << 32;
    let version = u32_at(8);
    if version != VERSION {
        return Err(format!("has version {version}; this taut reads version {VERSION}"));
    }
    if u64_at(12) != scene {
        return Err("belongs to a different scene".into());
    }
    let data = &body[HEADER..];
    let numbers = [24, 32, 40, 48, 56, 64, 72].map(u64_at);
    let sizes =
        [BYTES_PER_VERTEX, 4, BYTES_PER_CAUGHT, BYTES_PER_PIN_OVERRIDE, BYTES_PER_BODY, BYTES_PER_VERTEX, 4]
            .map(|size| size as u64);
    let announced = numbers
        .iter()
        .zip(sizes)
        .try_fold(0u64, |sum, (number, size)| sum.checked_add(number.checked_mul(size)?));
    if announced != Some(data.len() as u64) {
        let [count, duals, caught, pin_overrides, rigid, steps, broken] = numbers;
        return Err(format!(
            "declares {count} vertices, {duals} floats, {caught} caught positions, {pin_overrides} pin overrides, {rigid} rigid bodies, {steps} steps of vertices and {broken} broken springs, but has {} bytes for them",
            data.len()
        ));
    }
    let [_, duals, caught, pin_overrides, rigid, steps, broken] =
        [0, 1, 2, 3, 4, 5, 6].map(|k| (numbers[k] * sizes[k]) as usize);
    let (data, broken) = data.split_at(data.len() - broken);
    let (data, steps) = data.split_at(data.len() - steps);
    let (data, rigid) = data.split_at(data.len() - rigid);
    let (data, pin_overrides) = data.split_at(data.len() - pin_overrides);
    let (data, caught) = data.split_at(data.len() - caught);
    let (data, duals) = data.split_at(data.len() - duals);
    let number = |at: &[u8]| f32::from_le_bytes([at[0], at[1], at[2], at[3]]);
    let vectors = |bytes: &[u8]| -> Vec<Vec3> {
        bytes.chunks_exact(12).map(|c| Vec3::new(number(c), number(&c[4..]), number(&c[8..]))).collect()
    };
    let (positions, velocities) = data.split_at(data.len() / 2);
    let pin_override = |bytes: &[u8]| {
        let vertex = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        PinOverride { vertex, target: vectors(&bytes[8..]).first().copied().filter(|_| bytes[4] != 0) }
    };
    let body = |bytes: &[u8]| {
        let at = |k: usize| number(&bytes[4 * k..]);
        let vector = |k: usize| Vec3::new(at(k), at(k + 1), at(k + 2));
        let rotation = Quat::from_xyzw(at(3), at(4), at(5), at(6));
        RigidState {
            pose: Pose { position: vector(0), rotation },
            velocity: vector(7),
            angular_velocity: vector(10),
        }
    };
    Ok(Snapshot {
        frame: u32_at(20),
        positions: vectors(positions),
        velocities: vectors(velocities),
        history: [vectors(&steps[..steps.len() / 2]), vectors(&steps[steps.len() / 2..])],
        duals: duals.chunks_exact(4).map(number).collect(),
        caught: vectors(caught),
        pin_overrides: pin_overrides.chunks_exact(BYTES_PER_PIN_OVERRIDE).map(pin_override).collect(),
        rigid: rigid.chunks_exact(BYTES_PER_BODY).map(body).collect(),
        is_alone: u32_at(80) != 0,
        broken: broken.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect(),
    })
}

/// All usable checkpoints in `folder` of the scene with hash `scene`, newest first, and a warning for each
/// unusable one.
pub fn load(folder: &Path, scene: u64) -> (Vec<Snapshot>, Vec<String>) {
    let mut snapshots = Vec::new();
    let mut warnings = Vec::new();
    for path in GENERATIONS.map(|name| folder.join(name)) {
        let result = match fs::read(&path) {
            Ok(bytes) => decode(scene, &bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => Err(format!("could not be read: {error}")),
        };
        match result {
            Ok(snapshot) => snapshots.push(snapshot),
            Err(why) => warnings.push(format!("the checkpoint {} {why}; it is ignored", path.display())),
        }
    }
    snapshots.sort_by_key(|snapshot| std::cmp::Reverse(snapshot.frame));
    (snapshots, warnings)
}

/// Removes all checkpoints in `folder`.
///
/// # Errors
/// If one exists and cannot be removed.
pub fn clear(folder: &Path) -> Result<(), OutputError> {
    GENERATIONS.iter().try_for_each(|name| super::folder::remove_if_there(&folder.join(name)))
}

/// Stores the two latest checkpoints of a run.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    scene: u64,
    next: usize,
    saved_frame: Option<u32>,
    saved_at: Instant,
}

impl Store {
    /// Stores checkpoints of the scene with hash `scene` in `folder`, which must exist. The newest usable one
    /// is not overwritten first.
    pub fn new(folder: PathBuf, scene: u64) -> Self {
        let frame_of = |name: &str| {
            let bytes = fs::read(folder.join(name)).ok()?;
            decode(scene, &bytes).ok().map(|snapshot| snapshot.frame)
        };
        let next = usize::from(frame_of(GENERATIONS[0]) > frame_of(GENERATIONS[1]));
        Self { folder, scene, next, saved_frame: None, saved_at: Instant::now() }
    }

    /// Whether the next save is due.
    pub fn is_due(&self) -> bool {
        self.saved_at.elapsed() >= INTERVAL
    }

    /// Saves `snapshot` over the older checkpoint, unless that frame is already saved.
    ///
    /// # Errors
    /// An I/O error; the other checkpoint is untouched.
    pub fn save(&mut self, snapshot: &Snapshot) -> Result<(), OutputError> {
        if self.saved_frame != Some(snapshot.frame) {
            atomic::write(&self.folder.join(GENERATIONS[self.next]), &encode(self.scene, snapshot))?;
            atomic::sync_folder(&self.folder)?;
            self.next = 1 - self.next;
            self.saved_frame = Some(snapshot.frame);
        }
        self.saved_at = Instant::now();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(frame: u32) -> Snapshot {
        let positions = vec![Vec3::new(0.1, frame as f32, -0.0), Vec3::splat(f32::MIN_POSITIVE)];
        let velocities = positions.iter().map(|x| -*x).collect();
        let duals = vec![0.5, -0.0, frame as f32];
        let caught = vec![Vec3::new(1.5, -0.0, 2.0); 3];
        let targets = [None, Some(Vec3::new(-0.0, 7.0, frame as f32))];
        let pin_overrides = targets.map(|target| PinOverride { vertex: frame + 9, target }).to_vec();
        let pose =
            Pose { position: Vec3::new(frame as f32, -0.0, 1.5), rotation: Quat::from_rotation_x(0.3) };
        let rigid = vec![RigidState { pose, velocity: Vec3::X, angular_velocity: Vec3::new(0.1, 7.0, -0.0) }];
        let history = [vec![Vec3::splat(0.5); 4], vec![Vec3::X; 4]];
        Snapshot {
            frame,
            velocities,
            positions,
            history,
            duals,
            caught,
            pin_overrides,
            rigid,
            is_alone: frame == 3,
            broken: vec![2, frame + 7],
        }
    }

    #[test]
    fn every_bit_comes_back() {
        assert_eq!(decode(7, &encode(7, &snapshot(3))).unwrap(), snapshot(3));
        let none = Snapshot {
            duals: Vec::new(),
            caught: Vec::new(),
            pin_overrides: Vec::new(),
            history: Default::default(),
            rigid: Vec::new(),
            broken: Vec::new(),
            ..snapshot(3)
        };
        assert_eq!(decode(7, &encode(7, &none)).unwrap(), none);
        assert!(decode(8, &encode(7, &snapshot(3))).unwrap_err().contains("different scene"));
    }

    #[test]
    fn any_changed_or_missing_byte_is_noticed() {
        let good = encode(7, &snapshot(3));
        for at in 0..good.len() {
            let mut bytes = good.clone();
            bytes[at] ^= 0x10;
            assert!(decode(7, &bytes).is_err(), "byte {at}");
            assert!(decode(7, &good[..at]).is_err(), "length {at}");
        }
    }

    #[test]
    fn a_header_that_lies_about_its_length_is_refused() {
        let mut bytes = encode(7, &snapshot(3));
        bytes.truncate(bytes.len() - CRC);
        bytes[24..32].copy_from_slice(&u64::MAX.to_le_bytes());
        let crc = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&crc.to_le_bytes());
        assert!(decode(7, &bytes).unwrap_err().contains("declares"));
    }

    #[test]
    fn another_version_is_refused() {
        let mut bytes = encode(7, &snapshot(3));
        bytes.truncate(bytes.len() - CRC);
        bytes[8..12].copy_from_slice(&1u32.to_le_bytes());
        let crc = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&crc.to_le_bytes());
        assert!(decode(7, &bytes).unwrap_err().contains("has version 1"));
    }

    #[test]
    fn two_generations_are_kept_and_a_damaged_one_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::new(folder.path().into(), 7);
        (1..=3).for_each(|frame| store.save(&snapshot(frame)).unwrap());
        let frames = |found: &[Snapshot]| found.iter().map(|s| s.frame).collect::<Vec<_>>();
        let (found, warnings) = load(folder.path(), 7);
        assert_eq!((frames(&found), warnings.len()), (vec![3, 2], 0));

        // A new store overwrites the older of the two.
        Store::new(folder.path().into(), 7).save(&snapshot(4)).unwrap();
        assert_eq!(frames(&load(folder.path(), 7).0), [4, 3]);

        for name in GENERATIONS {
            let path = folder.path().join(name);
            let bytes = fs::read(&path).unwrap();
            if decode(7, &bytes).unwrap().frame == 4 {
                fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
            }
        }
        let (found, warnings) = load(folder.path(), 7);
        assert_eq!((frames(&found), warnings.len()), (vec![3], 1));
        // The damaged one is the one to replace.
        Store::new(folder.path().into(), 7).save(&snapshot(5)).unwrap();
        assert_eq!(frames(&load(folder.path(), 7).0), [5, 3]);
    }
}
