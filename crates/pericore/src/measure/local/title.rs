//! What is measured, in words.

use std::ffi::OsString;

use pericore_observe::linux::Host;
use pericore_observe::plan::Plan;
use pericore_text::on_one_line;

/// What is measured, above the table.
pub fn title(words: &[OsString], host: &Host, plan: &Plan, stand_in: Option<String>) -> String {
    let processor = &host.processor.brand;
    let name = if processor.is_empty() { plan.selection.family.name } else { processor.as_str() };
    let sockets = plan.sockets.len();
    let plural = if sockets == 1 { "" } else { "s" };
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let what = if words.is_empty() { "system wide".to_owned() } else { on_one_line(&words.join(" ")) };
    let emulated = stand_in.map_or_else(String::new, |machine| format!("EMULATED {machine}: "));
    format!("{emulated}{name}, {sockets} socket{plural}: {what}")
}
