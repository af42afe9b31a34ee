"""Mechanisms, one file each with its law, its guarantee and its sampler. Nothing is used that is not listed here."""

from privrelease.dp.mechanisms.additive import AdditiveNoise, add_noise
from privrelease.dp.mechanisms.discrete_gaussian import DiscreteGaussian
from privrelease.dp.mechanisms.discrete_laplace import DiscreteLaplace
from privrelease.dp.mechanisms.exponential import PermuteAndFlip
from privrelease.dp.mechanisms.exponential_choice import ExponentialMechanism
from privrelease.dp.mechanisms.thresholding import Thresholding

__all__ = [
    "MECHANISMS",
    "AdditiveNoise",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "ExponentialMechanism",
    "PermuteAndFlip",
    "Thresholding",
    "add_noise",
]

MECHANISMS = (DiscreteLaplace, DiscreteGaussian, PermuteAndFlip, ExponentialMechanism, Thresholding)
