//! Unit tests of `login::steps`.

use super::*;

const STEPS: [&str; 9] = [
    "form 1: a login form (0.99); fields u, p",
    "form 1: signs of a login: 6 (more than 5.5; asked 32 times)",
    "form 1: hidden fields: 4 (more than 0.5; asked once)",
    "form 1: login form: 0.99 of 1, 0.55 is needed, 31 trees asked",
    "no proof: /u shows a login form",
    "evidence: the site seemed to accept the login, but /u shows a login form",
    "evidence: another",
    "proof: /u has a link to log out",
    "evidence: /u has a link to log out",
];

fn shown(is_verbose: bool) -> Vec<String> {
    let steps = Steps::new("forum", &Hints::default(), false, is_verbose);
    STEPS.iter().filter_map(|step| steps.lock().line(step)).collect()
}

#[test]
fn only_the_first_question_of_the_trees_is_shown_and_no_proof_twice() {
    assert_eq!(shown(false), [STEPS[0], STEPS[1], STEPS[3], STEPS[4], STEPS[6], STEPS[7]]);
    let all = shown(true);
    assert_eq!(all[2], STEPS[2]);
    assert_eq!(all.len(), 7);
}

#[test]
fn a_form_is_told_as_sent_by_whoever_sends_it() {
    let steps = Steps::new("forum", &Hints::default(), true, false);
    let line = |step: &str| steps.lock().line(step);
    assert_eq!(line("sent to /in").as_deref(), Some("sent to /in"), "nobody else tells");
    steps.hear_requests();
    assert_eq!(line("sent to /in"), None, "said once");
    let verdict = "verdict: the site asks for a CAPTCHA (hint: `gleaner login --interactive`)";
    assert_eq!(line(verdict).as_deref(), Some("verdict: the site asks for a CAPTCHA"));
}

#[test]
fn forms_that_were_seen_are_named_with_their_fields() {
    let steps = ["page of the form: x", STEPS[0], STEPS[1], "form 2: no login form (0.01); fields "];
    let seen = forms_seen(&steps.map(str::to_owned)).unwrap();
    assert_eq!(seen, "form 1, a login form, with the fields u, p; form 2, no login form, with the fields ");
    assert_eq!(forms_seen(&["fields: a=b".to_owned()]), None);
}
