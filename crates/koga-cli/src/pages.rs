//! The reference pages: how Koga decides on a tactic, and every position that it is tested on. The definition comes from the
//! tactic's source and the positions from the corpus, so that neither can say anything else than the program does.

use std::fmt::Write;

use koga::{
    Line, Report, Tactic, analyze, explain,
    render::{
        diagram::Diagram,
        svg,
        text::{self, why_not},
    },
    tactics::Definition,
};

use crate::corpus::{self, Case};

/// A file of the reference pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Where it belongs, below the folder of the pages.
    pub path: String,
    /// What it holds.
    pub text: String,
}

/// The list of tactics for the terminal.
pub fn index() -> String {
    Tactic::ALL.iter().map(|tactic| format!("{tactic:<22}  {}\n", summary(*tactic))).collect()
}

/// One tactic for the terminal: the definition, then each position on a board.
pub fn terminal(tactic: Tactic, colored: bool) -> String {
    let mut out = String::new();
    for line in Definition::of(tactic).text().lines() {
        let _ = writeln!(out, "{}", line.trim_start_matches("# ").replace("**", ""));
    }
    for shown in shown_cases(tactic) {
        let _ = writeln!(out, "\n{}", "-".repeat(72));
        let _ = writeln!(out, "{}\n", shown.case.title);
        out.push_str(&shown.diagram(tactic).text(colored));
        let _ = writeln!(out, "\n{}\n\n{}", text::moves(&shown.line), shown.verdict(tactic).trim_end());
        if !shown.case.why.is_empty() {
            let _ = writeln!(out, "{}", shown.case.why);
        }
    }
    out
}

/// All pages as Markdown, with a picture a position.
pub fn markdown() -> Vec<Page> {
    let mut pages = vec![Page { path: "README.md".to_owned(), text: contents() }];
    for tactic in Tactic::ALL {
        let cases = shown_cases(tactic);
        for shown in &cases {
            let path = format!("img/{tactic}/{}.svg", shown.case.id);
            pages.push(Page { path, text: shown.diagram(tactic).svg() });
        }
        pages.push(Page { path: format!("{tactic}.md"), text: page(tactic, &cases) });
    }
    pages
}

/// A case with its line and report.
pub(crate) struct Shown {
    pub(crate) case: Case,
    pub(crate) line: Line,
    pub(crate) report: Report,
}

pub(crate) fn shown_cases(tactic: Tactic) -> Vec<Shown> {
    let cases = corpus::cases(tactic).unwrap_or_default();
    let show = |case: Case| {
        let line = case.line().ok()?;
        let report = analyze(&line);
        Some(Shown { case, line, report })
    };
    cases.into_iter().filter_map(show).collect()
}

impl Shown {
    /// What became of the page's tactic in this line.
    pub(crate) fn verdict(&self, tactic: Tactic) -> String {
        let own = why_not(&self.line, &self.report, tactic);
        let headline = self.report.headline.map(|index| &self.report.findings[index]);
        match headline.filter(|headline| headline.tactic != tactic) {
            Some(headline) => {
                let name = explain::title(headline.tactic);
                format!("{own}Named first: {name}. {}\n", explain::finding(&self.line, headline))
            }
            None => own,
        }
    }

    /// The board of the page's tactic where it was found or superseded, else where it was refused, else of the headline, else
    /// after the candidate.
    pub(crate) fn diagram(&self, tactic: Tactic) -> Diagram {
        let found = self.report.findings.iter().find(|finding| finding.tactic == tactic);
        let lost = self.report.superseded.iter().map(|lost| &lost.finding).find(|finding| finding.tactic == tactic);
        let refused = || self.report.rejections.iter().find(|rejection| rejection.tactic == tactic);
        match (found.or(lost), refused()) {
            (Some(finding), _) => svg::of_finding(&self.line, finding),
            (None, Some(rejection)) => svg::of_rejection(&self.line, rejection),
            (None, None) => svg::diagram(&self.line, &self.report),
        }
    }

    /// Where the position comes from, in Markdown with a link for a puzzle.
    pub(crate) fn source(&self) -> String {
        let rating = self.case.rating.map_or_else(String::new, |rating| format!(", rated {rating}"));
        match self.case.source.strip_prefix("lichess ") {
            Some(id) => format!("Lichess puzzle [{id}](https://lichess.org/training/{id}){rating}"),
            None => self.case.source.clone(),
        }
    }

    /// For a puzzle: when its tactic fires, or in whose favour it is suppressed.
    pub(crate) fn note(&self, tactic: Tactic) -> Option<String> {
        self.case.source.strip_prefix("lichess ")?;
        let found = self.report.findings.iter().find(|finding| finding.tactic == tactic);
        let lost = self.report.superseded.iter().find(|lost| lost.finding.tactic == tactic);
        match (found, lost) {
            (Some(finding), _) if finding.ply > 1 => {
                Some(format!("The tactic comes later in the line, with {}.", self.line.ply(finding.ply)?.san()))
            }
            (None, Some(lost)) => Some(format!("Suppressed in favour of the {}.", explain::title(lost.by))),
            _ => None,
        }
    }
}

/// How the arbiter decides, above the list of its rules.
pub(crate) const RIVALS: &str = "\
What the line pays goes before what it does not show, and that before what it passes over; then the heavier
prize wins, then the more specific tactic. What loses stays in the report as superseded, by these rules:";

fn page(tactic: Tactic, cases: &[Shown]) -> String {
    let definition = Definition::of(tactic);
    let mut out = format!("# {}\n\n", title(tactic));
    let _ = writeln!(out, "<!-- Made by `cargo xtask pages`: edit the tactic's source and corpus instead. -->\n");
    out += &how_decided(definition);
    if !definition.rules.is_empty() {
        out.push_str("\n## Rules that refuse it\n\n| rule | what it says |\n| --- | --- |\n");
        for rule in definition.rules {
            let _ = writeln!(out, "| {} | {} |", rule.id, rule.text);
        }
    }
    let misses = cases.iter().filter(|shown| !shown.case.shows(tactic)).count();
    let _ = writeln!(out, "\n## Positions\n\n{} positions, {misses} of them near misses.", cases.len());
    for shown in cases {
        let _ = writeln!(out, "\n### {}\n", shown.case.title);
        let _ = writeln!(out, "![{}](img/{tactic}/{}.svg)\n", shown.case.title.replace(['[', ']'], ""), shown.case.id);
        let _ = writeln!(out, "**{}** from `{}`\n", text::moves(&shown.line), fen(&shown.line));
        for line in shown.verdict(tactic).lines() {
            let _ = writeln!(out, "- {line}");
        }
        let _ = writeln!(out);
        for sentence in
            [Some(shown.case.why.clone()).filter(|why| !why.is_empty()), shown.note(tactic)].into_iter().flatten()
        {
            let _ = writeln!(out, "{sentence}\n");
        }
        let _ = writeln!(out, "*{}* (`{}`)", shown.source(), shown.case.id);
    }
    out
}

/// The definition in Markdown, its headings those of a section.
pub(crate) fn how_decided(definition: &Definition) -> String {
    let line = |line: &str| line.strip_prefix("# ").map_or_else(|| format!("{line}\n"), |head| format!("## {head}\n"));
    definition.text().lines().map(line).collect()
}

fn contents() -> String {
    let mut out =
        String::from("# The tactics\n\n<!-- Made by `cargo xtask pages`. -->\n\n| tactic | |\n| --- | --- |\n");
    for tactic in Tactic::ALL {
        let _ = writeln!(out, "| [{}]({tactic}.md) | {} |", title(tactic), summary(tactic));
    }
    let _ = writeln!(out, "\n## How rivals are weighed\n\n{RIVALS}\n");
    out.push_str("| rule | what it says |\n| --- | --- |\n");
    for rule in koga::arbiter::RULES {
        let _ = writeln!(out, "| {} | {} |", rule.id, rule.text);
    }
    out
}

/// Its name, with a capital.
pub(crate) fn title(tactic: Tactic) -> String {
    let name = explain::title(tactic);
    name[..1].to_uppercase() + &name[1..]
}

/// The first sentence of the definition.
pub(crate) fn summary(tactic: Tactic) -> String {
    let text = Definition::of(tactic).text();
    let first = text.split("\n\n").next().unwrap_or_default().replace('\n', " ").replace("**", "");
    first.split_inclusive(". ").next().unwrap_or_default().trim().to_owned()
}

pub(crate) fn fen(line: &Line) -> String {
    use koga::shakmaty::{EnPassantMode, fen::Fen};
    Fen::from_position(line.root(), EnPassantMode::Legal).to_string()
}
