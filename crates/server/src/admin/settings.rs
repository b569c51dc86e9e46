//! `[admin]`: where the admin service is reached.

use vervet_config::{Diagnostic, section};
use vervet_engine::listener::{ListenAddress, ListenOptions};

use crate::settings::{Address, Mode};

section! {
    /// Whether the server lives and is ready (`/-/live`, `/-/ready`, `/-/startup`), its numbers (`/metrics`) and its state
    /// (`/-/status`). On a listener of its own, never on that of a site; there is none where this section is missing.
    ///
    /// ```toml
    /// admin = "unix:/run/vervet/admin.sock"
    /// ```
    pub struct AdminSettings short(address) {
        /// A unix socket, or a loopback address such as `"127.0.0.1:9180"`.
        pub address: Address = "unix:/run/vervet/admin.sock",
        /// Permissions of the file of a unix socket, in octal.
        pub mode: Mode = "600",
        /// Let the address be one that others reach, such as that of a container for its probes. Whoever reaches it reads
        /// the names of sites, listeners and logs.
        pub exposed: bool = false,
    }
}

impl AdminSettings {
    /// Where to listen; or why not there.
    pub fn listen(&self) -> Result<(ListenAddress, ListenOptions), Box<Diagnostic>> {
        let address = self.address.value().0.clone();
        let is_reached_by_others = match &address {
            ListenAddress::Tcp(address) => !address.ip().is_loopback(),
            // An abstract socket has no permissions: everyone on the machine reaches it.
            ListenAddress::Any(_) | ListenAddress::Abstract(_) => true,
            // What the parent process has bound is its choice.
            ListenAddress::Unix(_) | ListenAddress::Descriptor(_) | ListenAddress::Named(_) => {
                false
            }
        };
        if is_reached_by_others && !*self.exposed {
            let problem = Diagnostic::error(self.address.span(), "others can reach this address")
                .expected("a unix socket or a loopback address, such as `127.0.0.1:9180`")
                .note("`exposed = true` allows it: whoever reaches it reads the names of sites, listeners and logs");
            return Err(Box::new(problem));
        }
        let options = ListenOptions {
            unix_mode: Some(self.mode.value().0),
            ..ListenOptions::default()
        };
        Ok((address, options))
    }
}
