//! The report as a page of its own, with boards.

use std::fmt::Write;

use koga::render::diagram::escape;

use super::{
    Measured,
    tally::{Entry, Example, Side, THEMES},
    text::{NOTE, counted, rates, unlabelled},
};

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1b1d20; --paper: #fbfaf8; --dim: #5d6168; --rule: #d9d6d0; --card: #fff;
  --both: #3f7d58; --koga: #b8802a; --label: #8a5aa8; --link: #1f5fa8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7e5e1; --paper: #17181b; --dim: #a3a6ac; --rule: #383a40;
  --card: #202226; --both: #62ab80; --koga: #d9a750; --label: #b48bd0; --link: #86b7ee; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 72rem; color: var(--ink); background: var(--paper);
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { margin: 0 0 .25rem; font-size: 1.7rem; } h2 { margin: 2.5rem 0 .5rem; font-size: 1.3rem; }
h3 { margin: 1.25rem 0 .25rem; font-size: 1rem; color: var(--dim); }
a { color: var(--link); } p.note { max-width: 46rem; color: var(--dim); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .8rem; text-align: right; border-bottom: 1px solid var(--rule); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
.bar { display: flex; width: 14rem; height: .75rem; border-radius: 3px; overflow: hidden; background: var(--rule); }
.bar i { display: block; height: 100%; } .both { background: var(--both); } .koga { background: var(--koga); }
.label { background: var(--label); }
.key i { display: inline-block; width: .75rem; height: .75rem; margin: 0 .3rem 0 1rem; border-radius: 2px; }
.key i:first-child { margin-left: 0; }
details { border-top: 1px solid var(--rule); } details:last-of-type { border-bottom: 1px solid var(--rule); }
summary { padding: .45rem 0; cursor: pointer; }
summary b { display: inline-block; min-width: 4.5rem; font-variant-numeric: tabular-nums; }
summary:focus-visible, a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 19rem), 1fr)); gap: 1rem; padding: .25rem 0 1.25rem; }
figure { margin: 0; padding: .75rem; background: var(--card); border: 1px solid var(--rule); border-radius: 8px; }
figure img { display: block; width: 100%; height: auto; } figcaption { margin-top: .5rem; font-size: .9rem; }
figcaption p { margin: .3rem 0; } code { font-size: .78rem; color: var(--dim); overflow-wrap: anywhere; }
";

/// The whole page; nothing is loaded from elsewhere.
pub(super) fn report(measured: &Measured) -> String {
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Koga and the labels</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>Koga and the labels</h1>\n<p>{}, {}.</p>\n<p class=\"note\">{NOTE}</p>\n",
        escape(&measured.name),
        counted(measured)
    );
    out += "<p class=\"key\"><i class=\"both\"></i>both<i class=\"koga\"></i>Koga only<i class=\"label\"></i>label only</p>\n\
            <div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">Theme</th><th scope=\"col\">Both</th>\
            <th scope=\"col\">Koga only</th><th scope=\"col\">Label only</th><th scope=\"col\">Precision</th>\
            <th scope=\"col\">Recall</th><th scope=\"col\">Shares</th></tr></thead>\n<tbody>\n";
    for (theme, entry) in THEMES.iter().zip(&measured.tally.entries) {
        let [precision, recall] = rates(entry);
        let _ = writeln!(
            out,
            "<tr><td><a href=\"#{0}\">{0}</a></td><td>{1}</td><td>{2}</td><td>{3}</td><td>{precision}</td>\
             <td>{recall}</td><td>{4}</td></tr>",
            theme.name,
            entry.both,
            entry.only(Side::KogaOnly),
            entry.only(Side::LabelOnly),
            bar(entry)
        );
    }
    let _ = writeln!(out, "</tbody></table></div>\n<p>{}.</p>", unlabelled(measured));
    for (theme, entry) in THEMES.iter().zip(&measured.tally.entries) {
        let _ = writeln!(out, "<section id=\"{0}\">\n<h2>{0}</h2>", theme.name);
        if entry.groups.is_empty() {
            out += "<p>No disagreement.</p>\n";
        }
        for side in Side::ALL.into_iter().filter(|side| entry.only(*side) > 0) {
            let title = side.title();
            let title = title[..1].to_uppercase() + &title[1..];
            let _ = writeln!(out, "<h3>{title}: {}</h3>", entry.only(side));
            for (why, group) in entry.by_size(side) {
                let _ = writeln!(out, "<details><summary><b>{}</b> {}</summary>", group.count, escape(why));
                out += "<div class=\"cards\">\n";
                group.examples.iter().for_each(|example| card(&mut out, example));
                out += "</div></details>\n";
            }
        }
        out += "</section>\n";
    }
    out + "</main>\n</body>\n</html>\n"
}

fn bar(entry: &Entry) -> String {
    let parts = [("both", entry.both), ("koga", entry.only(Side::KogaOnly)), ("label", entry.only(Side::LabelOnly))];
    let all = parts.iter().map(|(_, count)| count).sum::<u64>().max(1) as f64;
    let part = |(class, count): &(&str, u64)| {
        format!("<i class=\"{class}\" style=\"width:{:.2}%\"></i>", 100.0 * *count as f64 / all)
    };
    format!("<div class=\"bar\" aria-hidden=\"true\">{}</div>", parts.iter().map(part).collect::<String>())
}

fn card(out: &mut String, example: &Example) {
    let id = if example.id == example.fen { String::new() } else { format!("<b>{}</b> ", escape(&example.id)) };
    let _ = writeln!(
        out,
        "<figure><img loading=\"lazy\" alt=\"{}\" src=\"data:image/svg+xml,{}\">\n\
         <figcaption><p>{id}{}</p><p>{}</p><code>{}</code></figcaption></figure>",
        escape(&format!("Board: {}", example.fen)),
        encoded(&example.diagram.svg()),
        escape(&example.moves),
        escape(&example.says),
        escape(&example.fen),
    );
}

/// A picture as part of a `data:` address in double quotes.
fn encoded(svg: &str) -> String {
    let mut out = String::with_capacity(svg.len() + svg.len() / 4);
    for byte in svg.bytes() {
        match byte {
            b'"' => out.push('\''),
            b'\n' => out.push(' '),
            b'%' | b'#' | b'<' | b'>' | b'&' | b'\'' | 0x7f.. => {
                let _ = write!(out, "%{byte:02X}");
            }
            _ => out.push(char::from(byte)),
        }
    }
    out
}
