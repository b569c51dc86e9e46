//! The HTML report of a run. Each chart has a table; the page also contains the whole run as JSON,
//! and ends with the definitions.

use std::fmt::{Arguments, Write as _};

use super::super::definitions::{DEFINITIONS, Definition};
use super::super::table::Table;
use super::super::{json, tables, words};
use super::charts;
use crate::audit::{Finding, Verdict};
use crate::chart::STYLE;
use crate::escape::{Html, json_in_html};
use crate::interval::Interval;
use crate::run::Run;
use crate::units::{bytes, moment, percent, rate};

/// The style of the page.
const PAGE_STYLE: &str = include_str!("page.css");
/// Rows of the table of intervals; the JSON in the page has all.
const INTERVAL_ROWS_MAX: usize = 600;

/// Points of a chart over time: of more, neighbours are put together, or spikes would hide each
/// other.
const PIECES_MAX: usize = 120;

/// The run as a page.
pub fn html(run: &Run) -> String {
    let mut page = Page(String::new());
    page.head(run);
    page.banner(run);
    page.cards(run);
    page.conditions(run);
    page.search(run);
    page.audit(run);
    page.times(run);
    page.series(run);
    page.failures(run);
    page.scenario(run);
    page.watched(run);
    page.rest(run);
    page.definitions();
    page.data(run);
    page.0
}

/// The page in the making.
struct Page(String);

impl Page {
    fn add(&mut self, html: Arguments<'_>) {
        let _ = self.0.write_fmt(html);
    }

    fn head(&mut self, run: &Run) {
        let target = Html(&run.asked.target);
        let (tool, moment) = (Html(&run.tool), moment(run.started_unix_ms));
        let mode = run.asked.mode.name();
        // The page asks for nothing, and the browser holds it to that.
        self.add(format_args!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>Load run on {target}</title>\n<style>\n{PAGE_STYLE}{STYLE}</style>\n</head>\n<body>\n<main>\n\
             <header><p class=\"kind\">Load run, {mode} load</p><h1>{target}</h1>\n\
             <p class=\"quiet\">{moment}, by {tool}</p></header>\n"
        ));
    }

    fn banner(&mut self, run: &Run) {
        let (class, sign) = match run.verdict() {
            _ if run.findings.is_empty() => ("warning", "!"),
            Verdict::Passed => ("passed", "✓"),
            Verdict::Warning => ("warning", "!"),
            Verdict::Failed => ("failed", "✗"),
        };
        let verdict = words::verdict(run);
        self.add(format_args!(
            "<p class=\"banner {class}\"><span aria-hidden=\"true\">{sign}</span> {verdict}</p>\n"
        ));
    }

    fn cards(&mut self, run: &Run) {
        let response = &run.timings.response;
        let at = |quantile| tables::at(response, quantile);
        let asked = run.achieved.rate_asked().map_or_else(
            || "successful responses; no requested rate".to_owned(),
            |asked| format!("successful responses, of {} requested", rate(asked)),
        );
        let mean = format!("response time; mean {}", tables::mean(response));
        let cards = [
            ("Rate", rate(run.achieved.rate()), asked),
            ("p50", at(0.5), mean),
            ("p99", at(0.99), format!("response time; longest {}", at(1.0))),
            ("Failed", percent(run.error_share()), "of finished requests".to_owned()),
            (
                "Goodput",
                format!("{}/s", bytes(run.achieved.goodput())),
                "bodies of successful responses".to_owned(),
            ),
        ];
        self.0.push_str("<dl class=\"cards\">\n");
        for (name, value, more) in cards {
            self.add(format_args!(
                "<div><dt>{name}</dt><dd><b>{value}</b><small>{more}</small></dd></div>\n"
            ));
        }
        self.0.push_str("</dl>\n");
    }

    fn conditions(&mut self, run: &Run) {
        if !run.conditions.is_empty() {
            self.section("Conditions", &tables::conditions(run));
        }
    }

    fn search(&mut self, run: &Run) {
        if let Some(search) = &run.search {
            self.section("Search for the highest rate", &tables::tries(search));
            let bracket = tables::bracket(search);
            self.add(format_args!("<p class=\"quiet\">{}.</p>\n", Html(&bracket)));
        }
    }

    /// Failed rules and warnings of the audit; passed rules are folded.
    fn audit(&mut self, run: &Run) {
        if run.findings.is_empty() {
            return;
        }
        self.0.push_str("<h2>Are these figures reliable?</h2>\n");
        let mut findings: Vec<_> = run.findings.iter().collect();
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.verdict));
        let (passed, against): (Vec<_>, Vec<_>) =
            findings.into_iter().partition(|finding| finding.verdict == Verdict::Passed);
        self.findings(&against);
        if !passed.is_empty() {
            let rules = if passed.len() == 1 { "rule" } else { "rules" };
            self.add(format_args!("<details><summary>{} {rules} passed</summary>\n", passed.len()));
            self.findings(&passed);
            self.0.push_str("</details>\n");
        }
    }

    fn findings(&mut self, findings: &[&Finding]) {
        if findings.is_empty() {
            return;
        }
        self.0.push_str("<ul class=\"audit\">\n");
        for finding in findings {
            self.finding(finding);
        }
        self.0.push_str("</ul>\n");
    }

    fn finding(&mut self, finding: &Finding) {
        let verdict = finding.verdict.name();
        let (rule, measured, bound) =
            (Html(&finding.rule), Html(&finding.measured), Html(&finding.bound));
        self.add(format_args!(
            "<li class=\"{verdict}\"><b>{verdict}</b> <code>{rule}</code> <span>{measured} (bound: {bound})</span>"
        ));
        for phrase in [&finding.meaning, &finding.advice] {
            if finding.verdict != Verdict::Passed && !phrase.is_empty() {
                let sentence = words::sentence(phrase);
                self.add(format_args!("<p>{}</p>", Html(&sentence)));
            }
        }
        self.0.push_str("</li>\n");
    }

    fn times(&mut self, run: &Run) {
        self.section("Response times", &tables::times(run));
        let (response, service) = (Html(words::RESPONSE), Html(words::SERVICE));
        self.add(format_args!("<p class=\"quiet\">{response}.<br>{service}.</p>\n"));
        self.figure("distribution", &charts::distribution(run));
        self.table(&tables::percentiles(run));
    }

    fn series(&mut self, run: &Run) {
        if run.intervals.is_empty() {
            return;
        }
        self.0.push_str("<h2>Over time</h2>\n");
        let pieces = Interval::coarser(&run.intervals, PIECES_MAX);
        self.figure("rate", &charts::rate(run, &pieces));
        self.figure("quantiles", &charts::quantiles(run, &pieces));
        if let (true, Some(piece)) = (pieces.len() < run.intervals.len(), pieces.first()) {
            let length = words::of_ms(piece.length_ms);
            self.add(format_args!(
                "<p class=\"quiet\">Each point of the charts covers {length}.</p>\n"
            ));
        }
        self.folded(&tables::intervals(run, INTERVAL_ROWS_MAX));
        if run.intervals.len() > INTERVAL_ROWS_MAX {
            self.add(format_args!(
                "<p class=\"quiet\">The table has the first {INTERVAL_ROWS_MAX} of {} intervals; the data in this page has all.</p>\n",
                run.intervals.len()
            ));
        }
    }

    fn failures(&mut self, run: &Run) {
        self.0.push_str("<h2>Failed requests</h2>\n");
        if run.errors.total() == 0 {
            self.0.push_str("<p>None.</p>\n");
            return;
        }
        let chart = charts::errors(run);
        self.two_sizes(|size, id| chart.svg(id, size), "errors", &chart.title);
        self.table(&tables::errors(run));
    }

    fn scenario(&mut self, run: &Run) {
        if !run.steps.is_empty() {
            self.section("Steps of the scenario", &tables::steps(run));
            let failures = tables::step_failures(run);
            if !failures.is_empty() {
                self.table(&failures);
            }
        }
        if !run.slowest.requests().is_empty() {
            self.section("Slowest requests", &tables::slowest(run));
        }
    }

    fn watched(&mut self, run: &Run) {
        if run.watched.is_empty() {
            return;
        }
        self.0.push_str("<h2>The server's processes</h2>\n");
        self.figure("processor", &charts::processor(run));
        self.figure("memory", &charts::memory(run));
        self.table(&tables::watched(run));
    }

    fn rest(&mut self, run: &Run) {
        self.section("Settings", &tables::settings(run));
        self.section("Results", &tables::achieved(run));
        self.section("Machine of the generator", &tables::machine(run));
    }

    fn definitions(&mut self) {
        self.0.push_str("<h2>Definitions</h2>\n<dl class=\"definitions\">\n");
        for Definition { name, unit, formula, meaning } in DEFINITIONS {
            let (name, unit, formula, meaning) =
                (Html(name), Html(unit), Html(formula), Html(meaning));
            self.add(format_args!(
                "<dt>{name} <small>{unit}</small></dt><dd>{meaning} <code>{formula}</code></dd>\n"
            ));
        }
        self.0.push_str("</dl>\n");
    }

    fn data(&mut self, run: &Run) {
        let data = json_in_html(&json::json(run));
        self.add(format_args!(
            "<p class=\"quiet\">This page contains the whole run as JSON, in the element <code>#run</code>.</p>\n</main>\n\
             <script type=\"application/json\" id=\"run\">\n{data}</script>\n</body>\n</html>\n"
        ));
    }

    fn section(&mut self, heading: &str, table: &Table) {
        let heading = Html(heading);
        self.add(format_args!("<h2>{heading}</h2>\n"));
        self.table(table);
    }

    fn table(&mut self, table: &Table) {
        self.0.push_str(&table.html());
    }

    fn folded(&mut self, table: &Table) {
        let (summary, table) = (Html(&table.caption), table.html());
        self.add(format_args!("<details><summary>{summary}</summary>\n{table}</details>\n"));
    }

    fn figure(&mut self, id: &str, chart: &crate::chart::LineChart) {
        self.two_sizes(|size, id| chart.svg(id, size), id, &chart.title);
    }

    /// A chart drawn for a wide and for a narrow window, of which one is shown.
    fn two_sizes(
        &mut self,
        draw: impl Fn(crate::chart::Size, &str) -> String,
        id: &str,
        title: &str,
    ) {
        use crate::chart::Size;
        let (wide, narrow) =
            (draw(Size::WIDE, &format!("{id}-w")), draw(Size::NARROW, &format!("{id}-n")));
        let title = Html(title);
        self.add(format_args!(
            "<figure><figcaption>{title}</figcaption>\n<div class=\"wide\">\n{wide}</div>\n\
             <div class=\"narrow\">\n{narrow}</div></figure>\n"
        ));
    }
}
