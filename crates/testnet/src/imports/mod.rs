//! Which source files of a crate import each other.
//!
//! A file that can be read, tested and moved by itself imports no file that imports it, however far around. A test
//! asks [`circles`] for those that do:
//!
//! ```no_run
//! let circles = nicteam_testnet::imports::circles("src".as_ref());
//! assert!(circles.is_empty(), "{circles:#?}");
//! ```
//!
//! A file imports another one if it names something there, by `use` or by a path (`device::find()`). What is
//! re-exported (`pub use`) counts where it is defined, so that a `lib.rs` or `mod.rs` that only collects its modules
//! is in nobody's way; declaring a module (`mod device;`) is no import. Tests (`#[cfg(test)]`) may import anything.
//! It reads the text, not the compiler's mind: of what a macro writes, and of methods, it knows nothing.

mod source;
mod tokens;

use std::collections::BTreeSet;
use std::path::Path;

use source::{Path as Names, Scope};

/// Groups of files, each of which imports every other one of its group directly or through others. The names count from
/// `folder`, which holds the crate's `lib.rs` or `main.rs`.
///
/// # Panics
/// There is no such file, or one cannot be read.
pub fn circles(folder: &Path) -> Vec<Vec<String>> {
    let (files, scopes) = source::read(folder);
    let imports = imports(files.len(), &scopes);
    let reached: Vec<BTreeSet<usize>> = (0..files.len()).map(|file| reached_from(file, &imports)).collect();
    let mut circles: Vec<Vec<String>> = Vec::new();
    let mut seen = BTreeSet::new();
    for file in 0..files.len() {
        let circle: Vec<usize> =
            reached[file].iter().copied().filter(|other| reached[*other].contains(&file)).collect();
        if !circle.is_empty() && seen.insert(circle.clone()) {
            let mut names: Vec<String> = circle.into_iter().map(|file| files[file].clone()).collect();
            names.sort();
            circles.push(names);
        }
    }
    circles
}

/// By file: those that it imports, itself never among them.
fn imports(files: usize, scopes: &[Scope]) -> Vec<BTreeSet<usize>> {
    let mut imports = vec![BTreeSet::new(); files];
    for scope in scopes {
        let private = scope.imports.values().filter(|import| !import.is_exported).map(|import| &import.path);
        let re_exported = |path: &&Names| match path.as_slice() {
            [name] => scope.imports.get(name).is_some_and(|import| import.is_exported),
            _ => true,
        };
        let used = scope.used.iter().filter(re_exported);
        let named = private.chain(used).flat_map(|path| defining(scopes, scope, path, DEEPEST));
        let whole = scope.globs.iter().filter(|glob| !glob.is_exported);
        let whole = whole.filter_map(|glob| absolute(scopes, scope, &glob.path, DEEPEST));
        let whole = whole.flat_map(|module| at(scopes, &module).map(|scope| scope.file).collect::<Vec<_>>());
        imports[scope.file].extend(named.chain(whole).filter(|file| *file != scope.file));
    }
    imports
}

fn reached_from(file: usize, imports: &[BTreeSet<usize>]) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<usize> = imports[file].iter().copied().collect();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(&imports[next]);
        }
    }
    reached
}

/// Re-exports that are followed one after the other: more are a circle among themselves.
const DEEPEST: u32 = 16;

/// The scopes of a module: more than one if `cfg` chooses its file.
fn at<'a>(scopes: &'a [Scope], module: &'a [String]) -> impl Iterator<Item = &'a Scope> {
    scopes.iter().filter(move |scope| scope.module == module)
}

/// A path as seen from the crate's root; none if it leads out of the crate.
fn absolute(scopes: &[Scope], scope: &Scope, path: &[String], deepest: u32) -> Option<Names> {
    let (first, rest) = path.split_first()?;
    let join = |start: &[String], rest: &[String]| [start, rest].concat();
    let child = join(&scope.module, std::slice::from_ref(first));
    match first.as_str() {
        "crate" => Some(rest.to_vec()),
        "self" => Some(join(&scope.module, rest)),
        "super" => {
            let (mut module, mut rest) = (scope.module.as_slice(), path);
            while let Some(("super", behind)) = rest.split_first().map(|(name, behind)| (name.as_str(), behind)) {
                (module, rest) = (module.split_last()?.1, behind);
            }
            Some(join(module, rest))
        }
        _ if at(scopes, &child).next().is_some() || scope.defined.contains(first) => Some(join(&scope.module, path)),
        name => {
            let import = scope.imports.get(name).filter(|import| import.path.first() != Some(first))?;
            absolute(scopes, scope, &join(&import.path, rest), deepest.checked_sub(1)?)
        }
    }
}

/// The files that define what a path names; none of a module itself, and of what is not the crate's.
fn defining(scopes: &[Scope], scope: &Scope, path: &[String], deepest: u32) -> Vec<usize> {
    let Some(path) = absolute(scopes, scope, path, deepest) else { return Vec::new() };
    let is_module = |len: &usize| at(scopes, &path[..*len]).next().is_some();
    let module = (0..=path.len()).take_while(is_module).last().unwrap_or(0);
    let (module, rest) = path.split_at(module);
    let Some(name) = rest.first() else { return Vec::new() };
    at(scopes, module).flat_map(|scope| defining_in(scopes, scope, name, rest, deepest)).collect()
}

/// The files that define the first name of `rest`, which a path names in this scope.
fn defining_in(scopes: &[Scope], scope: &Scope, name: &str, rest: &[String], deepest: u32) -> Vec<usize> {
    let Some(deepest) = deepest.checked_sub(1).filter(|_| !scope.defined.contains(name)) else {
        return vec![scope.file];
    };
    if let Some(import) = scope.imports.get(name) {
        let behind = [import.path.as_slice(), &rest[1..]].concat();
        return defining(scopes, scope, &behind, deepest);
    }
    for glob in &scope.globs {
        let Some(module) = absolute(scopes, scope, &glob.path, deepest) else { continue };
        let has = |scope: &&Scope| scope.defined.contains(name) || scope.imports.contains_key(name);
        if let Some(other) = at(scopes, &module).find(has) {
            return defining_in(scopes, other, name, rest, deepest);
        }
    }
    vec![scope.file]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// The circles of a crate of these files.
    fn circles_of(test: &str, files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let folder = std::env::temp_dir().join(format!("nicteam-imports-{test}-{}", std::process::id()));
        for (name, text) in files {
            let file = folder.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let circles = circles(&folder);
        fs::remove_dir_all(&folder).unwrap();
        circles
    }

    #[test]
    fn files_that_import_each_other_are_found_however_far_around() {
        let circles = circles_of(
            "around",
            &[
                ("lib.rs", "mod a; mod b; mod c; mod d; pub use d::D;"),
                ("a.rs", "use crate::b::{self, B as Other}; pub struct A;"),
                ("b.rs", "pub struct B; fn f() { super::c::g::<u8>(); }"),
                ("c.rs", "pub fn g<T>() { let _ = crate::a::A; }"),
                ("d.rs", "use crate::a::A; pub struct D(A);"),
            ],
        );
        assert_eq!(circles, [["a.rs", "b.rs", "c.rs"]]);
    }

    #[test]
    fn what_is_re_exported_counts_where_it_is_defined() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use a::A; pub use b::*;"),
            ("a.rs", "use crate::B; pub struct A;"),
            ("b/mod.rs", "mod inner; pub use inner::B;"),
            ("b/inner.rs", "pub struct B;"),
        ];
        assert_eq!(circles_of("facade", &files), [[""; 0]; 0]);
        // A root that does something itself with what imports it is part of a circle.
        let mut files = files;
        files[0].1 = "mod a; mod b; pub use a::A; pub use b::*; pub struct Own; fn f(_: A) {}";
        files[1].1 = "use crate::{B, Own}; pub struct A;";
        assert_eq!(circles_of("root", &files), [["a.rs", "lib.rs"]]);
    }

    #[test]
    fn tests_comments_texts_and_other_crates_are_not_looked_at() {
        let a = r##"
            //! [`crate::b::B`]
            /* use crate::b::B; /* nested */ */
            use std::b::B;
            const TEXT: &str = "crate::b::B"; const RAW: &str = r#"crate::b"B"#; const QUOTE: char = '"';
            fn life<'a>(x: &'a str) -> &'a str { x }
            #[cfg(test)]
            mod tests { use super::*; use crate::b::B; fn f() { if true { crate::b::B; } } }
            #[cfg(test)]
            use crate::b::B;
        "##;
        let files = [("lib.rs", "mod a; mod b;"), ("a.rs", a), ("b.rs", "use crate::a::life; pub struct B;")];
        assert_eq!(circles_of("quiet", &files), [[""; 0]; 0]);
    }

    #[test]
    fn modules_within_files_and_files_elsewhere_are_followed() {
        let circles = circles_of(
            "within",
            &[
                ("lib.rs", "#[cfg(x)] mod a; #[cfg(not(x))] #[path = \"other/b.rs\"] mod a; mod c;"),
                ("a.rs", "pub fn f() {}"),
                ("other/b.rs", "mod inline { fn g() { super::super::c::h() } } pub fn f() {}"),
                ("c.rs", "use crate::a; pub fn h() { a::f() }"),
            ],
        );
        assert_eq!(circles, [["c.rs", "other/b.rs"]]);
    }
}
