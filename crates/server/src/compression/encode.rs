//! Compresses content in one piece: levels, and the sizes between which it is done.

use std::io::Write;

use bytes::Bytes;
use vervet_http::negotiation::Encoding;

/// Smaller files are not compressed, in bytes: they fit one packet anyway.
pub const COMPRESS_BYTES_MIN: u64 = 1024;

/// Larger files are not compressed on the way, in bytes: it would take a tenth of a second and
/// more. Siblings made beforehand have no such bound.
pub const COMPRESS_BYTES_MAX: u64 = 4 * 1024 * 1024;

// Levels at which each costs about as much as the others for text: some 10 ms for 1 MB.
const ZSTD_LEVEL: i32 = 6;
const BROTLI_QUALITY: u32 = 5;
const BROTLI_WINDOW_BITS: u32 = 20;
const GZIP_LEVEL: u32 = 6;

/// The result of compressing a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Compressed {
    Smaller(Bytes),
    /// Not worth sending: the file is sent as it is.
    NotSmaller,
}

/// Compresses content of at most [`COMPRESS_BYTES_MAX`] bytes.
pub(crate) fn compress(content: &[u8], encoding: Encoding) -> Compressed {
    match encode(content, encoding) {
        Ok(bytes) if bytes.len() < content.len() => Compressed::Smaller(bytes),
        _ => Compressed::NotSmaller,
    }
}

/// The content in a coding, whether or not it is smaller.
pub(crate) fn encode(content: &[u8], encoding: Encoding) -> std::io::Result<Bytes> {
    let coded = match encoding {
        Encoding::Identity => content.to_vec(),
        Encoding::Zstd => zstd::bulk::compress(content, ZSTD_LEVEL)?,
        Encoding::Brotli => brotli(content)?,
        Encoding::Gzip => gzip(content)?,
    };
    Ok(Bytes::from(coded.into_boxed_slice()))
}

fn brotli(content: &[u8]) -> std::io::Result<Vec<u8>> {
    const BUFFER_BYTES: usize = 4096;
    let output = Vec::with_capacity(content.len() / 4);
    let mut writer =
        brotli::CompressorWriter::new(output, BUFFER_BYTES, BROTLI_QUALITY, BROTLI_WINDOW_BITS);
    writer.write_all(content)?;
    Ok(writer.into_inner())
}

fn gzip(content: &[u8]) -> std::io::Result<Vec<u8>> {
    let output = Vec::with_capacity(content.len() / 4);
    let mut writer = flate2::write::GzEncoder::new(output, flate2::Compression::new(GZIP_LEVEL));
    writer.write_all(content)?;
    writer.finish()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn unpacked(bytes: &[u8], encoding: Encoding) -> Vec<u8> {
        let mut content = Vec::new();
        match encoding {
            Encoding::Identity => content.extend_from_slice(bytes),
            Encoding::Zstd => content = zstd::bulk::decompress(bytes, 1 << 23).unwrap(),
            Encoding::Brotli => {
                brotli::Decompressor::new(bytes, 4096).read_to_end(&mut content).unwrap();
            }
            Encoding::Gzip => {
                flate2::read::GzDecoder::new(bytes).read_to_end(&mut content).unwrap();
            }
        }
        content
    }

    fn check(content: &[u8], encoding: Encoding) {
        let Compressed::Smaller(bytes) = compress(content, encoding) else {
            panic!("{} bytes do not shrink with {encoding:?}", content.len());
        };
        assert!(unpacked(&bytes, encoding) == content, "{encoding:?} of {} bytes", content.len());
    }

    #[test]
    fn noise_is_left_alone() {
        let mut noise = [0; 2000];
        rustix::rand::getrandom(&mut noise, rustix::rand::GetRandomFlags::empty()).unwrap();
        for encoding in [Encoding::Zstd, Encoding::Brotli, Encoding::Gzip] {
            assert_eq!(compress(&noise, encoding), Compressed::NotSmaller);
            assert_eq!(compress(b"", encoding), Compressed::NotSmaller);
        }
    }

    #[test]
    fn text_comes_back_as_it_was() {
        for size in [COMPRESS_BYTES_MIN, 50_000, 300_000] {
            let words = (0..).flat_map(|number: u32| format!("line {number}\n").into_bytes());
            let text: Vec<u8> = words.take(usize::try_from(size).unwrap()).collect();
            for encoding in [Encoding::Zstd, Encoding::Brotli, Encoding::Gzip] {
                check(&text, encoding);
            }
        }
    }
}
