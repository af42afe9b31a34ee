"""The rendered reports of the examples: ``python -m privrelease.examples.reports`` builds the folder ``reports`` again.

The examples run on a clean copy of the repository's last commit, with real noise. ``audit.json``, and of a release with differential
privacy the manifest, are kept as they are; every other file is rendered from them, by :func:`rendered`, so that a test can compare.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from privrelease.examples.admissions import write_admissions
from privrelease.examples.demo import ROOT, census_data
from privrelease.examples.registry import write_example

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["REPORTS", "main", "rendered", "rendered_indices"]

REPORTS = ROOT / "reports"
#: What is kept of a run; all else is rendered from it.
KEPT = ("audit.json", "manifest.json", "standing.json")
#: File of the folder -> (form, edition).
_FORMS = {
    "report.html": ("html", "internal"),
    "report.recipient.html": ("html", "recipient"),
    "audit.recipient.json": ("json", "recipient"),
    "summary.md": ("markdown", "internal"),
    "results.sarif": ("sarif", "internal"),
    "junit.xml": ("junit", "internal"),
    "record.dpv.jsonld": ("dpv", "internal"),
    "record.recipient.dpv.jsonld": ("dpv", "recipient"),
    "statement.in-toto.json": ("in-toto", "recipient"),
}


def rendered(folder: Path) -> dict[str, bytes]:
    """Return every file that is rendered from the ``audit.json`` (and ``manifest.json``) of a folder, by its name."""
    from privrelease.pipeline.rendering import FORMS, html_page, known_standing
    from privrelease.release.manifest import Manifest
    from privrelease.report.forms.dp_registry import render_dp_registry
    from privrelease.report.forms.json_report import read_audit
    from privrelease.report.view.edition import Edition

    audit = read_audit(folder / "audit.json")
    files = {name: FORMS[form](audit, Edition(edition)) for name, (form, edition) in _FORMS.items()}
    files["report.html"] = html_page(audit, Edition.INTERNAL, known_standing(folder / "audit.json"))
    manifest = folder / "manifest.json"
    claim = Manifest.load(manifest).privacy if manifest.is_file() else None
    if claim is not None:
        files["dp-deployment.yaml"] = render_dp_registry(audit, claim).encode()
    return files


def rendered_indices(reports: Path) -> dict[str, bytes]:
    """Return the index pages over a folder of reports."""
    from privrelease.cli.commands.report_index import index_bytes
    from privrelease.report.view.edition import Edition

    names = {"index.html": Edition.INTERNAL, "index.recipient.html": Edition.RECIPIENT}
    return {name: index_bytes(reports, edition, reports)[0] for name, edition in names.items()}


def main() -> int:
    """Run the examples on a clean copy and write ``reports`` again; return an exit code."""
    from privrelease.release.files import canonical_json
    from privrelease.release.runs import RunFolder
    from privrelease.report.view.standing import standing_of

    census = census_data()
    if census is None:
        sys.stderr.write("the census is not here: set PRIVRELEASE_SHARED to the folder whose data/adult.csv is the extract\n")
        return 3
    with tempfile.TemporaryDirectory(prefix="privrelease-reports-") as made:
        copy = Path(made) / "copy"
        _call(Path(made), "git", "clone", "--quiet", "--shared", str(ROOT), str(copy))
        policies = copy / "policies"
        write_example(policies / "data")
        write_admissions(policies / "data" / "admissions.csv")
        _privrelease(copy, "ledger", "init", "policies/diabetes.yaml")
        _privrelease(copy, "run", "policies/diabetes.yaml")
        _privrelease(copy, "run", "policies/admissions.yaml")
        _privrelease(copy, "run", "policies/census.yaml", "--data-root", str(census.parent.resolve()))
        for example, run in _runs(policies / ".privrelease" / "runs"):
            target = REPORTS / example
            shutil.rmtree(target, ignore_errors=True)
            target.mkdir(parents=True)
            (target / "audit.json").write_bytes((run / "internal" / "audit.json").read_bytes())
            standing = standing_of(RunFolder(run).record())
            if standing is not None:
                (target / "standing.json").write_bytes(canonical_json(standing.model_dump(mode="json")))
            for manifest in run.glob("outgoing/*.manifest.json"):
                (target / "manifest.json").write_bytes(manifest.read_bytes())
    for folder in sorted(path.parent for path in REPORTS.glob("*/audit.json")):
        for name, content in rendered(folder).items():
            (folder / name).write_bytes(content)
    for name, content in rendered_indices(REPORTS).items():
        (REPORTS / name).write_bytes(content)
    return 0


def _runs(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the folder of each example, by the policy's first word and the release's id, and its run."""
    from privrelease.release.runs import RunFolder

    for run in sorted(folder.iterdir()):
        record = RunFolder(run).record()
        yield f"{record.policy.partition('-')[0]}-{record.release}", run


def _privrelease(folder: Path, *words: str) -> None:
    """Run the command line in a folder, so that findings name a policy as it is typed there and not by a path of this machine."""
    _call(folder, sys.executable, "-P", "-m", "privrelease.cli.main", *words)


def _call(folder: Path, *words: str) -> None:
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, cwd=folder)  # noqa: S603 -- our own commands on our own files


if __name__ == "__main__":
    sys.exit(main())
