"""The natural logarithm by which likelihood compares pairs, the same to the last bit on every machine.

Mathematics libraries differ in the last bit, and the same one does between processors; where two pairs nearly tie, that
would decide which is merged. So this is our own: the method of fdlibm's ``__ieee754_log``, in float64, one rounding an
operation, in this order. The reference calls it as plain Python, the kernels compile it, and neither may fuse a product
with a sum or reorder anything.

The result is off by less than one unit in the last place. Like that of any such method, it need not rise with its
argument everywhere: it may fall by a bit where the argument hardly changes.
"""

from __future__ import annotations

import math

_SQRT_HALF = 0.7071067811865476
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # together ln 2
_L1, _L2, _L3 = 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01
_L4, _L5, _L6 = 2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01
_L7 = 1.479819860511658591e-01


def ln(x: float) -> float:
    """Return the natural logarithm of a positive number, which must be finite and not subnormal.

    >>> ln(1.0), ln(2.0), ln(0.25)
    (0.0, 0.6931471805599453, -1.3862943611198906)
    """
    # x = m · 2^e with √½ ≤ m < √2, and ln m = 2 artanh s, a series in s².
    m, e = math.frexp(x)
    if m < _SQRT_HALF:
        m *= 2.0
        e -= 1
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    t1 = w * (_L2 + w * (_L4 + w * _L6))
    t2 = z * (_L1 + w * (_L3 + w * (_L5 + w * _L7)))
    r = t2 + t1
    h = 0.5 * f * f
    return e * _LN2_HIGH - ((h - (s * (h + r) + e * _LN2_LOW)) - f)
