"""Synthesis under differential privacy: methods that see noisy answers and public domains, never a row or an exact count."""
