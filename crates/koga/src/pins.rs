//! Pieces that shield something more valuable from a slider.

use arrayvec::ArrayVec;
use shakmaty::{Bitboard, Color, Role, Square, attacks::between};

use crate::{attacks::Men, material::value};

/// An enemy piece alone on a slider's line before its king or a more valuable piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pin {
    /// The slider.
    pub pinner: Square,
    /// The piece on its line.
    pub pinned: Square,
    /// What stands directly behind it: the king, or a piece worth more than the pinned one.
    pub rear: Square,
    /// Whether the rear piece is the king.
    pub absolute: bool,
}

/// A list of pins: fifteen sliders have at most 120 lines.
pub type Pins = ArrayVec<Pin, 128>;

/// All pins by the sliders of `color`, absolute and relative: geometry and worth only.
pub fn pins(men: &Men, color: Color) -> Pins {
    let board = men.board;
    let theirs = men.by_color(!color);
    let mut pins = Pins::new();
    for pinner in men.sliders(color) {
        let sees = men.attacks(pinner);
        let screens = sees & theirs & !board.kings();
        if screens.is_empty() {
            continue;
        }
        let through = men.without(screens).attacks(pinner) & theirs & !sees;
        for rear in through {
            let Some(pinned) = (between(pinner, rear) & screens).first() else {
                continue;
            };
            let (Some(front), Some(back)) = (board.role_at(pinned), board.role_at(rear)) else {
                continue;
            };
            if value(back) > value(front) {
                pins.push(Pin { pinner, pinned, rear, absolute: back == Role::King });
            }
        }
    }
    pins
}

/// The men of the other side that sliders of `color` pin to their king.
pub fn pinned_to_king(men: &Men, color: Color) -> Bitboard {
    pins(men, color).iter().filter(|pin| pin.absolute).map(|pin| pin.pinned).collect()
}
