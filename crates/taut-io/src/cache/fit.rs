//! Fitted limits of levels, cached between runs (W9: "the process only needs to be done once for each mesh
//! and setting of its limit parameters").
//!
//! One file for each mesh, limits and method, named by a hash of these: little-endian; magic, version, the
//! hash again, number of levels, triangles and hinges of each, two floats for each of those, and a CRC-32 of
//! all that. An invalid file is fitted again and replaced, with a warning.

use std::{
    fs, io,
    path::Path,
    time::{Duration, Instant},
};

use taut::{
    Cloth, Description, Limit,
    low_level::{
        self, Hierarchy, LevelOptions, StretchRange, Threads, fit, fit::CoarseLimits, fit::LevelLimits,
        fit::Method, fit::Task,
    },
    mesh::TriangleMesh,
    mesh::adjacency::Adjacency,
};

use crate::output::atomic;

const MAGIC: &[u8; 8] = b"TAUTLIMS";
/// Version of the file format; [`fit::VERSION`] is the version of its contents.
const VERSION: u32 = 1;
const HEADER: usize = 8 + 4 + 16 + 4;
const CRC: usize = 4;

/// Cache of fitted limits.
#[derive(Clone, Copy, Debug)]
pub struct Cache<'a> {
    /// Folder, created when needed; `None` disables the cache.
    pub folder: Option<&'a Path>,
    /// Fits again even if limits are cached.
    pub force: bool,
}

/// Limits of the levels of one cloth.
#[derive(Clone, Debug)]
pub struct Fit {
    /// Name of the cloth.
    pub cloth: String,
    /// Its limits.
    pub limits: CoarseLimits,
    /// Whether they came from the cache.
    pub from_cache: bool,
    /// Time for each level; empty if they came from the cache.
    pub times: Vec<Duration>,
    /// Total time, including mesh levels and files.
    pub time: Duration,
    /// Warnings, one line each.
    pub warnings: Vec<String>,
}

/// Fits the limits of the levels of every cloth with strain limits, or reads them from the cache, and assigns
/// them to the cloths. `progress` is called with the completed fraction, from 0 to 1, by any of the threads.
pub fn fit_scene(
    description: &mut Description,
    method: Method,
    cache: Cache<'_>,
    threads: &Threads,
    progress: &(dyn Fn(f64) + Sync),
) -> Vec<Fit> {
    let is_fitted = |cloth: &Cloth| cloth.limits_strain() || cloth.bend.is_some();
    let weight = |cloth: &Cloth| cloth.mesh.triangles.len() as f64;
    let total: f64 = description.cloths().filter(|c| is_fitted(c)).map(weight).sum();
    let mut before = 0.0;
    let mut fits = Vec::new();
    for cloth in description.cloths_mut().filter(|c| is_fitted(c)) {
        let part = weight(cloth);
        let fit = fit_cloth(cloth, method, cache, threads, &|done| progress((before + part * done) / total));
        before += part;
        cloth.coarse = Some(fit.limits.clone());
        fits.push(fit);
    }
    fits
}

/// Fits the limits of the levels of one cloth, or reads them from the cache.
pub fn fit_cloth(
    cloth: &Cloth,
    method: Method,
    cache: Cache<'_>,
    threads: &Threads,
    progress: &(dyn Fn(f64) + Sync),
) -> Fit {
    let started = Instant::now();
    let options = LevelOptions::default();
    let hierarchy = low_level::build_levels(&cloth.mesh, &options);
    let key = key(&cloth.mesh, &options, [cloth.strain_bounds(), cloth.bend], method);
    let path = cache.folder.map(|folder| folder.join(format!("fit-{key:032x}.limits")));
    let mut fit = Fit {
        cloth: cloth.name.clone(),
        limits: CoarseLimits::default(),
        from_cache: false,
        times: Vec::new(),
        time: Duration::ZERO,
        warnings: Vec::new(),
    };
    if let Some(path) = path.as_deref().filter(|_| !cache.force) {
        match load(path, key, &hierarchy) {
            Ok(Some(limits)) => (fit.limits, fit.from_cache) = (CoarseLimits { method, ..limits }, true),
            Ok(None) => {}
            Err(why) => fit.warnings.push(format!("{} {why}; fitting again", path.display())),
        }
    }
    if !fit.from_cache {
        let (mesh, strain, bend) = (&cloth.mesh, cloth.strain_bounds(), cloth.bend);
        let task = Task { mesh, hierarchy: &hierarchy, strain, bend, method };
        let fitted = fit::fit(&task, threads, progress);
        (fit.limits, fit.times) = (fitted.limits, fitted.times);
        if let Some(Err(why)) = path.as_deref().map(|path| save(path, key, &fit.limits)) {
            fit.warnings
                .push(format!("fitted limits could not be cached: {why}; set TAUT_CACHE to another folder"));
        }
    }
    progress(1.0);
    fit.time = started.elapsed();
    fit
}

/// The limits in the file `path`; `None` if there is no such file.
fn load(path: &Path, key: u128, hierarchy: &Hierarchy) -> Result<Option<CoarseLimits>, String> {
    match fs::read(path) {
        Ok(bytes) => decode(key, hierarchy, &bytes).map(Some),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(format!("could not be read: {error}")),
    }
}

fn save(path: &Path, key: u128, limits: &CoarseLimits) -> Result<(), String> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)
            .map_err(|error| format!("could not create {}: {error}", folder.display()))?;
    }
    atomic::write(path, &encode(key, limits)).map_err(|error| error.to_string())
}

/// The bytes of a file of limits.
pub fn encode(key: u128, limits: &CoarseLimits) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(key.to_le_bytes());
    bytes.extend((limits.levels.len() as u32).to_le_bytes());
    for level in &limits.levels {
        bytes.extend((level.strain.len() as u32).to_le_bytes());
        bytes.extend((level.bend.len() as u32).to_le_bytes());
    }
    for level in &limits.levels {
        let strain = level.strain.iter().map(|range| [range.min, range.max]);
        for value in strain.chain(level.bend.iter().copied()).flatten() {
            bytes.extend(value.to_le_bytes());
        }
    }
    let crc = crc32fast::hash(&bytes);
    bytes.extend(crc.to_le_bytes());
    bytes
}

/// The limits in `bytes`, which must be those of `key` and `hierarchy`.
///
/// # Errors
/// The problem, to be appended to the name of the file.
pub fn decode(key: u128, hierarchy: &Hierarchy, bytes: &[u8]) -> Result<CoarseLimits, String> {
    if bytes.len() < HEADER + CRC || !bytes.starts_with(MAGIC) {
        return Err("is not a complete file of taut".into());
    }
    let (body, crc) = bytes.split_at(bytes.len() - CRC);
    if crc != crc32fast::hash(body).to_le_bytes() {
        return Err("is damaged (checksum mismatch)".into());
    }
    let word = |at: usize| -> [u8; 4] { [body[at], body[at + 1], body[at + 2], body[at + 3]] };
    let version = u32::from_le_bytes(word(8));
    if version != VERSION {
        return Err(format!("has version {version}; this taut reads version {VERSION}"));
    }
    if body[12..28] != key.to_le_bytes() {
        return Err("belongs to a different mesh or limits".into());
    }
    let counts: Vec<[usize; 2]> = hierarchy
        .levels
        .iter()
        .map(|level| [level.mesh.triangles.len(), Adjacency::new(&level.mesh.triangles).hinges.len()])
        .collect();
    let wanted: Vec<u8> = std::iter::once(counts.len())
        .chain(counts.iter().flatten().copied())
        .flat_map(|count| (count as u32).to_le_bytes())
        .collect();
    let pairs: usize = counts.iter().flatten().sum();
    if !body[HEADER - 4..].starts_with(&wanted) || body.len() != HEADER - 4 + wanted.len() + 8 * pairs {
        return Err("does not match the levels of the mesh".into());
    }
    let data = &body[HEADER - 4 + wanted.len()..];
    let number = |at: &[u8]| f32::from_le_bytes([at[0], at[1], at[2], at[3]]);
    let mut pairs = data.chunks_exact(8).map(|pair| [number(pair), number(&pair[4..])]);
    let mut limits = CoarseLimits::default();
    for [triangles, hinges] in counts {
        let strain: Vec<_> =
            pairs.by_ref().take(triangles).map(|[min, max]| StretchRange { min, max }).collect();
        let bend: Vec<_> = pairs.by_ref().take(hinges).collect();
        // Written so that NaN is refused.
        let ordered = strain.iter().all(|r| r.min <= r.max) && bend.iter().all(|[min, max]| min <= max);
        if !ordered {
            return Err("contains invalid limits".into());
        }
        limits.levels.push(LevelLimits { strain, bend });
    }
    Ok(limits)
}

/// Two hashes of everything that fitted limits depend on.
pub fn key(mesh: &TriangleMesh, options: &LevelOptions, limits: [Limit; 2], method: Method) -> u128 {
    let mut hash = Hash([0xcbf2_9ce4_8422_2325, 0x6c62_272e_07bb_0142]);
    hash.add(&fit::VERSION.to_le_bytes());
    hash.add(&[match method {
        Method::Direct => 0,
        Method::Indirect => 1,
        Method::Bounds => 2,
    }]);
    hash.add(&options.ratio.to_le_bytes());
    hash.add(&(options.coarsest as u64).to_le_bytes());
    for bound in limits.iter().flat_map(|limit| [limit.min, limit.max]) {
        hash.add(&[u8::from(bound.is_some())]);
        hash.add(&bound.unwrap_or(0.0).to_le_bytes());
    }
    hash.add(&(mesh.positions.len() as u64).to_le_bytes());
    for position in &mesh.positions {
        position.to_array().iter().for_each(|value| hash.add(&value.to_le_bytes()));
    }
    for triangle in &mesh.triangles {
        triangle.iter().for_each(|value| hash.add(&value.to_le_bytes()));
    }
    u128::from(hash.0[0]) << 64 | u128::from(hash.0[1])
}

/// FNV-1a, twice, from different seeds and the second over inverted bytes.
struct Hash([u64; 2]);

impl Hash {
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            for (state, byte) in self.0.iter_mut().zip([byte, !byte]) {
                *state = (*state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
}
