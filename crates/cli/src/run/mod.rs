//! `vervet run`: what a server that runs for years needs of the system it runs on.

#![allow(dead_code, reason = "used by the command that puts them together")]

mod landlock;
mod notify;
mod pid_file;
mod privilege;
