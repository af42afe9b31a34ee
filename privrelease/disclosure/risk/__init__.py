"""Risk measures, one file each, and the thresholds that they are compared with."""
