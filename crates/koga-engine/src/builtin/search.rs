//! The tree: principal variation search with a transposition table, and quiescence at its leaves.

use std::time::Instant;

use arrayvec::ArrayVec;
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

/// Before any move has been tried.
const NO_SCORE: i32 = -MATE - 1;
/// What a ply of search is not expected to gain.
const HOPELESS: i32 = 88;
/// What a capture may lose, for each ply of depth, and still be tried.
const LOSS: i32 = 150;
/// What a capture is not expected to gain beyond its victim.
const MARGIN: i32 = 200;

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
            return self.quiesce(node, alpha, beta, ply, true);
        }
        if let Some(score) = self.enter(node, ply) {
            return score;
        }
        // No line from here can be better than mate at once or worse than being mated already.
        alpha = alpha.max(ply as i32 - MATE);
        beta = beta.min(MATE - ply as i32 - 1);
        if alpha >= beta {
            return alpha;
        }

        let (is_pv, lower) = (beta - alpha > 1, alpha);
        let known = self.table.get(node.table_key()).copied();
        let cutoff = known.and_then(|entry| entry.cutoff(depth, alpha, beta, ply));
        if let Some(score) = cutoff.filter(|_| !is_pv) {
            return score;
        }
        let best_known = known.and_then(|entry| entry.best(node));
        let may_prune = !is_pv && !in_check;
        let eval = if may_prune { node.evaluate() } else { 0 };
        if may_prune && let Some(score) = self.prune(node, eval, beta, depth, ply, passed) {
            return score;
        }
        if best_known.is_none() && depth >= 4 {
            depth -= 1;
        }

        let (mut best, mut best_move) = (NO_SCORE, None);
        let mut tried = 0;
        let mut quiets = ArrayVec::<Move, 32>::new();
        let mut picker = Picker::all(&self.waiting, best_known, self.memory.killers(ply));
        self.path.push(node.key);
        while let Some(m) = picker.next(node, &self.memory, &mut self.waiting) {
            let is_quiet = !m.is_capture() && m.promotion() != Some(Role::Queen);
            let child = node.play(m);
            // A side is not said to be mated before all its moves have been tried.
            if may_prune && !child.is_check() && best > -MATE_BOUND {
                let hopeless = eval + HOPELESS * (depth + 1) <= alpha || tried > 4 + depth * depth;
                let loses = || !wins_at_least(&node.pos, m, -LOSS * depth);
                if is_quiet && depth <= 5 && hopeless || picker.is_losing() && depth <= 4 && loses() {
                    tried += 1;
                    continue;
                }
            }
            let may_reduce = depth >= 3 && !in_check && (is_quiet || picker.is_losing());
            let reduced = match may_reduce && tried > 1 + i32::from(is_pv) {
                true => self.reduction(m, node, &child, depth, tried, ply) - i32::from(is_pv),
                false => 0,
            };

            // All but the first move only have to be shown to be no better.
            let mut score = alpha + 1;
            if tried > 0 && reduced > 0 {
                score = -self.search(&child, -alpha - 1, -alpha, depth - 1 - reduced, ply + 1, false);
            }
            if tried > 0 && score > alpha {
                score = -self.search(&child, -alpha - 1, -alpha, depth - 1, ply + 1, false);
            }
            if tried == 0 || is_pv && score > alpha {
                score = -self.search(&child, -beta, -alpha, depth - 1, ply + 1, false);
            }
            if self.stopped {
                break;
            }
            tried += 1;
            best = best.max(score);
            if score > alpha {
                alpha = score;
                best_move = Some(m);
                if is_pv {
                    self.extend_pv(m, ply);
                }
                if score >= beta {
                    if is_quiet {
                        self.memory.learn(node.pos.turn(), ply, depth, m, &quiets);
                    }
                    break;
                }
            }
            if is_quiet && !quiets.is_full() {
                quiets.push(m);
            }
        }
        self.path.pop();
        picker.done(&mut self.waiting);
        self.leave(node, ply, depth, (lower, beta), best, best_move)
    }

    /// The score once captures, and at `first` checks, have run their course.
    fn quiesce(&mut self, node: &Node, mut alpha: i32, beta: i32, ply: usize, first: bool) -> i32 {
        if let Some(score) = self.enter(node, ply) {
            return score;
        }
        let (is_pv, lower) = (beta - alpha > 1, alpha);
        let in_check = node.is_check();
        let depth = if in_check || first { 0 } else { -1 };
        let known = self.table.get(node.table_key()).copied();
        let cutoff = known.and_then(|entry| entry.cutoff(depth, alpha, beta, ply));
        if let Some(score) = cutoff.filter(|_| !is_pv) {
            return score;
        }
        let (mut best, mut best_move) = (NO_SCORE, None);
        if !in_check {
            if !has_pieces(node) && node.pos.legal_moves().is_empty() {
                return 0;
            }
            best = node.evaluate();
            if best >= beta {
                return best;
            }
            alpha = alpha.max(best);
        }
        let eval = best;
        let best_known = known.and_then(|entry| entry.best(node));
        let best_known = best_known.filter(|m| in_check || m.is_capture());
        let mut picker = Picker::quiescent(&self.waiting, best_known, first && !in_check);
        self.path.push(node.key);
        while let Some(m) = picker.next(node, &self.memory, &mut self.waiting) {
            if !in_check {
                let gain = m.capture().map_or(0, value) + m.promotion().map_or(0, value);
                if gain > 0 && eval + gain + MARGIN <= alpha {
                    best = best.max(eval + gain + MARGIN);
                    continue;
                }
                if gain == 0 && !wins_at_least(&node.pos, m, 0) {
                    continue;
                }
            }
            let child = node.play(m);
            let score = -self.quiesce(&child, -beta, -alpha, ply + 1, false);
            if self.stopped {
                break;
            }
            best = best.max(score);
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
        self.path.pop();
        picker.done(&mut self.waiting);
        self.leave(node, ply, depth, (lower, beta), best, best_move)
    }

    /// What every node begins with: its score if nothing is left to search.
    fn enter(&mut self, node: &Node, ply: usize) -> Option<i32> {
        self.pv[ply].clear();
        if self.count() || self.is_draw(node) {
            return Some(0);
        }
        (ply >= MOST_PLIES).then(|| node.evaluate())
    }

    /// What every node ends with: its score, which the table keeps.
    fn leave(
        &mut self,
        node: &Node,
        ply: usize,
        depth: i32,
        (alpha, beta): (i32, i32),
        best: i32,
        best_move: Option<Move>,
    ) -> i32 {
        if self.stopped {
            return 0;
        }
        if best == NO_SCORE {
            return if node.is_check() { ply as i32 - MATE } else { 0 };
        }
        let bound = match best {
            _ if best >= beta => Bound::Lower,
            _ if best > alpha => Bound::Exact,
            _ => Bound::Upper,
        };
        self.table.put(node.table_key(), best_move, best, depth, ply, bound);
        best
    }

    /// A score at least `beta` if the position is so good that its moves need not be tried: because of what it
    /// is worth as it stands, or because even passing is good enough.
    fn prune(&mut self, node: &Node, eval: i32, beta: i32, depth: i32, ply: usize, passed: bool) -> Option<i32> {
        if beta.abs() >= MATE_BOUND || eval < beta {
            return None;
        }
        if depth <= 6 && eval - HOPELESS * depth >= beta {
            return Some(eval);
        }
        if depth < 3 || passed || !has_pieces(node) {
            return None;
        }
        let pass = node.pass()?;
        self.path.push(node.key);
        let reduced = depth - 3 - depth / 4 - ((eval - beta) / 200).min(2);
        let score = -self.search(&pass, -beta, 1 - beta, reduced, ply + 1, true);
        self.path.pop();
        // A mate after a pass is no mate.
        (score >= beta || self.stopped).then_some(if score > MATE_BOUND { beta } else { score })
    }

    /// By how many plies to search a late move less deeply.
    fn reduction(&self, m: Move, node: &Node, child: &Node, depth: i32, tried: i32, ply: usize) -> i32 {
        let log = |n: i32| (n as u32 * n as u32).ilog2() as i32;
        let mut reduced = (log(depth) * log(tried) + 4) / 9 - i32::from(child.is_check());
        if self.memory.killers(ply).contains(&Some(m)) {
            reduced -= 1;
        }
        if !m.is_capture() {
            reduced -= self.memory.history(node.pos.turn(), m) / 6000;
        }
        reduced.min(depth - 2)
    }

    /// Counts a node and tells whether the search has to end.
    fn count(&mut self) -> bool {
        if self.nodes >= self.most_nodes {
            self.stopped = true;
            return true;
        }
        self.nodes += 1;
        if self.nodes.is_multiple_of(512) {
            let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
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
        if (board.pawns() | board.rooks_and_queens()).is_empty() && node.pos.is_insufficient_material() {
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
