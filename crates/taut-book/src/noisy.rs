//! Figure 14 of the main paper: a sheet distorted by noise is brought back within ±5 %, over four levels and
//! on the finest level alone, with 512 iterations in all each. The sheet is that of the scene `noisy-sheet`,
//! of 12.8K triangles; the book draws its mean residual ([`charts`]), and the test here asserts who is ahead
//! after 64 and after 512 iterations. The bench `times` of the engine compares times.

use taut::{Scheme, State, Stepper, Tolerance, World, certify};
use taut_render::plot::{Axis, Chart, LimitLine, Series};

/// Levels, which share the iterations equally.
const LEVELS: u32 = 4;
/// Numbers of iterations in all.
const TOTALS: [u32; 8] = [4, 8, 16, 32, 64, 128, 256, 512];

/// What a number of iterations comes to.
#[derive(Clone, Copy, Debug)]
struct Point {
    iterations: u32,
    /// Time spent on limits \[ms\].
    ms: f64,
    /// Mean over triangles of the residual past ±5 %.
    residual: f64,
}

/// One step of the published projection, over levels or on the finest level alone; its time is the best of
/// `repeats`.
fn limited(over_levels: bool, iterations: u32, repeats: u32) -> Result<Point, String> {
    let cells = "cloth.sheet.mesh.grid.cells=[80,80]".to_owned();
    let loaded = taut_io::scene::load("noisy-sheet", &[cells]).map_err(|problems| problems.to_string())?;
    let mut description = loaded.build().map_err(|problems| problems.to_string())?;
    let solver = &mut description.solver;
    solver.scheme = if over_levels { Scheme::Paper } else { Scheme::Serial };
    solver.steps_per_frame = 1;
    // None is left out because all are within the tolerance.
    solver.tolerance = Tolerance::Past(0.0);
    if over_levels {
        (solver.levels, solver.level_iterations) = (LEVELS, iterations / LEVELS);
    }
    solver.iterations = if over_levels { iterations / LEVELS } else { iterations };
    let world = World::new(description).map_err(|error| error.to_string())?;
    let mut stepper = Stepper::new(&world, 1).map_err(|error| error.to_string())?;
    let (mut state, mut ms) = (State::new(&world), f64::INFINITY);
    for _ in 0..repeats {
        state = State::new(&world);
        ms = ms.min(f64::from(stepper.advance_frame(&world, &mut state).limit_ms));
    }
    let residual = certify(&world, &state).bodies[0].strain.mean_residual;
    Ok(Point { iterations, ms, residual })
}

/// Figure 14: the mean residual against iterations and against time.
///
/// # Errors
/// If the scene cannot be built; its own tests would have said so before.
pub fn charts() -> Result<Vec<Chart>, String> {
    let curve = |over_levels| TOTALS.map(|total| limited(over_levels, total, 5)).into_iter().collect();
    let curves: [Result<Vec<Point>, String>; 2] = [curve(true), curve(false)];
    let [levels, alone] = curves;
    let curves = [("four levels", levels?), ("finest level alone", alone?)];
    let chart = |title: &str, x: &str, abscissa: fn(&Point) -> f64| Chart {
        title: title.into(),
        x: Axis { label: x.into(), log: true },
        y: Axis { label: "mean residual".into(), log: true },
        series: curves
            .iter()
            .map(|(name, points)| Series {
                name: (*name).into(),
                points: points.iter().map(|point| [abscissa(point), point.residual]).collect(),
                dashed: false,
            })
            .collect(),
        lines: vec![LimitLine { name: "1 %".into(), y: 0.01 }],
    };
    Ok(vec![
        chart("Residual of a noisy sheet by iterations", "iterations in all", |p| f64::from(p.iterations)),
        chart("The same by time", "time [ms]", |p| p.ms),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paper_fig14_512_iterations_against_512() {
        let after = |iterations| {
            let found = [true, false].map(|over_levels| limited(over_levels, iterations, 1).unwrap());
            println!("over levels {:?}, finest alone {:?}", found[0], found[1]);
            found.map(|point| point.residual)
        };
        // Where both reach the paper's goal of 1 %, levels are ahead.
        let [levels, alone] = after(64);
        assert!(levels < alone && alone < 0.01, "{levels} {alone}");
        // Where the paper's claim does not hold: after 512 this sheet, which starts 8 % past its limits, is
        // nearer to them without levels. The engine's test starts 39 % past them, and confirms it.
        let [levels, alone] = after(512);
        assert!(alone < levels && levels < 0.001, "{levels} {alone}");
    }
}
