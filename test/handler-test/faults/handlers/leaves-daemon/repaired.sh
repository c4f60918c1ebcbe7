#!/bin/sh
# What it starts it also ends, itself: ending a shell would leave what that shell had started.
set -eu
sleep 60 >/dev/null 2>&1 &
watcher=$!
kill "$watcher"
wait "$watcher" 2>/dev/null || true
echo "the watcher ran"
