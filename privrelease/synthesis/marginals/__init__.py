"""Synthetic data from noisy marginals: a graphical model of maximum entropy, estimated from what an envelope measured.

``domain.py`` is the algebra of tables over named axes, ``junction_tree.py`` the graph, ``model.py`` message passing on it, ``estimate.py``
mirror descent, ``draw.py`` the records; ``mst.py`` and ``aim.py`` choose what to measure. All but the last two are free of privacy: they see
noisy tables only.
"""
