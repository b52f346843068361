#!/usr/bin/python3
"""The statistics of a report in a plain script: mean, standard deviation, minimum, maximum
and three quantiles of columns stored as raw float64 in FOLDER/*.f64.

It does less than nvmtop report: no decompression, checksums, times, energy, phases or slower
tiers. Quantiles come from a selection (numpy does not sort).

  report-numpy.py FOLDER
"""
import glob
import sys

import numpy

for path in sorted(glob.glob(sys.argv[1] + "/*.f64")):
    v = numpy.fromfile(path)
    print(v.size, v.mean(), v.std(ddof=1), v.min(), v.max(),
          *numpy.quantile(v, (0.5, 0.95, 0.99), overwrite_input=True))
