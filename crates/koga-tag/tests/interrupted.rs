//! A pipe that is cut in the middle of a row because all that feeds it is interrupted, and the run a moment later.

use std::{
    fs,
    io::Cursor,
    path::Path,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use koga_tag::{End, Format, Input, Options, Silent, Summary, Target, Watch, run};

const ROW: &str = "r3k3/7b/8/3N4/8/8/8/4K3 b - - 0 1,h7g6 d5c7 e8d8 c7a8,fork\n";

fn tag(text: &[u8], path: &Path, options: &Options, watch: &dyn Watch, stop: &AtomicBool) -> Summary {
    let input = Input { name: "pipe".into(), reader: Box::new(Cursor::new(text.to_vec())), size: None };
    run(input, Target::File(path.to_owned()), options, watch, stop).unwrap()
}

/// Interrupts the run behind so many rows.
struct Interrupts<'s>(u64, &'s AtomicBool);

impl Watch for Interrupts<'_> {
    fn progress(&self, rows: u64, _: u64) {
        self.1.fetch_or(rows >= self.0, Relaxed);
    }
}

#[test]
fn a_row_that_the_interruption_cut_is_read_again() {
    let text = format!("FEN,Moves,Themes\n{}", ROW.repeat(75_000));
    let cut = text.len() - 30 * ROW.len() - ROW.len() / 2;
    for format in [Format::Csv, Format::Parquet] {
        let folder = tempfile::tempdir().unwrap();
        let (whole, out) = (folder.path().join("whole"), folder.path().join("out"));
        let options = Options::new(format);
        assert_eq!(tag(text.as_bytes(), &whole, &options, &Silent, &AtomicBool::new(false)).bad, 0);

        let stop = AtomicBool::new(false);
        let first = tag(&text.as_bytes()[..cut], &out, &options, &Interrupts(75_000 - 31, &stop), &stop);
        assert_eq!((first.rows, first.end), (75_000 - 31, End::Stopped));
        let options = Options { resume: true, ..options };
        let second = tag(text.as_bytes(), &out, &options, &Silent, &AtomicBool::new(false));
        assert_eq!((second.rows, second.bad, second.end), (75_000, 0, End::Whole));
        assert!(fs::read(&out).unwrap() == fs::read(&whole).unwrap(), "{format:?}");
    }
}
