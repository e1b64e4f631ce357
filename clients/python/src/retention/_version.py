# Of this package, as in pyproject.toml.
VERSION = "1.0.0"
