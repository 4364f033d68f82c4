//! `taut bench --vary`: one scene with several values of one setting, one after the other.

use taut_io::scene;

use super::{
    effort, measure,
    measure::{Row, Subject},
};
use crate::{args::BenchArgs, failure::Failure};

/// One scene with the values that `vary` lists, and the growth of time from each to the next.
pub fn vary(args: &BenchArgs, name: &str, vary: &str) -> Result<Vec<Row>, Failure> {
    let Some((key, values)) = vary.split_once('=') else {
        return Err(Failure::input(
            format!("--vary {vary}: missing '='"),
            "write KEY=VALUE;VALUE;VALUE, for example 'cloth.sheet.strain.max=0.01;0.05'",
        ));
    };
    let mut rows: Vec<Row> = Vec::new();
    for value in values.split(';').map(str::trim) {
        let mut overrides = args.set.set.clone();
        overrides.push(format!("{key}={value}"));
        let scene = scene::load(name, &overrides)?;
        let subject = Subject::new(&scene, Some(value.into()), args.threads.count())?;
        let mut found = measure(vec![subject], &effort(args));
        for row in &mut found {
            if let Some(last) = rows.last() {
                let larger = row.elements() as f64 / last.elements() as f64;
                row.growth = growth(larger, row.median_ms / last.median_ms);
                let cpu = row.median_cpu_ms.zip(last.median_cpu_ms);
                row.cpu_growth = cpu.and_then(|(now, before)| growth(larger, now / before));
            }
        }
        rows.append(&mut found);
    }
    Ok(rows)
}

/// The exponent p with `larger`^p = `slower`.
fn growth(larger: f64, slower: f64) -> Option<f64> {
    let power = slower.ln() / larger.ln();
    power.is_finite().then_some(power)
}
