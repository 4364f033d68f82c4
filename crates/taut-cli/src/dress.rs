//! `taut dress`: writes a scene in which sewing patterns are sewn around a body.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use serde::Serialize;
use taut_io::{
    export::Target,
    output::atomic,
    pattern::{self, Contents, Difference, Dressed, DressedGarment},
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
    /// Of a single pattern.
    #[serde(flatten)]
    contents: Option<&'a Contents>,
    /// From the body outwards.
    garments: &'a [DressedGarment],
    notes: &'a [String],
}

/// Writes the scene and says what is in it.
pub fn dress(args: &DressArgs) -> Result<ExitCode, Failure> {
    let (patterns, body) = files(args)?;
    let stem = patterns[0].file_stem().unwrap_or_default();
    let path = args.out.clone().unwrap_or_else(|| PathBuf::from(stem).with_extension("toml"));
    if !path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml")) {
        let message = format!("{} does not end in .toml", path.display());
        return Err(Failure::input(message, "a scene is a .toml file"));
    }
    Target::refuse_existing(&path, args.force).map_err(Failure::at_start)?;
    let Dressed { text, notes, garments } =
        pattern::dress(patterns, body, &path, args.edge.unwrap_or(pattern::DEFAULT_EDGE))?;
    atomic::write(&path, text.as_bytes()).map_err(Failure::at_start)?;
    notes.iter().for_each(|note| terminal::warning(note));
    let scene = path.display().to_string();
    if args.json {
        let contents = if let [garment] = &garments[..] { Some(&garment.contents) } else { None };
        terminal::print_json(&Written { scene, contents, garments: &garments, notes: &notes })?;
    } else {
        terminal::print(&describe(&scene, &garments))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The patterns and the body.
fn files(args: &DressArgs) -> Result<(&[PathBuf], &Path), Failure> {
    let is_pattern = |path: &Path| path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
    let usage = "taut dress PATTERN… BODY: patterns are .json files, the body is a mesh (.obj, .ply, .stl, .gltf, .glb)";
    match (&args.body, &args.files[..]) {
        (Some(body), patterns) => Ok((patterns, body)),
        (None, [patterns @ .., body]) if !patterns.is_empty() && !is_pattern(body) => Ok((patterns, body)),
        (None, [.., last]) if is_pattern(last) => {
            let message = format!("{} is a pattern, and no body is given to sew it around", last.display());
            Err(Failure::input(message, usage))
        }
        _ => Err(Failure::input("no pattern is given".to_owned(), usage)),
    }
}

fn describe(scene: &str, garments: &[DressedGarment]) -> String {
    let mut text = String::new();
    for DressedGarment { name, contents } in garments {
        let Contents { panels, stitches, triangles, opening, worst_stitch } = contents;
        let title = if garments.len() == 1 { scene.to_owned() } else { format!("{scene}, {name}") };
        text.push_str(&format!(
            "{}: {panels} panels, {stitches} stitches, {triangles} triangles; seams up to {:.0} cm open\n",
            styled(BOLD, title),
            1e2 * opening
        ));
        if let Some(Difference { stitch, sides: [a, b], lengths }) = worst_stitch {
            let [first, second] = lengths.map(|length| 1e2 * length);
            let differs = 1e2 * (first - second).abs() / (0.5 * (first + second));
            text.push_str(&format!(
                "  largest difference of sewn lengths: {differs:.1} %, stitch {stitch} ({a}: {first:.1} cm, {b}: {second:.1} cm)\n"
            ));
        }
    }
    text.push_str(&styled(DIM, format!("  next: taut check {scene}, taut run {scene}\n")));
    text
}
