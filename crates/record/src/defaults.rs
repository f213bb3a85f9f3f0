//! What stands for a field that a record leaves out.

pub(crate) fn is_zero(count: &u32) -> bool {
    *count == 0
}

pub(crate) fn once() -> u32 {
    1
}

pub(crate) fn is_once(times: &u32) -> bool {
    *times == 1
}

pub(crate) fn is_false(flag: &bool) -> bool {
    !flag
}

pub(crate) fn tcp() -> String {
    "tcp".to_owned()
}
