//! The shared facts against slow references: legal moves, and the board square by square.

mod support;

use std::{collections::BTreeMap, sync::OnceLock};

use koga::{
    Line,
    attacks::Men,
    material::balance,
    mobility::{loses_wherever_it_goes, mates_in_one, passed, sure_gain},
    pins::{Pin, pinned_to_king, pins},
    shakmaty::{Bitboard, Board, Chess, Color, EnPassantMode, Move, Position, Role, Square},
};
use support::{
    Complaints, effort, fen, puzzles,
    random::{self, Rng},
    seed, slow,
};

/// Lines of real puzzles, where they are at hand, and random ones.
fn lines() -> &'static [Line] {
    static LINES: OnceLock<Vec<Line>> = OnceLock::new();
    LINES.get_or_init(|| {
        let mut rng = Rng::new(seed() + 1);
        let random = std::iter::repeat_with(|| random::line(&mut rng, 30)).take(900 * effort());
        let puzzles = puzzles::every((64 / effort()).max(1)).unwrap_or_default();
        random.chain(puzzles.iter().map(|puzzle| puzzle.line())).collect()
    })
}

/// Every position of every line: some 15,000.
fn positions() -> impl Iterator<Item = &'static Chess> {
    lines().iter().flat_map(|line| &line.positions)
}

/// The man with this one moved to a square, whatever stood there.
fn put(board: &Board, from: Square, to: Square) -> Board {
    let mut next = slow::without(board, from);
    next.set_piece_at(to, board.piece_at(from).expect("a man to move"));
    next
}

#[test]
fn attackers_are_the_men_whose_steps_lead_to_the_square() {
    let mut complaints = Complaints::default();
    for pos in positions().step_by(5) {
        let men = Men::of(pos);
        for sq in Square::ALL {
            for color in Color::ALL {
                let slow = slow::attackers(pos.board(), sq, color);
                complaints.compare(men.attackers(sq, color), slow, || format!("{color} on {sq} in {}", fen(pos)));
            }
        }
    }
    complaints.settle();
}

#[test]
fn attacks_are_the_squares_that_a_mans_steps_lead_to() {
    let mut complaints = Complaints::default();
    for pos in positions().step_by(5) {
        let men = Men::of(pos);
        for from in Square::ALL {
            let slow: Bitboard = Square::ALL.into_iter().filter(|to| slow::attacks(pos.board(), from, *to)).collect();
            complaints.compare(men.attacks(from), slow, || format!("{from} in {}", fen(pos)));
        }
    }
    complaints.settle();
}

#[test]
fn capturers_are_the_men_with_a_legal_capture_there() {
    let mut complaints = Complaints::default();
    let mut found = 0;
    for given in positions() {
        for turn in Color::ALL {
            let Some(pos) = slow::with_turn(given, turn) else { continue };
            let men = Men::of(given);
            for sq in given.board().by_color(!turn) & !given.board().kings() {
                let slow: Bitboard = slow::captures_on(&pos, sq).into_iter().filter_map(|m| m.from()).collect();
                found += slow.count();
                complaints.compare(men.capturers(sq, turn), slow, || format!("{sq} in {}", fen(&pos)));
            }
        }
    }
    assert!(found > 10_000, "only {found} captures");
    complaints.settle();
}

#[test]
fn defenders_are_the_men_with_a_legal_recapture() {
    let mut complaints = Complaints::default();
    for given in positions() {
        for turn in Color::ALL {
            let Some(pos) = slow::with_turn(given, turn) else { continue };
            let men = Men::of(given);
            for sq in given.board().by_color(!turn) {
                for m in slow::captures_on(&pos, sq) {
                    let capturer = m.from().expect("a capture comes from somewhere");
                    let answers = slow::captures_on(&slow::after(&pos, m), sq);
                    let slow: Bitboard = answers.into_iter().filter_map(|m| m.from()).collect();
                    let got = men.defenders(sq, capturer, !turn);
                    complaints.compare(got, slow, || format!("{m:?} in {}", fen(&pos)));
                }
            }
        }
    }
    complaints.settle();
}

#[test]
fn a_check_that_is_answered_does_not_bind_recaptures() {
    // With a check on the board it is never the checking side's move, so legal moves cannot tell: the board is looked at.
    let mut complaints = Complaints::default();
    let mut found = 0;
    for pos in positions().filter(|pos| pos.is_check()) {
        let (them, us) = (pos.turn(), !pos.turn());
        let board = pos.board();
        let checkers = slow::attackers(board, board.king_of(them).expect("a king"), us);
        let again = Men { answered: checkers, ..Men::of(pos) };
        for sq in board.by_color(them) & !board.kings() {
            for capturer in slow::attackers(board, sq, us) {
                let taken = put(board, capturer, sq);
                let may = |from: &Square| {
                    let back = put(&taken, *from, sq);
                    let king = back.king_of(them).expect("a king");
                    let checks = slow::attackers(&back, king, us);
                    if king == sq { checks.is_empty() } else { checks.is_subset(checkers) }
                };
                let slow: Bitboard = slow::attackers(&taken, sq, them).into_iter().filter(may).collect();
                found += slow.count();
                let got = again.defenders(sq, capturer, them);
                complaints.compare(got, slow, || format!("{capturer} takes {sq} in {}", fen(pos)));
            }
        }
    }
    assert!(found > 100, "only {found} recaptures");
    complaints.settle();
}

/// The pins by one colour, found by walking along the sliders' lines.
fn slow_pins(board: &Board, color: Color) -> Vec<Pin> {
    let is_theirs = |sq: Square| board.color_at(sq) == Some(!color);
    let rank = |sq: Square| match board.role_at(sq) {
        Some(Role::King) => 100,
        Some(role) => slow::worth(role),
        None => 0,
    };
    let mut pins = Vec::new();
    for pinner in board.by_color(color) {
        let role = board.role_at(pinner).expect("a man stands there");
        for direction in slow::directions(role) {
            let &[pinned, rear, ..] = &slow::men_on_the_way(board, pinner, direction)[..] else { continue };
            let is_king = board.role_at(pinned) == Some(Role::King);
            if is_theirs(pinned) && is_theirs(rear) && !is_king && rank(rear) > rank(pinned) {
                pins.push(Pin { pinner, pinned, rear, absolute: board.role_at(rear) == Some(Role::King) });
            }
        }
    }
    pins.sort_by_key(|pin| (pin.pinner, pin.pinned));
    pins
}

#[test]
fn pins_are_two_of_their_men_in_a_row_before_a_slider_the_better_one_behind() {
    let mut complaints = Complaints::default();
    let mut found = 0;
    for pos in positions() {
        for color in Color::ALL {
            let mut got = pins(&Men::of(pos), color).to_vec();
            got.sort_by_key(|pin| (pin.pinner, pin.pinned));
            found += got.len();
            complaints.compare(got, slow_pins(pos.board(), color), || format!("{color} in {}", fen(pos)));
        }
    }
    assert!(found > 1000, "only {found} pins");
    complaints.settle();
}

#[test]
fn men_pinned_to_the_king_are_those_whose_removal_exposes_it() {
    let mut complaints = Complaints::default();
    for pos in positions() {
        let board = pos.board();
        for color in Color::ALL {
            let king = board.king_of(!color).expect("a king");
            let now = slow::attackers(board, king, color);
            let exposes = |sq: &Square| !slow::attackers(&slow::without(board, *sq), king, color).is_subset(now);
            let slow: Bitboard = board.by_color(!color).without(king).into_iter().filter(exposes).collect();
            complaints.compare(pinned_to_king(&Men::of(pos), color), slow, || format!("{color} in {}", fen(pos)));
        }
    }
    complaints.settle();
}

#[test]
fn passing_changes_only_the_side_to_move_and_is_impossible_in_check() {
    let mut complaints = Complaints::default();
    for pos in positions() {
        let Some(passed) = passed(pos) else {
            complaints.compare(pos.is_check(), true, || format!("no passing in {}", fen(pos)));
            continue;
        };
        complaints.compare(pos.is_check(), false, || format!("passed out of check in {}", fen(pos)));
        let mut expected = pos.to_setup(EnPassantMode::Always);
        expected.turn = !expected.turn;
        expected.ep_square = None;
        complaints.compare(passed.to_setup(EnPassantMode::Always), expected, || fen(pos));
    }
    complaints.settle();
}

#[test]
fn mates_in_one_are_the_moves_that_leave_a_checked_king_without_a_move() {
    let mut complaints = Complaints::default();
    let mut found = 0;
    for pos in positions() {
        let is_mate = |m: &Move| {
            let after = slow::after(pos, *m);
            let king = after.board().king_of(after.turn()).expect("a king");
            after.legal_moves().is_empty() && slow::attackers(after.board(), king, !after.turn()).any()
        };
        let slow: Vec<Move> = pos.legal_moves().into_iter().filter(is_mate).collect();
        found += slow.len();
        complaints.compare(mates_in_one(pos), slow, || fen(pos));
    }
    assert!(found > 100, "only {found} mates");
    complaints.settle();
}

#[test]
fn a_piece_loses_wherever_it_goes_if_every_move_of_it_has_a_profitable_answer() {
    let mut complaints = Complaints::default();
    for pos in positions() {
        let mut values: BTreeMap<Square, Vec<i32>> = BTreeMap::new();
        for m in pos.legal_moves() {
            // Both spellings of castling move the king.
            let from = m.from().expect("every move comes from somewhere");
            values.entry(from).or_default().push(slow::move_value(pos, m));
        }
        for sq in pos.us() {
            let slow = values.get(&sq).is_none_or(|values| values.iter().all(|value| *value < 0));
            complaints.compare(loses_wherever_it_goes(pos, sq), slow, || format!("{sq} in {}", fen(pos)));
        }
    }
    complaints.settle();
}

#[test]
fn a_gain_is_sure_if_every_answer_allows_a_capture_that_keeps_it() {
    let mut complaints = Complaints::default();
    let mut found = 0;
    for pos in positions() {
        let us = !pos.turn();
        let gain = |reply: Move| {
            let after = slow::after(pos, reply);
            let captures = after.legal_moves().into_iter().filter(|m| m.is_capture());
            let best = captures.map(|m| slow::move_value(&after, m)).fold(0, i32::max);
            slow::balance(after.board(), us) + best - slow::balance(pos.board(), us)
        };
        let slow = pos.legal_moves().into_iter().map(gain).min().unwrap_or(0).max(0);
        found += usize::from(slow > 0);
        complaints.compare(sure_gain(pos), slow, || fen(pos));
    }
    assert!(found > 100, "only {found} sure gains");
    complaints.settle();
}

#[test]
fn the_balance_is_what_counting_men_gives() {
    let mut complaints = Complaints::default();
    for pos in positions() {
        for color in Color::ALL {
            let slow = slow::balance(pos.board(), color);
            complaints.compare(balance(pos.board(), color), slow, || fen(pos));
        }
    }
    complaints.settle();
}

/// The balance for the side whose line it is after a ply and the captures that follow on its square, and, where the line
/// ends in the middle of them, after what can still be taken back.
fn slow_settled(line: &Line, ply: usize) -> i32 {
    let pov = line.positions[0].turn();
    let m = line.moves[ply - 1];
    let next = line.moves.get(ply);
    if next.is_some_and(|next| next.is_capture() && next.to() == m.to()) {
        return slow_settled(line, ply + 1);
    }
    let pos = &line.positions[ply];
    let now = slow::balance(pos.board(), pov);
    if next.is_some() || m.is_castle() {
        return now;
    }
    let back = slow::exchange(pos, m.to());
    if pos.turn() == pov { now + back } else { now - back }
}

#[test]
fn the_settled_balance_counts_captures_back_on_the_square() {
    let mut complaints = Complaints::default();
    for line in lines() {
        for ply in 1..=line.moves.len() {
            let place = || format!("ply {ply} of {:?} from {}", line.moves, fen(line.root()));
            complaints.compare(line.settled_balance(ply), slow_settled(line, ply), place);
        }
        let won = slow_settled(line, line.moves.len()) - slow::balance(line.root().board(), line.root().turn());
        complaints.compare(line.won(), won, || format!("{:?} from {}", line.moves, fen(line.root())));
    }
    complaints.settle();
}

#[test]
fn a_man_is_followed_back_to_where_it_stood_at_the_root() {
    let mut complaints = Complaints::default();
    for line in lines() {
        // Every man carries its first square with it; what moved is read off the boards before and after.
        let mut origins: BTreeMap<Square, Square> =
            line.root().board().occupied().into_iter().map(|sq| (sq, sq)).collect();
        for (number, pair) in line.positions.windows(2).enumerate() {
            let (before, after) = (pair[0].board(), pair[1].board());
            let mover = pair[0].turn();
            let gone = before.by_color(mover) & !after.by_color(mover);
            let came = after.by_color(mover) & !before.by_color(mover);
            let mut next = origins.clone();
            for sq in before.occupied() & !after.occupied() {
                next.remove(&sq);
            }
            if line.moves[number].is_castle() {
                // King and rook may change places: each is found by its role.
                for role in [Role::King, Role::Rook] {
                    let old = before.by_color(mover) & before.by_role(role);
                    let new = after.by_color(mover) & after.by_role(role);
                    let (Some(from), Some(to)) = ((old & !new).first(), (new & !old).first()) else { continue };
                    next.insert(to, origins[&from]);
                }
            } else {
                let (from, to) = (gone.first().expect("one left"), came.first().expect("one came"));
                next.insert(to, origins[&from]);
            }
            origins = next;
            complaints.compare(origins.len(), after.occupied().count(), || fen(&pair[1]));
            for (sq, origin) in &origins {
                let place = || format!("{sq} after ply {} of {:?} from {}", number + 1, line.moves, fen(line.root()));
                complaints.compare(line.origin(*sq, number + 1), *origin, place);
            }
        }
    }
    complaints.settle();
}

#[test]
fn our_plies_are_the_odd_ones_and_all_ours() {
    for line in lines() {
        let pov = line.root().turn();
        let ours: Vec<usize> = line.our_plies().map(|ply| ply.number).collect();
        let expected: Vec<usize> = (1..=line.moves.len()).filter(|number| number % 2 == 1).collect();
        assert_eq!(ours, expected);
        for ply in line.our_plies() {
            assert_eq!(ply.before.turn(), pov);
            assert_eq!(ply.after.board(), slow::after(ply.before, ply.m).board());
        }
        assert!(line.ply(0).is_none() && line.ply(line.moves.len() + 1).is_none());
    }
}

#[test]
fn the_lines_hold_what_is_hard_about_following_men() {
    let count = |kind: fn(Move) -> bool| lines().iter().flat_map(|line| &line.moves).filter(|m| kind(**m)).count();
    assert!(count(Move::is_castle) > 20, "castling");
    assert!(count(Move::is_en_passant) > 20, "en passant");
    assert!(count(Move::is_promotion) > 20, "promotions");
}
