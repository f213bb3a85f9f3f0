//! The `interfaces` of published test T1 (000_6b080ec8dbb0d21e), word by word.

use super::{left, read, shown};
use crate::published::INTERFACES;

#[test]
fn the_whole_of_it_is_taken() {
    let expected = "\
[teams.bond0]
members = [\"eth1\", \"eth2\", \"eth3\", \"eth4\"]
mode = \"balance-rr\"
miimon = 100
downdelay = 200
updelay = 200
addresses = [\"10.10.250.2/24\"]
";
    assert_eq!(shown("ifupdown", INTERFACES), expected);
    assert_eq!(left(&read("ifupdown", INTERFACES)), [""; 0]);
}

#[test]
fn the_old_place_is_named() {
    let import = read("ifupdown", INTERFACES);
    let [disable] = import.disable.as_slice() else { panic!("{:?}", import.disable) };
    assert_eq!(disable.place.to_string(), "a:2:1");
    assert_eq!(
        disable.what,
        "comment out lines 2 to 10 (`iface bond0 inet static`), and `bond0` in `auto` and `allow-` lines"
    );
}
