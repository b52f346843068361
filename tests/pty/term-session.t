#!/bin/sh
# Taking and restoring the terminal: sizes, stops, signals, faults, parked stderr, a blocked line.
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
check "after a burst of resizes the last size is used" wait_for "[100x30]"
full() {
	screen | awk 'length($0) != 100 { bad = 1 } END { exit bad || NR != 30 }'
}
check "every cell is drawn, including the last, without scrolling" until_true full
keys q
wait_prompt 0
check "the terminal is usable afterwards" usable_terminal

# a wrong size in the environment
log=$tmp/log-env
run "clear; LINES=20 COLUMNS=60 $TERMTEST $log"
check "the real size is used, not the environment's" wait_file "$log" "ready 100x30"
keys q
wait_prompt 0

# no change, no output
begin
T pipe-pane "cat >$tmp/sent"
keys a
wait_for "key U+0061"
check "an unchanged frame sends nothing" until_true quiet "$tmp/sent"
small() {
	[ "$(wc -c <"$1")" -lt 120 ]
}
check "a small change sends little" small "$tmp/sent"
T pipe-pane
keys q
wait_prompt 0

# non-ASCII text
begin wide
check "accents, braille, blocks, wide and combining characters" wait_for "$(printf 'é ⣿█│ 漢字 e\314\201')"
check "a control character becomes a question mark" [ "$(screen | sed -n 3p)" = '?' ]
keys q
wait_prompt 0

# stop and continue
begin
check "the alternate screen is used" [ "$(T display-message -p '#{alternate_on}')" = 1 ]
keys C-z
check "Ctrl-Z stops" until_true stopped "$(pid)"
check "the terminal is usable meanwhile" usable_terminal
T resize-window -x 70 -y 20
run fg
check "fg continues it in the new size" wait_for "[70x20]"
check "a resize event is sent" wait_file "$log" resize
check "the alternate screen is used again" [ "$(T display-message -p '#{alternate_on}')" = 1 ]
text_bytes "$(printf '\033[<0;10;5M')"
check "the mouse works again" wait_file "$log" "mouse press 1 at 9,4"
keys q
wait_prompt 0
begin
victim=$(pid)
kill -TSTP "$victim"
check "SIGTSTP stops" until_true stopped "$victim"
run "bg"
sleep 0.2
check "bg: it stops again" until_true stopped "$victim"
run fg
check "fg continues it" wait_for "nth=0"
keys q
wait_prompt 0
check "the terminal is usable afterwards" usable_terminal

# a script without job control between the shell and the program
run "clear; sh -c '$TERMTEST $tmp/log-nested; echo after'"
wait_file "$tmp/log-nested" ready
keys C-z
check "Ctrl-Z stops the whole job" usable_terminal
run fg
wait_for "nth=1"
keys q
check "fg continues the whole job" wait_for after
wait_prompt 0

# signals
for sig in TERM:143 INT:130 HUP:129; do
	begin
	kill "-${sig%:*}" "$(pid)"
	check "SIG${sig%:*}: exit status ${sig#*:}" wait_prompt "${sig#*:}"
	check "SIG${sig%:*}: the terminal is restored" usable_terminal
done

# faults
run "ulimit -c 0 2>/dev/null; clear" # no core files
for sig in SEGV:139 BUS:135 ABRT:134; do
	begin
	kill "-${sig%:*}" "$(pid)"
	check "SIG${sig%:*}: dies of the signal" wait_prompt "${sig#*:}"
	check "SIG${sig%:*}: the terminal is restored" usable_terminal
done
for way in crash:139 abort:134 overflow:139 "crash thread:139" "abort thread:134"; do
	# shellcheck disable=SC2086
	begin ${way%:*} stderr
	keys x
	check "${way%:*}: dies of the signal" wait_prompt "${way#*:}"
	check "${way%:*}: earlier stderr output is printed" wait_for "words to stderr 1"
	check "${way%:*}: the terminal is restored" usable_terminal
done

# stderr
begin stderr
keys a b
wait_for "nth=2"
check "stderr does not reach the screen" off_screen words
keys q
wait_prompt 0
check "it is printed afterwards" wait_for "words to stderr 3"
run "clear; $TERMTEST $tmp/log-stderr stderr 2>$tmp/stderr"
wait_file "$tmp/log-stderr" ready
keys a
check "redirected stderr is written at once" wait_file "$tmp/stderr" "words to stderr 1"
keys q
wait_prompt 0

# /dev/tty is used when stdin and stdout are redirected
run "clear; $TERMTEST $tmp/log-redirected </dev/null >$tmp/stdout"
wait_file "$tmp/log-redirected" ready
keys a
check "stdin and stdout may be redirected" wait_file "$tmp/log-redirected" "key U+0061"
keys q
wait_prompt 0
check "nothing is written to stdout" [ ! -s "$tmp/stdout" ]

# a blocked terminal: the program hangs neither in a write nor at its end
begin flood fill
server_pid=$(T display-message -p '#{pid}')
kill -STOP "$server_pid"
sleep 0.5
sleeping_in_write() {
	grep -q 'tty_write\|n_tty_write' "/proc/$1/wchan" 2>/dev/null
}
victim=$(pid)
check "a blocked terminal: the program still runs" [ -d "/proc/$victim" ]
check "a blocked terminal: it is not blocked in a write" eval "! sleeping_in_write $victim"
kill -TERM "$victim"
signalled() {
	grep -q "signal 15" "$log"
}
check "a blocked terminal: signals are handled" until_true signalled
ended() {
	grep -q bye "$log"
}
check "a blocked terminal: it can exit" until_true ended
kill -CONT "$server_pid"
check "the shell continues when the terminal does" wait_prompt 143
check "the terminal is usable then" usable_terminal

# the terminal is closed
log=$tmp/log-$tests_run
: >"$log"
run "clear; $hung_up $TERMTEST $log"
wait_file "$log" ready
victim=$(pid)
T kill-server
gone() {
	[ ! -d "/proc/$1" ] || grep -q '^State:.*zombie' "/proc/$1/status"
}
check "closing the terminal ends it" until_true gone "$victim"
pty_end
