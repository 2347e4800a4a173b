"""Jinja2 templates, one an output file."""
