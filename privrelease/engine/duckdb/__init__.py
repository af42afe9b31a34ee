"""The DuckDB engine: strict reading, class tables, writing and measuring inside a locked database.

Codes of its errors (append-only):

====  ==================================================================================================================
D101  no such file, or a glob that matches nothing
D102  a file outside the folders that may be read
D103  a file that is not of the declared kind, or damaged
D104  an empty file, an empty first line, a column without a name
D105  a column name twice
D106  column names that differ only in case
D107  a declared column that the source lacks
D108  a column of the source that the policy does not list
D109  a delimiter or quote that does not fit the file
D110  bytes that are not valid in the declared encoding, or an unknown encoding
D111  a record with another number of fields than the header
D112  quotes or line breaks that are not those of RFC 4180
D113  a NUL character
D114  files of one glob that differ in columns or types
D115  a physical type that does not become the declared type without loss
D116  no such table
D117  a first line that seems to be a row of data where column names are wanted
D118  a view of a database file that reads outside its file, or what is not there
D120  memory or temporary space ran out
D121  a file or folder that cannot be used
D122  an engine setting that is not accepted
D130  an output that cannot be written
D131  an output outside the folders that may be written
D132  an output that exists already
D199  a fault of ours inside a query
D201  a cell that is no integer
D202  an integer beyond 64 bits
D203  a cell that is not a number
D204  a number with more digits than can be kept
D205  a number that is not on the grid
D206  a cell that is no date in the declared format
D207  a cell that is no date and time in the declared format
D208  a cell that is no boolean
D209  a value outside the declared domain
D210  warning: distinct texts that look alike
D211  a row without its person
D212  a row without a positive weight
D213  a domain that is not of the column's type
D251  warning: numbers written with zeros before them
D252  a column with a collation that cannot be read as it is
D253  warning: texts of the unit column that look alike
D270  warning: cells of a number column that are no number, or infinite
====  ==================================================================================================================
"""

from __future__ import annotations

from privrelease.engine.duckdb.engine import DuckDBEngine

__all__ = ["DuckDBEngine"]
