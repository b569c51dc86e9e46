//! How long and how much a coordinator and its agents take of each other. None of them waits
//! without a limit, and what one sends cannot grow the other beyond one.

use std::time::Duration;

/// Most agents of one run.
pub(super) const AGENTS_MAX: usize = 256;
/// The longest plan, in bytes.
pub(super) const PLAN_BYTES_MAX: usize = 1 << 20;
/// The longest line of an agent, in bytes: a run with a histogram for each of its steps, without
/// its intervals.
pub(super) const LINE_BYTES_MAX: usize = 64 << 20;
/// The most that an agent may tell of one run, in bytes.
pub(super) const TOLD_BYTES_MAX: u64 = 1 << 30;

/// How long a coordinator may take to say its plan once it is connected.
pub(super) const PLAN_WITHIN: Duration = Duration::from_secs(10);
/// How long an agent that is ready waits for the beginning: until all others are ready, or have
/// been given up.
pub(super) const BEGIN_WITHIN: Duration = Duration::from_mins(1);
/// The farthest beginning that an agent lets itself be told.
pub(super) const LEAD_MAX: Duration = Duration::from_secs(1);
/// From the moment when all agents are ready to the beginning that they have in common.
pub(super) const LEAD: Duration = Duration::from_millis(100);
/// How often an agent says that it is there, where it has nothing else to say.
pub(super) const ALIVE_EVERY: Duration = Duration::from_secs(1);
/// How long a line may take to be taken by the other side, and how long an agent waits for a
/// coordinator to leave.
pub(super) const SEND_WITHIN: Duration = Duration::from_secs(10);
/// Once an agent could not be had, those of the others that cannot be had either have so long to
/// show it.
pub(super) const OTHERS_WITHIN: Duration = Duration::from_millis(500);

/// How long a coordinator waits for an agent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// For the connection.
    pub(super) connect: Duration,
    /// For the plan to be accepted: the agent looks up names and reads files. It takes one plan
    /// after another.
    pub(super) ready: Duration,
    /// For a sign of life while the run is made.
    pub(super) silence: Duration,
    /// For the rest of a line that has begun.
    pub(super) line: Duration,
    /// For the result, after the end of the run as it was asked, or after it was told to stop.
    pub(super) result: Duration,
}

impl Patience {
    pub(super) const DEFAULT: Self = Self {
        connect: Duration::from_secs(5),
        ready: Duration::from_secs(30),
        silence: Duration::from_secs(10),
        line: Duration::from_mins(1),
        result: Duration::from_mins(1),
    };

    /// For all agents to be ready. A name that nobody resolves takes the system's time, which is in
    /// no other limit.
    pub(super) const fn all_ready(self) -> Duration {
        self.connect
            .saturating_add(self.ready)
            .saturating_add(self.silence)
    }
}

const _: () = {
    assert!(
        BEGIN_WITHIN.as_nanos() > Patience::DEFAULT.all_ready().as_nanos(),
        "the first to be ready waits for the last"
    );
    assert!(
        ALIVE_EVERY.as_nanos() * 5 <= Patience::DEFAULT.silence.as_nanos(),
        "signs of life that come late are no silence"
    );
    assert!(
        LEAD.as_nanos() < LEAD_MAX.as_nanos(),
        "an agent takes the beginning it is told"
    );
};
