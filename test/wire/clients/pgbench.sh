#!/bin/sh
# pgbench: fills its tables, then plays its bank in each way that it can send statements.
url=$1
step() {
  name=$1
  shift
  if why=$("$@" 2>&1); then echo "ok $name"; else echo "not ok $name: $(echo "$why" | grep -iE 'error|fatal|abort' | head -1)"; fi
}
play() {
  out=$(pgbench -n -M "$1" -c 4 -j 2 -t 25 "$url" 2>&1) || { echo "$out"; return 1; }
  echo "$out" | grep -q 'actually processed: 100/100' || { echo "error: $out"; return 1; }
}
step fill pgbench -i -q "$url"
for how in simple extended prepared; do step "$how" play "$how"; done
