//! What every HTML page of the program needs.

/// Text as it stands in HTML, within elements and quoted attributes.
///
/// ```
/// assert_eq!(koga_cli::html::escape("a < \"b\""), "a &lt; &quot;b&quot;");
/// ```
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
