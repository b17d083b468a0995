#!/bin/sh
# Makes docs/lifecycle.md and model/lifecycle.pml.inc from model/*.def; --check fails when they are stale.
exec python3 "$(dirname "$0")/model.py" "$@"
