//! `taut sweep`, and jobs for farms.

use std::{fs, path::Path, process::Command};

use crate::clients;

fn taut(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_taut")).args(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

const VARY: [&str; 6] = [
    "--vary",
    "cloth.sheet.strain.max=0.01,0.1",
    "--vary",
    "scene.gravity=[0,-9.81,0];[0,-1,0]",
    // What the scene expects of its own limit does not hold with others.
    "--set",
    "expect={}",
];

#[test]
fn a_sweep_runs_every_combination_and_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("sweep");
    let out = out.to_str().unwrap();
    let mut words = vec!["sweep", "hanging-sheet", "-o", out, "--frames", "3", "--jobs", "2", "--json"];
    words.extend(VARY);
    let (code, printed, said) = taut(&words);
    assert_eq!(code, 0, "{said}");
    let table: serde_json::Value = serde_json::from_str(&printed).unwrap();
    let runs = table["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 4);
    for (k, run) in runs.iter().enumerate() {
        assert_eq!((&run["run"], &run["status"]), (&k.into(), &"done".into()));
        let limit = run["values"]["cloth.sheet.strain.max"].as_f64().unwrap();
        assert_eq!(limit, [0.01, 0.01, 0.1, 0.1][k]);
        assert!(run["figures"]["max_strain"].as_f64().unwrap() < limit + 1e-5);
        assert!(Path::new(out).join(format!("{k:04}.png")).is_file());
    }
    // A run of a sweep is the run of its values.
    let alone = folder.path().join("alone");
    let single = [
        "--set",
        "cloth.sheet.strain.max=0.1",
        "--set",
        "scene.gravity=[0,-1,0]",
        "--set",
        "expect={}",
        "--frames",
        "3",
    ];
    let (code, ..) =
        taut(&[&["run", "hanging-sheet", "-q", "-o", alone.to_str().unwrap()], &single[..]].concat());
    assert_eq!(code, 0);
    let frame = |root: &Path| fs::read(root.join("frames/sheet.0003.npy")).unwrap();
    assert_eq!(frame(&Path::new(out).join("0003")), frame(&alone));

    let csv = fs::read_to_string(Path::new(out).join("sweep.csv")).unwrap();
    assert_eq!(csv.lines().count(), 5);
    assert!(csv.lines().nth(1).unwrap().starts_with("0,0000,0.01,\"[0,-9.81,0]\",done,"), "{csv}");
    let page = fs::read_to_string(Path::new(out).join("index.html")).unwrap();
    assert_eq!(page.matches("<figure>").count(), 4);

    // Runs that are done are left alone; one that is gone is run again.
    let written = |k: u32| {
        fs::metadata(Path::new(out).join(format!("{k:04}/outcome.json"))).unwrap().modified().unwrap()
    };
    let before = written(0);
    fs::remove_dir_all(Path::new(out).join("0002")).unwrap();
    assert_eq!(taut(&words).0, 0);
    assert_eq!(written(0), before);
    assert!(written(2) > before);

    let mut other = vec!["sweep", "hanging-sheet", "-o", out, "--vary", "cloth.sheet.strain.max=0.5"];
    let (code, _, said) = taut(&other);
    assert!(code == 2 && said.contains("other values"), "{said}");
    other[5] = "cloth.sheet.strain.max=0.5,-1";
    let (code, _, said) = taut(&other);
    assert!(code == 2 && said.contains("cloth.sheet.strain.max"), "{said}");
    for (vary, wanted) in [
        ("cloth.sheet.strain.max", "missing '='"),
        ("cloth.sheet.strain.max=1,,2", "a value is missing"),
        ("cloth.sheet.stiffness=1", "stiffness"),
    ] {
        let (code, _, said) = taut(&["sweep", "hanging-sheet", "--vary", vary]);
        assert!(code == 2 && said.contains(wanted), "{vary}: {said}");
    }
}

#[cfg(unix)]
#[test]
fn a_sweep_that_is_interrupted_stops_its_runs_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("sweep");
    let words = ["sweep", "hanging-sheet", "-o", out.to_str().unwrap(), "--quiet", "--jobs", "2"];
    let words =
        [&words[..], &["--vary", "scene.seed=1,2,3", "--set", "expect={}", "--frames", "100000"]].concat();
    let mut child = Command::new(env!("CARGO_BIN_EXE_taut")).args(&words).spawn().unwrap();
    while !(0..2).all(|k| out.join(format!("000{k}/frames/sheet.0003.npy")).is_file()) {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let id = nix::unistd::Pid::from_raw(child.id().try_into().unwrap());
    nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGINT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    for k in 0..2 {
        let text = fs::read_to_string(out.join(format!("000{k}/outcome.json"))).unwrap();
        let outcome: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(outcome["status"], "interrupted", "run {k}");
    }
    assert!(!out.join("0002").exists());
    let csv = fs::read_to_string(out.join("sweep.csv")).unwrap();
    assert!(csv.lines().all(|line| line.starts_with("run,") || line.contains(",unfinished,")), "{csv}");
    // A file where the folder should be is bad input.
    let (code, _, said) = taut(&[
        "sweep",
        "hanging-sheet",
        "--vary",
        "scene.seed=1",
        "-o",
        out.join("sweep.csv").to_str().unwrap(),
    ]);
    assert!(code == 2 && said.contains("choose another folder"), "{said}");
}

#[test]
#[ignore = "needs Python and the packages of a farm"]
fn farms_take_the_jobs_and_run_them() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("sweep");
    let program = env!("CARGO_BIN_EXE_taut");
    let mut words = vec!["sweep", "hanging-sheet", "-o", out.to_str().unwrap(), "--frames", "3"];
    words.extend(VARY);
    let mut submit = words.clone();
    submit.extend(["--submit", "openjd"]);
    let (code, printed, said) = taut(&submit);
    assert_eq!(code, 0, "{said}");
    let job = printed.trim().to_owned();
    let farm = |arguments: &[&str]| {
        let output = Command::new(clients::program("openjd")).args(arguments).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
        text
    };
    farm(&["check", &job]);
    let parameter = format!("Taut={program}");
    farm(&["run", &job, "--step", "Runs", "--job-param", &parameter]);
    // The tasks have done the runs: the sweep has nothing left but its table.
    let before: Vec<_> = (0..4)
        .map(|k| fs::metadata(out.join(format!("{k:04}/outcome.json"))).unwrap().modified().unwrap())
        .collect();
    assert_eq!(taut(&words).0, 0);
    for (k, before) in before.into_iter().enumerate() {
        let now = fs::metadata(out.join(format!("{k:04}/outcome.json"))).unwrap().modified().unwrap();
        assert_eq!(now, before, "run {k}");
    }
    assert!(out.join("sweep.csv").is_file());

    let run = out.join("0000");
    let pattern = run.join("f.%04d.png");
    let render = ["render", run.to_str().unwrap(), "-o", pattern.to_str().unwrap(), "--size", "64x48"];
    let (code, printed, said) = taut(&[&render[..], &["--submit", "openjd"]].concat());
    assert_eq!(code, 0, "{said}");
    farm(&["check", printed.trim()]);
    farm(&["run", printed.trim(), "--step", "Frames", "--job-param", &parameter]);
    for frame in 0..4 {
        assert!(run.join(format!("f.{frame:04}.png")).is_file(), "frame {frame}");
    }
    let (code, _, said) = taut(&["render", run.to_str().unwrap(), "--submit", "openjd"]);
    assert!(code == 2 && said.contains("image sequence"), "{said}");
    let (code, _, said) = taut(&[&words[..], &["--submit", "tractor"]].concat());
    assert!(code == 2 && said.contains("openjd"), "{said}");
}
