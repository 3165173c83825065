//! A **sacrifice** gives material on purpose, for more than material or for more of it later.
//!
//! # Reported when
//!
//! After the enemy's reply we are down by two points or more against the root, and the line shows why: it ends in mate,
//! or with the material won back; or what the reply takes was not lost before our move, so that it was offered.
//!
//! # Not reported when
//!
//! - The balance after the reply is down by less than two.
//! - The reply takes what was already lost before our move, and the line never gets it back (S1).
//!
//! # Known gaps
//!
//! A line that ends with our own move shows no reply, and so no sacrifice.

use shakmaty::Bitboard;

use crate::{
    line::captured,
    material::Points,
    survey::Survey,
    tactic::{Detections, Finding, Rule, Tactic},
    words::{Words, points, worth},
};

/// Down by this much against the root it is a sacrifice.
const GIVEN: Points = 2;

pub(super) const S1: Rule = Rule { id: "S1", text: "What the enemy takes was lost before the move." };

/// The rules by which a sacrifice is refused.
pub(super) const RULES: &[Rule] = &[S1];

pub(super) fn detect(s: &Survey, out: &mut Detections) {
    let Some(reply) = s.line.ply(s.ply + 1) else { return };
    let Some((sq, _)) = captured(reply.m) else { return };
    let down = s.line.balance(0) - s.line.balance(s.ply + 1);
    let reported = out.findings.iter().any(|finding| finding.tactic == Tactic::Sacrifice);
    if down < GIVEN || reported {
        return;
    }
    let pays = s.line.mates() || s.line.won() >= 0;
    let lost_before = sq != s.to && s.past.exchange(sq, s.them) > 0;
    if lost_before && !pays {
        return out.reject(Tactic::Sacrifice, s.ply, S1, Bitboard::from_iter([sq]));
    }
    let mut finding = Finding::new(Tactic::Sacrifice, s.ply, sq);
    finding.targets.push(sq);
    finding.prize = Some(0);
    finding.won = Some(s.line.won().max(0));
    out.findings.push(finding);
}

pub(super) fn explain(w: &Words) -> String {
    let s = &w.survey;
    let down = s.line.balance(0) - s.line.balance(s.ply + 1);
    let given = w.man(w.finding.piece);
    let why = match (s.line.mates(), s.line.won()) {
        (true, _) => " for mate".to_owned(),
        (false, won) if won > 0 => format!(" and comes out {} ahead", worth(won)),
        _ => String::new(),
    };
    format!("{} gives up {given}, {} down after the reply{why}.", w.us(), points(down))
}
