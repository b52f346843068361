#!/usr/bin/env python3
"""Makes one animated SVG from the frames of shots: animate.py SCRIPT FOLDER >OUT

Content shared by consecutive frames is stored once; times and captions come from the script."""
import re
import sys

CAPTION = 34


def read(folder, i):
    """Read the frame's size, background and elements."""
    lines = open(f"{folder}/frame-{i:02}.svg", encoding="utf-8").read().splitlines()
    w, h = (int(re.search(rf' {name}="(\d+)"', lines[1])[1]) for name in ("width", "height"))
    return w, h, lines[1], lines[2], lines[3:-1]


def runs(frames):
    """[first frame, last frame, element]."""
    open_runs, out = {}, []
    for i, elements in enumerate(frames):
        now = {}
        for e in elements:
            run = open_runs.get(e)
            if not run:
                run = [i, i, e]
                out.append(run)
            run[1] = i
            now[e] = run
        open_runs = now
    return out


def main():
    script, folder = sys.argv[1:]
    shown = [line.split(None, 2)[1:] for line in open(script, encoding="utf-8") if line.startswith("frame ")]
    begins, total = [], 0.0
    for seconds, _ in shown:
        begins.append(total)
        total += float(seconds)
    begins.append(total)
    frames = []
    for i, (_, caption) in enumerate(shown):
        w, h, head, ground, elements = read(folder, i)
        key, colon, rest = caption.strip().partition(": ")
        text = f'<tspan font-weight="bold" fill="#fff">{key}</tspan>: {rest}' if colon else key
        frames.append(elements + [f'<text x="{w // 2}" y="{h + 20}" text-anchor="middle" fill="#c8ccd4">{text}</text>'])
    head = re.sub(r'height="\d+"', f'height="{h + CAPTION}"', head)
    head = re.sub(r'viewBox="0 0 (\d+) \d+"', rf'viewBox="0 0 \1 {h + CAPTION}"', head)
    layers = {"<rect": {}, "<path": {}, "<text": {}}    # in drawing order
    for first, last, e in runs(frames):
        layers[e[:5]].setdefault((first, last), []).append(e)
    print(head)
    print(f"<style>g{{animation:{total:g}s step-end infinite;visibility:hidden}}")
    for first, last in sorted(set().union(*layers.values())):
        a, z = (100 * begins[i] / total for i in (first, last + 1))
        name, still = f"f{first}-{last}", "visibility:visible;" if first == 0 else ""
        steps = "0%{visibility:hidden}" if first else ""
        steps += f"{a:.3f}%{{visibility:visible}}"
        steps += f"{z:.3f}%{{visibility:hidden}}" if last + 1 < len(frames) else ""
        print(f".{name}{{{still}animation-name:{name}}}@keyframes {name}{{{steps}}}")
    print("</style>")
    print(ground.replace(f'height="{h}"', f'height="{h + CAPTION}"'))
    for layer in layers.values():
        for (first, last), elements in layer.items():
            print(f'<g class="f{first}-{last}">', *elements, "</g>", sep="\n")
    print("</svg>")


main()
