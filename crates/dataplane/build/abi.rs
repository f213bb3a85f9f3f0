//! What Rust knows of the compiled programs: `src/bpf/abi.rs` includes it.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::layout::{Map, Struct};

/// The number of the layout, the names of the maps, and the macro `laid_out_as!` with an arm for each structure.
pub fn abi(layout: u32, maps: &[Map]) -> String {
    let structs = maps.iter().flat_map(|map| [map.key.structs(), map.value.structs()].concat());
    let structs: BTreeMap<&str, &Struct> = structs.map(|own| (own.name.as_str(), own)).collect();
    let names: String = maps.iter().map(|map| name(&map.name)).collect();
    let arms: String = structs.into_values().filter(|own| !own.name.is_empty()).map(arm).collect();
    format!(
        "/// A number for all that outlives a process.\n\
        pub(super) const LAYOUT: u32 = {layout:#x};\n\
        /// How many maps there are.\n\
        pub(super) const MAPS: usize = {len};\n\
        /// Their names.\n\
        pub(super) mod names {{\n{names}}}\n\
        macro_rules! laid_out_as {{\n{arms}}}\n",
        len = maps.len(),
    )
}

/// `.data.plans` becomes `DATA_PLANS`.
fn name(map: &str) -> String {
    let constant = map.trim_start_matches('.').replace('.', "_").to_uppercase();
    format!("    pub const {constant}: &str = {map:?};\n")
}

/// Asserts that a Rust structure has the fields of one in C where they are there, and no bytes beside them.
fn arm(own: &Struct) -> String {
    let Struct { name, size, fields } = own;
    let mut asserts = format!("assert!(size_of::<$own>() == {size}, \"the size of `{name}`\");\n");
    let mut add = |line: String| writeln!(asserts, "            {line}").expect("a string takes everything");
    for field in fields {
        let (at, len, field) = (field.offset, field.shape.size(), &field.name);
        add(format!("assert!(std::mem::offset_of!($own, {field}) == {at}, \"where `{field}` is in `{name}`\");"));
        let own_len = format!("super::abi::size_of_field(|own: &$own| &own.{field})");
        add(format!("assert!({own_len} == {len}, \"the size of `{field}` of `{name}`\");"));
    }
    let sum: u32 = fields.iter().map(|field| field.shape.size()).sum();
    add(format!("assert!({sum} == {size}, \"`{name}` has bytes that are no field's\");"));
    format!("    ({name}, $own:ident) => {{\n        const _: () = {{\n            {asserts}        }};\n    }};\n")
}
