//! The handler of a page: methods, the form, and the response, at once or later.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use vervet_engine::{Content, Exchange, Outcome, Response};
use vervet_http::field::Known;
use vervet_http::h1::ContentLength;
use vervet_http::method::Method;
use vervet_http::status::Status;

use crate::pages::form;
use crate::pages::input::Input;
use crate::pages::page::Page;
use crate::pages::rendered::{Rendered, Rendering};
use crate::pages::renderer::{PendingRender, Renderer};
use crate::response::Head;
use crate::web::{Action, Handler, Request};

/// The methods that pages know.
const ALLOW: &[u8] = b"GET, HEAD, POST, OPTIONS";

/// A page as the action of a route.
#[derive(Debug, Clone)]
pub struct PageAction {
    page: Arc<Page>,
}

impl PageAction {
    /// The action that answers with `page`.
    pub fn new(page: Arc<Page>) -> Self {
        Self { page }
    }

    /// Returns the page that it renders.
    pub fn page(&self) -> &Arc<Page> {
        &self.page
    }
}

impl Action for PageAction {
    fn name(&self) -> &'static str {
        "page"
    }

    fn handler(&self) -> Box<dyn Handler> {
        Box::new(PageHandler::new(&self.page))
    }
}

/// The handler of a page on one reactor.
#[derive(Debug)]
pub struct PageHandler {
    // Shared with the renderings that wait for a form, on the same thread.
    renderer: Rc<RefCell<Renderer>>,
}

impl PageHandler {
    /// A handler for one reactor.
    pub fn new(page: &Arc<Page>) -> Self {
        Self { renderer: Rc::new(RefCell::new(Renderer::new(page))) }
    }

    fn page(&mut self, input: &Input<'_>, exchange: Exchange<'_>) -> Outcome {
        let now = exchange.now();
        let pending = match self.renderer.borrow_mut().begin(input, now) {
            Ok(pending) => pending,
            Err(rendered) => return Outcome::Done(rendered.into()),
        };
        let has_content = exchange.head().content() != ContentLength::None;
        if pending.wants_form() && has_content {
            return self.page_with_form(pending, exchange);
        }
        match self.renderer.borrow_mut().finish(pending, b"") {
            Rendering::Plain { head, content } => exchange.send_whole(Status::OK, head, content),
            Rendering::Made(rendered) => Outcome::Done(rendered.into()),
        }
    }

    fn page_with_form(&mut self, pending: PendingRender, mut exchange: Exchange<'_>) -> Outcome {
        let head = exchange.head();
        let bytes_max = self.renderer.borrow().page().options.limits.form_bytes_max;
        if let Err(fault) = form::check_head(&head.fields, head.content(), bytes_max) {
            return Outcome::Done(self.renderer.borrow().refused(fault.status, &fault.text).into());
        }
        let Some(reader) = exchange.content() else {
            // Taken by a filter before us: there is no form left.
            let rendered = Rendered::from(self.renderer.borrow_mut().finish(pending, b""));
            return Outcome::Done(rendered.into());
        };
        let spawner = exchange.spawner().clone();
        let (responder, outcome) = exchange.later();
        let renderer = Rc::clone(&self.renderer);
        spawner.spawn(async move {
            let answer: Rendered = match form::read(reader, bytes_max).await {
                Ok(content) => renderer.borrow_mut().finish(pending, &content).into(),
                Err(fault) => renderer.borrow().refused(fault.status, &fault.text),
            };
            responder.send(answer.into());
        });
        outcome
    }

    fn other_method(&self, method: Method) -> Response {
        let renderer = self.renderer.borrow();
        let server = &renderer.page().options.server;
        let status = match method {
            Method::Options => Status::NO_CONTENT,
            Method::Unknown => Status::NOT_IMPLEMENTED,
            _ => Status::METHOD_NOT_ALLOWED,
        };
        let mut head = Head::new(status, server);
        head.field(Known::Allow, ALLOW);
        if status == Status::NO_CONTENT {
            return head.into_response(status, Content::Empty);
        }
        head.field(Known::ContentType, b"text/html; charset=utf-8");
        let text = "Pages support only GET, HEAD, POST and OPTIONS.";
        head.into_response(status, crate::pages::notice::notice(status, text))
    }
}

impl Handler for PageHandler {
    fn answer(&mut self, request: &Request<'_>, exchange: Exchange<'_>) -> Outcome {
        match request.head.method {
            Method::Get | Method::Head | Method::Post => {}
            other => return Outcome::Done(self.other_method(other)),
        }
        let captures: Vec<_> = request
            .captures
            .iter(&request.path)
            .map(|(variable, value)| (&*variable.name, Cow::Borrowed(value)))
            .collect();
        let input = Input {
            method: request.head.method_token,
            host: &request.host,
            target: request.head.target,
            query: request.query.as_deref(),
            captures: &captures,
            fields: &request.head.fields,
            client: request.client(),
        };
        self.page(&input, exchange)
    }
}
