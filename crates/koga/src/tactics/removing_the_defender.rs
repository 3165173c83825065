//! **Removing the defender** captures a guard, so that what it guarded can be taken.
//!
//! # Reported when
//!
//! Our move captures a man that guarded another enemy piece well enough; later in the line we capture that piece on the
//! square where it stood, and the exchange there wins material now, which it did not before.
//!
//! # Not reported when
//!
//! - The piece that fell had moved: it was not won where it was guarded.
//! - It was insufficiently defended before (R2).
//!
//! # Known gaps
//!
//! Only what the line takes is looked at; defenders that are driven away or lured away are not removed by capture.

use shakmaty::Bitboard;

use crate::{
    exchange::move_value,
    line::captured,
    material::{PIECE, value},
    survey::Survey,
    tactic::{Detections, Finding, Mark, Rule, Tactic},
    words::{Words, name},
};

pub(super) const R2: Rule = Rule { id: "R2", text: "What the captured man guarded hung before." };

/// The rules by which a removal of the defender is refused.
pub(super) const RULES: &[Rule] = &[R2];

pub(super) fn detect(s: &Survey, out: &mut Detections) {
    let Some((guard, _)) = s.captured else { return };
    if s.ply + 2 > s.line.len() {
        return;
    }
    let mut guarded = s.past.attacks(guard) & s.past.by_color(s.them);
    for number in s.ply + 1..=s.line.len() {
        let m = s.line.moves[number - 1];
        let taken = captured(m).filter(|(sq, role)| guarded.contains(*sq) && value(*role) >= PIECE);
        let ours = number % 2 == 1;
        if let Some((sq, _)) = taken.filter(|_| ours && m.to() != s.to) {
            let squares = Bitboard::from_iter([guard, sq]);
            if s.exchange_before(sq) > 0 {
                return out.reject(Tactic::RemovingTheDefender, s.ply, R2, squares);
            }
            if move_value(&s.line.positions[number - 1], m) <= 0 || !was_guarded(s, sq, guard) {
                return;
            }
            let mut finding = Finding::new(Tactic::RemovingTheDefender, s.ply, s.to);
            finding.targets.push(sq);
            finding.mark(Mark::Defender, Bitboard::from_square(guard));
            let won = s.line.settled_balance(number) - s.line.balance(s.ply - 1);
            finding.prize = Some(s.exchange(sq));
            finding.won = Some(won.max(0));
            out.findings.push(finding);
            return;
        }
        guarded.discard(m.to());
        if let Some(from) = m.from() {
            guarded.discard(from);
        }
    }
}

/// Whether the guard was needed: without it we would have won something on the square before the move.
fn was_guarded(s: &Survey, sq: shakmaty::Square, guard: shakmaty::Square) -> bool {
    s.past.without(guard).exchange(sq, s.us) > 0
}

pub(super) fn explain(w: &Words) -> String {
    let s = &w.survey;
    let Some((guard, role)) = s.captured else {
        return String::new();
    };
    let target = w.finding.targets[0];
    let others = s.past.attackers(target, s.them).without(guard);
    format!(
        "taking the {} on {guard} removes {} guard of {}.{}",
        name(role),
        if others.is_empty() { "the" } else { "a" },
        w.man(target),
        w.outcome(Bitboard::from_square(target))
    )
}
