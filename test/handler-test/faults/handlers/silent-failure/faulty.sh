#!/bin/sh
# Fetches a page. When that fails, nobody learns why.
set -eu
curl --silent --fail --max-time 2 https://pages.example.test/today >"$JOBQ_OUTPUT_DIR/page.part"
mv -f "$JOBQ_OUTPUT_DIR/page.part" "$JOBQ_OUTPUT_DIR/page"
