//! Runs that are repeated.

use nicteam_experiment::{Overrides, parse};

const FILE: &str = "title = \"x\"\nlinks = [{ between = [\"a\", \"b\"] }]\n[hosts]\na = {}\nb = {}\n[workloads.w]\nkind = \"tcp\"\n\
    from = \"a\"\nto = \"b\"\n[[runs]]\nname = \"one\"\nworkloads = \"w\"\n[[runs]]\nname = \"two\"\nworkloads = \"w\"\n";

#[test]
fn runs_go_forward_and_backward_in_turn() {
    let names = |text: &str| {
        let repeated = parse("x", "x.toml", text, &Overrides::default()).unwrap().repeated(3);
        assert_eq!((repeated.repeat, repeated.overrides.as_slice()), (3, &["repeat=3".to_owned()][..]));
        repeated.runs.into_iter().map(|run| run.name).collect::<Vec<_>>()
    };
    assert_eq!(names(FILE), ["two@1", "one@1", "one@2", "two@2", "two@3", "one@3"]);
    let other = FILE.replace("links =", "defaults = { seed = 2 }\nlinks =");
    assert_eq!(names(&other)[..4], ["one@1", "two@1", "two@2", "one@2"]);
    let later = parse("x", "x.toml", FILE, &Overrides::default()).unwrap().rounds(4, 1);
    assert_eq!(later.runs.iter().map(|run| run.name.as_str()).collect::<Vec<_>>(), ["one@4", "two@4"]);
    assert!(later.runs.iter().all(|run| run.repetition.as_ref().is_some_and(|it| it.number == 4)));
    let once = parse("x", "x.toml", FILE, &Overrides::default()).unwrap();
    assert_eq!(once.clone().repeated(1), once);
}
