//! Tests of what waits for its channel.

use super::*;

fn alarm(id: &str) -> Alarm {
    Alarm {
        id: id.to_owned(),
        kind: "disk-full".to_owned(),
        site: None,
        title: String::new(),
        since_ms: 0,
        away_since_ms: None,
        over_ms: None,
        figures: None,
        rule: None,
        page: None,
        todo: String::new(),
        silenced_until_ms: None,
        note: None,
    }
}

#[test]
fn a_channel_that_fails_for_a_day_is_tried_at_growing_intervals_and_holds_up_no_other() {
    let mut outbox = Outbox::default();
    let begin = UnixMillis(1_000_000);
    outbox.add(What::Fired, &alarm("a-1"), ["bad", "good"], begin);
    outbox.add(What::Over, &alarm("a-1"), ["bad", "good"], begin.plus(Duration::from_secs(60)));
    let (mut tries, mut good, mut dropped) = (Vec::new(), Vec::new(), 0);
    for second in (0..3 * 86_400).step_by(10) {
        let now = begin.plus(Duration::from_secs(second));
        if second == 43_200 {
            // Over a restart.
            outbox = serde_json::from_str(&serde_json::to_string(&outbox).unwrap()).unwrap();
        }
        for message in outbox.due(&["bad", "good"], now) {
            if message.channel == "good" {
                outbox.delivered(message.id);
                good.push(message.what);
                continue;
            }
            tries.push((second, message.what));
            dropped += u32::from(outbox.failed(message.id, now) == Failed::Dropped);
        }
    }
    assert_eq!(good, [What::Fired, What::Over]);
    let first: Vec<u64> = tries.iter().filter(|(_, what)| *what == What::Fired).map(|(at, _)| *at).collect();
    assert_eq!(first[..6], [0, 30, 90, 210, 450, 930]);
    assert!(first.windows(2).all(|pair| pair[1] - pair[0] <= 3_600) && first.len() < 40, "{first:?}");
    assert_eq!((dropped, outbox.waiting(), outbox.failures()["bad"]), (2, 0, tries.len() as u64));
}

#[test]
fn messages_are_bounded_and_those_of_a_channel_that_is_gone_are_forgotten() {
    let mut outbox = Outbox::default();
    for number in 0..500 {
        outbox.add(What::Fired, &alarm(&format!("a-{number}")), ["x"], UnixMillis(0));
    }
    assert_eq!(outbox.waiting(), MESSAGES_MAX);
    assert_eq!(outbox.due(&["x"], UnixMillis(0))[0].alarm.id, "a-300");
    assert!(outbox.due(&["y"], UnixMillis(0)).is_empty() && outbox.waiting() == 0);
}
