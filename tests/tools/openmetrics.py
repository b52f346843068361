#!/usr/bin/env python3
"""Reads OpenMetrics 1.0 text strictly, from its specification; shares no code with nvmtop.

  openmetrics.py [FILE]...     without a FILE standard input; says what is wrong, with status 1

A library as well: expositions(text) gives, for each text up to "# EOF", {name: {labels: value}}.
"""

import re
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"'
NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"


def expositions(text):
    assert text.endswith("# EOF\n"), "it does not end in # EOF"
    return [one(t) for t in text.split("# EOF\n")[:-1]]


def one(text):
    samples, families, current = {}, {}, None
    for line in text.splitlines():
        assert line and line == line.strip(), f"blank: {line!r}"
        meta = re.fullmatch(rf"# (TYPE|UNIT|HELP) ({NAME}) (.*)", line)
        if meta:
            what, name, value = meta.groups()
            if name != current:
                assert name not in families, f"{name} comes in two parts"
                families[name] = {}
                current = name
            family = families[name]
            assert what not in family and not family.get("samples"), f"{what} of {name} is repeated, or late"
            family[what] = value
            if what == "TYPE":
                assert value in ("gauge", "counter", "unknown"), line
                assert value != "counter" or not name.endswith("_total"), line
            if what == "UNIT":
                assert name.endswith("_" + value), line
            continue
        m = re.fullmatch(rf"({NAME})(?:\{{(.*)\}})? ({NUMBER})", line)
        assert m, f"no sample: {line!r}"
        name, labels, value = m.groups()
        family = families.get(current)
        assert family and "TYPE" in family and "HELP" in family, f"without TYPE and HELP: {line}"
        counter = family["TYPE"] == "counter"
        assert name == current + ("_total" if counter else ""), f"{name} in the family {current}"
        assert not counter or float(value) >= 0, line
        pairs = re.findall(LABEL, labels or "")
        assert ",".join(f'{k}="{v}"' for k, v in pairs) == (labels or ""), f"labels: {line}"
        assert len({k for k, _ in pairs}) == len(pairs), f"a label twice: {line}"
        key = tuple(sorted(pairs))
        assert key not in samples.setdefault(name, {}), f"twice: {line}"
        samples[name][key] = float(value)
        family["samples"] = True
    for name, family in families.items():
        assert family.get("samples"), f"{name} has no sample"
    return samples


if __name__ == "__main__":
    try:
        for path in sys.argv[1:] or ["/dev/stdin"]:
            expositions(open(path, encoding="utf-8").read())
    except AssertionError as e:
        sys.exit(str(e))
