//! The states of a connection, as one table.
//!
//! # Theory
//!
//! An HTTP/1.1 connection carries exchanges one after another. In each of them **both** sides
//! speak: the client sends a request (head, content, end), the server sends a response (any number
//! of interim heads, one final head, content, end). The two run side by side: a server may answer
//! before the request has ended. So a connection is not one state but a pair, one for each side,
//! and both peers keep the same pair, whichever side they are.
//!
//! What a side **sends** moves its own state, by [`step`]:
//!
//! ```text
//! client                                       server
//! Idle ──Request──▶ SendBody                   Idle ──Request (the client's)──▶ SendResponse
//! SendBody ──Content──▶ SendBody               Idle ──Response──▶ SendBody   (invalid request)
//! SendBody ──End──▶ Done                       SendResponse ──Informational──▶ SendResponse
//!                                              SendResponse ──Response──▶ SendBody
//!                                              SendResponse ──Switch──▶ Switched
//!                                              SendBody ──Content──▶ SendBody
//!                                              SendBody ──End──▶ Done
//! Idle, Done, MightSwitch, Switched, MustClose, Closed ──Close──▶ Closed        (both)
//! any ──Fail──▶ Error                                    (both)
//! ```
//!
//! Where a pair means more than its halves, [`Pair::settle`] moves on without an event:
//!
//! ```text
//! client Done, a switch proposed, no final response yet   client MightSwitch
//! client MightSwitch, server Switched                     client Switched
//! client MightSwitch, server SendBody or Done             client Done: the proposal was declined
//! either Done and the connection does not persist         that one MustClose
//! one Closed or Error, the other Idle or Done             the other MustClose
//! ```
//!
//! Only (Done, Done) leads back to (Idle, Idle), by [`Pair::start_next`]. Whatever is not above is
//! illegal: from our own caller it is an error and changes nothing, and a peer's bytes are not read
//! in a state that does not expect them.

/// A side of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The side that sends requests.
    Client,
    /// The side that sends responses.
    Server,
}

/// The state of one side of the exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Nothing of the next exchange was sent.
    Idle,
    /// Server only: a response must be sent.
    SendResponse,
    /// The head was sent, the end was not.
    SendBody,
    /// The whole message was sent.
    Done,
    /// Client only: a whole request that proposes another protocol was sent; the response decides.
    MightSwitch,
    /// HTTP/1.1 has ended on this connection (101, or a tunnel).
    Switched,
    /// No more messages: the connection must be closed.
    MustClose,
    /// The side has closed the connection.
    Closed,
    /// The side violated the protocol; nothing that it sends is read any more.
    Error,
}

/// An action of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// A request head is sent.
    Request,
    /// The head of a 1xx response other than 101.
    Informational,
    /// The head of a final response.
    Response,
    /// A 101 response, or a 2xx response to CONNECT.
    Switch,
    /// A piece of content is sent.
    Content,
    /// The end of the message.
    End,
    /// The end of the stream.
    Close,
    /// A violation of the protocol.
    Fail,
}

/// Whether another exchange may follow on the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Persistence {
    /// Another exchange may follow.
    Persist,
    /// This exchange is the last one.
    Close,
}

/// Whether the request of this exchange proposes to leave HTTP/1.1 (`Upgrade`, or CONNECT).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Proposal {
    /// No proposal was made, or it was declined.
    None,
    /// A proposal was made, and no final response was sent.
    Pending,
}

/// Returns the state of `role` after `event`; `None` if the move is illegal. See the table in the
/// module documentation.
#[allow(clippy::match_same_arms)] // one row for each row of the table
pub const fn step(role: Role, state: State, event: Event) -> Option<State> {
    use Event::{Close, Content, End, Fail, Informational, Request, Response, Switch};
    use Role::{Client, Server};
    use State::{
        Closed, Done, Error, Idle, MightSwitch, MustClose, SendBody, SendResponse, Switched,
    };
    let next = match (role, state, event) {
        (_, _, Fail) => Error,
        (_, Idle | Done | MightSwitch | Switched | MustClose | Closed, Close) => Closed,
        (Client, Idle, Request) => SendBody,
        (Server, Idle, Request) | (Server, SendResponse, Informational) => SendResponse,
        (Server, Idle | SendResponse, Response) => SendBody,
        (Server, SendResponse, Switch) => Switched,
        (_, SendBody, Content) => SendBody,
        (_, SendBody, End) => Done,
        _ => return None,
    };
    Some(next)
}

/// The states of both sides of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pair {
    /// The state of the client side.
    pub client: State,
    /// The state of the server side.
    pub server: State,
}

/// A move that is not in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Illegal {
    /// The side that moved.
    pub role: Role,
    /// The state before the move.
    pub state: State,
    /// The event that is illegal in this state.
    pub event: Event,
}

impl std::fmt::Display for Illegal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { role, state, event } = self;
        write!(formatter, "{event:?} is not possible for the {role:?} in state {state:?}")
    }
}

impl std::error::Error for Illegal {}

impl Pair {
    /// The states of a new connection, both idle.
    pub const NEW: Self = Self { client: State::Idle, server: State::Idle };

    /// Returns the state of one side.
    pub const fn state(self, role: Role) -> State {
        match role {
            Role::Client => self.client,
            Role::Server => self.server,
        }
    }

    /// Moves `role` by `event`, and the server too for a request of the client. Unchanged if
    /// illegal.
    pub fn apply(&mut self, role: Role, event: Event) -> Result<(), Illegal> {
        let illegal = |role, state| Illegal { role, state, event };
        let state = self.state(role);
        let next = step(role, state, event).ok_or(illegal(role, state))?;
        match role {
            Role::Server if event == Event::Request => return Err(illegal(role, state)),
            Role::Server => self.server = next,
            Role::Client => {
                if event == Event::Request {
                    self.server = step(Role::Server, self.server, event)
                        .ok_or(illegal(Role::Server, self.server))?;
                }
                self.client = next;
            }
        }
        Ok(())
    }

    /// Applies the moves that need no event; see the second table in the module documentation.
    /// Returns what remains of the proposal.
    pub fn settle(&mut self, persistence: Persistence, proposal: Proposal) -> Proposal {
        use State::{Closed, Done, Error, Idle, MightSwitch, MustClose, SendBody, Switched};
        let mut proposal = proposal;
        if matches!(self.server, SendBody | Done | MustClose) {
            proposal = Proposal::None;
        }
        if self.client == Done && proposal == Proposal::Pending {
            self.client = MightSwitch;
        }
        if self.client == MightSwitch {
            match self.server {
                Switched => self.client = Switched,
                SendBody | Done | MustClose => self.client = Done,
                _ => {}
            }
        }
        let ends = |own: State, other: State| match own {
            Done => persistence == Persistence::Close || matches!(other, Closed | Error),
            Idle => matches!(other, Closed | Error),
            _ => false,
        };
        let (client_ends, server_ends) =
            (ends(self.client, self.server), ends(self.server, self.client));
        if client_ends {
            self.client = MustClose;
        }
        // A server owes an answer to what it could not read as a request.
        if server_ends && !(self.server == Idle && self.client == Error) {
            self.server = MustClose;
        }
        proposal
    }

    /// Moves from (Done, Done) to (Idle, Idle); `false` and unchanged from any other states.
    pub fn start_next(&mut self) -> bool {
        let both_done = self.client == State::Done && self.server == State::Done;
        if both_done {
            *self = Self::NEW;
        }
        both_done
    }
}
