"""Cost of protection in use: one measure a file, each a pure function of counts by value or by class, never of rows.

A missing cell of the source holds nothing that could be lost: shares and entropies are over known cells.
"""
