//! One user who runs scenarios, visit after visit.
//!
//! A visit runs each step: the request, its redirects, its resources, the think time. A failed step
//! ends the visit, as later ones would fail for the same reason. A failed resource counts as an
//! error and does not end the visit, like a missing image in a browser.

use std::sync::Arc;
use std::time::Duration;

use super::answer::AnswerView;
use super::cookies::Jar;
use super::document::{Cookies, Think};
use super::plan::{Kind, Plan, Step as Planned};
use super::redirect::{RedirectMethod, redirect_method, resolve};
use crate::request::Extra;
use crate::script::{Answer, Request, Script, Step, Turn, UNCHECKED, Verdict};
use crate::template::Values;

/// One user.
#[derive(Debug)]
pub(super) struct User {
    plan: Arc<Plan>,
    values: Values,
    jar: Jar,
    visit: Option<Visit>,
    /// What became of the request that was sent last, until it is looked at.
    outcome: Option<Outcome>,
    /// Time since the start of the run, at the last call.
    now: Duration,
    /// The last request target.
    target: Vec<u8>,
    cookie_line: Vec<u8>,
}

/// Where a visit is.
#[derive(Debug)]
struct Visit {
    kind: usize,
    step: usize,
    state: VisitState,
}

#[derive(Debug)]
enum VisitState {
    /// The request of the step is next, or under way.
    Request,
    /// A redirect; the number of redirects followed so far.
    Redirect { target: Vec<u8>, redirect_method: RedirectMethod, followed: u8 },
    /// The resource of this number is.
    Resource(usize),
    /// Time to think; then this.
    Think(After),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    NextStep,
    NextVisit,
}

#[derive(Debug)]
enum Outcome {
    /// Sent, without a response yet.
    Open,
    Passed,
    Failed,
    Redirect {
        target: Vec<u8>,
        redirect_method: RedirectMethod,
    },
}

impl User {
    pub(super) fn new(plan: Arc<Plan>, values: Values) -> Self {
        Self {
            plan,
            values,
            jar: Jar::default(),
            visit: None,
            outcome: None,
            now: Duration::ZERO,
            target: Vec::new(),
            cookie_line: Vec::new(),
        }
    }

    /// Begins a visit; `false` when the feed has no more rows.
    fn begin_visit(&mut self) -> bool {
        let kind = self.plan.mix.next();
        if self.plan.kinds[kind].uses_feed && !self.values.take_row() {
            return false;
        }
        if self.plan.kinds[kind].cookies != Cookies::User {
            self.jar.clear();
        }
        self.values.clear_captures();
        self.visit = Some(Visit { kind, step: 0, state: VisitState::Request });
        true
    }

    /// Draws the time to think from its range.
    fn think(&mut self, Think { from, to }: Think) -> Duration {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        if from == to {
            return from;
        }
        Duration::from_micros(self.values.random(micros(from), micros(to)))
    }

    /// Appends the request of the part that the visit is at.
    fn send(&mut self, kind: usize, step: usize, out: &mut Vec<u8>) -> Option<Request> {
        let plan = Arc::clone(&self.plan);
        let kind = &plan.kinds[kind];
        let step = &kind.steps[step];
        let part = &self.visit.as_ref()?.state;
        let (message, number, target) = match part {
            VisitState::Request => (&step.message, step.number, None),
            VisitState::Resource(number) => {
                (step.resources.get(*number)?, step.resource.step, None)
            }
            VisitState::Redirect { target, redirect_method, .. } => {
                let message = match redirect_method {
                    RedirectMethod::Get => &step.followed,
                    RedirectMethod::Same => &step.message,
                };
                (message, step.number, Some(target.as_slice()))
            }
            VisitState::Think(_) => return None,
        };
        if target.is_none() {
            self.values.begin_request();
        }
        self.target.clear();
        match target {
            Some(target) => self.target.extend_from_slice(target),
            None => message.render_target(&mut self.values, &mut self.target),
        }
        self.cookie_line.clear();
        if kind.cookies != Cookies::None && !step.own_cookies {
            self.jar.push_line(&self.target, self.now, &mut self.cookie_line);
        }
        let extra = Extra { target: Some(&self.target), fields: &self.cookie_line };
        message.render(&mut self.values, extra, out);
        Some(Request {
            check: UNCHECKED,
            step: number,
            content: message.content_of_answer(),
            due: None,
        })
    }

    /// Moves the visit on by what became of the request.
    fn advance(&mut self, outcome: Outcome) {
        let Some(visit) = &mut self.visit else {
            return;
        };
        let followed = match visit.state {
            VisitState::Redirect { followed, .. } => followed,
            _ => 0,
        };
        visit.state = match (&visit.state, outcome) {
            (VisitState::Resource(number), _) => VisitState::Resource(number + 1),
            (_, Outcome::Redirect { target, redirect_method }) => {
                VisitState::Redirect { target, redirect_method, followed: followed + 1 }
            }
            (_, Outcome::Passed) => VisitState::Resource(0),
            (_, Outcome::Open | Outcome::Failed) => VisitState::Think(After::NextVisit),
        };
    }

    /// The redirect of a response, or the verdict on one that cannot be followed.
    fn redirect(
        &self,
        kind: &Kind,
        step: &Planned,
        view: &AnswerView<'_>,
    ) -> Option<Result<Outcome, u16>> {
        let followed = match self.visit.as_ref()?.state {
            VisitState::Request => 0,
            VisitState::Redirect { followed, .. } => followed,
            VisitState::Resource(_) | VisitState::Think(_) => return None,
        };
        if kind.redirects == 0 {
            return None;
        }
        let method = match self.visit.as_ref()?.state {
            VisitState::Redirect { redirect_method: RedirectMethod::Get, .. } => "GET",
            _ => step.message.method(),
        };
        let redirect_method = redirect_method(view.answer.status, method)?;
        let location = view.field("location")?;
        if followed == kind.redirects {
            return Some(Err(step.redirect));
        }
        let target = resolve(location, &self.target, &self.plan.base.host);
        // Once by GET, always by GET: the content of the first request was for the first target.
        let redirect_method =
            if method == step.message.method() { redirect_method } else { RedirectMethod::Get };
        let outcome = target.map(|target| Outcome::Redirect { target, redirect_method });
        Some(outcome.ok_or(step.redirect))
    }

    /// The first assertion or capture of a step that fails.
    fn failed(&mut self, step: &Planned, view: &AnswerView<'_>) -> Option<u16> {
        let broken = step.expects.iter().find(|rule| !rule.what.holds(view));
        if let Some(rule) = broken {
            return Some(rule.assertion);
        }
        let values = &mut self.values;
        let missed = step.captures.iter().find(|capture| {
            let (slot, what) = &capture.what;
            !what.take(view, values.capture(*slot))
        });
        missed.map(|capture| capture.assertion)
    }
}

impl Script for User {
    fn next(&mut self, turn: &Turn<'_>, out: &mut Vec<u8>) -> Step {
        self.now = turn.elapsed;
        if let Some(outcome) = self.outcome.take() {
            self.advance(outcome);
        }
        loop {
            let Some(visit) = &mut self.visit else {
                if !self.begin_visit() {
                    return Step::End;
                }
                continue;
            };
            let (kind, step) = (visit.kind, visit.step);
            let planned = &self.plan.kinds[kind].steps[step];
            match visit.state {
                VisitState::Resource(number) if number >= planned.resources.len() => {
                    visit.state = VisitState::Think(After::NextStep);
                }
                VisitState::Think(after) => {
                    let think = planned.think;
                    let is_last = step + 1 == self.plan.kinds[kind].steps.len();
                    if after == After::NextVisit || is_last {
                        self.visit = None;
                    } else {
                        visit.step += 1;
                        visit.state = VisitState::Request;
                    }
                    let think = self.think(think);
                    if !think.is_zero() {
                        return Step::Wait(think);
                    }
                }
                VisitState::Request | VisitState::Redirect { .. } | VisitState::Resource(_) => {
                    if let Some(request) = self.send(kind, step, out) {
                        self.outcome = Some(Outcome::Open);
                        return Step::Send(request);
                    }
                }
            }
        }
    }

    fn reads_answers(&self) -> bool {
        true
    }

    fn judge(&mut self, answer: &Answer<'_>) -> Verdict {
        let Some(visit) = &self.visit else {
            return Verdict::Passed;
        };
        let plan = Arc::clone(&self.plan);
        let kind = &plan.kinds[visit.kind];
        let step = &kind.steps[visit.step];
        if kind.cookies != Cookies::None {
            self.jar.take(answer.fields, &self.target, self.now);
        }
        if let VisitState::Resource(_) = visit.state {
            self.outcome = Some(Outcome::Passed);
            if (200..400).contains(&answer.status) {
                return Verdict::Passed;
            }
            return Verdict::Failed(step.resource.assertion);
        }
        let view = AnswerView::new(answer);
        let (outcome, verdict) = match self.redirect(kind, step, &view) {
            Some(Ok(outcome)) => (outcome, Verdict::Passed),
            Some(Err(assertion)) => (Outcome::Failed, Verdict::Failed(assertion)),
            None => match self.failed(step, &view) {
                Some(assertion) => (Outcome::Failed, Verdict::Failed(assertion)),
                None => (Outcome::Passed, Verdict::Passed),
            },
        };
        self.outcome = Some(outcome);
        verdict
    }
}
