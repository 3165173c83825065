//! A **skewer** attacks a piece that has to leave, so that the man behind it on the same line falls: a pin the other way
//! round.
//!
//! # Reported when
//!
//! After our move the moved rook, bishop or queen gives check along a line, or attacks a piece that it can take with profit, and
//! directly behind stands a knight or more that is worth no more than the piece in front. It is a motif on the first ply and a
//! follow-up later. The line takes one of the two with profit; or it ends with the first ply or the answer to it, and whatever
//! the enemy answers, one of the two can be taken with profit.
//!
//! # Not reported when
//!
//! - The moved piece stood on that line already and attacked the piece in front before (K1).
//! - Taking the man behind wins nothing once the piece in front has left: it is guarded (K2).
//! - The moved piece is taken at once, unless the piece in front takes it and falls for it; or it can simply be taken (K3).
//! - The piece in front is guarded well enough against the moved piece to stay (K4).
//! - The line takes neither; or it ends at once, and one answer saves both (K5).
//! - What it wins falls to the mating move (R3): superseded.
//!
//! # Known gaps
//!
//! A slider that another move uncovers is a discovered attack, whatever stands behind its target.

use shakmaty::{Bitboard, Role, Square, attacks::between};

use crate::{
    material::{PIECE, Points, value},
    mobility::is_sure_to_win_one,
    survey::Survey,
    tactic::{Detections, Finding, Rule, Tactic},
    words::Words,
};

pub(super) const K1: Rule = Rule { id: "K1", text: "The piece attacked the one in front along that line already." };
pub(super) const K2: Rule = Rule { id: "K2", text: "The man behind is guarded: taking it would win nothing." };
pub(super) const K3: Rule = Rule { id: "K3", text: "The skewering piece can simply be taken." };
pub(super) const K4: Rule = Rule { id: "K4", text: "The piece in front is guarded well enough to stay." };
pub(super) const K5: Rule = Rule { id: "K5", text: "The line takes neither, or one answer saves both." };

/// The rules by which a skewer is refused.
pub(super) const RULES: &[Rule] = &[K1, K2, K3, K4, K5];

pub(super) fn detect(s: &Survey, out: &mut Detections) {
    if s.is_mate() || !s.men.sliders(s.us).contains(s.to) {
        return;
    }
    for front in s.attacks(s.to) & s.theirs & !s.board.pawns() {
        let Some(rear) = behind(s, front).filter(|rear| may_stand_behind(s, front, *rear)) else { continue };
        let squares = Bitboard::from_iter([s.to, front, rear]);
        let men = Bitboard::from_iter([front, rear]).without(s.king);
        let won = s.payoff(men);
        if let Some(rule) = refusal(s, front, rear, won).or_else(|| fails(s, men, won).then_some(K5)) {
            out.reject(Tactic::Skewer, s.ply, rule, squares);
            continue;
        }
        let mut finding = Finding::new(Tactic::Skewer, s.ply, s.to);
        finding.targets.extend([front, rear]);
        finding.prize = men.into_iter().map(|sq| gain(s, front, sq)).min();
        finding.won = won;
        out.findings.push(finding);
    }
}

/// The enemy man next behind `front` on the line of the moved piece.
fn behind(s: &Survey, front: Square) -> Option<Square> {
    let seen = s.men.without(front).attacks(s.to) & s.theirs & !s.attacks(s.to);
    seen.into_iter().find(|sq| between(s.to, *sq).contains(front))
}

/// Whether a player would speak of a skewer: a knight or more behind a piece that is worth as much or more.
fn may_stand_behind(s: &Survey, front: Square, rear: Square) -> bool {
    let [front, rear] = [front, rear].map(|sq| s.board.role_at(sq));
    let is_more = |rear: Role| front == Some(Role::King) || front.is_some_and(|front| value(front) >= value(rear));
    rear.is_some_and(|rear| rear != Role::King && value(rear) >= PIECE && is_more(rear))
}

fn refusal(s: &Survey, front: Square, rear: Square, won: Option<Points>) -> Option<Rule> {
    let stood = || s.past.sliders(s.us).contains(s.from) && s.past.attacks(s.from).contains(front);
    let along_it = || between(s.from, rear).contains(front);
    if stood() && along_it() {
        return Some(K1);
    }
    // The piece in front may take the skewering one and fall for it; whatever else takes it, it is a decoy at best.
    let taken_at_a_loss = || front != s.king && s.refuter() == Some(front) && won > Some(0);
    if !s.survives() && !taken_at_a_loss() {
        return Some(K3);
    }
    if front != s.king && gain(s, front, front) <= 0 {
        return Some(K4);
    }
    (gain(s, front, rear) <= 0).then_some(K2)
}

/// What taking one of the two men wins, the front one out of the way of the rear one.
fn gain(s: &Survey, front: Square, sq: Square) -> Points {
    let men = if sq == front { s.again } else { s.again.without(front) };
    if men.is_legal_capture(s.to, sq, s.us) { men.capture_value(s.to, sq, s.us) } else { 0 }
}

/// Whether nothing comes of it: the line takes neither with profit, or ends before it can and an answer saves both. Of a later
/// ply the line has to show it.
fn fails(s: &Survey, men: Bitboard, won: Option<Points>) -> bool {
    won.map_or_else(|| s.ply > 1 || !is_sure_to_win_one(s.after, men), |won| won <= 0)
}

pub(super) fn explain(w: &Words) -> String {
    let (front, rear) = (w.finding.targets[0], w.finding.targets[1]);
    let men = Bitboard::from_iter([front, rear]).without(w.survey.king);
    format!(
        "{} skewers {} and, behind it on the same line, {}.{}",
        w.man(w.finding.piece),
        w.man(front),
        w.man(rear),
        w.outcome(men)
    )
}
