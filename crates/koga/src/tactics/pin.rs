//! A **pin** holds a piece on a line of ours: if it left, what stands behind it would fall. An absolute pin is to
//! the king, a relative pin to a more valuable piece.
//!
//! # Reported when
//!
//! After one of our plies (P6) an enemy piece stands alone between one of our sliders and its king (P1), or between
//! the slider and a more valuable piece directly behind it (P2). It is a motif if that piece was not pinned to that
//! rear piece before the candidate, by whichever slider; enabling if it was; follow-up if the pin first stands
//! later (P7). Each pair is reported once.
//!
//! # Not reported when
//!
//! - The slider is pinned itself and could not take the rear piece (P2).
//! - Taking the rear piece would be an even trade at best: it is defended and the slider is worth as much (P3).
//! - The pinned man is a pawn that no other piece of ours attacks (P4), unless it is held to its king and would otherwise take
//!   the piece that we move.
//! - The pinned pawn is held along its own file and has nothing to take: the pin does not bind it (P11).
//! - The slider gives check right now: it is busy with the king (P5).
//! - The pin is relative and the pinned piece can take the slider without loss (P12).
//! - The pin is relative, the line's answer is a move of the pinned piece off the line, and what stood behind it is not to be
//!   won, in the line or where that ends (P13); a pin that stood before stays.
//! - It first stands later in the line, or the move mates, and nothing comes of it: the pinned piece cannot be taken with profit and is not
//!   missed elsewhere (P10).
//! - The slider can simply be taken and the line wins nothing by the pin (P9); a pin that stood before stays.
//! - We capture what a pinned piece defends (P8): the pinned defender supersedes the pin.
//!
//! # Known gaps
//!
//! A pinned piece that can leave with check or a bigger threat is still called pinned when the pin is relative and the line does
//! not show it.

use shakmaty::{Bitboard, Move, Position, Role, attacks::between};

use crate::{
    attacks::Men,
    line::Line,
    pins::{Pin, pins},
    survey::{CashIn, Survey},
    tactic::{Detections, Finding, FindingRole, Kind, Rule, Tactic},
    words::Words,
};

pub(super) const P2: Rule = Rule { id: "P2", text: "The slider is pinned itself and could not take the piece behind." };
pub(super) const P3: Rule =
    Rule { id: "P3", text: "Taking the piece behind would be an even trade at best: it is defended." };
pub(super) const P4: Rule = Rule { id: "P4", text: "A pinned pawn that no other piece attacks." };
pub(super) const P5: Rule = Rule { id: "P5", text: "The slider gives check itself and pins nothing." };
pub(super) const P9: Rule = Rule { id: "P9", text: "The pinning piece can simply be taken." };

pub(super) const P11: Rule =
    Rule { id: "P11", text: "The pawn is held along its own file and has nothing to take: it may go on as before." };

pub(super) const P10: Rule = Rule {
    id: "P10",
    text: "Nothing comes of it: the pinned piece cannot be taken with profit and is not missed elsewhere.",
};

pub(super) const P12: Rule = Rule { id: "P12", text: "The pinned piece can take the slider and loses nothing by it." };

pub(super) const P13: Rule =
    Rule { id: "P13", text: "The pinned piece leaves at once, and what stood behind it is not to be won." };

/// The rules by which a pin is refused.
pub(super) const RULES: &[Rule] = &[P2, P3, P4, P5, P9, P10, P11, P12, P13];

pub(super) fn detect(s: &Survey, out: &mut Detections) {
    for pin in pins(&s.men, s.us) {
        let pair = Bitboard::from_iter([pin.pinned, pin.rear]);
        if is_known(s, out, &pin) {
            continue;
        }
        let won = s.payoff(pair.without(s.king));
        let stood = stood_at_root(s.line, s.ply, &pin);
        let pinner_hangs = || !stood && won.is_none_or(|won| won == 0) && s.loss(pin.pinner) > 0;
        let leaves = || !stood && leaves_unpunished(s, &pin);
        let rule = refusal(s, &pin).or_else(|| pinner_hangs().then_some(P9)).or_else(|| leaves().then_some(P13));
        if let Some(rule) = rule {
            out.reject(Tactic::Pin, s.ply, rule, pair.with(pin.pinner));
            continue;
        }
        let mut finding = Finding::new(Tactic::Pin, s.ply, pin.pinner);
        finding.kind = Some(if pin.absolute { Kind::Absolute } else { Kind::Relative });
        finding.targets.extend([pin.pinned, pin.rear]);
        if stood {
            finding.role = FindingRole::Enabling;
        }
        finding.prize = Some(s.exchange(pin.pinned));
        finding.won = won;
        let at_stake = !s.is_mate() && (finding.prize > Some(0) || won > Some(0));
        let made_here = finding.role == FindingRole::FollowUp || s.is_mate();
        if made_here && !at_stake && !plays_a_part(s, &pin) {
            out.reject(Tactic::Pin, s.ply, P10, pair.with(pin.pinner));
            continue;
        }
        out.findings.push(finding);
    }
}

fn refusal(s: &Survey, pin: &Pin) -> Option<Rule> {
    if s.checkers.contains(pin.pinner) {
        return Some(P5);
    }
    if s.board.role_at(pin.pinned) == Some(Role::Pawn) {
        let others = s.men.attackers(pin.pinned, s.us).without(pin.pinner);
        if others.is_empty() && !spares_the_moved_piece(s, pin) {
            return Some(P4);
        }
        let takes = s.men.attacks(pin.pinned) & s.board.by_color(s.us);
        if pin.pinned.file() == pin.pinner.file() && takes.is_empty() && !plays_a_part(s, pin) {
            return Some(P11);
        }
    }
    if !pin.absolute && !s.again.without(pin.pinned).is_legal_capture(pin.pinner, pin.rear, s.us) {
        return Some(P2);
    }
    let takes_pinner = s.men.attacks(pin.pinned).contains(pin.pinner)
        && s.men.is_legal_capture(pin.pinned, pin.pinner, s.them)
        && s.men.capture_value(pin.pinned, pin.pinner, s.them) >= 0;
    if !pin.absolute && takes_pinner {
        return Some(P12);
    }
    let even_trade = || s.again.without(pin.pinned).defenders(pin.rear, pin.pinner, s.them).any();
    (!pin.absolute && s.value(pin.pinner) >= s.value(pin.rear) && even_trade()).then_some(P3)
}

/// Whether the line's answer moves the pinned piece off the line or takes the slider with it, and we cannot win what stood
/// behind it: neither in the line nor, where that ends with the answer, at once.
fn leaves_unpunished(s: &Survey, pin: &Pin) -> bool {
    let off_the_line = |m: Move| m.from() == Some(pin.pinned) && !between(pin.pinner, pin.rear).contains(m.to());
    if pin.absolute || !s.reply.is_some_and(off_the_line) {
        return false;
    }
    match s.cash_in(Bitboard::from_square(pin.rear)) {
        CashIn::Won { .. } | CashIn::PassedOver => false,
        CashIn::Taken => true,
        CashIn::Open if s.ply + 1 < s.line.len() => true,
        CashIn::Open => {
            let lost = s.line.balance(s.ply) - s.line.balance(s.ply + 1);
            Men::of(s.line.end()).exchange(pin.rear, s.us) <= lost
        }
    }
}

/// Whether the pinned man would take the moved piece if it were not pinned to its king.
fn spares_the_moved_piece(s: &Survey, pin: &Pin) -> bool {
    pin.absolute && pin.pinner != s.to && s.men.attacks(pin.pinned).contains(s.to)
}

/// Whether the pinned piece is missed: while the pin stands we go to a square that it attacks, or check along squares that
/// it could step onto.
fn plays_a_part(s: &Survey, pin: &Pin) -> bool {
    for ply in s.line.our_plies().filter(|ply| ply.number >= s.ply) {
        let men = Men::of(ply.after);
        let stands = pins(&men, s.us).iter().any(|later| later.pinned == pin.pinned && later.rear == pin.rear);
        if !stands {
            return false;
        }
        let interposing = ply.after.checkers().into_iter().fold(Bitboard::EMPTY, |all, sq| all | between(sq, s.king));
        if (men.attacks(pin.pinned) & interposing.with(ply.m.to())).any() {
            return true;
        }
    }
    false
}

/// Whether the same piece was found pinned to the same rear piece on an earlier ply.
fn is_known(s: &Survey, out: &Detections, pin: &Pin) -> bool {
    let pair = [pin.pinned, pin.rear].map(|sq| s.line.origin(sq, s.ply));
    out.findings
        .iter()
        .filter(|finding| finding.tactic == Tactic::Pin)
        .any(|earlier| [earlier.targets[0], earlier.targets[1]].map(|sq| s.line.origin(sq, earlier.ply)) == pair)
}

/// Whether this piece was pinned to this rear piece before the candidate (P7).
fn stood_at_root(line: &Line, ply: usize, pin: &Pin) -> bool {
    let (pinned, rear) = (line.origin(pin.pinned, ply), line.origin(pin.rear, ply));
    pins(&Men::of(line.root()), line.pov()).iter().any(|earlier| earlier.pinned == pinned && earlier.rear == rear)
}

pub(super) fn explain(w: &Words) -> String {
    let f = w.finding;
    let (pinned, rear) = (f.targets[0], f.targets[1]);
    let s = &w.survey;
    let shape = if f.role != FindingRole::Enabling {
        format!("{} pins {} to {}", w.man(f.piece), w.man(pinned), w.man(rear))
    } else if s.line.origin(f.piece, s.ply) == f.piece
        && s.line.root().board().role_at(f.piece) == s.board.role_at(f.piece)
    {
        format!("{} already pins {} to {}", w.man(f.piece), w.man(pinned), w.man(rear))
    } else {
        format!("{} keeps {} pinned to {}", w.man(f.piece), w.man(pinned), w.man(rear))
    };
    let targets = Bitboard::from_iter([pinned, rear]).without(w.survey.king);
    match w.survey.cash_in(targets) {
        CashIn::Won { .. } => format!("{shape}.{}", w.outcome(targets)),
        _ => format!("{shape}."),
    }
}
