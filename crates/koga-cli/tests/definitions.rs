//! What every tactic must have, so that no review has to ask for it.

use std::collections::BTreeSet;

use koga::{Tactic, arbiter, tactics::DEFINITIONS};
use koga_cli::corpus::{self, Case};

fn all_cases() -> Vec<(Tactic, Case)> {
    let of = |tactic| corpus::cases(tactic).expect("a well-formed corpus").into_iter().map(move |case| (tactic, case));
    Tactic::ALL.into_iter().flat_map(of).collect()
}

#[test]
fn the_tables_are_in_the_order_of_the_tactics() {
    for (index, tactic) in Tactic::ALL.into_iter().enumerate() {
        assert_eq!(tactic as usize, index);
        assert_eq!(DEFINITIONS[index].tactic, tactic);
        assert_eq!(corpus::FILES[index].0, tactic);
        assert_eq!(Tactic::from_name(tactic.name()), Some(tactic));
    }
}

#[test]
fn every_definition_has_its_headings_and_names_its_rules() {
    for definition in &DEFINITIONS {
        let text = definition.text();
        for heading in ["# Reported when", "# Not reported when", "# Known gaps"] {
            assert!(text.lines().any(|line| line == heading), "{}: no heading \"{heading}\"", definition.tactic);
        }
        for rule in definition.rules {
            assert!(text.contains(rule.id), "{}: the definition does not name rule {}", definition.tactic, rule.id);
            assert!(rule.text.ends_with('.'), "{}: the text of {} is no sentence", definition.tactic, rule.id);
        }
    }
}

#[test]
fn rule_numbers_are_unique() {
    let own = DEFINITIONS.iter().flat_map(|definition| definition.rules);
    let ids: Vec<&str> = own.chain(arbiter::RULES).map(|rule| rule.id).collect();
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len(), "{ids:?}");
}

#[test]
fn every_tactic_has_two_positives_and_a_near_miss() {
    for tactic in Tactic::ALL {
        let cases = corpus::cases(tactic).expect("a well-formed corpus");
        let positives = cases.iter().filter(|case| case.shows(tactic)).count();
        assert!(positives >= 2, "{tactic}: {positives} positives");
        assert!(positives < cases.len(), "{tactic}: no near miss");
    }
}

#[test]
fn every_rule_that_refuses_has_a_case_that_it_refuses() {
    let refused: BTreeSet<String> = all_cases().into_iter().flat_map(|(_, case)| case.rejected).collect();
    let missing: Vec<&str> = DEFINITIONS
        .iter()
        .flat_map(|definition| definition.rules)
        .map(|rule| rule.id)
        .filter(|id| !refused.contains(*id))
        .collect();
    assert!(missing.is_empty(), "no corpus case is refused by {missing:?}");
}

#[test]
fn the_corpus_is_large_and_a_third_of_it_is_near_misses() {
    let cases = all_cases();
    let misses = cases.iter().filter(|(tactic, case)| !case.shows(*tactic)).count();
    assert!(cases.len() >= 150, "{} cases", cases.len());
    assert!(3 * misses >= cases.len(), "{misses} near misses among {} cases", cases.len());
}

#[test]
fn case_names_are_unique_and_titles_are_there() {
    let mut seen = BTreeSet::new();
    for (tactic, case) in all_cases() {
        assert!(seen.insert(format!("{tactic}/{}", case.id)), "{tactic}/{} stands twice", case.id);
        assert!(!case.title.trim().is_empty(), "{tactic}/{} has no title", case.id);
    }
}

#[test]
fn the_readme_shows_what_the_program_prints() {
    let readme = include_str!("../../../README.md");
    let fen = "3q2k1/3r4/pp3p1Q/2b1n3/P3N3/2P5/1P4PP/R6K w - - 1 25";
    let request = |line: &str| koga_cli::explain::Request {
        fen: fen.to_owned(),
        line: Some(line.to_owned()),
        ..Default::default()
    };
    let answer = koga_cli::explain::run(&request("Nxf6+ Qxf6 Qxf6")).expect("a legal line");
    assert!(readme.contains(answer.trim_end()), "README.md should show:\n{answer}");
    let refusal = koga_cli::explain::run(&request("Nxf6+ Qxf6 Qxg9")).expect_err("there is no g9");
    assert!(readme.contains(refusal.trim_end()), "README.md should show:\n{refusal}");
}

#[test]
fn every_theme_stands_in_the_table_of_the_documents() {
    let document = include_str!("../../../docs/tag.md");
    for tactic in Tactic::ALL {
        let cells = format!("| {tactic} | {} |", koga_tag::theme(tactic));
        assert!(document.contains(&cells), "docs/tag.md lacks {cells}");
    }
}
