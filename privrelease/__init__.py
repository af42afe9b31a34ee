"""privrelease: policy-as-code for releasing personal data."""

__version__ = "0.1.0"
