#!/bin/sh
# Fetches a page, and says what went wrong.
set -eu
curl --silent --show-error --fail --max-time 2 https://pages.example.test/today \
  >"$JOBQ_OUTPUT_DIR/page.part"
mv -f "$JOBQ_OUTPUT_DIR/page.part" "$JOBQ_OUTPUT_DIR/page"
