//! What users ask: a URL, a list of targets, a scenario, a recording of a browser, or a log that is replayed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use vervet_load::feed::{Cursor, Feed, Order};
use vervet_load::har::{self, Hosts};
use vervet_load::replay::{Log, Methods, Replay};
use vervet_load::request::{
    Common, Content, Credentials, Draft, Part, Requests, Url, Weighted, split_field,
};
use vervet_load::scenario::{Scenario, Setting};
use vervet_load::script::Scripts;
use vervet_load::targets;
use vervet_load::template::{Names, Shared};

use super::arguments::{LoadArguments, RequestArguments};
use super::outcome::Refused;
use super::plan::closes;
use crate::talk;

/// What is asked of whom.
pub(crate) type Asked = (Url, Arc<dyn Scripts>);

/// The file that says what is asked, if one does.
pub(crate) fn file(arguments: &LoadArguments) -> Option<&PathBuf> {
    let request = &arguments.request;
    let files = [
        &request.targets,
        &request.scenario,
        &request.har,
        &request.replay,
    ];
    files.into_iter().flatten().next()
}

/// What users ask.
pub(crate) fn of(arguments: &LoadArguments) -> Result<Asked, Refused> {
    let request = &arguments.request;
    let url = arguments.url.as_deref().map(Url::parse).transpose();
    let url = url.map_err(Refused::usage)?;
    let fields = fields(arguments)?;
    let pair = request.basic.as_ref();
    let credentials = pair.map(|pair| Credentials::new(pair.as_bytes()));
    let feed = feed(request)?;
    let columns = feed
        .as_ref()
        .map_or(Vec::new(), |feed| feed.feed().columns().to_vec());
    let common = Common {
        base: url.as_ref(),
        fields: &fields,
        credentials: credentials.as_ref(),
        columns: &columns,
        ..Common::default()
    };
    let seed = arguments.load.seed;
    if let Some(file) = &request.scenario {
        return scenario(file, &read_text(file)?, common, feed, seed);
    }
    if let Some(file) = &request.har {
        let bytes = fs::read(file).map_err(Refused::file(file))?;
        let name = file.display().to_string();
        let converted = har::convert(&name, &bytes, Hosts::First);
        let converted = converted.map_err(|findings| Refused::findings(&findings))?;
        for note in &converted.notes {
            talk::say(format_args!("note: {note}"));
        }
        return scenario(file, &converted.document, common, feed, seed);
    }
    if let Some(file) = &request.replay {
        return replay(file, url.clone(), common, request.speed);
    }
    let (url, list) = match &request.targets {
        Some(file) => list(file, &common)?,
        None => one(request, url.clone(), &common)?,
    };
    let shared = Arc::new(Shared::new(feed, seed));
    Ok((url, Arc::new(Requests::new(list, shared))))
}

fn fields(arguments: &LoadArguments) -> Result<Vec<(String, String)>, Refused> {
    let request = &arguments.request;
    let fields = request.fields.iter().map(|text| split_field(text));
    let mut fields = fields
        .collect::<Result<Vec<_>, _>>()
        .map_err(Refused::usage)?;
    if closes(arguments) {
        fields.push(("Connection".to_owned(), "close".to_owned()));
    }
    if let Some(kind) = &request.content_type {
        fields.push(("Content-Type".to_owned(), kind.clone()));
    }
    Ok(fields)
}

fn feed(request: &RequestArguments) -> Result<Option<Cursor>, Refused> {
    let Some(file) = &request.feed else {
        return Ok(None);
    };
    let bytes = fs::read(file).map_err(Refused::file(file))?;
    let feed = Feed::parse(&file.display().to_string(), &bytes);
    let feed = feed.map_err(|findings| Refused::findings(&findings))?;
    let order: Order = request.feed_order.parse().map_err(Refused::usage)?;
    Ok(Some(Cursor::new(Arc::new(feed), order)))
}

fn scenario(
    file: &Path,
    text: &str,
    common: Common<'_>,
    feed: Option<Cursor>,
    seed: u64,
) -> Result<Asked, Refused> {
    let mut read = beside(file);
    let setting = Setting {
        common,
        feed,
        seed,
        read: &mut read,
    };
    let scenario = Scenario::parse(&file.display().to_string(), text, setting);
    let scenario = scenario.map_err(|findings| Refused::findings(&findings))?;
    Ok((scenario.base().clone(), Arc::new(scenario)))
}

fn replay(file: &Path, url: Option<Url>, common: Common<'_>, speed: f64) -> Result<Asked, Refused> {
    let url = url.ok_or_else(|| Refused::usage("a log says no server: give its URL"))?;
    let mut log = Log::new(url.clone(), common, Methods::Safe);
    let bytes = fs::read(file).map_err(Refused::file(file))?;
    for line in bytes.split(|byte| *byte == b'\n') {
        log.line(line);
    }
    let tally = log.tally();
    talk::say(format_args!("{}: {tally}", file.display()));
    if tally.taken == 0 {
        return Err(Refused::usage("there is nothing to replay"));
    }
    Ok((url, Arc::new(Replay::new(log, speed))))
}

fn list(file: &Path, common: &Common<'_>) -> Result<(Url, Vec<Weighted>), Refused> {
    let text = read_text(file)?;
    let name = file.display().to_string();
    let list = targets::parse(&name, &text, common, &mut beside(file));
    list.map_err(|findings| Refused::findings(&findings))
}

/// Reads files that a file names, from where it lies.
fn beside(file: &Path) -> impl FnMut(&str) -> Result<Vec<u8>, String> {
    let folder = file.parent().unwrap_or(Path::new("")).to_owned();
    move |name| fs::read(folder.join(name)).map_err(|error| error.to_string())
}

fn one(
    request: &RequestArguments,
    url: Option<Url>,
    common: &Common<'_>,
) -> Result<(Url, Vec<Weighted>), Refused> {
    let url = url.ok_or_else(|| Refused::usage("the URL is missing"))?;
    let draft = draft(request, &url, common)?;
    let name = format!("{} {}", draft.method(), draft.target);
    let names = Names {
        columns: common.columns,
        ..Names::default()
    };
    let message = draft.compile(&names).map_err(|faults| {
        let texts = faults.iter().map(|fault| match fault.part {
            Part::Field(at) => format!("field {}: {}", at + 1, fault.message),
            _ => fault.message.clone(),
        });
        Refused::usage(texts.collect::<Vec<_>>().join("\n"))
    })?;
    let only = Weighted {
        name,
        weight: 1,
        message,
    };
    Ok((url, vec![only]))
}

fn draft(request: &RequestArguments, url: &Url, common: &Common<'_>) -> Result<Draft, Refused> {
    let mut draft = Draft::get(url);
    common.apply(&mut draft);
    for pair in &request.cookie {
        draft.add_cookie(pair);
    }
    let file = request.data_file.as_ref().or(request.put.as_ref());
    draft.content = match (&request.data, file) {
        (Some(text), _) => Content::Text(text.clone()),
        (None, Some(file)) => Content::Bytes(fs::read(file).map_err(Refused::file(file))?),
        (None, None) => Content::None,
    };
    draft.method = match (&request.method, request.head, &request.put) {
        (Some(method), ..) => method.clone(),
        (None, true, _) => "HEAD".to_owned(),
        (None, false, Some(_)) => "PUT".to_owned(),
        (None, false, None) => String::new(),
    };
    Ok(draft)
}

/// Reads a file as text.
pub(crate) fn read_text(file: &Path) -> Result<String, Refused> {
    fs::read_to_string(file).map_err(Refused::file(file))
}
