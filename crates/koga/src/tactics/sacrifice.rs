//! A **sacrifice** gives material on purpose, for more than material or for more of it later.
//!
//! # Reported when
//!
//! After the enemy's reply we are down by two points or more against the root, and the line shows what for: it ends in
//! mate, with the material won back, or with a threat that is sure to win it back.
//!
//! # Not reported when
//!
//! - The balance after the reply is down by less than two.
//! - The line does not show what it was given for (S1).
//! - We take back at once on the same square and are not down by two any more, or our next move takes a piece of the same
//!   worth in return: an exchange (S2).
//!
//! # Known gaps
//!
//! A line that ends with our own move shows no reply, and so no sacrifice. Compensation other than material and mate is
//! not seen.

use shakmaty::Bitboard;

use crate::{
    line::captured,
    material::{Points, value},
    mobility::sure_gain,
    survey::Survey,
    tactic::{Detections, Finding, Rule, Tactic},
    words::{Words, points},
};

/// Down by this much against the root it is a sacrifice.
const GIVEN: Points = 2;

pub(super) const S1: Rule = Rule { id: "S1", text: "The line does not show what the material was given for." };
pub(super) const S2: Rule =
    Rule { id: "S2", text: "It is taken back at once, or the same is taken in return: an exchange." };

/// The rules by which a sacrifice is refused.
pub(super) const RULES: &[Rule] = &[S1, S2];

pub(super) fn detect(s: &Survey, out: &mut Detections) {
    let Some(reply) = s.line.ply(s.ply + 1) else {
        return;
    };
    let Some((sq, given)) = captured(reply.m) else {
        return;
    };
    let down = s.line.balance(0) - s.line.balance(s.ply + 1);
    let reported = out.findings.iter().any(|finding| finding.tactic == Tactic::Sacrifice);
    if down < GIVEN || reported {
        return;
    }
    if !s.line.mates {
        let taken_back = s.line.settled_balance(s.ply + 1);
        let at_once = taken_back > s.line.balance(s.ply + 1) && s.line.balance(0) - taken_back < GIVEN;
        let in_kind = s.line.ply(s.ply + 2).and_then(|ply| ply.captured()).map(|(_, role)| value(role));
        if at_once || in_kind == Some(value(given)) {
            return out.reject(Tactic::Sacrifice, s.ply, S2, Bitboard::from_square(sq));
        }
        if s.line.won() < 0 && s.line.won() + sure_gain(s.line.end()) < 0 {
            return out.reject(Tactic::Sacrifice, s.ply, S1, Bitboard::from_square(sq));
        }
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
    let why = match (s.line.mates, s.line.won()) {
        (true, _) => " for mate".to_owned(),
        (false, won) if won > 0 => format!(" and comes out {} ahead", points(won)),
        _ => String::new(),
    };
    format!("{} gives up {given} ({} down after the reply){why}.", w.us(), points(down))
}
