//! The whole crawler in virtual time: the real loop, committer, hosts, rules, page reading and stores over a simulated
//! web full of faults, everything from one number. `docs/simulation.md` says what is simulated and what is checked.

mod plan;
mod random;
mod store;
mod web;
mod wire;
mod world;

#[test]
fn one_seed() {
    let seed = std::env::var("GLEANER_SIM_SEED").map_or(1, |text| text.parse().unwrap());
    let history = world::run(plan::Plan::of(seed));
    for entry in &history.log {
        println!("{}", entry.line());
    }
    for lived in &history.lives {
        println!("{:?} {}..{} healed {} {:?}", lived.life, lived.from, lived.until, lived.healed, lived.ends);
    }
    println!("{:?}", history.troubles);
}
