"""Disclosure by a release combined with releases of the same persons that were published before."""
