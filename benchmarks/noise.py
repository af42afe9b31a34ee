"""Draws per CPU second of the exact samplers, for scales 1 to 1000 in batches of 100,000; OpenDP beside them where it is installed.

Run: python benchmarks/noise.py. The floor is 1 M discrete Laplace and 0.5 M discrete Gaussian draws a CPU second.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction
from importlib.util import find_spec
from typing import TYPE_CHECKING

from privrelease.dp.mechanisms import DiscreteGaussian, DiscreteLaplace
from privrelease.dp.randomness import SystemRandomness

if TYPE_CHECKING:
    from collections.abc import Callable

BATCH = 100_000
SCALES = (1, 10, 100, 1000)
FLOORS = {"Laplace": 1.0, "Gaussian": 0.5}


def rate(draw: Callable[[int], object], batch: int, seconds: float) -> float:
    """Millions of draws a CPU second, over at least ``seconds``."""
    draw(batch)
    drawn = 0
    start = time.process_time()
    while time.process_time() - start < seconds:
        draw(batch)
        drawn += batch
    return drawn / (time.process_time() - start) / 1e6


def ours(law: str, scale: int) -> Callable[[int], object]:
    noise = DiscreteLaplace(Fraction(scale)) if law == "Laplace" else DiscreteGaussian(Fraction(scale) ** 2)
    source = SystemRandomness()
    return lambda size: noise.sample(size, source)


def opendp(law: str, scale: int) -> Callable[[int], object]:
    import opendp.prelude as dp  # type: ignore[import-not-found] # not a dependency

    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    if law == "Laplace":
        measurement = dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale=float(scale))
    else:
        measurement = dp.m.make_gaussian(domain, dp.l2_distance(T="f64"), scale=float(scale))
    return lambda size: measurement([0] * size)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="CPU seconds for each figure")
    seconds = parser.parse_args().seconds
    other = find_spec("opendp") is not None
    print(
        "million draws a CPU second, batches of 100,000"
        + ("; OpenDP in batches of 10,000" if other else "; OpenDP is not installed")
    )
    print(f"{'law':>9} {'scale':>6} {'ours':>8} {'floor':>6}" + (f" {'OpenDP':>8} {'ratio':>6}" if other else ""))
    for law, floor in FLOORS.items():
        for scale in SCALES:
            mine = rate(ours(law, scale), BATCH, seconds)
            line = f"{law:>9} {scale:>6} {mine:>8.2f} {floor:>6.1f}"
            if other:
                theirs = rate(opendp(law, scale), 10_000, seconds)
                line += f" {theirs:>8.3f} {mine / theirs:>6.0f}"
            print(line)


if __name__ == "__main__":
    main()
