//! The report as a picture.

use shakmaty::{Position, Square};

use super::diagram::{Arrow, Diagram, Highlight};
use crate::{Finding, Line, Rejection, Report, Tactic, explain, line::moved};

/// One board with the arrows and squares of the headline.
pub fn report(line: &Line, report: &Report) -> String {
    let mut diagram = diagram(line, report);
    diagram.caption = report.headline.map(|index| explain::finding(line, &report.findings[index]));
    diagram.svg()
}

/// The board of the headline's ply with its squares marked, seen from the side whose line it is; without a headline the board
/// after the candidate.
pub fn diagram(line: &Line, report: &Report) -> Diagram {
    let headline = report.headline.map(|index| &report.findings[index]);
    headline.map_or_else(|| plain(line, 1), |finding| of_finding(line, finding))
}

/// The board on which a finding stands, with its squares and arrows.
pub fn of_finding(line: &Line, finding: &Finding) -> Diagram {
    let mut diagram = plain(line, finding.ply);
    diagram.title = explain::finding(line, finding);
    let acting = finding.piece;
    diagram.squares.push((acting, Highlight::Acting));
    let mut support = |sq: Square| {
        if sq != acting && !finding.targets.contains(&sq) {
            diagram.squares.push((sq, Highlight::Support));
        }
    };
    finding.squares.iter().flat_map(|(_, set)| *set).for_each(&mut support);
    for target in finding.targets.iter().copied().filter(|sq| *sq != acting) {
        diagram.squares.push((target, Highlight::Target));
    }
    // A pin or skewer goes through the piece in front to what stands behind: one arrow shows it.
    let is_through = matches!(finding.tactic, Tactic::Pin | Tactic::Skewer);
    let ends = if is_through { &finding.targets[1..] } else { &finding.targets[..] };
    let attackers = finding.marked(crate::Mark::Attacker);
    let board = line.positions[finding.ply].board().clone();
    for target in ends.iter().copied().filter(|sq| *sq != acting) {
        let through = is_through || finding.marked(crate::Mark::Shield).any();
        if through || board.attacks_from(acting).contains(target) {
            diagram.arrows.push(Arrow { from: acting, to: target, mark: Highlight::Target });
        }
        for other in attackers.into_iter().filter(|sq| board.attacks_from(*sq).contains(target)) {
            diagram.arrows.push(Arrow { from: other, to: target, mark: Highlight::Support });
        }
    }
    diagram
}

/// The board on which a rule refused a shape, with the squares of the shape.
pub fn of_rejection(line: &Line, rejection: &Rejection) -> Diagram {
    let mut diagram = plain(line, rejection.ply);
    diagram.title = explain::rejection(line, rejection);
    diagram.squares.extend(rejection.squares.into_iter().map(|sq| (sq, Highlight::Support)));
    diagram
}

/// The board after a ply, with the move marked.
pub fn plain(line: &Line, ply: usize) -> Diagram {
    let mut diagram = Diagram {
        board: line.positions[ply].board().clone(),
        orientation: line.pov(),
        squares: Vec::new(),
        arrows: Vec::new(),
        title: String::new(),
        caption: None,
    };
    for (from, to) in moved(line.moves[ply - 1]).into_iter().flatten() {
        diagram.squares.extend([(from, Highlight::Move), (to, Highlight::Move)]);
    }
    diagram
}
