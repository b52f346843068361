#!/bin/sh
# The terminal is taken and given back: sizes, stops, signals, faults, parked
# stderr, a line that takes nothing.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$TERMTEST"

begin() {
	log=$tmp/log-$tests_run
	: >"$log"
	run "clear; $TERMTEST $log $*"
	wait_file "$log" ready || check "it starts: $*" false
}

pid() {
	pgrep -n -f "termtest $log"
}

stopped() {
	grep -q '^State:.*stopped' "/proc/$1/status" 2>/dev/null
}

quiet() {
	a=$(wc -c <"$1")
	sleep 0.3
	[ "$(wc -c <"$1")" = "$a" ]
}

pty_begin 90x30

# sizes
begin fill
for size in 1x1 200x60 2x1 1x40 120x1 33x7 80x24; do
	T resize-window -x "${size%x*}" -y "${size#*x}"
	check "resized to $size" wait_file "$log" "size $size"
done
for size in 40x10 41x11 150x50 10x3 80x24 81x25 3x3 100x30; do
	T resize-window -x "${size%x*}" -y "${size#*x}"
done
check "after many at once the last size counts" wait_for "[100x30]"
full() {
	screen | awk 'length($0) != 100 { bad = 1 } END { exit bad || NR != 30 }'
}
check "every cell is drawn, the last one too, and nothing scrolled" until_true full
keys q
wait_prompt 0
check "then the shell has its terminal" usable_terminal

# a size that the environment says wrongly
log=$tmp/log-env
run "clear; LINES=20 COLUMNS=60 $TERMTEST $log"
check "the real size, not the environment's" wait_file "$log" "ready 100x30"
keys q
wait_prompt 0

# nothing changes, nothing is sent
begin
T pipe-pane "cat >$tmp/sent"
keys a
wait_for "key U+0061"
check "a still picture sends nothing" until_true quiet "$tmp/sent"
small() {
	[ "$(wc -c <"$1")" -lt 120 ]
}
check "a small change sends little" small "$tmp/sent"
T pipe-pane
keys q
wait_prompt 0

# more than ASCII
begin wide
check "accents, braille, blocks, wide and combining characters" wait_for "$(printf 'é ⣿█│ 漢字 e\314\201')"
check "a control character is a question mark" [ "$(screen | sed -n 3p)" = '?' ]
keys q
wait_prompt 0

# stop and go on
begin
check "a screen of its own" [ "$(T display-message -p '#{alternate_on}')" = 1 ]
keys C-z
check "Ctrl-Z stops" until_true stopped "$(pid)"
check "the shell has its terminal meanwhile" usable_terminal
T resize-window -x 70 -y 20
run fg
check "fg brings it back, with the new size" wait_for "[70x20]"
check "which was told as an event" wait_file "$log" resize
check "and the screen is its own again" [ "$(T display-message -p '#{alternate_on}')" = 1 ]
text_bytes "$(printf '\033[<0;10;5M')"
check "the mouse works again" wait_file "$log" "mouse press 1 at 9,4"
keys q
wait_prompt 0
begin
victim=$(pid)
kill -TSTP "$victim"
check "SIGTSTP from elsewhere stops" until_true stopped "$victim"
run "bg"
sleep 0.2
check "in the background it waits for its turn" until_true stopped "$victim"
run fg
check "fg" wait_for "nth=0"
keys q
wait_prompt 0
check "then the shell has its terminal" usable_terminal

# a script without job control between the shell and the program
run "clear; sh -c '$TERMTEST $tmp/log-nested; echo after'"
wait_file "$tmp/log-nested" ready
keys C-z
check "Ctrl-Z stops the whole job" usable_terminal
run fg
wait_for "nth=1"
keys q
check "and all of it goes on" wait_for after
wait_prompt 0

# signals
for sig in TERM:143 INT:130 HUP:129; do
	begin
	kill "-${sig%:*}" "$(pid)"
	check "SIG${sig%:*}: exit ${sig#*:}" wait_prompt "${sig#*:}"
	check "SIG${sig%:*}: the shell has its terminal" usable_terminal
done

# faults
run "ulimit -c 0 2>/dev/null; clear" # no cores lying about
for sig in SEGV:139 BUS:135 ABRT:134; do
	begin
	kill "-${sig%:*}" "$(pid)"
	check "SIG${sig%:*}: ends as a fault does" wait_prompt "${sig#*:}"
	check "SIG${sig%:*}: the shell has its terminal" usable_terminal
done
for way in crash:139 abort:134 overflow:139 "crash thread:139" "abort thread:134" \
	"overflow thread:139"; do
	# shellcheck disable=SC2086
	begin ${way%:*} stderr
	keys x
	check "${way%:*}: ends as a fault does" wait_prompt "${way#*:}"
	check "${way%:*}: what was said before is shown" on_screen "words to stderr 1"
	check "${way%:*}: the shell has its terminal" usable_terminal
done

# stderr
begin stderr
keys a b
wait_for "nth=2"
check "stderr does not reach the screen" off_screen words
keys q
wait_prompt 0
check "but is printed afterwards" on_screen "words to stderr 3"
run "clear; $TERMTEST $tmp/log-stderr stderr 2>$tmp/stderr"
wait_file "$tmp/log-stderr" ready
keys a
check "stderr that goes to a file goes there at once" wait_file "$tmp/stderr" "words to stderr 1"
keys q
wait_prompt 0

# /dev/tty serves when stdin and stdout do not
run "clear; $TERMTEST $tmp/log-redirected </dev/null >$tmp/stdout"
wait_file "$tmp/log-redirected" ready
keys a
check "stdin and stdout may be elsewhere" wait_file "$tmp/log-redirected" "key U+0061"
keys q
wait_prompt 0
check "and stdout stays untouched" [ ! -s "$tmp/stdout" ]

# a terminal that takes nothing: the program neither hangs in a write nor when it ends
begin flood fill
server_pid=$(T display-message -p '#{pid}')
kill -STOP "$server_pid"
sleep 0.5
sleeping_in_write() {
	grep -q 'tty_write\|n_tty_write' "/proc/$1/wchan" 2>/dev/null
}
victim=$(pid)
check "a stopped terminal: still awake" [ -d "/proc/$victim" ]
check "a stopped terminal: not inside a write" eval "! sleeping_in_write $victim"
kill -TERM "$victim"
signalled() {
	grep -q "signal 15" "$log"
}
check "a stopped terminal: signals are heard" until_true signalled
ended() {
	grep -q bye "$log"
}
check "a stopped terminal: it can end" until_true ended
kill -CONT "$server_pid"
check "when the terminal goes on the shell has it" wait_prompt 143
check "and in order" usable_terminal

# the terminal goes away
log=$tmp/log-$tests_run
: >"$log"
run "clear; $hung_up $TERMTEST $log"
wait_file "$log" ready
victim=$(pid)
T kill-server
gone() {
	[ ! -d "/proc/$1" ] || grep -q '^State:.*zombie' "/proc/$1/status"
}
check "a closed terminal ends it" until_true gone "$victim"
pty_end
