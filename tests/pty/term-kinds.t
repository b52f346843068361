#!/bin/sh
# Terminal types and locales: an unusable one gets a message naming alternatives, a limited one gets
# simpler output.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$TERMTEST"

pty_begin 100x30

# refused: one line, exit 2, terminal untouched
for set in "TERM=dumb" "-u TERM" "TERM=" "TERM=no-such-terminal"; do
	run "clear; env $set $TERMTEST $tmp/log-refused"
	check "$set: exit status 2" wait_prompt 2
	for word in record once --print; do
		check "$set: names $word" wait_for "$word"
	done
	check "$set: no screen was opened" [ ! -s "$tmp/log-refused" ]
done
run "clear; TERM=\$(printf 'x\\033[31my') $TERMTEST $tmp/log-refused"
wait_prompt 2
check "an escape sequence in TERM is printed safely" wait_for 'x?[31my'

if command -v setsid >/dev/null; then
	setsid -w sh -c "$TERMTEST $tmp/log-refused" >"$tmp/out" 2>"$tmp/err" </dev/null
	check "no controlling terminal: exit status 2" [ $? -eq 2 ]
	check "no controlling terminal: one line" [ "$(wc -l <"$tmp/err")" -eq 1 ]
	check "no controlling terminal: names alternatives" grep -q -e 'nvmtop record.*nvmtop once.*--print' "$tmp/err"
fi

drawing="styles wide"
# sent FILE ENV...: all output from start to end, with all styles and non-ASCII text on the screen
sent() {
	file=$1
	shift
	: >"$tmp/log-kind"
	T pipe-pane "cat >$file"
	run "clear; env $* $TERMTEST $tmp/log-kind $drawing"
	wait_file "$tmp/log-kind" ready
	keys a
	wait_file "$tmp/log-kind" "key U+0061"
	keys q
	wait_prompt 0
	wait_file "$file" '[0]$' # pipe-pane writes with a delay
	T pipe-pane
}

high_bytes() {
	LC_ALL=C tr -d '\000-\176' <"$1" | wc -c
}

colours() {
	LC_ALL=C grep -c -a -E "$(printf '\033')\\[[0-9;]*(3[0-7]|4[0-7]|38;5;|9[0-7])[0-9;]*m" "$1"
}

has_bytes() {
	LC_ALL=C grep -q -a -F -e "$(printf '%b' "$2")" "$1"
}

lacks_bytes() {
	! has_bytes "$@"
}

for kind in vt100 vt220 linux screen xterm xterm-256color ansi; do
	infocmp "$kind" >/dev/null 2>&1 || continue
	check "$kind: draws" sent "$tmp/$kind" "TERM=$kind"
done
for kind in vt100 vt220 linux ansi; do
	[ -s "$tmp/$kind" ] || continue
	check "$kind: unsupported mouse mode is not sent" lacks_bytes "$tmp/$kind" '[?1002h'
	check "$kind: bracketed paste is not sent" lacks_bytes "$tmp/$kind" '[?2004h'
done
for kind in screen xterm xterm-256color; do
	[ -s "$tmp/$kind" ] || continue
	check "$kind: mouse on" has_bytes "$tmp/$kind" '[?1002h'
	check "$kind: mouse off" has_bytes "$tmp/$kind" '[?1002l'
	check "$kind: bracketed paste off" has_bytes "$tmp/$kind" '[?2004l'
done
check "vt100: has no colours" [ "$(colours "$tmp/vt100")" -eq 0 ]
check "linux: has colours" [ "$(colours "$tmp/linux")" -gt 0 ]
check "xterm-256color: has 256 colours" has_bytes "$tmp/xterm-256color" '[38;5;'
sent "$tmp/nocolor" TERM=xterm-256color NO_COLOR=1
check "NO_COLOR: no colours" [ "$(colours "$tmp/nocolor")" -eq 0 ]
check "NO_COLOR: bold is used" grep -q -a '[[;]1m' "$tmp/nocolor"
sent "$tmp/nocolor" TERM=xterm-256color NO_COLOR=
check "NO_COLOR empty: colours" [ "$(colours "$tmp/nocolor")" -gt 0 ]

drawing="styles wide notice"
# entries that come with a terminal, and are not on a machine reached by ssh
for kind in xterm-no-such alacritty footless wezterm no-such-256color no-such-direct; do
	infocmp "$kind" >/dev/null 2>&1 && continue
	check "$kind: draws" sent "$tmp/kin" "TERM=$kind"
	check "$kind: as xterm-256color" has_bytes "$tmp/kin" '[38;5;'
	check "$kind: mouse on" has_bytes "$tmp/kin" '[?1002h'
	check "$kind: says so, and leaves the environment as it was" \
		in_file "$tmp/log-kind" "TERM=$kind notice=TERM=$kind is not known here: taken for xterm-256color"
done
check "a known one: no notice" sent "$tmp/kin" TERM=xterm
check "a known one: nothing to say" grep -q '^TERM=xterm notice=$' "$tmp/log-kind"
if command -v tic >/dev/null; then
	mkdir "$tmp/terminfo"
	printf 'xterm-256color|cannot move the cursor,\n\tam,\n' | tic -o "$tmp/terminfo" - 2>/dev/null
	check "no xterm-256color: draws" sent "$tmp/kin" TERM=xterm-no-such "TERMINFO=$tmp/terminfo"
	check "no xterm-256color: as xterm" grep -q 'taken for xterm$' "$tmp/log-kind"
	check "no xterm-256color: no 256 colours" lacks_bytes "$tmp/kin" '[38;5;'
fi
T pipe-pane "cat >$tmp/screen"
run "clear; env TERM=xterm-no-such $program --demo"
check "the screen says so" wait_file "$tmp/screen" 'TERM=xterm-no-such is not known here: taken for xterm-256color'
keys q
wait_prompt 0
T pipe-pane

drawing=wide
# pipe-pane also captures the shell's echo, which is ASCII here
sent "$tmp/c" TERM=screen LC_ALL=C
check "LC_ALL=C: no byte above 126" [ "$(high_bytes "$tmp/c")" -eq 0 ]
check "LC_ALL=C: other characters become question marks" has_bytes "$tmp/c" '? ???'
check "UTF-8: is output unchanged" [ "$(high_bytes "$tmp/xterm-256color")" -gt 0 ]
check "the terminal is usable" usable_terminal
pty_end
