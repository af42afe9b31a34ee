"""Mechanisms, one file each with its law, its guarantee and its sampler. Nothing is used that is not listed here."""

from privrelease.dp.mechanisms.discrete_gaussian import DiscreteGaussian
from privrelease.dp.mechanisms.discrete_laplace import DiscreteLaplace

__all__ = ["MECHANISMS", "DiscreteGaussian", "DiscreteLaplace"]

MECHANISMS = (DiscreteLaplace, DiscreteGaussian)
