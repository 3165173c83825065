//! The transposition table: what is already known of positions seen before.

use shakmaty::{Chess, Move, Position, Role, Square};

use super::{MATE_BOUND, node::Node};

/// What a stored score says about the true one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    Upper,
    Lower,
    Exact,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    key: u64,
    code: u16,
    score: i16,
    depth: i8,
    bound: Bound,
    search: u16,
}

/// Entries of earlier searches count as empty, so every search starts alike without clearing.
pub(crate) struct Table {
    entries: Vec<Entry>,
    /// Entries in use: a power of two.
    slots: usize,
    search: u16,
}

const EMPTY: Entry = Entry { key: 0, code: 0, score: 0, depth: 0, bound: Bound::Upper, search: 0 };
const LEAST_SLOTS: usize = 1 << 14;
const MOST_SLOTS: usize = 1 << 21;

impl Table {
    pub(crate) fn new() -> Table {
        Table { entries: Vec::new(), slots: LEAST_SLOTS, search: 0 }
    }

    /// Forgets everything and makes room for a search of so many nodes: a small table stays in the cache.
    pub(crate) fn prepare(&mut self, nodes: u64) {
        let wanted = nodes.min(MOST_SLOTS as u64) as usize;
        self.slots = wanted.next_power_of_two().max(LEAST_SLOTS);
        if self.entries.len() < self.slots {
            self.entries.resize(self.slots, EMPTY);
        }
        self.search = self.search.wrapping_add(1);
        if self.search == 0 {
            self.entries.fill(EMPTY);
            self.search = 1;
        }
    }

    pub(crate) fn get(&self, key: u64) -> Option<&Entry> {
        let entry = &self.entries[key as usize & (self.slots - 1)];
        (entry.key == key && entry.search == self.search).then_some(entry)
    }

    /// Keeps what was found, unless the slot holds a much deeper result for another position.
    pub(crate) fn put(&mut self, key: u64, m: Option<Move>, score: i32, depth: i32, ply: usize, bound: Bound) {
        let entry = &mut self.entries[key as usize & (self.slots - 1)];
        let same = entry.key == key && entry.search == self.search;
        if entry.search == self.search && bound != Bound::Exact && depth + 3 < i32::from(entry.depth) {
            return;
        }
        let code = match m {
            Some(m) => encode(m),
            None if same => entry.code,
            None => 0,
        };
        let score = to_table(score, ply as i32) as i16;
        *entry = Entry { key, code, score, depth: depth.clamp(-1, 120) as i8, bound, search: self.search };
    }
}

impl Entry {
    /// The best move known, if it is legal in this position.
    pub(crate) fn best(&self, node: &Node) -> Option<Move> {
        decode(&node.pos, self.code)
    }

    /// The stored score if it settles the matter for a window at a depth.
    pub(crate) fn cutoff(&self, depth: i32, alpha: i32, beta: i32, ply: usize) -> Option<i32> {
        if i32::from(self.depth) < depth {
            return None;
        }
        let score = self.score(ply);
        let settles = match self.bound {
            Bound::Exact => true,
            Bound::Lower => score >= beta,
            Bound::Upper => score <= alpha,
        };
        settles.then_some(score)
    }

    fn score(&self, ply: usize) -> i32 {
        let (score, ply) = (i32::from(self.score), ply as i32);
        match score {
            s if s > MATE_BOUND => s - ply,
            s if s < -MATE_BOUND => s + ply,
            s => s,
        }
    }
}

/// Mates are stored by their distance from the position, not from the root.
fn to_table(score: i32, ply: i32) -> i32 {
    match score {
        s if s > MATE_BOUND => s + ply,
        s if s < -MATE_BOUND => s - ply,
        s => s,
    }
}

fn encode(m: Move) -> u16 {
    let from = m.from().expect("chess has no drops");
    let promotion = m.promotion().map_or(0, |role| role as u16);
    from as u16 | (m.to() as u16) << 6 | promotion << 12
}

fn decode(pos: &Chess, code: u16) -> Option<Move> {
    if code == 0 {
        return None;
    }
    let board = pos.board();
    let from = Square::new(u32::from(code & 63));
    let to = Square::new(u32::from(code >> 6 & 63));
    let promotion = Role::ALL.get((code >> 12) as usize - usize::from(code >> 12 > 0)).copied();
    let promotion = promotion.filter(|_| code >> 12 > 0);
    let piece = board.piece_at(from).filter(|piece| piece.color == pos.turn())?;
    let m = if piece.role == Role::King && board.piece_at(to) == Some(piece.color.rook()) {
        Move::Castle { king: from, rook: to }
    } else if piece.role == Role::Pawn && from.file() != to.file() && board.role_at(to).is_none() {
        Move::EnPassant { from, to }
    } else {
        Move::Normal { role: piece.role, from, capture: board.role_at(to), to, promotion }
    };
    pos.is_legal(m).then_some(m)
}
