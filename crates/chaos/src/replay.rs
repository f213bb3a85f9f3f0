//! An experiment file with a run of random faults -> one with these faults.

use toml::{Table, Value};

/// The file with this run alone, and with these faults in it, each as a file has it. Comments are lost.
///
/// # Errors
/// The text is no TOML, or has no such run.
pub fn replay(text: &str, run: &str, faults: &[String]) -> Result<String, String> {
    let mut file: Table = text.parse().map_err(|error| format!("not understood: {error}"))?;
    let events = format!("events = [{}]", faults.join(", ")).parse::<Table>();
    let events = events.map_err(|error| format!("faults that are not understood: {error}"))?;
    let runs = file.get("runs").and_then(Value::as_array).cloned().unwrap_or_default();
    let is_named = |table: &Table| table.get("name").and_then(Value::as_str) == Some(run);
    let mut found = runs.into_iter().find_map(|value| match value {
        Value::Table(table) if is_named(&table) => Some(table),
        _ => None,
    });
    let found = found.as_mut().ok_or_else(|| format!("there is no run `{run}`"))?;
    // What other runs and records are needed for goes with them.
    ["chaos", "events", "compared_with"].into_iter().for_each(|key| drop(found.remove(key)));
    if !faults.is_empty() {
        found.extend(events);
    }
    file.remove("expect");
    file.insert("runs".to_owned(), Value::Array(vec![Value::Table(found.clone())]));
    Ok(file.to_string())
}
