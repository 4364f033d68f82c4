//! `taut view`: runs the studio until it is interrupted.

use std::{
    process::{Command, ExitCode, Stdio},
    time::Duration,
};

use taut_studio::{Options, Studio, StudioError, page::Page};

use crate::{
    args::ViewArgs,
    failure::Failure,
    interrupt::Interrupt,
    terminal::{self, BOLD, styled},
};

/// Runs the studio.
pub fn view(args: &ViewArgs) -> Result<ExitCode, Failure> {
    let page = match &args.page {
        Some(folder) if folder.join("index.html").is_file() => Page::Folder(folder.clone()),
        Some(folder) => {
            let message = format!("no page in {}: index.html is missing", folder.display());
            return Err(Failure::input(
                message,
                "`npm ci && npm run build` in crates/taut-studio/web builds dist",
            ));
        }
        None => match Page::missing() {
            None => Page::Built,
            Some(why) => return Err(Failure::Input { problems: problem(why).into(), hint: None }),
        },
    };
    if let Some(address) = args.listen
        && !address.is_loopback()
    {
        terminal::warning(&format!(
            "listening on {address}: anyone with the token who can reach this machine can watch and control the simulation; the connection is not encrypted"
        ));
    }
    let interrupt = Interrupt::listen_quietly();
    let studio = Studio::start(Options {
        overrides: args.set.set.clone(),
        port: args.port,
        listen: args.listen,
        threads: args.threads.asked(),
        page,
        playing: !args.paused,
        ..Options::new(&args.what)
    })
    .map_err(failure)?;
    let url = studio.url();
    terminal::print(&format!("{}\n", styled(BOLD, &url)))?;
    terminal::note("ctrl-C to exit");
    if !args.no_open && !open(&url) {
        terminal::note("could not open a browser: open the address manually");
    }
    while !interrupt.is_requested() {
        std::thread::sleep(Duration::from_millis(100));
    }
    drop(studio);
    Ok(ExitCode::SUCCESS)
}

fn problem(message: &str) -> taut_io::Problem {
    taut_io::Problem { message: message.into(), ..taut_io::Problem::default() }
}

fn failure(error: StudioError) -> Failure {
    match error {
        StudioError::Input(problems) => problems.into(),
        StudioError::Listen { .. } => {
            Failure::input(error.to_string(), "choose another port with --port, or omit it")
        }
        error => problem(&error.to_string()).into(),
    }
}

/// Opens `url` in the default browser; false if that fails.
fn open(url: &str) -> bool {
    let (program, args): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    let quiet = || Stdio::null();
    Command::new(program).args(args).arg(url).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn().is_ok()
}
