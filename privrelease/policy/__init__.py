"""The policy language: strict YAML with places, frozen models, references and meaning checked once, at the edge."""
