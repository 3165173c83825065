//! The reference pages as HTML: they need neither a script nor a server, and nothing from another host.

use std::{collections::BTreeMap, fmt::Write, fs, io, path::Path};

use koga::{
    Tactic, arbiter,
    render::{diagram::escape, text},
    tactics::Definition,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use pulldown_cmark::{Parser, html::push_html};

use crate::pages::{Page, RIVALS, Shown, fen, how_decided, shown_cases, summary, title};

/// Where `koga serve` answers unless it is told otherwise.
pub const ANALYSIS: &str = "http://127.0.0.1:8080/";

/// The address of an analysis page, if it can be one: that of a web page, or a path on the site's own host; positions follow
/// behind a `#`.
///
/// # Errors
///
/// What it must be.
pub fn analysis(address: &str) -> Result<String, String> {
    let is_web = ["http://", "https://", "/", "./", "../"].iter().any(|start| address.starts_with(start));
    match is_web && !address.contains('#') {
        true => Ok(address.to_owned()),
        false => Err("must be an address with http or https, or a path, and have no #".to_owned()),
    }
}

const STYLE: &str = include_str!("../../../web/dist/site.css");
const ICON: &str = include_str!("../../../web/dist/favicon.svg");
const LICENCE: &str = include_str!("../../../COPYING");

/// The mark by which a folder is known to hold a site of Koga's.
const GENERATOR: &str = "<meta name=\"generator\" content=\"koga\">";

/// All pages, with a picture a position. Positions link to the analysis page at the address `analysis`.
pub fn html(analysis: &str) -> Vec<Page> {
    let page = |path: String, text: String| Page { path, text };
    let all = Tactic::ALL.map(|tactic| (tactic, shown_cases(tactic)));
    let mut pages = vec![
        page("index.html".to_owned(), contents(&all, analysis)),
        page("site.css".to_owned(), STYLE.to_owned()),
        page("favicon.svg".to_owned(), ICON.to_owned()),
        page("licence.txt".to_owned(), LICENCE.to_owned()),
    ];
    for (tactic, cases) in &all {
        for shown in cases {
            pages.push(page(picture(*tactic, shown), shown.diagram(*tactic).svg()));
        }
        pages.push(page(format!("{tactic}.html"), tactic_page(*tactic, cases, analysis)));
    }
    pages
}

/// Writes the site into a folder and says how many files it has. A new folder appears whole or not at all; in one that holds
/// a site of Koga's each file is renewed whole, and what else stands there is left alone.
///
/// # Errors
///
/// A message, where the folder holds something else or cannot be written.
pub fn write(folder: &Path, analysis: &str) -> Result<usize, String> {
    let shown = |err: io::Error| format!("{}: {err}", folder.display());
    let is_new = match fs::read_dir(folder) {
        Ok(mut entries) => {
            let index = fs::read_to_string(folder.join("index.html")).unwrap_or_default();
            if entries.next().is_some() && !index.contains(GENERATOR) {
                return Err(format!("{}: holds something else than a site of koga's", folder.display()));
            }
            false
        }
        Err(err) if err.kind() == io::ErrorKind::NotFound => true,
        Err(err) => return Err(shown(err)),
    };
    let draft = match folder.file_name().filter(|_| is_new) {
        Some(name) => {
            let mut beside = name.to_owned();
            beside.push(format!(".{}.partial", std::process::id()));
            folder.with_file_name(beside)
        }
        None => folder.join(format!(".{}.partial", std::process::id())),
    };
    let pages = html(analysis);
    let written = write_all(&draft, &pages).and_then(|()| match is_new {
        true => fs::rename(&draft, folder),
        false => pages.iter().try_for_each(|page| {
            let place = folder.join(&page.path);
            fs::create_dir_all(place.parent().unwrap_or(folder))?;
            fs::rename(draft.join(&page.path), place)
        }),
    });
    let cleared = if draft.exists() { fs::remove_dir_all(&draft) } else { Ok(()) };
    written.and(cleared).map_err(shown)?;
    Ok(pages.len())
}

fn write_all(folder: &Path, pages: &[Page]) -> io::Result<()> {
    for page in pages {
        let path = folder.join(&page.path);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(path, &page.text)?;
    }
    Ok(())
}

/// A whole document.
fn document(heading: &str, main: &str, analysis: &str) -> String {
    let mut links = String::new();
    for tactic in Tactic::ALL {
        let here = if title(tactic) == heading { " aria-current=\"page\"" } else { "" };
        let _ = writeln!(links, "<li><a href=\"{tactic}.html\"{here}>{}</a></li>", title(tactic));
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n{GENERATOR}\n\
         <title>{heading} · Koga</title>\n<link rel=\"stylesheet\" href=\"site.css\">\n\
         <link rel=\"icon\" href=\"favicon.svg\" type=\"image/svg+xml\">\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the page</a>\n\
         <header><a class=\"home\" href=\"index.html\">Koga <span>the tactics</span></a>\n\
         <a href=\"{}\">Analysis board</a></header>\n\
         <nav aria-label=\"Tactics\"><ul>\n{links}</ul></nav>\n<main id=\"main\">\n<h1>{heading}</h1>\n{main}</main>\n\
         <footer><p>Made by <b>Koga</b>, which says why a chess move is good. \
         <a href=\"licence.txt\">GPL-3.0-or-later</a>.</p></footer>\n</body>\n</html>\n",
        escape(analysis)
    )
}

fn contents(all: &[(Tactic, Vec<Shown>)], analysis: &str) -> String {
    let mut main = String::from(
        "<p class=\"lead\">For each tactic: how Koga decides, every position that it is tested on, and the near misses with \
         the rule that refuses them.</p>\n<ul class=\"tactics\">\n",
    );
    for (tactic, cases) in all {
        let Some(first) = cases.first() else { continue };
        let _ = writeln!(
            main,
            "<li><a href=\"{tactic}.html\"><img src=\"{}\" alt=\"\" width=\"390\" height=\"390\" loading=\"lazy\"><b>{}</b></a>\
             <p>{}</p><p class=\"dim\">{} positions</p></li>",
            picture(*tactic, first),
            title(*tactic),
            escape(&summary(*tactic)),
            cases.len()
        );
    }
    let _ = writeln!(main, "</ul>\n<h2>How rivals are weighed</h2>\n<p>{RIVALS}</p>");
    main += &rules(arbiter::RULES.iter());
    document("The tactics", &main, analysis)
}

fn tactic_page(tactic: Tactic, cases: &[Shown], analysis: &str) -> String {
    let definition = Definition::of(tactic);
    let anchors = anchors(definition);
    let mut main = String::new();
    push_html(&mut main, Parser::new(&linked(&how_decided(definition), &anchors)));
    if !definition.rules.is_empty() {
        main += "<h2>Rules that refuse it</h2>\n";
        main += &rules(definition.rules.iter());
    }
    let (shows, misses): (Vec<&Shown>, Vec<&Shown>) = cases.iter().partition(|shown| shown.case.shows(tactic));
    main += KEY;
    for (heading, cases) in [("Positions that show it", shows), ("Near misses", misses)] {
        let _ = writeln!(main, "<h2>{heading} <span class=\"dim\">{}</span></h2>\n<div class=\"cards\">", cases.len());
        for shown in cases {
            main += &card(tactic, shown, &anchors, analysis);
        }
        main += "</div>\n";
    }
    document(title(tactic).as_str(), &main, analysis)
}

/// What the marks of the boards mean.
const KEY: &str = "\
<ul class=\"key\" aria-label=\"Marks on the boards\">\n\
<li><i class=\"move\"></i>the move</li>\n<li><i class=\"acting\"></i>the piece that acts</li>\n\
<li><i class=\"target\"></i>what it acts on</li>\n\
<li><i class=\"support\"></i>what else takes part; in a near miss, the shape that was refused</li>\n</ul>\n";

fn card(tactic: Tactic, shown: &Shown, anchors: &BTreeMap<&str, String>, analysis: &str) -> String {
    let Shown { case, line, .. } = shown;
    let mut out = format!(
        "<figure id=\"{0}\">\n<img class=\"board\" src=\"{1}\" alt=\"Board: {2}\" width=\"390\" height=\"390\" loading=\"lazy\">\n\
         <figcaption>\n<h3><a href=\"#{0}\">{2}</a></h3>\n<p class=\"line\">{3}</p>\n",
        escape(&case.id),
        picture(tactic, shown),
        escape(&case.title),
        escape(&text::moves(line)),
    );
    let mut words = String::new();
    for verdict in shown.verdict(tactic).lines() {
        // "Found, motif: fork, 1.Nc7+: The knight …"
        let _ = match verdict.split_once(": ") {
            Some((what, rest)) => writeln!(words, "- **{what}**: {rest}"),
            None => writeln!(words, "- {verdict}"),
        };
    }
    let _ = writeln!(words, "\n{}\n", case.why);
    if let Some(note) = shown.note(tactic) {
        let _ = writeln!(words, "{note}\n");
    }
    push_html(&mut out, Parser::new(&linked(&words, anchors)));
    let _ = writeln!(out, "<p><a class=\"open\" href=\"{}\">Open on the board</a></p>", address(shown, analysis));
    let mut source = String::new();
    push_html(&mut source, Parser::new(&format!("{} · `{}`", shown.source(), fen(line))));
    out + &source.replacen("<p>", "<p class=\"dim\">", 1) + "</figcaption>\n</figure>\n"
}

/// The position and its line in the analysis page.
fn address(shown: &Shown, analysis: &str) -> String {
    use koga::shakmaty::{Position, uci::UciMove};
    /// Read more easily so, and allowed in a fragment.
    const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_');
    let line = &shown.line;
    let plies = (1..=line.len()).filter_map(|number| line.ply(number));
    let moves: Vec<String> =
        plies.map(|ply| UciMove::from_move(ply.m, ply.before.castles().mode()).to_string()).collect();
    let setup = shown.case.setup.as_ref().map_or_else(String::new, |setup| format!("&amp;setup={setup}"));
    let fen = utf8_percent_encode(&shown.case.fen, KEPT);
    format!("{}#fen={fen}{setup}&amp;moves={}", escape(analysis), moves.join(","))
}

fn picture(tactic: Tactic, shown: &Shown) -> String {
    format!("img/{tactic}/{}.svg", shown.case.id)
}

fn rules<'r>(rules: impl Iterator<Item = &'r koga::Rule>) -> String {
    let mut out = String::from("<dl class=\"rules\">\n");
    for rule in rules {
        let _ = writeln!(out, "<div id=\"{0}\"><dt>{0}</dt><dd>{1}</dd></div>", rule.id, escape(rule.text));
    }
    out + "</dl>\n"
}

/// Where a page finds each rule: its own on the page, the arbiter's among the contents.
fn anchors(definition: &Definition) -> BTreeMap<&'static str, String> {
    let own = definition.rules.iter().map(|rule| (rule.id, format!("#{}", rule.id)));
    arbiter::RULES.iter().map(|rule| (rule.id, format!("index.html#{}", rule.id))).chain(own).collect()
}

/// Markdown with the numbers of rules as links.
fn linked(markdown: &str, anchors: &BTreeMap<&str, String>) -> String {
    let mut out = String::new();
    let mut rest = markdown;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphanumeric()) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        out += before;
        match anchors.get(word) {
            Some(anchor) => out += &format!("[{word}]({anchor})"),
            None => out += word,
        }
        rest = after;
    }
    out + rest
}
