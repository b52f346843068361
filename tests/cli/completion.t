#!/bin/sh
# Completion of the command line: every verb and option that --help lists, values, files and signals of a recording.
. "$NVMTOP_SRC/tests/cli/lib.sh"
built=${NVMTOP%/src/nvmtop}/completion
if ! test -f "$built/bash/nvmtop"; then
	echo '1..0 # SKIP no compiler of this machine was found to build it: see CC_FOR_BUILD of configure'
	exit 0
fi
mkdir bin away dir
printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$EMU" "$NVMTOP" >bin/nvmtop
chmod +x bin/nvmtop
PATH=$scratch/bin:$PATH
NVMTOP_BOARDS=$NVMTOP_SRC/boards
: >other.txt
run nvmtop record --demo run.nvmt -- sh -c 'nvmtop mark "step one"; nvmtop mark second'
ok 'there is a recording' is "$status" 0
cp run.nvmt 'a run.nvmt'

# Each prints what completes the last of the words, one a line.
cat >bash.sh <<'END'
. "$1"
f=_$(basename "$2" | tr - _)
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*"
COMP_POINT=${#COMP_LINE}
$f
test ${#COMPREPLY[@]} = 0 || printf '%s\n' "${COMPREPLY[@]}"
END
setup_with_bash() { bash --norc bash.sh "$NVMTOP_SRC/completion/bash/nvmtop-setup" nvmtop-setup "$@"; }
with_bash() { bash --norc bash.sh "$built/bash/nvmtop" nvmtop "$@"; }

cat >zsh.sh <<'END'
zmodload zsh/zpty
export got=$PWD/got
: >$got
cat >inner.sh <<'INNER'
compadd() {
	local -a hits
	[[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]] || { builtin compadd -O hits "$@"; print -rl -- $hits >>$got }
	builtin compadd "$@"
}
finish() { print end >>$got; exit }
comppostfuncs=(finish)
INNER
zpty z zsh -f -i
zpty -w z "PROMPT=; fpath=(${(q)1} \$fpath); autoload -Uz compinit; compinit -u -C -d $PWD/dump; . ./inner.sh; bindkey '^I' complete-word"
zpty -w -n z "$2"$'\t'
until [[ $(tail -n 1 $got) == end ]]; do zpty -r z line || break; done
sed '$d; s/ *$//; /^ *$/d' $got
END
setup_with_zsh() { zsh -f zsh.sh "$built/zsh" "nvmtop-setup $*" </dev/null; }
with_zsh() { zsh -f zsh.sh "$built/zsh" "$(line "$@")" </dev/null; }
setup_with_fish() { HOME=$scratch/away fish -c 'source $argv[1]; complete -C $argv[2]' "$NVMTOP_SRC/completion/fish/nvmtop-setup.fish" "nvmtop-setup $*" | cut -f 1; }
with_fish() { HOME=$scratch/away fish -c 'source $argv[1]; complete -C $argv[2]' "$built/fish/nvmtop.fish" "$(line "$@")" | cut -f 1; }
# The words as they are typed.
line() {
	printf nvmtop
	for word; do printf ' %s' "$(printf '%s' "$word" | sed 's/ /\\ /g')"; done
}

# gives WORD... : all of them are in got-SHELL; only: and nothing else
gives() {
	for word; do grep -qxF -- "$word" list || { echo "no \"$word\" in:"; cat list; return 1; }; done
}
only() {
	printf '%s\n' "$@" | sort >want
	sort -u list | diff want -
}
for sh in bash zsh fish; do
	if ! command -v $sh >/dev/null; then
		skip "$sh" "$sh is not installed"
		continue
	fi
	say() { with_$sh "$@" >list 2>err; }
	say rec
	ok "$sh: verbs" only record
	say ''
	nvmtop --help | sed -n '/^Verbs/,/^$/s/^  \([a-z]*\) .*/\1/p' >verbs
	ok "$sh: all verbs" gives $(cat verbs) help
	ok "$sh: and recordings" gives run.nvmt
	for verb in '' $(cat verbs); do
		nvmtop $verb --help | sed -n '/^Keys/q; s/^  \(-[a-zA-Z], \)\{0,1\}\(--[a-z-]*\).*/\2/p' >options
		say $verb --
		# zsh and fish complete no short option after "--"
		ok "$sh: all options of nvmtop $verb" only $(cat options)
	done
	say record -
	test $sh = zsh || ok "$sh: short options" gives -o -h -V
	say report --format ''
	ok "$sh: formats of report" only table json csv markdown
	say env --format ''
	ok "$sh: formats of env" only sh systemd docker
	case $sh in bash) say report --format = c ;; *) say report --format=c ;; esac
	sed -i 's/^--format=//' list
	ok "$sh: a value after =" only csv
	say --theme colour-blind-
	ok "$sh: themes" only colour-blind-dark colour-blind-light
	nvmtop --view x --demo --print 80x24 2>&1 | sed 's/.*known: //; s/, /\n/g' >views
	say --view ''
	ok "$sh: views" only $(cat views)
	say record --kill U
	ok "$sh: signals" only USR1 USR2
	say export --tier ''
	ok "$sh: tiers" only fast medium slow
	say report --by ''
	ok "$sh: rows of a report" only phase range thread domain
	say record --board agx_
	ok "$sh: boards" only agx_orin agx_thor agx_xavier
	say export ''
	ok "$sh: formats of export" only csv jsonl perfetto nvmt1
	say export csv r
	ok "$sh: recordings after them" gives run.nvmt
	say report ''
	sed -i 's|/$||; s/\\//g' list
	ok "$sh: recordings and folders" gives run.nvmt 'a run.nvmt' dir
	ok "$sh: no other files" sh -c '! grep other.txt list'
	say report o
	ok "$sh: other files where there are no recordings" sh -c 'test $1 = bash || grep -x other.txt list' sh $sh
	say report run.nvmt --select gpu.u
	ok "$sh: signals of the recording" only gpu.util
	say report --select VIN_SYS_5V0.p
	ok "$sh: no signals without a recording" sh -c '! grep VIN list'
	say report 'a run.nvmt' --select 'gpu.util,VIN_SYS_5V0.p'
	sed -i 's/^gpu.util,//' list # zsh has it beside
	ok "$sh: signals after a comma" only VIN_SYS_5V0.power
	say report run.nvmt --phase s
	sed -i 's/\\//g' list
	ok "$sh: phases" only 'step one' second
	say report 'a run.nvmt' --phase 'step o'
	sed -i 's/\\//g' list
	ok "$sh: a phase with a blank" only 'step one'
	say record run.nvmt -- nvmto
	ok "$sh: commands" gives nvmtop
	say record -- ls oth
	ok "$sh: their arguments" sh -c 'test $1 = bash || grep -x other.txt list' sh $sh
	say help rep
	ok "$sh: verbs after help" only replay report
	say boards ''
	ok "$sh: nothing where nothing is taken" sh -c 'test ! -s list || ! grep -v "^-" list'
	setup_with_$sh -- >list 2>err
	ok "$sh: all options of nvmtop-setup" only $(sh "$NVMTOP_SRC/setup/nvmtop-setup" --help | grep -o -- '--[a-z]*' | sort -u) --help
done
done_testing
