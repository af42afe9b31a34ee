"""Membership inference: whether the file discloses who was in the data.

The attacker calls a person a member where the nearest released record is at most a threshold away. The threshold is learnt on one half of the
members and of the held-out persons (where it separates them best) and tried on the other half: tried on the same half it would
be too good. Main rate: members called members. Control: held-out persons called members. Guessing calls both alike, half of the
time.

Sources: Yeom et al. 2018 (advantage: the difference of the two rates); Hyeong et al. 2022 and others for the distance to synthetic records.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from privrelease.audit.attacks.rates import Rate

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["GUESSING", "halves", "member_rates", "threshold"]

#: Who guesses with a coin calls half of the members members.
GUESSING: Final = Rate(known=Fraction(1, 2))


def threshold(members: NDArray[np.int64], others: NDArray[np.int64]) -> int:
    """Return the distance up to which a person is called a member: members less others called so are most; the least such, -1 for none.

    >>> threshold(np.array([0, 0, 3]), np.array([2, 4, 5])), threshold(np.array([4]), np.array([1]))
    (0, -1)
    """
    cuts = np.unique(np.concatenate((members, others)))
    ours = np.searchsorted(np.sort(members), cuts, side="right") * len(others)
    theirs = np.searchsorted(np.sort(others), cuts, side="right") * len(members)
    gain = ours - theirs  # whole numbers: no rounding decides
    if not len(gain) or gain.max() <= 0:
        return -1
    return int(cuts[np.argmax(gain)])


def halves(n: int) -> tuple[slice, slice]:
    """Return the places of ``n`` persons, in the order drawn, to learn on and to try on; the larger half is tried.

    >>> halves(5)
    (slice(0, 2, None), slice(2, 5, None))
    """
    return slice(0, n // 2), slice(n // 2, n)


def member_rates(members: NDArray[np.int64], others: NDArray[np.int64]) -> tuple[Rate, Rate]:
    """Return main and control rate from the distances of members and of held-out persons to their nearest released record, as drawn.

    >>> member_rates(np.array([0, 0, 0, 9]), np.array([5, 6, 0, 7]))  # learnt: 0 and below
    (Rate(successes=1, attempts=2, known=None), Rate(successes=1, attempts=2, known=None))
    """
    learn, test = halves(len(members)), halves(len(others))
    cut = threshold(members[learn[0]], others[test[0]])
    ours, theirs = members[learn[1]], others[test[1]]
    return (
        Rate(int(np.count_nonzero(ours <= cut)), len(ours)),
        Rate(int(np.count_nonzero(theirs <= cut)), len(theirs)),
    )
