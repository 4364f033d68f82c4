//! `taut dress`: writes a scene in which a sewing pattern is sewn around a body.

use std::{path::PathBuf, process::ExitCode};

use serde::Serialize;
use taut_io::{
    export::Target,
    output::atomic,
    pattern::{self, Contents, Difference, Dressed},
};

use crate::{
    args::DressArgs,
    failure::Failure,
    terminal::{self, BOLD, DIM, styled},
};

/// The result, for scripts.
#[derive(Serialize)]
struct Written<'a> {
    scene: String,
    #[serde(flatten)]
    contents: &'a Contents,
    notes: &'a [String],
}

/// Writes the scene and says what is in it.
pub fn dress(args: &DressArgs) -> Result<ExitCode, Failure> {
    let stem = args.pattern.file_stem().unwrap_or_default();
    let path = args.out.clone().unwrap_or_else(|| PathBuf::from(stem).with_extension("toml"));
    if !path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml")) {
        let message = format!("{} does not end in .toml", path.display());
        return Err(Failure::input(message, "a scene is a .toml file"));
    }
    Target::refuse_existing(&path, args.force).map_err(Failure::at_start)?;
    let Dressed { text, notes, contents } =
        pattern::dress(&args.pattern, &args.body, &path, args.edge.unwrap_or(pattern::DEFAULT_EDGE))?;
    atomic::write(&path, text.as_bytes()).map_err(Failure::at_start)?;
    notes.iter().for_each(|note| terminal::warning(note));
    let scene = path.display().to_string();
    if args.json {
        terminal::print_json(&Written { scene, contents: &contents, notes: &notes })?;
    } else {
        terminal::print(&describe(&scene, &contents))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn describe(scene: &str, contents: &Contents) -> String {
    let Contents { panels, stitches, triangles, opening, worst_stitch } = contents;
    let mut text = format!(
        "{}: {panels} panels, {stitches} stitches, {triangles} triangles; seams up to {:.0} cm open\n",
        styled(BOLD, scene),
        1e2 * opening
    );
    if let Some(Difference { stitch, sides: [a, b], lengths }) = worst_stitch {
        let [first, second] = lengths.map(|length| 1e2 * length);
        let differs = 1e2 * (first - second).abs() / (0.5 * (first + second));
        text.push_str(&format!(
            "  largest difference of sewn lengths: {differs:.1} %, stitch {stitch} ({a}: {first:.1} cm, {b}: {second:.1} cm)\n"
        ));
    }
    text.push_str(&styled(DIM, format!("  next: taut check {scene}, taut run {scene}\n")));
    text
}
