//! Learns the model from a table of features, and measures its accuracy on unseen sites.
//!
//! Deterministic: the same table and seeds give the same model and the same report, byte for byte. Sites are never
//! split: bags and folds are made by site. Reads and writes no file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use gleaner_login::features::{Evidence, Feature, OURS};
use gleaner_login::fields::roles;
use gleaner_login::form::{Form, forms};
use gleaner_login::model::{Judge, Model};
use gleaner_login::tree::Node;
use gleaner_page::tree::TreeError;

use super::grow::{self, Row, Stop, cut_of};
use super::paper::PAPER;

/// How a committee is trained.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub trees: usize,
    pub stop: Stop,
    /// Share of all features that each cut may choose from, in percent: trees that all ask the same make the same errors.
    pub features_percent: usize,
    pub threshold: f32,
}

/// The settings of the stored model. Leaves may have one row, and cuts may have little gain, because many trees vote;
/// more trees than these give the same verdicts. The threshold is above one half because filling in a wrong form reveals
/// a password, while a missed form can be pinned in the rule file.
pub const SETTINGS: Settings =
    Settings { trees: 31, stop: Stop { gain_min: 0.005, rows_min: 1 }, features_percent: 50, threshold: 0.55 };

/// One tree of all features over all rows: the paper's method alone.
pub const ONE_TREE: Settings =
    Settings { trees: 1, stop: Stop { gain_min: 0.01, rows_min: 3 }, features_percent: 100, threshold: 0.5 };

/// Number of folds of the cross-validation.
const FOLDS: usize = 10;
/// Seeds of the cross-validation's folds; the report has mean and worst.
pub const FOLD_SEEDS: [u64; 5] = [1, 2, 3, 4, 5];
const BAG_SEED: u64 = 2013;

/// A labelled form as in the data, one JSON object per line.
#[derive(Debug, Deserialize)]
pub struct Labelled {
    pub site: String,
    pub url: String,
    #[serde(rename = "type")]
    pub kind: String,
    /// Role by field name.
    #[serde(default)]
    pub fields: BTreeMap<String, String>,
    pub html: String,
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    pub site: u32,
    pub is_login: bool,
    /// Whether the right field was found; None if the labels name none.
    pub user_found: Option<bool>,
    pub password_found: Option<bool>,
    /// Numbers of [`OURS`], then of [`PAPER`].
    pub numbers: Vec<f32>,
}

/// The training table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub rows: Vec<Example>,
}

/// Faults of a table.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    #[error("line 1: the columns are not those of this version (hint: gleaner-lab train --table-from FORMS)")]
    Columns,
    #[error("line {line}: {what}")]
    Line { line: usize, what: String },
}

const COLUMNS: [&str; 4] = ["site", "login", "user_found", "password_found"];

impl Table {
    fn header() -> String {
        let names = OURS.iter().chain(PAPER).map(|feature| feature.name);
        COLUMNS.into_iter().chain(names).collect::<Vec<_>>().join("\t")
    }

    /// The table of labelled forms. Sites are numbered in order of appearance; only numbers are taken from a page.
    ///
    /// # Errors
    /// If the parser rejects the HTML of a form.
    pub fn of(labelled: &[Labelled]) -> Result<Self, TreeError> {
        let mut sites: BTreeMap<&str, u32> = BTreeMap::new();
        let mut rows = Vec::with_capacity(labelled.len());
        for of in labelled {
            let next = sites.len() as u32;
            let site = *sites.entry(&of.site).or_insert(next);
            let form = of.form()?;
            let (user_found, password_found) = of.fields_found(&form);
            let evidence = Evidence::of(&form, &of.url);
            let numbers = OURS.iter().chain(PAPER).map(|feature| feature.number(&evidence)).collect();
            rows.push(Example { site, is_login: of.is_login(), user_found, password_found, numbers });
        }
        Ok(Self { rows })
    }

    /// Parses a table.
    ///
    /// # Errors
    /// [`TableError`] with the line.
    pub fn parse(text: &str) -> Result<Self, TableError> {
        let mut lines = text.lines();
        if lines.next() != Some(Self::header().as_str()) {
            return Err(TableError::Columns);
        }
        let columns = OURS.len() + PAPER.len();
        let mut rows = Vec::new();
        for (at, line) in lines.enumerate() {
            let fault = |what: &str| TableError::Line { line: at + 2, what: what.to_owned() };
            let cells: Vec<&str> = line.split('\t').collect();
            let [site, login, user, password, numbers @ ..] = cells.as_slice() else {
                return Err(fault("too few columns"));
            };
            let number = |cell: &&str| cell.parse::<f32>().ok().filter(|of| of.is_finite());
            let numbers: Option<Vec<f32>> = numbers.iter().map(number).collect();
            let found = |cell: &str| match cell {
                "1" => Ok(Some(true)),
                "0" => Ok(Some(false)),
                "-" => Ok(None),
                _ => Err(fault("a field is found (1), not found (0), or not labelled (-)")),
            };
            rows.push(Example {
                site: site.parse().map_err(|_| fault("the site is no number"))?,
                is_login: found(login)?.ok_or_else(|| fault("the form has no label"))?,
                user_found: found(user)?,
                password_found: found(password)?,
                numbers: numbers.filter(|of| of.len() == columns).ok_or_else(|| fault("not a number a feature"))?,
            });
        }
        Ok(Self { rows })
    }

    /// The table as text, with columns separated by tabs.
    #[must_use]
    pub fn text(&self) -> String {
        let found = |of: Option<bool>| of.map_or("-", |is| if is { "1" } else { "0" });
        let mut out = Self::header() + "\n";
        for row in &self.rows {
            let _ = write!(out, "{}\t{}", row.site, u8::from(row.is_login));
            let _ = write!(out, "\t{}\t{}", found(row.user_found), found(row.password_found));
            for number in &row.numbers {
                let _ = write!(out, "\t{number}");
            }
            out.push('\n');
        }
        out
    }
}

impl Labelled {
    #[must_use]
    pub fn is_login(&self) -> bool {
        self.kind == "login"
    }

    /// The record of the form; an empty one if the HTML has none.
    ///
    /// # Errors
    /// Errors of [`forms`].
    pub fn form(&self) -> Result<Form, TreeError> {
        Ok(forms(&self.html)?.into_iter().next().unwrap_or_default())
    }

    /// Whether the user's field and the password's are the labelled ones, if they are labelled.
    fn fields_found(&self, form: &Form) -> (Option<bool>, Option<bool>) {
        let found = |at: Option<usize>, wanted: &[&str]| {
            let is = |name: &str| self.fields.get(name).is_some_and(|role| wanted.contains(&role.as_str()));
            let labelled = self.fields.keys().any(|name| is(name));
            labelled.then(|| at.is_some_and(|at| is(&form.controls[at].name)))
        };
        let roles = roles(form);
        let user = found(roles.user, &["username", "email", "username_or_email"]);
        (user, found(roles.password, &["password"]))
    }
}

/// Trains a committee on the features that start at `first` in the rows' numbers.
#[must_use]
pub fn learn(rows: &[&Example], features: &[Feature], first: usize, settings: Settings) -> Model {
    let mut by_site: BTreeMap<u32, Vec<Row<'_>>> = BTreeMap::new();
    for row in rows {
        let numbers = &row.numbers[first..first + features.len()];
        by_site.entry(row.site).or_default().push(Row { numbers, is_login: row.is_login });
    }
    let sites: Vec<&Vec<Row<'_>>> = by_site.values().collect();
    let tree = |number: usize| {
        if settings.trees == 1 {
            let all: Vec<Row<'_>> = sites.iter().flat_map(|rows| rows.iter().copied()).collect();
            return grow::learn(&all, &mut || (0..features.len()).collect(), settings.stop);
        }
        let mut random = Random::new(BAG_SEED ^ ((number as u64) << 32));
        let bag: Vec<Row<'_>> =
            sites.iter().flat_map(|_| sites[random.below(sites.len() as u64) as usize].iter().copied()).collect();
        let mut some = || {
            let mut chosen: Vec<usize> = (0..features.len()).collect();
            random.shuffle(&mut chosen);
            chosen.truncate((features.len() * settings.features_percent).div_ceil(100));
            chosen.sort_unstable();
            chosen
        };
        grow::learn(&bag, &mut some, settings.stop)
    };
    Model {
        features: features.iter().map(|feature| feature.name.to_owned()).collect(),
        threshold: settings.threshold,
        trees: (0..settings.trees).map(tree).collect(),
    }
}

/// The stored model: our features over the whole table.
#[must_use]
pub fn learn_stored(table: &Table) -> Model {
    learn(&table.rows.iter().collect::<Vec<_>>(), OURS, 0, SETTINGS)
}

/// Counts of verdicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Confusion {
    pub login_as_login: u32,
    pub login_as_other: u32,
    pub other_as_login: u32,
    pub other_as_other: u32,
}

impl Confusion {
    fn add(&mut self, is: bool, said: bool) {
        *match (is, said) {
            (true, true) => &mut self.login_as_login,
            (true, false) => &mut self.login_as_other,
            (false, true) => &mut self.other_as_login,
            (false, false) => &mut self.other_as_other,
        } += 1;
    }

    #[must_use]
    pub fn precision(&self) -> f64 {
        ratio(self.login_as_login, self.login_as_login + self.other_as_login)
    }

    #[must_use]
    pub fn recall(&self) -> f64 {
        ratio(self.login_as_login, self.login_as_login + self.login_as_other)
    }

    #[must_use]
    pub fn f1(&self) -> f64 {
        ratio(2 * self.login_as_login, 2 * self.login_as_login + self.login_as_other + self.other_as_login)
    }
}

/// A ratio, rounded to four places; 0 if `whole` is 0.
fn ratio(part: u32, whole: u32) -> f64 {
    if whole == 0 { 0.0 } else { rounded(f64::from(part) / f64::from(whole)) }
}

fn rounded(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}

/// The result of cross-validation, as printed by `gleaner-lab train`. Ratios are 0 to 1; with several fold seeds, the
/// mean.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    pub forms: usize,
    pub logins: usize,
    pub sites: usize,
    pub folds: usize,
    pub fold_seeds: usize,
    pub login_precision: f64,
    pub login_recall: f64,
    pub login_f1: f64,
    pub login_precision_worst: f64,
    pub login_recall_worst: f64,
    pub login_f1_worst: f64,
    /// Share of forms judged correctly.
    pub accuracy: f64,
    /// One for each fold seed.
    pub confusion: Vec<Confusion>,
    /// The paper's 16 features in one tree, as in the paper.
    pub paper16_f1: f64,
    /// Our features in one tree.
    pub one_tree_f1: f64,
    /// The rule "exactly one password field", as a measure of how hard the forms are.
    pub one_password_f1: f64,
    pub user_field_accuracy: f64,
    pub password_field_accuracy: f64,
    /// The gain in bits of each feature's best single cut on all forms, highest first.
    pub gains: Vec<Gain>,
    /// Lines of the table that were misjudged with at least one fold seed.
    pub wrong_lines: Vec<usize>,
}

/// The gain of one feature.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gain {
    pub feature: &'static str,
    /// Of one cut on all forms.
    pub bits: f64,
    /// Share of the gain of all cuts of the committee.
    pub share: f64,
}

/// Cross-validates on a table, once per fold seed.
#[must_use]
pub fn report(table: &Table, fold_seeds: &[u64]) -> Report {
    let validated = |features: &[Feature], first: usize, settings: Settings| -> Vec<(Confusion, Vec<bool>)> {
        fold_seeds.iter().map(|seed| cross_validate(table, features, first, settings, *seed)).collect()
    };
    let mean = |of: &[(Confusion, Vec<bool>)], what: fn(&Confusion) -> f64| {
        rounded(of.iter().map(|(confusion, _)| what(confusion)).sum::<f64>() / of.len() as f64)
    };
    let worst = |of: &[(Confusion, Vec<bool>)], what: fn(&Confusion) -> f64| {
        of.iter().map(|(confusion, _)| what(confusion)).fold(1.0, f64::min)
    };
    let ours = validated(OURS, 0, SETTINGS);
    let right: u32 = ours.iter().map(|(of, _)| of.login_as_login + of.other_as_other).sum();
    let all: u32 = (table.rows.len() * ours.len()) as u32;
    let wrong = |row: &usize| ours.iter().any(|(_, said)| said[*row] != table.rows[*row].is_login);
    let mut one_password = Confusion::default();
    let passwords = OURS.iter().position(|feature| feature.name == "password_fields").unwrap_or_default();
    for row in &table.rows {
        one_password.add(row.is_login, row.numbers[passwords] == 1.0);
    }
    let found = |field: fn(&Example) -> Option<bool>| {
        let labelled: Vec<bool> = table.rows.iter().filter(|row| row.is_login).filter_map(field).collect();
        ratio(labelled.iter().filter(|found| **found).count() as u32, labelled.len() as u32)
    };
    Report {
        forms: table.rows.len(),
        logins: table.rows.iter().filter(|row| row.is_login).count(),
        sites: sites(table).len(),
        folds: FOLDS,
        fold_seeds: fold_seeds.len(),
        login_precision: mean(&ours, Confusion::precision),
        login_recall: mean(&ours, Confusion::recall),
        login_f1: mean(&ours, Confusion::f1),
        login_precision_worst: worst(&ours, Confusion::precision),
        login_recall_worst: worst(&ours, Confusion::recall),
        login_f1_worst: worst(&ours, Confusion::f1),
        accuracy: ratio(right, all),
        confusion: ours.iter().map(|(confusion, _)| *confusion).collect(),
        paper16_f1: mean(&validated(PAPER, OURS.len(), ONE_TREE), Confusion::f1),
        one_tree_f1: mean(&validated(OURS, 0, ONE_TREE), Confusion::f1),
        one_password_f1: one_password.f1(),
        user_field_accuracy: found(|row| row.user_found),
        password_field_accuracy: found(|row| row.password_found),
        gains: gains(table, &learn_stored(table)),
        // Line 1 has the column names.
        wrong_lines: (0..table.rows.len()).filter(wrong).map(|row| row + 2).collect(),
    }
}

fn sites(table: &Table) -> BTreeSet<u32> {
    table.rows.iter().map(|row| row.site).collect()
}

/// Judges each row by a model trained on the folds without its site.
fn cross_validate(
    table: &Table,
    features: &[Feature],
    first: usize,
    settings: Settings,
    seed: u64,
) -> (Confusion, Vec<bool>) {
    let mut order: Vec<u32> = sites(table).into_iter().collect();
    Random::new(seed).shuffle(&mut order);
    let fold: BTreeMap<u32, usize> = order.into_iter().enumerate().map(|(at, site)| (site, at % FOLDS)).collect();
    let mut said = vec![false; table.rows.len()];
    let mut confusion = Confusion::default();
    for held_out in 0..FOLDS {
        let train: Vec<&Example> = table.rows.iter().filter(|row| fold[&row.site] != held_out).collect();
        let model = learn(&train, features, first, settings);
        for (at, row) in table.rows.iter().enumerate().filter(|(_, row)| fold[&row.site] == held_out) {
            said[at] = model.judge(&row.numbers[first..first + features.len()]).is_login;
            confusion.add(row.is_login, said[at]);
        }
    }
    (confusion, said)
}

fn gains(table: &Table, model: &Model) -> Vec<Gain> {
    let mut by_feature = vec![0.0_f64; OURS.len()];
    for node in model.trees.iter().flat_map(|tree| tree.nodes()) {
        if let Node::Cut { feature, gain, .. } = *node {
            by_feature[feature] += f64::from(gain);
        }
    }
    let all: f64 = by_feature.iter().sum();
    let any = Stop { gain_min: 1e-5, rows_min: 1 };
    let gain = |(at, feature): (usize, &Feature)| {
        let column = table.rows.iter().map(|row| (row.numbers[at], row.is_login)).collect();
        let bits = rounded(cut_of(column, any).map_or(0.0, |cut| f64::from(cut.gain)));
        let share = if at < OURS.len() && all > 0.0 { rounded(by_feature[at] / all) } else { 0.0 };
        Gain { feature: feature.name, bits, share }
    };
    let mut gains: Vec<Gain> = OURS.iter().chain(PAPER).enumerate().map(gain).collect();
    gains.sort_by(|a, b| b.bits.total_cmp(&a.bits));
    gains
}

/// The accuracy of a model on labelled forms.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Score {
    pub forms: usize,
    pub logins: usize,
    pub login_precision: f64,
    pub login_recall: f64,
    pub login_f1: f64,
    pub confusion: Confusion,
    pub user_field_accuracy: f64,
    pub password_field_accuracy: f64,
    /// Misjudged lines of the file, starting at 1.
    pub wrong_lines: Vec<usize>,
    /// Lines of login forms with a field that was not found.
    pub wrong_field_lines: Vec<usize>,
}

/// Judges labelled forms with a model.
///
/// # Errors
/// If the parser rejects the HTML of a form.
pub fn score(judge: &Judge, labelled: &[Labelled]) -> Result<Score, TreeError> {
    let mut confusion = Confusion::default();
    let (mut wrong_lines, mut wrong_field_lines) = (Vec::new(), Vec::new());
    let (mut users, mut passwords) = ((0, 0), (0, 0));
    for (at, of) in labelled.iter().enumerate() {
        let form = of.form()?;
        let said = judge.judge(&form, &of.url).is_login;
        confusion.add(of.is_login(), said);
        if said != of.is_login() {
            wrong_lines.push(at + 1);
        }
        if !of.is_login() {
            continue;
        }
        let (user, password) = of.fields_found(&form);
        for (found, count) in [(user, &mut users), (password, &mut passwords)] {
            count.0 += u32::from(found == Some(true));
            count.1 += u32::from(found.is_some());
        }
        if user == Some(false) || password == Some(false) {
            wrong_field_lines.push(at + 1);
        }
    }
    Ok(Score {
        forms: labelled.len(),
        logins: labelled.iter().filter(|of| of.is_login()).count(),
        login_precision: confusion.precision(),
        login_recall: confusion.recall(),
        login_f1: confusion.f1(),
        confusion,
        user_field_accuracy: ratio(users.0, users.1),
        password_field_accuracy: ratio(passwords.0, passwords.1),
        wrong_lines,
        wrong_field_lines,
    })
}

/// Pseudo-random numbers from a seed: SplitMix64 (Steele, Lea and Flood 2014).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`; 0 for an `end` of 0.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.number().checked_rem(end).unwrap_or(0)
    }

    /// Fisher–Yates.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            items.swap(last, other);
        }
    }
}
