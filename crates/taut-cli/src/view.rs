//! `taut view`: opens the studio and waits until it is no longer wanted.

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

/// Opens the studio as `args` ask.
pub fn view(args: &ViewArgs) -> Result<ExitCode, Failure> {
    let page = match &args.page {
        Some(folder) if folder.join("index.html").is_file() => Page::Folder(folder.clone()),
        Some(folder) => {
            let message = format!("{} holds no page: there is no index.html", folder.display());
            return Err(Failure::input(
                message,
                "`npm ci && npm run build` in crates/taut-studio/web makes dist",
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
            "listening on {address}: whoever reaches this machine and has the token can watch and drive; nothing is encrypted"
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
    .map_err(told)?;
    let url = studio.url();
    terminal::print(&format!("{}\n", styled(BOLD, &url)))?;
    terminal::note("ctrl-C ends it");
    if !args.no_open && !open(&url) {
        terminal::note("no browser could be opened: open the address yourself");
    }
    while !interrupt.is_asked() {
        std::thread::sleep(Duration::from_millis(100));
    }
    drop(studio);
    Ok(ExitCode::SUCCESS)
}

fn problem(message: &str) -> taut_io::Problem {
    taut_io::Problem { message: message.into(), ..taut_io::Problem::default() }
}

fn told(error: StudioError) -> Failure {
    match error {
        StudioError::Input(problems) => problems.into(),
        StudioError::Listen { .. } => {
            Failure::input(error.to_string(), "choose another port with --port, or leave it away")
        }
        error => problem(&error.to_string()).into(),
    }
}

/// Opens `url` in the user's browser; false if there is no way to.
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
