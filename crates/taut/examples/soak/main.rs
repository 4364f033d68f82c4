//! Random scenes, a thousand by default: whatever is described ends in finite numbers, limits hold or are
//! reported, and what is free of intersections stays so. `cargo xtask soak` runs it.
//!
//! `soak [--hair] [--scenes N] [--from NUMBER]`: scene NUMBER and those after it; one scene in four is
//! followed by the groom of its number. With `--hair`, grooms alone, of all numbers. What fails is printed
//! with its number, and can be run alone by `[--hair] --from NUMBER --scenes 1`.

mod grooms;
mod run;
mod scenes;

use std::{
    io::{IsTerminal, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    time::Instant,
};

use run::{Tally, has_groom, run, run_groom};

fn main() {
    let Wanted { hair, scenes, from } = Wanted::of(std::env::args().skip(1)).unwrap_or_else(|why| {
        eprintln!("error: {why}\nusage: soak [--hair] [--scenes N] [--from NUMBER]");
        std::process::exit(2);
    });
    let (begun, mut tally) = (Instant::now(), Tally::default());
    for number in from..from + scenes {
        show(number - from, scenes, begun, &tally);
        if !hair {
            note(format!("scene {number}"), &mut tally, |tally| run(number, tally));
        }
        if hair || has_groom(number) {
            note(format!("groom {number}"), &mut tally, |tally| run_groom(number, tally));
        }
    }
    let Tally { failures, slow, free, compared, frames, unmet, grooms, unsettled } = tally;
    let seconds = begun.elapsed().as_secs_f64();
    if !hair {
        println!(
            "\r{scenes} scenes: {free} had to stay free of intersections, {compared} ran with one thread as \
             well, limits gave way or were not met in {unmet} frames, and it was reported"
        );
    }
    println!("\r{grooms} grooms: {unsettled} strands were not solved to the last in a frame");
    println!("{frames} frames in {seconds:.0} s");
    slow.iter().for_each(|slow| println!("slow: {slow}"));
    failures.iter().for_each(|failure| println!("FAILED {failure}"));
    if !failures.is_empty() {
        println!("{} failed", failures.len());
        std::process::exit(1);
    }
    if !hair && scenes >= 25 && free * 25 < scenes {
        println!("few scenes say anything of contact: {free}");
        std::process::exit(1);
    }
}

/// Runs what is called `name`, and notes how it failed, if it did.
fn note(name: String, tally: &mut Tally, run: impl FnOnce(&mut Tally) -> Result<(), String>) {
    let ran = catch_unwind(AssertUnwindSafe(|| run(tally)));
    let failed = ran.unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or(panic.downcast_ref::<&str>().copied()).unwrap_or("of unknown cause");
        Err(format!("panic: {words}"))
    });
    if let Err(why) = failed {
        println!("\r{name}: {why}");
        tally.failures.push(format!("{name}: {why}"));
    }
}

/// What the command line asks for: grooms alone or not, number of scenes, and the first.
struct Wanted {
    hair: bool,
    scenes: u64,
    from: u64,
}

impl Wanted {
    fn of(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut wanted = Self { hair: false, scenes: 1000, from: 0 };
        while let Some(word) = words.next() {
            if word == "--hair" {
                wanted.hair = true;
                continue;
            }
            let value = words.next().ok_or_else(|| format!("{word} needs a number"))?;
            let value = value.parse().map_err(|_| format!("{word}: {value} is no number"))?;
            match word.as_str() {
                "--scenes" => wanted.scenes = value,
                "--from" => wanted.from = value,
                _ => return Err(format!("unknown option {word}")),
            }
        }
        Ok(wanted)
    }
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
