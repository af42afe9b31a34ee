"""Synthetic data for the example policies, and the demonstration that runs them."""
