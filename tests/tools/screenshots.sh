#!/bin/sh
# Draws all views and the animation to docs/screenshots: screenshots.sh SHOTS SOURCE
set -eu
shots=$1 src=$2 to=$2/docs/screenshots
lacking=
command -v rsvg-convert >/dev/null || lacking="$lacking librsvg2-bin"
command -v convert >/dev/null || lacking="$lacking imagemagick"
fc-list : family 2>/dev/null | grep -q '^DejaVu Sans Mono' || lacking="$lacking fontconfig fonts-dejavu-core"
if [ "$lacking" ]; then
    echo "screenshots: missing packages; apt-get install$lacking" >&2
    exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C.UTF-8 TZ=UTC0 NVMTOP_BOARDS="$src/boards"
cd "$work"
# The same load with a lower GPU clock, to compare with.
sed 's|1M / VDD_GPU_SOC|0.76M / VDD_GPU_SOC|; s/min(1300.5M, hold/min(1020M, hold/' "$src/boards/demo.board" >slow.board
"$shots" . <"$to/script.txt"
"${PYTHON:-python3}" "$src/tests/tools/animate.py" "$to/script.txt" . >animation
rm frame-*.svg
for svg in *.svg; do
    rsvg-convert -z 2 "$svg" -o full.png
    convert full.png -strip -dither None -colors 192 -define png:compression-level=9 \
        -define png:compression-filter=0 -define png:compression-strategy=0 PNG8:"$to/${svg%.svg}.png"
done
cp animation "$to/nvmtop.svg"
