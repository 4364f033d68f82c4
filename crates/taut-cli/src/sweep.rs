//! `taut sweep`: one scene with every combination of some values, each run in a process of its own.

mod openjd;
mod page;

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode, Stdio},
    time::Duration,
};

use serde::Serialize;
use serde_json::Value;
use taut_io::{Problem, output::atomic, scene};

use crate::{
    args::SweepArgs,
    failure::{Failure, code},
    interrupt::Interrupt,
    progress::Share,
    terminal,
};

pub use openjd::frames_template;

/// How often children are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Size of the pictures of the page \[pixels\].
const PICTURE: &str = "480x270";

/// Figures of an outcome that the table has.
const FIGURES: [&str; 5] = ["max_strain", "min_strain", "max_residual", "max_bend_excess", "max_penetration"];

/// Most runs of a sweep: their folders have four digits.
const MOST_RUNS: usize = 10_000;

/// One run: its values by key, as written.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Planned {
    run: usize,
    values: Vec<(String, String)>,
}

/// A row of the table.
#[derive(Clone, Debug, Serialize)]
struct Row {
    run: usize,
    folder: String,
    values: serde_json::Map<String, Value>,
    status: String,
    figures: serde_json::Map<String, Value>,
    wall_seconds: Option<f64>,
}

/// Sweeps a scene.
pub fn sweep(args: &SweepArgs) -> Result<ExitCode, Failure> {
    let plan = plan(&args.vary)?;
    let name = check(args, &plan)?;
    let root = args.out.clone().unwrap_or_else(|| Path::new("out").join(format!("{name}-sweep")));
    if let Some(engine) = &args.submit {
        return openjd::submit(args, engine, &root, plan.len());
    }
    make_folder(&root)?;
    keep_plan(&root, &plan, args)?;
    let wanted: Vec<&Planned> = match args.only {
        None => plan.iter().collect(),
        Some(run) => vec![plan.get(run).ok_or_else(|| no_run(run, plan.len()))?],
    };
    let interrupt = Interrupt::listen();
    let done = run_all(args, &root, &wanted, &interrupt)?;
    if args.only.is_some() {
        return Ok(if done { ExitCode::SUCCESS } else { code::INTERRUPTED.into() });
    }
    let rows: Vec<Row> = plan.iter().map(|planned| Row::of(&root, planned)).collect();
    write_tables(&root, &args.vary_keys(), &rows)?;
    if !done {
        terminal::note("interrupted; the same command goes on with the runs that are left");
        return Ok(code::INTERRUPTED.into());
    }
    draw(&root, &rows, args.quiet || args.json)?;
    page::write(&root, &name, &args.vary_keys(), &rows)?;
    report(args, &root, &rows)
}

/// All combinations of the values of `vary`, the last key fastest.
fn plan(vary: &[String]) -> Result<Vec<Planned>, Failure> {
    let mut all: Vec<Vec<(String, String)>> = vec![Vec::new()];
    for given in vary {
        let (key, values) = given.split_once('=').ok_or_else(|| {
            let hint = "write KEY=VALUE,VALUE,…, as in --vary cloth.sheet.strain.max=0.01,0.05";
            Failure::input(format!("--vary {given}: missing '='"), hint)
        })?;
        let (key, values) = (key.trim().to_owned(), split(values));
        if all[0].iter().any(|(known, _)| *known == key) {
            return Err(Failure::input(
                format!("--vary {key} is given twice"),
                "list all values of a key once",
            ));
        }
        if values.iter().any(String::is_empty) {
            let hint = "write KEY=VALUE,VALUE,… without empty values";
            return Err(Failure::input(format!("--vary {given}: a value is missing"), hint));
        }
        let with = |before: &Vec<(String, String)>, value: &String| {
            before.iter().cloned().chain([(key.clone(), value.clone())]).collect()
        };
        all = all.iter().flat_map(|before| values.iter().map(move |value| with(before, value))).collect();
        if all.len() > MOST_RUNS {
            let message = format!("a sweep of more than {MOST_RUNS} runs");
            return Err(Failure::input(message, "split it into several"));
        }
    }
    Ok(all.into_iter().enumerate().map(|(run, values)| Planned { run, values }).collect())
}

/// Values between commas or semicolons, but for those inside brackets, braces and quotes.
fn split(values: &str) -> Vec<String> {
    let (mut parts, mut depth, mut quote) = (vec![String::new()], 0i32, None);
    for c in values.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth -= 1,
            (None, ',' | ';') if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    parts.iter().map(|part| part.trim().to_owned()).collect()
}

impl Planned {
    fn overrides(&self) -> impl Iterator<Item = String> {
        self.values.iter().map(|(key, value)| format!("{key}={value}"))
    }

    fn folder(&self) -> String {
        format!("{:04}", self.run)
    }
}

/// Loads the scene with all values before anything runs; gives its name.
fn check(args: &SweepArgs, plan: &[Planned]) -> Result<String, Failure> {
    let mut name = String::new();
    for planned in plan {
        let mut overrides = args.set.set.clone();
        overrides.extend(args.frames.map(|n| format!("scene.frames={n}")));
        overrides.extend(planned.overrides());
        name = scene::load(&args.scene, &overrides)?.name;
    }
    Ok(name)
}

fn no_run(run: usize, count: usize) -> Failure {
    Failure::input(format!("--only {run}: the sweep has runs 0 to {}", count - 1), "choose one of them")
}

fn cannot_write(path: &Path, why: &str) -> Failure {
    let message = format!("could not write {}: {why}", path.display());
    Failure::Write { message, hint: Some("the same command goes on with the runs that are left".into()) }
}

/// Makes the folder of a sweep. One that cannot be made is bad input, as with `taut run`.
fn make_folder(root: &Path) -> Result<(), Failure> {
    fs::create_dir_all(root).map_err(|error| {
        let message = format!("could not create {}: {error}", root.display());
        Failure::input(message, "choose another folder with -o")
    })
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    atomic::write(path, text.as_bytes()).map_err(|error| cannot_write(path, &error.to_string()))
}

/// A folder belongs to one sweep, whose values are in `values.json`.
fn keep_plan(root: &Path, plan: &[Planned], args: &SweepArgs) -> Result<(), Failure> {
    let path = root.join("values.json");
    let text = serde_json::json!({ "scene": args.scene, "set": args.set.set, "runs": plan }).to_string();
    match fs::read_to_string(&path) {
        Ok(there) if there == text => Ok(()),
        Ok(_) => {
            let problem = Problem {
                file: Some(root.into()),
                message: "contains a sweep of other values".into(),
                ..Problem::default()
            };
            let hint = Some("choose another folder with -o".into());
            Err(Failure::Input { problems: problem.into(), hint })
        }
        Err(_) => write(&path, &text),
    }
}

/// The outcome of a run that is done.
fn outcome(root: &Path, planned: &Planned) -> Option<Value> {
    let text = fs::read_to_string(root.join(planned.folder()).join("outcome.json")).ok()?;
    let outcome: Value = serde_json::from_str(&text).ok()?;
    let is_done = ["done", "expectation-failed"].contains(&outcome["status"].as_str()?);
    is_done.then_some(outcome)
}

/// Runs all that are not done, some at a time; false if interrupted.
fn run_all(
    args: &SweepArgs,
    root: &Path,
    wanted: &[&Planned],
    interrupt: &Interrupt,
) -> Result<bool, Failure> {
    let mut waiting: Vec<&Planned> = wanted.to_vec();
    waiting.retain(|planned| outcome(root, planned).is_none());
    waiting.reverse();
    let share = Share::new(args.quiet || args.json, format!("{} runs", wanted.len()));
    let mut running: Vec<(usize, Child)> = Vec::new();
    let mut failed = None;
    let mut is_told = false;
    while !running.is_empty() || (!waiting.is_empty() && failed.is_none() && !interrupt.is_requested()) {
        while running.len() < args.jobs && failed.is_none() && !interrupt.is_requested() {
            let Some(planned) = waiting.pop() else { break };
            running.push((planned.run, start(args, root, planned)?));
        }
        if interrupt.is_requested() && !is_told {
            is_told = true;
            running.iter().for_each(|(_, child)| stop(child));
        }
        let mut k = 0;
        while k < running.len() {
            let ended = running[k].1.try_wait().map_err(|error| cannot_write(root, &error.to_string()))?;
            let Some(status) = ended else {
                k += 1;
                continue;
            };
            let (run, child) = running.swap_remove(k);
            let is_fine = matches!(status.code(), Some(0 | 1)) || interrupt.is_requested();
            if !is_fine && failed.is_none() {
                failed = Some((run, status.code(), said(child)));
            }
        }
        share.show(1.0 - (waiting.len() + running.len()) as f64 / wanted.len().max(1) as f64);
        std::thread::sleep(LOOK_EVERY);
    }
    share.finish();
    match failed {
        Some((run, status, said)) => {
            let hint = "the same command goes on with the runs that are left";
            let message = format!("run {run:04} failed: {said}");
            Err(match status {
                Some(status) if status == i32::from(code::BAD_INPUT) => Failure::input(message, hint),
                _ => Failure::Write { message, hint: Some(hint.into()) },
            })
        }
        None => Ok(!interrupt.is_requested()),
    }
}

/// The errors that a child has printed; all that it has, if it names none.
fn said(mut child: Child) -> String {
    let mut text = String::new();
    if let Some(errors) = &mut child.stderr {
        let _ = errors.read_to_string(&mut text);
    }
    let errors: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("error: ")).collect();
    if errors.is_empty() { text.trim().to_owned() } else { errors.join("; ") }
}

/// Asks a run to stop after the frame that it computes.
fn stop(child: &Child) {
    #[cfg(unix)]
    if let Ok(id) = i32::try_from(child.id()) {
        use nix::{
            sys::signal::{Signal, kill},
            unistd::Pid,
        };
        // One that has just ended is no error.
        let _ = kill(Pid::from_raw(id), Signal::SIGINT);
    }
    #[cfg(not(unix))]
    let _ = child;
}

/// Starts a run, or goes on with it.
fn start(args: &SweepArgs, root: &Path, planned: &Planned) -> Result<Child, Failure> {
    let mut command = taut()?;
    command.arg("run").arg(&args.scene).arg("-o").arg(root.join(planned.folder()));
    command.args(["--resume", "--quiet", "--threads", &args.threads_each.to_string()]);
    for given in args.set.set.iter().cloned().chain(planned.overrides()) {
        command.arg("--set").arg(given);
    }
    command.args(args.frames.map(|n| format!("--frames={n}")));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    // Ctrl-C is passed on once; a second one would end runs inside a frame.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().map_err(|error| cannot_write(root, &error.to_string()))
}

/// This program.
fn taut() -> Result<Command, Failure> {
    let own = std::env::current_exe();
    own.map(Command::new).map_err(|error| Failure::input(format!("taut cannot find itself: {error}"), ""))
}

impl Row {
    fn of(root: &Path, planned: &Planned) -> Self {
        let outcome = outcome(root, planned).unwrap_or_default();
        let mut figures = serde_json::Map::new();
        for key in FIGURES {
            let figure = &outcome["figures"][key];
            let value = if figure.is_object() { &figure["value"] } else { figure };
            if value.is_number() {
                figures.insert(key.into(), value.clone());
            }
        }
        Self {
            run: planned.run,
            folder: planned.folder(),
            values: planned.values.iter().map(|(key, value)| (key.clone(), typed(value))).collect(),
            status: outcome["status"].as_str().unwrap_or("unfinished").into(),
            figures,
            wall_seconds: outcome["wall_seconds"].as_f64(),
        }
    }
}

/// A value as JSON: a number, true or false, an array of such, or else its text.
fn typed(value: &str) -> Value {
    serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.trim_matches('"').into()))
}

/// Writes `sweep.json` and `sweep.csv`.
fn write_tables(root: &Path, keys: &[String], rows: &[Row]) -> Result<(), Failure> {
    let json = serde_json::to_string_pretty(&serde_json::json!({ "keys": keys, "runs": rows }));
    write(&root.join("sweep.json"), &(json.unwrap_or_default() + "\n"))?;
    let quoted = |text: String| match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    };
    let mut csv = String::new();
    let columns = ["run", "folder"].iter().map(|c| (*c).to_owned()).chain(keys.iter().cloned());
    let columns = columns.chain(["status".into()]).chain(FIGURES.map(String::from));
    csv += &(columns.chain(["wall_seconds".into()]).map(quoted).collect::<Vec<_>>().join(",") + "\n");
    for row in rows {
        let text = |value: Option<&Value>| match value {
            None => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        let mut cells = vec![row.run.to_string(), row.folder.clone()];
        cells.extend(keys.iter().map(|key| text(row.values.get(key))));
        cells.push(row.status.clone());
        cells.extend(FIGURES.iter().map(|key| text(row.figures.get(*key))));
        cells.push(row.wall_seconds.map_or_else(String::new, |seconds| format!("{seconds:.3}")));
        csv += &(cells.into_iter().map(quoted).collect::<Vec<_>>().join(",") + "\n");
    }
    write(&root.join("sweep.csv"), &csv)
}

/// Draws the last frame of every run.
fn draw(root: &Path, rows: &[Row], quiet: bool) -> Result<(), Failure> {
    let share = Share::new(quiet, "drawing");
    for (k, row) in rows.iter().enumerate() {
        share.show(k as f64 / rows.len() as f64);
        let mut command = taut()?;
        command.arg("render").arg(root.join(&row.folder)).arg("-o").arg(picture(root, row));
        command.args(["--size", PICTURE, "--quiet", "--force"]).stdin(Stdio::null());
        let drawn = command.output().map_err(|error| cannot_write(root, &error.to_string()))?;
        if !drawn.status.success() {
            let why = String::from_utf8_lossy(&drawn.stderr);
            terminal::warning(&format!("run {} is not drawn: {}", row.folder, why.trim()));
        }
    }
    share.finish();
    Ok(())
}

fn picture(root: &Path, row: &Row) -> PathBuf {
    root.join(format!("{}.png", row.folder))
}

fn report(args: &SweepArgs, root: &Path, rows: &[Row]) -> Result<ExitCode, Failure> {
    let keys = args.vary_keys();
    if args.json {
        terminal::print_json(&serde_json::json!({ "keys": keys, "runs": rows }))?;
    } else if !args.quiet {
        let mut head = vec!["run".to_owned()];
        head.extend(keys.iter().cloned());
        head.extend(["status".into(), "max strain".into(), "max residual".into()]);
        let line = |row: &Row| {
            let mut cells = vec![row.folder.clone()];
            cells.extend(
                keys.iter().map(|key| row.values.get(key).map_or_else(String::new, Value::to_string)),
            );
            cells.push(row.status.clone());
            for key in ["max_strain", "max_residual"] {
                let number = row.figures.get(key).and_then(Value::as_f64);
                cells.push(number.map_or_else(|| "-".into(), |number| format!("{number:.5}")));
            }
            cells
        };
        let table: Vec<Vec<String>> = std::iter::once(head).chain(rows.iter().map(line)).collect();
        terminal::print(&terminal::table(&table))?;
        terminal::print(&format!("{}\n", root.join("index.html").display()))?;
    }
    let unmet = rows.iter().any(|row| row.status == "expectation-failed");
    Ok(if unmet { code::CHECK_FAILED.into() } else { ExitCode::SUCCESS })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_split_outside_of_brackets_and_quotes() {
        assert_eq!(split("1,2;3"), ["1", "2", "3"]);
        assert_eq!(split("[64,64], [8,8]"), ["[64,64]", "[8,8]"]);
        assert_eq!(split("{max=1,min=0};\"a,b\""), ["{max=1,min=0}", "\"a,b\""]);
        assert_eq!(split("1,"), ["1", ""]);
    }

    #[test]
    fn a_plan_is_the_product_of_its_values() {
        let plan = plan(&["a=1,2".into(), "b=x,y,z".into()]).unwrap();
        let texts: Vec<String> = plan.iter().map(|p| p.overrides().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(texts, ["a=1 b=x", "a=1 b=y", "a=1 b=z", "a=2 b=x", "a=2 b=y", "a=2 b=z"]);
        assert_eq!(plan[5].folder(), "0005");
        for bad in [vec!["a".into()], vec!["a=1".into(), "a=2".into()], vec!["a=1,,2".into()]] {
            assert!(super::plan(&bad).is_err(), "{bad:?}");
        }
        let many = (0..101).map(|k| k.to_string()).collect::<Vec<_>>().join(",");
        assert!(super::plan(&[format!("a={many}"), format!("b={many}")]).is_err());
    }

    #[test]
    fn values_are_typed() {
        assert_eq!(typed("0.5"), serde_json::json!(0.5));
        assert_eq!(typed("[1,2]"), serde_json::json!([1, 2]));
        assert_eq!(typed("\"silk\""), serde_json::json!("silk"));
        assert_eq!(typed("silk"), serde_json::json!("silk"));
    }
}
