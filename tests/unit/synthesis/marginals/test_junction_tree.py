"""Junction trees have the running intersection property, hold every clique, and cost what their cliques do."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from privrelease.synthesis.marginals.domain import Domain, maximal
from privrelease.synthesis.marginals.junction_tree import joint_or_tree, junction_tree


def random_graph(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 9))
    domain = Domain(tuple("abcdefgh"[:count]), tuple(int(size) for size in rng.integers(1, 6, size=count)))
    pairs = list(combinations(domain.names, 2))
    return domain, [pair for pair in pairs if rng.random() < 0.35]


@pytest.mark.parametrize("seed", range(40))
def test_what_two_cliques_share_is_in_every_clique_between_them(seed):
    domain, cliques = random_graph(seed)
    tree = junction_tree(domain, cliques)
    assert set().union(*tree.cliques) == set(domain.names)
    assert all(tree.host(clique) is not None for clique in cliques)
    assert len(maximal(tree.cliques)) == len(tree.cliques)
    assert all(parent < place for place, parent in enumerate(tree.parents))
    for name in domain.names:  # the cliques that have a column are connected: all but one have it in their separator
        having = [place for place, clique in enumerate(tree.cliques) if name in clique]
        assert sum(name not in tree.separators[place] for place in having) == 1
    for place in range(1, len(tree.cliques)):
        assert set(tree.separators[place]) == set(tree.cliques[place]) & set(tree.cliques[tree.parents[place]])


def test_a_ring_of_four_is_triangulated_by_its_cheaper_chord():
    domain = Domain(("a", "b", "c", "d"), (10, 2, 10, 2))
    ring = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")]
    tree = junction_tree(domain, ring)
    assert set(tree.cliques) == {("a", "b", "d"), ("b", "c", "d")}  # 40 + 40; by a and c it would be 200 + 200
    assert tree.cells == 80


def test_the_joint_is_taken_where_it_is_no_more_than_twice_the_tree():
    small = Domain(("a", "b", "c"), (2, 2, 2))
    assert joint_or_tree(small, [("a", "b"), ("b", "c")]).cliques == (("a", "b", "c"),)  # 8 cells; the tree has 8
    wide = Domain(("a", "b", "c"), (20, 20, 20))
    assert joint_or_tree(wide, [("a", "b"), ("b", "c")]).cells == 800
    huge = Domain(("a", "b", "c"), (1000, 300, 1000))
    assert joint_or_tree(huge, [("a", "b"), ("b", "c"), ("a", "c")]).cliques == (("a", "b", "c"),)  # no other triangulation


def test_a_clique_of_a_column_that_the_domain_lacks_is_refused():
    domain = Domain(("a", "b"), (2, 2))
    with pytest.raises(KeyError, match="z"):
        domain.clique(["a", "z"])
    with pytest.raises(ValueError, match="different names"):
        Domain(("a", "a"), (2, 2))
