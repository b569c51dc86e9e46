//! Who is shut out for now: listed, blocked and let in again while the server runs.

use vervet_config::{FromText as _, Time};
use vervet_engine::reactor::Now;
use vervet_http::method::Method;
use vervet_http::status::Status;
use vervet_http::target::query_pairs;

use serde_json::json;

use super::service::Answer;
use crate::filters::blocks::{Blocks, Unblocked};
use crate::filters::networks::Network;

/// What the query of a request says.
#[derive(Default)]
struct Wanted {
    network: Option<Network>,
    /// For how long, in seconds; for ever without it.
    seconds: Option<u64>,
    reason: String,
}

/// The answer to a request for the blocks.
pub(super) fn answer(blocks: &Blocks, method: Method, query: &[u8], now: Now) -> Answer {
    if matches!(method, Method::Get | Method::Head) {
        return list(blocks, now);
    }
    let wanted = match Wanted::read(query) {
        Ok(wanted) => wanted,
        Err(reason) => return Answer::text(Status::BAD_REQUEST, &format!("{reason}\n")),
    };
    let Some(network) = wanted.network else {
        let usage = "which network? /-/blocks?network=192.0.2.0/24&for=1h&reason=scanner\n";
        return Answer::text(Status::BAD_REQUEST, usage);
    };
    if method == Method::Delete {
        return unblock(blocks, network, now);
    }
    let until = wanted
        .seconds
        .map(|seconds| now.unix_seconds.saturating_add(seconds));
    match blocks.block(network, &wanted.reason, until, now) {
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
        Unblocked::Removed(_) => Answer::text(Status::OK, &format!("{network} is let in\n")),
        Unblocked::Covered(wider) => {
            let text = format!("{network} is blocked by {}: unblock that\n", wider.network);
            Answer::text(Status::CONFLICT, &text)
        }
        Unblocked::NotBlocked => {
            Answer::text(Status::NOT_FOUND, &format!("{network} is not blocked\n"))
        }
    }
}

impl Wanted {
    fn read(query: &[u8]) -> Result<Self, String> {
        let mut wanted = Self::default();
        for (name, value) in query_pairs(query) {
            let value = String::from_utf8_lossy(&value);
            match &*name {
                b"network" => {
                    let network = value.parse::<Network>();
                    wanted.network = Some(network.map_err(|error| error.to_string())?);
                }
                b"for" => {
                    let time = Time::from_text(&value);
                    let time =
                        time.map_err(|reason| format!("`for` cannot be {value}: {reason}"))?;
                    wanted.seconds = Some(time.as_secs().max(1));
                }
                b"reason" => wanted.reason = value.into_owned(),
                name => {
                    let name = String::from_utf8_lossy(name);
                    return Err(format!("there is no {name} (network, for, reason)"));
                }
            }
        }
        Ok(wanted)
    }
}
