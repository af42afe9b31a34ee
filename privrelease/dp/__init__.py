"""Differential privacy as values: domains, sensitivity, queries, mechanisms, accountants. No row, file or database is touched here.

From a query to a released number::

    Query + Unit + Neighbours -> draws(...) -> tuple[Draw, ...] -> charge_then_draw(...) -> integers on a grid -> estimate

Every noisy number is a :class:`~privrelease.dp.draws.Draw` before it is drawn: what is not listed cannot be drawn, and what is
listed is charged.
"""
