//! Adapters: who knows how to start which server. Each is one file and one line of the registry.
//!
//! An adapter starts nothing. It is given a [`Setup`] and says what is to be started with which files ([`Launch`]); that
//! is the business of [`crate::subject`].

mod apache;
mod apache_php;
mod bjoern;
mod granian;
mod gunicorn;
mod h2o;
mod launch;
mod lighttpd;
mod nginx;
mod nginx_phpfpm;
mod python;
mod registry;
mod setting;
mod setup;
mod tornado;
mod uvicorn;
mod uwsgi;
mod vervet;

pub use launch::{Launch, Part};
pub use registry::{ADAPTERS, Adapter, Program, Serves, adapter, names};
pub use setting::{Kind, Row, Settings};
pub use setup::{Connections, Setup, Traffic};

pub(crate) use apache_php::has_php_module;
pub(crate) use nginx_phpfpm::has_php_fpm;
