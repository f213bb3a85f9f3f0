//! A bundle from a stranger: nothing outside it is read or written, and nothing in it hangs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use nicteam_record::{Bundle, BundleError, Folder, MAX_RECORD_BYTES, MAX_SAMPLES_BYTES, PAGE, RECORD};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

/// A record and its samples, made by a lab.
const RECORDED: &str = include_str!("../../../fuzz/corpus/record/two-teams");

/// A bundle in a folder of its own, in one that is a stranger's neighbour; both go with it.
struct Fixture {
    around: PathBuf,
    dir: PathBuf,
}

impl Fixture {
    fn new(name: &str) -> Fixture {
        let around = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("bundle-{name}-{}", std::process::id()));
        let dir = around.join("bundle");
        fs::create_dir_all(dir.join("samples")).unwrap();
        let fixture = Fixture { around, dir };
        let (record, samples) = RECORDED.split_once("\n\n").unwrap();
        fs::write(fixture.dir.join(RECORD), record).unwrap();
        fs::write(fixture.samples(), samples).unwrap();
        fs::write(fixture.outside(), samples).unwrap();
        fixture
    }

    /// The file that the record's first run names.
    fn samples(&self) -> PathBuf {
        self.dir.join(&Bundle::open(&self.dir).unwrap().record.runs[0].samples)
    }

    /// A file beside the bundle, which is none of its own.
    fn outside(&self) -> PathBuf {
        self.around.join("outside")
    }

    /// Reads the samples under another name.
    fn read(&self, name: &str) -> Result<usize, BundleError> {
        let mut bundle = Bundle::open(&self.dir)?;
        bundle.record.runs[0].samples = name.to_owned();
        bundle.samples(&bundle.record.runs[0]).map(|samples| samples.len())
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.around);
    }
}

#[test]
fn its_own_files_are_read_and_its_page_is_replaced() {
    let fixture = Fixture::new("own");
    let bundle = Bundle::open(&fixture.dir).unwrap();
    assert!(!bundle.samples(&bundle.record.runs[0]).unwrap().is_empty());
    for page in ["one", "another"] {
        bundle.write_page(page).unwrap();
        assert_eq!(fs::read_to_string(fixture.dir.join(PAGE)).unwrap(), page);
    }
    bundle.write_record().unwrap();
    assert_eq!(Bundle::open(&fixture.dir).unwrap().record, bundle.record);
    let left: Vec<_> = fs::read_dir(&fixture.dir).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left.len(), 3, "record, samples and page: {left:?}");
}

#[test]
fn the_way_to_a_bundle_may_be_a_link() {
    let fixture = Fixture::new("way");
    let link = fixture.around.join("link");
    symlink(&fixture.dir, &link).unwrap();
    Bundle::open(&link).unwrap().write_page("page").unwrap();
    assert_eq!(fs::read_to_string(fixture.dir.join(PAGE)).unwrap(), "page");
}

#[test]
fn a_page_that_is_a_link_is_not_followed() {
    let fixture = Fixture::new("page");
    let before = fs::read(fixture.outside()).unwrap();
    for target in [fixture.outside(), fixture.around.join("new")] {
        symlink(&target, fixture.dir.join(PAGE)).unwrap();
        let refused = Bundle::open(&fixture.dir).unwrap().write_page("page").unwrap_err();
        assert!(matches!(refused, BundleError::NotRegular { found: "symbolic link", .. }), "{refused}");
        fs::remove_file(fixture.dir.join(PAGE)).unwrap();
    }
    assert_eq!(fs::read(fixture.outside()).unwrap(), before);
    assert!(!fixture.around.join("new").exists());
}

#[test]
fn a_page_that_is_a_file_elsewhere_too_is_not_written_into() {
    let fixture = Fixture::new("hard-link");
    let before = fs::read(fixture.outside()).unwrap();
    fs::hard_link(fixture.outside(), fixture.dir.join(PAGE)).unwrap();
    Bundle::open(&fixture.dir).unwrap().write_page("page").unwrap();
    assert_eq!(fs::read(fixture.outside()).unwrap(), before);
    assert_eq!(fs::read_to_string(fixture.dir.join(PAGE)).unwrap(), "page");
}

#[test]
fn names_that_lead_out_of_the_bundle_are_refused() {
    let fixture = Fixture::new("names");
    let absolute = fixture.outside().to_str().unwrap().to_owned();
    let deep = "a/".repeat(20) + "a";
    let long = "a".repeat(600);
    for (name, why) in [
        ("/dev/zero", "an absolute path"),
        (&absolute, "an absolute path"),
        ("../outside", "a path with `..`"),
        ("samples/../../outside", "a path with `..`"),
        ("", "no plain name"),
        ("./outside", "no plain name"),
        ("samples//outside", "no plain name"),
        ("samples/\u{1b}[2J", "no plain name"),
        (&deep, "too long"),
        (&long, "too long"),
    ] {
        let refused = fixture.read(name).unwrap_err();
        assert!(matches!(refused, BundleError::Name { why: found, .. } if found == why), "{name:?}: {refused}");
        assert!(!refused.to_string().chars().any(char::is_control), "{refused:?}");
    }
}

#[test]
fn links_on_the_way_to_a_file_are_refused() {
    let fixture = Fixture::new("links");
    symlink(fixture.outside(), fixture.dir.join("samples/link")).unwrap();
    symlink(&fixture.around, fixture.dir.join("folder")).unwrap();
    for (name, wanted) in [("samples/link", "regular file"), ("folder/outside", "folder")] {
        let refused = fixture.read(name).unwrap_err();
        let said =
            matches!(refused, BundleError::NotRegular { found: "symbolic link", wanted: found, .. } if found == wanted);
        assert!(said, "{name}: {refused}");
    }
    fs::rename(fixture.dir.join(RECORD), fixture.around.join(RECORD)).unwrap();
    symlink(fixture.around.join(RECORD), fixture.dir.join(RECORD)).unwrap();
    assert!(matches!(Bundle::open(&fixture.dir), Err(BundleError::NotRegular { found: "symbolic link", .. })));
}

#[test]
fn nobody_waits_for_a_fifo() {
    let fixture = Fixture::new("fifo");
    for name in ["samples/fifo", RECORD, PAGE] {
        let _ = fs::remove_file(fixture.dir.join(name));
        if name == PAGE {
            continue;
        }
        mkfifo(&fixture.dir.join(name), Mode::from_bits_truncate(0o600)).unwrap();
        let refused = Folder::open(&fixture.dir).unwrap().read(name, 10).unwrap_err();
        assert!(matches!(refused, BundleError::NotRegular { found: "FIFO", .. }), "{name}: {refused}");
    }
    mkfifo(&fixture.dir.join(PAGE), Mode::from_bits_truncate(0o600)).unwrap();
    let refused = Folder::open(&fixture.dir).unwrap().write(PAGE, "page").unwrap_err();
    assert!(matches!(refused, BundleError::NotRegular { found: "FIFO", .. }), "{refused}");
}

#[test]
fn a_folder_is_no_file() {
    let fixture = Fixture::new("folder");
    let refused = fixture.read("samples").unwrap_err();
    assert!(matches!(refused, BundleError::NotRegular { found: "folder", .. }), "{refused}");
}

#[test]
fn files_without_end_are_not_read() {
    let fixture = Fixture::new("large");
    // Nothing but holes: they take no room.
    let large = |path: PathBuf, bytes| fs::File::options().write(true).open(path).unwrap().set_len(bytes).unwrap();
    large(fixture.samples(), MAX_SAMPLES_BYTES + 1);
    let bundle = Bundle::open(&fixture.dir).unwrap();
    let refused = bundle.samples(&bundle.record.runs[0]).unwrap_err();
    assert!(matches!(refused, BundleError::TooLarge { max_bytes: MAX_SAMPLES_BYTES, .. }), "{refused}");
    large(fixture.dir.join(RECORD), MAX_RECORD_BYTES + 1);
    let refused = Bundle::open(&fixture.dir).unwrap_err();
    assert!(matches!(refused, BundleError::TooLarge { max_bytes: MAX_RECORD_BYTES, .. }), "{refused}");
}

#[test]
fn one_file_of_samples_is_not_read_for_many_runs() {
    let fixture = Fixture::new("shared");
    let mut bundle = Bundle::open(&fixture.dir).unwrap();
    let again = bundle.record.runs[0].clone();
    bundle.record.runs.push(again);
    bundle.write_record().unwrap();
    assert!(matches!(Bundle::open(&fixture.dir), Err(BundleError::Shared { .. })));
}

/// Bundles that a lab wrote before records carried findings and events.
#[test]
fn older_bundles_are_read_whole() {
    for name in ["two-hosts", "switch-teams"] {
        let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../report/tests/bundles").join(name);
        let bundle = Bundle::open(&dir).unwrap();
        for run in &bundle.record.runs {
            assert!(bundle.samples(run).unwrap().len() > 40, "{name}: {}", run.name);
            assert!(run.events.is_empty() && run.findings.is_empty());
        }
    }
}
