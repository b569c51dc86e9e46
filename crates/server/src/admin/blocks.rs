//! Lists, adds and removes blocked networks while the server runs.

use vervet_config::{FromText as _, Time};
use vervet_engine::reactor::Now;
use vervet_http::method::Method;
use vervet_http::status::Status;
use vervet_http::target::query_pairs;

use serde_json::json;

use super::service::Answer;
use crate::filters::blocks::{Blocks, Unblocked};
use crate::matching::networks::Network;

/// The query of a request.
#[derive(Default)]
struct BlockQuery {
    network: Option<Network>,
    /// Duration of the block in seconds; `None` for no end.
    seconds: Option<u64>,
    reason: String,
}

/// The response to a request for the blocks.
pub(super) fn answer(blocks: &Blocks, method: Method, query: &[u8], now: Now) -> Answer {
    if matches!(method, Method::Get | Method::Head) {
        return list(blocks, now);
    }
    let block = match BlockQuery::read(query) {
        Ok(block) => block,
        Err(reason) => return Answer::text(Status::BAD_REQUEST, &format!("{reason}\n")),
    };
    let Some(network) = block.network else {
        let usage = "missing network: /-/blocks?network=192.0.2.0/24&for=1h&reason=scanner\n";
        return Answer::text(Status::BAD_REQUEST, usage);
    };
    if method == Method::Delete {
        return unblock(blocks, network, now);
    }
    let until = block.seconds.map(|seconds| now.unix_seconds.saturating_add(seconds));
    match blocks.block(network, &block.reason, until, now) {
        Ok(()) => Answer::text(Status::OK, &format!("{network} is blocked\n")),
        Err(full) => Answer::text(Status::SERVICE_UNAVAILABLE, &format!("{full}\n")),
    }
}

fn list(blocks: &Blocks, now: Now) -> Answer {
    let blocks = blocks.list(now).into_iter().map(|block| {
        json!({
            "network": block.network.to_string(),
            "reason": block.reason,
            "since": block.since,
            "until": block.until,
        })
    });
    Answer::json(&blocks.collect())
}

fn unblock(blocks: &Blocks, network: Network, now: Now) -> Answer {
    match blocks.unblock(network, now) {
        Unblocked::Removed(_) => Answer::text(Status::OK, &format!("{network} is unblocked\n")),
        Unblocked::Covered(wider) => {
            let text = format!("{network} is blocked by {}: unblock that\n", wider.network);
            Answer::text(Status::CONFLICT, &text)
        }
        Unblocked::NotBlocked => {
            Answer::text(Status::NOT_FOUND, &format!("{network} is not blocked\n"))
        }
    }
}

impl BlockQuery {
    fn read(query: &[u8]) -> Result<Self, String> {
        let mut block = Self::default();
        for (name, value) in query_pairs(query) {
            let value = String::from_utf8_lossy(&value);
            match &*name {
                b"network" => {
                    let network = value.parse::<Network>();
                    block.network = Some(network.map_err(|error| error.to_string())?);
                }
                b"for" => {
                    let time = Time::from_text(&value);
                    let time =
                        time.map_err(|reason| format!("`for` cannot be {value}: {reason}"))?;
                    block.seconds = Some(time.as_secs().max(1));
                }
                b"reason" => block.reason = value.into_owned(),
                name => {
                    let name = String::from_utf8_lossy(name);
                    return Err(format!(
                        "unknown parameter {name}: expected network, for or reason"
                    ));
                }
            }
        }
        Ok(block)
    }
}
