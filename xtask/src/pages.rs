//! `docs/tactics`, made from the sources and the corpus, and the pieces of the board in the browser.

use std::{collections::BTreeSet, fs};

use koga::{
    render::diagram,
    shakmaty::{Color, Role},
};

use crate::{root, settle};

const FOLDER: &str = "docs/tactics";

/// Writes or compares the pages; files that no page makes any more are removed or named.
pub fn run(check: bool) -> Result<(), String> {
    let pages = koga_cli::pages::markdown();
    for page in &pages {
        settle(&format!("{FOLDER}/{}", page.path), &page.text, check)?;
    }
    let made: BTreeSet<&str> = pages.iter().map(|page| page.path.as_str()).collect();
    for stale in files("")?.into_iter().filter(|path| !made.contains(path.as_str())) {
        if check {
            return Err(format!("{FOLDER}/{stale} belongs to no page: run `cargo xtask bless`"));
        }
        fs::remove_file(root().join(FOLDER).join(&stale)).map_err(|err| format!("{stale}: {err}"))?;
    }
    for piece in Role::ALL.into_iter().flat_map(|role| Color::ALL.map(|color| role.of(color))) {
        let name = format!("{}{}", piece.color.char(), piece.role.upper_char());
        settle(&format!("web/pieces/{name}.svg"), &diagram::piece(piece), check)?;
    }
    Ok(())
}

/// Every file below the folder, as a path within it.
fn files(below: &str) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    let folder = root().join(FOLDER).join(below);
    for entry in fs::read_dir(&folder).map_err(|err| format!("{}: {err}", folder.display()))? {
        let entry = entry.map_err(|err| err.to_string())?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name } else { format!("{below}/{name}") };
        if entry.path().is_dir() { found.extend(files(&path)?) } else { found.push(path) }
    }
    found.sort();
    Ok(found)
}
