//! The generated reference pages: commands from the parser's own definitions, keys from the schemas that parse the files.
//! `GLEANER_BLESS=1` writes them.

use std::fmt::Write as _;
use std::path::Path;

use clap::{Command, CommandFactory};
use serde_json::Value;

/// One table cell on one line: characters that would end the cell, or begin an element, are escaped.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|").replace('<', "&lt;")
}

/// A command and its subcommands, each with its usage and its options.
fn write_command(out: &mut String, command: &Command, path: &str) {
    let about = command.get_long_about().or_else(|| command.get_about()).map(ToString::to_string).unwrap_or_default();
    let about = about.split("\n\n").map(cell).collect::<Vec<_>>().join("\n\n");
    let usage = command.clone().bin_name(path).render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    let _ = write!(out, "\n## {path}\n\n{about}\n\n```text\n{usage}\n```\n");
    // Global options are listed once, with the program.
    let listed = |argument: &&clap::Arg| {
        let shown_above = argument.is_global_set() && path != "gleaner";
        !argument.is_hide_set() && !shown_above && !matches!(argument.get_id().as_str(), "help" | "version")
    };
    let mut rows = String::new();
    for argument in command.get_arguments().filter(listed) {
        let name = argument.to_string();
        let short = argument.get_short().map(|letter| format!("`-{letter}`, ")).unwrap_or_default();
        let help =
            argument.get_long_help().or_else(|| argument.get_help()).map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(rows, "| {short}`{}` | {} |", name.replace('|', "\\|"), cell(&help));
    }
    if !rows.is_empty() {
        let _ = write!(out, "\n| argument | meaning |\n| --- | --- |\n{rows}");
    }
    for below in command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help") {
        write_command(out, below, &format!("{path} {}", below.get_name()));
    }
}

fn commands() -> String {
    let mut out = "# Commands\n\nGenerated from the program's own definitions; `gleaner COMMAND --help` shows the same, with examples.\n".to_owned();
    let mut program = gleaner::cli::Cli::command();
    program.build();
    write_command(&mut out, &program, "gleaner");
    out
}

/// The schema that a node refers to, through references and optional forms.
fn resolved<'a>(root: &'a Value, node: &'a Value) -> &'a Value {
    if let Some(name) = node["$ref"].as_str() {
        return resolved(root, &root["$defs"][name.trim_start_matches("#/$defs/")]);
    }
    let forms = node["anyOf"].as_array().or_else(|| node["allOf"].as_array());
    match forms.and_then(|forms| forms.iter().find(|form| form["type"] != "null")) {
        Some(form) => resolved(root, form),
        None => node,
    }
}

/// The type of a value, in a few words: `integer, 1 to 64`.
fn kind(schema: &Value) -> String {
    if let Some(words) = schema["enum"].as_array() {
        return words
            .iter()
            .map(|word| format!("`{}`", word.as_str().unwrap_or_default()))
            .collect::<Vec<_>>()
            .join(", ");
    }
    if let Some(forms) = schema["oneOf"].as_array() {
        let words = forms.iter().filter_map(|form| form["const"].as_str()).map(|word| format!("`{word}`"));
        return words.collect::<Vec<_>>().join(", ");
    }
    let names = match &schema["type"] {
        Value::Array(names) => {
            names.iter().filter_map(Value::as_str).filter(|name| *name != "null").collect::<Vec<_>>().join(" or ")
        }
        name => name.as_str().unwrap_or("value").to_owned(),
    };
    match (schema["minimum"].as_f64(), schema["maximum"].as_f64()) {
        (Some(least), Some(most)) => format!("{names}, {least} to {most}"),
        (Some(least), None) => format!("{names}, {least} or more"),
        _ => names,
    }
}

/// The keys of a table and of the tables inside it.
fn write_keys(out: &mut String, root: &Value, table: &Value, path: &str, depth: usize) {
    let Some(properties) = table["properties"].as_object().filter(|_| depth < 6) else { return };
    for (name, node) in properties {
        let (key, schema) = (format!("{path}{name}"), resolved(root, node));
        let about = node["description"].as_str().or_else(|| schema["description"].as_str()).unwrap_or_default();
        let default = match &node["default"] {
            Value::Null => String::new(),
            value if value.as_array().is_some_and(Vec::is_empty) || value.is_object() => String::new(),
            value => format!("`{value}`"),
        };
        let _ = writeln!(out, "| `{key}` | {} | {} | {} |", cell(&kind(schema)), cell(&default), cell(about));
        write_keys(out, root, schema, &format!("{key}."), depth + 1);
        if schema["items"].is_object() {
            write_keys(out, root, resolved(root, &schema["items"]), &format!("{key}[]."), depth + 1);
        }
    }
}

fn keys() -> String {
    let mut out =
        "# Keys\n\nGenerated from the schemas that the files are checked against. [Rule files](rules.md) and \
                   [configuration](configuration.md) explain how they work together.\n"
            .to_owned();
    for (title, schema) in
        [("A rule file", gleaner_rules::file::site_schema()), ("gleaner.toml", gleaner_rules::config::config_schema())]
    {
        let _ = write!(out, "\n## {title}\n\n| key | value | default | meaning |\n| --- | --- | --- | --- |\n");
        write_keys(&mut out, &schema, &schema, "", 0);
    }
    out
}

pub fn assert_page(name: &str, made: &str) {
    let path = Path::new(env!("GLEANER_ROOT")).join("docs/reference").join(name);
    if std::env::var_os("GLEANER_BLESS").is_some() {
        std::fs::write(&path, made).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == made,
        "docs/reference/{name} is not what the program says: GLEANER_BLESS=1 scripts/test --test program reference::"
    );
}

#[test]
fn the_page_of_commands_is_what_the_parser_knows() {
    assert_page("commands.md", &commands());
}

#[test]
fn the_page_of_keys_is_what_the_schemas_know() {
    assert_page("keys.md", &keys());
}
