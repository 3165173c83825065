//! What holds of every report, whatever the line.

use koga::{Finding, FindingRole, Kind, Line, Report, Tactic, analyze, render, shakmaty::Position};

use super::mirror::{Mirror, Said};

/// Analyses the line and checks everything that holds of every report.
///
/// # Panics
///
/// Where something does not hold.
pub fn check(line: &Line) -> Report {
    let report = analyze(line);
    assert_eq!(report, analyze(line), "the same line gives the same report");
    check_findings(line, &report);
    check_rendering(line, &report);
    check_mirrors(line, &report);
    report
}

/// The report turns with the line.
fn check_mirrors(line: &Line, report: &Report) {
    for mirror in [Mirror::Colors, Mirror::Files] {
        let Some(mirrored) = mirror.line(line) else { continue };
        let expected = Said::of(report, mirror);
        assert_eq!(Said::of(&analyze(&mirrored), Mirror::None), expected, "what is said turns with {mirror:?}");
    }
}

/// Everything can be rendered, twice to the same bytes.
fn check_rendering(line: &Line, report: &Report) {
    let json = || serde_json::to_string(&render::json::report(line, report, 1)).expect("a report is JSON");
    assert_eq!(json(), json());
    let text = render::text::report(line, report, false);
    assert!(!text.is_empty() && !render::text::report(line, report, true).is_empty());
    let svg = render::svg::report(line, report);
    assert!(svg.trim_start().starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "an SVG: {svg}");
    for tactic in Tactic::ALL {
        assert!(!render::text::why_not(line, report, tactic).is_empty());
    }
    for finding in report.findings.iter().chain(report.superseded.iter().map(|lost| &lost.finding)) {
        assert!(!render::svg::of_finding(line, finding).svg().is_empty());
    }
}

/// Plies, pieces, targets and the headline are what they claim to be.
fn check_findings(line: &Line, report: &Report) {
    for finding in report.findings.iter().chain(report.superseded.iter().map(|lost| &lost.finding)) {
        check_finding(line, finding);
    }
    for rejection in &report.rejections {
        assert!(rejection.ply % 2 == 1 && rejection.ply <= line.len(), "on one of our plies: {rejection:?}");
        assert!(!rejection.rule.id.is_empty() && !rejection.rule.text.is_empty());
    }
    let Some(headline) = report.headline else {
        let motif = report.findings.iter().any(|finding| finding.role != FindingRole::Enabling);
        assert!(!motif, "a motif or follow-up makes a headline");
        return;
    };
    let headline = report.findings.get(headline).expect("the headline is one of the findings");
    assert_ne!(headline.role, FindingRole::Enabling, "no enabling headline");
}

fn check_finding(line: &Line, finding: &Finding) {
    assert!(finding.ply % 2 == 1 && finding.ply <= line.len(), "on one of our plies: {finding:?}");
    assert_ne!((finding.role, finding.ply > 1), (FindingRole::FollowUp, false), "no follow-up on the first ply");
    let ply = line.ply(finding.ply).expect("the ply exists");
    let (us, board) = (line.pov(), ply.after.board());
    assert_eq!(board.color_at(finding.piece), Some(us), "the acting piece is ours: {finding:?}");
    assert!(!finding.targets.is_empty(), "something is acted on: {finding:?}");
    for target in &finding.targets {
        let holds = match (finding.tactic, finding.kind) {
            (Tactic::HangingCapture | Tactic::PinnedDefender, _) => ply.captured().is_some_and(|(sq, _)| sq == *target),
            (Tactic::XRay, Some(Kind::Exchange | Kind::SupportMate | Kind::Defence)) => ply.m.to() == *target,
            (Tactic::Sacrifice, _) => *target == finding.piece,
            _ => board.color_at(*target) == Some(!us),
        };
        assert!(holds, "the target is theirs, or the square that is fought for: {finding:?}");
    }
    let mut targets = finding.targets.to_vec();
    targets.sort();
    targets.dedup();
    assert_eq!(targets.len(), finding.targets.len(), "no target twice: {finding:?}");
    assert!(finding.won.is_none_or(|won| won >= 0), "what is won is not below 0: {finding:?}");
    assert!(finding.prize.is_none_or(|prize| prize >= 0), "what is at stake is not below 0: {finding:?}");
}
