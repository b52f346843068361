# Common functions of the pty tests, for any POSIX shell: a private tmux server is the
# terminal; it runs a shell with job control, which runs the program. There are no fixed
# sleeps: wait_* poll until a deadline.
#
#   pty_begin [COLSxROWS] [TERM]   start the server; skips the test without tmux
#   pty_end                        print the plan and return the exit status
#   run CMD                        type a command line
#   keys NAME...                   press keys by tmux's names
#   bytes HH...                    send bytes as the terminal would
#   screen                         print the content of the screen
#   wait_for TEXT [SECONDS]        until it is on the screen
#   wait_gone TEXT                 until it is not
#   wait_file FILE TEXT            until it is in a file
#   wait_prompt                    until the shell shows its prompt, on a clean line
#   plain_demo                     --demo without a past and without events
#   need PROGRAM                   fail at once if it was not built
#   check NAME CMD...              one test, by the command's status
#   skip NAME WHY                  one that cannot be made here
#   skip_all WHY                   ends the test: all that is left cannot be made here

unset TMUX TMUX_PANE NO_COLOR COLORFGBG ESCDELAY LINES COLUMNS
LC_ALL=C.UTF-8
export LC_ALL
tests_run=0
server=0
tests_failed=0
patience=${NVMTOP_PTY_WAIT:-60}

skip() {
	tests_run=$((tests_run + 1))
	echo "ok $tests_run - $1 # SKIP $2"
}

skip_all() {
	[ "$tests_run" -eq 0 ] || {
		skip "all that follows" "$1"
		pty_end
	}
	echo "1..0 # SKIP $1"
	exit 0
}

# A stopped server does not respond; the test must end anyway.
T() {
	timeout -k 1 20 tmux -L "nvmtop-test-$$-$server" -f /dev/null "$@"
}

pty_begin() {
	for tool in tmux pgrep infocmp; do
		command -v "$tool" >/dev/null 2>&1 || skip_all "$tool is not installed: ./bootstrap --tests installs it"
	done
	pty_term=${2:-tmux-256color}
	infocmp "$pty_term" >/dev/null 2>&1 || pty_term=screen
	if [ -z "${tmp:-}" ]; then
		tmp=$(mktemp -d "${TMPDIR:-/tmp}/nvmtop-pty.XXXXXX") || exit 99
		trap 'pty_stop; rm -rf "$tmp"' EXIT
		trap 'exit 99' INT TERM HUP
	fi
	TMUX_TMPDIR=$tmp
	XDG_RUNTIME_DIR=$tmp # the mark sockets of this test only
	export TMUX_TMPDIR XDG_RUNTIME_DIR
	size=${1:-100x30}
	server=$((server + 1)) # the previous one may still be closing
	# the first prompt appears after this has run: later lines need not wait for it
	T new-session -d -x "${size%x*}" -y "${size#*x}" \
		"env -u ENV -u TMUX -u TMUX_PANE PS1='[\$?]\$ ' TERM=$pty_term sh -i" ||
		skip_all "tmux does not start here: it needs /dev/ptmx and a folder for its socket"
	T set -g escape-time 0
	T set -g exit-empty off
	T set -g status off
	T set -g focus-events off
	T resize-window -x "${size%x*}" -y "${size#*x}"
	wait_for '[0]$' || skip_all "the shell in tmux does not start: it needs /bin/sh and /dev/ptmx"
}

plain_demo() {
	sed '/^slow event /d; s/^demo .*/demo/' "${NVMTOP_SRC:-.}/boards/demo.board" >"$tmp/demo.board" || exit 99
	NVMTOP_BOARDS=$tmp
	export NVMTOP_BOARDS
	run "NVMTOP_BOARDS=$tmp; export NVMTOP_BOARDS"
}

pty_stop() {
	# an aborted test may have left it stopped
	[ -z "${server_pid:-}" ] || kill -CONT "$server_pid" 2>/dev/null
	T kill-server 2>/dev/null
	:
}

# A file system that is slow, fails and hangs under control of the test (tests/tools/slowfs).
need_slowfs() {
	slowfs=$builddir/tests/tools/slowfs
	case $slowfs in /*) ;; *) slowfs=$(pwd)/$slowfs ;; esac
	test -x "$slowfs" || skip_all 'built without libfuse 3: ./bootstrap --tests, then configure and make again'
	test -c /dev/fuse || skip_all 'there is no /dev/fuse: modprobe fuse'
}

fuse=
slow_mounted() {
	test -e "$fuse_at/.rules" || ! kill -0 "$fuse" 2>/dev/null
}

# slow_mount BASE RULES AT: mount BASE at AT with the rules of a file; rule adds more.
slow_mount() {
	fuse_at=$(cd "$3" && pwd)
	trap 'slow_release; pty_stop; cd /; rm -rf "$tmp"' EXIT
	${EMU:-} "$slowfs" "$1" "$2" "$fuse_at" 2>fuse.err &
	fuse=$!
	until_true slow_mounted
	test -e "$fuse_at/.rules" ||
		skip_all "a file system cannot be mounted here, as root or with fusermount3 it can: $(grep -v 'max threads' fuse.err | tail -n 1)"
}

rule() {
	echo "$*" >"$fuse_at/.rules"
}

slow_release() {
	[ -z "$fuse" ] || {
		kill "$fuse"
		wait "$fuse"
	} 2>/dev/null
	umount -l "$fuse_at" 2>/dev/null || fusermount3 -uz "$fuse_at" 2>/dev/null
	fuse=
}

pty_end() {
	echo "1..$tests_run"
	[ "$tests_failed" -eq 0 ]
	exit
}

check() {
	name=$1
	shift
	tests_run=$((tests_run + 1))
	if "$@"; then
		echo "ok $tests_run - $name"
	else
		tests_failed=$((tests_failed + 1))
		echo "not ok $tests_run - $name"
		echo "# failed: $*"
		T capture-pane -p 2>/dev/null | sed '/^$/d; s/^/# | /'
	fi
}

need() {
	[ -x "${1##* }" ] && return
	echo "Bail out! ${1##* } is not there"
	exit 99
}

keys() {
	T send-keys "$@"
}

bytes() {
	T send-keys -H "$@"
}

# Send the bytes of a text.
text_bytes() {
	# shellcheck disable=SC2046
	bytes $(printf '%s' "$1" | od -An -v -tx1)
}

run() {
	T send-keys -l "$1"
	T send-keys Enter
}

screen() {
	T capture-pane -p
}

# until CMD...: run it every 50 ms until it succeeds or patience ends.
until_true() {
	end=$(($(date +%s) + patience))
	until "$@"; do
		[ "$(date +%s)" -lt "$end" ] || {
			patience=2 # what hangs once need not be waited for each time
			echo "# waited in vain: $*"
			return 1
		}
		sleep 0.05
	done
}

on_screen() {
	screen | grep -q -F -e "$1"
}

off_screen() {
	! screen | grep -q -F -e "$1"
}

in_file() {
	grep -q -F -e "$2" "$1" 2>/dev/null
}

last_line() {
	screen | sed '/^$/d' | tail -n 1 | grep -q -F -e "$1"
}

wait_for() {
	until_true on_screen "$1"
}

wait_gone() {
	until_true off_screen "$1"
}

wait_file() {
	until_true in_file "$1" "$2"
}

# The shell's prompt after a status, on the last line.
wait_prompt() {
	until_true last_line "${1:+[$1]}\$"
}

is_usable() {
	[ "$(T display-message -p '#{alternate_on}#{cursor_flag}#{mouse_any_flag}#{mouse_button_flag}')" = 0100 ]
}

# Main screen, visible cursor, no mouse reports, echo and line editing.
usable_terminal() {
	until_true is_usable || {
		T display-message -p '# alt=#{alternate_on} cursor=#{cursor_flag} mouse=#{mouse_any_flag}'
		return 1
	}
	run "clear; stty -a | tr ';' '\n' | tr ' ' '\n' | grep -x -e '-*icanon' -e '-*echo' -e '-*isig' -e '-*icrnl' -e '-*opost' | sort | tr '\n' ' '; echo END"
	wait_for "echo icanon icrnl isig opost END"
}

# The built programs, under an emulator if needed.
builddir=$(dirname "$(dirname "${NVMTOP:-src/nvmtop}")")
roots=${NVMTOP_ROOTS:-$builddir/tests/roots}
TERMTEST="${EMU:+$EMU }${TERMTEST:-$builddir/tests/pty/termtest}"
program="${EMU:+$EMU }${NVMTOP:-src/nvmtop}"
# For a program whose terminal will be closed: the resulting SIGCONT can interrupt the leak check of the
# sanitizers, which then waits for ever.
hung_up="env ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
