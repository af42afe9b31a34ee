"""Legal fields: what the record of processing (Art. 30 GDPR), the lawfulness statement and the DPIA need."""

from typing import Annotated, Literal
from unicodedata import normalize

from pydantic import BeforeValidator, Discriminator, Tag, WithJsonSchema

from privrelease.policy.changes import governance_changes as words
from privrelease.policy.changes.directions import promised, reached
from privrelease.policy.language.keys import Judged, Stricter
from privrelease.policy.language.values import CHOICE, Day, Duration, Flag, Frozen, Identifier, Text
from privrelease.policy.text.messages import problem, shown

__all__ = [
    "Basis",
    "Contact",
    "Dpia",
    "DpiaMeasure",
    "DpiaRisk",
    "DpoAdvice",
    "Legal",
    "Levels",
    "Notice",
    "PlannedAction",
    "PriorConsultation",
    "Processor",
    "Purpose",
    "Recipient",
    "Retention",
    "Rights",
    "Transfer",
    "folded_name",
]


def _country(value: object) -> object:
    text = str(value) if isinstance(value, str) else ""
    if len(text) == 2 and text.isascii() and text.isalpha() and text.isupper():
        return text
    message = f"must be a country code of two capitals (ISO 3166-1), got {shown(value)}"
    raise problem(message)


Country = Annotated[str, BeforeValidator(_country), WithJsonSchema({"type": "string", "pattern": "^[A-Z]{2}$"})]


class Contact(Frozen):
    """A name and how to reach it."""

    name: Text
    """Name of the person or body."""
    contact: Text | None = None
    """Address, mail or telephone."""


class Purpose(Frozen):
    """The purposes for which the data is processed."""

    id: Identifier
    """Name of the purpose."""
    dpv: Text | None = None
    """Term of the W3C Data Privacy Vocabulary."""
    text: Text | None = None
    """The purpose in words."""


class Basis(Frozen):
    """Why the processing is lawful."""

    art6: Annotated[Text | None, Judged(words.ground)] = None
    """Letter of Art. 6(1) GDPR, such as A6-1-e."""
    art9: Annotated[Text | None, Judged(words.ground)] = None
    """Letter of Art. 9(2) GDPR, such as A9-2-j."""
    national_law: Text | None = None
    """The national law it rests on."""


def folded_name(name: str) -> str:
    """Return a recipient's name without what does not tell two apart: case, compatibility forms, spaces.

    >>> folded_name(" The  LAB ") == folded_name("the lab")
    True
    """
    return " ".join(normalize("NFKC", name).casefold().split())


class Recipient(Frozen):
    """A recipient of the data."""

    name: Text
    """Name of the recipient or category of recipients."""
    id: Identifier | None = None
    """The id by which releases name it in their `recipients`."""
    country: Country | None = None
    """The country of the recipient."""
    access: Text | None = None
    """The form of access, such as secure_environment."""


class Transfer(Frozen):
    """A transfer to a third country."""

    country: Country
    """The country to which the data is transferred."""
    recipient: Text | None = None
    """The recipient."""
    safeguard: Text | None = None
    """Adequacy decision, standard clauses or another safeguard (Art. 44-49 GDPR)."""


class Retention(Frozen):
    """Limits of storage, as ISO 8601 durations."""

    source: Annotated[Duration | None, Judged(words.kept)] = None
    """The time for which the source is kept."""
    release: Annotated[Duration | None, Judged(words.kept)] = None
    """The time for which the release is kept."""


class Notice(Frozen):
    """The information of data subjects (Art. 13 and 14 GDPR)."""

    ref: Text | None = None
    """The place of the notice."""
    exemption: Annotated[Text | None, Judged(words.claimed)] = None
    """The exemption that applies, such as art14-5-b."""


class Processor(Frozen):
    """A processor (Art. 28 GDPR)."""

    name: Text
    """Name of the processor."""
    contact: Text | None = None
    """Address, mail or telephone."""
    country: Country | None = None
    """Country of the processor."""
    task: Text | None = None
    """Its task on behalf of the controller."""


class Rights(Frozen):
    """Exercise of the rights of data subjects, or the reason why one does not apply (Art. 15 to 21 GDPR)."""

    access: Text | None = None
    """Access to the data (Art. 15)."""
    rectification: Text | None = None
    """Correction of the data (Art. 16)."""
    erasure: Text | None = None
    """Erasure of the data (Art. 17)."""
    restriction: Text | None = None
    """Restriction of the processing (Art. 18)."""
    portability: Text | None = None
    """Portability of the data (Art. 20)."""
    objection: Text | None = None
    """Objection to the processing (Art. 21)."""


class DpoAdvice(Frozen):
    """The advice of the data protection officer (Art. 35(2) GDPR)."""

    text: Text
    """The advice."""
    followed: Annotated[Flag, Judged(words.followed)]
    """True where the advice was followed."""
    author: Text | None = None
    """The person or body that gave it."""
    date: Day | None = None
    """The day on which it was given."""


Level = Annotated[Literal["negligible", "limited", "significant", "maximum"], CHOICE]


class Levels(Frozen):
    """A level before and after the measures, on the scale of CNIL's PIA."""

    before: Level
    """Without the measures."""
    after: Level
    """With the measures."""


class DpiaRisk(Frozen):
    """A risk to the rights and freedoms of data subjects, as it was assessed."""

    text: Text
    """The risk."""
    likelihood: Levels | None = None
    """Its likelihood."""
    severity: Levels | None = None
    """Its severity for the persons."""
    measures: tuple[Identifier, ...] = ()
    """The measures that meet it, by their ids."""


class DpiaMeasure(Frozen):
    """A measure that risks name."""

    id: Identifier
    """The name by which risks refer to it."""
    text: Text
    """The measure."""


class PlannedAction(Frozen):
    """A step that is still to be taken."""

    text: Text
    """The step."""
    by: Day
    """The day by which it is done."""
    owner: Text | None = None
    """The person or body that takes it."""


class PriorConsultation(Frozen):
    """A consultation of the supervisory authority before the processing (Art. 36 GDPR)."""

    authority: Text
    """The authority."""
    date: Day | None = None
    """The day of the consultation."""
    outcome: Text | None = None
    """The answer of the authority."""


def _as_entry(value: object) -> str:
    """The variant of an entry: words, or a mapping."""
    return "<described>" if isinstance(value, dict | DpiaRisk | DpiaMeasure) else "<words>"


_Risk = Annotated[Annotated[DpiaRisk, Tag("<described>")] | Annotated[Text, Tag("<words>")], Discriminator(_as_entry)]
_Measure = Annotated[Annotated[DpiaMeasure, Tag("<described>")] | Annotated[Text, Tag("<words>")], Discriminator(_as_entry)]


class Dpia(Frozen):
    """Data protection impact assessment (Art. 35(7) GDPR)."""

    description: Text | None = None
    """Systematic description of the processing."""
    legitimate_interest: Text | None = None
    """The legitimate interest pursued, where the basis is A6-1-f."""
    necessity: Text | None = None
    """Necessity and proportionality."""
    risks: Annotated[tuple[_Risk, ...], Judged(promised)] = ()
    """Risks to the rights and freedoms of data subjects: each in words, or as a mapping with levels and measures."""
    measures: Annotated[tuple[_Measure, ...], Judged(promised)] = ()
    """Measures against these risks: each in words, or with an id that risks name."""
    action_plan: Annotated[tuple[PlannedAction, ...], Judged(promised)] = ()
    """Steps that are still to be taken."""
    dpo_advice: DpoAdvice | None = None
    """Advice of the data protection officer."""
    views: Text | None = None
    """Views of data subjects or their representatives, or why they were not sought (Art. 35(9) GDPR)."""
    prior_consultation: PriorConsultation | None = None
    """Consultation of the supervisory authority (Art. 36 GDPR); null says that none is needed."""


class Legal(Frozen):
    """Fields of the record of processing, of lawfulness and of the DPIA."""

    profile: Annotated[Annotated[Literal["gdpr"], CHOICE] | None, Stricter.SET, Judged(words.newly)] = None
    """The law whose fields are required: a missing one means review, not pass."""
    controller: Contact | None = None
    """The controller."""
    joint_controllers: Annotated[tuple[Contact, ...] | None, Judged(words.shared)] = None
    """Joint controllers; an empty list says that there are none."""
    representative: Contact | None = None
    """The controller's representative in the Union; null says that there is none."""
    dpo: Contact | None = None
    """The data protection officer; null says that there is none."""
    processors: Annotated[tuple[Processor, ...] | None, Judged(words.shared)] = None
    """Processors (Art. 28 GDPR); an empty list says that there are none."""
    purposes: Annotated[tuple[Purpose, ...], Judged(words.described)] = ()
    """Purposes of the processing."""
    basis: Basis | None = None
    """Legal basis."""
    data_subjects: Annotated[tuple[Text, ...], Judged(words.described)] = ()
    """Categories of data subjects."""
    data_categories: Annotated[tuple[Text, ...], Judged(words.described)] = ()
    """Categories of personal data."""
    recipients: Annotated[tuple[Recipient, ...] | None, Judged(reached)] = None
    """Recipients; an empty list says that there are none."""
    transfers: Annotated[tuple[Transfer, ...] | None, Judged(reached)] = None
    """Transfers to third countries; an empty list says that there are none."""
    retention: Retention | None = None
    """Limits of storage."""
    security_measures: Annotated[tuple[Text, ...] | None, Judged(promised)] = None
    """Technical and organisational measures (Art. 32 GDPR)."""
    notice: Notice | None = None
    """Information of data subjects."""
    rights: Rights | None = None
    """Exercise of the rights of data subjects (Art. 15 to 21 GDPR)."""
    safeguards: Annotated[Text | None, Judged(words.newly)] = None
    """Safeguards of research and statistics (Art. 89(1) GDPR)."""
    dpia: Dpia | None = None
    """The data protection impact assessment."""
