//! A **discovered attack** is a move that leaves the line of a rook, bishop or queen behind it, so that this
//! piece attacks something it did not attack before.
//!
//! # Reported when
//!
//! The moved piece (or the pawn taken en passant) was the only man between our slider and an enemy piece, and
//! the slider attacks that piece now (A1, A2). It counts at once if taking the target wins material with the slider
//! taking part: the target is undefended, outnumbered, or worth more than the slider (A4). Otherwise
//! the line must show the slider capturing the target where it stands, or the target is the king (A5). After a piece given
//! up on the first ply and taken on the second, a discovery on the third is the motif: the sacrifice exists to
//! make it (A9).
//!
//! # Not reported when
//!
//! - Taking the target would win nothing, or would have won as much without the slider, and the slider does
//!   not take it where it stands (A4, A5).
//! - The target is only ever captured elsewhere, because it took something there: a phantom (A6).
//! - The slider is taken and nothing is won: by the line's answer or, where the line ends, by another man than the target
//!   (A10).
//! - A fork or pinned defender on the same ply wins more (A8): superseded.
//! - The move is castling (A2).
//!
//! # Known gaps
//!
//! Whether the target can leave with a threat of its own, or take the slider first, is left to the line.

use shakmaty::{Bitboard, Position, Role, Square, attacks::between};

use crate::{
    line::{Line, captured, moved},
    material::{PIECE, Points, value},
    survey::{Discovery, Survey},
    tactic::{Detections, Finding, FindingRole, Mark, Rule, Tactic},
    words::{Words, capitalized, line_name, name},
};

pub(super) const A4: Rule =
    Rule { id: "A4", text: "Taking the uncovered piece wins nothing, and the line does not take it." };
pub(super) const A5: Rule = Rule { id: "A5", text: "An uncovered pawn that the line does not take." };
pub(super) const A6: Rule = Rule {
    id: "A6",
    text: "The uncovered piece falls elsewhere, since it had to take there: not won by the discovery.",
};

pub(super) const A10: Rule = Rule { id: "A10", text: "The slider is taken at once, and nothing is won." };

/// The rules by which a discovered attack is refused.
pub(super) const RULES: &[Rule] = &[A4, A5, A6, A10];

pub(super) fn detect(s: &Survey, out: &mut Detections) {
    for &Discovery { slider, target } in &s.discoveries {
        let mut finding = Finding::new(Tactic::DiscoveredAttack, s.ply, slider);
        finding.role = role(s);
        finding.targets.push(target);
        finding.mark(Mark::Mover, Bitboard::from_square(s.to));
        if target == s.king {
            finding.prize = Some(free_hand(s));
            finding.won = s.payoff((s.attacks(s.to) & s.theirs).without(s.king));
        } else {
            let net = gain(s, slider, target);
            let fate = fate(s, slider, target);
            let accepted = fate == Fate::TakenThere || (net > 0 && s.value(target) >= PIECE);
            if !accepted {
                let rule = match fate {
                    Fate::TakenElsewhere => A6,
                    _ if s.board.role_at(target) == Some(Role::Pawn) => A5,
                    _ => A4,
                };
                out.reject(Tactic::DiscoveredAttack, s.ply, rule, Bitboard::from_iter([slider, target, s.to]));
                continue;
            }
            finding.prize = Some(if s.reply.is_none() && can_trade_itself(s, slider, target) { 0 } else { net });
            finding.won = s.payoff(Bitboard::from_square(target));
            let slider_falls = match s.reply {
                Some(reply) => captured(reply).is_some_and(|(sq, _)| sq == slider),
                None => s.men.without(target).exchange(slider, s.them) > 0,
            };
            if slider_falls && finding.won.is_none_or(|won| won == 0) {
                let squares = Bitboard::from_iter([slider, target, s.to]);
                out.reject(Tactic::DiscoveredAttack, s.ply, A10, squares);
                continue;
            }
        }
        out.findings.push(finding);
    }
}

/// Motif on the first ply, and on the third after a piece was given up to make it (A9); else follow-up.
pub(super) fn role(s: &Survey) -> FindingRole {
    if s.ply == 3 && gives_up_a_piece(s.line) { FindingRole::Motif } else { FindingRole::made_on(s.ply) }
}

/// With the enemy in check from behind, the moved piece may take what it attacks: the best of that.
pub(super) fn free_hand(s: &Survey) -> Points {
    let attacked = (s.attacks(s.to) & s.theirs).without(s.king);
    let nets =
        attacked.into_iter().filter(|sq| s.can_capture(s.to, *sq)).map(|sq| s.again.capture_value(s.to, sq, s.us));
    nets.max().unwrap_or(0).max(0)
}

/// What taking the target wins thanks to the slider: nothing if it would be won as well without it.
fn gain(s: &Survey, slider: Square, target: Square) -> Points {
    let with = s.exchange(target);
    let without = s.again.without(slider).exchange(target, s.us);
    let takes_part = s.can_capture(slider, target) || s.men.attackers(target, s.us).any();
    if takes_part && with > without { with } else { 0 }
}

/// Whether the target, its side to move, can take the slider, which is worth the same, and lose nothing.
fn can_trade_itself(s: &Survey, slider: Square, target: Square) -> bool {
    s.value(slider) == s.value(target)
        && s.men.attacks(target).contains(slider)
        && s.men.is_legal_capture(target, slider, s.them)
        && s.men.capture_value(target, slider, s.them) >= 0
}

#[derive(PartialEq, Eq)]
enum Fate {
    TakenThere,
    TakenElsewhere,
    Other,
}

/// What the line does with the target.
fn fate(s: &Survey, slider: Square, target: Square) -> Fate {
    let mut sq = target;
    let mut took = false;
    let slider = s.line.origin(slider, s.ply);
    for number in s.ply + 1..=s.line.len() {
        let m = s.line.moves[number - 1];
        if captured(m).is_some_and(|(taken, _)| taken == sq) {
            let by_slider = m.from().is_some_and(|from| s.line.origin(from, number - 1) == slider);
            return match took {
                true => Fate::TakenElsewhere,
                false if sq == target && by_slider => Fate::TakenThere,
                false => Fate::Other,
            };
        }
        if let Some((_, to)) = moved(m).into_iter().flatten().find(|(from, _)| *from == sq) {
            sq = to;
            took |= m.is_capture();
        }
    }
    Fate::Other
}

/// Whether the first ply gives a piece for no more than a pawn and the second takes it (A9).
fn gives_up_a_piece(line: &Line) -> bool {
    let (Some(first), Some(second)) = (line.ply(1), line.ply(2)) else {
        return false;
    };
    let given = second.captured().filter(|(sq, _)| *sq == first.m.to()).map_or(0, |(_, role)| value(role));
    let got = first.captured().map_or(0, |(_, role)| value(role));
    first.m.promotion().is_none() && given >= PIECE && got <= value(Role::Pawn)
}

pub(super) fn explain(w: &Words) -> String {
    let (s, slider) = (&w.survey, w.finding.piece);
    let target = w.finding.targets[0];
    let opened = opening(w);
    if target == s.king {
        let prey = (s.attacks(s.to) & s.theirs).without(s.king);
        return format!("{opened}: discovered check to the king on {target}.{}", w.outcome(prey));
    }
    let desperado = s.refuter().is_none()
        && s.reply.is_none()
        && s.loss(slider) > 0
        && s.men.attackers(slider, s.them).contains(target);
    let caveat =
        if desperado { format!(" {} can take it first, though.", capitalized(&w.man(target))) } else { String::new() };
    let outcome = if desperado { String::new() } else { w.outcome(Bitboard::from_square(target)) };
    format!("{opened} onto {}.{caveat}{outcome}", w.man(target))
}

/// "moving the knight to f6 opens the e-file for the rook on e1".
pub(super) fn opening(w: &Words) -> String {
    let s = &w.survey;
    let mover = s.before.board().role_at(s.from).map_or("piece", name);
    let (slider, target) = (w.finding.piece, w.finding.targets[0]);
    let line = line_name(slider, target);
    if let Some((taken, _)) = s.captured.filter(|(sq, _)| *sq != s.to && between(slider, target).contains(*sq)) {
        return format!("taking the pawn on {taken} in passing opens {line} for {}", w.man(slider));
    }
    format!("moving the {mover} to {} opens {line} for {}", s.to, w.man(w.finding.piece))
}
