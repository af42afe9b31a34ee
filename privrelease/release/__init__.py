"""Releases: manifest, digests, signatures, the folders a run works in, and atomic publication."""
