"""What a release tells beside releases of the same persons that were published before."""
