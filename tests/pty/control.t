#!/bin/sh
# Settings from the Board view: chosen, confirmed, kept, put back by a key, by themselves and after the screen was killed.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"
test -z "${EMU-}" || skip_all 'built for another machine: run it there'
stage=${NVMTOP_SRC:-.}/tests/control/stage.py
test -x "$builddir/src/nvmtop-control-test" || skip_all 'the helper for tests is not built'

pty_begin 120x40 xterm-256color
tree=$tmp/tree
python3 "$stage" orin "$tree" || exit 99
min() { cat "$tree"/sys/class/devfreq/17000000.gpu/max_freq; }
mode_is() { grep -q "pmode:000$1" "$tree/var/lib/nvpmodel/status"; }
count() { screen | grep -c -e "$1"; }

run "clear; $program --sysroot $tree --view board --no-config"
check "the settings are shown" wait_for "Power mode      MODE_30W"
check "with the values of the machine" wait_for "schedutil"
keys Down
check "a line is selected" wait_for "Enter set"
keys Enter
check "Enter opens the choice" wait_for "MODE_15W"
check "with the present value marked" [ "$(count 'MODE_30W  *now')" = 1 ]
keys Escape
check "Esc closes it" wait_gone "MODE_15W"
keys Enter
wait_for "MODE_15W"
keys Down Enter
check "a choice is asked about" wait_for "Power mode: MODE_30W -> MODE_50W?  y: set"
keys x
check "another key cancels" wait_gone "y: set"
check "and nothing is set" mode_is 2
keys Enter
wait_for "MODE_15W"
keys Down Enter
wait_for "y: set"
keys y
check "y sets it, and it counts down" wait_for "keep?  y: yes"
check "with the time left" wait_for "back in 1"
check "it is set" mode_is 3
keys 1
check "in any view" wait_for "keep?  y: yes"
keys n
check "n puts it back at once" wait_for "Power mode: back to MODE_30W"
check "it is back" mode_is 2
keys 9
wait_for "Power mode      MODE_30W"
keys Enter
wait_for "MODE_15W"
keys Down Enter
wait_for "y: set"
keys y
wait_for "keep?"
T resize-window -x 80 -y 24
check "at 80x24, too" wait_for "keep?"
keys y
check "y keeps it" wait_for "Power mode: stays MODE_50W"
check "it stays" mode_is 3
T resize-window -x 120 -y 40
wait_for "Power mode      MODE_50W"

# a number is typed
keys Down Down Enter
check "a clock has a range" wait_for "another range"
keys Enter
wait_for "MIN..MAX:"
keys C-u
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do keys BSpace; done
text_bytes "7..8"
keys Enter
check "what is not allowed is told, to be corrected" wait_for "it takes"
keys BSpace BSpace BSpace BSpace
text_bytes "306M..918M"
keys Enter
check "what is typed is asked about" wait_for "GPU clock: 306M..816M -> 306M..918M?"
keys y
wait_for "keep?"
is_918() { test "$(min)" = 918000000; }
is_816() { test "$(min)" = 816000000; }
check "the clock is set" until_true is_918
check "at 0 it is back by itself" wait_for "GPU clock: back to 306M..816M"
check "the file has it, too" is_816

# the screen is killed while it counts down
keys Enter
wait_for "another range"
keys Up Enter
wait_for "y: set"
keys y
wait_for "keep?"
check "all of the range is set" until_true test "$(min)" = 1300500000
kill -KILL "$(pgrep -f "sysroot $tree --view board" | head -n 1)"
check "killed: the value is back after the time" until_true is_816
pty_stop # its terminal is as the screen has left it
pty_begin 120x40 xterm-256color

# what lies, hangs or is refused
run "clear; $program --sysroot $tree --view board --no-config"
wait_for "Power mode      MODE_50W"
echo lies >"$tree/behave/nvpmodel"
keys Down Enter
wait_for "MODE_15W"
keys Up Enter
wait_for "y: set"
keys y
check "a mode that did not take is told" wait_for "Power mode: did not take"
check "and nothing counts down" off_screen "keep?"
echo hangs >"$tree/behave/nvpmodel"
keys Enter
wait_for "MODE_15W"
keys Up Enter
wait_for "y: set"
keys y
check "a helper that hangs is being asked" wait_for "asking..."
keys Escape
check "and can be left" wait_gone "asking..."
keys q
check "it does not hold up the end" wait_prompt
rm -f "$tree/behave/nvpmodel"
test ! -e "$tree/behave/hanging" || kill -KILL $(cat "$tree/behave/hanging") 2>/dev/null

# a click selects, a second one opens; what cannot be set says why
run "clear; $program --sysroot $tree --view board --no-config"
wait_for "3D scaling"
click() {
	text_bytes "$(printf '\033[<0;%d;%dM\033[<0;%d;%dm' "$1" "$2" "$1" "$2")"
}
line_of() { screen | grep -n -e "$1" | sed 's/:.*//;q'; }
click 5 "$(line_of '^ *Fan ')"
check "a click selects a line" wait_for "Enter set"
click 5 "$(line_of '^ *Fan ')"
check "a second one opens its choice" wait_for "cool"
keys Escape
click 5 "$(line_of '^ *3D scaling')"
keys Enter
check "what cannot be set says why" wait_for "not here"
keys q
wait_prompt 0

run "clear; $program --demo --view board --no-config"
wait_for "Settings"
keys Enter
check "the demo sets nothing" wait_for "the demo sets nothing"
keys q
wait_prompt 0
run "clear; $program --replay ${NVMTOP_SRC:-.}/tests/traces/demo.nvmt --view board --no-config"
wait_for "This machine"
check "a replay has nothing to choose" off_screen "choose"
keys q
wait_prompt 0
pty_end
