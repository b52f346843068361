#!/bin/sh
# Marks: S with a label on the screen and on the progress line, and nvmtop mark to a live screen.
. "${NVMTOP_SRC:-.}/tests/pty/lib.sh"
need "$program"

pty_begin 110x36 xterm-256color
plain_demo
dir=$tmp/work
mkdir "$dir"

one_socket() {
	[ "$(find "$tmp/nvmtop" -name '*.sock' 2>/dev/null | wc -l)" -eq 1 ]
}
axis_has() {
	screen | sed -n 1,5p | grep -q -e "$1"
}
no_part() {
	[ "$(find "$dir" -name '*.part*' | wc -l)" -eq 0 ] && [ "$(find "$dir" -name '*.nvmt' | wc -l)" -ge "$1" ]
}

run "cd $dir; clear; $program --demo"
wait_for "q quit" && wait_for "GPU"
until_true one_socket
keys + + # four times the zoom: room for a label soon
check "a mark from a shell is accepted" $program mark "from a shell"
check "a mark from a shell is on the axis, with its label" until_true axis_has '1 fro'
keys S
check "S asks for a label" wait_for "label of the mark:"
keys q s 1
check "letters are text in the prompt" wait_for "label of the mark: qs1"
keys BSpace
text_bytes 'ä'
check "so are non-ASCII characters, and Backspace removes one" wait_for "label of the mark: qsä"
keys Enter
check "Enter sets the mark with its label" until_true axis_has '2 qsä'
keys S
wait_for "label of the mark:"
keys Escape
check "Esc sets no mark" wait_gone "label of the mark:"
keys s
check "the next mark has the next number" until_true axis_has '3'
keys q
wait_prompt 0
check "the socket is removed when the screen closes" [ -z "$(find "$tmp/nvmtop" -name '*.sock')" ]

run "clear; $program --demo --record $dir/r.nvmt"
wait_for "q stop"
keys F4 Up
keys s
check "s works on the progress line" wait_for "1 mark "
keys S
check "S asks for a label there too" wait_for "label of the mark:"
keys q u x
keys BSpace
check "letters are text there too" wait_for "label of the mark: qu"
keys Enter
check "the progress line is back" wait_for "2 marks"
keys S
wait_for "label of the mark:"
keys Escape
wait_for "recording"
keys S x
wait_for "label of the mark: x"
keys C-c
check "Ctrl-C ends it with exit status 0" wait_prompt 0
check "the mark whose label was being typed is recorded" wait_for "marks:      3"
check "the file is complete" until_true no_part 1
run "clear; $program --print 109x30 --replay $dir/r.nvmt"
check "the label is in the recording" wait_for " qu"
run "clear; $program --replay $dir/r.nvmt"
wait_for "q quit"
keys Home
keys ']' ']'
check "the label is shown at the mark" wait_for "2 qu"
keys q
wait_prompt 0
pty_end
