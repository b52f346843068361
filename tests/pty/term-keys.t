#!/bin/sh
# Every kind of key, the mouse, pastes and focus, as sent by two types of terminal.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$TERMTEST"

# expect NAME LINE: the next line of the log is LINE.
seen=0
expect() {
	check "$1" next_is "$2"
}

next_is() {
	end=$(($(date +%s) + patience))
	while [ "$(wc -l <"$log")" -le "$seen" ]; do
		[ "$(date +%s)" -lt "$end" ] || {
			patience=1
			echo "# nothing came in place of: $1"
			return 1
		}
		sleep 0.02
	done
	seen=$((seen + 1))
	got=$(sed -n "${seen}p" "$log")
	[ "$got" = "$1" ] || {
		echo "# got: $got"
		return 1
	}
}

for kind in tmux-256color xterm-256color; do
	pty_begin 100x30 "$kind"
	log=$tmp/log-$kind
	seen=0
	: >"$log"
	run "$TERMTEST $log"
	expect "$kind: starts" "ready 100x30"

	for pair in "a U+0061" "Up Up" "Down Down" "Left Left" "Right Right" "Home Home" "End End" "PageUp PgUp" \
		"PageDown PgDn" "IC Insert" "DC Delete" "F1 F1" "F5 F5" "F12 F12" "Enter Enter" "Tab Tab" \
		"BTab BackTab" "BSpace Backspace" "C-c C-U+0063" "C-s C-U+0073" "C-v C-U+0076" "M-x A-U+0078" \
		"C-Right C-Right" "S-Up S-Up" "é U+00E9" "漢 U+6F22" "Escape Esc" "? U+003F"; do
		keys "${pair%% *}"
		expect "$kind: key ${pair%% *}" "key ${pair#* }"
	done
	keys Space
	expect "$kind: key Space" "key U+0020"
	bytes 0a
	expect "$kind: a line feed is Enter" "key Enter"

	text_bytes "$(printf '\033[<0;10;5M')"
	expect "$kind: mouse press" "mouse press 1 at 9,4 mods 0"
	text_bytes "$(printf '\033[<32;12;6M')"
	expect "$kind: mouse drag" "mouse drag 1 at 11,5 mods 0"
	text_bytes "$(printf '\033[<0;12;6m')"
	expect "$kind: mouse release" "mouse release 1 at 11,5 mods 0"
	text_bytes "$(printf '\033[<2;1;1M')"
	expect "$kind: right button, first cell" "mouse press 3 at 0,0 mods 0"
	text_bytes "$(printf '\033[<64;300;7M')"
	expect "$kind: wheel up, column 300" "mouse press 4 at 299,6 mods 0"
	text_bytes "$(printf '\033[<65;3;7M')"
	expect "$kind: wheel down" "mouse press 5 at 2,6 mods 0"

	text_bytes "$(printf '\033[I')"
	expect "$kind: focus in" "focus in"
	text_bytes "$(printf '\033[O')"
	expect "$kind: focus out" "focus out"

	text_bytes "$(printf '\033[200~q\rq\033[201~b')"
	expect "$kind: pasted letter" "key U+0071 pasted"
	expect "$kind: pasted line end" "key Enter pasted"
	expect "$kind: another pasted letter" "key U+0071 pasted"
	expect "$kind: typed after the paste" "key U+0062"

	# 24 arguments: libtermkey has room for 16
	text_bytes "$(printf '\033[1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16;17;18;19;20;21;22;23;24Ac')"
	expect "$kind: an overlong sequence is not a key" "key U+0063"
	text_bytes "$(printf '\033[')$(printf '%0300d' 7)$(printf 'Ad')"
	expect "$kind: an endless number is not a key" "key U+0064"
	text_bytes "$(printf '\033[?1;2ce')"
	expect "$kind: an unsolicited reply is not a key" "key U+0065"
	text_bytes "$(printf '\033[27;5;99~')"
	expect "$kind: a key encoded with its modifiers" "key C-U+0063"
	bytes 00 66
	expect "$kind: NUL is not a key" "key U+0066"
	bytes ff c3 28
	expect "$kind: invalid UTF-8" "key U+FFFD"
	expect "$kind: the second invalid byte" "key U+FFFD"
	expect "$kind: the key after them" "key U+0028"

	keys q
	expect "$kind: q" "key U+0071"
	expect "$kind: q quits" "bye"
	wait_prompt 0
	check "$kind: the terminal is restored" usable_terminal
	pty_stop
done

# A slow line: a longer escape timeout can be set
pty_begin 80x24 xterm-256color
log=$tmp/log-slow
seen=0
: >"$log"
run "ESCDELAY=2000 $TERMTEST $log"
expect "slow line: starts" "ready 80x24"
bytes 1b
sleep 0.3
bytes 5b 41
expect "slow line: a split escape is one key" "key Up"
keys q
wait_prompt 0
pty_end
