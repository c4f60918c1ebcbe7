#!/bin/sh
# What it starts it also ends.
set -eu
(while :; do sleep 60; done) >/dev/null 2>&1 &
watcher=$!
kill "$watcher"
wait "$watcher" 2>/dev/null || true
echo "the watcher ran"
