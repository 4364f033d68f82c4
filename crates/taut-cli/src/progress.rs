//! Progress: a bar on a terminal, a line every few seconds elsewhere.

use std::{
    io::{self, IsTerminal},
    sync::Mutex,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use taut_io::output::metrics::FrameLine;

use crate::terminal;

const LINE_EVERY: Duration = Duration::from_secs(5);
/// Shorter tasks show no progress.
const SHOWN_AFTER: Duration = Duration::from_secs(1);
const STEPS: u64 = 1000;

/// Shows progress on standard error.
pub struct Progress {
    shown: Shown,
    first: u32,
    last: u32,
    started: Instant,
}

enum Shown {
    Nothing,
    Bar(ProgressBar),
    Lines { printed: Instant },
}

impl Progress {
    /// Progress from frame `first`, which exists, to frame `last`.
    pub fn new(quiet: bool, first: u32, last: u32) -> Self {
        let shown = if quiet {
            Shown::Nothing
        } else if io::stderr().is_terminal() {
            let bar = ProgressBar::new(last.into()).with_position(first.into());
            // The remaining time must not count frames from before a resume.
            bar.reset_eta();
            let template = "{bar:32.cyan} {pos}/{len} frames  {eta} left  {msg}";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style.progress_chars("━╸ "));
            }
            bar.enable_steady_tick(Duration::from_millis(200));
            Shown::Bar(bar)
        } else {
            Shown::Lines { printed: Instant::now() }
        };
        Self { shown, first, last, started: Instant::now() }
    }

    /// Shows that a frame is done.
    pub fn show(&mut self, line: &FrameLine) {
        let residual = residual(line);
        // Frames from before a resume do not count.
        let rate =
            f64::from(line.frame.saturating_sub(self.first)) / self.started.elapsed().as_secs_f64().max(1e-9);
        match &mut self.shown {
            Shown::Nothing => {}
            Shown::Bar(bar) => {
                bar.set_position(line.frame.into());
                bar.set_message(format!("{rate:.1} frames/s  residual {residual:.4}"));
            }
            Shown::Lines { printed } if printed.elapsed() >= LINE_EVERY => {
                *printed = Instant::now();
                let left = f64::from(self.last.saturating_sub(line.frame)) / rate;
                terminal::note(&format!(
                    "frame {}/{}, {rate:.1} frames/s, {left:.0} s left, residual {residual:.4}",
                    line.frame, self.last
                ));
            }
            Shown::Lines { .. } => {}
        }
    }

    /// Removes the bar.
    pub fn finish(self) {
        if let Shown::Bar(bar) = self.shown {
            bar.finish_and_clear();
        }
    }
}

/// Largest residual past a limit in a frame.
fn residual(line: &FrameLine) -> f64 {
    let of_body =
        |body: &taut::measure::BodyCertificate| body.strain.max_residual.max(body.strain.max_edge_residual);
    line.certificate.bodies.iter().map(of_body).fold(0.0, f64::max)
}

/// Progress on standard error of tasks that take more than a second: a bar on a terminal, a line every few
/// seconds elsewhere.
pub struct Share {
    quiet: bool,
    what: String,
    started: Instant,
    shown: Mutex<Option<ShareShown>>,
}

enum ShareShown {
    Bar(ProgressBar),
    Lines { printed: Instant },
}

impl Share {
    /// Progress of `what`.
    pub fn new(quiet: bool, what: impl Into<String>) -> Self {
        Self { quiet, what: what.into(), started: Instant::now(), shown: Mutex::new(None) }
    }

    /// Shows the completed fraction, 0 to 1.
    pub fn show(&self, part: f64) {
        if self.quiet || self.started.elapsed() < SHOWN_AFTER {
            return;
        }
        // Another thread that holds the lock shows nearly the same.
        let Ok(mut shown) = self.shown.try_lock() else { return };
        match shown.get_or_insert_with(|| ShareShown::new(&self.what)) {
            ShareShown::Bar(bar) => bar.set_position((part * STEPS as f64) as u64),
            ShareShown::Lines { printed } if printed.elapsed() >= LINE_EVERY => {
                *printed = Instant::now();
                terminal::note(&format!("{}: {:.0} %", self.what, 100.0 * part));
            }
            ShareShown::Lines { .. } => {}
        }
    }

    /// Removes the bar.
    pub fn finish(self) {
        if let Ok(Some(ShareShown::Bar(bar))) = self.shown.into_inner() {
            bar.finish_and_clear();
        }
    }
}

impl ShareShown {
    fn new(what: &str) -> Self {
        if !io::stderr().is_terminal() {
            return Self::Lines { printed: Instant::now() };
        }
        let bar = ProgressBar::new(STEPS).with_message(what.to_owned());
        let template = "{bar:32.cyan} {percent} %  {eta} left  {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("━╸ "));
        }
        Self::Bar(bar)
    }
}
