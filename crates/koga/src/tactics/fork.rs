//! A **fork** is one piece attacking two or more enemy pieces at once, so that they cannot all be saved.
//!
//! # Reported when
//!
//! After our move the moved piece attacks at least two targets that it did not attack from its old square
//! (F1, F4). A target is the king, a piece that nobody can take back on, or a piece worth more than the forker
//! (F2); pawns count when they are undefended. A guard that is itself a target is no guard, unless it is the
//! king. A capture that opens the forker's own line makes what stands behind a new target (F5). A defended
//! piece worth no more than the forker counts after all if the move adds an attacker that makes the exchange
//! on its square pay, and it did not pay before (F6). Beside a checked king and a piece, a pawn next to that king is not
//! named (F12). Where the line ends with it and one answer leaves us no capture that wins anything, it is a fork, but nothing
//! is at stake, and the sentence says so (F14). The fork is real if it gives check or its forker survives
//! the reply (F8); with check it may pay through the piece that takes the forker, or what that piece no longer guards (F9).
//!
//! # Not reported when
//!
//! - Fewer than two are in danger: the others are defended and worth no more than the forker (F3).
//! - The piece attacked them from its old square already (F4).
//! - The forker is pinned and may not take them (F11).
//! - The forker is simply taken and its line does not pay (F8). If the line shows that and wins no material,
//!   the fork stays as supporting geometry: enabling, never the headline; an even exchange is not even that (F7).
//! - Mate ends the line, or a discovered attack or pinned defender on the same ply wins more (F10): superseded.
//! - The forker is given up: it is taken, and beside the king (without check: beside what takes it) it attacked only pawns
//!   that the line does not take (F13).
//! - It is passed over on a later ply without having forced anything (R1).
//!
//! # Known gaps
//!
//! Only the moved piece forks: an uncovered slider that attacks two pieces is two discovered attacks. Whether
//! a target can escape with a counter-threat is left to the line.

use shakmaty::{Bitboard, Square, attacks::king_attacks};

use crate::{
    attacks::Men,
    material::{Points, value},
    mobility::is_parried,
    survey::Survey,
    tactic::{Detections, Finding, FindingRole, Mark, Rule, Tactic},
    words::Words,
};

pub(super) const F3: Rule = Rule {
    id: "F3",
    text: "Fewer than two of them are in danger: the others are defended and worth no more than the piece that attacks them.",
};
pub(super) const F4: Rule = Rule { id: "F4", text: "The piece attacked them from its old square already." };
pub(super) const F7: Rule = Rule { id: "F7", text: "The forking piece is exchanged for what it took." };
pub(super) const F8: Rule = Rule { id: "F8", text: "The forking piece can simply be taken." };
pub(super) const F11: Rule =
    Rule { id: "F11", text: "The forking piece may not take them: it would expose its own king." };

/// The rules by which a fork is refused.
pub(super) const RULES: &[Rule] = &[F3, F4, F7, F8, F11];

pub(super) fn detect(s: &Survey, out: &mut Detections) {
    let attacked = s.attacks(s.to) & s.theirs;
    if !attacked.more_than_one() {
        return;
    }
    let new = s.newly_attacked();
    if !new.more_than_one() {
        return out.reject(Tactic::Fork, s.ply, F4, attacked.with(s.to));
    }
    let takeable: Bitboard = new.into_iter().filter(|sq| *sq == s.king || s.can_capture(s.to, *sq)).collect();
    if !takeable.more_than_one() {
        return out.reject(Tactic::Fork, s.ply, F11, new.with(s.to));
    }
    let targets = targets(s, takeable);
    if !targets.more_than_one() {
        return out.reject(Tactic::Fork, s.ply, F3, takeable.with(s.to));
    }

    let refuter = s.refuter();
    let mut finding = Finding::new(Tactic::Fork, s.ply, s.to);
    finding.targets.extend(targets);
    // A forker that is taken may still win the piece that took it, or what that piece no longer guards (F9).
    finding.won = s.payoff(targets | Bitboard::from_iter(refuter));
    if refuter.is_some() && s.line.len() > s.ply + 1 {
        finding.won = finding.won.or(Some(0));
    }
    finding.prize = Some(match refuter {
        Some(_) => finding.won.unwrap_or_else(|| retaken(s)),
        None if saves_all(s, targets) => 0,
        None => prize(s, targets),
    });
    if let Some(refuter) = refuter {
        finding.mark(Mark::Refuter, Bitboard::from_square(refuter));
    }
    let pays_anyway = finding.won > Some(0) || (refuter.is_some() && finding.prize > Some(0));
    let exchanged = refuter.is_some() && s.captured.is_some_and(|(_, role)| value(role) >= value(s.role));
    let taker_falls = || refuter.is_some_and(|sq| s.payoff(Bitboard::from_square(sq)) > Some(0));
    if exchanged && !taker_falls() {
        return out.reject(Tactic::Fork, s.ply, F7, targets.with(s.to));
    }
    if refuter.is_some() && s.line.won() <= 0 && !s.line.mates {
        finding.role = FindingRole::Enabling;
    } else if !s.survives() && !pays_anyway && (s.checkers.is_empty() || refuter.is_none()) {
        return out.reject(Tactic::Fork, s.ply, F8, targets.with(s.to));
    }
    out.findings.push(finding);
}

/// Those of the attacked pieces that are really in danger (F2, F3, F6, F12).
fn targets(s: &Survey, attacked: Bitboard) -> Bitboard {
    let mut targets = Bitboard::EMPTY;
    let mut doubtful = Bitboard::EMPTY;
    for sq in attacked {
        let tips = || s.exchange(sq) > 0 && s.exchange_before(sq) <= 0;
        if s.value(sq) > value(s.role) || s.guards(sq, s.to).is_empty() || tips() {
            targets.add(sq);
        } else {
            doubtful.add(sq);
        }
    }
    // Guards that are targets themselves cannot save themselves and stay.
    loop {
        let busy = targets.without(s.king);
        let Some(sq) = doubtful.into_iter().find(|sq| s.guards(*sq, s.to).is_subset(busy)) else { break };
        doubtful.discard(sq);
        targets.add(sq);
    }
    // With more than the king at stake, a pawn beside it is not worth a word: the king's answer decides about it.
    let beside_king = king_attacks(s.king) & s.board.pawns();
    let without = targets & !beside_king;
    if targets.contains(s.king) && without.more_than_one() { without } else { targets }
}

/// Whether the line ends here and some answer saves every target: then none is at stake (F14).
fn saves_all(s: &Survey, targets: Bitboard) -> bool {
    s.reply.is_none() && !s.line.mates && is_parried(s.after, targets)
}

/// Where the line ends with the capture of the forker: what taking back there wins for it.
fn retaken(s: &Survey) -> Points {
    if s.line.len() > s.ply + 1 {
        return 0;
    }
    (Men::of(s.line.end()).exchange(s.to, s.us) - value(s.role)).max(0)
}

/// What the fork wins if the most valuable target is saved; with check all but the king hang.
fn prize(s: &Survey, targets: Bitboard) -> Points {
    let mut nets: Vec<Points> =
        targets.without(s.king).into_iter().map(|sq| net(s, sq, targets.without(s.king))).collect();
    nets.sort_unstable();
    let saved = usize::from(s.checkers.is_empty());
    nets.into_iter().rev().nth(saved).unwrap_or(0).max(0)
}

/// What taking that target wins when the other targets cannot take back.
fn net(s: &Survey, sq: Square, busy: Bitboard) -> Points {
    if s.guards(sq, s.to).is_subset(busy) {
        return s.value(sq);
    }
    s.again.capture_value(s.to, sq, s.us).max(s.exchange(sq))
}

pub(super) fn explain(w: &Words) -> String {
    let s = &w.survey;
    let targets: Bitboard = w.finding.targets.iter().copied().collect();
    let shape = format!("{} forks {}", w.man(s.to), w.men(targets));
    let Some(refuter) = w.finding.marked(Mark::Refuter).first() else {
        let parried = if saves_all(s, targets) { " One answer saves everything." } else { "" };
        return format!("{shape}.{parried}{}", w.outcome(targets));
    };
    let taker = w.man(refuter);
    if w.finding.role == FindingRole::Enabling {
        return format!("{shape}, but {taker} takes it and the line wins nothing.");
    }
    match w.finding.won {
        Some(won) if won > 0 => format!("{shape}; {taker} takes it.{}", w.outcome(targets.with(refuter))),
        _ => format!("{shape}; {taker} takes it."),
    }
}
