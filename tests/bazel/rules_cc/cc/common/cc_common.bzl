"""The native cc_common under the name of rules_cc."""

load(":native.bzl", "NATIVE")

cc_common = NATIVE
