//! Findings as compact JSON in a field of CSV.

use koga::{
    Finding,
    shakmaty::{Bitboard, Square},
};

/// Writes the findings as a field of CSV: a JSON array of objects with the fields of the report, without the move in SAN
/// (the row has the moves, and `ply` says which) and the sentence.
///
/// Nothing in it needs an escape but the quotes, which CSV wants doubled: so they are written, without detour.
pub(crate) fn write_field(out: &mut Vec<u8>, findings: &[Finding]) {
    if findings.is_empty() {
        out.extend_from_slice(b"[]");
        return;
    }
    out.extend_from_slice(b"\"[");
    for (n, finding) in findings.iter().enumerate() {
        out.extend_from_slice(if n == 0 { b"{\"\"tactic\"\":" } else { b",{\"\"tactic\"\":" });
        name(out, finding.tactic.name());
        out.extend_from_slice(b",\"\"role\"\":");
        name(out, finding.role.name());
        out.extend_from_slice(b",\"\"ply\"\":");
        number(out, i32::try_from(finding.ply).unwrap_or(i32::MAX));
        out.extend_from_slice(b",\"\"kind\"\":");
        match finding.kind {
            Some(kind) => name(out, kind.name()),
            None => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(b",\"\"piece\"\":\"\"");
        square(out, finding.piece);
        out.extend_from_slice(b"\"\",\"\"targets\"\":");
        squares(out, finding.targets.iter().copied());
        out.extend_from_slice(b",\"\"squares\"\":{");
        for (n, (mark, set)) in finding.marks().enumerate() {
            out.extend_from_slice(if n == 0 { b"" } else { b"," });
            name(out, mark);
            out.push(b':');
            squares(out, set);
        }
        out.extend_from_slice(b"},\"\"prize\"\":");
        points(out, finding.prize);
        out.extend_from_slice(b",\"\"won\"\":");
        points(out, finding.won);
        out.push(b'}');
    }
    out.extend_from_slice(b"]\"");
}

/// The marked squares of a finding as the report has them: sorted by the mark's name.
pub(crate) trait Marks {
    fn marks(&self) -> impl Iterator<Item = (&'static str, Bitboard)>;
}

impl Marks for Finding {
    fn marks(&self) -> impl Iterator<Item = (&'static str, Bitboard)> {
        let mut marks: [Option<(&'static str, Bitboard)>; 8] = [None; 8];
        for (slot, (mark, set)) in marks.iter_mut().zip(&self.squares) {
            *slot = Some((mark.name(), *set));
        }
        marks[..self.squares.len().min(8)].sort_unstable_by_key(|mark| mark.map(|(name, _)| name));
        marks.into_iter().flatten()
    }
}

fn name(out: &mut Vec<u8>, name: &str) {
    out.extend_from_slice(b"\"\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\"\"");
}

fn squares(out: &mut Vec<u8>, squares: impl IntoIterator<Item = Square>) {
    out.push(b'[');
    for (n, sq) in squares.into_iter().enumerate() {
        out.extend_from_slice(if n == 0 { b"\"\"" } else { b",\"\"" });
        square(out, sq);
        out.extend_from_slice(b"\"\"");
    }
    out.push(b']');
}

fn square(out: &mut Vec<u8>, sq: Square) {
    out.extend_from_slice(&[b'a' + sq.file() as u8, b'1' + sq.rank() as u8]);
}

fn points(out: &mut Vec<u8>, points: Option<i32>) {
    match points {
        Some(points) => number(out, points),
        None => out.extend_from_slice(b"null"),
    }
}

fn number(out: &mut Vec<u8>, number: i32) {
    if number < 0 {
        out.push(b'-');
    }
    let mut digits = [0; 10];
    let mut rest = number.unsigned_abs();
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use koga::{Line, analyze, render};

    #[test]
    fn the_field_is_the_report_without_words() {
        let lines = [
            ("r3k3/8/8/3N4/8/8/8/4K3 w - - 0 1", vec!["Nc7+", "Kd8", "Nxa8"]),
            ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", vec!["Rd8#"]),
            ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", vec!["Kd2"]),
        ];
        for (fen, moves) in lines {
            let line = Line::parse(fen, moves).unwrap();
            let report = analyze(&line);
            let mut field = Vec::new();
            write_field(&mut field, &report.findings);
            let field = String::from_utf8(field).unwrap();
            let json = field.trim_matches('"').replace("\"\"", "\"");
            let found: serde_json::Value = serde_json::from_str(&json).unwrap();
            let mut whole = serde_json::to_value(render::json::report(&line, &report, ()).findings).unwrap();
            for finding in whole.as_array_mut().unwrap() {
                let finding = finding.as_object_mut().unwrap();
                finding.remove("text");
                finding.remove("move");
            }
            assert_eq!(found, whole);
        }
    }

    #[test]
    fn numbers_are_decimal() {
        for n in [0, 7, -3, 10, 1234567, i32::MIN, i32::MAX] {
            let mut out = Vec::new();
            number(&mut out, n);
            assert_eq!(String::from_utf8(out).unwrap(), n.to_string());
        }
    }
}
