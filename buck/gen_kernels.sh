#!/bin/sh
exec gen-kernels "$@"
