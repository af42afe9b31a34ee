"""Writing of outputs: released rows, pseudonyms and files whose bytes repeat."""
