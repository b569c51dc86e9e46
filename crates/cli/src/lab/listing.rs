//! A plan before it is run, and what is known of adapters, as text.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use vervet_lab::adapter::{ADAPTERS, Row};
use vervet_lab::plan::Plan;
use vervet_lab::record::LoadShape;
use vervet_lab::task::TASK_ADAPTERS;

use crate::console;
use crate::failure::Failure;

/// Prints the steps of a plan in their order.
pub(crate) fn print_plan(plan: &Plan) -> Result<ExitCode, Failure> {
    let mut text = String::new();
    for step in &plan.steps {
        let load = plan.load(step);
        let much = match load.shape {
            LoadShape::Closed { concurrency } => format!("{concurrency} connections"),
            LoadShape::Open { rate } => format!("{rate}/s"),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{}\trepeat {}\t{}\t{}, {much}\t{}",
            step.order,
            step.repeat,
            plan.workload(step).name,
            load.name,
            plan.subject(step).name
        );
    }
    for step in &plan.tasks.steps {
        let task = &plan.tasks.tasks[step.task];
        let _ = writeln!(text, "{}\trepeat {}\t{}", step.order, step.repeat, task.name);
    }
    let _ = writeln!(text, "{} steps, about {}", plan.steps_count(), span(plan.estimate()));
    console::print(&text).map_err(Failure::Output)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints each adapter with its settings.
pub(crate) fn print_adapters() -> Result<ExitCode, Failure> {
    let mut text = String::new();
    for adapter in ADAPTERS {
        let about = format!("{}: {}", adapter.name, adapter.about);
        write_adapter(&mut text, &about, adapter.settings, adapter.get);
    }
    text.push_str("\ntasks:\n");
    for adapter in TASK_ADAPTERS {
        let about = format!("{}: {}", adapter.name, adapter.about);
        write_adapter(&mut text, &about, adapter.settings, adapter.get);
    }
    console::print(&text).map_err(Failure::Output)?;
    Ok(ExitCode::SUCCESS)
}

fn write_adapter(text: &mut String, about: &str, settings: &[Row], get: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{about}");
    for row in settings {
        let (name, default, about) = (row.name, row.default, row.about);
        let _ = writeln!(text, "    {name} = \"{default}\"  {about}");
    }
    let _ = writeln!(text, "    to install: {get}");
}

/// Formats a duration.
pub(crate) fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_two_units() {
        let check =
            |seconds, expected: &str| assert_eq!(span(Duration::from_secs(seconds)), expected);
        check(0, "0 s");
        check(59, "59 s");
        check(61, "1 min 1 s");
        check(7322, "2 h 2 min");
    }
}
