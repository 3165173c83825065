//! Games read, written, and read again: by Koga's reader and by an independent one.

use std::{
    fs,
    io::{self, Cursor, Write},
    ops::ControlFlow,
    path::PathBuf,
};

use koga::shakmaty::{Chess, Position, fen::Fen};
use koga_engine::{BuiltIn, Limits};
use koga_review::{
    Settings,
    pgn::{Game, Item, RawGame, Split, Trouble, Writer, read},
    render, review,
};
use pgn_reader::{Nag, Outcome, RawComment, RawTag, Reader, SanPlus, Skip, Visitor};

fn raw(text: &[u8]) -> RawGame {
    RawGame { number: 1, bytes: text.to_vec(), ..RawGame::default() }
}

fn game(text: &str) -> Game {
    let (game, troubles) = read(&raw(text.as_bytes()));
    assert_eq!(troubles, [], "{text}");
    game.expect("it can be read")
}

fn troubles(text: &[u8]) -> (Option<Game>, Vec<String>) {
    let (game, troubles) = read(&raw(text));
    (game, troubles.iter().map(Trouble::to_string).collect())
}

fn small() -> Settings {
    Settings { limits: Limits::nodes(500), ..Settings::default() }
}

fn annotated(game: &Game, settings: &Settings) -> String {
    render::pgn::game(&review(game.clone(), settings, &mut BuiltIn::new()).expect("the built-in engine does not fail"))
}

/// The games of a data file; loudly none where it is absent.
fn data(name: &str) -> Vec<Game> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    let Ok(bytes) = fs::read(&path) else {
        let _ = writeln!(io::stderr(), "skipped: {} is not there", path.display());
        return Vec::new();
    };
    Split::new(&bytes[..])
        .map(|raw| {
            let raw = raw.expect("memory can be read");
            let (game, troubles) = read(&raw);
            assert_eq!(troubles, [], "{name}: game {}", raw.number);
            game.expect("it can be read")
        })
        .collect()
}

/// What an independent reader sees of a game.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    tags: Vec<(String, String)>,
    moves: Vec<String>,
    /// Comments of the main line by ply.
    comments: Vec<(usize, String)>,
    nags: Vec<(usize, u8)>,
    variations: usize,
    outcome: Option<String>,
    pos: Chess,
    depth: usize,
    /// The positions before and after the last move of each open variation.
    stack: Vec<(Chess, Chess)>,
    before: Chess,
}

struct Eyes;

impl Visitor for Eyes {
    type Tags = Seen;
    type Movetext = Seen;
    type Output = Seen;

    fn begin_tags(&mut self) -> ControlFlow<Seen, Seen> {
        ControlFlow::Continue(Seen::default())
    }

    fn tag(&mut self, seen: &mut Seen, name: &[u8], value: RawTag<'_>) -> ControlFlow<Seen> {
        let value = value.decode_utf8().expect("the writer writes UTF-8").into_owned();
        if name == b"FEN" {
            let fen: Fen = value.parse().expect("a FEN");
            let mode = koga::shakmaty::CastlingMode::detect(fen.as_setup());
            seen.pos = fen.into_position(mode).expect("a position");
        }
        seen.tags.push((String::from_utf8_lossy(name).into_owned(), value));
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Seen) -> ControlFlow<Seen, Seen> {
        ControlFlow::Continue(tags)
    }

    fn san(&mut self, seen: &mut Seen, san: SanPlus) -> ControlFlow<Seen> {
        let m = san.san.to_move(&seen.pos).expect("every move is legal, in variations too");
        seen.before = seen.pos.clone();
        seen.pos.play_unchecked(m);
        if seen.depth == 0 {
            seen.moves.push(san.san.to_string());
        }
        ControlFlow::Continue(())
    }

    fn comment(&mut self, seen: &mut Seen, comment: RawComment<'_>) -> ControlFlow<Seen> {
        if seen.depth == 0 {
            let text = String::from_utf8(comment.as_bytes().to_vec()).expect("the writer writes UTF-8");
            seen.comments.push((seen.moves.len(), text.split_whitespace().collect::<Vec<_>>().join(" ")));
        }
        ControlFlow::Continue(())
    }

    fn nag(&mut self, seen: &mut Seen, nag: Nag) -> ControlFlow<Seen> {
        if seen.depth == 0 {
            seen.nags.push((seen.moves.len(), nag.0));
        }
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, seen: &mut Seen) -> ControlFlow<Seen, Skip> {
        seen.variations += usize::from(seen.depth == 0);
        seen.depth += 1;
        seen.stack.push((seen.before.clone(), seen.pos.clone()));
        seen.pos = seen.before.clone();
        ControlFlow::Continue(Skip(false))
    }

    fn end_variation(&mut self, seen: &mut Seen) -> ControlFlow<Seen> {
        seen.depth -= 1;
        (seen.before, seen.pos) = seen.stack.pop().expect("it was opened");
        ControlFlow::Continue(())
    }

    fn outcome(&mut self, seen: &mut Seen, outcome: Outcome) -> ControlFlow<Seen> {
        seen.outcome = Some(outcome.to_string());
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, seen: Seen) -> Seen {
        seen
    }
}

fn seen(text: &str) -> Seen {
    let mut reader = Reader::build(Cursor::new(text)).set_supported_comment_length(1 << 16).finish();
    let seen = reader.read_game(&mut Eyes).expect("readable").expect("there is a game");
    assert!(reader.read_game(&mut Eyes).expect("readable").is_none(), "one game stays one game:\n{text}");
    seen
}

fn is_kept(before: &Game, after: &str) {
    let seen = seen(after);
    for tag in &before.tags {
        assert!(seen.tags.contains(tag), "{tag:?} is lost");
    }
    assert_eq!(seen.moves.len(), before.moves.len());
    assert_eq!(seen.outcome.as_deref(), Some(before.result.as_str()));
    assert!(
        after
            .lines()
            .filter(|line| !line.starts_with('['))
            .all(|line| line.chars().count() <= 80 || !line.contains(' '))
    );
    let again = game(after);
    assert_eq!(again.line(), before.line());
    assert_eq!(again.start, before.start);
    for (index, (old, new)) in before.moves.iter().zip(&again.moves).enumerate() {
        for item in &old.after {
            let kept = match item {
                Item::Comment(old) => {
                    let old: Vec<&str> = old.split_whitespace().collect();
                    new.after.iter().any(|item| match item {
                        Item::Comment(text) => {
                            text.split_whitespace().collect::<Vec<_>>().join(" ").contains(&old.join(" "))
                        }
                        _ => false,
                    })
                }
                item => new.after.contains(item),
            };
            assert!(kept, "{item:?} after move {index} is lost in {:?}", new.after);
        }
    }
}

const RICH: &str = r#"[Event "A \"quoted\" \\ event"]
[White "Müller, Jörg"]
[Black "?"]
[Result "0-1"]

{ Before the first move } 1. e4 $1 { [%clk 0:05:00] good } 1... e5 ( 1... c5 { Sicilian [%csl Ge4] } 2. Nf3 ( 2. c3 d5 ) 2... d6 $14 )
( 1... e6 ) 2. f4?! exf4 3. Bc4 Qh4+ ; rest of line
4. Kf1 b5 {[%cal Gb5c4]} 5. Bxb5 Nf6 6. Nf3 Qh6 7. d3 Nh5 8. Nh4 Qg5 9. Nf5 c6 $4 0-1
"#;

#[test]
fn what_a_game_holds_survives_writing() {
    let before = game(RICH);
    assert_eq!(before.tags[0].1, r#"A "quoted" \ event"#);
    assert_eq!(before.moves[0].after, [Item::Nag(1), Item::Comment("[%clk 0:05:00] good".into())]);
    let after = Writer::game(&before);
    assert_eq!(
        game(&after).moves.iter().map(|m| &m.after).collect::<Vec<_>>(),
        before.moves.iter().map(|m| &m.after).collect::<Vec<_>>()
    );
    assert_eq!(Writer::game(&game(&after)), after, "written again it is the same");
    let seen = seen(&after);
    assert_eq!((seen.variations, seen.moves.len()), (2, 18));
    assert_eq!(seen.comments[0], (0, "Before the first move".to_owned()));
    assert_eq!(seen.nags, [(1, 1), (3, 6), (18, 4)]);
}

#[test]
fn annotations_leave_the_game_as_it_was() {
    let before = game(RICH);
    let after = annotated(&before, &small());
    is_kept(&before, &after);
    assert!(after.contains("[%eval "));
    let again = annotated(&game(&after), &small());
    assert_eq!(again, after, "annotating twice adds nothing");
}

#[test]
fn games_of_all_kinds_are_kept() {
    let few = |name: &str, n: usize| data(name).into_iter().take(n).collect::<Vec<_>>();
    let games = [few("lichess-games.pgn", 12), few("chess960-games.pgn", 4), few("kasparov-deep-blue.pgn", 2)];
    for game in games.iter().flatten() {
        is_kept(game, &annotated(game, &Settings { limits: Limits::nodes(150), ..Settings::default() }));
    }
    for name in ["lichess-games.pgn", "chess960-games.pgn", "kasparov-deep-blue.pgn"] {
        for game in data(name) {
            is_kept(&game, &Writer::game(&game));
        }
    }
}

#[test]
fn a_missed_tactic_comes_as_a_variation_with_marks_on_its_board() {
    let before = game("[FEN \"r3k3/5ppp/8/3N4/8/8/5PPP/4K3 w - - 0 1\"]\n[SetUp \"1\"]\n\n1. Kd2 Kd7 *\n");
    let after = annotated(&before, &Settings { limits: Limits::nodes(4_000), ..Settings::default() });
    is_kept(&before, &after);
    let words = after.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("1. Kd2 $4 {"), "{after}");
    assert!(words.contains("(1. Nc7+ { [%csl Gc7,Ra8,Re8] [%cal Rc7"), "{after}");
    assert!(words.contains("The knight on c7 forks the king on e8 and the rook on a8."), "{after}");
}

#[test]
fn bad_games_are_read_as_far_as_they_can_be() {
    let (game, said) = troubles(b"1. e4 e5 2. Nf9 Nc6 1-0");
    assert_eq!(said, ["move 2.: \"Nf9\" is not a move in SAN or UCI"]);
    let game = game.unwrap();
    assert_eq!((game.moves.len(), game.rest.as_deref(), game.result.as_str()), (2, Some("Nf9 Nc6 1-0"), "*"));
    let after = Writer::game(&game);
    assert_eq!(seen(&after).moves.len(), 2);
    assert!(after.contains("Unreadable from here on: Nf9 Nc6 1-0"), "{after}");

    let of = |text: &str| troubles(text.as_bytes()).1;
    assert_eq!(of("1. e4 e5 2. Ke3 *"), ["move 2.: \"Ke3\" is not legal here (white to move)"]);
    assert_eq!(of("1. Nf3 a6 2. Nc3 a5 3. Nb5 a4 4. Nd4 *"), ["move 4.: \"Nd4\" is ambiguous: f3d4 or b5d4"]);
    assert_eq!(of("1. e4 e5"), ["move 2.: the result is missing after the moves, * is assumed"]);
    assert_eq!(of("[Result \"1-0\"]\n\n1. e4"), ["move 1...: the result is missing after the moves, 1-0 is assumed"]);
    assert_eq!(of("1. e4 1-0 e5"), ["move 1...: \"e5\" comes after the end of the game"]);
    assert_eq!(
        of("[Variant \"Atomic\"]\n\n1. e4 *"),
        ["\"Atomic\" is a variant that Koga does not know (tag Variant)"]
    );
    assert_eq!(
        of("[FEN \"8/8/8/8/8/8/8/8 w - - 0 1\"]\n\n*"),
        ["\"8/8/8/8/8/8/8/8\" is wrong in the tag FEN: the board is empty"]
    );
    assert_eq!(of("1. e4 { a { b } c } e5 *"), ["move 1...: \"a { b } c\" is a comment within a comment"]);
    assert_eq!(
        of("1. e4 { a b c e5 *"),
        [
            "move 1...: \"a b c e5 *\" is a comment that is never closed",
            "move 1...: the result is missing after the moves, * is assumed"
        ]
    );
    assert_eq!(
        of("1. e4 (1. d4 d5 e5 *"),
        [
            "move 1...: \"(\" a variation is never closed",
            "move 1...: the result is missing after the moves, * is assumed"
        ]
    );
    assert_eq!(of("1. e4 e5 ) 2. d4 *"), ["move 2.: \")\" closes no variation"]);
    assert_eq!(of("[Event nonsense]\n\n1. e4 *"), ["\"[Event nonsense]\" is not a tag pair"]);
}

#[test]
fn old_files_are_no_trouble() {
    let (game, said) = troubles(b"\xef\xbb\xbf[White \"J\xf6rg\"]\r\n\r\n1. e4 {sch\xf6n}\r\n e5 *\r\n");
    let game = game.unwrap();
    assert_eq!(said, [] as [String; 0]);
    assert_eq!(game.tag("White"), Some("Jörg"));
    assert_eq!(game.moves[0].after, [Item::Comment("schön".into())]);
    assert!(!Writer::game(&game).contains('\r'));
}

#[test]
fn chess960_games_castle() {
    let games = data("chess960-games.pgn");
    let castles = games.iter().flat_map(|game| &game.moves).filter(|played| played.m.is_castle()).count();
    assert!(games.is_empty() || castles > 10, "{castles}");
}

/// Text that would overflow the stack, or take hours, if it were believed.
#[test]
fn nesting_without_end_is_cut() {
    let of = |text: &str| {
        let (game, troubles) = read(&RawGame { number: 1, bytes: text.as_bytes().to_vec(), ..RawGame::default() });
        let game = game.expect("readable");
        (Writer::game(&game), troubles.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    let nested = |depth: usize| format!("1. e4 {}{} 1... e5 *", "(1. d4 ".repeat(depth), ")".repeat(depth));
    let (deep, troubles) = of(&nested(64));
    assert_eq!((deep.matches('(').count(), troubles.len()), (64, 0));
    let (cut, troubles) = of(&nested(100_000));
    assert_eq!(cut, deep);
    assert_eq!(troubles, ["move 1...: \"(\" opens a variation more than 64 deep, which is left out"]);
    let begun = std::time::Instant::now();
    let (comments, _) = of(&format!("1. e4 {} e5 *", "{{} ".repeat(200_000)));
    assert!(comments.ends_with("1... e5 *\n\n"), "{}", &comments[comments.len() - 80..]);
    let tags: String = (0..80_000).map(|n| format!("[T{n} \"x\"]\n")).collect();
    assert_eq!(of(&format!("{tags}\n1. e4 *")).0.matches("[T").count(), 80_000);
    assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
}
