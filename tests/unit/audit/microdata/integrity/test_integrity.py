from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from privrelease.audit.document.model import Outcome, Visibility
from privrelease.audit.microdata.integrity.checks import MICRODATA_CHECKS, integrity
from privrelease.audit.microdata.integrity.rows import most_droppable
from privrelease.disclosure.classes.equivalence_classes import ClassTable
from privrelease.disclosure.risk.thresholds import Thresholds
from privrelease.engine.protocol.audit import LeftRows, PersonClasses, SameCells, TokenFacts
from privrelease.engine.protocol.base import ColumnChange, RowMapFaults
from privrelease.plan.model import SuppressStep, ThreatPlan
from privrelease.relational.schema import ColumnType
from privrelease.relational.treatments import AsIs


def unsound(evidence):
    return {check.id for check in integrity(evidence) if check.outcome in {Outcome.FAIL, Outcome.NOT_EVALUATED}}


def result(evidence, check_id):
    return next(check for check in integrity(evidence) if check.id == check_id)


def test_a_sound_release_passes_every_check(made):
    assert unsound(made.evidence()) == set()


def test_ids_and_codes_name_one_check_each():
    assert (
        len({check.id for check in MICRODATA_CHECKS})
        == len({check.code for check in MICRODATA_CHECKS})
        == len(MICRODATA_CHECKS)
    )


def test_a_missing_or_unreadable_file_fails(made):
    sound = made.evidence()
    shut = replace(sound.files[1], released=None, refused="D103", differs=None)
    assert "AUDIT-FILES" in unsound(replace(sound, files=(sound.files[0], shut)))
    lacking = replace(sound, files=sound.files[:1])
    assert "AUDIT-FILES" in unsound(lacking)
    elsewhere = replace(lacking, target=replace(lacking.target, run=None, manifest=None))
    assert unsound(elsewhere) == {"AUDIT-DIGEST"}


def test_anything_in_a_file_besides_its_rows_fails(made):
    sound = made.evidence()
    marked = replace(sound.files[0], leftovers=("metadata author",))
    assert unsound(replace(sound, files=(marked, sound.files[1]))) == {"AUDIT-LEFTOVER"}


def test_an_altered_file_or_one_that_the_manifest_does_not_name_fails(made):
    sound = made.evidence()
    altered = replace(sound.files[1], sha256="cd" * 32)
    assert unsound(replace(sound, files=(sound.files[0], altered))) == {"AUDIT-DIGEST"}


@pytest.mark.parametrize("change", ["more", "fewer", "order", "name"])
def test_other_columns_than_planned_fail(made, change):
    sound = made.evidence()
    columns = list(sound.main.columns)
    spoilt = {
        "more": [*columns, ("extra", ColumnType.STRING)],
        "fewer": columns[:-1],
        "order": columns[::-1],
        "name": [*columns[:-1], ("Score", ColumnType.INTEGER)],
    }[change]
    csv = replace(sound.files[1], released=replace(sound.files[1].released, columns=tuple(spoilt)))
    assert "AUDIT-COLUMNS" in unsound(replace(sound, files=(sound.files[0], csv)))


def test_another_type_fails(made):
    sound = made.evidence()
    columns = (*sound.main.columns[:-1], ("score", ColumnType.NUMBER))
    csv = replace(sound.files[1], released=replace(sound.files[1].released, columns=columns))
    assert unsound(replace(sound, files=(sound.files[0], csv))) == {"AUDIT-TYPES"}


def test_files_that_differ_in_a_row_fail(made):
    sound = made.evidence()
    assert unsound(replace(sound, files=(sound.files[0], replace(sound.files[1], differs=1)))) == {"AUDIT-SAME"}


def test_files_that_could_not_be_compared_do_not_pass(made):
    sound = made.evidence()
    assert unsound(replace(sound, files=(sound.files[0], replace(sound.files[1], differs=None)))) == {"AUDIT-SAME"}


@pytest.mark.parametrize("place", range(4))
def test_a_row_map_that_is_no_injection_into_the_source_fails(made, place):
    faults = RowMapFaults(*(int(place == number) for number in range(4)), 1)
    assert unsound(made.evidence(row_map=faults)) == {"AUDIT-ROWMAP"}


def test_a_row_more_or_less_than_stated_fails(made):
    sound = made.evidence()
    for rows in (4, 6):
        parquet = replace(sound.main, n_rows=rows)
        files = (replace(sound.files[0], released=parquet), sound.files[1])
        assert {"AUDIT-ROWS", "AUDIT-CLAIMS"} <= unsound(replace(sound, main=parquet, files=files))


def test_more_missing_rows_than_the_residual_rule_explains_fail(made):
    """One threat with k = 2 and no residual records left explains one row."""
    two = LeftRows(2, None, (("sex", 2), ("region", 2)))
    assert "AUDIT-DROPPED" in unsound(made.evidence(left=two))
    assert "AUDIT-DROPPED" in unsound(made.evidence(made.plan(suppress=None)))
    assert "AUDIT-DROPPED" in unsound(made.evidence(made.plan(suppress=SuppressStep(residual="keep"))))


def test_a_threat_that_still_has_residual_records_explains_no_dropped_row(made):
    plan = made.plan(
        ThreatPlan("a", ("sex",), Thresholds(highest=Fraction(1, 2))),
        ThreatPlan("b", ("region",), Thresholds(highest=Fraction(1, 4))),
    )
    assert most_droppable(made.evidence(plan)) == 1
    assert most_droppable(made.evidence(plan, after=made.table([[1, 1], [2, 1]], [3, 2]))) == 3


def test_persons_are_counted_where_one_has_several_rows(made):
    """Three missing rows of one person are one person: within k - 1 = 1."""
    assert "AUDIT-DROPPED" not in unsound(made.evidence(left=LeftRows(3, 1, (("sex", 3), ("region", 3)))))


@pytest.mark.parametrize(("field", "check"), [("changed", "AUDIT-CHANGED"), ("invented", "AUDIT-INVENTED")])
def test_one_changed_or_invented_cell_fails(made, field, check):
    sound = made.evidence()
    spoilt = replace(sound.changes[1], equal=3, **{field: 1})
    evidence = replace(sound, changes=(sound.changes[0], spoilt, sound.changes[2]))
    assert unsound(evidence) == {check}
    assert "region" in result(evidence, check).message


def test_a_cell_that_went_missing_in_an_unprotected_column_fails(made):
    sound = made.evidence()
    score = ColumnChange("score", 4, 1, 0, 0)
    assert "AUDIT-NULLED" in unsound(replace(sound, changes=(*sound.changes[:2], score)))


def test_a_cell_that_went_missing_without_a_suppression_step_fails(made):
    assert "AUDIT-NULLED" in unsound(made.evidence(made.plan(suppress=None)))


def test_lost_cells_count_those_of_dropped_rows_against_the_limit(made):
    """3 of 12 cells: one suppressed, two of the dropped row; a limit of 1/4 holds exactly."""
    assert result(made.evidence(), "AUDIT-LIMIT").observed.exact == "1/4"
    over = made.evidence(made.plan(suppress=SuppressStep(limit=Fraction(6, 25))))
    assert unsound(over) == {"AUDIT-LIMIT"}
    assert "1 cell more was lost" in result(over, "AUDIT-LIMIT").message
    first, *rest = over.changes
    whole = replace(over, changes=(replace(first, equal=3, nulled=0), *rest))  # no cell of sex is lost, two of region
    assert "sex" not in result(replace(whole, left=LeftRows(3, 3, (("region", 3),))), "AUDIT-LIMIT").message


def test_counts_that_the_run_states_wrongly_fail(made):
    sound = made.evidence()
    changes = (ColumnChange("sex", 4, 1, 0, 0), *sound.changes[1:])
    claims = result(replace(sound, changes=changes), "AUDIT-CLAIMS")
    assert claims.outcome is Outcome.FAIL
    assert "suppressed.sex" in claims.message


def test_a_residual_group_below_k_fails_where_the_policy_drops_it(made):
    plan = made.plan(ThreatPlan("outsider", ("sex", "region"), Thresholds(highest=Fraction(1, 4))))
    after = made.table([[0, 0], [1, 1]], [3, 4])
    assert "AUDIT-RESIDUAL" in unsound(made.evidence(plan, after=after))
    kept = made.evidence(replace(plan, suppress=SuppressStep(residual="keep")), after=after)
    assert result(kept, "AUDIT-RESIDUAL").outcome is Outcome.WARN
    assert "AUDIT-RESIDUAL" not in unsound(made.evidence(plan, after=made.table([[0, 0], [1, 1]], [4, 4])))


def test_a_residual_group_of_one_person_with_many_rows_is_one_person(made):
    classes = ClassTable(
        ("sex", "region"),
        np.array([[0, 0], [1, 1]], np.int32),
        np.array([5, 2]),
        pairs_class=np.array([0, 1, 1], np.uint32),
        pairs_person=np.array([0, 0, 1], np.uint32),
    )
    evidence = made.evidence(person_after=PersonClasses(classes, np.array([5, 1, 1])))
    assert evidence.residual(("sex", "region")) == 1
    assert "AUDIT-RESIDUAL" in unsound(evidence)


def test_rows_out_of_order_fail_and_the_order_of_the_source_warns(made):
    assert unsound(made.evidence(order_breaks=2)) == {"AUDIT-ORDER"}
    assert result(made.evidence(made.plan(order="source"), order_breaks=None), "AUDIT-ORDER").outcome is Outcome.WARN


def test_a_direct_identifier_in_a_file_fails(made):
    plan = made.plan()
    plain = replace(plan, columns=(replace(plan.columns[0], treatment=AsIs()), *plan.columns[1:]))
    assert "AUDIT-DIRECT" in unsound(made.evidence(plain))


def test_a_direct_identifier_under_another_name_fails(made):
    assert unsound(made.evidence(same=(SameCells("id", "score", 5, 3),))) == {"AUDIT-HIDDEN"}
    assert unsound(made.evidence(same=(SameCells("id", "score", 5, 2, 1),))) == set()


def test_a_direct_identifier_in_more_cells_than_chance_gives_fails_and_in_a_few_warns(made):
    """Where no two rows share an identifier one row is expected to agree: ten or more are one chance in a million."""
    assert unsound(made.evidence(same=(SameCells("id", "sex", 1000, 10, 1),))) == {"AUDIT-HIDDEN"}
    assert unsound(made.evidence(same=(SameCells("id", "sex", 1000, 60, 40),))) == set()
    assert result(made.evidence(same=(SameCells("id", "sex", 1000, 1, 1),)), "AUDIT-HIDDEN").outcome is Outcome.WARN


@pytest.mark.parametrize(
    "facts",
    [
        TokenFacts("id", 5, 5, 5, 0, 0, 1),
        TokenFacts("id", 5, 5, 5, 0, 1, 0),
        TokenFacts("id", 5, 5, 5, 1, 0, 0),
        TokenFacts("id", 5, 5, 6, 0, 0, 0),
        TokenFacts("id", 5, 4, 5, 0, 0, 0),
        TokenFacts("id", 4, 5, 5, 0, 0, 0),
    ],
)
def test_pseudonyms_that_are_plain_hashes_or_not_one_to_one_fail(made, facts):
    assert unsound(made.evidence(tokens=(facts,))) == {"AUDIT-PSEUDONYM"}


def test_what_was_never_handed_over_is_excused_only_for_a_file_from_elsewhere(made):
    sound = made.evidence()
    bare = replace(sound.target, manifest=None, internal=None, row_map=None)
    unmeasured = {"row_map": None, "left": None, "changes": None, "tokens": None, "same": None}
    ours = replace(sound, target=bare, **unmeasured)
    assert all(check.severity == "error" for check in integrity(ours))
    foreign = replace(ours, target=replace(bare, run=None))
    unseen = [check for check in integrity(foreign) if check.outcome is Outcome.NOT_EVALUATED]
    assert {check.severity for check in unseen} == {"warn"}
    assert {"AUDIT-DIGEST", "AUDIT-ROWMAP", "AUDIT-CHANGED", "AUDIT-PSEUDONYM"} <= {check.id for check in unseen}


def test_an_empty_release_does_not_pass(made):
    sound = made.evidence()
    assert "AUDIT-RECORDS" in unsound(replace(sound, main=replace(sound.main, n_rows=0)))


def test_failures_are_internal_and_no_passing_sentence_counts_the_source(made):
    for check in integrity(made.evidence()):
        assert check.visibility is Visibility.RECIPIENT
        assert not any(character.isdigit() for character in check.message.replace("SHA-256", ""))
        assert check.observed is None or check.observed.visibility is Visibility.INTERNAL
    spoilt = made.evidence(order_breaks=2)
    assert result(spoilt, "AUDIT-ORDER").visibility is Visibility.INTERNAL
