"""A plan that ``plan -o FILE`` saved for a reviewer, and ``run --plan FILE``, which runs exactly that or refuses.

The file holds what the reviewer read, and what decides whether it is still true: the resolved policy's digest, the environment, the releases,
the approvers, the version of this tool, and keyed digests of every input. It holds no row and no cell.
"""

import json
import os
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import ValidationError

from privrelease import __version__
from privrelease.documents import Document
from privrelease.errors import InputError
from privrelease.findings import Location
from privrelease.release.manifest import InputDigest, Moment, PolicyReference, Sha256

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from privrelease.pipeline.kinds import Kind
    from privrelease.pipeline.settings import Settings
    from privrelease.plan.model import Plan, ReleasePlan
    from privrelease.policy.loader import LoadedPolicy

__all__ = ["SavedPlan", "check_saved", "read_saved", "saved_plan"]

_HINT: Final = "make a new one with `privrelease plan POLICY -o FILE`, and have it reviewed"


class SavedPlan(Document):
    """The plan of one policy, as it was shown, and what it was made of."""

    format: Literal["privrelease/plan"] = "privrelease/plan"
    version: Literal[1] = 1
    made_by: str
    """Version of privrelease."""
    made_at: Moment
    policy: PolicyReference
    releases: tuple[str, ...]
    """Releases that are run, in the policy's order."""
    approvers_sha256: Sha256 | None
    """Of the file of approvers; None where the policy names none."""
    inputs: dict[str, tuple[InputDigest, ...]]
    """Every file that a release reads, by release."""
    plan: dict[str, Any]
    """The output of `privrelease plan --format json` without data."""
    forecasts: tuple[dict[str, Any], ...] = ()
    """The output with --data."""

    def content(self) -> bytes:
        """Return the file's text."""
        return (json.dumps(self.model_dump(mode="json"), indent=2, ensure_ascii=True) + "\n").encode()


def saved_plan(
    loaded: "LoadedPolicy",
    plan: "Plan",
    releases: "Sequence[ReleasePlan]",
    settings: "Settings",
    kinds: "Sequence[Kind[Any]]",
    forecasts: "Sequence[dict[str, Any]]" = (),
) -> SavedPlan:
    """Return the plan of releases with digests of their inputs, under the key of the state folder. Raises InputError (R130, R131)."""
    from privrelease.release.digests import sha256_of
    from privrelease.release.store import now

    approvers = None if plan.approvals is None else plan.approvals.keys
    return SavedPlan(
        made_by=__version__,
        made_at=now(),
        policy=PolicyReference(
            id=plan.policy_id,
            version=plan.policy_version,
            title=loaded.policy.title,
            sha256=plan.policy_sha256,
            commit=plan.commit,
            environment=loaded.environment,
        ),
        releases=tuple(release.id for release in releases),
        approvers_sha256=sha256_of(approvers) if approvers is not None and approvers.is_file() else None,
        inputs=_inputs(plan, releases, settings),
        plan=_shown(plan, releases, kinds),
        forecasts=tuple(json.loads(json.dumps(one)) for one in forecasts),
    )


def _inputs(plan: "Plan", releases: "Sequence[ReleasePlan]", settings: "Settings") -> dict[str, tuple[InputDigest, ...]]:
    from privrelease.execute.common.inputs import digest_inputs
    from privrelease.execute.common.scope import sources_of
    from privrelease.release.digests import digest_key

    store = settings.store(plan)
    with store.held():  # makes the state folder, in which the key is kept
        key = digest_key(store.state, os.environ)
    return {one.id: digest_inputs(sources_of(one), key, one.lists).digests for one in releases}


def _shown(plan: "Plan", releases: "Sequence[ReleasePlan]", kinds: "Sequence[Kind[Any]]") -> dict[str, Any]:
    from dataclasses import replace

    from privrelease.plan.explain import explain

    words = tuple((kind.name, kind.explain) for kind in kinds)
    shown: dict[str, Any] = json.loads(json.dumps(explain(replace(plan, releases=tuple(releases)), explainers=words).as_data()))
    return shown


def read_saved(path: "Path") -> SavedPlan:
    """Read a saved plan. Raises InputError (C168): there is none, or it is of another version."""
    try:
        return SavedPlan.model_validate_json(path.read_bytes())
    except OSError as error:
        message = f"the saved plan cannot be read: {error.strerror or type(error).__name__}"
    except ValidationError as error:
        places = ", ".join(sorted({".".join(map(str, one["loc"])) or "the whole" for one in error.errors()})[:3])
        message = f"this is not a saved plan of a known version ({places})"
    raise InputError(code="C168", message=message, hint=_HINT, location=Location(str(path)))


def check_saved(
    saved: SavedPlan,
    loaded: "LoadedPolicy",
    plan: "Plan",
    releases: "Sequence[ReleasePlan]",
    settings: "Settings",
    kinds: "Sequence[Kind[Any]]",
) -> "Mapping[str, tuple[InputDigest, ...]]":
    """Return the inputs that the saved plan was made for. Raises InputError (C169) where anything differs, with all that does."""
    here = saved_plan(loaded, plan, releases, settings, kinds)
    different = list(_differences(saved, here))
    if different:
        raise InputError(code="C169", message=f"the saved plan is not what would run: {'; '.join(different)}", hint=_HINT)
    return saved.inputs


def _differences(saved: SavedPlan, here: SavedPlan) -> "Iterator[str]":
    if saved.made_by != here.made_by:
        yield f"it was made by version {saved.made_by[:40]}, and this is {here.made_by}"
    if saved.policy.id != here.policy.id:
        yield f"it is of policy {saved.policy.id[:80]}"
    elif saved.policy.environment != here.policy.environment:
        yield f"it is of {_environment(saved)}, and the policy is run in {_environment(here)}"
    elif saved.policy.sha256 != here.policy.sha256:
        yield "the policy says something else now"
    if saved.releases != here.releases:
        yield f"it is of release {', '.join(saved.releases)[:200]}"
    if saved.approvers_sha256 != here.approvers_sha256:
        yield "the list of approvers is another"
    yield from _other_inputs(saved, here)
    if saved.plan != here.plan and saved.policy.sha256 == here.policy.sha256 and saved.releases == here.releases:
        yield "what it shows is not what the policy means: the file was altered"


def _environment(saved: SavedPlan) -> str:
    return "no environment" if saved.policy.environment is None else f"environment {saved.policy.environment[:80]}"


def _other_inputs(saved: SavedPlan, here: SavedPlan) -> "Iterator[str]":
    for name in sorted(saved.inputs.keys() & here.inputs.keys()):
        before, after = ({(one.label, one.file): one for one in plan.inputs[name]} for plan in (saved, here))
        if {one.key_id for one in before.values()} != {one.key_id for one in after.values()} and before and after:
            yield f"the files of release {name} were digested under another key, so they cannot be compared"
            continue
        other = sorted(
            label for label, file in before.keys() | after.keys() if before.get((label, file)) != after.get((label, file))
        )
        if other:
            yield f"release {name} reads other data: {', '.join(dict.fromkeys(other))}"
