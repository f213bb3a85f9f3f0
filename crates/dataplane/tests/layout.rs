//! The number by which a process knows whether it can take another one's maps over.

#[allow(dead_code, reason = "the build uses all of it")]
#[path = "../build/layout.rs"]
mod described;

use described::{Field, Map, Shape, Struct, number};

const CONSTANTS: &[(&str, &str, i128)] = &[("CHOOSE_ONE", "u32", 1)];

fn field(name: &str, offset: u32, size: u32) -> Field {
    Field { name: name.to_owned(), offset, shape: Shape::Number(size) }
}

fn maps() -> Vec<Map> {
    let place = Struct { name: "place".to_owned(), size: 8, fields: vec![field("place", 0, 4), field("own", 4, 4)] };
    let map =
        |name: &str, value| Map { name: name.to_owned(), kind: 1, flags: 0, entries: 32, key: Shape::Number(4), value };
    vec![map("places", Shape::Struct(place)), map("table", Shape::Array(Box::new(Shape::Number(8)), 16))]
}

fn of(maps: &[Map]) -> u32 {
    number([&[], maps], CONSTANTS, 1)
}

/// The fields of the first map's values.
fn place(maps: &mut [Map]) -> &mut Struct {
    let Shape::Struct(place) = &mut maps[0].value else { unreachable!() };
    place
}

#[test]
fn whatever_outlives_a_process_is_in_the_number() {
    type Change = fn(&mut Vec<Map>);
    let changes: [(&str, Change); 13] = [
        ("a field's offset", |maps| place(maps).fields[1].offset = 6),
        ("a field's size", |maps| place(maps).fields[1].shape = Shape::Number(2)),
        ("a field's name", |maps| place(maps).fields[1].name.push('s')),
        ("the order of fields", |maps| place(maps).fields.swap(0, 1)),
        ("a field more", |maps| place(maps).fields.push(field("new", 8, 4))),
        ("a structure's size", |maps| place(maps).size = 16),
        ("the length of an array", |maps| maps[1].value = Shape::Array(Box::new(Shape::Number(8)), 17)),
        ("a key", |maps| maps[0].key = Shape::Number(8)),
        ("the number of entries", |maps| maps[0].entries = 64),
        ("a map's type", |maps| maps[0].kind = 2),
        ("a map's flags", |maps| maps[0].flags = 1),
        ("a map's name", |maps| maps[1].name.push('s')),
        ("a map less", |maps| drop(maps.pop())),
    ];
    let before = of(&maps());
    for (what, change) in changes {
        let mut changed = maps();
        change(&mut changed);
        assert_ne!(of(&changed), before, "{what}");
    }
}

#[test]
fn so_are_the_numbers_in_the_maps_and_the_epoch() {
    let before = of(&maps());
    assert_ne!(number([&[], &maps()], &[("CHOOSE_ONE", "u32", 2)], 1), before);
    assert_ne!(number([&[], &maps()], CONSTANTS, 2), before);
    assert_ne!(number([&maps(), &maps()], CONSTANTS, 1), before);
}

#[test]
fn the_order_of_maps_is_not_and_no_number_is_one_of_those_counted_by_hand() {
    let mut turned = maps();
    turned.reverse();
    assert_eq!(of(&turned), of(&maps()));
    assert!((0..1000).all(|epoch| number([&[], &maps()], CONSTANTS, epoch) > 1 << 30));
}
