//! Farms: a sweep, or the pictures of a run, as a template of the Open Job Description, which AWS Deadline
//! Cloud and others take. One task a run, or a range of frames; every task can be repeated, and goes on where
//! it was stopped.

use std::{ops::RangeInclusive, path::Path, process::ExitCode};

use serde_json::{Value, json};

use super::{make_folder, write};
use crate::{args::SweepArgs, failure::Failure, terminal};

/// Engines that jobs can be submitted to.
const ENGINES: &str = "openjd";

/// Frames that one task draws.
const FRAMES_A_TASK: u32 = 16;

/// Writes the template of a sweep of `runs` runs to `root/job.json`.
pub fn submit(args: &SweepArgs, engine: &str, root: &Path, runs: usize) -> Result<ExitCode, Failure> {
    check_engine(engine)?;
    // Tasks run in folders of their own.
    let path = Path::new(&args.scene);
    let scene = match path.is_file() {
        true => std::path::absolute(path).unwrap_or_else(|_| path.into()).display().to_string(),
        false => args.scene.clone(),
    };
    let mut command = vec!["sweep".to_owned(), scene, "-o".into(), "{{Param.Out}}".into()];
    for vary in &args.vary {
        command.extend(["--vary".into(), vary.clone()]);
    }
    for set in &args.set.set {
        command.extend(["--set".into(), set.clone()]);
    }
    command.extend(args.frames.map(|n| format!("--frames={n}")));
    command.extend(["--threads-each".into(), args.threads_each.to_string(), "--quiet".into()]);
    command.extend(["--only".into(), "{{Task.Param.Run}}".into()]);
    let parameter = json!({ "name": "Run", "type": "INT", "range": format!("0-{}", runs - 1) });
    let template = template("taut sweep", ("Runs", parameter), &command);
    save(&root.join("job.json"), &template, args.quiet)
}

/// Writes the template of drawing `frames` of the run in `out`: `options` are those of `taut render`.
pub fn frames_template(
    engine: &str,
    out: &Path,
    frames: &RangeInclusive<u32>,
    (pattern, options): (&Path, &[String]),
    quiet: bool,
) -> Result<ExitCode, Failure> {
    check_engine(engine)?;
    let last = *frames.end();
    let firsts = (*frames.start()..=last).step_by(FRAMES_A_TASK as usize);
    let ranges = firsts.map(|first| format!("{first}-{}", (first + FRAMES_A_TASK - 1).min(last)));
    let parameter = json!({ "name": "Frames", "type": "STRING", "range": ranges.collect::<Vec<String>>() });
    let mut command = vec!["render".to_owned(), "{{Param.Out}}".into(), "-o".into()];
    command.extend([pattern.display().to_string(), "--frames".into(), "{{Task.Param.Frames}}".into()]);
    command.extend(["--force".into(), "--quiet".into()]);
    command.extend_from_slice(options);
    let template = template("taut render", ("Frames", parameter), &command);
    save(&out.join("render-job.json"), &template, quiet)
}

fn check_engine(engine: &str) -> Result<(), Failure> {
    if engine == ENGINES {
        return Ok(());
    }
    Err(Failure::input(format!("--submit {engine}: unknown"), format!("it takes {ENGINES}")))
}

fn template(name: &str, (step, parameter): (&str, Value), command: &[String]) -> Value {
    json!({
        "specificationVersion": "jobtemplate-2023-09",
        "name": name,
        "parameterDefinitions": [
            {
                "name": "Taut",
                "type": "STRING",
                "default": "taut",
                "description": "The program on the machines of the farm."
            },
            {
                "name": "Out",
                "type": "PATH",
                "objectType": "DIRECTORY",
                "dataFlow": "INOUT",
                // Relative to the template.
                "default": ".",
                "description": "A folder that all machines share."
            }
        ],
        "steps": [{
            "name": step,
            "parameterSpace": { "taskParameterDefinitions": [parameter] },
            "script": { "actions": { "onRun": { "command": "{{Param.Taut}}", "args": command } } }
        }]
    })
}

fn save(path: &Path, template: &Value, quiet: bool) -> Result<ExitCode, Failure> {
    let parent = path.parent().unwrap_or(path);
    make_folder(parent)?;
    write(path, &(serde_json::to_string_pretty(template).unwrap_or_default() + "\n"))?;
    if !quiet {
        terminal::print(&format!("{}\n", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}
