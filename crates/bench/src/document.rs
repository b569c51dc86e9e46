//! The configurations of `vervet run`, and the page and application that greet.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Result;
use rustix::process::getuid;

/// Sites of the large configuration, and routes of each.
const SITES: u32 = 1000;
const ROUTES: u32 = 10;
/// The site and the route that are asked.
pub(crate) const SITE: u32 = 777;
pub(crate) const ROUTE: u32 = 7;

/// What a configuration is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variant {
    /// One site.
    Plain,
    /// A thousand sites of ten routes each.
    Sites,
    /// One site with an access log of this format.
    Log(&'static str),
    /// One site whose metrics are scraped each second.
    Scraped,
}

/// A template for `Hello, world` and a line feed: a last line feed of a template is dropped.
const PAGE: &str = "Hello, {{ query.name }}\n\n";

/// The same for bjoern: the argument out of a query, decoded, and escaped, as the page has it.
const APPLICATION: &str = "\
import html
from urllib.parse import parse_qs

def application(environ, start_response):
    name = parse_qs(environ['QUERY_STRING'])['name'][0]
    content = ('Hello, %s\\n' % html.escape(name)).encode()
    start_response('200 OK', [
        ('Content-Type', 'text/html; charset=utf-8'),
        ('Content-Length', str(len(content))),
    ])
    return [content]
";
/// Where it stands in the work folder.
pub(crate) const APPLICATION_FILE: &str = "greeting.py";

/// The name of a site.
pub(crate) fn host(site: u32) -> String {
    format!("s{site}.test")
}

/// The socket of the admin service.
pub(crate) fn admin_socket(work: &Path, port: u16) -> std::path::PathBuf {
    work.join(format!("admin-{port}.sock"))
}

/// The file that requests are logged to.
pub(crate) fn access_log(work: &Path, port: u16) -> std::path::PathBuf {
    work.join(format!("access-{port}.log"))
}

/// Writes what greets.
pub(crate) fn write_pages(work: &Path) -> Result<()> {
    fs::write(work.join("hello.html"), PAGE)?;
    fs::write(work.join(APPLICATION_FILE), APPLICATION)?;
    Ok(())
}

/// The document of a variant.
pub(crate) fn document(variant: Variant, work: &Path, port: u16) -> String {
    let folder = work.join("site");
    let folder = folder.display();
    // As for the rivals: connections live on, and all may come from one address.
    let mut text = format!(
        "listen = \"127.0.0.1:{port}\"\nworkers = 1\n{user}\
         limits = {{ requests_per_connection_max = 0, connections_per_address_max = 0, keep_alive_idle_ms = \"75s\" }}\n",
        user = if getuid().is_root() {
            "user = \"root\"\n"
        } else {
            ""
        },
    );
    // Writing to a String does not fail.
    if let Variant::Log(format) = variant {
        let file = access_log(work, port);
        let _ = writeln!(
            text,
            "log.main = {{ file = \"{}\", format = \"{format}\" }}",
            file.display()
        );
    }
    if variant == Variant::Scraped {
        let _ = writeln!(
            text,
            "admin = \"unix:{}\"",
            admin_socket(work, port).display()
        );
    }
    if variant == Variant::Sites {
        for site in 0..SITES {
            let _ = writeln!(text, "[[site]]\nhosts = [\"{}\"]", host(site));
            for route in 0..ROUTES {
                let _ = writeln!(
                    text,
                    "[[site.route]]\npath = \"/r{route}/*\"\nfiles = \"{folder}\""
                );
            }
        }
        return text;
    }
    let log = if matches!(variant, Variant::Log(_)) {
        "log = \"main\"\n"
    } else {
        ""
    };
    let _ = write!(
        text,
        "[[site]]\nroot = \"{folder}\"\n{log}\
         [[site.route]]\npath = \"/r{ROUTE}/*\"\nfiles = \"{folder}\"\n\
         [[site.route]]\npath = \"/hello\"\npage = \"{}\"\n",
        work.join("hello.html").display()
    );
    text
}
