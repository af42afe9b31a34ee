"""Checks of a parked microdata release: that it is what the plan says, and nothing else.

One function a check, one line each in :data:`privrelease.audit.microdata.integrity.checks.MICRODATA_CHECKS`.
"""
