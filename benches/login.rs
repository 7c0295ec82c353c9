//! The time to judge one form, features included: 50 µs at most (docs/design/login.md).

use criterion::{Criterion, criterion_group, criterion_main};
use gleaner_login::form::forms;
use gleaner_login::model::Judge;

const LOGIN: &str = include_str!("login/discuz.html");

fn judge(criterion: &mut Criterion) {
    let judge = Judge::stored();
    let url = "https://bbs.example/member.php?mod=logging&action=login";
    let login = forms(LOGIN).expect("the page has a tree").remove(0);
    let options = "<p><label>Vorname <input name=first_name></label> Passwort vergessen? ".repeat(60);
    let large = forms(&format!("<form>{options}</form>")).expect("the page has a tree").remove(0);
    criterion.bench_function("judge a login form of Discuz!", |bench| bench.iter(|| judge.judge(&login, url)));
    criterion.bench_function("judge a form of 60 fields", |bench| bench.iter(|| judge.judge(&large, url)));
}

criterion_group!(benches, judge);
criterion_main!(benches);
