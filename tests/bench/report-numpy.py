#!/usr/bin/python3
"""The statistics of a report as a plain script has them: mean, standard deviation, minimum,
maximum and three quantiles of columns that lie ready as raw float64 in FOLDER/*.f64.

It is spared what nvmtop report does besides: decompressing, checksums, times, energy, phases,
the slower tiers.  Quantiles are those of a sorted column (numpy selects, it does not sort).

  report-numpy.py FOLDER
"""
import glob
import sys

import numpy

for path in sorted(glob.glob(sys.argv[1] + "/*.f64")):
    v = numpy.fromfile(path)
    print(v.size, v.mean(), v.std(ddof=1), v.min(), v.max(),
          *numpy.quantile(v, (0.5, 0.95, 0.99), overwrite_input=True))
