#!/bin/sh
# Writes a line of a ledger. Delivered twice, there are two lines.
set -eu
amount=$(sed -n 's/.*"amount": \([0-9][0-9]*\).*/\1/p' "$1")
[ -n "$amount" ] || { echo "no amount in the payload" >&2; exit 1; }
echo "charge $amount" >>"$JOBQ_OUTPUT_DIR/ledger.txt"
echo "noted $amount"
