//! `[admin]`: the address of the admin service.

use vervet_config::{Diagnostic, section};
use vervet_engine::listener::{ListenAddress, ListenOptions};

use super::listen::{Address, Mode};

section! {
    /// The admin service: health checks (`/-/live`, `/-/ready`, `/-/startup`), metrics (`/metrics`)
    /// and status (`/-/status`), on a listener of its own. Without this section there is none.
    ///
    /// ```toml
    /// admin = "unix:/run/vervet/admin.sock"
    /// ```
    pub struct AdminSettings short(address) {
        /// The address: a unix socket, or a loopback address such as `"127.0.0.1:9180"`.
        pub address: Address = "unix:/run/vervet/admin.sock",
        /// Permissions of the unix socket, in octal.
        pub mode: Mode = "600",
        /// Allow an address that others can reach, such as that of a container for its probes.
        /// Anyone who reaches it can read the names of sites, listeners and logs.
        pub exposed: bool = false,
    }
}

impl AdminSettings {
    /// The address to listen on, or why it is not allowed.
    pub fn listen(&self) -> Result<(ListenAddress, ListenOptions), Box<Diagnostic>> {
        let address = self.address.value().0.clone();
        let is_reached_by_others = match &address {
            ListenAddress::Tcp(address) => !address.ip().is_loopback(),
            // An abstract socket has no permissions: every local user can reach it.
            ListenAddress::Any(_) | ListenAddress::Abstract(_) => true,
            // The parent process has chosen the address of an inherited socket.
            ListenAddress::Unix(_) | ListenAddress::Descriptor(_) | ListenAddress::Named(_) => {
                false
            }
        };
        if is_reached_by_others && !*self.exposed {
            let problem = Diagnostic::error(self.address.span(), "others can reach this address")
                .expected("a unix socket or a loopback address, such as `127.0.0.1:9180`")
                .note(
                    "`exposed = true` allows it: anyone who reaches it can read the names of sites, \
                     listeners and logs",
                );
            return Err(Box::new(problem));
        }
        let options = ListenOptions {
            mode: Some(self.mode.value().0),
            ..ListenOptions::default()
        };
        Ok((address, options))
    }
}
