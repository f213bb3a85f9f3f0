//! XDR (RFC 4506), as much as NFS 3 needs.

/// What a record lacks, or has too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the server's answer is malformed")]
pub struct Malformed;

/// Takes values from the front of bytes.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// So many bytes, as they are.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.bytes(N)?.try_into().map_err(|_| Malformed)
    }

    pub fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_be_bytes)
    }

    pub fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_be_bytes)
    }

    pub fn bool(&mut self) -> Result<bool, Malformed> {
        Ok(self.u32()? != 0)
    }

    /// Eight bytes that mean nothing but themselves.
    pub fn verifier(&mut self) -> Result<[u8; 8], Malformed> {
        self.array()
    }

    /// Bytes with their length before them, at most so many.
    pub fn opaque(&mut self, most: usize) -> Result<&'a [u8], Malformed> {
        let length = usize::try_from(self.u32()?).map_err(|_| Malformed)?;
        if length > most {
            return Err(Malformed);
        }
        let bytes = self.bytes(length)?;
        self.bytes(padding(length))?;
        Ok(bytes)
    }
}

/// Zero bytes after so many, up to a whole number of words.
pub fn padding(length: usize) -> usize {
    length.next_multiple_of(4) - length
}

/// Appends values.
#[derive(Debug, Default)]
pub struct Writer(pub Vec<u8>);

impl Writer {
    pub fn u32(&mut self, value: u32) -> &mut Writer {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub fn u64(&mut self, value: u64) -> &mut Writer {
        self.0.extend(value.to_be_bytes());
        self
    }

    /// Bytes with their length before them.
    pub fn opaque(&mut self, bytes: &[u8]) -> &mut Writer {
        self.u32(u32::try_from(bytes.len()).expect("names and handles are short"));
        self.0.extend(bytes);
        self.0.resize(self.0.len() + padding(bytes.len()), 0);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut writer = Writer::default();
        writer.u32(7).opaque(b"disk1").u64(1 << 40).opaque(b"");
        assert_eq!(writer.0.len(), 4 + 4 + 8 + 8 + 4);
        let mut reader = Reader(&writer.0);
        assert_eq!(reader.u32(), Ok(7));
        assert_eq!(reader.opaque(64), Ok(&b"disk1"[..]));
        assert_eq!(reader.u64(), Ok(1 << 40));
        assert_eq!(reader.opaque(64), Ok(&b""[..]));
        assert_eq!(reader.u32(), Err(Malformed));
    }

    #[test]
    fn a_length_beyond_the_end_or_the_limit_is_malformed() {
        for bytes in [&[0, 0, 0, 9, 1, 2, 3, 4][..], &[255, 255, 255, 255], &[0, 0, 0, 3, 1, 2, 3], &[0, 0]] {
            assert_eq!(Reader(bytes).opaque(usize::MAX), Err(Malformed), "{bytes:?}");
        }
        assert_eq!(Reader(&[0, 0, 0, 4, 1, 2, 3, 4]).opaque(3), Err(Malformed));
    }
}
