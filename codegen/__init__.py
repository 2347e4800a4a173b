"""Catalogue, resolution, C++ types, rendering, output, diagnostics, command line."""
