//! `cargo xtask scenes`: every built-in scene is run whole, and what its `[expect]` says must hold.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    sync::Mutex,
    thread,
    time::Instant,
};

use crate::command::{json, root};

/// Runs the scenes of these names, or all, with the program `taut`, as many side by side as there are
/// processors, each on one thread.
pub fn check(taut: &Path, only: &[&str]) -> Result<(), String> {
    let listed = json(taut, &["scenes", "--json"])?;
    let all: Vec<String> = listed
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|scene| Some(scene["name"].as_str()?.to_owned()))
        .collect();
    if let Some(unknown) = only.iter().find(|name| !all.iter().any(|scene| scene == *name)) {
        return Err(format!("there is no built-in scene {unknown:?}"));
    }
    // From the end: those with most elements are listed last, and are best begun first.
    let mut left: Vec<String> = all;
    left.retain(|scene| only.is_empty() || only.contains(&scene.as_str()));
    let (count, left, failed) = (left.len(), Mutex::new(left), Mutex::new(Vec::new()));
    let folder = root().join("target/scenes");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some(scene) = left.lock().expect("no other panics").pop() else { break };
                    let begun = Instant::now();
                    let found = run(taut, &scene, &folder.join(&scene));
                    let seconds = begun.elapsed().as_secs_f64();
                    match found {
                        Ok(()) => println!("{seconds:6.1} s  {scene}: holds what it expects"),
                        Err(why) => {
                            println!("{seconds:6.1} s  {scene}: FAILS\n{why}");
                            failed.lock().expect("no other panics").push(scene);
                        }
                    }
                }
            });
        }
    });
    let mut failed = failed.into_inner().expect("no other panics");
    failed.sort();
    if failed.is_empty() {
        println!("{count} scenes hold what they expect");
        Ok(())
    } else {
        Err(format!("these scenes do not hold what they expect: {}", failed.join(", ")))
    }
}

fn run(taut: &Path, scene: &str, out: &Path) -> Result<(), String> {
    let output = Command::new(taut)
        .args(["run", scene, "--force", "--threads", "1", "-o"])
        .arg(out)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{}: {error}", taut.display()))?;
    // The folder of a run that failed is left to be looked at.
    if output.status.success() {
        let _ = fs::remove_dir_all(out);
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(format!("{}\n{}", output.status, String::from_utf8_lossy(&said)))
}
