import queue
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
from psycopg.types.json import Jsonb
from steps import PREFIX, URL, equal, run_steps

idle = queue.Queue()


@contextmanager
def connection():
    try:
        found = idle.get_nowait()
    except queue.Empty:
        found = psycopg.connect(URL, application_name=PREFIX, autocommit=True)
    try:
        yield found
    finally:
        idle.put(found)


def one(sql, values=None):
    with connection() as found:
        return found.execute(sql, values).fetchone()[0]


def order(found, item):
    row = found.execute(f"insert into {PREFIX}_orders (item) values (%s) returning id", (item,)).fetchone()
    found.execute("insert into jobs (kind, payload) values (%s, %s)", (PREFIX, Jsonb({"order": row[0]})))


def jobs():
    return one("select count(*) from jobs where kind = %s", (PREFIX,))


def connect():
    equal(one("select version()").startswith("PostgreSQL 18"), True)


def migrate():
    with connection() as found, found.transaction():
        found.execute(f"create table {PREFIX}_orders (id serial primary key, item text unique)")
        found.execute(f"create table {PREFIX}_counter (n int)")
        found.execute(f"insert into {PREFIX}_counter values (0)")


def transaction():
    with connection() as found, found.transaction():
        order(found, "book")
    equal(jobs(), 1)


def rollback():
    try:
        with connection() as found, found.transaction():
            order(found, "pen")
            with found.transaction():
                order(found, "book")
        raise AssertionError("a second book was taken")
    except psycopg.errors.UniqueViolation:
        pass
    equal([jobs(), one(f"select count(*) from {PREFIX}_orders")], [1, 1])


def prepared():
    with connection() as a, connection() as b:
        for i in range(20):
            equal(a.execute("select %s::int + 1", (i,), prepare=True).fetchone()[0], i + 1)
            equal(b.execute("select %s::int * 2", (i,), prepare=True).fetchone()[0], i * 2)


def batch():
    with connection() as found:
        with found.cursor().copy(f"copy {PREFIX}_orders (item) from stdin") as copy:
            for i in range(500):
                copy.write_row((f"batch {i}",))
        with found.pipeline():
            found.cursor().executemany(
                f"insert into {PREFIX}_orders (item) values (%s)",
                [(f"batch {i}",) for i in range(500, 1000)],
            )
    equal(one(f"select count(*) from {PREFIX}_orders where item like 'batch %%'", ()), 1000)


def listen():
    with connection() as found:
        found.execute(f"listen {PREFIX}")
        one("select pg_notify(%s, 'hello')", (PREFIX,))
        equal(next(found.notifies()).payload, "hello")
        found.execute("unlisten *")


def load():
    def add(_):
        with connection() as found, found.transaction():
            n = found.execute(f"select n from {PREFIX}_counter for update").fetchone()[0]
            found.execute(f"update {PREFIX}_counter set n = %s", (n + 1,))

    with ThreadPoolExecutor(10) as threads:
        list(threads.map(add, range(200)))
    equal(one(f"select n from {PREFIX}_counter"), 200)


run_steps(
    dict(connect=connect, migrate=migrate, transaction=transaction, rollback=rollback,
         prepared=prepared, batch=batch, listen=listen, pool=load)
)
