//! Boards as pictures: an SVG document, or characters for a terminal.

use shakmaty::{Board, Color, File, Piece, Rank, Role, Square};

use super::pieces;

/// What a marked square or arrow means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Highlight {
    /// The move played: the squares it comes from and goes to.
    Move,
    /// The piece that acts: the forker, the pinner, the uncovered slider.
    Acting,
    /// What it acts on.
    Target,
    /// Whatever else takes part: a shield, a defender, a refuter.
    Support,
}

/// An arrow from the middle of one square to the middle of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Arrow {
    /// Where it starts.
    pub from: Square,
    /// Where its tip is.
    pub to: Square,
    /// What it means.
    pub mark: Highlight,
}

/// A board to be shown: pieces, marked squares and arrows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagram {
    /// The pieces.
    pub board: Board,
    /// The side at the bottom.
    pub orientation: Color,
    /// Marked squares, in any order. A square may have several marks.
    pub squares: Vec<(Square, Highlight)>,
    /// Arrows, drawn in this order. Only the SVG shows them.
    pub arrows: Vec<Arrow>,
    /// The picture's accessible name; "Chess board" if empty.
    pub title: String,
    /// A sentence under the board, in the SVG only. Long ones are broken into lines.
    pub caption: Option<String>,
}

impl Diagram {
    /// A complete standalone SVG document: no scripts, no fonts or files from elsewhere.
    pub fn svg(&self) -> String {
        let caption = wrap(self.caption.as_deref().unwrap_or_default());
        let width = LEFT + BOARD + RIGHT;
        let height = match caption.len() {
            0 => TOP + BOARD + BOTTOM,
            lines => TOP + BOARD + BOTTOM + lines * CAPTION_LINE + 6,
        };
        let title = match self.title.trim() {
            "" => "Chess board",
            title => title,
        };

        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\">\n<title>{}</title>\n",
            escape(title)
        );
        svg += &self.svg_defs();
        svg += &format!(
            "<rect width=\"{width}\" height=\"{height}\" rx=\"6\" fill=\"{FRAME}\"/>\n\
             <g transform=\"translate({LEFT} {TOP})\">\n"
        );
        svg += &svg_squares();
        svg += &self.svg_marks();
        svg += &self.svg_pieces();
        svg += &self.svg_arrows();
        svg += "</g>\n";
        svg += &self.svg_coordinates();
        svg += &svg_caption(&caption);
        svg += "</svg>\n";
        svg
    }

    /// A board for a terminal: eight ranks, the file letters and, if a square is marked, what the
    /// brackets mean. Every line ends in a line feed. A square with several marks shows one, in
    /// the order of the legend.
    ///
    /// Without colour White's pieces are the outlined figures and Black's the solid ones. With
    /// colour (ANSI, 256 colours) all are solid.
    pub fn text(&self, colored: bool) -> String {
        let mut text = String::new();
        for rank in self.ranks() {
            let mut line = format!("{} ", rank.char());
            for file in self.files() {
                line += &self.text_square(Square::from_coords(file, rank), colored);
            }
            text += line.trim_end();
            text += "\n";
        }

        let letters: Vec<_> = self.files().map(|file| file.char().to_string()).collect();
        text += &format!("   {}\n", letters.join("  "));

        let legend: Vec<_> = TEXT_ORDER
            .into_iter()
            .filter(|&mark| Square::ALL.iter().any(|&sq| self.text_mark(sq) == Some(mark)))
            .map(|mark| text_legend(mark, colored))
            .collect();
        if !legend.is_empty() {
            text += &format!("  {}\n", legend.join("  "));
        }
        text
    }

    /// The files from left to right.
    fn files(&self) -> impl Iterator<Item = File> + use<> {
        let orientation = self.orientation;
        (0..8).map(move |x| File::new(orientation.fold_wb(x, 7 - x)))
    }

    /// The ranks from top to bottom.
    fn ranks(&self) -> impl Iterator<Item = Rank> + use<> {
        let orientation = self.orientation;
        (0..8).map(move |y| Rank::new(orientation.fold_wb(7 - y, y)))
    }

    /// The top left corner of a square, within the board.
    fn corner(&self, sq: Square) -> (usize, usize) {
        let (file, rank) = (usize::from(sq.file()), usize::from(sq.rank()));
        let (x, y) = self.orientation.fold_wb((file, 7 - rank), (7 - file, rank));
        (x * SQUARE, y * SQUARE)
    }

    /// The drawings of the kinds of pieces on the board.
    fn svg_defs(&self) -> String {
        let mut svg = String::from("<defs>\n");
        for role in Role::ALL {
            if self.board.by_role(role).is_empty() {
                continue;
            }
            let drawing = pieces::drawing(role);
            svg += &format!(
                "<g id=\"{}\"><path d=\"{}\"/><path d=\"{}\" fill=\"none\" \
                 stroke=\"currentColor\" stroke-width=\"{INNER_STROKE}\"/></g>\n",
                drawing.id, drawing.body, drawing.lines
            );
        }
        svg + "</defs>\n"
    }

    /// The marks, below the pieces. Fills come first, so that no mark hides another.
    fn svg_marks(&self) -> String {
        let mut svg = String::new();
        for mark in SVG_ORDER {
            for sq in Square::ALL {
                if self.squares.contains(&(sq, mark)) {
                    let (x, y) = self.corner(sq);
                    svg += &svg_mark(mark, x, y, sq.is_light());
                }
            }
        }
        svg
    }

    fn svg_pieces(&self) -> String {
        let mut svg = format!("<g {PIECE_STROKE}>\n");
        for (color, style) in [(Color::White, WHITE_PIECES), (Color::Black, BLACK_PIECES)] {
            svg += &format!("<g {style}>\n");
            for (sq, piece) in &self.board {
                if piece.color == color {
                    let (x, y) = self.corner(sq);
                    let id = pieces::drawing(piece.role).id;
                    svg += &format!("<use href=\"#{id}\" x=\"{x}\" y=\"{y}\"/>\n");
                }
            }
            svg += "</g>\n";
        }
        svg + "</g>\n"
    }

    fn svg_arrows(&self) -> String {
        let mut svg = String::new();
        for arrow in &self.arrows {
            let (from, to) = (self.corner(arrow.from), self.corner(arrow.to));
            let Some(path) = arrow_path(from, to, arrow.mark == Highlight::Support) else {
                continue;
            };
            let Look { color, edge, .. } = look(arrow.mark);
            svg += &format!(
                "<path d=\"{path}\" fill=\"{color}\" stroke=\"{edge}\" stroke-linejoin=\"round\" \
                 opacity=\".8\"/>\n"
            );
        }
        svg
    }

    fn svg_coordinates(&self) -> String {
        let mut svg =
            format!("<g fill=\"{INK}\" font-family=\"sans-serif\" font-size=\"12\" text-anchor=\"middle\">\n");
        let mut put = |x: usize, y: usize, c: char| {
            svg += &format!("<text x=\"{x}\" y=\"{y}\">{c}</text>\n");
        };
        for (i, file) in self.files().enumerate() {
            put(LEFT + i * SQUARE + SQUARE / 2, TOP + BOARD + 14, file.char());
        }
        for (i, rank) in self.ranks().enumerate() {
            put(LEFT / 2, TOP + i * SQUARE + SQUARE / 2 + 4, rank.char());
        }
        svg + "</g>\n"
    }

    /// The mark a square shows in text.
    fn text_mark(&self, sq: Square) -> Option<Highlight> {
        TEXT_ORDER.into_iter().find(|&mark| self.squares.contains(&(sq, mark)))
    }

    /// A square as three characters.
    fn text_square(&self, sq: Square, colored: bool) -> String {
        let piece = self.board.piece_at(sq);
        let look = self.text_mark(sq).map(look);
        let (open, close) = look.as_ref().map_or((' ', ' '), |look| look.brackets);
        let figure = match piece {
            Some(piece) => figure(piece, colored),
            None if colored => ' ',
            None => '·',
        };
        let cell = format!("{open}{figure}{close}");
        if !colored {
            return cell;
        }
        let ink = match piece {
            Some(piece) => piece.color.fold_wb(ANSI_WHITE, ANSI_BLACK),
            None => ANSI_WHITE,
        };
        let plain = if sq.is_light() { ANSI_LIGHT } else { ANSI_DARK };
        paint(&cell, ink, look.map_or(plain, |look| look.ansi))
    }
}

// Lengths of the SVG, in its own units.
const SQUARE: usize = 45;
const BOARD: usize = 8 * SQUARE;
const LEFT: usize = 20;
const RIGHT: usize = 10;
const TOP: usize = 10;
const BOTTOM: usize = 20;
const CAPTION_LINE: usize = 17;
/// Characters of a usual sans-serif font that fit on a line.
const CAPTION_CHARS: usize = 60;

const FRAME: &str = "#3d4650";
const INK: &str = "#eef0f2";
const LIGHT: &str = "#ece7db";
const DARK: &str = "#a9b3bb";
const WHITE_PIECES: &str = "fill=\"#fff\" stroke=\"#222\" color=\"#222\"";
const BLACK_PIECES: &str = "fill=\"#383838\" stroke=\"#111\" color=\"#eee\"";
const PIECE_STROKE: &str = "stroke-width=\"1.4\" stroke-linejoin=\"round\" stroke-linecap=\"round\"";
/// The width of the lines inside a piece.
const INNER_STROKE: &str = "1.2";

/// A piece on its own as a standalone SVG document of 45 by 45 units, for boards that are drawn elsewhere.
///
/// ```
/// use koga::{render::diagram, shakmaty::{Color, Role}};
/// assert!(diagram::piece(Role::Knight.of(Color::White)).starts_with("<svg "));
/// ```
pub fn piece(piece: Piece) -> String {
    let drawing = pieces::drawing(piece.role);
    let style = piece.color.fold_wb(WHITE_PIECES, BLACK_PIECES);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {SQUARE} {SQUARE}\">\n\
         <g {style} {PIECE_STROKE}>\n<path d=\"{}\"/>\n<path d=\"{}\" fill=\"none\" \
         stroke=\"currentColor\" stroke-width=\"{INNER_STROKE}\"/>\n</g>\n</svg>\n",
        drawing.body, drawing.lines
    )
}

/// The order in which marks are laid over each other.
const SVG_ORDER: [Highlight; 4] = [Highlight::Move, Highlight::Target, Highlight::Support, Highlight::Acting];
/// The order of the legend; of a square's marks the first is shown.
const TEXT_ORDER: [Highlight; 4] = [Highlight::Acting, Highlight::Target, Highlight::Support, Highlight::Move];

// Colours of the terminal's 256: mid tones, on which both black and white can be read.
const ANSI_LIGHT: u8 = 103;
const ANSI_DARK: u8 = 60;
const ANSI_WHITE: u8 = 231;
const ANSI_BLACK: u8 = 16;

/// How a mark is shown.
struct Look {
    /// Around the square, in text.
    brackets: (char, char),
    /// The legend's word for it.
    meaning: &'static str,
    /// Background in a terminal of 256 colours.
    ansi: u8,
    /// In the SVG: hues that colour-blind people tell apart (after Okabe and Ito).
    color: &'static str,
    /// An arrow's outline, against the pieces below it.
    edge: &'static str,
}

fn look(mark: Highlight) -> Look {
    let (brackets, meaning, ansi, color, edge) = match mark {
        Highlight::Move => (('<', '>'), "move", 136, "#f7d040", "#222"),
        Highlight::Acting => (('[', ']'), "acting", 32, "#0065a8", "#fff"),
        Highlight::Target => (('(', ')'), "target", 166, "#cc4400", "#fff"),
        Highlight::Support => (('{', '}'), "also involved", 29, "#00805c", "#fff"),
    };
    Look { brackets, meaning, ansi, color, edge }
}

fn svg_squares() -> String {
    // Every other file and every other rank; where two overlap they cancel out.
    let mut stripes = String::new();
    for at in (SQUARE..BOARD).step_by(2 * SQUARE) {
        stripes += &format!("M{at} 0h{SQUARE}v{BOARD}h-{SQUARE}z");
        stripes += &format!("M0 {at}h{BOARD}v{SQUARE}h-{BOARD}z");
    }
    format!(
        "<rect width=\"{BOARD}\" height=\"{BOARD}\" fill=\"{LIGHT}\"/>\n\
         <path d=\"{stripes}\" fill=\"{DARK}\" fill-rule=\"evenodd\"/>\n"
    )
}

/// One mark: the marks differ in shape as well as in colour.
fn svg_mark(mark: Highlight, x: usize, y: usize, light: bool) -> String {
    let color = look(mark).color;
    let (cx, cy) = (x as f64 + 22.5, y as f64 + 22.5);
    match mark {
        Highlight::Move => {
            let fill = if light { "#f7dd78" } else { "#dfb943" };
            format!("<path d=\"M{x} {y}h45v45h-45z\" fill=\"{fill}\"/>\n")
        }
        Highlight::Acting => format!(
            "<circle cx=\"{cx}\" cy=\"{cy}\" r=\"20.3\" fill=\"{color}\" fill-opacity=\".2\" \
             stroke=\"{color}\" stroke-width=\"3.4\"/>\n"
        ),
        // The square without a disc in its middle: four corners.
        Highlight::Target => format!(
            "<path d=\"M{x} {y}h45v45h-45zM{x} {cy}a22.5 22.5 0 1 0 45 0 22.5 22.5 0 1 0-45 0z\" \
             fill=\"{color}\" fill-rule=\"evenodd\"/>\n"
        ),
        Highlight::Support => format!(
            "<path d=\"M{} {}h40v40h-40z\" fill=\"none\" stroke=\"{color}\" stroke-width=\"3.4\" \
             stroke-dasharray=\"6 4\" stroke-dashoffset=\"3\"/>\n",
            x as f64 + 2.5,
            y as f64 + 2.5
        ),
    }
}

/// An arrow's outline between the middles of two squares, given by their corners.
fn arrow_path(from: (usize, usize), to: (usize, usize), dashed: bool) -> Option<String> {
    /// How far from the middle of its square an arrow starts.
    const START: f64 = 18.0;
    const HEAD: f64 = 14.0;
    const HALF_HEAD: f64 = 8.5;
    const HALF_SHAFT: f64 = 3.0;
    const DASH: f64 = 8.0;
    const GAP: f64 = 4.0;

    let middle = SQUARE as f64 / 2.0;
    let (x, y) = (from.0 as f64 + middle, from.1 as f64 + middle);
    let (dx, dy) = (to.0 as f64 + middle - x, to.1 as f64 + middle - y);
    let length = (dx * dx + dy * dy).sqrt();
    if length < 1.0 {
        return None;
    }
    // A point so far along the arrow and so far beside it.
    let point = |along: f64, beside: f64| {
        let (ux, uy) = (dx / length, dy / length);
        format!("{:.1} {:.1}", x + ux * along - uy * beside, y + uy * along + ux * beside)
    };

    let neck = length - HEAD;
    let mut path = String::new();
    let mut start = START;
    while dashed && start + DASH + 2.0 * GAP < neck {
        let end = start + DASH;
        path += &format!(
            "M{}L{} {} {}z",
            point(start, -HALF_SHAFT),
            point(end, -HALF_SHAFT),
            point(end, HALF_SHAFT),
            point(start, HALF_SHAFT)
        );
        start = end + GAP;
    }
    path += &format!(
        "M{}L{} {} {} {} {} {}z",
        point(start, -HALF_SHAFT),
        point(neck, -HALF_SHAFT),
        point(neck, -HALF_HEAD),
        point(length, 0.0),
        point(neck, HALF_HEAD),
        point(neck, HALF_SHAFT),
        point(start, HALF_SHAFT)
    );
    Some(path)
}

fn svg_caption(lines: &[String]) -> String {
    let mut svg = String::new();
    for (i, line) in lines.iter().enumerate() {
        svg += &format!(
            "<text x=\"{}\" y=\"{}\" fill=\"{INK}\" font-family=\"sans-serif\" font-size=\"12\" \
             text-anchor=\"middle\">{}</text>\n",
            (LEFT + BOARD + RIGHT) / 2,
            TOP + BOARD + BOTTOM + i * CAPTION_LINE + 13,
            escape(line)
        );
    }
    svg
}

/// Breaks a caption at spaces into as few lines as will do, of about the same length.
fn wrap(caption: &str) -> Vec<String> {
    let fewest = wrap_at(caption, CAPTION_CHARS);
    (CAPTION_CHARS / 2..CAPTION_CHARS)
        .map(|limit| wrap_at(caption, limit))
        .find(|lines| lines.len() == fewest.len())
        .unwrap_or(fewest)
}

fn wrap_at(caption: &str, limit: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in caption.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= limit => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Text as it stands in XML and HTML, within elements and quoted attributes. Characters that XML cannot hold become U+FFFD.
///
/// ```
/// assert_eq!(koga::render::diagram::escape("a < \"b\""), "a &lt; &quot;b&quot;");
/// ```
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\t' | '\n' | '\r' => escaped.push(' '),
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

fn figure(piece: Piece, solid: bool) -> char {
    let (outlined, filled) = match piece.role {
        Role::Pawn => ('♙', '♟'),
        Role::Knight => ('♘', '♞'),
        Role::Bishop => ('♗', '♝'),
        Role::Rook => ('♖', '♜'),
        Role::Queen => ('♕', '♛'),
        Role::King => ('♔', '♚'),
    };
    if solid || piece.color.is_black() { filled } else { outlined }
}

fn text_legend(mark: Highlight, colored: bool) -> String {
    let look = look(mark);
    let mut brackets = format!("{} {}", look.brackets.0, look.brackets.1);
    if colored {
        brackets = paint(&brackets, ANSI_WHITE, look.ansi);
    }
    format!("{brackets} {}", look.meaning)
}

fn paint(text: &str, ink: u8, ground: u8) -> String {
    format!("\x1b[38;5;{ink};48;5;{ground}m{text}\x1b[0m")
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
    const FORK: &str = "6k1/3r1p1p/4pNp1/8/8/8/8/6K1";

    fn diagram(board: &str) -> Diagram {
        Diagram {
            board: Board::from_ascii_board_fen(board.as_bytes()).expect("a board"),
            orientation: Color::White,
            squares: Vec::new(),
            arrows: Vec::new(),
            title: String::new(),
            caption: None,
        }
    }

    fn fork() -> Diagram {
        Diagram {
            squares: vec![
                (Square::E4, Highlight::Move),
                (Square::F6, Highlight::Move),
                (Square::F6, Highlight::Acting),
                (Square::G8, Highlight::Target),
                (Square::D7, Highlight::Target),
                (Square::E6, Highlight::Support),
            ],
            arrows: vec![
                Arrow { from: Square::E4, to: Square::F6, mark: Highlight::Move },
                Arrow { from: Square::F6, to: Square::D7, mark: Highlight::Target },
                Arrow { from: Square::E6, to: Square::A6, mark: Highlight::Support },
            ],
            title: "Fork".to_owned(),
            caption: Some("The knight on f6 forks the king on g8 and the rook on d7.".to_owned()),
            ..diagram(FORK)
        }
    }

    /// That tags nest, attributes are quoted and no bare `&` is left: all that can go wrong here.
    fn assert_well_formed(svg: &str) {
        let mut open = Vec::new();
        for part in svg.split('<').skip(1) {
            let (tag, text) = part.split_once('>').expect("a closed tag");
            assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
            assert!(!text.contains('>'), "{text}");
            for entity in part.split('&').skip(1) {
                let name = entity.split(';').next().expect("split yields one part");
                assert!(["amp", "lt", "gt", "quot"].contains(&name), "{part}");
            }
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name));
            } else if !tag.ends_with('/') {
                open.push(tag.split(' ').next().expect("split yields one part"));
            }
        }
        assert!(open.is_empty(), "{open:?}");
    }

    #[test]
    fn every_piece_is_shown() {
        let svg = diagram(START).svg();
        assert_eq!(svg.matches("<use ").count(), 32);
        for role in Role::ALL {
            let id = pieces::drawing(role).id;
            assert_eq!(svg.matches(&format!("<g id=\"{id}\">")).count(), 1);
            assert!(svg.matches(&format!("href=\"#{id}\"")).count() >= 2);
        }
        let text = diagram(START).text(false);
        for figure in "♔♕♖♗♘♙♚♛♜♝♞♟".chars() {
            assert!(text.contains(figure), "{figure}");
        }
    }

    #[test]
    fn only_pieces_on_the_board_are_defined() {
        let svg = diagram("8/8/8/4k3/8/8/8/K7").svg();
        assert!(svg.contains("id=\"koga-king\""));
        assert_eq!(svg.matches(" id=").count(), 1);
        assert_well_formed(&diagram("8/8/8/8/8/8/8/8").svg());
    }

    #[test]
    fn the_orientation_flips_both_axes() {
        let white = diagram("r7/8/8/8/8/8/8/6NK");
        let black = Diagram { orientation: Color::Black, ..white.clone() };
        assert!(white.svg().contains("<use href=\"#koga-rook\" x=\"0\" y=\"0\"/>"));
        assert!(black.svg().contains("<use href=\"#koga-rook\" x=\"315\" y=\"315\"/>"));
        assert!(black.svg().contains("<use href=\"#koga-knight\" x=\"45\" y=\"0\"/>"));

        let (white, black) = (white.text(false), black.text(false));
        assert_eq!(white.lines().next(), Some("8  ♜  ·  ·  ·  ·  ·  ·  ·"));
        assert_eq!(black.lines().next(), Some("1  ♔  ♘  ·  ·  ·  ·  ·  ·"));
        assert_eq!(white.lines().last(), Some("   a  b  c  d  e  f  g  h"));
        assert_eq!(black.lines().last(), Some("   h  g  f  e  d  c  b  a"));
    }

    #[test]
    fn the_svg_is_well_formed() {
        assert_well_formed(&fork().svg());
        assert_well_formed(&Diagram { orientation: Color::Black, ..fork() }.svg());
    }

    #[test]
    fn title_and_caption_are_escaped() {
        let words = "Pin </title> & \"more\"\u{1}".to_owned();
        let svg = Diagram { title: words.clone(), caption: Some(words), ..fork() }.svg();
        assert_well_formed(&svg);
        let escaped = "Pin &lt;/title&gt; &amp; &quot;more&quot;\u{fffd}<";
        assert_eq!(svg.matches(escaped).count(), 2);
    }

    #[test]
    fn the_picture_always_has_a_name() {
        assert!(diagram(START).svg().contains("role=\"img\">\n<title>Chess board</title>"));
        assert!(fork().svg().contains("<title>Fork</title>"));
    }

    #[test]
    fn the_order_of_marks_changes_nothing() {
        let mut shuffled = fork();
        shuffled.squares.reverse();
        shuffled.squares.push((Square::G8, Highlight::Target));
        assert_eq!(shuffled.svg(), fork().svg());
        assert_eq!(shuffled.text(true), fork().text(true));
    }

    #[test]
    fn marks_are_visible_without_colour() {
        let text = fork().text(false);
        for cell in ["[♘]", "(♚)", "(♜)", "{♟}", "<·>"] {
            assert!(text.contains(cell), "{text}");
        }
        assert!(!text.contains('\x1b'));
    }

    #[test]
    fn the_legend_names_only_marks_that_are_shown() {
        let mut diagram = fork();
        assert!(diagram.text(false).ends_with("\n  [ ] acting  ( ) target  { } also involved  < > move\n"));
        diagram.squares = vec![(Square::F6, Highlight::Acting), (Square::F6, Highlight::Move)];
        assert!(diagram.text(false).ends_with("h\n  [ ] acting\n"));
        diagram.squares.clear();
        assert!(diagram.text(false).ends_with("h\n"));
    }

    #[test]
    fn colours_end_where_the_square_ends() {
        let text = fork().text(true);
        assert_eq!(text.matches("\x1b[0m").count(), 64 + 4);
        assert!(text.contains("\x1b[38;5;231;48;5;32m[♞]\x1b[0m"));
        assert!(text.lines().all(|line| line.matches("\x1b[").count() % 2 == 0));
    }

    #[test]
    fn arrows_end_in_the_middle_of_a_square() {
        // f6 to d7: the middle of d7 is three and a half squares right, one and a half down.
        let svg = fork().svg();
        assert!(svg.contains(" 157.5 67.5 "), "{svg}");
    }

    #[test]
    fn an_arrow_to_its_own_square_is_left_out() {
        let plain = diagram(FORK);
        let arrow = Arrow { from: Square::F6, to: Square::F6, mark: Highlight::Acting };
        assert_eq!(Diagram { arrows: vec![arrow], ..plain.clone() }.svg(), plain.svg());
    }

    #[test]
    fn long_captions_become_lines_of_like_length() {
        let words = "one two three four five six seven eight nine ten eleven twelve thirteen";
        let lines = wrap(words);
        assert_eq!(lines.join(" "), words);
        assert_eq!(lines.len(), 2);
        assert!(lines[0].len().abs_diff(lines[1].len()) < 12, "{lines:?}");
        assert!(wrap(" \n").is_empty());
    }

    #[test]
    fn a_busy_board_stays_small() {
        let mut busy = diagram(START);
        busy.squares = Square::ALL.into_iter().take(16).map(|sq| (sq, Highlight::Target)).collect();
        busy.arrows = fork().arrows;
        assert!(busy.svg().len() < 12_000);
    }
}
