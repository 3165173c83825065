//! Which move to try next: the one the table knows, winning captures, killers, quiet moves by how often
//! they cut before, and losing captures last.

use shakmaty::{Color, Move, Position, Square};

use super::{movegen, node::Node, see::wins_at_least, terms::value};

/// What earlier cut-offs taught about quiet moves.
pub(crate) struct Memory {
    killers: Vec<[Option<Move>; 2]>,
    history: Vec<i32>,
}

const MOST_HISTORY: i32 = 1 << 14;

impl Memory {
    pub(crate) fn new(plies: usize) -> Memory {
        Memory { killers: vec![[None; 2]; plies], history: vec![0; 2 * 64 * 64] }
    }

    /// Learns that the quiet move `m` was too good for the enemy, after the quiet moves `before` had not been.
    pub(crate) fn learn(&mut self, color: Color, ply: usize, depth: i32, m: Move, before: &[Move]) {
        if self.killers[ply][0] != Some(m) {
            self.killers[ply] = [Some(m), self.killers[ply][0]];
        }
        let bonus = (depth * depth * 16).min(2000);
        self.nudge(color, m, bonus);
        for m in before {
            self.nudge(color, *m, -bonus);
        }
    }

    pub(crate) fn history(&self, color: Color, m: Move) -> i32 {
        self.history[slot(color, m)]
    }

    pub(crate) fn killers(&self, ply: usize) -> [Option<Move>; 2] {
        self.killers[ply]
    }

    fn nudge(&mut self, color: Color, m: Move, bonus: i32) {
        let entry = &mut self.history[slot(color, m)];
        *entry += bonus - *entry * bonus.abs() / MOST_HISTORY;
    }
}

fn slot(color: Color, m: Move) -> usize {
    let from = m.from().map_or(0, Square::to_usize);
    (color as usize * 64 + from) * 64 + m.to().to_usize()
}

/// Moves waiting to be tried, of all pickers on the way down the tree.
pub(crate) type Waiting = Vec<(i32, Move)>;

#[derive(PartialEq)]
enum Stage {
    Table,
    Tactical,
    WinningCaptures,
    Killers(usize),
    Quiet,
    QuietMoves,
    LosingCaptures,
    Evasions,
    Checks,
}

/// Hands out the legal moves of a position one by one.
pub(crate) struct Picker {
    stage: Stage,
    table: Option<Move>,
    killers: [Option<Move>; 2],
    /// Where this picker's part of the waiting moves begins; losing captures gather there.
    start: usize,
    losing: usize,
    next: usize,
    /// Captures only, then checks if asked for: what quiescence looks at.
    quiescent: Option<bool>,
}

impl Picker {
    /// All moves.
    pub(crate) fn all(waiting: &Waiting, table: Option<Move>, killers: [Option<Move>; 2]) -> Picker {
        let start = waiting.len();
        Picker { stage: Stage::Table, table, killers, start, losing: start, next: start, quiescent: None }
    }

    /// Captures and promotions that lose nothing, and quiet checks if wanted; all moves when in check.
    pub(crate) fn quiescent(waiting: &Waiting, table: Option<Move>, checks: bool) -> Picker {
        Picker { quiescent: Some(checks), ..Picker::all(waiting, table, [None; 2]) }
    }

    /// The next move. Whoever stops before the last calls [`Picker::done`].
    pub(crate) fn next(&mut self, node: &Node, memory: &Memory, waiting: &mut Waiting) -> Option<Move> {
        loop {
            match self.stage {
                Stage::Table => {
                    self.stage = if node.is_check() { self.evasions(node, memory, waiting) } else { Stage::Tactical };
                    if self.table.is_some() {
                        return self.table;
                    }
                }
                Stage::Tactical => {
                    let table = self.table;
                    movegen::tactical(node, |m| {
                        if Some(m) != table {
                            waiting.push((capture_score(m), m));
                        }
                    });
                    self.stage = Stage::WinningCaptures;
                }
                Stage::WinningCaptures => {
                    let Some((_, m)) = self.best(waiting) else {
                        self.stage = match self.quiescent {
                            None => Stage::Killers(0),
                            Some(true) => Stage::Checks,
                            Some(false) => return None,
                        };
                        continue;
                    };
                    if wins_at_least(&node.pos, m, 0) {
                        return Some(m);
                    }
                    waiting[self.losing] = (0, m);
                    self.losing += 1;
                }
                Stage::Killers(index) => {
                    self.stage = if index == 0 { Stage::Killers(1) } else { Stage::Quiet };
                    let killer = self.killers[index].filter(|m| Some(*m) != self.table && node.pos.is_legal(*m));
                    if killer.is_some() {
                        return killer;
                    }
                    self.killers[index] = None;
                }
                Stage::Quiet => {
                    let color = node.pos.turn();
                    let known = [self.table, self.killers[0], self.killers[1]];
                    movegen::quiet(node, |m| {
                        if !known.contains(&Some(m)) {
                            waiting.push((quiet_score(m, color, memory), m));
                        }
                    });
                    self.stage = Stage::QuietMoves;
                }
                Stage::QuietMoves => match self.best(waiting) {
                    Some((_, m)) => return Some(m),
                    None => {
                        self.next = self.start;
                        self.stage = Stage::LosingCaptures;
                    }
                },
                Stage::LosingCaptures => {
                    if self.next == self.losing {
                        return None;
                    }
                    self.next += 1;
                    return Some(waiting[self.next - 1].1);
                }
                Stage::Evasions => return self.best(waiting).map(|(_, m)| m),
                Stage::Checks => {
                    let table = self.table;
                    movegen::quiet_checks(node, |m| {
                        if Some(m) != table {
                            waiting.push((0, m));
                        }
                    });
                    self.stage = Stage::Evasions;
                }
            }
        }
    }

    /// Whether the move just handed out was a losing capture.
    pub(crate) fn is_losing(&self) -> bool {
        self.stage == Stage::LosingCaptures
    }

    /// Takes this picker's moves off the waiting ones.
    pub(crate) fn done(&self, waiting: &mut Waiting) {
        waiting.truncate(self.start);
    }

    fn evasions(&self, node: &Node, memory: &Memory, waiting: &mut Waiting) -> Stage {
        let color = node.pos.turn();
        for m in node.pos.legal_moves() {
            if Some(m) == self.table {
                continue;
            }
            let score = match m.capture() {
                Some(_) => 1_000_000 + capture_score(m),
                None => quiet_score(m, color, memory),
            };
            waiting.push((score, m));
        }
        Stage::Evasions
    }

    /// Takes the best of the moves from `next` on.
    fn best(&mut self, waiting: &mut Waiting) -> Option<(i32, Move)> {
        let rest = waiting.get_mut(self.next..)?;
        let mut best = 0;
        for index in 1..rest.len() {
            if rest[index].0 > rest[best].0 {
                best = index;
            }
        }
        let found = *rest.get(best)?;
        rest.swap(0, best);
        self.next += 1;
        Some(found)
    }
}

/// Most valuable victim first, by the least valuable capturer.
fn capture_score(m: Move) -> i32 {
    let gain = m.capture().map_or(0, value) + m.promotion().map_or(0, value);
    gain * 8 - value(m.role()).min(1000)
}

fn quiet_score(m: Move, color: Color, memory: &Memory) -> i32 {
    // A rook or a bishop is seldom the better choice.
    let under = if m.is_promotion() { -2 * MOST_HISTORY } else { 0 };
    memory.history(color, m) + under
}
