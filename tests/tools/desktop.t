#!/bin/sh
# What a desktop and file(1) know of nvmtop: the menu, the icon, and the types of recordings.
. "$NVMTOP_SRC/tests/cli/lib.sh"
files=$NVMTOP_SRC/desktop
has() { command -v "$1" >/dev/null; }
absent="is not installed: ./bootstrap --tests"

if has desktop-file-validate; then
	ok 'the entry of the menu is valid' sh -c 'out=$(desktop-file-validate "$1" 2>&1); test -z "$out" || { echo "$out"; exit 1; }' sh "$files/nvmtop.desktop"
else
	skip 'the entry of the menu is valid' "desktop-file-validate $absent"
fi
for f in nvmtop.svg nvmtop.xml nvmtop.metainfo.xml; do
	if has xmllint; then
		ok "$f is XML" xmllint --noout "$files/$f"
	else
		skip "$f is XML" "xmllint $absent"
	fi
done
if has appstreamcli; then
	ok 'the metainfo is valid' appstreamcli validate --no-net "$files/nvmtop.metainfo.xml"
else
	skip 'the metainfo is valid' 'appstreamcli is not installed'
fi
for type in application/x-nvmtop-log application/x-nvmt1; do
	ok "the entry of the menu opens $type" grep -q "^MimeType=.*$type;" "$files/nvmtop.desktop"
	ok "$type is defined" grep -q "<mime-type type=\"$type\">" "$files/nvmtop.xml"
done

nvmtop record --demo --duration 0.2 run.nvmt 2>/dev/null
nvmtop export nvmt1 run.nvmt -o run.bin 2>/dev/null
cp run.nvmt without-suffix
cp run.nvmt other.bin
nvmtop record --demo --duration 0.2 - >stream 2>/dev/null
head -c 4000 /dev/zero >zero.bin
printf 'TMVN\002\000\000\000' >later.bin

# type_is FILE TYPE
type_is() { is "$(gio info -a standard::content-type "$1" | sed -n 's/.*content-type: //p')" "$2"; }
if has update-mime-database && has gio; then
	mkdir -p share/mime/packages
	cp "$files/nvmtop.xml" share/mime/packages
	run update-mime-database share/mime
	ok 'the types are accepted' is "$status" 0
	XDG_DATA_HOME=$scratch/share
	export XDG_DATA_HOME
	for f in run.nvmt without-suffix other.bin stream; do
		ok "type of $f" type_is "$f" application/x-nvmtop-log
	done
	ok 'type of a file of version 1' type_is run.bin application/x-nvmt1
	for f in zero.bin later.bin; do
		ok "type of $f" sh -c '! gio info -a standard::content-type "$1" | grep "content-type.*nvmt"' sh "$f"
	done
else
	skip 'types of files' "update-mime-database or gio $absent"
fi

if has file; then
	sed -n '/^### Recognition/,/^### Order/s/^    //p' "$NVMTOP_SRC/docs/format-nvmt.md" >magic
	ok 'file(1) accepts the lines of the documentation' sh -c 'out=$(file -C -m magic 2>&1); test -z "$out" || { echo "$out"; exit 1; }'
	ok 'file: a recording' is "$(file -b -m magic run.nvmt)" 'nvmtop recording'
	ok 'file: its type' is "$(file -b -i -m magic run.nvmt)" 'application/x-nvmtop-log; charset=binary'
	ok 'file: version 1, with the board' is "$(file -b -m magic run.bin)" 'NVMT trace, version 1, board demo'
	ok 'file: its type' is "$(file -b -i -m magic run.bin)" 'application/x-nvmt1; charset=binary'
	ok 'file: another file' is "$(file -b -m magic later.bin)" data
else
	skip 'file(1)' "file $absent"
fi
done_testing
