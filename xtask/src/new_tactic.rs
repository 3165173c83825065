//! The beginning of a tactic.

use crate::{root, settle};

/// Writes the source and the corpus of a new tactic, and prints what is left to do.
pub fn run(name: &str) -> Result<(), String> {
    let good = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c == '-')
        && !name.ends_with('-')
        && !name.contains("--");
    if !good {
        return Err(format!("\"{name}\" is no name for a tactic: lower-case words joined by dashes"));
    }
    let module = name.replace('-', "_");
    let variant: String = name.split('-').map(|word| word[..1].to_uppercase() + &word[1..]).collect();
    let source = format!("crates/koga/src/tactics/{module}.rs");
    let corpus = format!("corpus/{name}.toml");
    for path in [&source, &corpus] {
        if root().join(path).exists() {
            return Err(format!("{path} is there already"));
        }
    }
    settle(&source, &SOURCE.replace("VARIANT", &variant).replace("NAME", &name.replace('-', " ")), false)?;
    settle(&corpus, &CORPUS.replace("NAME", name), false)?;
    println!(
        "{source} and {corpus} are begun. What is left:\n\
         1. tactic.rs: Tactic::{variant}, at the end of the enum and of Tactic::ALL, and its name\n\
         2. tactics/mod.rs: mod {module}; and definition!({variant}, {module}), with the count of the table\n\
         3. arbiter.rs: its place in rank, and whom it supersedes; explain.rs: its title\n\
         4. koga-cli/src/corpus.rs: its file in FILES\n\
         5. the positions first, then detect; cargo test; cargo xtask bless"
    );
    Ok(())
}

const SOURCE: &str = r#"//! A **NAME** is …
//!
//! # Reported when
//!
//! …
//!
//! # Not reported when
//!
//! - … (Z1).
//!
//! # Known gaps
//!
//! …

use crate::{
    survey::Survey,
    tactic::{Detections, Finding, Rule, Tactic},
    words::Words,
};

pub(super) const Z1: Rule = Rule { id: "Z1", text: "…" };

/// The rules by which it is refused.
pub(super) const RULES: &[Rule] = &[Z1];

pub(super) fn detect(s: &Survey, out: &mut Detections) {
    let Some((sq, _)) = s.captured else { return };
    let finding = Finding::new(Tactic::VARIANT, s.ply, s.to);
    out.reject(finding.tactic, s.ply, Z1, sq.into());
}

pub(super) fn explain(w: &Words) -> String {
    format!("{} ….", w.man(w.finding.piece))
}
"#;

const CORPUS: &str = r#"[[case]]
id = "plain"
title = "What a player would say of it"
fen = "4k3/8/8/8/8/8/8/R3K3 w - - 0 1"
line = "Ra8+"
expect = [{ tactic = "NAME", role = "motif", ply = 1 }]
source = "composed"
why = "Z1: …"
"#;
