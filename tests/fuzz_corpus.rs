//! Replays the fuzzing corpus: the seeds of every target and every input that once broke a guarantee, through the same functions
//! that the fuzzer runs. It needs no nightly and no libFuzzer, so it runs on every `cargo test`; `scripts/fuzz` searches for
//! new inputs.

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use gleaner_fuzz::{MUST_FAIL, TARGETS, Target};

/// Maximum bytes of all stored inputs: the repository is no store of test data.
const KEPT_BYTES: u64 = 300_000;

fn kept(kind: &str) -> PathBuf {
    Path::new(env!("GLEANER_ROOT")).join("fuzz").join(kind)
}

/// The entries of a folder, sorted by name; none if it does not exist.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// The stored inputs on which a target panics, each with its file.
fn failures(target: Target, files: &[PathBuf]) -> Vec<String> {
    let fails = |file: &&PathBuf| {
        let input = fs::read(file).unwrap();
        catch_unwind(|| target(&input)).is_err()
    };
    files.iter().filter(fails).map(|file| file.display().to_string()).collect()
}

#[test]
fn no_kept_input_breaks_a_promise() {
    let mut failed = Vec::new();
    for (name, target) in TARGETS {
        let seeds = entries(&kept("corpus").join(name));
        assert!(!seeds.is_empty(), "the target {name} has no seeds in fuzz/corpus/{name}");
        failed.extend(failures(*target, &seeds));
        failed.extend(failures(*target, &entries(&kept("regressions").join(name))));
    }
    assert!(failed.is_empty(), "{} inputs fail, told above:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn the_planted_fault_is_noticed() {
    let (name, target) = MUST_FAIL;
    let inputs = entries(&kept("corpus").join(name));
    assert!(!inputs.is_empty());
    assert_eq!(failures(target, &inputs).len(), inputs.len(), "an input of the planted fault went through");
}

#[test]
fn every_folder_and_every_program_belongs_to_a_target() {
    let mut targets: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    targets.insert(MUST_FAIL.0.to_owned());
    let stems = |folder: &Path| -> BTreeSet<String> {
        entries(folder).iter().map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect()
    };
    assert_eq!(stems(&kept("corpus")), targets);
    assert_eq!(stems(&kept("fuzz_targets")), targets);
    assert!(stems(&kept("regressions")).is_subset(&targets));
    let manifest: toml::Table = fs::read_to_string(kept("Cargo.toml")).unwrap().parse().unwrap();
    let programs = manifest["bin"].as_array().unwrap().iter().map(|bin| bin["name"].as_str().unwrap().to_owned());
    assert_eq!(programs.collect::<BTreeSet<_>>(), targets);
    for (name, _) in TARGETS.iter().chain([&MUST_FAIL]) {
        let source = fs::read_to_string(kept("fuzz_targets").join(name).with_extension("rs")).unwrap();
        assert!(source.contains(&format!("gleaner_fuzz::{name}(input)")), "fuzz_targets/{name}.rs runs another target");
    }
}

#[test]
fn the_table_of_targets_names_files_that_exist() {
    let table = fs::read_to_string(kept("targets.tsv")).unwrap();
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    let names: Vec<&str> = rows.iter().map(|row| row[0]).collect();
    assert_eq!(names, TARGETS.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    for row in &rows {
        let [_, bytes_max, dictionary, sources] = row[..] else { panic!("{row:?} has other columns") };
        assert!(bytes_max.parse::<u32>().is_ok(), "{row:?}");
        assert!(dictionary == "-" || kept("dictionaries").join(format!("{dictionary}.dict")).is_file(), "{row:?}");
        for source in sources.split(' ') {
            let path = kept("..").join(source);
            assert!(path.exists() || path.with_extension("rs").exists(), "{source} is not there: {row:?}");
        }
    }
}

#[test]
fn kept_inputs_are_small() {
    let targets = ["corpus", "regressions"].map(kept).into_iter().flat_map(|folder| entries(&folder));
    let files = targets.flat_map(|folder| entries(&folder));
    let bytes: u64 = files.map(|file| fs::metadata(file).unwrap().len()).sum();
    assert!(bytes <= KEPT_BYTES, "{bytes} bytes of kept inputs, {KEPT_BYTES} at most: minimise them");
}
