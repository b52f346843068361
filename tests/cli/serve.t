#!/bin/sh
# Values over HTTP: what is answered, to whom, and that nobody can keep it from others.
. "$NVMTOP_SRC/tests/cli/lib.sh"
unset NVMTOP_BOARD JETSON_MODEL_NAME
PYTHONDONTWRITEBYTECODE=1
PYTHONPATH=$NVMTOP_SRC/tests/tools
export PYTHONDONTWRITEBYTECODE PYTHONPATH
py() { "$python" -c "import json, re, sys
$1"; }
scraper() { "$python" "$NVMTOP_SRC/tests/tools/scraper.py" "$@"; }
animate() { exec "$python" "$NVMTOP_SRC/tests/tools/scraper.py" animate "$@" >/dev/null 2>&1; }
# get TARGET PATH [METHOD [HEADER...]]: leaves the body in got, status and headers in head
get() { scraper get "$@" >got 2>head; }
answers() { is "$(sed -n 1p head)" "$1"; }
# serve_begin OPTION...: $pid is a server in the background that has values, or has failed; $port and $sock are its doors
mkfifo ready
sock=$XDG_RUNTIME_DIR/nvmtop/serve.socket
serve_begin() {
    : >out
    $EMU "$NVMTOP" serve --listen 127.0.0.1:0 --ready-fd 9 "$@" >out 2>err 9>ready &
    pid=$!
    read -r _ <ready
    port=$(sed -n 's|.*http://[^ ]*:\([0-9]*\)/ .*|\1|p' out)
}
serve_end() { # SIGNAL
    kill -"$1" $pid
    wait $pid
}
full=$roots/all_files-36

cp -R -P "$full" moving # in which the cores are busy, so that every family has a value
chmod -R u+w moving
animate moving 2000 4000 &
animator=$!
serve_begin --sysroot moving
if grep -q 'built without libmicrohttpd' err; then
    kill $animator
    wait $pid
    ok 'without libmicrohttpd: status 1' is $? 1
    ok 'without libmicrohttpd: one sentence says what to do' one_line err
    done_testing
    exit 0
fi
ok 'it says where it answers' says out "^nvmtop serves http://127.0.0.1:$port/ and the socket $sock\$"
ok 'and nothing else' test ! -s err -a "$(wc -l <out)" = 1
ok 'its socket is for this user only' is "$(stat -c '%a %F' "$sock")" '600 socket'

# --- /metrics ---
# The load of a core is known from its second reading on.
all_there() { get "$port" /metrics; grep -q '^nvmtop_cpu_all_busy_ratio_mean' got && grep -q '^nvmtop_cpu_busy_seconds_total' got; }
soon all_there
get "$port" /metrics
ok '/metrics' answers 200
ok '/metrics: OpenMetrics 1.0' says head '^content-type: application/openmetrics-text; version=1.0.0; charset=utf-8'
cp got metrics
ok '/metrics: as its specification has it' "$python" "$NVMTOP_SRC/tests/tools/openmetrics.py" metrics
ok '/metrics: values in base units, windows, counters, reasons' py "import openmetrics as o
x = o.expositions(open('metrics').read())[0]
(info,) = x['nvmtop_info']
assert dict(info)['soc'] == 'tegra234' and dict(info)['release'] == 'L4T 36.4.3', info
assert x['nvmtop_memory_used_bytes'][()] > 1e9
assert 1 < x['nvmtop_rail_watts'][(('rail', 'VDD_GPU_SOC'),)] < 100
for w in ('15s', '60s'):
    v = [x['nvmtop_rail_watts_' + s][(('rail', 'VDD_GPU_SOC'), ('window', w))] for s in ('min', 'mean', 'max')]
    assert v[0] <= v[1] <= v[2], v
assert x['nvmtop_rail_joules_total'][(('rail', 'VDD_GPU_SOC'),)] > 0
assert x['nvmtop_engine_busy_seconds_total'][(('engine', 'VIC'),)] >= 0
assert all(dict(k)['reason'] for k in x['nvmtop_missing_info']) and x['nvmtop_missing_info']"
get "$port" /metrics GET 'Accept: text/plain;version=0.0.4;q=1,*/*;q=0.1'
ok '/metrics: the older text for those who ask for it' says head '^content-type: text/plain; version=0.0.4'
ok '/metrics: in which a counter has its whole name' says got '^# TYPE nvmtop_rail_joules_total counter'
if command -v promtool >/dev/null; then
    promtool check metrics <got >why 2>&1
    ok 'promtool check metrics' is "$?$(cat why)" 0
else
    skip 'promtool check metrics' 'promtool is not installed: it is in the package prometheus'
fi
get "$port" /metrics GET 'Accept: application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1'
ok '/metrics: what Prometheus asks for' says head '^content-type: application/openmetrics-text'
ok 'one after the other: no counter falls' py "import openmetrics as o, scraper
a, b = [o.expositions(scraper.get(t, '/metrics')[2])[0] for t in ('$port', '$sock')]
assert any(n.endswith('_total') for n in a)
for n in a:
    if n.endswith('_total'):
        assert all(b[n][k] >= v for k, v in a[n].items()), n"
ok 'at the socket, too' get "$sock" /metrics
ok 'the dashboard has no metric that does not exist' py "import openmetrics as o
x = o.expositions(open('metrics').read())[0]
board = json.load(open('$NVMTOP_SRC/grafana/nvmtop.json'))
said = [t['expr'] for p in board['panels'] for t in p.get('targets', [])]
names = {n for e in said for n in re.findall(r'\bnvmtop_\w+', e)}
names |= set(re.findall(r'nvmtop_\w+', json.dumps(board['templating'])))
assert len(names) > 15, names
assert not names - set(x), names - set(x)"

# --- other paths, methods, and requests that are too long ---
get "$port" /
ok '/ names the paths' py "t = open('got').read(); assert all(p in t for p in ('/metrics', '/machine', '/healthz')), t"
get "$port" /healthz
ok '/healthz' is "$(sed -n 1p head) $(cat got)" '200 ok'
for path in /nothing /metrics/ /metrics.html /../../etc/passwd /%2e%2e/etc/passwd //etc/passwd /etc/passwd; do
    get "$port" $path
    ok "$path: 404" answers 404
    ok "$path: no file" test "$(wc -l <got)" = 1
done
get "$port" /metrics HEAD
ok 'HEAD: the length, and nothing else' test "$(sed -n 1p head)" = 200 -a "$(sed -n 's/^content-length: //p' head)" -gt 10000 -a ! -s got
for method in POST PUT DELETE OPTIONS PATCH TRACE; do
    get "$port" /metrics $method
    ok "$method: 405, and what is allowed" is "$(sed -n '1p; s/^allow: //p' head | tr '\n' ' ')" '405 GET, HEAD '
done
ok 'a request of less than 4 KiB' get "$port" /healthz GET "X: $(printf %03900d 0)"
get "$port" /healthz GET "X: $(printf %04200d 0)"
ok 'a request of more than 4 KiB: 431' answers 431
get "$port" /healthz GET "X: $(printf %030000d 0)" || echo 431 >head # or the connection is closed
ok 'a request of 30 KiB: 431, or no answer' answers 431

# --- sampling that stops ---
scraper stop "$port" $pid nvmtop-sampler >said 2>why
case $? in
0)
    ok '/healthz: 503 while nothing is sampled, and why' says said '^503 nothing is sampled in the [a-z]* tier'
    ok '/metrics: nothing that is old' is "$(sed -n 2p said)" True
    ok '/healthz: ok when it goes on' is "$(sed -n 3p said)" '200 ok'
    ;;
77) skip '/healthz: 503 while nothing is sampled' 'a thread of another process cannot be stopped here: as root it can' ;;
*) ok '/healthz: 503 while nothing is sampled' is "$(cat said why)" 503 ;;
esac
serve_end TERM

# --- the description of the machine ---
serve_begin --sysroot "$full"
described() { get "$1" /machine && answers 200; } # it may be being read still
ok '/machine' soon described "$sock"
ok '/machine: JSON' says head '^content-type: application/json'
ok '/machine: at the socket with the serial number and command lines' py "
t = json.load(open('got'))
m = t['machine']
assert t['version'] == 1 and m['serial'] == '1421722000000', m.get('serial')
assert m['processes'][0]['command'].startswith('/usr/bin/python3 '), m['processes']
assert len(m['engines']) == 7 and m['power_mode']['current'] == 'MODE_30W' and m['jetson_clocks'] is False"
nvmtop once --json --sysroot "$full" >once
ok '/machine: that of once --json' py "a, b = (json.load(open(f))['machine'] for f in ('got', 'once'))
for m in (a, b): # a process has its load from the second reading on, and an age
    for p in m['processes']:
        p.pop('age_s', None), p.pop('cpu_percent', None)
assert a == b, [k for k in a.keys() | b.keys() if a.get(k) != b.get(k)]"
soon described "$port"
ok '/machine: to others without' py "
m = json.load(open('got'))['machine']
assert 'serial' not in m and all('address' not in i for i in m.get('interfaces', [])) and not any('command' in p for p in m['processes']), m
assert m['model'] and len(m['processes']) == 1 and '1421722000000' not in open('got').read()"

# --- clients that are slow, send noise, go away, or are many: the others go on ---
for target in "$port" "$sock"; do
    case $target in /*) at='at the socket' ;; *) at='at the port' ;; esac
    ok "$at: slow ones" scraper slow "$target"
    ok "$at: 400 with noise" scraper noise "$target" 400
    ok "$at: 200 that go away" scraper leave "$target" 200
    ok "$at: 1000 connections at a time" scraper crowd "$target" 1000
done
ok 'and it is as it was' get "$port" /healthz
few() { test "$(ls /proc/$pid/fd | wc -l)" -le "$1"; }
ok 'connections that ended are closed' soon few $(($(ls "/proc/$pid/fd" | wc -l) - $(ls -l "/proc/$pid/fd" | grep -c socket:) + 6))
ok 'nothing was said about them' test ! -s err

# --- places that are taken ---
cp err before
run $EMU "$NVMTOP" serve --sysroot "$full" --listen "127.0.0.1:$port" --socket other.socket
ok 'a port in use: status 1' is "$status" 1
ok 'a port in use: one sentence' is "$(cat err)" "nvmtop: cannot listen at 127.0.0.1:$port: another program has that port; --listen ADDRESS:PORT chooses one"
run $EMU "$NVMTOP" serve --sysroot "$full" --listen 127.0.0.1:0
ok 'a socket in use: status 1' is "$status" 1
ok 'a socket in use: one sentence' is "$(cat err)" "nvmtop: another program answers at $sock; --socket FILE chooses another place"
ok 'the first one still has both' eval 'get "$port" /healthz && get "$sock" /healthz'
run $EMU "$NVMTOP" serve --sysroot "$full" --listen 192.0.2.1:9978 --socket other.socket
ok 'an address that is not ours: status 1' is "$status" 1
ok 'an address that is not ours: one sentence' is "$(cat err)" \
    'nvmtop: cannot listen at 192.0.2.1:9978: it is not an address of this machine; "ip address" lists those'
echo precious >file
run $EMU "$NVMTOP" serve --sysroot "$full" --listen 127.0.0.1:0 --socket file
ok 'a file in place of the socket: status 1' is "$status" 1
ok 'a file in place of the socket: one sentence' is "$(cat err)" 'nvmtop: file is not a socket; --socket FILE chooses another place'
ok 'a file in place of the socket: it stays' is "$(cat file)" precious
py "import socket; socket.socket(socket.AF_UNIX).bind('theirs')"
if chown 12345 theirs 2>/dev/null; then
    run $EMU "$NVMTOP" serve --sysroot "$full" --listen 127.0.0.1:0 --socket theirs
    ok 'a socket of somebody else: status 1' is "$status" 1
    ok 'a socket of somebody else: one sentence' is "$(cat err)" 'nvmtop: theirs belongs to another user; --socket FILE chooses another place'
    ok 'a socket of somebody else: it stays' test -S theirs
else
    skip 'a socket of somebody else' 'only root can make one'
fi
run $EMU "$NVMTOP" serve --sysroot "$full" --listen 127.0.0.1:0 --socket no/such/folder
ok 'a socket in no folder: status 1' is "$status" 1
ok 'a socket in no folder: one sentence' one_line err
run $EMU "$NVMTOP" serve --sysroot "$full" --listen 127.0.0.1:0 --socket "$(printf %0200d 0)"
ok 'a path that is too long for a socket: status 2' is "$status" 2
for bad in '--listen 9978' '--listen localhost:9978' '--listen 127.0.0.1:' '--listen 127.0.0.1:65536' '--listen 127.0.0.1:-1' '--listen ::1:9978' \
    '--listen [::1]' '--listen 127.0.0.1:9978x' '--listen :9978' '--select gpu.utli' 'x.nvmt'; do
    run $EMU "$NVMTOP" serve --sysroot "$full" --socket other.socket $bad
    ok "$bad: status 2" is "$status" 2
    ok "$bad: one sentence" test "$(wc -l <err)" -le 2 -a -s err
done
ok 'none of them left a socket' test ! -e other.socket
serve_end TERM

# --- Prometheus, of two machines whose power is known ---
kill $animator
if command -v prometheus >/dev/null; then
    cp -R -P moving other
    serve_begin --sysroot moving --socket one.socket
    pid1=$pid port1=$port
    serve_begin --sysroot other --socket other.socket
    animate moving 2000 4000 &
    animator=$!
    animate other 1000 7000 &
    animator2=$!
    for tree in moving other; do
        $EMU "$NVMTOP" record --sysroot $tree $tree.nvmt 2>$tree.err &
        eval "$tree=$!"
    done
    cat >prometheus.yml <<END
global: {scrape_interval: 1s}
scrape_configs: [{job_name: nvmtop, static_configs: [{targets: ["127.0.0.1:$port1", "127.0.0.1:$port"]}]}]
END
    web=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    prometheus --config.file=prometheus.yml --storage.tsdb.path=tsdb --web.listen-address="127.0.0.1:$web" 2>prometheus.log &
    prometheus=$!
    ask() { # QUERY
        "$python" -c 'import json, sys, urllib.parse as p, urllib.request as u
r = u.urlopen(sys.argv[1] + "/api/v1/query?" + p.urlencode({"query": sys.argv[2]}))
print(json.dumps(json.load(r)["data"]["result"]))' "http://127.0.0.1:$web" "$1"
    }
    joules='nvmtop_rail_joules_total{rail="VDD_GPU_SOC"}'
    asked() { ask "${joules}[60s]" >samples && py "s = json.load(open('samples')); assert len(s) == 2 and all(len(x['values']) > 20 for x in s)"; }
    ok 'Prometheus scrapes both' soon asked
    ask "rate(${joules}[15s])" >rates
    ask up >up
    ask 'max(max_over_time(scrape_duration_seconds[60s]))' >slowest
    asked
    kill $prometheus $moving $other $pid $pid1 $animator $animator2
    wait $prometheus $moving $other $pid $pid1
    ok 'Prometheus: no scrape failed' py "assert [x['value'][1] for x in json.load(open('up'))] == ['1', '1'], open('up').read()"
    for tree in moving other; do
        case $tree in moving) which=$port1 ;; other) which=$port ;; esac
        nvmtop stream --interval 0.1 --select VDD_GPU_SOC.power $tree.nvmt >$tree.lines
        ok "Prometheus: joules a second are the mean power of a recording, $tree" py "
(v,) = [x['values'] for x in json.load(open('samples')) if x['metric']['instance'].endswith(':$which')]
((at, rate),) = [map(float, x['value']) for x in json.load(open('rates')) if x['metric']['instance'].endswith(':$which')]
rows = [json.loads(x) for x in open('$tree.lines')]
def mean(a, b):
    p = [x['VDD_GPU_SOC.power'] / 1000 for x in rows if a < x['time'] - 0.05 <= b and x['VDD_GPU_SOC.power'] is not None]
    return sum(p) / len(p)
power = mean(*(f(t for t, _ in v if at - 15 < t <= at) for f in (min, max))) # between the scrapes that rate() looks at
print(f'rate() {rate:.4f} W, recorded {power:.4f} W')
# 0.1 to 0.5 % on a quiet machine. A scrape is of some time while it lasts, and the power of then is up to 4 times the mean.
late = 2 * float(json.load(open('slowest'))[0]['value'][1])
assert abs(rate / power - 1) < 0.05 + 4 * late / 15, (rate, power, late)"
        sed 's/^/# /' .why
    done
else
    skip 'Prometheus' 'prometheus is not installed: apt install prometheus'
fi

# --- the end ---
serve_begin --sysroot "$full"
serve_end TERM
ok 'SIGTERM: status 0' is $? 0
ok 'its socket is gone' test ! -e "$sock"
ok 'without a word' cmp -s before /dev/null
serve_begin --sysroot "$full" --select 'gpu.util,*.power'
get "$sock" /metrics
ok '--select: these signals' says got '^nvmtop_rail_watts'
ok '--select: and no others' eval '! grep -q temperature got'
kill -KILL $pid
wait $pid 2>/dev/null
ok 'a server that was killed leaves its socket' test -S "$sock"
serve_begin --demo
ok 'the next one replaces it' get "$sock" /metrics
get "$sock" /machine
ok 'a simulated board has no description: 404' answers 404
"$python" -c 'import scraper, sys, time
s = scraper.connect(sys.argv[1])
s.send(b"GET /metr")
s.recv(1)' "$sock" &
other=$!
serve_end INT
ok 'SIGINT, while one is asking: status 0' is $? 0
wait $other
: >out
$EMU "$NVMTOP" serve --demo --listen 0.0.0.0:0 --ready-fd 9 >out 2>err 9>ready &
pid=$!
read -r _ <ready
ok 'an address that others reach: a warning' is "$(cat err)" 'nvmtop: whoever reaches 0.0.0.0:0 can read the values of this machine, without a password'
get "$(sed -n 's|.*:\([0-9]*\)/ .*|\1|p' out)" /healthz
ok 'an address that others reach: it answers' is "$(cat got)" ok
serve_end TERM
if py "import socket; socket.socket(socket.AF_INET6).bind(('::1', 0))" 2>/dev/null; then
    : >out
    $EMU "$NVMTOP" serve --demo --listen '[::1]:0' --ready-fd 9 >out 2>err 9>ready &
    pid=$!
    read -r _ <ready
    ok 'IPv6' py "import urllib.request as u
assert u.urlopen(re.search(r'http:\S+', open('out').read())[0] + 'healthz').read() == b'ok\n'"
    ok 'IPv6: ::1 is for this machine only' test ! -s err
    serve_end TERM
else
    skip 'IPv6' 'this machine has no ::1'
fi
done_testing
