//! `taut verify`: recomputes and checks the certificates of a run.

use std::process::ExitCode;

use taut_io::output::verify::{self, Verification};

use crate::{
    args::VerifyArgs,
    failure::{Failure, code},
    summary,
    terminal::{self, BAD, GOOD, styled},
};

/// Failures printed one by one; the rest are counted.
const MAX_LISTED_FAILURES: usize = 20;

/// Verifies a run folder.
pub fn verify(args: &VerifyArgs) -> Result<ExitCode, Failure> {
    let found = verify::verify(&args.out, args.threads.count()).map_err(|problems| Failure::Input {
        problems,
        hint: Some("give a folder written by `taut run`, as in `taut verify out/hanging-sheet`".into()),
    })?;
    for failure in found.failures.iter().take(MAX_LISTED_FAILURES) {
        terminal::error(&failure.to_string());
    }
    if found.failures.len() > MAX_LISTED_FAILURES {
        terminal::error(&format!(
            "… and {} more (--json lists them all)",
            found.failures.len() - MAX_LISTED_FAILURES
        ));
    }
    if args.json {
        terminal::print_json(&found)?;
    } else {
        terminal::print(&sentence(args, &found))?;
    }
    Ok(if found.ok { ExitCode::SUCCESS } else { code::CHECK_FAILED.into() })
}

fn sentence(args: &VerifyArgs, found: &Verification) -> String {
    let triangles: usize = found.bodies.iter().map(|body| body.triangles).sum();
    let elements = match found.bodies.iter().map(|body| body.tetrahedra).sum() {
        0_usize => format!("triangles: {triangles}"),
        tetrahedra => format!("triangles: {triangles}, tetrahedra: {tetrahedra}"),
    };
    let (frames, bodies, out) = (found.frames, found.bodies.len(), args.out.display());
    if !found.ok {
        let verdict = styled(BAD, "failed verification");
        return format!("{out} {verdict}: {} problems in {frames} frames\n", found.failures.len());
    }
    let f = &found.figures;
    let excess = f.max_bend_excess.value;
    let bend = if excess > 0.0 {
        format!(", bend {excess:.3}° past its limit (frame {})", f.max_bend_excess.frame)
    } else {
        String::new()
    };
    let volume =
        f.solid.as_ref().map_or_else(String::new, |found| format!("volume {}\n", summary::volume(found)));
    let contact =
        f.contact.as_ref().map_or_else(String::new, |found| format!("{}\n", summary::contact(found)));
    format!(
        "{out} {}: {frames} frames, bodies: {bodies}, {elements}\n\
         largest stretch {:+.3} % (frame {}), compression {:+.3} % (frame {}), residual {:.5} (frame {}){bend}\n{volume}{contact}",
        styled(GOOD, "verified"),
        f.max_strain.value * 100.0,
        f.max_strain.frame,
        f.min_strain.value * 100.0,
        f.min_strain.frame,
        f.max_residual.value.max(f.max_edge_residual.value),
        f.max_residual.frame,
    )
}
