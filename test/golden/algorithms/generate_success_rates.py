"""Goldens of success rates: scipy's Wilson intervals and binomial tests, and pass@k by exact binomials.

Needs scipy.
"""
import json
from pathlib import Path
from fractions import Fraction
from math import comb
import scipy
from scipy.stats import binomtest

wilson = []
for c, n in [(0, 1), (1, 1), (0, 10), (1, 10), (5, 10), (10, 10), (81, 263), (133, 200), (999, 1000), (12345, 100000)]:
    ci = binomtest(c, n).proportion_ci(0.95, method="wilson")
    wilson.append({"numSuccesses": c, "numTrials": n, "low": ci.low, "high": ci.high})
mcnemar = []
for b, c in [(0, 0), (0, 5), (1, 5), (10, 10), (6, 16), (121, 59), (1400, 1600), (0, 2000)]:
    p = 1.0 if b + c == 0 else binomtest(min(b, c), b + c, 0.5).pvalue
    mcnemar.append({"numOnlyFirst": b, "numOnlySecond": c, "pValue": p})
passes = []
for n, c, k in [(1, 0, 1), (1, 1, 1), (5, 2, 1), (5, 2, 2), (10, 3, 5), (200, 1, 100), (200, 20, 10), (200, 150, 100), (1000, 7, 64)]:
    passes.append({"numAttempts": n, "numSuccesses": c, "k": k, "pass": float(1 - Fraction(comb(n - c, k), comb(n, k)))})
golden = {
    "generator": "generate_success_rates.py, scipy " + scipy.__version__,
    "tolerance": 1e-12,
    "wilson": wilson,
    "mcnemar": mcnemar,
    "passAtK": passes,
}
Path(__file__).with_name("success-rates.json").write_text(json.dumps(golden, indent=1) + "\n")
