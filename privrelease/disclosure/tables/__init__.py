"""Tables of counts and sums: which cells are unsafe, what an attacker works out from the others, and which must go with them.

Pure: integers by cell in, verdicts and patterns out. The solvers of linear programs load when the first interval is asked for.
"""
