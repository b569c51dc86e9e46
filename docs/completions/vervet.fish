# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_vervet_global_optspecs
    string join \n h/help V/version
end

function __fish_vervet_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_vervet_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_vervet_using_subcommand
    set -l cmd (__fish_vervet_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c vervet -n "__fish_vervet_needs_command" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_needs_command" -s V -l version -d 'Print version'
complete -c vervet -n "__fish_vervet_needs_command" -f -a "serve" -d 'Serve a directory or a single file over HTTP'
complete -c vervet -n "__fish_vervet_needs_command" -f -a "run" -d 'Serve the sites (virtual hosts) of a configuration file'
complete -c vervet -n "__fish_vervet_needs_command" -f -a "check" -d 'Validate a configuration file and report all errors with file, line and column'
complete -c vervet -n "__fish_vervet_needs_command" -f -a "config" -d 'Show the effective configuration, its JSON Schema and its reference'
complete -c vervet -n "__fish_vervet_needs_command" -f -a "version" -d 'Print the version, and build details with --build'
complete -c vervet -n "__fish_vervet_needs_command" -f -a "limits" -d 'Print the limits (timeouts, sizes, connections) that `serve --limit` sets'
complete -c vervet -n "__fish_vervet_needs_command" -f -a "passwd" -d 'Manage a password file for HTTP basic authentication'
complete -c vervet -n "__fish_vervet_needs_command" -f -a "watch" -d 'Monitor the CPU time, memory, page faults, context switches and descriptors of a process tree'
complete -c vervet -n "__fish_vervet_needs_command" -f -a "load" -d 'Generate HTTP load and report throughput, latency and errors'
complete -c vervet -n "__fish_vervet_needs_command" -f -a "lab" -d 'Benchmark and compare servers on this machine'
complete -c vervet -n "__fish_vervet_needs_command" -f -a "generate" -d 'Write manual pages, shell completions and reference pages'
complete -c vervet -n "__fish_vervet_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l listen -d 'Address to listen on; repeatable. 127.0.0.1:8080, [::1]:8080, :8080 (all interfaces), port 0 (any free port), unix:/path, unix:@name, fd:3, fd:name [default: 127.0.0.1:8080, or a free port if that is in use]' -r
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l unix-mode -d 'Octal permissions of unix socket files, such as 660 [default: set by the umask]' -r
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l proxy-protocol -d 'Network of proxies that send a PROXY protocol header, such as 10.0.0.0/8; repeatable. On a unix socket, any value requires the header on all connections' -r
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l index -d 'Index file of directories; repeatable, the first that exists is served' -r
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l max-age -d 'Cache lifetime: Cache-Control max-age, such as 1h. 0 makes caches revalidate each time' -r
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l log -d 'Format of access log lines [default: pretty, or combined with --log-file]' -r -f -a "pretty\t'Short and aligned; with colors on a terminal, unless NO_COLOR is set'
common\t'NCSA common log format'
combined\t'NCSA combined log format: common, with Referer and User-Agent'
json\t'One JSON object per line'
none\t'No access log'"
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l log-file -d 'File to append the access log to; - for standard output. SIGUSR1 reopens it' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l workers -d 'Worker threads; auto for one per available CPU (affinity and cgroup limits apply)' -r
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l limit -d 'Set a limit listed by `vervet limits`, with an optional unit (k, MiB, ms, s, h); repeatable' -r
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l overload -d 'How to treat connections above connections_max' -r -f -a "reject\t'Respond with 503 and Retry-After'
wait\t'Leave them in the accept queue of the kernel'"
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l drain-timeout -d 'Time for running requests to complete on graceful shutdown [default: 30s]' -r
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l carrier -d 'What runs the event loops' -r -f -a "thread\t''
tokio\t''"
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l backlog -d 'Length of the accept queue (listen backlog)' -r
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l fastopen -d 'Queue length of TCP_FASTOPEN, for requests in the SYN packet; 0 disables it' -r
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l congestion -d 'TCP congestion control, such as bbr [default: that of the system]' -r
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l user -d 'User to run as once the sockets are bound. Required if started as root; "root" keeps root' -r
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l group -d 'Group to run as [default: the primary group of the user]' -r
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l spa -d 'Single-page application: serve the page at / for unknown paths'
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l no-listing -d 'Do not list directories that have no index file'
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l hidden -d 'Serve hidden files (names that begin with a dot)'
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l follow-symlinks -d 'Follow symbolic links that stay inside the directory'
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l no-compression -d 'Do not compress responses'
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l reuse-port -d 'One socket per worker, balanced by the kernel (SO_REUSEPORT); other processes may join'
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l no-defer-accept -d 'Accept connections before their first data arrives (no TCP_DEFER_ACCEPT)'
complete -c vervet -n "__fish_vervet_using_subcommand serve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c vervet -n "__fish_vervet_using_subcommand run" -l set -d 'Set a top-level directive; takes precedence over environment and file; repeatable' -r
complete -c vervet -n "__fish_vervet_using_subcommand run" -l trace -d 'Log how each request is processed, step by step with timings, to the error log; with RULE, only requests whose path matches a pattern such as /shop/*, or whose client is in a network such as 10.0.0.0/8; repeatable' -r
complete -c vervet -n "__fish_vervet_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c vervet -n "__fish_vervet_using_subcommand check" -l set -d 'Set a top-level directive; takes precedence over environment and file; repeatable' -r
complete -c vervet -n "__fish_vervet_using_subcommand check" -l json -d 'Print the errors as JSON to standard output'
complete -c vervet -n "__fish_vervet_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c vervet -n "__fish_vervet_using_subcommand config; and not __fish_seen_subcommand_from show schema reference limits help" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand config; and not __fish_seen_subcommand_from show schema reference limits help" -f -a "show" -d 'Print every directive with its value and origin: flag, environment, file or default'
complete -c vervet -n "__fish_vervet_using_subcommand config; and not __fish_seen_subcommand_from show schema reference limits help" -f -a "schema" -d 'Print the JSON Schema of configuration files, for completion in editors'
complete -c vervet -n "__fish_vervet_using_subcommand config; and not __fish_seen_subcommand_from show schema reference limits help" -f -a "reference" -d 'Print the reference of all directives as Markdown'
complete -c vervet -n "__fish_vervet_using_subcommand config; and not __fish_seen_subcommand_from show schema reference limits help" -f -a "limits" -d 'Print the limits with their defaults and bounds'
complete -c vervet -n "__fish_vervet_using_subcommand config; and not __fish_seen_subcommand_from show schema reference limits help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c vervet -n "__fish_vervet_using_subcommand config; and __fish_seen_subcommand_from show" -l set -d 'Set a top-level directive; takes precedence over environment and file; repeatable' -r
complete -c vervet -n "__fish_vervet_using_subcommand config; and __fish_seen_subcommand_from show" -l json -d 'Print JSON'
complete -c vervet -n "__fish_vervet_using_subcommand config; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand config; and __fish_seen_subcommand_from schema" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand config; and __fish_seen_subcommand_from reference" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand config; and __fish_seen_subcommand_from limits" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "show" -d 'Print every directive with its value and origin: flag, environment, file or default'
complete -c vervet -n "__fish_vervet_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "schema" -d 'Print the JSON Schema of configuration files, for completion in editors'
complete -c vervet -n "__fish_vervet_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "reference" -d 'Print the reference of all directives as Markdown'
complete -c vervet -n "__fish_vervet_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "limits" -d 'Print the limits with their defaults and bounds'
complete -c vervet -n "__fish_vervet_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c vervet -n "__fish_vervet_using_subcommand version" -l build -d 'Also print build details: commit, target, compiler, libraries'
complete -c vervet -n "__fish_vervet_using_subcommand version" -l json -d 'Print everything as one JSON object'
complete -c vervet -n "__fish_vervet_using_subcommand version" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand limits" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand passwd" -l cost -d 'Cost of bcrypt; each increment doubles the time of a login' -r
complete -c vervet -n "__fish_vervet_using_subcommand passwd" -l remove -d 'Remove the user'
complete -c vervet -n "__fish_vervet_using_subcommand passwd" -l list -d 'Print the names of all users'
complete -c vervet -n "__fish_vervet_using_subcommand passwd" -l bcrypt -d 'Hash with bcrypt instead of Argon2id'
complete -c vervet -n "__fish_vervet_using_subcommand passwd" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand watch" -s i -l interval -d 'Interval between samples' -r
complete -c vervet -n "__fish_vervet_using_subcommand watch" -s d -l duration -d 'How long to monitor [default: until the last process exits]' -r
complete -c vervet -n "__fish_vervet_using_subcommand watch" -s n -l count -d 'Number of samples to take [default: until the last process exits]' -r
complete -c vervet -n "__fish_vervet_using_subcommand watch" -s f -l format -d 'Output format; a table is updated in place on a terminal [default: table, or json with --output]' -r -f -a "table\t'Readable lines, at most one per second'
json\t'One JSON document'
ndjson\t'One JSON object per line, as samples are taken'
csv\t'Comma-separated values, one line per sample'"
complete -c vervet -n "__fish_vervet_using_subcommand watch" -s o -l output -d 'File to write to instead of standard output; a terminal then shows the live view' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand watch" -l plain -d 'Print lines on a terminal instead of the live view'
complete -c vervet -n "__fish_vervet_using_subcommand watch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c vervet -n "__fish_vervet_using_subcommand load" -s c -l connections -d 'Concurrent connections; for open load the maximum [default: 10, for open load 64]' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -s d -l duration -d 'Duration of the run after warm-up: 10s, 500ms, 2m [default: 10s, unless -n is given]' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -s n -l requests -d 'Total number of requests' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l rate -d 'Open load: constant request rate per second, regardless of responses: 500, 5k, at most 10m' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l ramp -d 'Open load: linear ramp of the rate: 100..5k' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l steps -d 'Open load: increase the rate in steps of equal duration: 100..500+100' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l stages -d 'Open load: stages from a file, one per line: duration, and rate or FROM..TO' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand load" -l arrival -d 'Arrival process of open load' -r -f -a "even\t'Constant interval'
poisson\t'Random intervals, as of independent users'"
complete -c vervet -n "__fish_vervet_using_subcommand load" -l seed -d 'Random seed; the same seed gives the same requests and due times' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l warm-up -d 'Warm-up before the run, excluded from the results' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l part -d 'Share of a distributed run, such as 0/3' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -s t -l threads -d 'Threads that generate load [default: 1, or one per core of --cores]' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l cores -d 'CPU cores to pin the threads to: 1 or 2-5 or 1,3' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l keep-alive -d 'Reuse connections; off is the same as --close' -r -f -a "on\t''
off\t''"
complete -c vervet -n "__fish_vervet_using_subcommand load" -l requests-per-connection -d 'Open a new connection after this many requests; typical for browsers: 25' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l pipeline -d 'Pipelined requests per connection' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l connect-rate -d 'Maximum rate of new connections per second' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l unix -d 'Connect to this unix socket instead of the host of the URL' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand load" -s B -l source -d 'Local address to connect from; repeatable, used in turn' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l connect-timeout -d 'Timeout for opening a connection' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -s s -l timeout -d 'Timeout for a response; checked every 128 ms' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -s X -s m -l method -d 'Method [default: GET, or POST with a body]' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -s H -l header -l field -d 'Header, such as "Accept: text/html"; repeatable. May have variables such as {seq} and {random}' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l data -d 'Request body; may have variables' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -s p -l data-file -d 'Request body from a file, without variables' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand load" -s u -l put -d 'PUT a request body from a file' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand load" -s T -l content-type -d 'Content-Type of the body' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -s A -l basic -d 'Credentials for HTTP basic authentication' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -s C -l cookie -d 'Cookie, as NAME=VALUE; repeatable' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l targets -d 'File of requests, one per line: METHOD and URL, or a path if URL is given' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand load" -l scenario -d 'Scenario file (TOML): what several kinds of users do, step by step' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand load" -l har -d 'Browser recording (HAR 1.2), converted to a scenario' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand load" -l replay -d 'Replay an access log (common, combined or JSON format) with its original timing' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand load" -l replay-speed -d 'Speed of the replay: 2x, 0.5x' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l feed -d 'CSV file with values for variables: {name} is the column of that name' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand load" -l feed-order -d 'Order of the rows: sequential, random, or once, after which users stop' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l check-status -d 'Expected status codes: 200, 2xx, 200-299,304' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l check-length -d 'Expected body length in bytes' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l check-hash -d 'Expected SHA-256 of the body, as 64 hexadecimal digits' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l check-text -d 'Text that the body must contain' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l format -d 'Output format' -r -f -a "text\t'Readable text'
json\t'Full results as one JSON document'
csv\t'Time series, one interval per line'
ndjson\t'One JSON object per interval while running, then the results'
hgrm\t'Latency percentiles in the format of HdrHistogram'
html\t'One self-contained page'
openmetrics\t'OpenMetrics, for the textfile collector of node_exporter'"
complete -c vervet -n "__fish_vervet_using_subcommand load" -s o -l output -d 'Also write a report to a file, such as json=run.json; repeatable' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l interval -d 'Interval of the time series' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l fail-if -d 'Exit with status 1 if this is true: \'p99>20ms\', \'errors>0.1%\', \'rate<5k\', or if a rule of the audit failed: \'audit\'; repeatable' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l find-max -d 'Find the highest rate at which this is true: \'p99<10ms\'' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l watch -d 'Also monitor local processes: a process ID, name, port, systemd unit or cgroup; repeatable' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l canned -d 'Serve canned responses on one thread, to measure the upper bound of this machine (ceiling)' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l canned-bytes -d 'Body length of --canned in bytes [default: "Hello, world" and a newline]' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l canned-file -d 'File with the response body of --canned' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand load" -l canned-status -d 'Status code of --canned' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l agent -d 'Run as an agent that generates load for coordinators. Must not be reachable by untrusted clients' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l agents -d 'Distribute the load over these agents: HOST:PORT,...' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l close -d 'Open a new connection for each request (no keep-alive)'
complete -c vervet -n "__fish_vervet_using_subcommand load" -s k -d 'Reuse connections (the default), as in ab'
complete -c vervet -n "__fish_vervet_using_subcommand load" -s 4 -l ipv4 -d 'Use IPv4 only'
complete -c vervet -n "__fish_vervet_using_subcommand load" -s 6 -l ipv6 -d 'Use IPv6 only'
complete -c vervet -n "__fish_vervet_using_subcommand load" -s i -l head -d 'Send HEAD instead of GET'
complete -c vervet -n "__fish_vervet_using_subcommand load" -l print-scenario -d 'Print the scenario that --har is converted to, for use with --scenario'
complete -c vervet -n "__fish_vervet_using_subcommand load" -l single-host -d 'Fail if the recording has several hosts, instead of keeping only requests to the first'
complete -c vervet -n "__fish_vervet_using_subcommand load" -l replay-all-methods -d 'Also replay unsafe methods such as POST; their bodies are empty, since logs have none'
complete -c vervet -n "__fish_vervet_using_subcommand load" -s q -l quiet -d 'Show no progress'
complete -c vervet -n "__fish_vervet_using_subcommand load" -l canned-close -d 'Close each connection of --canned after its response'
complete -c vervet -n "__fish_vervet_using_subcommand load" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and not __fish_seen_subcommand_from init run check adapters report compare trend reproduce probe help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and not __fish_seen_subcommand_from init run check adapters report compare trend reproduce probe help" -f -a "init" -d 'Write a first lab file, with comments'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and not __fish_seen_subcommand_from init run check adapters report compare trend reproduce probe help" -f -a "run" -d 'Run a lab: every subject under every load, in shuffled order'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and not __fish_seen_subcommand_from init run check adapters report compare trend reproduce probe help" -f -a "check" -d 'Check a lab file and list which of its subjects are installed'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and not __fish_seen_subcommand_from init run check adapters report compare trend reproduce probe help" -f -a "adapters" -d 'List the adapters: servers that a lab can start, with their settings'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and not __fish_seen_subcommand_from init run check adapters report compare trend reproduce probe help" -f -a "report" -d 'Write the report of a lab'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and not __fish_seen_subcommand_from init run check adapters report compare trend reproduce probe help" -f -a "compare" -d 'Compare two labs and fail if the second is slower'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and not __fish_seen_subcommand_from init run check adapters report compare trend reproduce probe help" -f -a "trend" -d 'Show how figures changed over many labs'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and not __fish_seen_subcommand_from init run check adapters report compare trend reproduce probe help" -f -a "reproduce" -d 'Run a lab again from its record'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and not __fish_seen_subcommand_from init run check adapters report compare trend reproduce probe help" -f -a "probe" -d 'Measure the host itself: computation, loopback, disk and system calls'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and not __fish_seen_subcommand_from init run check adapters report compare trend reproduce probe help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from init" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from run" -l out -d 'Folder for the results; an interrupted lab continues there [default: the name of FILE with .lab]' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from run" -l only -d 'Run only this subject and the ceiling; repeatable' -r
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from run" -l quick -d 'Run fewer and shorter steps, as set in `[quick]` of the lab file, to check that it works'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from run" -l dry-run -d 'Print the steps in their order and an estimate of the time, and run none'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from adapters" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from report" -s o -l output -d 'File to write, instead of stdout' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from report" -l format -d 'Output format [default: by the extension of the file, otherwise HTML]' -r -f -a "html\t'One page that loads nothing else'
markdown\t'Markdown, as code forges show it'
json\t'The conclusions of the lab as JSON'
csv\t'The figures of every step as CSV'"
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from report" -l insert -d 'Write the tables into this Markdown file, between `<!-- bench:begin -->` and `<!-- bench:end -->`, or one table between `<!-- lab table: begin -->` and `<!-- lab table: end -->`' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from report" -l charts -d 'Folder to write each chart to, as an SVG file' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from compare" -l tolerance -d 'Largest change that is not reported, in percent of the base' -r
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from compare" -l fail-on -d 'Figures that must not become worse, separated by commas, such as goodput, response_p99_ms, cpu_us_per_request' -r
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from compare" -l format -d 'Output format' -r -f -a "text\t'Text'
json\t'JSON'"
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from trend" -s o -l output -d 'Write an HTML file instead of text to stdout' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from trend" -l format -d 'Output format for stdout' -r -f -a "text\t'Text'
json\t'JSON'"
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from trend" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from reproduce" -l dir -d 'Folder to write to' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from reproduce" -l files-only -d 'Write the files, and do not run the lab'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from reproduce" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from probe" -l samples -d 'Random points per core for the computation of pi' -r
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from probe" -l round-trips -d 'Round trips of one byte over loopback' -r
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from probe" -l syncs -d 'Writes, each with fsync' -r
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from probe" -l calls -d 'System calls' -r
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from probe" -l folder -d 'Folder on the disk to measure' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from probe" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "init" -d 'Write a first lab file, with comments'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "run" -d 'Run a lab: every subject under every load, in shuffled order'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "check" -d 'Check a lab file and list which of its subjects are installed'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "adapters" -d 'List the adapters: servers that a lab can start, with their settings'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "report" -d 'Write the report of a lab'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "compare" -d 'Compare two labs and fail if the second is slower'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "trend" -d 'Show how figures changed over many labs'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "reproduce" -d 'Run a lab again from its record'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "probe" -d 'Measure the host itself: computation, loopback, disk and system calls'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c vervet -n "__fish_vervet_using_subcommand generate" -l dir -d 'Root of the directory tree to write to, laid out as in the repository' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand generate" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand help; and not __fish_seen_subcommand_from serve run check config version limits passwd watch load lab generate help" -f -a "serve" -d 'Serve a directory or a single file over HTTP'
complete -c vervet -n "__fish_vervet_using_subcommand help; and not __fish_seen_subcommand_from serve run check config version limits passwd watch load lab generate help" -f -a "run" -d 'Serve the sites (virtual hosts) of a configuration file'
complete -c vervet -n "__fish_vervet_using_subcommand help; and not __fish_seen_subcommand_from serve run check config version limits passwd watch load lab generate help" -f -a "check" -d 'Validate a configuration file and report all errors with file, line and column'
complete -c vervet -n "__fish_vervet_using_subcommand help; and not __fish_seen_subcommand_from serve run check config version limits passwd watch load lab generate help" -f -a "config" -d 'Show the effective configuration, its JSON Schema and its reference'
complete -c vervet -n "__fish_vervet_using_subcommand help; and not __fish_seen_subcommand_from serve run check config version limits passwd watch load lab generate help" -f -a "version" -d 'Print the version, and build details with --build'
complete -c vervet -n "__fish_vervet_using_subcommand help; and not __fish_seen_subcommand_from serve run check config version limits passwd watch load lab generate help" -f -a "limits" -d 'Print the limits (timeouts, sizes, connections) that `serve --limit` sets'
complete -c vervet -n "__fish_vervet_using_subcommand help; and not __fish_seen_subcommand_from serve run check config version limits passwd watch load lab generate help" -f -a "passwd" -d 'Manage a password file for HTTP basic authentication'
complete -c vervet -n "__fish_vervet_using_subcommand help; and not __fish_seen_subcommand_from serve run check config version limits passwd watch load lab generate help" -f -a "watch" -d 'Monitor the CPU time, memory, page faults, context switches and descriptors of a process tree'
complete -c vervet -n "__fish_vervet_using_subcommand help; and not __fish_seen_subcommand_from serve run check config version limits passwd watch load lab generate help" -f -a "load" -d 'Generate HTTP load and report throughput, latency and errors'
complete -c vervet -n "__fish_vervet_using_subcommand help; and not __fish_seen_subcommand_from serve run check config version limits passwd watch load lab generate help" -f -a "lab" -d 'Benchmark and compare servers on this machine'
complete -c vervet -n "__fish_vervet_using_subcommand help; and not __fish_seen_subcommand_from serve run check config version limits passwd watch load lab generate help" -f -a "generate" -d 'Write manual pages, shell completions and reference pages'
complete -c vervet -n "__fish_vervet_using_subcommand help; and not __fish_seen_subcommand_from serve run check config version limits passwd watch load lab generate help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c vervet -n "__fish_vervet_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "show" -d 'Print every directive with its value and origin: flag, environment, file or default'
complete -c vervet -n "__fish_vervet_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "schema" -d 'Print the JSON Schema of configuration files, for completion in editors'
complete -c vervet -n "__fish_vervet_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "reference" -d 'Print the reference of all directives as Markdown'
complete -c vervet -n "__fish_vervet_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "limits" -d 'Print the limits with their defaults and bounds'
complete -c vervet -n "__fish_vervet_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "init" -d 'Write a first lab file, with comments'
complete -c vervet -n "__fish_vervet_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "run" -d 'Run a lab: every subject under every load, in shuffled order'
complete -c vervet -n "__fish_vervet_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "check" -d 'Check a lab file and list which of its subjects are installed'
complete -c vervet -n "__fish_vervet_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "adapters" -d 'List the adapters: servers that a lab can start, with their settings'
complete -c vervet -n "__fish_vervet_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "report" -d 'Write the report of a lab'
complete -c vervet -n "__fish_vervet_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "compare" -d 'Compare two labs and fail if the second is slower'
complete -c vervet -n "__fish_vervet_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "trend" -d 'Show how figures changed over many labs'
complete -c vervet -n "__fish_vervet_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "reproduce" -d 'Run a lab again from its record'
complete -c vervet -n "__fish_vervet_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "probe" -d 'Measure the host itself: computation, loopback, disk and system calls'
