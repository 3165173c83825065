//! From text to a position and its moves: the only stage that can fail.

use std::{error, fmt};

use shakmaty::{
    Board, CastlingMode, Chess, Color, Move, Position, PositionErrorKinds,
    fen::{Fen, ParseFenError},
    san::{San, SanError, SanPlus},
    uci::UciMove,
};

use crate::line::moved;

/// Why a position or a line could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParseError {
    /// The FEN is malformed, or its position cannot occur.
    Fen {
        /// The field of the FEN that is wrong, as it was given.
        token: Option<String>,
        /// What is wrong with it.
        reason: String,
    },
    /// A move is unreadable, illegal or ambiguous.
    Move {
        /// The ply, counted from 1; 0 is the enemy's move before the root.
        ply: usize,
        /// The move as it was given.
        token: String,
        /// What is wrong with it.
        reason: MoveError,
    },
    /// There is no move at all.
    EmptyLine,
    /// The line has more plies than [`LONGEST_LINE`].
    TooLong,
}

/// Lines of more plies than this are refused: no game is as long.
pub const LONGEST_LINE: usize = 1000;

/// What is wrong with a move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MoveError {
    /// Neither SAN nor UCI.
    NotAMove,
    /// Well written, but not legal in the position.
    Illegal {
        /// Who was to move.
        turn: Color,
    },
    /// Several moves are meant by the same SAN; they are listed in UCI.
    Ambiguous(Vec<String>),
    /// The game is over in the position: mate or stalemate.
    GameOver,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseError::Fen { token: Some(token), reason } => write!(f, "fen: {reason}: \"{}\"", shown(token)),
            ParseError::Fen { token: None, reason } => write!(f, "fen: {reason}"),
            ParseError::Move { ply: 0, token, reason } => write!(f, "setup move: \"{}\" {reason}", shown(token)),
            ParseError::Move { ply, token, reason } => write!(f, "ply {ply}: \"{}\" {reason}", shown(token)),
            ParseError::TooLong => write!(f, "the line has more than {LONGEST_LINE} plies"),
            ParseError::EmptyLine => f.write_str("the line is empty: at least the candidate move is needed"),
        }
    }
}

impl fmt::Display for MoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MoveError::NotAMove => f.write_str("is not a move in SAN or UCI"),
            MoveError::Illegal { turn } => {
                write!(f, "is not legal here ({} to move)", turn.fold_wb("white", "black"))
            }
            MoveError::Ambiguous(moves) => write!(f, "is ambiguous: {}", moves.join(" or ")),
            MoveError::GameOver => f.write_str("comes after the end of the game"),
        }
    }
}

impl error::Error for ParseError {}

/// A token as it may be shown: without control characters, and not endlessly long.
fn shown(token: &str) -> String {
    const LONGEST: usize = 60;
    let short: String = token.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if token.chars().nth(LONGEST).is_some() { short + "…" } else { short }
}

/// Reads a FEN of four to six fields (the side to move is needed, the rest may be left out), X-FEN and
/// Shredder-FEN castling included. EPD operations after the fourth field are passed over.
///
/// Castling rights and en passant squares that the position does not allow are dropped, as chess
/// programs commonly do; positions that cannot occur are errors.
///
/// # Errors
///
/// [`ParseError::Fen`] with the field at fault.
pub fn parse_fen(fen: &str) -> Result<Chess, ParseError> {
    let fen = fen.trim();
    if fen.bytes().any(|byte| byte.is_ascii_whitespace() && byte != b' ') {
        let fields: Vec<&str> = fen.split_ascii_whitespace().collect();
        return parse_fen(&fields.join(" "));
    }
    let field = |n: usize| fen.split_ascii_whitespace().nth(n).map(str::to_owned);
    let error = |n: usize, reason: &str| ParseError::Fen { token: field(n), reason: reason.to_owned() };
    let board_error = || error(0, "the board needs eight ranks of eight squares, from a8 to h1");
    if fen.is_empty() {
        return Err(ParseError::Fen { token: None, reason: "the position is empty".to_owned() });
    }
    let parsed = Fen::from_ascii(fen.as_bytes()).or_else(|err| match field(4) {
        // EPD: operations instead of move counters.
        Some(first) if first.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            let position: Vec<&str> = fen.split_ascii_whitespace().take(4).collect();
            Fen::from_ascii(position.join(" ").as_bytes())
        }
        _ => Err(err),
    });
    let setup = parsed
        .map_err(|err| match err {
            ParseFenError::InvalidBoard | ParseFenError::InvalidPocket => board_error(),
            ParseFenError::InvalidTurn => error(1, "the side to move must be w or b"),
            ParseFenError::InvalidCastling => error(2, "unreadable castling rights"),
            ParseFenError::InvalidEpSquare => error(3, "unreadable en passant square"),
            ParseFenError::InvalidHalfmoveClock => error(4, "unreadable halfmove clock"),
            ParseFenError::InvalidFullmoves => error(5, "unreadable move number"),
            ParseFenError::InvalidFen | ParseFenError::InvalidRemainingChecks => error(6, "more fields than a FEN has"),
        })?
        .into_setup();
    if !fen.contains([' ', '_']) {
        return Err(error(1, "the side to move is missing"));
    }
    // A ninth rank is read as the pocket of another variant.
    if setup.pockets.is_some() && fen.split_ascii_whitespace().next().is_some_and(|board| board.split('/').count() > 8)
    {
        return Err(board_error());
    }
    if setup.pockets.is_some() || setup.remaining_checks.is_some() {
        return Err(error(0, "this is a position of another chess variant"));
    }
    let mode = match setup.castling_rights.is_empty() {
        true => CastlingMode::Standard,
        false => CastlingMode::detect(&setup),
    };
    let turn = setup.turn;
    setup
        .position::<Chess>(mode)
        .or_else(|err| err.ignore_invalid_castling_rights())
        .or_else(|err| err.ignore_invalid_ep_square())
        .or_else(|err| err.ignore_impossible_check())
        .map_err(|err| {
            let kinds = err.kinds();
            let board =
                Fen::from_ascii(fen.as_bytes()).map(|fen| fen.into_setup().board).unwrap_or_else(|_| Board::empty());
            let kings = |color: Color| (board.kings() & board.by_color(color)).count();
            let name = |color: Color| color.fold_wb("White", "Black");
            let king_trouble = Color::ALL.into_iter().find(|color| kings(*color) != 1);
            if kinds.contains(PositionErrorKinds::EMPTY_BOARD) {
                error(0, "the board is empty")
            } else if let Some(color) = king_trouble {
                let count = if kings(color) == 0 { "no king" } else { "more than one king" };
                error(0, &format!("{} has {count}", name(color)))
            } else if kinds.contains(PositionErrorKinds::PAWNS_ON_BACKRANK) {
                error(0, "a pawn stands on the first or last rank")
            } else if kinds.contains(PositionErrorKinds::OPPOSITE_CHECK) {
                error(1, &format!("{} is in check, but it is not {0}'s move", name(!turn)))
            } else {
                error(0, "more material than a game can have")
            }
        })
}

/// Reads one move in SAN (`Nf6+`, `0-0`, `exd8=Q`, with `!?` marks, figurines or a move number before
/// it) or UCI (`e4f6`, both castling spellings).
///
/// # Errors
///
/// What is wrong with the move.
pub fn parse_move(pos: &Chess, token: &str) -> Result<Move, MoveError> {
    if let Some(uci) = uci_move(token.as_bytes()) {
        return from_uci(pos, uci);
    }
    let cleaned = clean(token);
    if let Some(uci) = uci_move(cleaned.as_bytes()) {
        return from_uci(pos, uci);
    }
    let san = San::from_ascii(cleaned.as_bytes()).map_err(|_| MoveError::NotAMove)?;
    if matches!(san, San::Null | San::Put { .. }) {
        return Err(MoveError::NotAMove);
    }
    let with_capture = match san {
        // Many a writer leaves out the sign for a capture.
        San::Normal { role, file, rank, capture: false, to, promotion } if pos.board().role_at(to).is_some() => {
            San::Normal { role, file, rank, capture: true, to, promotion }
        }
        san => san,
    };
    san.to_move(pos).or_else(|err| with_capture.to_move(pos).map_err(|_| err)).map_err(|err| match err {
        SanError::IllegalSan => illegal(pos),
        SanError::AmbiguousSan => MoveError::Ambiguous(
            pos.legal_moves()
                .into_iter()
                .filter(|m| san.matches(*m))
                .map(|m| UciMove::from_move(m, pos.castles().mode()).to_string())
                .collect(),
        ),
    })
}

/// Splits the text of a line into its moves: move numbers, ellipses, results, `$1` and an `e.p.` that stands apart are passed over.
///
/// ```
/// let moves: Vec<&str> = koga::parse::moves_of("12. Nf6+ Kf8 13.Nxh7+! … Ke7").collect();
/// assert_eq!(moves, ["Nf6+", "Kf8", "Nxh7+!", "Ke7"]);
/// ```
pub fn moves_of(line: &str) -> impl Iterator<Item = &str> {
    line.split_whitespace().map(without_number).filter(|token| !is_no_move(token))
}

/// What stands in the text of a game beside its moves: results, numbered annotation glyphs, an `e.p.` apart.
fn is_no_move(token: &str) -> bool {
    matches!(token, "" | "e.p." | "e.p" | "ep" | "1-0" | "0-1" | "1/2-1/2" | "*") || token.starts_with('$')
}

/// The move in SAN with its check or mate sign.
pub fn san(pos: &Chess, m: Move) -> String {
    SanPlus::from_move(pos.clone(), m).to_string()
}

/// The move of that UCI; castling also as the king's own two squares in Chess960.
fn from_uci(pos: &Chess, uci: UciMove) -> Result<Move, MoveError> {
    let castling = |from, to| {
        let moves = pos.legal_moves();
        moves.into_iter().find(|m| m.is_castle() && moved(*m)[0] == Some((from, to)))
    };
    uci.to_move(pos).or_else(|_| match uci {
        UciMove::Normal { from, to, promotion: None } => castling(from, to).ok_or_else(|| illegal(pos)),
        _ => Err(illegal(pos)),
    })
}

fn illegal(pos: &Chess) -> MoveError {
    match pos.legal_moves().is_empty() {
        true => MoveError::GameOver,
        false => MoveError::Illegal { turn: pos.turn() },
    }
}

fn uci_move(token: &[u8]) -> Option<UciMove> {
    match UciMove::from_ascii(token) {
        Ok(uci @ UciMove::Normal { .. }) => Some(uci),
        _ => None,
    }
}

/// The token without a move number before it: `12.Nf6` and `12...Nf6` become `Nf6`, `12.` nothing.
fn without_number(token: &str) -> &str {
    let rest = token.trim_start_matches(|c: char| c.is_ascii_digit());
    // `00` and `000` are castling.
    let numbered = rest.len() < token.len() && !token.starts_with("00");
    if rest.starts_with(['.', '…']) || (numbered && rest.is_empty()) {
        rest.trim_start_matches(['.', '…'])
    } else {
        token
    }
}

/// The move as SAN proper: no number, marks or en passant suffix; `O-O` for every way to write it; English
/// letters for figurines; no dash between squares.
fn clean(token: &str) -> String {
    let token = without_number(token.trim());
    let token = token.trim_end_matches(['!', '?', '+', '#', '‼', '⁇', '⁉', '⁈', '□', '†', '‡']);
    let token = token.trim_end_matches("e.p.").trim_end_matches("ep");
    match token.to_ascii_lowercase().as_str() {
        "0-0" | "o-o" | "00" | "oo" => return "O-O".to_owned(),
        "0-0-0" | "o-o-o" | "000" | "ooo" => return "O-O-O".to_owned(),
        _ => {}
    }
    let mut san: String = token
        .chars()
        .filter_map(|c| match c {
            '♔' | '♚' => Some('K'),
            '♕' | '♛' => Some('Q'),
            '♖' | '♜' => Some('R'),
            '♗' | '♝' => Some('B'),
            '♘' | '♞' => Some('N'),
            '♙' | '♟' | '-' | '–' | '(' | ')' => None,
            '×' | ':' => Some('x'),
            _ => Some(c),
        })
        .collect();
    // `e8Q` and `e8(Q)` for `e8=Q`.
    if san.ends_with(['Q', 'R', 'B', 'N']) && san[..san.len() - 1].ends_with(['1', '8']) {
        san.insert(san.len() - 1, '=');
    }
    san
}
