//! Iterative deepening at the root, for one line or several.

use std::time::Instant;

use shakmaty::{Chess, Move, Position};

use super::{MATE, MATE_BOUND, MOST_PLIES, node::Node, search::Search, table::Table};
use crate::{Limits, PvLine, Score, StopHandle};

/// A legal move at the root with the line last found for it.
struct RootMove {
    m: Move,
    child: Node,
    score: i32,
    pv: Vec<Move>,
}

const DEEPEST: u32 = 80;

/// The lines for a position, whose `moves` are those to consider, after the positions `before` it.
pub(crate) fn search(
    table: &mut Table,
    stop: &StopHandle,
    pos: &Chess,
    before: &[Chess],
    moves: Vec<Move>,
    limits: &Limits,
) -> Vec<PvLine> {
    let deadline = limits.time.and_then(|time| Instant::now().checked_add(time));
    table.prepare(expected_nodes(limits));
    let root = Node::new(pos.clone());
    let path = before.iter().map(|pos| Node::new(pos.clone()).key).collect();
    let mut search = Search::new(table, path, stop.clone());
    search.most_nodes = limits.nodes.unwrap_or(u64::MAX);
    search.deadline = deadline;
    search.path.push(root.key);

    let mut moves: Vec<RootMove> = moves
        .into_iter()
        .map(|m| {
            let child = root.play(m);
            RootMove { m, score: glance(&child), child, pv: vec![m] }
        })
        .collect();
    moves.sort_by_key(|root_move| -root_move.score);
    let wanted = limits.lines.clamp(1, moves.len().max(1)).min(moves.len());
    let mut lines: Vec<PvLine> = moves[..wanted].iter().map(|root_move| line(root_move, 0, 0)).collect();

    for depth in 1..=limits.depth.unwrap_or(DEEPEST).min(DEEPEST) {
        let mut fresh = Vec::new();
        for rank in 0..wanted {
            if search.best_of(&mut moves[rank..], depth) {
                fresh.push(line(&moves[rank], depth, search.nodes));
            }
            if search.stopped {
                break;
            }
        }
        if search.stopped {
            // What this depth did not get to keeps its older line.
            lines.retain(|old| fresh.iter().all(|new| new.moves[0] != old.moves[0]));
            fresh.append(&mut lines);
            fresh.truncate(wanted);
        }
        lines = fresh;
        lines.sort_by_key(|line| std::cmp::Reverse(line.score));
        moves[..wanted].sort_by_key(|root_move| -root_move.score);
        if search.stopped || lines.iter().all(|line| is_settled(line, depth)) {
            break;
        }
    }
    for line in &mut lines {
        extend(&mut line.moves, &root, &search, line.depth as usize);
    }
    lines
}

impl Search<'_> {
    /// Brings the best of the moves to the front, with its score and line. False if stopped before it is known.
    fn best_of(&mut self, moves: &mut [RootMove], depth: u32) -> bool {
        let guess = moves[0].score;
        let mut margin = 30;
        let narrow = depth >= 5 && guess.abs() < MATE_BOUND;
        let (mut alpha, mut beta) = if narrow { (guess - margin, guess + margin) } else { (-MATE, MATE) };
        loop {
            let found = self.scan(moves, depth as i32, alpha, beta);
            if let Some(best) = found {
                moves[..=best].rotate_right(1);
            }
            let score = moves[0].score;
            if self.stopped {
                return found.is_some();
            }
            margin *= 4;
            match found {
                None if alpha > -MATE => alpha = if margin > 1000 { -MATE } else { alpha - margin },
                Some(_) if score >= beta && beta < MATE => {
                    beta = if margin > 1000 { MATE } else { beta + margin };
                }
                _ => return true,
            }
        }
    }

    /// Searches every move and tells which is best, if it is above `alpha`.
    fn scan(&mut self, moves: &mut [RootMove], depth: i32, mut alpha: i32, beta: i32) -> Option<usize> {
        let mut best = None;
        for (index, root_move) in moves.iter_mut().enumerate() {
            let child = &root_move.child;
            let mut score = 0;
            if index > 0 {
                let late = index > 3 && depth >= 3 && !root_move.m.is_capture() && !child.is_check();
                let reduced = if late { 1 } else { 0 };
                score = -self.search(child, -alpha - 1, -alpha, depth - 1 - reduced, 1, false);
            }
            if (index == 0 || score > alpha) && !self.stopped {
                score = -self.search(child, -beta, -alpha, depth - 1, 1, false);
            }
            if self.stopped {
                break;
            }
            if score > alpha {
                alpha = score;
                best = Some(index);
                root_move.score = score;
                root_move.pv.truncate(1);
                root_move.pv.extend_from_slice(&self.pv[1]);
                if score >= beta {
                    break;
                }
            }
        }
        best
    }
}

/// How many nodes a search may come to visit, as a guess at the room it needs.
fn expected_nodes(limits: &Limits) -> u64 {
    const PER_MILLISECOND: u128 = 4_000;
    let by_time = limits.time.map(|time| (time.as_millis() * PER_MILLISECOND) as u64);
    by_time.into_iter().chain(limits.nodes).min().unwrap_or(u64::MAX)
}

/// A score for a move without search.
fn glance(child: &Node) -> i32 {
    match child.pos.legal_moves().is_empty() {
        true if child.is_check() => MATE - 1,
        true => 0,
        false => -child.evaluate(),
    }
}

fn line(root_move: &RootMove, depth: u32, nodes: u64) -> PvLine {
    PvLine { moves: root_move.pv.clone(), score: score(root_move.score), depth, nodes }
}

fn score(score: i32) -> Score {
    match score {
        s if s > MATE_BOUND => Score::Mate((MATE - s + 1) / 2),
        s if s < -MATE_BOUND => Score::Mate(-(MATE + s) / 2),
        s => Score::Cp(s),
    }
}

/// Whether a mate was looked for so far that no shorter one can be expected.
fn is_settled(line: &PvLine, depth: u32) -> bool {
    matches!(line.score, Score::Mate(n) if depth > 2 * n.unsigned_abs())
}

/// Lengthens a line with moves from the table up to the depth it was searched, without repeating a position.
fn extend(moves: &mut Vec<Move>, root: &Node, search: &Search<'_>, depth: usize) {
    let mut seen = vec![root.key];
    let mut node = root.clone();
    for m in &*moves {
        node = node.play(*m);
        seen.push(node.key);
    }
    while moves.len() < depth.min(MOST_PLIES) {
        if node.pos.halfmoves() >= 100 || seen[..seen.len() - 1].contains(&node.key) {
            return;
        }
        let Some(m) = search.table.get(node.table_key()).and_then(|entry| entry.best(&node)) else {
            return;
        };
        let next = node.play(m);
        if seen.contains(&next.key) {
            return;
        }
        moves.push(m);
        seen.push(next.key);
        node = next;
    }
}
