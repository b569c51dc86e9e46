//! The page for those who come from nginx: each cell of its table is a configuration, and its two
//! configurations, served by nginx and by us, answer alike.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use vervet_testkit::{
    Child, PATIENCE, RawClient, Response, TempTree, Vervet, find_program, free_port, skip, wait_for,
};

const BINARY: &str = env!("CARGO_BIN_EXE_vervet");

/// How many directives the page promises.
const DIRECTIVES_MIN: usize = 20;

fn page() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join("docs/migrate-from-nginx.md")).unwrap()
}

/// The rows of the table whose head begins with a word: of each cell what stands in backquotes.
fn table(page: &str, head: &str) -> Vec<Vec<Vec<String>>> {
    let begin = format!("| {head} |");
    let lines = page.lines().skip_while(|line| !line.starts_with(&begin));
    let rows = lines.skip(2).take_while(|line| line.starts_with('|'));
    let rows: Vec<_> = rows
        .map(|line| {
            let cells = line.trim_matches('|').split('|');
            cells.map(spans).collect()
        })
        .collect();
    assert!(!rows.is_empty(), "there is no table of {head}");
    rows
}

/// What stands in backquotes; a cell without any as it is.
fn spans(cell: &str) -> Vec<String> {
    let spans: Vec<_> = cell.split('`').skip(1).step_by(2).collect();
    if spans.is_empty() {
        return vec![cell.trim().to_owned()];
    }
    spans.into_iter().map(str::to_owned).collect()
}

fn block(page: &str, language: &str) -> String {
    let begin = format!("```{language}\n");
    let (_, rest) = page.split_once(&begin).unwrap();
    rest.split_once("\n```").unwrap().0.to_owned()
}

/// What both configurations speak of, in place of `/srv`.
fn srv() -> TempTree {
    let tree = TempTree::new()
        .file("www/index.html", "<h1>Welcome</h1>\n")
        .file("www/404.html", "<h1>Nothing here</h1>\n")
        .file("www/page.html", "<p>{{ query.name }}</p>\n")
        .file("www/50x.html", "<h1>Broken</h1>\n")
        .file("www/posts/1.html", "<h1>The first post</h1>\n")
        .file("www/staff/index.html", "<h1>Staff</h1>\n")
        .file("www/private/index.html", "<h1>Family</h1>\n")
        .file("www/.git/config", "[core]\n")
        .file("assets/style.css", "body { color: teal }\n")
        .file("static/style.css", "body { color: teal }\n")
        .file("app/index.html", "<script src=script.js></script>\n")
        .file("app/data.json", "{}\n")
        .dir("sites");
    let script = "printf secret | \"$0\" passwd users ann --bcrypt --cost 10";
    let mut command = Command::new("sh");
    command.args(["-c", script, BINARY]).current_dir(tree.path());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    tree
}

/// The text with the paths of a tree.
fn at(tree: &TempTree, text: &str) -> String {
    let folder = tree.path().to_str().unwrap();
    text.replace("/srv/", &format!("{folder}/")).replace("/srv;", &format!("{folder};"))
}

fn check(tree: &TempTree, text: &str) -> Output {
    let file = tree.write("vervet.toml", text);
    let mut command = Command::new(BINARY);
    command.arg("check").arg(file).stdin(Stdio::null());
    if crate::common::is_root() {
        command.env("VERVET_USER", "root");
    }
    command.output().unwrap()
}

/// A whole configuration from lines that stand in a section of it.
fn whole(lines: &str, section: &str) -> String {
    const SITE: &str = "[[site]]\n[[site.route]]\nstatus = 204\n";
    match section {
        "the top level" => format!("{lines}\n{SITE}"),
        "[[site]]" => format!("[[site]]\n{lines}\n[[site.route]]\npath = \"/\"\nstatus = 204\n"),
        "[[site.route]]" => format!("[[site]]\n[[site.route]]\n{lines}\n"),
        "[log.main]" => {
            format!("{section}\n{lines}\n[[site]]\nlog = [\"main\"]\nroot = \"/srv/www\"\n")
        }
        _ => format!("{section}\n{lines}\n{SITE}"),
    }
}

#[test]
fn every_directive_of_the_table_is_one() {
    let tree = srv();
    let rows = table(&page(), "nginx");
    assert!(rows.len() >= DIRECTIVES_MIN, "{}", rows.len());
    let failures = rows.iter().filter_map(|row| {
        let [_, lines, section] = row.as_slice() else { panic!("{row:?} has not three cells") };
        let text = at(&tree, &whole(&lines.join("\n"), &section[0]));
        let output = check(&tree, &text);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (!output.status.success()).then_some(format!("{text}\n{said}"))
    });
    let failures: Vec<_> = failures.collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A row of the table of requests.
struct RequestRow {
    line: String,
    request: String,
    host: String,
    status: u16,
}

impl RequestRow {
    fn parse(row: &[Vec<String>]) -> Self {
        let [request, host, field, status] = row else { panic!("{row:?} has not four cells") };
        let (host, mut field) = (host[0].clone(), field[0].clone());
        if !field.is_empty() {
            field.push_str("\r\n");
        }
        let line = request[0].clone();
        let request =
            format!("{line} HTTP/1.1\r\nHost: {host}\r\n{field}Content-Length: 0\r\n\r\n");
        Self {
            line: format!("{line} of {host} {field}"),
            request,
            status: status[0].parse().unwrap(),
            host,
        }
    }

    fn of_server(&self, address: SocketAddr) -> Response {
        let mut client = RawClient::connect(address);
        client.send(&self.request);
        if self.line.starts_with("HEAD") {
            client.read_head_response()
        } else {
            client.read_response()
        }
    }

    /// What both have to say alike.
    fn essence(&self, response: &Response) -> Vec<String> {
        let media_type = response.field("Content-Type").unwrap_or_default();
        let media_type = media_type.split(';').next().unwrap();
        let fields = ["Cache-Control", "X-Content-Type-Options", "Content-Range"];
        // nginx 1.22 says what `add_header` adds twice where a range is not satisfiable: equal
        // lines count as one.
        let fields = fields.map(|name| {
            let mut values = response.field_values(name);
            values.dedup();
            values.join(", ")
        });
        let mut essence = vec![response.status.to_string(), self.location(response)];
        essence.extend(fields);
        if response.status < 300 || self.is_own_page(response) {
            essence.extend([media_type.to_owned(), response.text().to_owned()]);
        }
        essence
    }

    /// Where it leads, without the server itself: whether that is named is a matter of taste.
    fn location(&self, response: &Response) -> String {
        let location = response.field("Location").unwrap_or_default();
        let Some(rest) = location.strip_prefix(&format!("http://{}", self.host)) else {
            return location.to_owned();
        };
        rest[rest.find('/').unwrap_or(rest.len())..].to_owned()
    }

    fn is_own_page(&self, response: &Response) -> bool {
        response.status == 404 && self.host.eq_ignore_ascii_case("example.org")
    }
}

/// nginx with a configuration inside of `http`, on a port of its own.
struct Nginx {
    child: Child,
    _scratch: TempTree,
}

impl Nginx {
    fn start(program: &Path, servers: &str, address: SocketAddr) -> Self {
        let scratch = TempTree::new();
        let folder = scratch.path().to_str().unwrap();
        let user = if rustix::process::geteuid().is_root() { "user root;" } else { "" };
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|kind| format!("{kind}_temp_path {folder}/{kind};"));
        let text = format!(
            "{user} daemon off; pid {folder}/pid; error_log stderr; events {{}}\n\
             http {{ access_log off; include /etc/nginx/mime.types; {}\n{servers}\n}}\n",
            temporary.join(" ")
        );
        let file = scratch.write("nginx.conf", text);
        let mut command = Command::new(program);
        command.args(["-e", "stderr", "-c"]).arg(file);
        let mut child = Child::spawn(command);
        let listens = wait_for(PATIENCE, || match child.exit() {
            Some(_) => Some(false),
            None => std::net::TcpStream::connect(address).is_ok().then_some(true),
        });
        assert_eq!(listens, Some(true), "{:#?}", child.lines());
        Self { child, _scratch: scratch }
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // If the master is killed, its worker stays.
        self.child.signal(vervet_testkit::Signal::TERM);
        wait_for(PATIENCE, || self.child.exit());
    }
}

#[test]
fn both_configurations_answer_alike() {
    let Some(program) = find_program("nginx") else {
        skip!("needs nginx");
    };
    let (page, tree) = (page(), srv());
    let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
    let theirs = at(&tree, &block(&page, "nginx")).replace("127.0.0.1:8080", &address.to_string());
    let _nginx = Nginx::start(&program, &theirs, address);
    let ours = at(&tree, &block(&page, "toml")).replace("127.0.0.1:8080", "127.0.0.1:0");
    let mut command = Command::new(BINARY);
    command.arg("run").arg(tree.write("vervet.toml", ours));
    if rustix::process::geteuid().is_root() {
        command.env("VERVET_USER", "root");
    }
    let vervet = Vervet::spawn(command);
    let rows = table(&page, "request");
    let differences = rows.iter().filter_map(|row| {
        let asked = RequestRow::parse(row);
        let (their, our) = (asked.of_server(address), asked.of_server(vervet.address));
        let (their, our) = (asked.essence(&their), asked.essence(&our));
        let is_as_shown = our[0] == asked.status.to_string();
        let line = &asked.line;
        (their != our || !is_as_shown)
            .then(|| format!("{line}\n  nginx  {their:?}\n  vervet {our:?}"))
    });
    let differences: Vec<_> = differences.collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
