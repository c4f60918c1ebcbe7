#!/bin/sh
# Starts a watcher and leaves it behind.
set -eu
(while :; do sleep 60; done) >/dev/null 2>&1 &
echo "the watcher runs"
