//! Media types (RFC 9110 §8.3): the table of file extensions, which types are worth compressing,
//! and parsing. The configuration can override the table.

use crate::field::is_token;
use crate::list;

/// The media type of unknown content (RFC 9110 §8.3).
pub const DEFAULT: &str = "application/octet-stream";

/// Longest extension in the table, in bytes.
const EXTENSION_BYTES_MAX: usize = 11;

/// Returns the media type for a file name by its extension, case-insensitively, as a value of
/// Content-Type with the charset of text; `None` for an unknown extension, no extension, or a name
/// that is only an extension (`.png`).
pub fn by_file_name(name: &[u8]) -> Option<&'static str> {
    let dot = memchr::memrchr(b'.', name)?;
    let extension = &name[dot + 1..];
    if dot == 0 || name[dot - 1] == b'/' || extension.len() > EXTENSION_BYTES_MAX {
        return None;
    }
    let mut lower = [0; EXTENSION_BYTES_MAX];
    let lower = &mut lower[..extension.len()];
    lower.copy_from_slice(extension);
    lower.make_ascii_lowercase();
    TABLE
        .binary_search_by(|(known, _)| known.as_bytes().cmp(lower))
        .ok()
        .map(|found| TABLE[found].1)
}

/// Returns whether content of this type usually shrinks when compressed; images, audio, video and
/// archives are compressed already.
pub fn is_compressible(media_type: &str) -> bool {
    let Some(parsed) = MediaType::parse(media_type.as_bytes()) else {
        return false;
    };
    let is = |names: &[&str]| {
        names.iter().any(|name| parsed.subtype.eq_ignore_ascii_case(name.as_bytes()))
    };
    let has_suffix = |suffix: &[u8]| {
        let start = parsed.subtype.len().saturating_sub(suffix.len());
        parsed.subtype[start..].eq_ignore_ascii_case(suffix)
    };
    if has_suffix(b"+json") || has_suffix(b"+xml") {
        return true;
    }
    match parsed.main.to_ascii_lowercase().as_slice() {
        b"text" => true,
        b"application" => is(COMPRESSIBLE_APPLICATIONS),
        // WOFF and WOFF2 are compressed inside.
        b"font" => is(&["ttf", "otf", "collection"]),
        b"image" => is(&["bmp", "vnd.microsoft.icon", "x-portable-pixmap"]),
        b"model" => is(&["obj", "mtl", "stl"]),
        b"audio" => is(&["wav", "midi", "x-mpegurl"]),
        b"message" => is(&["rfc822"]),
        _ => false,
    }
}

const COMPRESSIBLE_APPLICATIONS: &[&str] = &[
    "cbor",
    "javascript",
    "json",
    "json5",
    "mbox",
    "msword",
    "n-triples",
    "postscript",
    "rtf",
    "sql",
    "vnd.apple.mpegurl",
    "vnd.ms-excel",
    "vnd.ms-fontobject",
    "vnd.ms-powerpoint",
    "vnd.sqlite3",
    "wasm",
    "x-javascript",
    "x-latex",
    "x-ndjson",
    "x-plist",
    "x-sh",
    "x-subrip",
    "x-tar",
    "x-tex",
    "xml",
    "xml-dtd",
    "yaml",
];

/// A media type or a media range of Accept, parsed in place: `main/subtype; name=value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaType<'a> {
    main: &'a [u8],
    subtype: &'a [u8],
    whole: &'a [u8],
}

impl<'a> MediaType<'a> {
    /// Parses a field value or a list member; `None` unless it is two tokens separated by a slash.
    pub fn parse(value: &'a [u8]) -> Option<Self> {
        let (essence, _) = list::parameters(value);
        let slash = memchr::memchr(b'/', essence)?;
        let (main, subtype) = (&essence[..slash], &essence[slash + 1..]);
        (is_token(main) && is_token(subtype)).then_some(Self { main, subtype, whole: value })
    }

    /// Returns the type before the slash, as it was written.
    pub fn main(self) -> &'a [u8] {
        self.main
    }

    /// Returns the subtype after the slash, as it was written.
    pub fn subtype(self) -> &'a [u8] {
        self.subtype
    }

    /// Returns the parameters in order, values with their quotes.
    pub fn parameters(self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        list::parameters(self.whole).1
    }

    /// Returns the value of a parameter without quotes; the name is compared case-insensitively.
    pub fn parameter(self, name: &[u8]) -> Option<&'a [u8]> {
        self.parameters()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| list::unquoted(value))
    }
}

/// Extensions in lower case, sorted by bytes, each with the complete value of Content-Type. Types
/// as registered at IANA where they are; text has a charset, since a browser may guess otherwise
/// (RFC 9110 §8.3.2).
const TABLE: [(&str, &str); 213] = [
    ("3g2", "video/3gpp2"),
    ("3gp", "video/3gpp"),
    ("3mf", "model/3mf"),
    ("7z", "application/x-7z-compressed"),
    ("aac", "audio/aac"),
    ("ac3", "audio/ac3"),
    ("ai", "application/postscript"),
    ("aif", "audio/aiff"),
    ("aiff", "audio/aiff"),
    ("apk", "application/vnd.android.package-archive"),
    ("apng", "image/apng"),
    ("asf", "video/x-ms-asf"),
    ("atom", "application/atom+xml"),
    ("au", "audio/basic"),
    ("avi", "video/x-msvideo"),
    ("avif", "image/avif"),
    ("bash", "application/x-sh"),
    ("bin", "application/octet-stream"),
    ("bmp", "image/bmp"),
    ("br", "application/x-brotli"),
    ("bz2", "application/x-bzip2"),
    ("c", "text/x-c; charset=utf-8"),
    ("cab", "application/vnd.ms-cab-compressed"),
    ("cbor", "application/cbor"),
    ("cc", "text/x-c; charset=utf-8"),
    ("cer", "application/pkix-cert"),
    ("cfg", "text/plain; charset=utf-8"),
    ("cjs", "text/javascript; charset=utf-8"),
    ("class", "application/java-vm"),
    ("conf", "text/plain; charset=utf-8"),
    ("cpp", "text/x-c; charset=utf-8"),
    ("crt", "application/x-x509-ca-cert"),
    ("css", "text/css; charset=utf-8"),
    ("csv", "text/csv; charset=utf-8"),
    ("cur", "image/vnd.microsoft.icon"),
    ("dat", "application/octet-stream"),
    ("db", "application/vnd.sqlite3"),
    ("deb", "application/vnd.debian.binary-package"),
    ("der", "application/x-x509-ca-cert"),
    ("diff", "text/plain; charset=utf-8"),
    ("djvu", "image/vnd.djvu"),
    ("dll", "application/vnd.microsoft.portable-executable"),
    ("dmg", "application/x-apple-diskimage"),
    ("doc", "application/msword"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("eml", "message/rfc822"),
    ("eot", "application/vnd.ms-fontobject"),
    ("eps", "application/postscript"),
    ("epub", "application/epub+zip"),
    ("exe", "application/vnd.microsoft.portable-executable"),
    ("flac", "audio/flac"),
    ("flv", "video/x-flv"),
    ("geojson", "application/geo+json"),
    ("gif", "image/gif"),
    ("glb", "model/gltf-binary"),
    ("gltf", "model/gltf+json"),
    ("go", "text/x-go; charset=utf-8"),
    ("gpg", "application/pgp-encrypted"),
    ("gpx", "application/gpx+xml"),
    ("gz", "application/gzip"),
    ("h", "text/x-c; charset=utf-8"),
    ("heic", "image/heic"),
    ("heif", "image/heif"),
    ("hpp", "text/x-c; charset=utf-8"),
    ("htm", "text/html; charset=utf-8"),
    ("html", "text/html; charset=utf-8"),
    ("ico", "image/vnd.microsoft.icon"),
    ("ics", "text/calendar; charset=utf-8"),
    ("img", "application/octet-stream"),
    ("ini", "text/plain; charset=utf-8"),
    ("ipynb", "application/x-ipynb+json"),
    ("iso", "application/x-iso9660-image"),
    ("jar", "application/java-archive"),
    ("java", "text/x-java-source; charset=utf-8"),
    ("jfif", "image/jpeg"),
    ("jp2", "image/jp2"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript; charset=utf-8"),
    ("json", "application/json"),
    ("json5", "application/json5"),
    ("jsonl", "application/x-ndjson"),
    ("jsonld", "application/ld+json"),
    ("jxl", "image/jxl"),
    ("kml", "application/vnd.google-earth.kml+xml"),
    ("kmz", "application/vnd.google-earth.kmz"),
    ("kt", "text/x-kotlin; charset=utf-8"),
    ("ktx2", "image/ktx2"),
    ("latex", "application/x-latex"),
    ("log", "text/plain; charset=utf-8"),
    ("lua", "text/x-lua; charset=utf-8"),
    ("lzma", "application/x-lzma"),
    ("m2ts", "video/mp2t"),
    ("m3u", "audio/x-mpegurl"),
    ("m3u8", "application/vnd.apple.mpegurl"),
    ("m4a", "audio/mp4"),
    ("m4b", "audio/mp4"),
    ("m4s", "video/iso.segment"),
    ("m4v", "video/mp4"),
    ("map", "application/json"),
    ("markdown", "text/markdown; charset=utf-8"),
    ("mathml", "application/mathml+xml"),
    ("mbox", "application/mbox"),
    ("md", "text/markdown; charset=utf-8"),
    ("mid", "audio/midi"),
    ("midi", "audio/midi"),
    ("mjs", "text/javascript; charset=utf-8"),
    ("mka", "audio/matroska"),
    ("mkv", "video/matroska"),
    ("mobi", "application/x-mobipocket-ebook"),
    ("mov", "video/quicktime"),
    ("mp2", "audio/mpeg"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("mpd", "application/dash+xml"),
    ("mpeg", "video/mpeg"),
    ("mpg", "video/mpeg"),
    ("msi", "application/x-msi"),
    ("mtl", "model/mtl"),
    ("ndjson", "application/x-ndjson"),
    ("o", "application/octet-stream"),
    ("obj", "model/obj"),
    ("odg", "application/vnd.oasis.opendocument.graphics"),
    ("odp", "application/vnd.oasis.opendocument.presentation"),
    ("ods", "application/vnd.oasis.opendocument.spreadsheet"),
    ("odt", "application/vnd.oasis.opendocument.text"),
    ("oga", "audio/ogg"),
    ("ogg", "audio/ogg"),
    ("ogv", "video/ogg"),
    ("opus", "audio/opus"),
    ("otf", "font/otf"),
    ("p12", "application/x-pkcs12"),
    ("parquet", "application/vnd.apache.parquet"),
    ("patch", "text/plain; charset=utf-8"),
    ("pbm", "image/x-portable-bitmap"),
    ("pdf", "application/pdf"),
    ("pem", "application/x-pem-file"),
    ("pfx", "application/x-pkcs12"),
    ("pgm", "image/x-portable-graymap"),
    ("pgp", "application/pgp-encrypted"),
    ("pl", "text/x-perl; charset=utf-8"),
    ("plist", "application/x-plist"),
    ("png", "image/png"),
    ("pnm", "image/x-portable-anymap"),
    ("ppm", "image/x-portable-pixmap"),
    ("ppt", "application/vnd.ms-powerpoint"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("ps", "application/postscript"),
    ("psd", "image/vnd.adobe.photoshop"),
    ("py", "text/x-python; charset=utf-8"),
    ("rar", "application/vnd.rar"),
    ("rb", "text/x-ruby; charset=utf-8"),
    ("rdf", "application/rdf+xml"),
    ("rpm", "application/x-rpm"),
    ("rs", "text/x-rust; charset=utf-8"),
    ("rss", "application/rss+xml"),
    ("rst", "text/x-rst; charset=utf-8"),
    ("rtf", "application/rtf"),
    ("scss", "text/x-scss; charset=utf-8"),
    ("sh", "application/x-sh"),
    ("shtml", "text/html; charset=utf-8"),
    ("sig", "application/pgp-signature"),
    ("smil", "application/smil+xml"),
    ("so", "application/octet-stream"),
    ("spx", "audio/ogg"),
    ("sql", "application/sql"),
    ("sqlite", "application/vnd.sqlite3"),
    ("sqlite3", "application/vnd.sqlite3"),
    ("srt", "application/x-subrip"),
    ("stl", "model/stl"),
    ("svg", "image/svg+xml"),
    ("swift", "text/x-swift; charset=utf-8"),
    ("tar", "application/x-tar"),
    ("tex", "application/x-tex"),
    ("text", "text/plain; charset=utf-8"),
    ("tgz", "application/gzip"),
    ("tif", "image/tiff"),
    ("tiff", "image/tiff"),
    ("toml", "text/plain; charset=utf-8"),
    ("torrent", "application/x-bittorrent"),
    ("ts", "video/mp2t"),
    ("tsv", "text/tab-separated-values; charset=utf-8"),
    ("ttc", "font/collection"),
    ("ttf", "font/ttf"),
    ("ttl", "text/turtle; charset=utf-8"),
    ("ttml", "application/ttml+xml"),
    ("txt", "text/plain; charset=utf-8"),
    ("usdz", "model/vnd.usdz+zip"),
    ("vcf", "text/vcard; charset=utf-8"),
    ("vtt", "text/vtt; charset=utf-8"),
    ("wasm", "application/wasm"),
    ("wav", "audio/wav"),
    ("weba", "audio/webm"),
    ("webm", "video/webm"),
    ("webmanifest", "application/manifest+json"),
    ("webp", "image/webp"),
    ("wma", "audio/x-ms-wma"),
    ("wmv", "video/x-ms-wmv"),
    ("woff", "font/woff"),
    ("woff2", "font/woff2"),
    ("xcf", "image/x-xcf"),
    ("xhtml", "application/xhtml+xml"),
    ("xls", "application/vnd.ms-excel"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("xml", "application/xml"),
    ("xsd", "application/xml"),
    ("xsl", "application/xml"),
    ("xslt", "application/xslt+xml"),
    ("xz", "application/x-xz"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
    ("zip", "application/zip"),
    ("zst", "application/zstd"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_can_be_searched() {
        assert!(TABLE.is_sorted_by(|(left, _), (right, _)| left < right));
        for (extension, media_type) in TABLE {
            assert!(extension.len() <= EXTENSION_BYTES_MAX);
            assert!(
                extension.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            );
            let parsed = MediaType::parse(media_type.as_bytes());
            let charset = parsed.map(|parsed| (parsed.main(), parsed.parameter(b"charset")));
            match charset {
                Some((b"text", charset)) => assert_eq!(charset, Some(&b"utf-8"[..])),
                Some((_, charset)) => assert_eq!(charset, None),
                None => panic!("{media_type} is not a media type"),
            }
        }
        let longest = TABLE.iter().map(|(extension, _)| extension.len()).max();
        assert_eq!(longest, Some(EXTENSION_BYTES_MAX));
    }
}
