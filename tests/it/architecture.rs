//! Holds `use crate::…` of every module against the table in ARCHITECTURE.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn modules_import_only_what_the_table_admits() {
    let table = table();
    let mut wrong = Vec::new();
    for file in sources(Path::new("src")) {
        let Some(module) = module_of(&file) else {
            continue;
        };
        let admitted = table
            .get(&module)
            .unwrap_or_else(|| panic!("no row for `{module}` in ARCHITECTURE.md"));
        for used in uses(&fs::read_to_string(&file).expect("a source file is readable")) {
            if used != module && !admitted.contains(&used) {
                wrong.push(format!("{}: `{module}` imports `{used}`", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_row_of_the_table_is_a_module() {
    let modules: BTreeSet<_> = sources(Path::new("src"))
        .iter()
        .filter_map(|file| module_of(file))
        .collect();
    let rows: BTreeSet<_> = table().into_keys().collect();
    assert_eq!(modules, rows);
}

#[test]
fn unsafe_stands_in_source_alone() {
    for file in sources(Path::new("src")) {
        let text = fs::read_to_string(&file).expect("a source file is readable");
        let code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        let has_unsafe = code
            .clone()
            .any(|line| line.contains("unsafe {") || line.contains("unsafe fn"));
        assert!(
            !has_unsafe || module_of(&file).as_deref() == Some("source"),
            "{}",
            file.display()
        );
    }
}

/// The column "may import" by module. "all" is every module; "all but `x`" leaves some out.
fn table() -> BTreeMap<String, BTreeSet<String>> {
    let text = fs::read_to_string("ARCHITECTURE.md").expect("ARCHITECTURE.md stands at the top");
    let rows: Vec<Vec<String>> = text
        .lines()
        .skip_while(|line| !line.starts_with("| module |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.split('|').map(|cell| cell.trim().to_owned()).collect())
        .collect();
    let all: BTreeSet<String> = rows.iter().map(|row| row[1].replace('`', "")).collect();
    rows.iter()
        .map(|row| {
            let named: BTreeSet<String> = row[3]
                .split('`')
                .skip(1)
                .step_by(2)
                .map(str::to_owned)
                .collect();
            let mut admitted = if row[3].starts_with("all") {
                &all - &named
            } else {
                named
            };
            admitted.insert("error".to_owned());
            (row[1].replace('`', ""), admitted)
        })
        .collect()
}

/// First segments of all `crate::` paths outside of tests and comments, those in braces too.
fn uses(text: &str) -> BTreeSet<String> {
    let code: String = text
        .split("\n#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or(text)
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    code.split("crate::")
        .skip(1)
        .flat_map(|rest| match rest.strip_prefix('{') {
            Some(list) => first_segments(list),
            None => vec![rest],
        })
        .map(|path| {
            let is_of_name = |c: &char| c.is_ascii_lowercase() || *c == '_';
            path.trim_start().chars().take_while(is_of_name).collect()
        })
        .filter(|name: &String| !name.is_empty())
        .collect()
}

/// The paths between commas, up to the brace that closes the list; `list` starts behind the one that opens it.
fn first_segments(list: &str) -> Vec<&str> {
    let mut depth = 0;
    let mut paths = Vec::new();
    let mut start = 0;
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                paths.push(&list[start..at]);
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                paths.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    paths
}

#[test]
fn paths_in_braces_are_seen() {
    for (code, expected) in [
        ("use crate::uri;", "uri"),
        ("use crate::{Error, Result, uri};", "uri"),
        (
            "use crate::{\n    key::{Keyed, Keyer},\n    group,\n};",
            "group key",
        ),
        ("// use crate::uri;\ncrate::report::clean(b)", "report"),
        ("#[cfg(test)]\nmod tests;\nuse crate::uri;", "uri"),
        (
            "fn a() {}\n#[cfg(test)]\nmod tests {\n    use crate::uri;",
            "",
        ),
    ] {
        let found: Vec<String> = uses(code).into_iter().collect();
        assert_eq!(found.join(" "), expected, "{code}");
    }
}

/// `src/scan/http.rs` is of `scan`; `lib.rs` and `main.rs` are of none.
fn module_of(file: &Path) -> Option<String> {
    let first = file
        .components()
        .nth(1)?
        .as_os_str()
        .to_str()?
        .trim_end_matches(".rs")
        .to_owned();
    (!matches!(first.as_str(), "lib" | "main")).then_some(first)
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("the source tree is readable") {
        let path = entry.expect("the source tree is readable").path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|suffix| suffix == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}
