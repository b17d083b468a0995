#!/bin/sh
# Makes docs/lifecycle.md from model/*.def; --check fails when it is stale.
exec python3 "$(dirname "$0")/model.py" "$@"
