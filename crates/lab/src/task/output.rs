//! Parses the output of a task: a line per phase, a line per fact, and other text.

use crate::record::Phase;

/// The most phases of a task.
pub const PHASES_MAX: usize = 64;

/// The output of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskOutput {
    /// Its phases, in order.
    pub phases: Vec<Phase>,
    /// Its facts, with their names.
    pub facts: Vec<(String, String)>,
    /// The lines that are neither.
    pub rest: Vec<String>,
}

/// Parses the output of a task; an invalid line is an error. Other lines are kept as text.
pub fn parse_output(output: &str) -> Result<TaskOutput, String> {
    let mut said = TaskOutput::default();
    for line in output.lines().filter(|line| !line.trim().is_empty()) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "phase" | "probe" => {
                let is_part = word == "phase";
                said.add(phase(rest).map(|phase| Phase { is_part, ..phase }), line)?;
            }
            "fact" => {
                let (name, text) = rest.split_once(' ').unwrap_or((rest, ""));
                said.facts.push((name.to_owned(), text.to_owned()));
            }
            _ => said.rest.push(line.to_owned()),
        }
    }
    Ok(said)
}

impl TaskOutput {
    fn add(&mut self, phase: Option<Phase>, line: &str) -> Result<(), String> {
        let phase = phase.ok_or_else(|| {
            format!("invalid line `{line}`: expected `phase NAME OPERATIONS NANOSECONDS`")
        })?;
        if self.phases.iter().any(|known| known.name == phase.name) {
            return Err(format!("phase {} reported twice", phase.name));
        }
        if self.phases.len() == PHASES_MAX {
            return Err(format!("more than {PHASES_MAX} phases reported"));
        }
        self.phases.push(phase);
        Ok(())
    }
}

/// A phase without its word, which is a part of no whole. One that took no time, or did nothing, is
/// none.
fn phase(text: &str) -> Option<Phase> {
    let mut words = text.split(' ');
    let name = words.next().filter(|name| !name.is_empty())?;
    let number = |word: Option<&str>| word?.parse::<u64>().ok().filter(|number| *number > 0);
    let (operations, time_ns) = (number(words.next())?, number(words.next())?);
    words.next().is_none().then(|| Phase {
        name: name.to_owned(),
        is_part: false,
        operations,
        time_ns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused(output: &str, expected: &str) {
        assert_eq!(parse_output(output).unwrap_err(), expected);
    }

    #[test]
    fn lines_that_are_no_phases_are_refused() {
        for line in [
            "phase",
            "phase ",
            "phase put",
            "phase put 10",
            "phase put ten 5",
            "phase put 10 -5",
            "phase put 0 5",
            "phase put 10 0",
            "phase put 10 5 5",
            "probe  10 5",
        ] {
            let expected =
                format!("invalid line `{line}`: expected `phase NAME OPERATIONS NANOSECONDS`");
            check_refused(line, &expected);
        }
        check_refused("phase a 1 1\nphase a 1 1", "phase a reported twice");
        let phases = |count: usize| {
            let lines: Vec<String> = (0..count).map(|n| format!("phase p{n} 1 1")).collect();
            lines.join("\n")
        };
        let most = parse_output(&phases(PHASES_MAX)).unwrap();
        assert_eq!(most.phases.len(), PHASES_MAX);
        check_refused(&phases(PHASES_MAX + 1), "more than 64 phases reported");
    }

    #[test]
    fn phases_facts_and_talk_are_told_apart() {
        let found =
            parse_output("hello\nphase put 10 500\n\nfact pi 3.1 about\nprobe call 2 7\n").unwrap();
        let phase = |name: &str, is_part, operations, time_ns| Phase {
            name: name.to_owned(),
            is_part,
            operations,
            time_ns,
        };
        assert_eq!(found.phases, [phase("put", true, 10, 500), phase("call", false, 2, 7)]);
        assert_eq!(found.facts, [("pi".to_owned(), "3.1 about".to_owned())]);
        assert_eq!(found.rest, ["hello"]);
    }
}
