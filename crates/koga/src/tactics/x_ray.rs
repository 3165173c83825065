//! An **x-ray** is a slider acting through an enemy piece, on the square behind it.
//!
//! # Reported when
//!
//! Along the whole line (X1), on the ply of ours that starts it:
//!
//! - *exchange*: we capture, the enemy recaptures on the same square, and we capture there again with a slider that
//!   stood behind the recapturing piece, through the square that it left (X2);
//! - *support-mate*: after such an exchange a slider behind the square gives or completes mate through it, on a line
//!   that the piece in front of it could not have used (X3);
//! - *defence*: we put a piece on a square that an enemy piece attacks, and our slider defends it through that very
//!   piece: if it captures, the slider recaptures (X4). The slider is needed, and with it the exchange does not
//!   lose, unless the line shows the recapture mating (X8);
//! - *sandwich*: we move a slider so that an undefended enemy piece stands alone between it and a second slider of
//!   ours of the same kind (X5).
//!
//! A line that ends on the third capture has shown no refutation (X9).
//!
//! # Not reported when
//!
//! - The exchange goes on and its last capture is not by a piece of ours on the slider's line (X6), also after enemy
//!   checks and our replies in between (X7).
//! - The defended piece is lost all the same, or was safe without the slider (X8).
//!
//! # Known gaps
//!
//! Only squares that a move of the line goes to are looked at.

use shakmaty::{
    Bitboard, Position, Role, Square,
    attacks::{aligned, between},
};

use crate::{
    attacks::{Men, moves_along},
    survey::Survey,
    tactic::{Detections, Finding, Kind, Mark, Rule, Tactic},
    words::Words,
};

pub(super) const X6: Rule =
    Rule { id: "X6", text: "The exchange goes on, and a piece off the slider's line has the last word." };
pub(super) const X7: Rule =
    Rule { id: "X7", text: "After checks in between, the enemy has the last word on the square." };
pub(super) const X8: Rule =
    Rule { id: "X8", text: "The piece is lost all the same, or was safe without the slider behind." };

/// The rules by which an x-ray is refused.
pub(super) const RULES: &[Rule] = &[X6, X7, X8];

pub(super) fn detect(s: &Survey, out: &mut Detections) {
    if s.m.is_castle() {
        return;
    }
    match exchange(s) {
        Some(ray) => report(s, &ray, out),
        None => defence(s, out),
    }
    sandwich(s, out);
}

/// A slider of ours, the enemy piece it acts through, and the square it acts on.
struct Ray {
    kind: Kind,
    slider: Square,
    shield: Square,
}

/// Ours, theirs, ours on one square, the last through the square that the second left (X2).
fn exchange(s: &Survey) -> Option<Ray> {
    s.captured?;
    let (reply, third) = (s.line.ply(s.ply + 1)?, s.line.ply(s.ply + 2)?);
    let on_square = |m: shakmaty::Move| m.is_capture() && m.to() == s.to;
    let (shield, slider) = (reply.m.from()?, third.m.from()?);
    let through = on_square(reply.m) && on_square(third.m) && between(slider, s.to).contains(shield);
    let is_slider = s.men.sliders(s.us).contains(slider);
    (through && is_slider).then_some(Ray { kind: Kind::Exchange, slider, shield })
}

/// The moved piece is defended through the piece that attacks it (X4).
fn defence(s: &Survey, out: &mut Detections) {
    for shield in s.men.attackers(s.to, s.them).without(s.king) {
        let unveiled = s.men.without(shield).attackers(s.to, s.us) & !s.men.attackers(s.to, s.us) & s.men.sliders(s.us);
        for slider in unveiled.into_iter().filter(|slider| between(*slider, s.to).contains(shield)) {
            if (s.loss(s.to) > 0 && !recaptures_with_mate(s, slider))
                || s.men.without(slider).exchange(s.to, s.them) <= 0
            {
                out.reject(Tactic::XRay, s.ply, X8, Bitboard::from_iter([slider, shield, s.to]));
                continue;
            }
            report(s, &Ray { kind: Kind::Defence, slider, shield }, out);
        }
    }
}

/// Whether the line shows the slider taking back on the square with mate: then the exchange loses nothing.
fn recaptures_with_mate(s: &Survey, slider: Square) -> bool {
    let recapture = s.line.ply(s.ply + 2);
    s.line.len() == s.ply + 2
        && s.line.mates
        && recapture.is_some_and(|ply| ply.m.is_capture() && ply.m.to() == s.to && ply.m.from() == Some(slider))
}

fn report(s: &Survey, ray: &Ray, out: &mut Detections) {
    let squares = Bitboard::from_iter([ray.slider, ray.shield, s.to]);
    if let Some(rule) = refutation(s, ray) {
        return out.reject(Tactic::XRay, s.ply, rule, squares);
    }
    let mut finding = Finding::new(Tactic::XRay, s.ply, ray.slider);
    finding.kind = Some(ray.kind);
    finding.targets.push(s.to);
    finding.mark(Mark::Shield, Bitboard::from_square(ray.shield));
    if ray.kind == Kind::Exchange {
        if let Some(supporter) = supports_mate(s) {
            finding.kind = Some(Kind::SupportMate);
            finding.piece = supporter;
        }
        finding.won = Some((s.line.settled_balance(s.ply) - s.line.balance(s.ply - 1)).max(0));
        finding.prize = finding.won;
    } else {
        finding.won = s.payoff(Bitboard::from_square(ray.shield));
        finding.prize = Some((s.value(ray.shield) - s.value(s.to)).max(0));
    }
    out.findings.push(finding);
}

/// Whether the line goes on with captures on the square and the last of them is not ours on the slider's line (X6), with
/// nothing or with enemy checks and our replies in between (X7).
fn refutation(s: &Survey, ray: &Ray) -> Option<Rule> {
    let mut last: Option<(usize, Square)> = None;
    let mut detour = false;
    let mut number = s.ply + 1;
    while let Some(ply) = s.line.ply(number) {
        if ply.m.is_capture() && ply.m.to() == s.to {
            last = Some((number, ply.m.from()?));
            number += 1;
        } else if last.is_some() && number.is_multiple_of(2) && ply.after.is_check() {
            detour = true;
            number += 2;
        } else {
            break;
        }
    }
    let (number, from) = last?;
    let ours = number % 2 == 1;
    if ours && (from == ray.slider || aligned(ray.slider, from, s.to)) {
        return None;
    }
    // A line that stops in the middle of the exchange has not shown who has the last word.
    if !ours && number == s.line.len() && number == s.ply + 1 {
        return None;
    }
    Some(if detour { X7 } else { X6 })
}

/// A slider behind the contested square that gives or completes the mate at the end of the line through it (X3).
fn supports_mate(s: &Survey) -> Option<Square> {
    if !s.line.mates || s.line.len() <= s.ply + 2 {
        return None;
    }
    let end = s.line.end();
    let (board, men) = (end.board(), Men::of(end));
    let king = board.king_of(s.them)?;
    let front = s.line.positions[s.ply + 2].board().role_at(s.to)?;
    let flights = shakmaty::attacks::king_attacks(king).with(king);
    men.sliders(s.us).into_iter().find(|slider| {
        let through = |sq: Square| {
            between(*slider, sq).contains(s.to)
                && !moves_along(front, *slider, sq)
                && men.without(king).attackers(sq, s.us).contains(*slider)
        };
        let sole = |sq: Square| men.without(king).attackers(sq, s.us).count() == 1;
        let flight = |sq: Square| !board.by_color(s.them).without(king).contains(sq) && sole(sq) && through(sq);
        flights.into_iter().any(flight)
    })
}

/// An undefended enemy piece alone between the moved slider and another of the same kind (X5).
fn sandwich(s: &Survey, out: &mut Detections) {
    if !matches!(s.role, Role::Bishop | Role::Rook | Role::Queen) {
        return;
    }
    let same_kind = s.board.by_role(s.role) & s.board.by_color(s.us).without(s.to);
    for filling in s.newly_attacked().without(s.king) {
        let Some(other) = same_kind
            .into_iter()
            .find(|other| between(s.to, *other).contains(filling) && s.attacks(*other).contains(filling))
        else {
            continue;
        };
        if s.can_capture(s.to, filling) && s.guards(filling, s.to).is_empty() {
            let mut finding = Finding::new(Tactic::XRay, s.ply, s.to);
            finding.kind = Some(Kind::Sandwich);
            finding.targets.push(filling);
            finding.mark(Mark::Attacker, Bitboard::from_square(other));
            finding.prize = Some(s.value(filling));
            finding.won = s.payoff(Bitboard::from_square(filling));
            out.findings.push(finding);
        }
    }
}

pub(super) fn explain(w: &Words) -> String {
    let f = w.finding;
    let (slider, square) = (w.man(f.piece), f.targets[0]);
    let shield = f.marked(Mark::Shield).first().map_or_else(String::new, |sq| w.man(sq));
    match f.kind {
        Some(Kind::Sandwich) => {
            let other = f.marked(Mark::Attacker).first().map_or_else(String::new, |sq| w.man(sq));
            format!(
                "{} is caught between {slider} and {other}, and nothing guards it.{}",
                w.man(square),
                w.outcome(Bitboard::from_square(square))
            )
        }
        Some(Kind::Defence) => {
            format!("{slider} defends {square} through {shield}: if that takes there, {slider} takes back.")
        }
        Some(Kind::SupportMate) => {
            format!("{slider} works through {square}, where {shield} takes back, and completes the mate.")
        }
        _ => format!("{slider} stands behind {shield} and takes on {square} through the square that it leaves."),
    }
}
