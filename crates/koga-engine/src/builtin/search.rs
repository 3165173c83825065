//! The tree: principal variation search with a transposition table, and quiescence at its leaves.

use std::time::Instant;

use shakmaty::{Move, Position, Role};

use super::{
    MATE, MATE_BOUND, MOST_PLIES,
    node::Node,
    order::{Memory, Picker, Waiting},
    see::wins_at_least,
    table::{Bound, Table},
    terms::value,
};
use crate::StopHandle;

/// Everything one search works with.
pub(crate) struct Search<'t> {
    pub table: &'t mut Table,
    pub memory: Memory,
    pub nodes: u64,
    /// The best line found from each ply on.
    pub pv: Vec<Vec<Move>>,
    /// Keys of the positions before the node in hand: the game's, then from `root` on the search's.
    pub path: Vec<u64>,
    pub root: usize,
    pub most_nodes: u64,
    pub deadline: Option<Instant>,
    pub stop: StopHandle,
    pub stopped: bool,
    waiting: Waiting,
}

impl<'t> Search<'t> {
    pub(crate) fn new(table: &'t mut Table, path: Vec<u64>, stop: StopHandle) -> Search<'t> {
        Search {
            table,
            memory: Memory::new(MOST_PLIES + 2),
            nodes: 0,
            pv: vec![Vec::new(); MOST_PLIES + 2],
            root: path.len(),
            path,
            most_nodes: u64::MAX,
            deadline: None,
            stop,
            stopped: false,
            waiting: Vec::with_capacity(1024),
        }
    }

    /// The score of a node for the side to move, within `alpha` and `beta`, `depth` plies deep.
    ///
    /// `passed` tells that the enemy has just passed. After a stop the score means nothing.
    pub(crate) fn search(
        &mut self,
        node: &Node,
        mut alpha: i32,
        mut beta: i32,
        mut depth: i32,
        ply: usize,
        passed: bool,
    ) -> i32 {
        let in_check = node.is_check();
        if in_check {
            depth += 1;
        }
        if depth <= 0 {
            return self.quiesce(node, alpha, beta, ply, 0);
        }
        let is_pv = beta - alpha > 1;
        self.pv[ply].clear();
        if self.count() {
            return 0;
        }
        if self.is_draw(node) {
            return 0;
        }
        if ply >= MOST_PLIES {
            return node.evaluate();
        }
        // No line from here can be better than mate at once or worse than being mated already.
        alpha = alpha.max(ply as i32 - MATE);
        beta = beta.min(MATE - ply as i32 - 1);
        if alpha >= beta {
            return alpha;
        }

        let known = self.table.get(node.key).copied();
        if let Some(score) = known
            .and_then(|entry| entry.cutoff(depth, alpha, beta, ply))
            .filter(|_| !is_pv)
        {
            return score;
        }
        let best_known = known.and_then(|entry| entry.best(node));
        let eval = node.evaluate();

        if !is_pv && !in_check && beta.abs() < MATE_BOUND {
            if depth <= 6 && eval - 85 * depth >= beta {
                return eval;
            }
            let may_pass = depth >= 3 && eval >= beta && !passed && has_pieces(node);
            if let Some(pass) = may_pass.then(|| node.pass()).flatten() {
                self.path.push(node.key);
                let reduced = depth - 3 - depth / 4;
                let score = -self.search(&pass, -beta, 1 - beta, reduced, ply + 1, true);
                self.path.pop();
                if self.stopped {
                    return 0;
                }
                if score >= beta {
                    return if score > MATE_BOUND { beta } else { score };
                }
            }
        }
        if best_known.is_none() && depth >= 4 {
            depth -= 1;
        }

        let us = node.pos.turn();
        let killers = self.memory.killers(ply);
        let mut picker = Picker::all(&self.waiting, best_known, killers);
        let (mut best, mut best_move, lower) = (-MATE - 1, None, alpha);
        let mut tried = 0;
        let mut quiets_tried: [Option<Move>; 32] = [None; 32];
        let mut quiets = 0;
        self.path.push(node.key);
        while let Some(m) = picker.next(node, &self.memory, &mut self.waiting) {
            let is_quiet = !m.is_capture() && m.promotion() != Some(Role::Queen);
            let child = node.play(m);
            let prunable = !is_pv && !in_check && !child.is_check() && best > -MATE_BOUND;
            if prunable && is_quiet && depth <= 5 {
                let too_late = tried > 4 + depth * depth;
                let hopeless = eval + 90 + 90 * depth <= alpha;
                if too_late || hopeless {
                    tried += 1;
                    continue;
                }
            }
            if prunable
                && picker.is_losing()
                && depth <= 4
                && !wins_at_least(&node.pos, m, -150 * depth)
            {
                continue;
            }

            let mut score = 0;
            let mut full = tried == 0;
            if tried > 0 {
                let mut reduced = 0;
                if depth >= 3
                    && tried > 1 + i32::from(is_pv)
                    && (is_quiet || picker.is_losing())
                    && !in_check
                {
                    reduced =
                        reduction(depth, tried) - i32::from(is_pv) - i32::from(child.is_check());
                    if killers.contains(&Some(m)) {
                        reduced -= 1;
                    }
                    if is_quiet {
                        reduced -= self.memory.history(us, m) / 6000;
                    }
                    reduced = reduced.clamp(0, depth - 2);
                }
                score = -self.search(
                    &child,
                    -alpha - 1,
                    -alpha,
                    depth - 1 - reduced,
                    ply + 1,
                    false,
                );
                if reduced > 0 && score > alpha && !self.stopped {
                    score = -self.search(&child, -alpha - 1, -alpha, depth - 1, ply + 1, false);
                }
                full = is_pv && score > alpha;
            }
            if full && !self.stopped {
                score = -self.search(&child, -beta, -alpha, depth - 1, ply + 1, false);
            }
            tried += 1;
            if self.stopped {
                break;
            }
            if score > best {
                best = score;
                if score > alpha {
                    alpha = score;
                    best_move = Some(m);
                    if is_pv {
                        self.extend_pv(m, ply);
                    }
                }
                if score >= beta {
                    if is_quiet {
                        let before: Vec<Move> =
                            quiets_tried[..quiets].iter().flatten().copied().collect();
                        self.memory.learn(us, ply, depth, m, &before);
                    }
                    break;
                }
            }
            if is_quiet && quiets < quiets_tried.len() {
                quiets_tried[quiets] = Some(m);
                quiets += 1;
            }
        }
        self.path.pop();
        picker.done(&mut self.waiting);
        if self.stopped {
            return 0;
        }
        if best == -MATE - 1 {
            return if in_check { ply as i32 - MATE } else { 0 };
        }
        let bound = match best {
            _ if best >= beta => Bound::Lower,
            _ if best > lower => Bound::Exact,
            _ => Bound::Upper,
        };
        self.table.put(node.key, best_move, best, depth, ply, bound);
        best
    }

    /// The score once captures, and at first checks, have run their course.
    fn quiesce(&mut self, node: &Node, mut alpha: i32, beta: i32, ply: usize, calm: usize) -> i32 {
        self.pv[ply].clear();
        if self.count() {
            return 0;
        }
        if self.is_draw(node) {
            return 0;
        }
        if ply >= MOST_PLIES {
            return node.evaluate();
        }
        let is_pv = beta - alpha > 1;
        let in_check = node.is_check();
        let known = self.table.get(node.key).copied();
        let wanted = if in_check { 0 } else { -(calm.min(1) as i32) };
        if let Some(score) = known
            .and_then(|entry| entry.cutoff(wanted, alpha, beta, ply))
            .filter(|_| !is_pv)
        {
            return score;
        }
        let lower = alpha;
        let (mut best, mut best_move) = (-MATE - 1, None);
        let eval = node.evaluate();
        if !in_check {
            best = eval;
            if best >= beta {
                return best;
            }
            alpha = alpha.max(best);
        }
        let checks = calm == 0 && !in_check;
        let best_known = known
            .and_then(|entry| entry.best(node))
            .filter(|m| in_check || m.is_capture());
        let mut picker = Picker::quiescent(&self.waiting, best_known, checks);
        self.path.push(node.key);
        while let Some(m) = picker.next(node, &self.memory, &mut self.waiting) {
            if !in_check {
                let gain = m.capture().map_or(0, value) + m.promotion().map_or(0, value);
                let is_quiet = gain == 0;
                if !is_quiet && eval + gain + 200 <= alpha {
                    best = best.max(eval + gain + 200);
                    continue;
                }
                if is_quiet && !wins_at_least(&node.pos, m, 0) {
                    continue;
                }
            }
            let child = node.play(m);
            let score = -self.quiesce(&child, -beta, -alpha, ply + 1, calm + 1);
            if self.stopped {
                break;
            }
            if score > best {
                best = score;
                if score > alpha {
                    alpha = score;
                    best_move = Some(m);
                    if is_pv {
                        self.extend_pv(m, ply);
                    }
                    if score >= beta {
                        break;
                    }
                }
            }
        }
        self.path.pop();
        picker.done(&mut self.waiting);
        if self.stopped {
            return 0;
        }
        if best == -MATE - 1 {
            return ply as i32 - MATE;
        }
        let bound = match best {
            _ if best >= beta => Bound::Lower,
            _ if best > lower => Bound::Exact,
            _ => Bound::Upper,
        };
        self.table
            .put(node.key, best_move, best, wanted, ply, bound);
        best
    }

    /// Counts a node and tells whether the search has to end.
    fn count(&mut self) -> bool {
        if self.nodes >= self.most_nodes {
            self.stopped = true;
            return true;
        }
        self.nodes += 1;
        if self.nodes.is_multiple_of(512) {
            let late = self
                .deadline
                .is_some_and(|deadline| Instant::now() >= deadline);
            self.stopped |= late || self.stop.is_stopped();
        }
        self.stopped
    }

    /// Repetition, the fifty-move rule and bare boards.
    fn is_draw(&self, node: &Node) -> bool {
        if node.pos.halfmoves() >= 100 && !(node.is_check() && node.pos.legal_moves().is_empty()) {
            return true;
        }
        let board = node.pos.board();
        if (board.pawns() | board.rooks_and_queens()).is_empty()
            && node.pos.is_insufficient_material()
        {
            return true;
        }
        self.repeats(node)
    }

    /// Whether the position was there before in this search, or twice in the game before it.
    fn repeats(&self, node: &Node) -> bool {
        let len = self.path.len();
        let mut before_root = 0;
        let mut back = 4;
        while back <= node.reversible as usize && back <= len {
            let index = len - back;
            if self.path[index] == node.key {
                before_root += 1;
                if index >= self.root || before_root == 2 {
                    return true;
                }
            }
            back += 2;
        }
        false
    }

    fn extend_pv(&mut self, m: Move, ply: usize) {
        let (head, tail) = self.pv.split_at_mut(ply + 1);
        head[ply].clear();
        head[ply].push(m);
        head[ply].extend_from_slice(&tail[0]);
    }
}

/// Whether the side to move has more than pawns: without, having to move may be a misfortune.
fn has_pieces(node: &Node) -> bool {
    let board = node.pos.board();
    (node.pos.us() & !board.pawns() & !board.kings()).any()
}

/// By how many plies to reduce the search of a late move.
fn reduction(depth: i32, tried: i32) -> i32 {
    let log = |n: i32| (n as u32 * n as u32).ilog2() as i32;
    (log(depth) * log(tried) + 4) / 9
}
