"""Accountants, one file each: what composed releases cost together."""

from privrelease.dp.accountants.approximate import ApproximateAccountant
from privrelease.dp.accountants.pld import PldAccountant
from privrelease.dp.accountants.protocol import Accountant, UnsupportedEventError
from privrelease.dp.accountants.pure import PureAccountant
from privrelease.dp.accountants.zcdp import ZcdpAccountant

__all__ = [
    "ACCOUNTANTS",
    "Accountant",
    "ApproximateAccountant",
    "PldAccountant",
    "PureAccountant",
    "UnsupportedEventError",
    "ZcdpAccountant",
]

ACCOUNTANTS = (PureAccountant, ApproximateAccountant, ZcdpAccountant, PldAccountant)
