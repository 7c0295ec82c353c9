//! Healthy sites raise nothing, however they live.

use crate::simulate::{DAY, Fault, HOUR, Habit, Rows, STEP, Service, Simulated};

/// Eight kinds of sites.
fn habits() -> [Habit; 8] {
    [
        Habit { name: "steady", ..Habit::default() },
        Habit { name: "sleeps", nights: 0.0, a_day: 60.0, ..Habit::default() },
        Habit { name: "works", weekends: 0.0, nights: 0.05, a_day: 40.0, history: 6 * DAY, ..Habit::default() },
        Habit { name: "bursts", bursts: 4, a_day: 6.0, ..Habit::default() },
        Habit { name: "today", rows: Rows::Today, weekends: 0.1, nights: 0.2, a_day: 80.0, ..Habit::default() },
        Habit { name: "slow", a_day: 0.3, lists: 1, rows: Rows::Newest(20), ..Habit::default() },
        Habit { name: "boards", rows: Rows::Boards, lists: 40, a_day: 30.0, ..Habit::default() },
        Habit { name: "maintained", is_maintained: true, refused: 0.2, a_day: 30.0, lists: 12, ..Habit::default() },
    ]
}

#[test]
fn eight_healthy_sites_raise_nothing_over_thirty_days() {
    for seed in 1..=12_u64 {
        let mut service = Service::default();
        let mut sites: Vec<Simulated> =
            habits().into_iter().enumerate().map(|(at, habit)| Simulated::new(habit, seed * 100 + at as u64)).collect();
        // They begin on any day of the week.
        let first = seed % 7 * DAY;
        for at in (first..first + 30 * DAY).step_by(STEP as usize) {
            let seen = sites.iter_mut().map(|site| site.seen(at, Fault::None)).collect();
            let events = service.step(at, seen);
            assert!(events.is_empty(), "seed {seed}, day {} {} h: {events:#?}", at / DAY, at % DAY / HOUR);
            // A restart now and then.
            if at.is_multiple_of(5 * DAY + 5 * HOUR) {
                service.watch = serde_json::from_str(&serde_json::to_string(&service.watch).unwrap()).unwrap();
                service.book = serde_json::from_str(&serde_json::to_string(&service.book).unwrap()).unwrap();
            }
        }
    }
}
