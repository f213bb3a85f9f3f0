//! The state of a machine as bytes, from which it goes on: where a recording begins that does not reach back to the
//! machine's beginning.
//!
//! Each structure says its fields once ([`state!`](crate::state!)), all of them, or it does not compile. What one version
//! writes only that one reads.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use nicteam_wire::{Hello, HelloMember, LacpState, Mac, PortInfo, Vlan};

use crate::bytes::{Reader, Unreadable, put_address, put_bytes, put_number};
use crate::member::{MemberId, MemberSet};
use crate::time::Time;
use crate::token_bucket::TokenBucket;

/// Something of which a machine's state is made.
pub trait State: Sized {
    /// Appends it to these bytes.
    fn put(&self, to: &mut Vec<u8>);

    /// Reads it.
    fn take(from: &mut Reader<'_>) -> Result<Self, Unreadable>;
}

/// Implements [`State`](crate::state::State) in the module that defines a type: a structure is all its fields; an enumeration
/// without fields is the place of its variant.
#[macro_export]
macro_rules! state {
    (struct $name:ident { $($field:ident),* $(,)? }) => {
        impl $crate::state::State for $name {
            fn put(&self, to: &mut Vec<u8>) {
                let $name { $($field),* } = self;
                $($crate::state::State::put($field, to);)*
            }

            fn take(
                from: &mut $crate::bytes::Reader<'_>,
            ) -> Result<Self, $crate::bytes::Unreadable> {
                $(let $field = $crate::state::State::take(from)?;)*
                Ok($name { $($field),* })
            }
        }
    };
    (enum $name:ident { $($variant:ident),* $(,)? }) => {
        impl $crate::state::State for $name {
            fn put(&self, to: &mut Vec<u8>) {
                let place = match self {
                    $($name::$variant => stringify!($variant),)*
                };
                let all = [$(stringify!($variant)),*];
                to.push(all.iter().position(|variant| *variant == place).unwrap_or(all.len()) as u8);
            }

            fn take(
                from: &mut $crate::bytes::Reader<'_>,
            ) -> Result<Self, $crate::bytes::Unreadable> {
                let place = usize::from(from.u8()?);
                [$($name::$variant),*]
                    .into_iter()
                    .nth(place)
                    .ok_or_else(|| $crate::state::refused(stringify!($name)))
            }
        }
    };
}

/// A value that this version does not know.
pub fn refused(what: &str) -> Unreadable {
    Unreadable::new(format!("{what} is none that this version knows"))
}

macro_rules! numbers {
    ($($number:ty),*) => {
        $(impl State for $number {
            fn put(&self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }

            fn take(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
                let bytes = from.take(size_of::<$number>())?;
                Ok(<$number>::from_le_bytes(*bytes.first_chunk().ok_or_else(|| refused("a number"))?))
            }
        })*
    };
}

numbers!(u8, u16, u32, u64, u128, i32);

impl State for bool {
    fn put(&self, to: &mut Vec<u8>) {
        to.push(u8::from(*self));
    }

    fn take(from: &mut Reader<'_>) -> Result<bool, Unreadable> {
        from.flag()
    }
}

impl State for String {
    fn put(&self, to: &mut Vec<u8>) {
        put_bytes(to, self.as_bytes());
    }

    fn take(from: &mut Reader<'_>) -> Result<String, Unreadable> {
        from.text()
    }
}

impl<T: State> State for Option<T> {
    fn put(&self, to: &mut Vec<u8>) {
        self.is_some().put(to);
        self.iter().for_each(|value| value.put(to));
    }

    fn take(from: &mut Reader<'_>) -> Result<Option<T>, Unreadable> {
        Ok(if from.flag()? { Some(T::take(from)?) } else { None })
    }
}

impl<T: State> State for Box<T> {
    fn put(&self, to: &mut Vec<u8>) {
        (**self).put(to);
    }

    fn take(from: &mut Reader<'_>) -> Result<Box<T>, Unreadable> {
        T::take(from).map(Box::new)
    }
}

impl<T: State> State for Reverse<T> {
    fn put(&self, to: &mut Vec<u8>) {
        self.0.put(to);
    }

    fn take(from: &mut Reader<'_>) -> Result<Reverse<T>, Unreadable> {
        T::take(from).map(Reverse)
    }
}

impl<T: State, const N: usize> State for [T; N] {
    fn put(&self, to: &mut Vec<u8>) {
        self.iter().for_each(|value| value.put(to));
    }

    fn take(from: &mut Reader<'_>) -> Result<[T; N], Unreadable> {
        let values = (0..N).map(|_| T::take(from)).collect::<Result<Vec<T>, Unreadable>>()?;
        values.try_into().map_err(|_| refused("an array"))
    }
}

macro_rules! lists {
    ($($list:ident of $($bound:ident),*);*) => {
        $(impl<T: State $(+ $bound)*> State for $list<T> {
            fn put(&self, to: &mut Vec<u8>) {
                put_number(to, self.len() as u64);
                self.iter().for_each(|value| value.put(to));
            }

            fn take(from: &mut Reader<'_>) -> Result<$list<T>, Unreadable> {
                let count = from.count(1)?;
                (0..count).map(|_| T::take(from)).collect()
            }
        })*
    };
}

lists!(Vec of; VecDeque of; BTreeSet of Ord);

impl<K: State + Ord, V: State> State for BTreeMap<K, V> {
    fn put(&self, to: &mut Vec<u8>) {
        put_number(to, self.len() as u64);
        for (key, value) in self {
            key.put(to);
            value.put(to);
        }
    }

    fn take(from: &mut Reader<'_>) -> Result<BTreeMap<K, V>, Unreadable> {
        let count = from.count(1)?;
        (0..count).map(|_| Ok((K::take(from)?, V::take(from)?))).collect()
    }
}

macro_rules! tuples {
    ($(($($part:ident),*)),*) => {
        $(impl<$($part: State),*> State for ($($part),*) {
            #[allow(non_snake_case)]
            fn put(&self, to: &mut Vec<u8>) {
                let ($($part),*) = self;
                $($part.put(to);)*
            }

            fn take(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
                Ok(($($part::take(from)?),*))
            }
        })*
    };
}

tuples!((A, B), (A, B, C), (A, B, C, D));

impl State for Time {
    fn put(&self, to: &mut Vec<u8>) {
        self.as_nanos().put(to);
    }

    fn take(from: &mut Reader<'_>) -> Result<Time, Unreadable> {
        from.u64().map(Time::from_nanos)
    }
}

impl State for Duration {
    fn put(&self, to: &mut Vec<u8>) {
        u64::try_from(self.as_nanos()).unwrap_or(u64::MAX).put(to);
    }

    fn take(from: &mut Reader<'_>) -> Result<Duration, Unreadable> {
        from.u64().map(Duration::from_nanos)
    }
}

impl State for MemberId {
    fn put(&self, to: &mut Vec<u8>) {
        (self.index() as u8).put(to);
    }

    fn take(from: &mut Reader<'_>) -> Result<MemberId, Unreadable> {
        from.member()
    }
}

impl State for MemberSet {
    fn put(&self, to: &mut Vec<u8>) {
        self.bits().put(to);
    }

    fn take(from: &mut Reader<'_>) -> Result<MemberSet, Unreadable> {
        from.u32().map(MemberSet::from_bits)
    }
}

impl State for TokenBucket {
    fn put(&self, to: &mut Vec<u8>) {
        self.parts().put(to);
    }

    fn take(from: &mut Reader<'_>) -> Result<TokenBucket, Unreadable> {
        State::take(from).map(TokenBucket::from_parts)
    }
}

impl State for Mac {
    fn put(&self, to: &mut Vec<u8>) {
        self.0.put(to);
    }

    fn take(from: &mut Reader<'_>) -> Result<Mac, Unreadable> {
        from.mac()
    }
}

impl State for Ipv4Addr {
    fn put(&self, to: &mut Vec<u8>) {
        self.to_bits().put(to);
    }

    fn take(from: &mut Reader<'_>) -> Result<Ipv4Addr, Unreadable> {
        from.u32().map(Ipv4Addr::from_bits)
    }
}

impl State for IpAddr {
    fn put(&self, to: &mut Vec<u8>) {
        put_address(to, *self);
    }

    fn take(from: &mut Reader<'_>) -> Result<IpAddr, Unreadable> {
        from.address()
    }
}

impl State for LacpState {
    fn put(&self, to: &mut Vec<u8>) {
        self.0.put(to);
    }

    fn take(from: &mut Reader<'_>) -> Result<LacpState, Unreadable> {
        from.u8().map(LacpState)
    }
}

impl State for Hello {
    fn put(&self, to: &mut Vec<u8>) {
        put_bytes(to, &self.encode());
    }

    fn take(from: &mut Reader<'_>) -> Result<Hello, Unreadable> {
        Hello::decode(from.bytes()?).map_err(|_| refused("a hello"))
    }
}

state!(struct Vlan { protocol, tci });
state!(struct HelloMember { place, usable, rate_mbps, mac });
state!(struct PortInfo { system_priority, system, key, port_priority, port, state });
