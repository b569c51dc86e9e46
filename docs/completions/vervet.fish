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
complete -c vervet -n "__fish_vervet_needs_command" -f -a "serve" -d 'Serve a folder, or a single file, over HTTP'
complete -c vervet -n "__fish_vervet_needs_command" -f -a "run" -d 'Serve the sites of a configuration file'
complete -c vervet -n "__fish_vervet_needs_command" -f -a "check" -d 'Check a configuration file: every mistake at once, each with its place'
complete -c vervet -n "__fish_vervet_needs_command" -f -a "config" -d 'Show what a configuration comes to, and what there is to be set'
complete -c vervet -n "__fish_vervet_needs_command" -f -a "version" -d 'Say which version this is, and with --build how it was built'
complete -c vervet -n "__fish_vervet_needs_command" -f -a "limits" -d 'Print the table of limits that `serve --limit` sets'
complete -c vervet -n "__fish_vervet_needs_command" -f -a "passwd" -d 'Add, change, remove or list users of basic authentication in a file'
complete -c vervet -n "__fish_vervet_needs_command" -f -a "watch" -d 'Watch what a process and all below it use: processor time, memory, faults, switches, descriptors'
complete -c vervet -n "__fish_vervet_needs_command" -f -a "load" -d 'Make load, and say what holds'
complete -c vervet -n "__fish_vervet_needs_command" -f -a "lab" -d 'Compare servers on this machine, and say what holds'
complete -c vervet -n "__fish_vervet_needs_command" -f -a "generate" -d 'Write the files that are made from the program: manual pages, completions, reference'
complete -c vervet -n "__fish_vervet_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l listen -d 'Address to listen on; repeatable. 127.0.0.1:8080, [::1]:8080, :8080 (everyone), port 0 (a free one), unix:/path, unix:@name, fd:3, fd:name [default: 127.0.0.1:8080, or a free port when that is taken]' -r
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l unix-mode -d 'Permissions of the file of a unix socket, octal [default: what the umask leaves]' -r
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l proxy-protocol -d 'Network whose connections begin with a PROXY protocol header; repeatable. On a unix socket any network means that all connections do' -r
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l index -d 'Page to answer with where a folder is asked for; repeatable, the first that exists is taken' -r
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l max-age -d 'How long browsers may use a file without asking again: Cache-Control: max-age. 0 to ask each time' -r
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l log -d 'A line for each request [default: pretty, and combined for a file]' -r -f -a "pretty\t'Short and aligned, for people; with colours on a terminal, unless NO_COLOR is set'
common\t'The common log format of NCSA'
combined\t'The common format with Referer and User-Agent'
json\t'One JSON object'
none\t'No lines'"
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l log-file -d 'File to append the lines to; - for standard output. It is opened anew on USR1' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l workers -d 'Threads that answer requests; auto for as many as the processors and the control group allow' -r
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l limit -d 'Set a limit of `vervet limits`, with a unit if wanted (k, MiB, ms, s, h); repeatable' -r
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l overload -d 'What becomes of connections above connections_max' -r -f -a "reject\t'503 with Retry-After'
wait\t'They wait in the kernel\'s queue'"
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l drain-timeout -d 'How long requests under way may take to end after the first TERM or Ctrl-C [default: 30s]' -r
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l carrier -d 'What carries the reactors' -r -f -a "thread\t'A plain thread for each'
tokio\t'A tokio runtime for each'"
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l backlog -d 'Connections that may wait to be accepted' -r
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l fastopen -d 'Connections whose request may come with the SYN (TCP_FASTOPEN); 0 for none' -r
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l congestion -d 'Congestion control by its kernel name, such as bbr [default: the system\'s]' -r
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l spa -d 'Answer unknown paths with the page at /, whose script routes them'
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l no-listing -d 'Do not list folders that have no index page'
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l hidden -d 'Serve names that begin with a dot, too'
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l follow-symlinks -d 'Follow symbolic links that stay within the folder'
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l no-compression -d 'Send everything as it is, uncompressed'
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l reuse-port -d 'A socket for each worker, the kernel spreading connections (SO_REUSEPORT); other processes may join'
complete -c vervet -n "__fish_vervet_using_subcommand serve" -l no-defer-accept -d 'Accept a connection before its first bytes are there'
complete -c vervet -n "__fish_vervet_using_subcommand serve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c vervet -n "__fish_vervet_using_subcommand run" -l set -d 'Set a directive of the top level, before environment and file; repeatable' -r
complete -c vervet -n "__fish_vervet_using_subcommand run" -l trace -d 'Tell on the error log how each request was decided, part by part with its time; with a RULE, only requests whose path fits a pattern such as /shop/*, or whose client is an address or in a network; repeatable' -r
complete -c vervet -n "__fish_vervet_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c vervet -n "__fish_vervet_using_subcommand check" -l set -d 'Set a directive of the top level, before environment and file; repeatable' -r
complete -c vervet -n "__fish_vervet_using_subcommand check" -l json -d 'Print findings as JSON to standard output'
complete -c vervet -n "__fish_vervet_using_subcommand check" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand config; and not __fish_seen_subcommand_from show schema reference limits help" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand config; and not __fish_seen_subcommand_from show schema reference limits help" -f -a "show" -d 'Print every directive with its value, and whether a flag, the environment, the file or the default says so'
complete -c vervet -n "__fish_vervet_using_subcommand config; and not __fish_seen_subcommand_from show schema reference limits help" -f -a "schema" -d 'Print the JSON Schema of configuration files, for editors'
complete -c vervet -n "__fish_vervet_using_subcommand config; and not __fish_seen_subcommand_from show schema reference limits help" -f -a "reference" -d 'Print the reference of all directives, as Markdown'
complete -c vervet -n "__fish_vervet_using_subcommand config; and not __fish_seen_subcommand_from show schema reference limits help" -f -a "limits" -d 'Print the table of limits'
complete -c vervet -n "__fish_vervet_using_subcommand config; and not __fish_seen_subcommand_from show schema reference limits help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c vervet -n "__fish_vervet_using_subcommand config; and __fish_seen_subcommand_from show" -l set -d 'Set a directive of the top level, before environment and file; repeatable' -r
complete -c vervet -n "__fish_vervet_using_subcommand config; and __fish_seen_subcommand_from show" -l json -d 'As JSON'
complete -c vervet -n "__fish_vervet_using_subcommand config; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand config; and __fish_seen_subcommand_from schema" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand config; and __fish_seen_subcommand_from reference" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand config; and __fish_seen_subcommand_from limits" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "show" -d 'Print every directive with its value, and whether a flag, the environment, the file or the default says so'
complete -c vervet -n "__fish_vervet_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "schema" -d 'Print the JSON Schema of configuration files, for editors'
complete -c vervet -n "__fish_vervet_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "reference" -d 'Print the reference of all directives, as Markdown'
complete -c vervet -n "__fish_vervet_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "limits" -d 'Print the table of limits'
complete -c vervet -n "__fish_vervet_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c vervet -n "__fish_vervet_using_subcommand version" -l build -d 'Say how it was built, too: commit, target, compiler, libraries'
complete -c vervet -n "__fish_vervet_using_subcommand version" -l json -d 'Say everything as one JSON object'
complete -c vervet -n "__fish_vervet_using_subcommand version" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand limits" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand passwd" -l cost -d 'Cost of bcrypt; each step doubles the time of a login' -r
complete -c vervet -n "__fish_vervet_using_subcommand passwd" -l remove -d 'Remove the user'
complete -c vervet -n "__fish_vervet_using_subcommand passwd" -l list -d 'Print the names of all users'
complete -c vervet -n "__fish_vervet_using_subcommand passwd" -l bcrypt -d 'Hash by bcrypt instead of Argon2id'
complete -c vervet -n "__fish_vervet_using_subcommand passwd" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand watch" -s i -l interval -d 'Time between two samples' -r
complete -c vervet -n "__fish_vervet_using_subcommand watch" -s d -l duration -d 'How long to watch [default: until the last process has ended]' -r
complete -c vervet -n "__fish_vervet_using_subcommand watch" -s n -l count -d 'How many samples to take [default: until the last process has ended]' -r
complete -c vervet -n "__fish_vervet_using_subcommand watch" -s f -l format -d 'How to tell it; a table is a live view on a terminal [default: table, or json with --output]' -r -f -a "table\t'Lines for people, at most one a second'
json\t'One JSON document'
ndjson\t'One JSON object a line, as they come'
csv\t'Comma-separated values, a line for each sample'"
complete -c vervet -n "__fish_vervet_using_subcommand watch" -s o -l output -d 'File to write to instead of standard output, where a terminal then shows the live view' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand watch" -l plain -d 'Write lines on a terminal, too, instead of the live view'
complete -c vervet -n "__fish_vervet_using_subcommand watch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c vervet -n "__fish_vervet_using_subcommand load" -s c -l connections -d 'Connections at once: users in closed load, the most in use in open load [default: 10, in open load 64]' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -s d -l duration -d 'Length of the run without its warm-up: 10s, 500ms, 2m [default: 10s, unless -n is given]' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -s n -l requests -d 'Requests of the run' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l rate -d 'Open load: requests per second, whatever the target does. 500, 5k' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l ramp -d 'Open load whose rate goes from one to another in a straight line: 100..5k' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l steps -d 'Open load in steps of equal length: 100..500+100' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l stages -d 'Open load by a file: one stage a line, how long and the rate or FROM..TO' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand load" -l arrival -d 'How requests of open load lie in time' -r -f -a "even\t'At equal distances'
poisson\t'By chance, as independent visitors come'"
complete -c vervet -n "__fish_vervet_using_subcommand load" -l seed -d 'Where chance begins: the same seed makes the same run' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l warm-up -d 'Time before the run whose requests are made and not counted' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l part -d 'Which part of a run this is, as in 0/3: what a coordinator gives its agents' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -s t -l threads -d 'Threads that make the load [default: one, or one for each of --cores]' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l cores -d 'Processors that they are bound to: 1 or 2-5 or 1,3' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l keep-alive -d 'on, or off for --close' -r -f -a "on\t''
off\t''"
complete -c vervet -n "__fish_vervet_using_subcommand load" -l requests-per-connection -d 'A new connection after so many requests; browsers come to about 25' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l pipeline -d 'Requests that wait for their answers on one connection' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l connect-rate -d 'Connections begun per second at most' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l unix -d 'Connect to this unix socket, whatever the URL says' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand load" -s B -l source -d 'Address of this machine to connect from; repeatable, taken in turn' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l connect-timeout -d 'How long a connection may take' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -s s -l timeout -d 'How long an answer may take; looked at every 128 ms' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -s X -s m -l method -d 'The method [default: GET, or POST with content]' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -s H -l header -l field -d 'A field, as in "Accept: text/html"; repeatable. Variables as in {seq} and {random}' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l data -d 'Content, with variables' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -s p -l data-file -d 'Content from a file, as it is' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand load" -s u -l put -d 'The same, with PUT' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand load" -s T -l content-type -d 'Content-Type' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -s A -l basic -d 'USER:PASSWORD for basic authentication' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -s C -l cookie -d 'NAME=VALUE for Cookie; repeatable' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l targets -d 'Requests from a file, one a line: METHOD and URL, or a path where URL is given' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand load" -l scenario -d 'What kinds of users do, step by step, from a file of TOML' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand load" -l har -d 'What a browser recorded (HAR 1.2), as the scenario that it becomes' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand load" -l replay -d 'An access log in the common, combined or JSON form: its requests at the times that they had' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand load" -l replay-speed -d 'How much faster: 2x, 0.5x' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l feed -d 'Rows of values from CSV: {name} stands for the column of that name' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand load" -l feed-order -d 'Which row is next: sequential, random, or once, after which users end' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l check-status -d 'Statuses that are right: 200, 2xx, 200-299,304' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l check-length -d 'Bytes of content' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l check-hash -d 'SHA-256 of the content, 64 hexadecimal digits' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l check-text -d 'Text that the content has' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l format -d 'Form of what is printed' -r -f -a "text\t'For people'
json\t'Everything, as one document with a schema'
csv\t'The series, one interval a line'
ndjson\t'Each interval when it is over, then the run'
hgrm\t'Percentiles of response times, as HdrHistogram plots them'
html\t'One page, without network'
openmetrics\t'OpenMetrics, for the textfile collector of node_exporter'"
complete -c vervet -n "__fish_vervet_using_subcommand load" -s o -l output -d 'Write another form to a file; repeatable' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l interval -d 'Distance of the points of the series' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l fail-if -d 'Fail when this holds: \'p99>20ms\', \'errors>0.1%\', \'rate<5k\'; repeatable' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l find-max -d 'Search the highest rate at which this holds: \'p99<10ms\'' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l watch -d 'Watch these processes of this machine beside: a process number, name, port, unit or cgroup; repeatable' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l canned -d 'Answer every request by the same bytes, on one thread, until interrupted: the ceiling of this machine' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l canned-bytes -d 'Bytes of content of --canned [default: "Hello, world" and a line end]' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l canned-status -d 'Status of --canned' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l agent -d 'Make load for others: wait at this address for plans, one after another. To be kept from strangers' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l agents -d 'Have these agents make the load, each its share: HOST:PORT,...' -r
complete -c vervet -n "__fish_vervet_using_subcommand load" -l close -d 'A new connection for each request'
complete -c vervet -n "__fish_vervet_using_subcommand load" -s k -d 'Keep connections, as is the default: for those used to ab'
complete -c vervet -n "__fish_vervet_using_subcommand load" -s 4 -l ipv4 -d 'IPv4 only'
complete -c vervet -n "__fish_vervet_using_subcommand load" -s 6 -l ipv6 -d 'IPv6 only'
complete -c vervet -n "__fish_vervet_using_subcommand load" -s i -l head -d 'HEAD instead of GET'
complete -c vervet -n "__fish_vervet_using_subcommand load" -l print-scenario -d 'Print the scenario that --har becomes, to be changed and run by --scenario'
complete -c vervet -n "__fish_vervet_using_subcommand load" -l all-hosts -d 'Refuse a recording of several hosts, instead of leaving out all but the first'
complete -c vervet -n "__fish_vervet_using_subcommand load" -l replay-all-methods -d 'Replay methods too that may change something, without content, which no log has'
complete -c vervet -n "__fish_vervet_using_subcommand load" -s q -l quiet -d 'Say nothing while it runs'
complete -c vervet -n "__fish_vervet_using_subcommand load" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and not __fish_seen_subcommand_from run check adapters report compare trend reproduce probe ceiling help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and not __fish_seen_subcommand_from run check adapters report compare trend reproduce probe ceiling help" -f -a "run" -d 'Run a lab: every subject under every load, in shuffled order'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and not __fish_seen_subcommand_from run check adapters report compare trend reproduce probe ceiling help" -f -a "check" -d 'Check a lab file and list which of its subjects are installed'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and not __fish_seen_subcommand_from run check adapters report compare trend reproduce probe ceiling help" -f -a "adapters" -d 'List the adapters: servers that a lab can start, with their settings'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and not __fish_seen_subcommand_from run check adapters report compare trend reproduce probe ceiling help" -f -a "report" -d 'Write the report of a lab'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and not __fish_seen_subcommand_from run check adapters report compare trend reproduce probe ceiling help" -f -a "compare" -d 'Compare two labs and fail if the second is slower'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and not __fish_seen_subcommand_from run check adapters report compare trend reproduce probe ceiling help" -f -a "trend" -d 'Show how figures changed over many labs'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and not __fish_seen_subcommand_from run check adapters report compare trend reproduce probe ceiling help" -f -a "reproduce" -d 'Run a lab again from its record'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and not __fish_seen_subcommand_from run check adapters report compare trend reproduce probe ceiling help" -f -a "probe" -d 'Measure the host itself: computation, loopback, disk and system calls'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and not __fish_seen_subcommand_from run check adapters report compare trend reproduce probe ceiling help" -f -a "ceiling" -d 'Run the canned-response server that a lab compares servers with'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and not __fish_seen_subcommand_from run check adapters report compare trend reproduce probe ceiling help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from run" -l out -d 'Folder for the results; an interrupted lab continues there [default: the name of FILE with .lab]' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from run" -l only -d 'Run only this subject and the ceiling; repeatable' -r
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from run" -l quick -d 'Run fewer and shorter steps, as `[quick]` in the lab file says, to check that the lab works'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from run" -l dry-run -d 'Print the steps in their order and an estimate of the time, and run none'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from adapters" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from report" -s o -l output -d 'File to write, instead of stdout' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from report" -l format -d 'Output format [default: by the extension of the file, otherwise HTML]' -r -f -a "html\t'One page that loads nothing else'
markdown\t'Markdown, as code forges show it'
json\t'The conclusions of the lab as JSON'
csv\t'The figures of every step as CSV'"
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from report" -l insert -d 'Write the tables into this Markdown file, between `<!-- bench:begin -->` and `<!-- bench:end -->`, or `<!-- figures: begin -->` and `<!-- figures: end -->`' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from report" -l charts -d 'Folder to write each chart to, as an SVG file' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from compare" -l tolerance -d 'Largest change that counts as no difference, in percent of the base' -r
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
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from ceiling" -l listen -d 'Where to listen' -r
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from ceiling" -l content -d 'The file with the content of every answer' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from ceiling" -l close -d 'Close each connection after its answer'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from ceiling" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "run" -d 'Run a lab: every subject under every load, in shuffled order'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "check" -d 'Check a lab file and list which of its subjects are installed'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "adapters" -d 'List the adapters: servers that a lab can start, with their settings'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "report" -d 'Write the report of a lab'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "compare" -d 'Compare two labs and fail if the second is slower'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "trend" -d 'Show how figures changed over many labs'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "reproduce" -d 'Run a lab again from its record'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "probe" -d 'Measure the host itself: computation, loopback, disk and system calls'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "ceiling" -d 'Run the canned-response server that a lab compares servers with'
complete -c vervet -n "__fish_vervet_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c vervet -n "__fish_vervet_using_subcommand generate" -l dir -d 'Folder below which they are written, as they lie in the repository' -r -F
complete -c vervet -n "__fish_vervet_using_subcommand generate" -s h -l help -d 'Print help'
complete -c vervet -n "__fish_vervet_using_subcommand help; and not __fish_seen_subcommand_from serve run check config version limits passwd watch load lab generate help" -f -a "serve" -d 'Serve a folder, or a single file, over HTTP'
complete -c vervet -n "__fish_vervet_using_subcommand help; and not __fish_seen_subcommand_from serve run check config version limits passwd watch load lab generate help" -f -a "run" -d 'Serve the sites of a configuration file'
complete -c vervet -n "__fish_vervet_using_subcommand help; and not __fish_seen_subcommand_from serve run check config version limits passwd watch load lab generate help" -f -a "check" -d 'Check a configuration file: every mistake at once, each with its place'
complete -c vervet -n "__fish_vervet_using_subcommand help; and not __fish_seen_subcommand_from serve run check config version limits passwd watch load lab generate help" -f -a "config" -d 'Show what a configuration comes to, and what there is to be set'
complete -c vervet -n "__fish_vervet_using_subcommand help; and not __fish_seen_subcommand_from serve run check config version limits passwd watch load lab generate help" -f -a "version" -d 'Say which version this is, and with --build how it was built'
complete -c vervet -n "__fish_vervet_using_subcommand help; and not __fish_seen_subcommand_from serve run check config version limits passwd watch load lab generate help" -f -a "limits" -d 'Print the table of limits that `serve --limit` sets'
complete -c vervet -n "__fish_vervet_using_subcommand help; and not __fish_seen_subcommand_from serve run check config version limits passwd watch load lab generate help" -f -a "passwd" -d 'Add, change, remove or list users of basic authentication in a file'
complete -c vervet -n "__fish_vervet_using_subcommand help; and not __fish_seen_subcommand_from serve run check config version limits passwd watch load lab generate help" -f -a "watch" -d 'Watch what a process and all below it use: processor time, memory, faults, switches, descriptors'
complete -c vervet -n "__fish_vervet_using_subcommand help; and not __fish_seen_subcommand_from serve run check config version limits passwd watch load lab generate help" -f -a "load" -d 'Make load, and say what holds'
complete -c vervet -n "__fish_vervet_using_subcommand help; and not __fish_seen_subcommand_from serve run check config version limits passwd watch load lab generate help" -f -a "lab" -d 'Compare servers on this machine, and say what holds'
complete -c vervet -n "__fish_vervet_using_subcommand help; and not __fish_seen_subcommand_from serve run check config version limits passwd watch load lab generate help" -f -a "generate" -d 'Write the files that are made from the program: manual pages, completions, reference'
complete -c vervet -n "__fish_vervet_using_subcommand help; and not __fish_seen_subcommand_from serve run check config version limits passwd watch load lab generate help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c vervet -n "__fish_vervet_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "show" -d 'Print every directive with its value, and whether a flag, the environment, the file or the default says so'
complete -c vervet -n "__fish_vervet_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "schema" -d 'Print the JSON Schema of configuration files, for editors'
complete -c vervet -n "__fish_vervet_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "reference" -d 'Print the reference of all directives, as Markdown'
complete -c vervet -n "__fish_vervet_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "limits" -d 'Print the table of limits'
complete -c vervet -n "__fish_vervet_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "run" -d 'Run a lab: every subject under every load, in shuffled order'
complete -c vervet -n "__fish_vervet_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "check" -d 'Check a lab file and list which of its subjects are installed'
complete -c vervet -n "__fish_vervet_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "adapters" -d 'List the adapters: servers that a lab can start, with their settings'
complete -c vervet -n "__fish_vervet_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "report" -d 'Write the report of a lab'
complete -c vervet -n "__fish_vervet_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "compare" -d 'Compare two labs and fail if the second is slower'
complete -c vervet -n "__fish_vervet_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "trend" -d 'Show how figures changed over many labs'
complete -c vervet -n "__fish_vervet_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "reproduce" -d 'Run a lab again from its record'
complete -c vervet -n "__fish_vervet_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "probe" -d 'Measure the host itself: computation, loopback, disk and system calls'
complete -c vervet -n "__fish_vervet_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "ceiling" -d 'Run the canned-response server that a lab compares servers with'
