//! Rows of CSV: where they end, and their fields.

use std::borrow::Cow;

use crate::input::LONGEST_ROW;

/// A row of CSV.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record {
    /// Its length with its line end.
    pub(crate) end: usize,
    /// Whether there is a quote in it; without one it is one line.
    pub(crate) quoted: bool,
    /// The column, counted from 0, whose quotes do not close: then the row is its first line only.
    pub(crate) broken: Option<usize>,
}

/// The first row of `bytes`; none if more bytes are needed to tell.
///
/// Quotes count where they open a field; between them, line ends do not end the row. Quotes that do not close within the
/// longest row are a mistake of that one line.
pub(crate) fn record(bytes: &[u8], at_end: bool) -> Option<Record> {
    let found = |end, quoted, broken| Some(Record { end, quoted, broken });
    let first = memchr::memchr(b'\n', bytes);
    let line = &bytes[..first.unwrap_or(bytes.len())];
    if line.len() > LONGEST_ROW || memchr::memchr(b'"', line).is_none() {
        return match first {
            Some(at) => found(at + 1, false, None),
            None if at_end && !bytes.is_empty() => found(bytes.len(), false, None),
            None => None,
        };
    }
    let window = &bytes[..bytes.len().min(LONGEST_ROW)];
    let (mut column, mut opens, mut quoted) = (0, true, false);
    let mut at = 0;
    while at < window.len() {
        match window[at] {
            b'"' if quoted && window.get(at + 1) == Some(&b'"') => at += 1,
            b'"' if quoted => quoted = false,
            b'"' if opens => quoted = true,
            b',' if !quoted => column += 1,
            b'\n' if !quoted => return found(at + 1, true, None),
            _ => {}
        }
        opens = !quoted && window.get(at) == Some(&b',');
        at += 1;
    }
    match first {
        Some(at) if at_end || window.len() == LONGEST_ROW => found(at + 1, true, Some(column)),
        None if at_end => found(bytes.len(), true, quoted.then_some(column)),
        _ => None,
    }
}

/// The fields of a row.
#[derive(Debug, Default)]
pub(crate) struct Row<'a> {
    row: &'a str,
    /// Where the fields begin, if none is in quotes.
    starts: Vec<usize>,
    /// The fields themselves, if one is.
    parts: Vec<Cow<'a, str>>,
}

impl<'a> Row<'a> {
    /// Row at hand.
    pub(crate) fn of(parts: Vec<Cow<'a, str>>) -> Row<'a> {
        Row { parts, ..Row::default() }
    }

    /// Takes up the fields of a row that stands without its line end; whether a quote may be in it is known.
    pub(crate) fn split(&mut self, row: &'a str, quoted: bool) {
        self.row = row;
        self.starts.clear();
        self.parts.clear();
        if !quoted {
            self.starts.push(0);
            self.starts.extend(memchr::memchr_iter(b',', row.as_bytes()).map(|comma| comma + 1));
            return;
        }
        let mut rest = Some(row);
        while let Some(text) = rest {
            let (field, after) = match text.strip_prefix('"') {
                Some(text) => unquoted(text),
                None => {
                    let end = text.find(',').unwrap_or(text.len());
                    (Cow::Borrowed(&text[..end]), &text[end..])
                }
            };
            self.parts.push(field);
            rest = after.strip_prefix(',');
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() + self.parts.len()
    }

    /// The field of that number, counted from 0.
    pub(crate) fn get(&self, n: usize) -> &str {
        match self.starts.get(n) {
            Some(start) => &self.row[*start..self.starts.get(n + 1).map_or(self.row.len(), |next| next - 1)],
            None => &self.parts[n],
        }
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|n| self.get(n))
    }
}

/// A field behind its opening quote, and the text behind the field.
fn unquoted(text: &str) -> (Cow<'_, str>, &str) {
    let mut field = Cow::Borrowed("");
    let mut from = 0;
    while let Some(quote) = text[from..].find('"').map(|at| from + at) {
        let part = &text[from..quote];
        if text[quote + 1..].starts_with('"') {
            field.to_mut().push_str(part);
            field.to_mut().push('"');
            from = quote + 2;
            continue;
        }
        field += part;
        // What stands between the closing quote and the comma belongs to the field, as it stands.
        let end = text[quote + 1..].find(',').map_or(text.len(), |at| quote + 1 + at);
        field += &text[quote + 1..end];
        return (field, &text[end..]);
    }
    (field + &text[from..], "")
}

/// Writes a field, in quotes where it needs them.
pub(crate) fn write_field(out: &mut Vec<u8>, field: &str) {
    if !field.contains(['"', ',', '\n', '\r']) {
        out.extend_from_slice(field.as_bytes());
        return;
    }
    out.push(b'"');
    for (n, part) in field.split('"').enumerate() {
        out.extend_from_slice(if n == 0 { b"" } else { b"\"\"" });
        out.extend_from_slice(part.as_bytes());
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(row: &str) -> Vec<String> {
        let mut fields = Row::default();
        fields.split(row, true);
        let all: Vec<String> = fields.iter().map(str::to_owned).collect();
        if !row.contains('"') {
            fields.split(row, false);
            assert_eq!(fields.iter().collect::<Vec<_>>(), all);
        }
        all
    }

    #[test]
    fn fields_are_split_at_commas_outside_quotes() {
        assert_eq!(fields("a,,c"), ["a", "", "c"]);
        assert_eq!(fields(""), [""]);
        assert_eq!(fields("\"a,b\",c,"), ["a,b", "c", ""]);
        assert_eq!(fields("\"say \"\"x\"\"\",a\"b"), ["say \"x\"", "a\"b"]);
        assert_eq!(fields("\"a\"b,\"\""), ["ab", ""]);
        assert_eq!(fields("\"open,b"), ["open,b"]);
    }

    #[test]
    fn rows_end_at_line_ends_outside_quotes() {
        let end = |text: &str, at_end| record(text.as_bytes(), at_end).map(|record| (record.end, record.broken));
        assert_eq!(end("a,b\nc", false), Some((4, None)));
        assert_eq!(end("a,b", false), None);
        assert_eq!(end("a,b", true), Some((3, None)));
        assert_eq!(end("", true), None);
        assert_eq!(end("a,\"b\nc\"\nd", false), Some((8, None)));
        assert_eq!(end("a\"b\nc", false), Some((4, None)));
        assert_eq!(end("a,\"b\nc", false), None);
        assert_eq!(end("a,\"b\nc", true), Some((5, Some(1))));
        assert_eq!(end("a,\"b", true), Some((4, Some(1))));
        assert_eq!(end("\"\"\"\n\"\n", true), Some((6, None)));
    }

    #[test]
    fn what_is_written_is_read_again() {
        for field in ["", "a", "a b", "a,b", "\"", "a\"\"b", "x\ny"] {
            let mut out = Vec::new();
            write_field(&mut out, field);
            assert_eq!(fields(std::str::from_utf8(&out).unwrap()), [field]);
        }
    }
}
