//! Rows of CSV: where they end, and their fields.

use std::borrow::Cow;

use crate::input::LONGEST_ROW;

/// A row of CSV.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record {
    /// Its length with its line end.
    pub(crate) end: usize,
    /// The column, counted from 0, whose quotes do not close: then the row is its first line only.
    pub(crate) broken: Option<usize>,
}

/// The first row of `bytes`; none if more bytes are needed to tell.
///
/// Quotes count where they open a field; between them, line ends do not end the row. Quotes that do not close within the
/// longest row are a mistake of that one line.
pub(crate) fn record(bytes: &[u8], at_end: bool) -> Option<Record> {
    let whole = |end| Some(Record { end, broken: None });
    let first = memchr::memchr(b'\n', bytes);
    let line = &bytes[..first.unwrap_or(bytes.len())];
    if line.len() > LONGEST_ROW || memchr::memchr(b'"', line).is_none() {
        return match first {
            Some(at) => whole(at + 1),
            None => whole(bytes.len()).filter(|_| at_end && !bytes.is_empty()),
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
            b'\n' if !quoted => return whole(at + 1),
            _ => {}
        }
        opens = !quoted && window.get(at) == Some(&b',');
        at += 1;
    }
    match first {
        Some(at) if at_end || window.len() == LONGEST_ROW => Some(Record { end: at + 1, broken: Some(column) }),
        None if at_end => Some(Record { end: bytes.len(), broken: quoted.then_some(column) }),
        _ => None,
    }
}

/// The fields of a row that stands without its line end.
pub(crate) fn split<'a>(row: &'a str, fields: &mut Vec<Cow<'a, str>>) {
    fields.clear();
    if memchr::memchr(b'"', row.as_bytes()).is_none() {
        let mut from = 0;
        for comma in memchr::memchr_iter(b',', row.as_bytes()) {
            fields.push(Cow::Borrowed(&row[from..comma]));
            from = comma + 1;
        }
        fields.push(Cow::Borrowed(&row[from..]));
        return;
    }
    let mut rest = Some(row);
    while let Some(text) = rest {
        let (field, after) = match text.strip_prefix('"') {
            Some(text) => quoted(text),
            None => {
                let end = text.find(',').unwrap_or(text.len());
                (Cow::Borrowed(&text[..end]), &text[end..])
            }
        };
        fields.push(field);
        rest = after.strip_prefix(',');
    }
}

/// A field behind its opening quote, and the text behind the field.
fn quoted(text: &str) -> (Cow<'_, str>, &str) {
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
        let mut fields = Vec::new();
        split(row, &mut fields);
        fields.iter().map(|field| field.to_string()).collect()
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
