use nicteam_bundles::Kind;
use nicteam_watch::Snapshot;
use nicteam_watch::top::{Key, Model, rows, table};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;

use crate::common::{bundle, of, snapshot};

/// A view after two looks.
fn model(only: Option<&str>, look: impl Fn(u64) -> Snapshot) -> Model {
    let mut model = Model::new(only.map(str::to_owned), false);
    model.see(look(1));
    model.see(look(2));
    model
}

/// What stands on a terminal of this size, line by line.
fn drawn(model: &Model, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| model.draw(frame)).unwrap();
    let buffer = terminal.backend().buffer();
    let line = |y: u16| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned() + "\n";
    (0..height).map(line).collect()
}

/// Compares with a file; NICTEAM_BLESS=1 writes it.
#[track_caller]
pub(crate) fn assert_snapshot(name: &str, text: &str) {
    let path = format!("{}/tests/snapshots/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("NICTEAM_BLESS").is_some() {
        return std::fs::write(path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == expected, "{path} differs; it is now:\n{text}");
}

#[test]
fn all_kinds_of_bundles_at_the_size_of_old_terminals() {
    assert_snapshot("80x24", &drawn(&model(None, snapshot), 80, 24));
}

#[test]
fn little_room_shows_what_matters() {
    assert_snapshot("40x10", &drawn(&model(Some("team0"), snapshot), 40, 10));
}

fn many(second: u64) -> Snapshot {
    of((0..64).map(|n| bundle(&format!("team{n:02}"), Kind::Nicteam, "802.3ad", 4)).collect(), second)
}

#[test]
fn sixty_four_teams_are_scrolled_to_the_last_one() {
    let mut model = model(None, many);
    assert_snapshot("64-teams", &drawn(&model, 80, 24));
    assert!(model.press(Key::Scroll(10_000)));
    let end = drawn(&model, 80, 24);
    assert!(end.contains("team63m3") && !end.contains("team00 "), "{end}");
    assert!(model.press(Key::Scroll(-10_000)) && drawn(&model, 80, 24).contains("team00 "));
    assert!(model.press(Key::Home));
}

#[test]
fn every_size_of_a_terminal_is_drawn() {
    let model = model(None, snapshot);
    for width in (1..100).step_by(3) {
        for height in (1..40).step_by(3) {
            drawn(&model, width, height);
        }
    }
    drawn(&Model::new(None, false), 1, 1);
}

#[test]
fn keys_sort_change_units_and_stop_the_view() {
    let mut model = model(None, snapshot);
    let first = |model: &Model| model.view().unwrap().bundles[0].name.clone();
    assert_eq!(first(&model), "bond0");
    model.press(Key::Sort);
    assert_eq!(first(&model), "team0", "it sends most");
    assert!(drawn(&model, 80, 24).contains("600M"));
    model.press(Key::Unit);
    let bytes = drawn(&model, 80, 24);
    assert!(bytes.contains("byte/s") && bytes.contains("75.0M"), "{bytes}");
    model.press(Key::Unit);
    assert!(drawn(&model, 80, 24).contains("packets/s"));
    model.press(Key::Pause);
    let paused = drawn(&model, 80, 24);
    assert!(paused.contains("PAUSED"), "{paused}");
    model.see(snapshot(9));
    assert_eq!(drawn(&model, 80, 24), paused);
    model.press(Key::Pause);
    model.see(snapshot(10));
    assert_ne!(drawn(&model, 80, 24), paused);
    model.press(Key::Events);
    assert!(!drawn(&model, 80, 24).contains("EVENTS"));
    assert!(!model.press(Key::Quit));
}

#[test]
fn without_colours_there_is_none_and_with_them_what_is_down_is_red() {
    let colours = |has_colour: bool| {
        let mut model = Model::new(None, has_colour);
        model.see(snapshot(1));
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        terminal.draw(|frame| model.draw(frame)).unwrap();
        let cells = terminal.backend().buffer().content().iter();
        cells.map(|cell| cell.fg).filter(|colour| *colour != Color::Reset).collect::<Vec<_>>()
    };
    assert_eq!(colours(false), []);
    assert!(colours(true).contains(&Color::Red));
}

#[test]
fn names_steer_no_terminal() {
    let mut strange = bundle("a", Kind::OpenVSwitch, "balance-slb", 2);
    strange.name = "x\u{1b}[2J\u{9b}\n".to_owned();
    strange.members[0].name = "\u{7}m0".to_owned();
    let model = model(None, |second| of(vec![strange.clone()], second));
    let text = drawn(&model, 80, 24);
    assert!(text.chars().all(|character| character == '\n' || !character.is_control()) && text.contains("x?[2J??"));
    let table = table(model.view().unwrap());
    assert!(table.chars().all(|character| character == '\n' || !character.is_control()), "{table}");
}

#[test]
fn the_plain_table_says_the_same() {
    let view = rows(Some(&snapshot(1)), &snapshot(2), None);
    assert_snapshot("table", &table(&view));
    let json = serde_json::to_value(&view).unwrap();
    let member = &json["bundles"][2]["members"][1];
    assert_eq!((member["name"].as_str(), member["rate"]["tx_bps"].as_f64()), (Some("team0m1"), Some(200e6)));
    assert_eq!(rows(None, &snapshot(1), Some("none")).bundles, []);
    assert_eq!(rows(None, &snapshot(1), None).seconds, 0.0, "a first look has no rates");
}
