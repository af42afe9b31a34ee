"""The auditor: trusts nothing the executor says, recomputes every guarantee from what is about to be published."""
