"""The native Python rules under the names of rules_python."""

py_binary = native.py_binary
py_library = native.py_library
