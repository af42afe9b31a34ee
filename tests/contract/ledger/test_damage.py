"""A ledger that is missing, torn, old or out of reach: a clear refusal, nothing spent, never a silent new one."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from privrelease.errors import BudgetError, UsageError
from privrelease.ledger.open import create_ledger, ledger_exists, open_ledger
from privrelease.ledger.verify import verify
from privrelease.units import Epsilon

# ------------------------------------------------------------------------------------------------------- not there, or not readable


def test_a_missing_ledger_says_how_to_reach_it_and_none_is_made(tmp_path) -> None:
    with pytest.raises(BudgetError) as refused:
        open_ledger("sqlite:///gone.db", folder=tmp_path)
    assert refused.value.exit_code == 4
    assert str(refused.value).startswith(
        f"L102 there is no ledger at {tmp_path}/gone.db\nhint: if nothing was ever spent on these persons, make it: `privrelease ledger init POLICY`"
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "content", [b"", b"no database at all, but text that is long enough", b"SQLite format 3\0" + b"\xff" * 4096]
)
def test_an_empty_or_garbled_file_is_refused_and_stays_as_it_is(tmp_path, content) -> None:
    (tmp_path / "ledger.db").write_bytes(content)
    with pytest.raises(BudgetError, match="L103"):
        open_ledger("sqlite:///ledger.db", folder=tmp_path)
    assert (tmp_path / "ledger.db").read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.db"]


def test_a_database_of_something_else_is_no_ledger(tmp_path) -> None:
    with sqlite3.connect(tmp_path / "ledger.db") as other:
        other.execute("CREATE TABLE t (a)")
    with pytest.raises(BudgetError, match="L103"):
        open_ledger("sqlite:///ledger.db", folder=tmp_path)


def test_a_torn_file_is_refused(filled) -> None:
    if filled.kind != "sqlite":
        pytest.skip("a server tears its own files")
    path = filled.folder / "ledger.db"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(BudgetError, match=r"L103|L110"):
        filled.open()


READ_ONLY = """
import os, sys
from pathlib import Path
from conftest import count_claim
from privrelease.errors import BudgetError
from privrelease.ledger.open import open_ledger
open_ledger("sqlite:///ledger.db", folder=Path(sys.argv[1]))  # imports all that is needed
if os.geteuid() == 0:
    os.setgid(65534); os.setuid(65534)
ledger = open_ledger("sqlite:///ledger.db", folder=Path(sys.argv[1]))
print(ledger.balance("patients").spent.epsilon)
try:
    ledger.reserve(count_claim("0.1"))
except BudgetError as error:
    print(error.exit_code, error.code, error.hint)
"""


def test_a_read_only_ledger_can_be_looked_at_and_not_spent_from(claim, budget) -> None:
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        create_ledger(
            "sqlite:///ledger.db", populations={"patients": budget("1")}, datasets={"visits": "patients"}, folder=folder
        )
        open_ledger("sqlite:///ledger.db", folder=folder).reserve(claim("0.1"))
        (folder / "ledger.db").chmod(0o444)
        folder.chmod(0o555)
        done = subprocess.run(
            [sys.executable, "-c", READ_ONLY, str(folder)],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parent), "PYTHONDONTWRITEBYTECODE": "1"},
        )
        assert done.stdout.splitlines() == [
            "0.1",
            "4 L104 make its file and folder writable; nothing was spent",
        ], done.stderr
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


def test_a_server_that_cannot_be_reached_is_told_without_its_password(monkeypatch) -> None:
    pytest.importorskip("psycopg")
    secret = {"LEDGER_URL": "postgresql://dpo:made-up-secret@127.0.0.1:9/ledger"}
    with pytest.raises(BudgetError) as refused:
        open_ledger("LEDGER_URL", environment=secret)
    assert refused.value.code == "L107"
    assert "made-up-secret" not in str(refused.value) + repr(refused.value.__cause__)
    assert "the URL in LEDGER_URL" in str(refused.value)
    with pytest.raises(BudgetError, match="L106 the environment variable LEDGER_URL"):
        open_ledger("LEDGER_URL", environment={})
    for nonsense in ("ledger.db", "mysql://db/ledger", "sqlite:///", "sqlite:///a?mode=memory"):
        with pytest.raises(BudgetError, match="L106"):
            open_ledger(nonsense)


def test_an_existing_ledger_is_never_made_anew(durable, claim) -> None:
    durable.create("1")
    durable.open().reserve(claim("0.6"))
    with pytest.raises(UsageError, match="L125"):
        durable.create("1")
    assert durable.open().balance("patients").spent.epsilon == Epsilon("0.6")
    assert ledger_exists(durable.url, folder=durable.folder)
    assert not [path.name for path in durable.folder.iterdir() if path.name != "ledger.db"]


def test_an_unknown_population_or_dataset_has_no_budget(durable, claim) -> None:
    durable.create("1")
    ledger = durable.open()
    with pytest.raises(BudgetError, match="L114 the ledger has no budget for population strangers"):
        ledger.reserve(claim("0.1", population="strangers"))
    with pytest.raises(BudgetError, match="L114 the ledger does not know dataset renamed"):
        ledger.reserve(claim("0.1", dataset="renamed"))
    assert ledger.head().sequence == 0


# --------------------------------------------------------------------------------------------------------------- caps and clock


def test_the_stricter_of_the_ledgers_and_the_policys_cap_holds(durable, claim, budget) -> None:
    durable.create("1", "1e-5")
    lower, higher = durable.open(cap=budget("0.5", "1e-5")), durable.open(cap=budget("9", "0.1"))
    lower.reserve(claim("0.4"))
    with pytest.raises(BudgetError, match=r"of the policy's cap, epsilon 0\.5"):
        lower.reserve(claim("0.2"))
    higher.reserve(claim("0.2"))
    with pytest.raises(BudgetError, match="of the ledger's cap, epsilon 1"):
        higher.reserve(claim("0.5"))
    assert lower.balance("patients").cap == budget("0.5", "1e-5")
    assert higher.balance("patients").cap == budget("1", "1e-5")


def test_a_dataset_can_have_a_cap_of_its_own(tmp_path, claim, budget) -> None:
    create_ledger(
        "sqlite:///l.db",
        populations={"patients": budget("1")},
        datasets={"visits": "patients", "stays": "patients"},
        dataset_caps={"visits": budget("0.3")},
        folder=tmp_path,
    )
    ledger = open_ledger("sqlite:///l.db", folder=tmp_path)
    ledger.reserve(claim("0.3"))
    with pytest.raises(BudgetError, match="L120 the privacy budget of dataset visits"):
        ledger.reserve(claim("0.1"))
    ledger.reserve(claim("0.3", dataset="stays"))


def test_a_clock_that_goes_backwards_stops_everything(durable, claim, problems) -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    durable.create("1", clock=lambda: moment)
    durable.open(clock=lambda: moment + timedelta(hours=1)).reserve(claim("0.1"))
    late = durable.open(clock=lambda: moment)
    with pytest.raises(BudgetError, match="L113 the clock went backwards: entry 1 was written at 2026-01-02 04:04:05 UTC"):
        late.reserve(claim("0.1"))
    assert late.balance("patients").spent.epsilon == Epsilon("0.1")
    durable.open(clock=lambda: moment + timedelta(hours=1, seconds=-3)).reserve(claim("0.1"))  # clocks differ a little
    assert not problems(durable)


# -------------------------------------------------------------------------------------------------------------- raising the cap


def test_a_cap_is_raised_by_an_owners_signature_only_and_a_signature_is_good_once(durable, claim, budget) -> None:
    from privrelease.ledger.caps import CAP_STATEMENT, cap_statement
    from privrelease.pipeline.ledger import verified
    from privrelease.release.signing import SigningKey, sealed

    owner, stranger = SigningKey.generate(), SigningKey.generate()
    identity = durable.create("1", owners=[owner.public.pem])
    ledger = durable.open(verifier=verified)
    replaces = ledger.book().populations["patients"].entry

    def signed(key: SigningKey, epsilon: str, population: str = "patients", before: str = replaces, of: str = identity) -> str:
        return sealed(cap_statement(of, population, budget(epsilon), before), CAP_STATEMENT, [key]).decode()

    for envelope in (
        signed(stranger, "2"),
        signed(owner, "3"),
        signed(owner, "2", "employees"),
        signed(owner, "2", before="0" * 64),
        signed(owner, "2", of="another"),
        "no envelope",
    ):
        with pytest.raises(BudgetError, match="L124"):
            ledger.set_cap("patients", budget("2"), envelope)
    with pytest.raises(BudgetError, match="L120"):
        ledger.reserve(claim("2"))
    good = signed(owner, "2")
    ledger.set_cap("patients", budget("2"), good)
    with pytest.raises(BudgetError, match="L124"):
        ledger.set_cap("patients", budget("2"), good)
    ledger.reserve(claim("2"))
    with pytest.raises(BudgetError, match="L110"):
        durable.open()  # without somebody who checks signatures a raised cap counts for nothing
    assert not verify(durable.open(verifier=verified), verifier=verified).problems
    with pytest.raises(BudgetError, match="L124"):
        ledger.add_population("strangers", budget("2"))
    ledger.add_population("strangers", budget("2"), envelope=signed(owner, "2", "strangers", "0" * 64))


def test_without_owners_no_cap_can_be_raised(durable, budget) -> None:
    from privrelease.ledger.caps import CAP_STATEMENT, cap_statement
    from privrelease.pipeline.ledger import verified
    from privrelease.release.signing import SigningKey, sealed

    identity = durable.create("1")
    ledger = durable.open(verifier=verified)
    before = ledger.book().populations["patients"].entry
    envelope = sealed(cap_statement(identity, "patients", budget("2"), before), CAP_STATEMENT, [SigningKey.generate()]).decode()
    with pytest.raises(BudgetError, match="L124"):
        ledger.set_cap("patients", budget("2"), envelope)
    assert ledger.balance("patients").cap.epsilon == Epsilon(1)
    ledger.add_population("strangers", budget("2"))
    with pytest.raises(BudgetError, match="L124"):
        ledger.add_population("strangers", budget("3"))


# ----------------------------------------------------------------------------------------------------------------------- format


def test_a_newer_format_is_refused_and_an_unknown_older_one_too(durable, claim) -> None:
    durable.create("1")
    ledger = durable.open()
    from privrelease.ledger.tables import FORMAT

    for version in (FORMAT + 1, 0):
        durable.tamper(f"UPDATE privrelease_ledger SET format = {version}")
        with pytest.raises(BudgetError, match="L105"):
            durable.open()
        with pytest.raises(BudgetError, match="L105"):
            ledger.reserve(claim("0.1"))


def test_the_format_before_is_read_as_it_is_and_brought_up_by_the_first_entry(durable, claim) -> None:
    import sqlalchemy

    from privrelease.ledger.locations import place_of
    from privrelease.ledger.tables import FORMAT, LEDGER

    durable.create("1")
    durable.tamper("UPDATE privrelease_ledger SET format = 1")
    ledger = durable.open()
    engine = place_of(durable.url, durable.folder, os.environ).engine()

    def found():
        with engine.connect() as connection:
            return connection.execute(sqlalchemy.select(LEDGER.c.format)).scalar_one()

    assert (ledger.head().sequence, found()) == (0, 1)
    ledger.reserve(claim("0.1"))
    assert (ledger.head().sequence, found()) == (1, FORMAT)


def test_an_older_format_is_brought_up_step_by_step(durable) -> None:
    import sqlalchemy

    from privrelease.ledger.locations import place_of
    from privrelease.ledger.tables import LEDGER, migrate

    durable.create("1")
    engine = place_of(durable.url, durable.folder, os.environ).engine()
    steps = {
        1: lambda connection: connection.execute(sqlalchemy.text("ALTER TABLE privrelease_ledger ADD COLUMN a INTEGER")),
        2: lambda connection: connection.execute(sqlalchemy.text("UPDATE privrelease_ledger SET a = 7")),
    }
    with engine.begin() as connection:
        migrate(connection, 1, target=3, migrations=steps)
    with engine.begin() as connection:
        assert connection.execute(sqlalchemy.select(LEDGER.c.format)).scalar_one() == 3
        assert connection.execute(sqlalchemy.text("SELECT a FROM privrelease_ledger")).scalar_one() == 7


def test_a_server_that_does_not_keep_what_is_committed_is_not_charged(durable, claim) -> None:
    import sqlalchemy

    from privrelease.ledger.locations import place_of

    if durable.kind != "postgresql":
        pytest.skip("a file is flushed by the run itself")
    durable.create("1")
    ledger = durable.open()
    plain = sqlalchemy.create_engine(
        place_of(durable.url, durable.folder, os.environ).engine().url,
        isolation_level="AUTOCOMMIT",
        poolclass=sqlalchemy.pool.NullPool,
    )

    def fsync(value: str) -> None:
        with plain.connect() as connection:
            connection.execute(sqlalchemy.text(f"ALTER SYSTEM SET fsync = {value}"))
            connection.execute(sqlalchemy.text("SELECT pg_reload_conf()"))
        for _ in range(100):
            with plain.connect() as connection:
                if connection.execute(sqlalchemy.text("SHOW fsync")).scalar_one() == value:
                    return
            time.sleep(0.02)

    fsync("off")
    try:
        with pytest.raises(BudgetError, match="L128"):
            ledger.reserve(claim("0.1"))
    finally:
        fsync("on")
    ledger.reserve(claim("0.1"))
    assert ledger.balance("patients").spent.epsilon == Epsilon("0.1")
