//! `koga site`: the reference pages as plain HTML.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    process::Command,
};

use koga::{Line, Tactic, tactics::Definition};
use koga_cli::{corpus, pages::Page, site};
use percent_encoding::percent_decode_str;

fn pages() -> BTreeMap<String, String> {
    site::html("http://board.test/").into_iter().map(|Page { path, text }| (path, text)).collect()
}

/// The values of an attribute, with the marks of HTML undone.
fn values<'h>(html: &'h str, attribute: &str) -> impl Iterator<Item = String> + use<'h> {
    let start = format!(" {attribute}=\"");
    let parts: Vec<&str> = html.split(start.as_str()).skip(1).collect();
    parts
        .into_iter()
        .map(|part| part.split('"').next().unwrap_or_default().replace("&quot;", "\"").replace("&amp;", "&"))
}

#[test]
fn every_position_of_the_corpus_is_a_board_on_its_tactics_page() {
    let pages = pages();
    for tactic in Tactic::ALL {
        let page = &pages[&format!("{tactic}.html")];
        let cases = corpus::cases(tactic).unwrap();
        let boards: BTreeSet<String> = values(page, "src").collect();
        assert_eq!(boards.len(), cases.len(), "{tactic}");
        assert_eq!(page.matches("<figure ").count(), cases.len(), "{tactic}");
        for case in cases {
            assert!(boards.contains(&format!("img/{tactic}/{}.svg", case.id)), "{tactic}: {}", case.id);
            let own = Definition::of(tactic).rules;
            for rule in case.rejected.iter().filter(|id| own.iter().any(|rule| rule.id == id.as_str())) {
                assert!(page.contains(&format!("#{rule}\">{rule}</a>")), "{tactic}: {} names no {rule}", case.id);
            }
        }
    }
}

#[test]
fn every_link_leads_somewhere_and_nothing_is_loaded_from_elsewhere() {
    let pages = pages();
    for (path, html) in pages.iter().filter(|(path, _)| path.ends_with(".html")) {
        for source in values(html, "src") {
            assert!(pages.contains_key(&source), "{path}: {source}");
        }
        assert!(!html.contains("<script") && !html.contains(" style="), "{path}");
        for link in values(html, "href") {
            if link.starts_with("https://lichess.org/training/") || link.starts_with("http://board.test/") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link.as_str(), ""));
            let target = pages.get(if file.is_empty() { path.as_str() } else { file });
            let target = target.unwrap_or_else(|| panic!("{path}: {link}"));
            assert!(anchor.is_empty() || target.contains(&format!(" id=\"{anchor}\"")), "{path}: {link}");
        }
    }
    assert!(!pages["site.css"].contains("url(") && !pages["site.css"].contains("@import"));
}

#[test]
fn every_position_opens_in_the_analysis_page() {
    let pages = pages();
    for tactic in Tactic::ALL {
        let page = &pages[&format!("{tactic}.html")];
        let links: Vec<String> = values(page, "href").filter(|link| link.starts_with("http://board.test/#")).collect();
        let cases = corpus::cases(tactic).unwrap();
        assert_eq!(links.len(), cases.len(), "{tactic}");
        let lines: Vec<Line> = links.iter().map(|link| line_of(link)).collect();
        for case in cases {
            let line = case.line().unwrap();
            let is_it = |other: &&Line| other.positions == line.positions && other.moves == line.moves;
            assert!(lines.iter().any(|other| is_it(&other)), "{tactic}: {}", case.id);
        }
    }
}

fn line_of(link: &str) -> Line {
    let fragment = link.strip_prefix("http://board.test/#").unwrap();
    let fields: BTreeMap<&str, String> = fragment
        .split('&')
        .map(|field| field.split_once('=').unwrap())
        .map(|(name, value)| (name, percent_decode_str(value).decode_utf8().unwrap().into_owned()))
        .collect();
    let moves = fields["moves"].split(',');
    match fields.get("setup") {
        Some(setup) => Line::parse_with_setup(&fields["fen"], setup, moves),
        None => Line::parse(&fields["fen"], moves),
    }
    .unwrap_or_else(|err| panic!("{link}: {err}"))
}

#[test]
fn a_site_is_renewed_beside_what_else_stands_there_and_nothing_else_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("below/site");
    let koga = || Command::new(env!("CARGO_BIN_EXE_koga")).args(["site", "-o"]).arg(&site).output().unwrap();
    assert!(koga().status.success());
    let names = |folder: &std::path::Path| fs::read_dir(folder).unwrap().count();
    let (beside, within) = (names(site.parent().unwrap()), names(&site));
    assert_eq!(beside, 1);
    fs::write(site.join("CNAME"), "tactics.example").unwrap();
    fs::write(site.join("fork.html"), "half a page").unwrap();
    assert!(koga().status.success());
    assert_eq!((names(site.parent().unwrap()), names(&site)), (1, within + 1));
    assert_eq!(fs::read_to_string(site.join("CNAME")).unwrap(), "tactics.example");
    assert!(fs::read_to_string(site.join("fork.html")).unwrap().contains("http://127.0.0.1:8080/#fen="));

    fs::write(site.join("index.html"), "my own page").unwrap();
    let refused = koga();
    assert_eq!(refused.status.code(), Some(1));
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(message.contains("holds something else than a site of koga's"), "{message}");
    assert_eq!(fs::read_to_string(site.join("index.html")).unwrap(), "my own page");
}

#[test]
fn positions_link_to_web_pages_only() {
    for address in ["javascript:alert(1)", "", "board.test", "http://board.test/#x"] {
        assert!(site::analysis(address).is_err(), "{address}");
    }
    for address in ["https://board.test/koga/", "/", "../board/"] {
        assert_eq!(site::analysis(address).as_deref(), Ok(address));
    }
}
