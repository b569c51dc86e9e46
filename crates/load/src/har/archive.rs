//! The members of HAR 1.2 that requests are made of. Others are ignored.

use serde::Deserialize;

/// The file.
#[derive(Debug, Deserialize)]
pub(super) struct Archive {
    pub(super) log: Log,
}

#[derive(Debug, Deserialize)]
pub(super) struct Log {
    #[serde(default)]
    pub(super) pages: Vec<Page>,
    pub(super) entries: Vec<HarEntry>,
}

/// A page that a browser showed.
#[derive(Debug, Deserialize)]
pub(super) struct Page {
    pub(super) id: String,
    #[serde(default)]
    pub(super) title: String,
}

/// One exchange.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HarEntry {
    /// RFC 3339.
    pub(super) started_date_time: String,
    /// Milliseconds until the end of the response.
    #[serde(default)]
    pub(super) time: Option<f64>,
    #[serde(default)]
    pub(super) pageref: Option<String>,
    pub(super) request: Request,
    pub(super) response: Response,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) url: String,
    #[serde(default)]
    pub(super) headers: Vec<Pair>,
    #[serde(default)]
    pub(super) post_data: Option<PostData>,
}

/// A field, or a parameter of a form.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) name: String,
    #[serde(default)]
    pub(super) value: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PostData {
    #[serde(default)]
    pub(super) mime_type: String,
    #[serde(default)]
    pub(super) text: String,
    #[serde(default)]
    pub(super) params: Vec<Pair>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Response {
    /// Status code; 0 or negative without a response.
    #[serde(default)]
    pub(super) status: i64,
    #[serde(default)]
    pub(super) content: ResponseContent,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResponseContent {
    #[serde(default)]
    pub(super) mime_type: String,
}
