"""The privacy-budget ledger: what each population may spend, what was spent, and the answers that were paid for."""
