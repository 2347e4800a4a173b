"""A file cannot give a symbol of its own the name of a native one that it reads: two files."""

NATIVE = cc_common  # buildifier: disable=native-cc-common
