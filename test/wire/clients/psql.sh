#!/bin/sh
# psql, one process a connection: see steps.mjs.
url=$1
p=$2
run() { psql -X -q -At -v ON_ERROR_STOP=1 "$url" "$@"; }

step() {
  name=$1
  shift
  if why=$("$@" 2>&1); then echo "ok $name"; else echo "not ok $name: $(echo "$why" | head -1)"; fi
}
is() { [ "$1" = "$2" ] || { echo "found $1, not $2"; return 1; }; }

connect() { run -c 'select version()' | grep -q '^PostgreSQL 18'; }
migrate() {
  run --single-transaction <<SQL
create table ${p}_orders (id serial primary key, item text unique);
create table ${p}_counter (n int);
insert into ${p}_counter values (0);
SQL
}
order() { echo "insert into ${p}_orders (item) values ('$1'); insert into jobs (kind, payload) values ('$p', '{}');"; }
jobs() { run -c "select count(*) from jobs where kind = '$p'"; }
transaction() { (echo 'begin;'; order book; echo 'commit;') | run && is "$(jobs)" 1; }
rollback() {
  (echo 'begin;'; order pen; order book; echo 'commit;') | run 2>/dev/null && { echo 'a second book was taken'; return 1; }
  (echo 'begin;'; order pen; echo 'rollback;') | run && is "$(jobs)" 1 && is "$(run -c "select count(*) from ${p}_orders")" 1
}
five() {
  echo "prepare same (int) as select $1;"
  for i in 1 2 3 4 5; do echo "execute same ($i);"; done
}
prepared() {
  dir=$(mktemp -d)
  five '$1 + 1' | run >"$dir/plus" &
  five '$1 * 2' | run >"$dir/times" &
  wait
  found=$(cat "$dir/plus" "$dir/times" | tr '\n' ' ')
  rm -r "$dir"
  is "$found" '2 3 4 5 6 2 4 6 8 10 '
}
batch() {
  seq -f 'batch %g' 1000 | run -c "\\copy ${p}_orders (item) from stdin" && is "$(run -c "select count(*) from ${p}_orders where item like 'batch %'")" 1000
}
listen() {
  # psql shows what it has heard after the statement that it came with.
  printf "listen %s;\nselect pg_notify('%s', 'hello');\n" "$p" "$p" | run | grep -q "Asynchronous notification \"$p\" with payload \"hello\" received"
}
pool() {
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    (for _ in $(seq 20); do echo "begin; select n as was from ${p}_counter for update \\gset
update ${p}_counter set n = :was + 1; commit;"; done) | run &
  done
  wait
  is "$(run -c "select n from ${p}_counter")" 200
}

for name in connect migrate transaction rollback prepared batch listen pool; do step $name $name; done
