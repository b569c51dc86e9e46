//! The table of `h1::state`: the legal moves, written out a second time, and nothing else.

use vervet_http::h1::state::Event::{
    Close, Content, End, Fail, Informational, Request, Response, Switch,
};
use vervet_http::h1::state::Role::{Client, Server};
use vervet_http::h1::state::State::{
    Closed, Done, Error, Idle, MightSwitch, MustClose, SendBody, SendResponse, Switched,
};
use vervet_http::h1::state::{Event, Illegal, Pair, Persistence, Proposal, Role, State, step};

const STATES: [State; 9] =
    [Idle, SendResponse, SendBody, Done, MightSwitch, Switched, MustClose, Closed, Error];
const EVENTS: [Event; 8] = [Request, Informational, Response, Switch, Content, End, Close, Fail];

const LEGAL: [(Role, State, Event, State); 12] = [
    (Client, Idle, Request, SendBody),
    (Client, SendBody, Content, SendBody),
    (Client, SendBody, End, Done),
    (Server, Idle, Request, SendResponse),
    (Server, Idle, Response, SendBody),
    (Server, SendResponse, Informational, SendResponse),
    (Server, SendResponse, Response, SendBody),
    (Server, SendResponse, Switch, Switched),
    (Server, SendBody, Content, SendBody),
    (Server, SendBody, End, Done),
    (Client, MightSwitch, Close, Closed),
    (Server, MightSwitch, Close, Closed),
];

fn expected(role: Role, state: State, event: Event) -> Option<State> {
    match event {
        Fail => Some(Error),
        Close if [Idle, Done, Switched, MustClose, Closed].contains(&state) => Some(Closed),
        _ => {
            LEGAL.iter().find(|row| (row.0, row.1, row.2) == (role, state, event)).map(|row| row.3)
        }
    }
}

#[test]
fn has_the_legal_moves_and_no_others() {
    for role in [Client, Server] {
        for state in STATES {
            for event in EVENTS {
                assert_eq!(
                    step(role, state, event),
                    expected(role, state, event),
                    "{role:?} {state:?} {event:?}"
                );
            }
        }
    }
}

#[test]
fn an_illegal_move_changes_nothing_and_says_which() {
    for (role, event) in [
        (Client, Content),
        (Client, Response),
        (Server, Content),
        (Server, Switch),
        (Server, Request),
    ] {
        let mut pair = Pair::NEW;
        let illegal = Illegal { role, state: Idle, event };
        assert_eq!(pair.apply(role, event), Err(illegal));
        assert_eq!(pair, Pair::NEW);
    }
    let mut pair = Pair { client: Idle, server: Done };
    assert!(pair.apply(Client, Request).is_err());
    assert_eq!(pair, Pair { client: Idle, server: Done });
}

#[test]
fn the_server_owes_an_answer_to_each_request() {
    let mut pair = Pair::NEW;
    pair.apply(Client, Request).unwrap();
    assert_eq!(pair, Pair { client: SendBody, server: SendResponse });
}

/// (client, server) settles to (client, server).
fn check(from: (State, State), persistence: Persistence, proposal: Proposal, to: (State, State)) {
    let mut pair = Pair { client: from.0, server: from.1 };
    pair.settle(persistence, proposal);
    assert_eq!((pair.client, pair.server), to, "{from:?} {persistence:?} {proposal:?}");
}

#[test]
fn settles_switches() {
    use Persistence::Persist;
    use Proposal::{None, Pending};
    check((Done, SendResponse), Persist, Pending, (MightSwitch, SendResponse));
    check((Done, SendResponse), Persist, None, (Done, SendResponse));
    check((SendBody, Switched), Persist, Pending, (SendBody, Switched));
    check((Done, Switched), Persist, Pending, (Switched, Switched));
    check((MightSwitch, Switched), Persist, Pending, (Switched, Switched));
    check((MightSwitch, SendBody), Persist, Pending, (Done, SendBody));
    check((MightSwitch, Done), Persist, Pending, (Done, Done));
    check((MightSwitch, SendResponse), Persist, Pending, (MightSwitch, SendResponse));
}

#[test]
fn settles_the_last_exchange() {
    use Persistence::{Close, Persist};
    use Proposal::None;
    check((Done, Done), Close, None, (MustClose, MustClose));
    check((Done, SendBody), Close, None, (MustClose, SendBody));
    check((SendBody, Done), Close, None, (SendBody, MustClose));
    check((Idle, Idle), Close, None, (Idle, Idle));
    for gone in [Closed, Error] {
        check((gone, Done), Persist, None, (gone, MustClose));
        check((Done, gone), Persist, None, (MustClose, gone));
        check((Idle, gone), Persist, None, (MustClose, gone));
        check((gone, SendBody), Persist, None, (gone, SendBody));
    }
    check((Closed, Idle), Persist, None, (Closed, MustClose));
    // The refusal of a head is still to be sent.
    check((Error, Idle), Persist, None, (Error, Idle));
}

#[test]
fn only_two_done_sides_start_again() {
    for client in STATES {
        for server in STATES {
            let before = Pair { client, server };
            let mut pair = before;
            let starts = pair.start_next();
            assert_eq!(starts, before == Pair { client: Done, server: Done });
            assert_eq!(pair, if starts { Pair::NEW } else { before });
        }
    }
}
