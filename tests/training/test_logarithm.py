"""The logarithm of likelihood: its bits, those of the compiled one, and how far sums of it may be off."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.compiled.kernel_cache import load_kernels
from wordpiece_studio.training.kernels import columns, pairs
from wordpiece_studio.training.reference import likelihood, ln

load_kernels("training")

SHARED = Path(__file__).parents[3] / "shared" / "vectors" / "ln.json"
CASES = [  # x and ln x; some of them differ from those of a usual mathematics library
    ("0x1.0000000000000p+0", "0x0.0p+0"),
    ("0x1.0000000000000p+1", "0x1.62e42fefa39efp-1"),
    ("0x1.0000000000000p-1", "-0x1.62e42fefa39efp-1"),
    ("0x1.0000000000001p+0", "0x1.fffffffffffffp-53"),
    ("0x1.fffffffffffffp-1", "-0x1.0000000000000p-53"),
    ("0x1.6a09e667f3bcdp-1", "-0x1.62e42fefa39eep-2"),
    ("0x1.6a09e667f3bccp-1", "-0x1.62e42fefa39f1p-2"),
    ("0x1.6a09e667f3bcdp+0", "0x1.62e42fefa39f0p-2"),
    ("0x1.8000000000000p+1", "0x1.193ea7aad030ap+0"),
    ("0x1.4000000000000p+3", "0x1.26bb1bbb55516p+1"),
    ("0x1.0000000000001p+52", "0x1.205966f2b4f12p+5"),
    ("0x1.3f35ee883c545p+46", "0x1.00d7f31b22245p+5"),
    ("0x1.8000000000000p+1", "0x1.193ea7aad030ap+0"),
    ("0x1.8c0af84af252fp-2", "-0x1.e65fc437ce9a6p-1"),
    ("0x1.693626ac201a3p+4", "0x1.8ef5c2ac5c420p+1"),
    ("0x1.17b8b478bbf93p-2", "-0x1.4c3494cf37a96p+0"),
    ("0x1.c8e186730e903p+42", "0x1.db1015c4a7702p+4"),
    ("0x1.6524c71ad3a5ep-2", "-0x1.0da746c9fbd16p+0"),
    ("0x1.4fc8e8bbfd691p+7", "0x1.47e4876aefb64p+2"),
    ("0x1.9bc84b38c4f5dp+5", "0x1.f87470fb2299ap+1"),
    ("0x1.879f43365b776p+8", "0x1.7e195a3d2e56ep+2"),
    ("0x1.a6bfe9b1fcf66p+0", "0x1.00d212f88e4a8p-1"),
    ("0x1.4da251cfb1418p+44", "0x1.ec36a76dc44d4p+4"),
    ("0x1.0f89eb644bb49p+5", "0x1.c3282ace21facp+1"),
    ("0x1.143a37ac3d0d9p+55", "0x1.3197d7beaadc8p+5"),
    ("0x1.dba2fdb6fe34fp+38", "0x1.af58597b0e5a4p+4"),
    ("0x1.0cf69899488c1p+1", "0x1.7c2ecc9068eabp-1"),
    ("0x1.28630fbe9fda7p+30", "0x1.4f0df13687c4dp+4"),
    ("0x1.e5f545fe4c761p+2", "0x1.037c93fd1cac1p+1"),
    ("0x1.ddf0ff0206090p+24", "0x1.1428512283b80p+4"),
    ("0x1.c023cdb4f1be4p+23", "0x1.0809796f214bfp+4"),
    ("0x1.ddcf52ff28242p+38", "0x1.af6b057eee5bdp+4"),
    ("0x1.1756790891b7cp+11", "0x1.ed8f2b08f9c27p+2"),
    ("0x1.376e0d5b73f61p+28", "0x1.39aa777c2d1c0p+4"),
    ("0x1.592492ebf7999p+61", "0x1.54a564fa8ab6cp+5"),
    ("0x1.af626ac816837p+10", "0x1.dd02c4f6b4d87p+2"),
    ("0x1.98c7a0da28daep+32", "0x1.6a611ca3cb7b6p+4"),
    ("0x1.4b7404409fbf7p+20", "0x1.c3e14d77852b4p+3"),
    ("0x1.719dab11e025ap+28", "0x1.3c681229c2d63p+4"),
    ("0x1.e721db28008b1p+17", "0x1.8da8d6dfc675dp+3"),
]
UNIT = 2.0**-53

counts = st.integers(0, 60).flatmap(lambda bits: st.integers(1, 2**bits))


def test_the_bits_are_those_of_the_method() -> None:
    known = json.loads(SHARED.read_text(encoding="utf-8")) if SHARED.exists() else CASES  # more, where available
    for x, expected in [*CASES, *known]:
        assert ln(float.fromhex(x)).hex() == pairs.ln(float.fromhex(x)).hex() == float.fromhex(expected).hex()


@given(st.floats(2.0**-126, 2.0**126))
def test_the_compiled_one_has_the_same_bits(x: float) -> None:
    assert pairs.ln(x).hex() == ln(x).hex()


@given(st.floats(2.0**-126, 2.0**126))
def test_it_is_off_by_one_unit_in_the_last_place_at_most(x: float) -> None:
    assert ln(x) == pytest.approx(math.log(x), rel=4 * UNIT, abs=0)


@given(counts, counts, counts, counts)
def test_the_compiled_likelihood_has_the_same_bits(n: int, left: int, right: int, more: int) -> None:
    left, right = n + left, n + right
    value = likelihood(n, left, right, left + right + more)
    assert pairs.pair_value(columns.LIKELIHOOD, n, left, right, left + right + more).hex() == value.hex()


@given(counts, counts, counts, counts)
def test_listed_values_are_as_near_as_the_kernels_page_says(n: int, left: int, right: int, more: int) -> None:
    left, right, total = n + left - 1, n + right - 1, left + right + 2 * n + more
    listed = pairs.listed_value(columns.LIKELIHOOD, n, left, right) + float(n) * ln(float(total))
    assert abs(listed - likelihood(n, left, right, total)) <= 760 * UNIT * n
    assert pairs._ROUNDING > 2 * 760 * UNIT
