"""The sections of the report, one file each; :mod:`privrelease.report.sections.registry` has them in order."""
