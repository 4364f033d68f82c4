//! Random scenes, a thousand by default: whatever is described ends in finite numbers, limits hold or are
//! reported, and what is free of intersections stays so. `cargo xtask soak` runs it.
//!
//! `soak [--scenes N] [--from NUMBER]`: scene NUMBER and those after it. A scene that fails is printed with
//! its number, and can be run alone by `--from NUMBER --scenes 1`.

mod run;
mod scenes;

use std::{
    io::{IsTerminal, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    time::Instant,
};

use run::{Tally, run};

fn main() {
    let (scenes, from) = arguments(std::env::args().skip(1)).unwrap_or_else(|why| {
        eprintln!("error: {why}\nusage: soak [--scenes N] [--from NUMBER]");
        std::process::exit(2);
    });
    let (begun, mut tally) = (Instant::now(), Tally::default());
    for number in from..from + scenes {
        show(number - from, scenes, begun, &tally);
        let ran = catch_unwind(AssertUnwindSafe(|| run(number, &mut tally)));
        let failed = ran.unwrap_or_else(|panic| {
            let words = panic.downcast_ref::<String>().map(String::as_str);
            let words = words.or(panic.downcast_ref::<&str>().copied()).unwrap_or("of unknown cause");
            Err(format!("panic: {words}"))
        });
        if let Err(why) = failed {
            println!("\rscene {number}: {why}");
            tally.failures.push(format!("scene {number}: {why}"));
        }
    }
    let Tally { failures, slow, free, compared, frames, unmet } = tally;
    println!(
        "\r{scenes} scenes, {frames} frames in {:.0} s: {free} had to stay free of intersections, {compared} ran with one \
         thread as well, limits gave way or were not met in {unmet} frames, and it was reported",
        begun.elapsed().as_secs_f64()
    );
    slow.iter().for_each(|slow| println!("slow: {slow}"));
    failures.iter().for_each(|failure| println!("FAILED {failure}"));
    if !failures.is_empty() {
        println!("{} scenes failed", failures.len());
        std::process::exit(1);
    }
    if scenes >= 25 && free * 25 < scenes {
        println!("few scenes say anything of contact: {free}");
        std::process::exit(1);
    }
}

/// Number of scenes, and the first.
fn arguments(mut words: impl Iterator<Item = String>) -> Result<(u64, u64), String> {
    let (mut scenes, mut from) = (1000, 0);
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{word} needs a number"))?;
        let value = value.parse().map_err(|_| format!("{word}: {value} is no number"))?;
        match word.as_str() {
            "--scenes" => scenes = value,
            "--from" => from = value,
            _ => return Err(format!("unknown option {word}")),
        }
    }
    Ok((scenes, from))
}

/// The progress bar; without a terminal, one line for every tenth.
fn show(done: u64, all: u64, begun: Instant, tally: &Tally) {
    let (part, failed) = (40 * done / all.max(1), tally.failures.len());
    let seconds = begun.elapsed().as_secs();
    if std::io::stderr().is_terminal() {
        let bar: String = (0..40).map(|k| if k < part { '=' } else { ' ' }).collect();
        eprint!("\r[{bar}] {done}/{all}, {failed} failed, {seconds} s ");
        std::io::stderr().flush().ok();
    } else if done.is_multiple_of((all / 10).max(1)) {
        eprintln!("{done} of {all} scenes, {failed} failed, {seconds} s");
    }
}
