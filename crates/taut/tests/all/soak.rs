//! The first of the random scenes and grooms of `cargo xtask soak`.

#[path = "../../examples/soak/grooms.rs"]
mod grooms;
#[path = "../../examples/soak/run.rs"]
mod run;
#[path = "../../examples/soak/scenes.rs"]
mod scenes;

/// Number of scenes: a minute's.
const SCENES: u64 = 40;

#[test]
#[ignore = "full tier: long"]
fn random_scenes_end_in_finite_numbers_hold_limits_or_say_so_and_stay_free_of_intersections() {
    let mut tally = run::Tally::default();
    for number in 0..SCENES {
        if let Err(why) = run::run(number, &mut tally) {
            tally.failures.push(format!("scene {number}: {why}"));
        }
        if run::has_groom(number)
            && let Err(why) = run::run_groom(number, &mut tally)
        {
            tally.failures.push(format!("groom {number}: {why}"));
        }
    }
    assert!(tally.failures.is_empty(), "{}", tally.failures.join("\n"));
    assert!(tally.free * 25 >= SCENES, "few scenes say anything of contact: {}", tally.free);
    assert!(tally.compared * 10 >= SCENES, "few scenes were run with one thread: {}", tally.compared);
    assert!(tally.unmet > 0 && tally.frames > tally.unmet, "{} of {} frames", tally.unmet, tally.frames);
}
