//! Fitted limits are kept between runs, made again when anything changes, and survive every kind of damage.

use std::{fs, path::Path};

use glam::Vec3;
use taut::{
    Cloth, Limit, Material,
    low_level::{LevelOptions, Threads, fit::Method},
    mesh::generate,
};
use taut_io::cache::fit::{Cache, Fit, encode, fit_cloth, key};

fn sheet() -> Cloth {
    let mesh = generate::grid([1.0, 1.0], [16, 16], generate::Diagonals::Alternating, 0);
    let mut cloth = Cloth::new("sheet", mesh, Material::named("polyester").unwrap());
    cloth.strain = Limit { min: Some(-0.05), max: Some(0.05) };
    cloth.bend = Limit { min: Some(-3.0), max: Some(3.0) };
    cloth
}

fn fit_in(folder: &Path, cloth: &Cloth, method: Method, force: bool) -> Fit {
    let cache = Cache { folder: Some(folder), force };
    fit_cloth(cloth, method, cache, &Threads::new(2).unwrap(), &|_| {})
}

fn bounds(folder: &Path, cloth: &Cloth) -> Fit {
    fit_in(folder, cloth, Method::Bounds, false)
}

#[test]
fn limits_are_kept_and_come_back_to_the_bit() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("not/there/yet");
    for method in [Method::Direct, Method::Indirect, Method::Bounds] {
        let first = fit_in(&folder, &sheet(), method, false);
        assert!(!first.from_cache && first.warnings.is_empty() && first.limits.levels[0].strain.len() > 50);
        let second = fit_in(&folder, &sheet(), method, false);
        assert!(second.from_cache && second.warnings.is_empty() && second.times.is_empty());
        assert_eq!(second.limits, first.limits);
        if method == Method::Direct {
            assert!(second.time < first.time / 2, "{:?} {:?}", second.time, first.time);
        }
        let forced = fit_in(&folder, &sheet(), method, true);
        assert!(!forced.from_cache && forced.limits == first.limits);
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 3);
}

#[test]
fn whatever_limits_depend_on_makes_them_anew() {
    let place = tempfile::tempdir().unwrap();
    bounds(place.path(), &sheet());
    let changes: [fn(&mut Cloth); 7] = [
        |c| c.mesh.positions[40] += Vec3::new(0.0, 1e-4, 0.0),
        |c| c.mesh.triangles.swap(0, 1),
        |c| c.strain.max = Some(0.06),
        |c| c.strain.min = None,
        |c| c.strain.min = Some(0.0),
        |c| c.bend.max = Some(3.001),
        |c| c.bend = Limit::default(),
    ];
    for (k, change) in changes.iter().enumerate() {
        let mut other = sheet();
        change(&mut other);
        assert!(!bounds(place.path(), &other).from_cache, "change {k}");
        assert!(bounds(place.path(), &other).from_cache, "change {k}");
    }
    // What limits do not depend on changes nothing.
    let mut same = sheet();
    same.name = "other".into();
    same.velocity = Vec3::X;
    assert!(bounds(place.path(), &same).from_cache);
}

#[test]
fn every_kind_of_damage_is_mended_with_one_warning() {
    let place = tempfile::tempdir().unwrap();
    let good = bounds(place.path(), &sheet());
    let path = fs::read_dir(place.path()).unwrap().next().unwrap().unwrap().path();
    let bytes = fs::read(&path).unwrap();

    let mut damaged: Vec<(String, Vec<u8>)> = vec![
        ("empty".into(), Vec::new()),
        ("text".into(), b"these are no limits, but more than enough bytes for a header".to_vec()),
        ("longer".into(), [bytes.as_slice(), b"x"].concat()),
    ];
    for at in (0..bytes.len()).step_by(bytes.len() / 23).chain([0, 8, 12, 28, 32, bytes.len() - 1]) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 0x10;
        damaged.push((format!("byte {at}"), flipped));
        damaged.push((format!("length {at}"), bytes[..at].to_vec()));
    }
    // Whole files with a right checksum that are not the ones asked for.
    let sealed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut body = bytes[..bytes.len() - 4].to_vec();
        change(&mut body);
        let crc = crc32fast::hash(&body);
        [body.as_slice(), &crc.to_le_bytes()].concat()
    };
    damaged.push(("version".into(), sealed(&|body| body[8] = 99)));
    damaged.push(("another key".into(), sealed(&|body| body[12] ^= 1)));
    damaged.push(("level count".into(), sealed(&|body| body[28] = 200)));
    damaged.push(("huge count".into(), sealed(&|body| body[32..36].fill(0xff))));
    damaged.push(("missing data".into(), sealed(&|body| body.truncate(body.len() - 8))));
    let nan = f32::NAN.to_le_bytes();
    damaged.push((
        "not a number".into(),
        sealed(&|body| {
            let end = body.len();
            body[end - 4..].copy_from_slice(&nan)
        }),
    ));

    for (what, bad) in damaged {
        if bad == bytes {
            continue;
        }
        fs::write(&path, &bad).unwrap();
        let mended = bounds(place.path(), &sheet());
        assert!(!mended.from_cache && mended.limits == good.limits, "{what}");
        assert_eq!(mended.warnings.len(), 1, "{what}: {:?}", mended.warnings);
        let warning = &mended.warnings[0];
        assert!(warning.contains("fitting again") && warning.contains(".limits"), "{what}: {warning}");
        assert!(!warning.contains('\n'), "{warning}");
        assert_eq!(fs::read(&path).unwrap(), bytes, "{what}");
        assert!(bounds(place.path(), &sheet()).from_cache, "{what}");
    }
}

#[test]
fn a_folder_that_cannot_be_written_costs_a_warning_only() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("file");
    fs::write(&file, "x").unwrap();
    let fit = bounds(&file.join("cache"), &sheet());
    assert!(!fit.from_cache && !fit.limits.levels.is_empty());
    assert_eq!(fit.warnings.len(), 1);
    assert!(fit.warnings[0].contains("could not be cached") && fit.warnings[0].contains("TAUT_CACHE"));
    let nowhere = Cache { folder: None, force: false };
    let fit = fit_cloth(&sheet(), Method::Bounds, nowhere, &Threads::new(1).unwrap(), &|_| {});
    assert!(fit.warnings.is_empty() && !fit.limits.levels.is_empty());
}

#[test]
fn a_file_of_another_mesh_under_this_name_is_not_taken() {
    let place = tempfile::tempdir().unwrap();
    let (cloth, options) = (sheet(), LevelOptions::default());
    let good = bounds(place.path(), &cloth);
    let path = fs::read_dir(place.path()).unwrap().next().unwrap().unwrap().path();
    let other = key(&cloth.mesh, &options, [cloth.strain, cloth.bend], Method::Direct);
    fs::write(&path, encode(other, &good.limits)).unwrap();
    let mended = bounds(place.path(), &cloth);
    assert!(mended.warnings[0].contains("different mesh"), "{:?}", mended.warnings);
}
