//! A list in which each thing stands once, in the order in which they first came.

use std::collections::BTreeSet;
use std::ops::Deref;

/// See the module. To add one takes as long whatever is there.
#[derive(Clone, Debug)]
pub struct OnceEach<T> {
    list: Vec<T>,
    known: BTreeSet<T>,
}

impl<T: Clone + Ord> OnceEach<T> {
    /// Adds one at the end; one that is there already is one.
    pub fn add(&mut self, one: T) {
        if self.known.insert(one.clone()) {
            self.list.push(one);
        }
    }

    /// The same list, each made into as many others.
    pub fn replace<I: IntoIterator<Item = T>>(&mut self, mut with: impl FnMut(T) -> I) {
        for one in std::mem::take(self).list {
            with(one).into_iter().for_each(|other| self.add(other));
        }
    }

    /// All of them.
    pub fn into_list(self) -> Vec<T> {
        self.list
    }
}

impl<T> Default for OnceEach<T> {
    fn default() -> OnceEach<T> {
        OnceEach { list: Vec::new(), known: BTreeSet::new() }
    }
}

impl<T> Deref for OnceEach<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stands_once_where_it_first_came() {
        let mut numbers = OnceEach::default();
        [3, 1, 3, 2, 1].into_iter().for_each(|number| numbers.add(number));
        assert_eq!(&numbers[..], [3, 1, 2]);
        numbers.replace(|number| [number / 2, number]);
        assert_eq!(numbers.into_list(), [1, 3, 0, 2]);
    }
}
