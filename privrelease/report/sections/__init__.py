"""The sections of the report, one file each; :mod:`privrelease.report.sections.every` has them in order."""
