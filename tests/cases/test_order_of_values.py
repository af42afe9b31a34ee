"""Cases k14 and w06: ordered distance follows the declared domain, and every result names what was compared, and how."""

from __future__ import annotations

import shutil

import pytest

K14 = "k14-order-of-a-category"
W06 = "w06-order-of-categories"


def use(case, *changes):
    """Write the policy of the case, changed."""
    text = (case.expected.parent / "policy.yaml").read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (case.folder / "policy.yaml").write_text(text, encoding="utf-8")


def check(case, name):
    return next(one for one in case.audit()["checks"] if one["id"] == name)


@pytest.mark.case(K14)
def test_a_category_is_ordered_as_its_domain_is(case):
    use(case)
    ran = case("run", "policy.yaml")
    assert ran.code == 1, ran.err
    assert check(case, "T")["observed"]["exact"] == "1/3"
    assert "t_closeness of sev (distance ordered as in the domain, known values) is 33.3333 %" in ran.err
    assert not (case.folder / "out" / "two.csv").exists()


@pytest.mark.case(K14)
def test_integers_give_the_same_figure(case):
    shutil.copy(case.folder / "integers.csv", case.folder / "input.csv")
    use(case, ("sensitive, type: category, domain: [low, mid, high]", "sensitive, type: integer"))
    assert case("run", "policy.yaml").code == 1
    assert check(case, "T")["observed"]["exact"] == "1/3"


@pytest.mark.case(K14)
@pytest.mark.parametrize(
    ("names", "exact"),
    [
        (("high", "low", "mid"), "1/3"),
        (("Z", "a", "Ä"), "1/3"),  # neither the alphabet nor the code points give this order
        (("mid", "high", "low"), "1/3"),
    ],
)
def test_the_names_of_the_values_do_not_matter(case, names, exact):
    words = dict(zip(("low", "mid", "high"), names, strict=True))
    text = (case.folder / "input.csv").read_text(encoding="utf-8").splitlines()
    rows = [f"{line.split(',')[0]},{words[line.split(',')[1]]}" for line in text[1:]]
    (case.folder / "input.csv").write_text("\n".join([text[0], *rows]) + "\n", encoding="utf-8")
    use(case, ("[low, mid, high]", f"[{', '.join(names)}]"))
    assert case("run", "policy.yaml").code == 1
    assert check(case, "T")["observed"]["exact"] == exact


@pytest.mark.case(K14)
def test_the_order_of_the_domain_does(case):
    use(case, ("[low, mid, high]", "[high, low, mid]"))  # the alphabet
    assert case("run", "policy.yaml").code == 0
    assert check(case, "T")["outcome"] == "pass"


@pytest.mark.case(K14)
def test_values_that_do_not_occur_have_no_place(case):
    use(case, ("[low, mid, high]", "[none, low, rather low, mid, high, extreme]"))
    assert case("run", "policy.yaml").code == 1
    assert check(case, "T")["observed"]["exact"] == "1/3"


@pytest.mark.case(K14)
def test_without_a_declared_order_it_is_refused(case):
    use(case, (", domain: [low, mid, high]", ""))
    ran = case("validate", "policy.yaml")
    assert ran.code == 2
    assert "P540 sev has no declared order" in ran.out + ran.err
    use(case, (", domain: [low, mid, high]", ""), ("distance: ordered", "distance: equal"))
    assert case("validate", "policy.yaml").code == 0


@pytest.mark.case(K14)
def test_listed_integers_declare_their_distance(case):
    shutil.copy(case.folder / "integers.csv", case.folder / "input.csv")
    integers = ("type: category, domain: [low, mid, high]", "type: integer, domain: [1, 2, 3]")
    use(case, integers, (", distance: ordered", ""))
    ran = case("validate", "policy.yaml")
    assert ran.code == 2
    assert "P541" in ran.out + ran.err
    use(case, integers, ("distance: ordered", "distance: equal"))
    assert case("run", "policy.yaml").code == 1
    assert check(case, "T")["observed"]["exact"] == "1/3"  # half of 2/3 - 1/3, 0 and 1/3
    assert "(distance equal, known values)" in check(case, "T")["message"]


@pytest.mark.case(K14)
def test_an_external_file_with_another_value_is_not_measured(case):
    use(case)
    (case.folder / "other.csv").write_text("cls,sev\nx,low\nx,mid\ny,high\ny,worse\n", encoding="utf-8")
    ran = case("audit", "policy.yaml", "--release", "rows", "--file", "other.csv", "--no-source")
    assert ran.code != 0
    assert "outside the declared domain" in ran.out + ran.err


@pytest.mark.case(K14)
def test_figures_that_would_print_alike_have_more_digits(case):
    use(case, ("max: 0.2", "max: 0.333333333"))
    ran = case("run", "policy.yaml")
    assert ran.code == 1
    assert "is 33.33333333 %; the policy asks for at most 33.3333333 %" in ran.err


@pytest.mark.case(W06)
def test_stages_of_a_disease_are_ordered_as_declared(case):
    use(case)
    assert case("run", "policy.yaml").code == 1
    assert check(case, "T-1")["observed"]["exact"] == "1/3"


@pytest.mark.case(W06)
def test_the_shift_of_a_distribution_is_ordered_as_declared(case):
    """10/4/3/10 of which mild and moderate are suppressed. Cumulated shares before: 10/27, 14/27, 17/27; after: 1/2 each: 10/27 - 1/2 = -7/54."""
    stages = [("none", 10), ("mild", 4), ("moderate", 3), ("severe", 10)]
    rows = "".join(f"A,{stage}\n" * times for stage, times in stages)
    (case.folder / "input.csv").write_text("ward,stage\n" + rows, encoding="utf-8")
    use(
        case,
        ("stage: {role: sensitive", "stage: {role: quasi"),
        ("knows: [ward], highest_risk: 0.5", "knows: [stage], highest_risk: 0.2"),
        ("protect: [t],", "protect: [t], transform: [{suppress: cells, residual: keep}],"),
        ("expect: t_closeness", "expect: distribution_shift"),
        ("max: 0.25", "max: 0.1"),
    )
    ran = case("run", "policy.yaml")
    assert ran.code == 1, ran.err
    assert check(case, "T-1")["observed"]["exact"] == "7/54"
    assert "distribution_shift of stage (distance ordered as in the domain, known values) is 12.963 %" in ran.err
