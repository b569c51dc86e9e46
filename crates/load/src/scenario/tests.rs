//! Tests of scenarios: findings in wrong documents, and the requests of users of right ones, which
//! a function answers.

// Servers of tests are tables of two rows, and may refuse to answer.
#![allow(clippy::match_bool, clippy::unnecessary_wraps)]

mod documents;
mod visits;

use std::time::Duration;

use vervet_config::Reading;

use super::{Inputs, Scenario};
use crate::request::{Common, Url};
use crate::script::{Answer, Script, Scripts as _, Step, Turn, Verdict};
use crate::share::Share;

/// Reads a document as if it were `s.toml`, with a server on the command line, or gives its
/// findings: place and message.
fn parse(text: &str) -> Result<Scenario, Vec<String>> {
    parse_with(text, Some("http://h:81"))
}

fn parse_with(text: &str, base: Option<&str>) -> Result<Scenario, Vec<String>> {
    let mut reading = read(text, base);
    reading.value.take().ok_or_else(|| findings(&reading))
}

/// A finding as one line: its place, its message, and what was expected or meant.
fn findings(reading: &Reading<Scenario>) -> Vec<String> {
    let line = |one: &vervet_config::Diagnostic| {
        let at = reading.sources.position(one.span).unwrap();
        let nearest = one.nearest.as_ref().map(|name| format!("; did you mean `{name}`?"));
        let expected = one.expected.as_ref().map(|it| format!("; expected {it}"));
        let more = nearest.or(expected).unwrap_or_default();
        format!("{}:{}: {}{more}", at.line, at.column, one.message)
    };
    reading.diagnostics.iter().map(line).collect()
}

fn read(text: &str, base: Option<&str>) -> Reading<Scenario> {
    let base = base.map(|base| Url::parse(base).unwrap());
    let mut read = |name: &str| match name {
        "users.csv" => Ok(b"name,word\nann,a b\nbob,x\n".to_vec()),
        "bad.csv" => Ok(b"name\n1,2\n".to_vec()),
        "body.bin" => Ok(b"{seq}".to_vec()),
        _ => Err("no such file".to_owned()),
    };
    let inputs = Inputs {
        common: Common { base: base.as_ref(), ..Common::default() },
        feed: None,
        seed: 1,
        share: Share::WHOLE,
        read: &mut read,
    };
    Scenario::read("s.toml", text, inputs)
}

/// What a server says to a request: status, field lines and content.
struct ServerResponse {
    status: u16,
    fields: String,
    content: String,
}

fn response(status: u16, fields: &str, content: &str) -> Option<ServerResponse> {
    Some(ServerResponse { status, fields: fields.to_owned(), content: content.to_owned() })
}

/// One user whose requests a function answers, with what it did, a line each.
struct SimulatedUser<'s> {
    scenario: &'s Scenario,
    script: Box<dyn Script>,
    elapsed: Duration,
    lines: Vec<String>,
}

impl<'s> SimulatedUser<'s> {
    fn new(scenario: &'s Scenario) -> Self {
        Self { script: scenario.user(0), scenario, elapsed: Duration::ZERO, lines: Vec::new() }
    }

    /// Goes on for so many turns. A missing answer is a request that failed.
    fn run(mut self, turns: usize, server: impl Fn(&str) -> Option<ServerResponse>) -> Vec<String> {
        let mut last: Option<ServerResponse> = None;
        for _ in 0..turns {
            let mut out = Vec::new();
            let held = last.take();
            let answer = held.as_ref().map(answer);
            let turn = Turn { elapsed: self.elapsed, answer: answer.as_ref() };
            match self.script.next(&turn, &mut out) {
                Step::End => {
                    self.lines.push("end".to_owned());
                    break;
                }
                Step::Wait(time) => {
                    self.elapsed += time;
                    self.lines.push(format!("wait {} ms", time.as_millis()));
                }
                Step::Send(request) => {
                    self.elapsed += Duration::from_secs(1);
                    let text = String::from_utf8(out).unwrap();
                    last = server(&text);
                    let name = &self.scenario.steps()[usize::from(request.step)];
                    let text = text.replace(" HTTP/1.1\r\nHost: h:81\r\n", "\r\n");
                    let text = text.replace("\r\n", "|").replace("||", "|");
                    let verdict = self.judge(name, last.as_ref());
                    self.lines.push(format!("{name}> {text}{verdict}"));
                }
            }
        }
        self.lines
    }

    fn judge(&mut self, step: &str, said: Option<&ServerResponse>) -> String {
        let Some(said) = said else {
            return " ! no answer".to_owned();
        };
        match self.script.judge(&answer(said)) {
            Verdict::Passed => String::new(),
            Verdict::Failed(number) => {
                format!(" ! {step}: {}", self.scenario.assertions()[usize::from(number)])
            }
        }
    }
}

fn answer(said: &ServerResponse) -> Answer<'_> {
    Answer {
        status: said.status,
        fields: said.fields.as_bytes(),
        content: said.content.as_bytes(),
        content_bytes: said.content.len() as u64,
    }
}
