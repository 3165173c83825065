//! The six piece drawings of the SVG boards, drawn for Koga.
//!
//! Each drawing fills a box of 45 by 45 units with the foot at the bottom. It carries no colours:
//! the body takes `fill` and `stroke` from the group it is used in, the inner lines take `color`,
//! so that one drawing serves both sides.

use shakmaty::Role;

/// A piece's outline and the lines inside it, as SVG path data.
pub struct Drawing {
    /// The element id in the document.
    pub id: &'static str,
    /// The closed shapes that make up the silhouette.
    pub body: &'static str,
    /// Open strokes on top: joints of the turned wood, the bishop's notch, the knight's face.
    pub lines: &'static str,
}

/// The drawing of a kind of piece.
pub fn drawing(role: Role) -> &'static Drawing {
    match role {
        Role::Pawn => &PAWN,
        Role::Knight => &KNIGHT,
        Role::Bishop => &BISHOP,
        Role::Rook => &ROOK,
        Role::Queen => &QUEEN,
        Role::King => &KING,
    }
}

static PAWN: Drawing = Drawing {
    id: "koga-pawn",
    body: "M22.5 10.6a5.6 5.6 0 0 1 3.6 9.9h1.6q1.5 0 1.5 1.5t-1.5 1.5h-1.6\
        c.3 4.9 2 8.5 4.7 11.5h-16.6c2.7-3 4.4-6.6 4.7-11.5h-1.6q-1.5 0-1.5-1.5t1.5-1.5h1.6\
        a5.6 5.6 0 0 1 3.6-9.9zM10.5 40v-2.8q0-2.2 2.2-2.2h19.6q2.2 0 2.2 2.2v2.8z",
    lines: "M15.8 35h13.4M19.6 23.5h5.8",
};

static KNIGHT: Drawing = Drawing {
    id: "koga-knight",
    body: "M13.6 35\
        c.2-6.2 6-7.6 7-13-2.4 1.5-4.6 1.7-6.2 3.6-1.2 1.4-2.8 2.6-4.5 1.5-2.1-1.4-2-3.6-.8-5.4 \
        1.5-2.4 2.6-4.9 3.4-7.6.6-2.1 1.6-3.5 2.8-4.6\
        l-.3-4.4 4.2 2.6c9.2.6 14.4 9.2 12.6 27.3zM10.5 40v-2.8q0-2.2 2.2-2.2h19.6\
        q2.2 0 2.2 2.2v2.8z",
    lines: "M15 15.4l2-.9M11.2 22.9l.5-.7M22.6 11.6c4.2 2.6 6.2 8 5.8 15.4M15.2 35h15.2",
};

static BISHOP: Drawing = Drawing {
    id: "koga-bishop",
    body: "M22.5 9.6c-4.8 3.2-7.6 6.7-7.6 9.7 0 1.6.8 2.9 2.2 3.7h10.8\
        c1.4-.8 2.2-2.1 2.2-3.7 0-3-2.8-6.5-7.6-9.7zM22.5 5.2\
        a2.2 2.2 0 1 1 0 4.4 2.2 2.2 0 1 1 0-4.4zM16.3 23h12.4q1.5 0 1.5 1.5t-1.5 1.5h-12.4\
        q-1.5 0-1.5-1.5t1.5-1.5zM17.8 26c0 4-1.8 6.4-4.6 9h18.6c-2.8-2.6-4.6-5-4.6-9z\
        M10.5 40v-2.8q0-2.2 2.2-2.2h19.6q2.2 0 2.2 2.2v2.8z",
    lines: "M23 19.2l4-5.6M14.8 35h15.4M17.6 26h9.8",
};

static ROOK: Drawing = Drawing {
    id: "koga-rook",
    body: "M11.5 9.5h5v3.2h3.5v-3.2h5v3.2h3.5v-3.2h5v7.4l-3.7 3.6h-14.6l-3.7-3.6zM16 20.5h13\
        c.1 6 1 10.3 2.8 14.5h-18.6c1.8-4.2 2.7-8.5 2.8-14.5zM10.5 40v-2.8q0-2.2 2.2-2.2\
        h19.6q2.2 0 2.2 2.2v2.8z",
    lines: "M14.8 35h15.4M16.6 20.5h11.8",
};

static QUEEN: Drawing = Drawing {
    id: "koga-queen",
    body: "M17.2 23l-6.9-11.2 7 3.8.7-6.8 4.5 5.8 4.5-5.8.7 6.8 7-3.8-6.9 11.2zM16.3 23h12.4\
        q1.5 0 1.5 1.5t-1.5 1.5h-12.4q-1.5 0-1.5-1.5t1.5-1.5zM17.8 26c0 4-1.8 6.4-4.6 9h18.6\
        c-2.8-2.6-4.6-5-4.6-9zM10.5 40v-2.8q0-2.2 2.2-2.2h19.6q2.2 0 2.2 2.2v2.8zM8 10.6\
        a1.8 1.8 0 1 0 3.6 0 1.8 1.8 0 1 0-3.6 0zM16.1 7.2\
        a1.8 1.8 0 1 0 3.6 0 1.8 1.8 0 1 0-3.6 0zM25.3 7.2\
        a1.8 1.8 0 1 0 3.6 0 1.8 1.8 0 1 0-3.6 0zM33.4 10.6\
        a1.8 1.8 0 1 0 3.6 0 1.8 1.8 0 1 0-3.6 0z",
    lines: "M14.8 35h15.4M17.6 26h9.8",
};

static KING: Drawing = Drawing {
    id: "koga-king",
    body: "M21 3.5h3v2.7h2.9v3h-2.9v2.8h-3v-2.8h-2.9v-3h2.9zM17.4 23l-4.6-8.4\
        c2.8-1.8 6-2.6 9.7-2.6s6.9.8 9.7 2.6l-4.6 8.4zM16.3 23h12.4q1.5 0 1.5 1.5t-1.5 1.5\
        h-12.4q-1.5 0-1.5-1.5t1.5-1.5zM17.8 26c0 4-1.8 6.4-4.6 9h18.6c-2.8-2.6-4.6-5-4.6-9z\
        M10.5 40v-2.8q0-2.2 2.2-2.2h19.6q2.2 0 2.2 2.2v2.8z",
    lines: "M14.8 35h15.4M17.6 26h9.8",
};
