//! `cargo xtask bench`: the benches; with `--against`, this build and another in turns, in one run, since
//! only ratios of figures of the same run mean anything.

use std::path::{Path, PathBuf};

use crate::command::{cargo, json, taut};

/// Ten scenes that have every kind of block in them between them: limits of triangles, of edges, of bends, by
/// direction and of tetrahedra, obstacles, contact, a rigid body, many bodies, levels.
const SCENES: [&str; 10] = [
    "hanging-sheet",
    "sheet-on-sphere",
    "flag",
    "tang-sheet",
    "bend-tight",
    "weave",
    "stack",
    "curtains",
    "trampoline",
    "bar",
];

/// Rounds, in each of which both programs run; frames of a run.
const ROUNDS: usize = 5;
const FRAMES: &str = "20";

/// How much slower, or larger in memory, a scene may be.
const SLOWER: f64 = 1.03;

/// Memory that differs from run to run of the same program \[bytes\].
const MEMORY_NOISE: f64 = 2e6;

/// The benches of the engine; they fail where a promised ratio is not kept.
pub fn bench() -> Result<(), String> {
    cargo(&["bench", "--package", "taut", "--features", "internals"])
}

/// One run's figures.
#[derive(Clone, Copy)]
struct Figures {
    /// Processor time of a frame, in the middle \[ms\].
    ms: f64,
    /// Most memory \[bytes\].
    memory: f64,
}

/// Runs the scenes with `binary` and with this build in turns; fails where this one is slower or larger.
pub fn against(binary: &str) -> Result<(), String> {
    let programs = [PathBuf::from(binary), taut()?];
    println!(
        "median of {ROUNDS} runs, in turns: processor time of the median of {FRAMES} frames, one thread; peak memory"
    );
    println!(
        "{:18}{:>11}{:>11}{:>8}{:>11}{:>11}{:>8}",
        "scene", "before, ms", "now, ms", "ratio", "before, MB", "now, MB", "ratio"
    );
    let mut worse = Vec::new();
    for scene in SCENES {
        let mut found = [Vec::new(), Vec::new()];
        for round in 0..ROUNDS {
            // Who goes first changes from round to round.
            for turn in 0..2 {
                let which = (round + turn) % 2;
                found[which].push(figures(&programs[which], scene)?);
            }
        }
        let [before, now] = found.map(|runs| middle(&runs));
        let (slower, larger) = (now.ms / before.ms, now.memory / before.memory);
        println!(
            "{scene:18}{:11.3}{:11.3}{slower:8.3}{:11.1}{:11.1}{larger:8.3}",
            before.ms,
            now.ms,
            1e-6 * before.memory,
            1e-6 * now.memory
        );
        if slower > SLOWER {
            worse.push(format!("{scene} takes {:.1} % longer", 1e2 * (slower - 1.0)));
        }
        if larger > SLOWER && now.memory - before.memory > MEMORY_NOISE {
            worse.push(format!("{scene} takes {:.1} % more memory", 1e2 * (larger - 1.0)));
        }
    }
    if worse.is_empty() { Ok(()) } else { Err(worse.join("; ")) }
}

fn figures(taut: &Path, scene: &str) -> Result<Figures, String> {
    let rows = json(taut, &["bench", scene, "--frames", FRAMES, "--threads", "1", "--json"])?;
    let number = |key: &str| {
        rows[0][key].as_f64().ok_or_else(|| format!("{}: bench {scene} gives no {key}", taut.display()))
    };
    Ok(Figures { ms: number("median_cpu_ms")?, memory: number("peak_memory")? })
}

/// Both medians.
fn middle(runs: &[Figures]) -> Figures {
    let median = |of: fn(&Figures) -> f64| {
        let mut all: Vec<f64> = runs.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    Figures { ms: median(|run| run.ms), memory: median(|run| run.memory) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_each_figure() {
        let runs = [(1.0, 30.0), (9.0, 10.0), (2.0, 20.0)].map(|(ms, memory)| Figures { ms, memory });
        let found = middle(&runs);
        assert_eq!((found.ms, found.memory), (2.0, 20.0));
    }
}
