//! Chromium without a window, driven by its DevTools protocol over two pipes.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::{Value, json};

/// What a browser can take; loading one takes some seconds on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// A browser with one page; ends with this value.
pub struct Browser {
    child: Child,
    folder: PathBuf,
    to: File,
    from: BufReader<File>,
    session: String,
    number: u64,
    /// What pages complained about.
    pub complaints: Vec<String>,
}

/// The program, if it is there.
pub fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("chromium")).find(|file| file.exists())
}

impl Browser {
    pub fn start(program: &Path) -> Browser {
        let folder = std::env::temp_dir().join(format!("nicteam-chromium-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let pipes = ["to", "from"].map(|name| folder.join(name));
        let open = |pipe: &PathBuf| {
            let _ = fs::remove_file(pipe);
            mkfifo(pipe, Mode::S_IRWXU).unwrap();
            // To both directions, so that opening does not wait for a browser that does not start.
            OpenOptions::new().read(true).write(true).open(pipe).unwrap()
        };
        let (to, from) = (open(&pipes[0]), open(&pipes[1]));
        // It reads commands from descriptor 3 and answers at 4.
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$0\" \"$@\" 3<\"$TO\" 4>\"$FROM\""]).arg(program).env("TO", &pipes[0]);
        command
            .env("FROM", &pipes[1])
            .env("HOME", &folder)
            .arg(format!("--user-data-dir={}", folder.join("data").display()));
        command.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-sync",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-dev-shm-usage",
            "--remote-debugging-pipe",
            "about:blank",
        ]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let (session, complaints) = (String::new(), Vec::new());
        let mut browser = Browser { child, folder, to, from: BufReader::new(from), session, number: 0, complaints };
        let targets = browser.call("Target.getTargets", json!({}));
        let page = targets["targetInfos"].as_array().unwrap().iter().find(|one| one["type"] == "page").unwrap();
        let attached = browser.call("Target.attachToTarget", json!({ "targetId": page["targetId"], "flatten": true }));
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            browser.call(domain, json!({}));
        }
        browser
    }

    /// Carries out a command of the protocol.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.answer(method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// The same; the error is what the browser says.
    fn answer(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        self.number += 1;
        let mut command = json!({ "id": self.number, "method": method, "params": params });
        if !self.session.is_empty() {
            command["sessionId"] = json!(self.session);
        }
        self.to.write_all(format!("{command}\0").as_bytes()).unwrap();
        loop {
            let mut message = Vec::new();
            self.from.read_until(0, &mut message).unwrap();
            message.pop();
            let message: Value = serde_json::from_slice(&message).unwrap();
            let named = message["method"].as_str().unwrap_or_default();
            if matches!(named, "Log.entryAdded" | "Runtime.exceptionThrown") {
                self.complaints.push(message["params"].to_string());
            }
            if message["id"] == self.number {
                let error = &message["error"];
                return if error.is_null() { Ok(message["result"].clone()) } else { Err(error.clone()) };
            }
        }
    }

    /// The value of an expression.
    #[track_caller]
    pub fn value(&mut self, expression: &str) -> Value {
        self.evaluated(expression).unwrap_or_else(|error| panic!("{expression}: {error}"))
    }

    fn evaluated(&mut self, expression: &str) -> Result<Value, Value> {
        let params = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let result = self.answer("Runtime.evaluate", params)?;
        if result["exceptionDetails"].is_null() { Ok(result["result"]["value"].clone()) } else { Err(result) }
    }

    /// Waits until an expression is true. A page that is being loaded has no value yet.
    #[track_caller]
    pub fn until(&mut self, expression: &str) {
        let begun = Instant::now();
        while self.evaluated(expression) != Ok(json!(true)) {
            assert!(
                begun.elapsed() < PATIENCE,
                "{expression}; the page: {:?}",
                self.evaluated("document.body.innerText")
            );
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Goes to a page of this width.
    pub fn open(&mut self, address: &str, width: u32) {
        let screen = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", screen);
        self.call("Page.navigate", json!({ "url": address }));
        self.until(&format!("document.readyState === 'complete' && location.href === '{address}'"));
    }

    /// The place of a part of an element, from 0 to 1 in width and height, on the screen.
    pub fn place(&mut self, element: &str, [x, y]: [f64; 2]) -> [f64; 2] {
        let found = self.value(&format!(
            "(() => {{ const one = document.querySelector(`{element}`); one.scrollIntoView({{ block: 'center' }}); \
             const box = one.getBoundingClientRect(); return [box.left, box.top, box.width, box.height]; }})()"
        ));
        let sizes: Vec<f64> = serde_json::from_value(found).unwrap();
        [sizes[0] + x * sizes[2], sizes[1] + y * sizes[3]]
    }

    pub fn mouse(&mut self, kind: &str, [x, y]: [f64; 2], clicks: u32) {
        let button = if kind == "mouseMoved" { "none" } else { "left" };
        self.call(
            "Input.dispatchMouseEvent",
            json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": clicks }),
        );
    }

    pub fn click(&mut self, at: [f64; 2], clicks: u32) {
        for click in 1..=clicks {
            self.mouse("mousePressed", at, click);
            self.mouse("mouseReleased", at, click);
        }
    }

    pub fn key(&mut self, key: &str) {
        self.call("Input.dispatchKeyEvent", json!({ "type": "keyDown", "key": key }));
        self.call("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key }));
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Its other processes end by themselves, and may still write.
        for _ in 0..50 {
            if fs::remove_dir_all(&self.folder).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
