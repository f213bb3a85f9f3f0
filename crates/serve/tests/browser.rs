//! What a real browser makes of the pages: clicks, keys, and changes that come by themselves.

use crate::common::{Served, record, with_hosts, with_traffic, write};
use crate::devtools::{Browser, chromium};

const CHART: &str = "svg[data-time]";
const READOUT: &str = "document.querySelector('.readout')?.textContent";
const ETH0: &str = "document.querySelector('svg[data-time] g[data-kbps] path').getAttribute('d')";
const TICKS: &str = "[...document.querySelector('svg[data-time]').querySelectorAll(':scope > text')]\
    .filter((one) => one.style.display !== 'none').map((one) => one.textContent).join()";

#[test]
fn pages_answer_to_pointer_and_keys_and_follow_the_folder() {
    let Some(program) = chromium() else {
        return eprintln!("SKIPPED: no chromium");
    };
    let served = Served::new();
    with_traffic(&served.dir, "traffic", "Some traffic");
    let mut browser = Browser::start(&program);
    let at = |path: &str| format!("http://{}{path}", served.address);
    browser.open(&at("/bundles/traffic"), 1400);
    chart(&mut browser);
    keys(&mut browser);
    with_hosts(&served.dir, "many", "Like hosts", &["h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8"]);
    browser.open(&at("/bundles/many"), 1400);
    heat_map(&mut browser);
    std::fs::remove_dir_all(served.dir.join("many")).unwrap();
    for path in ["/", "/bundles/traffic", "/predict", "/compare?a=traffic&b=traffic"] {
        browser.open(&at(path), 400);
        assert_eq!(browser.value("document.documentElement.scrollWidth"), 400, "{path}");
    }
    browser.complaints.retain(|complaint| !complaint.contains("422"));

    browser.open(&at("/"), 1400);
    browser.until("document.querySelector('#live').textContent === 'live'");
    write(&served.dir, "second", &record("Came later", "2026-11-04T10:00:00Z"));
    browser.until("document.body.innerText.includes('Came later')");
    browser.value("document.querySelector('.search input').focus()");
    browser.call("Input.insertText", serde_json::json!({ "text": "traffic" }));
    browser.until("!document.body.innerText.includes('Came later') && location.search === '?q=traffic'");

    // As `nicteam lab run` does it: the folder gets its name when the bundle is whole.
    let making = served.dir.join("now.partial");
    std::fs::create_dir_all(making.join("samples")).unwrap();
    browser.open(&at("/bundles/now.partial"), 1400);
    browser.until("document.querySelector('#live').textContent === 'live'");
    std::fs::rename(served.dir.join("second"), served.dir.join("now")).unwrap();
    std::fs::remove_dir_all(making).unwrap();
    browser.until("location.pathname === '/bundles/now' && document.body.innerText.includes('Came later')");

    browser.open(&at("/predict"), 1400);
    browser.value("document.querySelector('#members').focus()");
    browser.key("Home");
    browser.until("document.querySelector('.verdict').innerText.startsWith('8 flows over 1 × 1 Gbit/s')");
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

/// Values under the pointer, zoom, and a member switched off.
fn chart(browser: &mut Browser) {
    let middle = browser.place(CHART, [0.5, 0.3]);
    browser.mouse("mouseMoved", middle, 0);
    assert_eq!(browser.value(READOUT).as_str().map(|text| &text[6..]), Some("\neth0  30.0 Mbit/s\neth1  60.0 Mbit/s"));
    let (whole, ticks) = (browser.value(ETH0), browser.value(TICKS));
    assert_eq!(ticks, "0 s,1,2,3,4");

    let [from, to] = [[0.4, 0.3], [0.6, 0.3]].map(|part| browser.place(CHART, part));
    browser.mouse("mousePressed", from, 1);
    browser.mouse("mouseMoved", to, 0);
    browser.mouse("mouseReleased", to, 1);
    let zoomed = browser.value(TICKS);
    // From 1.43 to 2.41 s.
    assert_eq!(zoomed, "1.6 s,1.8,2,2.2,2.4");
    let panels = browser.value(
        "new Set([...document.querySelectorAll('svg[data-time]')].map((one) => one.textContent.includes('1.8'))).size",
    );
    assert_eq!(panels, 1, "all panels of a run have the same time");
    browser.click(middle, 2);
    assert_eq!((browser.value(ETH0), browser.value(TICKS)), (whole, ticks));

    let name = browser.place("svg[data-time] .dev", [0.5, 0.5]);
    browser.click(name, 1);
    assert_eq!(browser.value("document.querySelectorAll('.traffic g.off').length"), 2, "sent and received");
    browser.mouse("mouseMoved", middle, 0);
    assert_eq!(browser.value(READOUT).as_str().map(|text| &text[6..]), Some("\neth1  60.0 Mbit/s"));
    browser.click(name, 1);
    assert_eq!(browser.value("document.querySelectorAll('.traffic g.off').length"), 0);
}

/// The same by keys.
fn keys(browser: &mut Browser) {
    browser.value("document.querySelector('svg[data-time]').focus()");
    browser.key("Home");
    browser.key("ArrowRight");
    assert_eq!(browser.value(READOUT), "0.07 s\neth0  30.0 Mbit/s\neth1  60.0 Mbit/s");
    let ticks = browser.value(TICKS);
    browser.key("+");
    assert_ne!(browser.value(TICKS), ticks);
    browser.key("0");
    assert_eq!(browser.value(TICKS), ticks);
    browser.key("Escape");
    assert_eq!(browser.value(READOUT), serde_json::Value::Null);
    browser.value("document.querySelector('svg[data-time] .dev').focus()");
    browser.key("Enter");
    assert_eq!(browser.value("document.querySelector('.dev').getAttribute('aria-pressed')"), "false");
    browser.key("Enter");
    assert_eq!(browser.value("document.querySelector('.dev').getAttribute('aria-pressed')"), "true");
}

/// The member and its load below the pointer, and by keys.
fn heat_map(browser: &mut Browser) {
    let map = "svg[data-loads]";
    assert_eq!(browser.value("document.querySelectorAll('svg[data-loads]').length"), 2, "sent and received");
    // Nine rows of eth0, those of eth1, and the axis.
    let height = browser.value("document.querySelector('svg[data-loads]').viewBox.baseVal.height").as_f64().unwrap();
    let rows = browser.value("document.querySelector('svg[data-loads]').dataset.loads").as_str().unwrap().to_owned();
    let of = |name: &str| rows.lines().find(|row| row.ends_with(name)).and_then(|row| row.split('|').next()).unwrap();
    let at = |name: &str| (of(name).parse::<f64>().unwrap() + 1.0) / height;
    for (name, load) in [("h0 eth0", "30.0"), ("h8 eth0", "30.0"), ("h3 eth1", "60.0")] {
        let place = browser.place(map, [0.5, at(name)]);
        browser.mouse("mouseMoved", place, 0);
        let readout = browser.value(READOUT);
        let said = readout.as_str().and_then(|text| text.split_once('\n')).map(|(_, said)| said);
        assert_eq!(said, Some(format!("{name}  {load} % of its link").as_str()), "{readout}");
    }
    browser.value("document.querySelector('svg[data-loads]').focus()");
    browser.key("ArrowDown");
    assert!(browser.value(READOUT).as_str().is_some_and(|text| text.contains("h4 eth1  60.0 %")));
    browser.key("Escape");
    assert_eq!(browser.value(READOUT), serde_json::Value::Null);
}
