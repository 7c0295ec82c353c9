//! `gleaner-lab train`: trains the login form model and reports its accuracy.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;

use gleaner_login::model::Judge;

use crate::limits::LABELLED_FORMS_BYTES_MAX;
use crate::login::text;
use crate::login::training::{self, FOLD_SEEDS, Labelled, Report, Score, Table};

/// Files of the models folder.
const TABLE: &str = "login_form.tsv";
const MODEL: &str = "login_form.json";

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Folder of the table and the model
    #[arg(long, value_name = "DIR", default_value = "models")]
    models: PathBuf,
    /// Rebuild the table from labelled forms first: one JSON object per line with site, url, type, fields and html
    #[arg(long, value_name = "FILE", conflicts_with_all = ["forms", "dot"])]
    table_from: Option<PathBuf>,
    /// Only score labelled forms, in the format of --table-from, with the built-in model; change nothing
    #[arg(long, value_name = "FILE", conflicts_with = "dot")]
    forms: Option<PathBuf>,
    /// Only print the trees of the built-in model as DOT graphs; change nothing
    #[arg(long)]
    dot: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "dot")]
    json: bool,
}

/// Builds table and model according to the options, and prints the result.
pub fn command(options: &Options) -> anyhow::Result<()> {
    if options.dot {
        out!("{}", text::dot(Judge::stored().model()));
        return Ok(());
    }
    if let Some(file) = &options.forms {
        let score = training::score(Judge::stored(), &labelled(file)?)?;
        return print(options.json, &score, score_text);
    }
    let table_file = options.models.join(TABLE);
    let table = match &options.table_from {
        Some(file) => {
            let table = Table::of(&labelled(file)?)?;
            fs::write(&table_file, table.text()).with_context(|| table_file.display().to_string())?;
            table
        }
        None => {
            let text = fs::read_to_string(&table_file).with_context(|| {
                format!(
                    "{}\nhint: run it where gleaner's source is, or name the folder with --models",
                    table_file.display()
                )
            })?;
            Table::parse(&text).with_context(|| table_file.display().to_string())?
        }
    };
    let model_file = options.models.join(MODEL);
    let model = text::json(&training::learn_stored(&table))?;
    let is_new = fs::read_to_string(&model_file).ok().as_deref() != Some(model.as_str());
    if is_new {
        fs::write(&model_file, &model).with_context(|| model_file.display().to_string())?;
    }
    print(options.json, &training::report(&table, &FOLD_SEEDS), report_text)?;
    if !options.json {
        let what = if is_new { "changed; build gleaner again to use it" } else { "as it was" };
        outln!("model: {} ({} bytes), {what}", model_file.display(), model.len());
    }
    Ok(())
}

fn print<T: serde::Serialize>(json: bool, of: &T, text: fn(&T) -> String) -> anyhow::Result<()> {
    if json {
        outln!("{}", serde_json::to_string(of)?);
    } else {
        out!("{}", text(of));
    }
    Ok(())
}

fn labelled(file: &Path) -> anyhow::Result<Vec<Labelled>> {
    let name = || file.display().to_string();
    let bytes = fs::metadata(file).with_context(name)?.len();
    anyhow::ensure!(bytes <= LABELLED_FORMS_BYTES_MAX, "{}: {bytes} bytes, {LABELLED_FORMS_BYTES_MAX} at most", name());
    let text = fs::read_to_string(file).with_context(name)?;
    let line = |(at, line): (usize, &str)| {
        serde_json::from_str(line).with_context(|| format!("{}:{}: not a labelled form", name(), at + 1))
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(line).collect()
}

fn report_text(report: &Report) -> String {
    use std::fmt::Write as _;
    let mut out = format!(
        "{} forms of {} sites, {} of them login forms; {} folds by site, {} fold seeds\n\n\
         login forms                     mean   worst\n\
         precision                     {:.4}  {:.4}\n\
         recall                        {:.4}  {:.4}\n\
         F1                            {:.4}  {:.4}\n\
         all forms judged right        {:.4}\n\n\
         beside it                         F1\n\
         ours, one tree                {:.4}\n\
         the paper's 16, one tree      {:.4}\n\
         exactly one password field    {:.4}\n\n\
         fields of login forms found\n\
         user                          {:.4}\n\
         password                      {:.4}\n\n\
         fold seed   login→login  login→other  other→login  other→other\n",
        report.forms,
        report.sites,
        report.logins,
        report.folds,
        report.fold_seeds,
        report.login_precision,
        report.login_precision_worst,
        report.login_recall,
        report.login_recall_worst,
        report.login_f1,
        report.login_f1_worst,
        report.accuracy,
        report.one_tree_f1,
        report.paper16_f1,
        report.one_password_f1,
        report.user_field_accuracy,
        report.password_field_accuracy,
    );
    // Writing to a string cannot fail.
    for (seed, of) in report.confusion.iter().enumerate() {
        let _ = writeln!(
            out,
            "{:>9}   {:>11}  {:>11}  {:>11}  {:>11}",
            seed + 1,
            of.login_as_login,
            of.login_as_other,
            of.other_as_login,
            of.other_as_other
        );
    }
    out.push_str("\nfeature               gain, bits   share of the committee's\n");
    for gain in &report.gains {
        let _ = writeln!(out, "{:<20}  {:>10.4}   {:>10.4}", gain.feature, gain.bits, gain.share);
    }
    let _ = writeln!(out, "\nlines of the table judged wrong: {:?}", report.wrong_lines);
    out
}

fn score_text(score: &Score) -> String {
    format!(
        "{} forms, {} of them login forms, judged by the model that is built in\n\
         precision         {:.4}\n\
         recall            {:.4}\n\
         F1                {:.4}\n\
         user found        {:.4}\n\
         password found    {:.4}\n\
         lines judged wrong: {:?}\n\
         lines with a field not found: {:?}\n",
        score.forms,
        score.logins,
        score.login_precision,
        score.login_recall,
        score.login_f1,
        score.user_field_accuracy,
        score.password_field_accuracy,
        score.wrong_lines,
        score.wrong_field_lines,
    )
}
