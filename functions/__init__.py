"""The YAML operator catalogues."""
