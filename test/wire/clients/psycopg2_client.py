import json
import select
from concurrent.futures import ThreadPoolExecutor

import psycopg2
import psycopg2.extras
from psycopg2.pool import ThreadedConnectionPool
from steps import PREFIX, URL, equal, run_steps

pool = ThreadedConnectionPool(1, 10, URL, application_name=PREFIX)


def in_transaction(work):
    connection = pool.getconn()
    try:
        with connection, connection.cursor() as cursor:
            return work(cursor)
    finally:
        pool.putconn(connection)


def one(sql, values=None):
    def work(cursor):
        cursor.execute(sql, values)
        return cursor.fetchone()[0]

    return in_transaction(work)


def order(cursor, item):
    cursor.execute(f"insert into {PREFIX}_orders (item) values (%s) returning id", (item,))
    payload = json.dumps({"order": cursor.fetchone()[0]})
    cursor.execute("insert into jobs (kind, payload) values (%s, %s)", (PREFIX, payload))


def jobs():
    return one("select count(*) from jobs where kind = %s", (PREFIX,))


def connect():
    equal(one("select version()").startswith("PostgreSQL 18"), True)


def migrate():
    in_transaction(
        lambda cursor: cursor.execute(
            f"create table {PREFIX}_orders (id serial primary key, item text unique);"
            f"create table {PREFIX}_counter (n int); insert into {PREFIX}_counter values (0)"
        )
    )


def transaction():
    in_transaction(lambda cursor: order(cursor, "book"))
    equal(jobs(), 1)


def rollback():
    def twice(cursor):
        order(cursor, "pen")
        order(cursor, "book")

    try:
        in_transaction(twice)
        raise AssertionError("a second book was taken")
    except psycopg2.errors.UniqueViolation:
        pass
    equal([jobs(), one(f"select count(*) from {PREFIX}_orders")], [1, 1])


def prepared():
    connections = [pool.getconn(), pool.getconn()]
    cursors = [connection.cursor() for connection in connections]
    cursors[0].execute("prepare same (int) as select $1 + 1")
    connections[0].commit()
    cursors[1].execute("prepare same (int) as select $1 * 2")
    connections[1].commit()
    for i in range(20):
        for cursor, wanted in zip(cursors, (i + 1, i * 2)):
            cursor.execute("execute same (%s)", (i,))
            equal(cursor.fetchone()[0], wanted)
            cursor.connection.commit()
    for connection in connections:
        pool.putconn(connection)


def batch():
    rows = [(f"batch {i}",) for i in range(1000)]
    in_transaction(
        lambda cursor: psycopg2.extras.execute_values(
            cursor, f"insert into {PREFIX}_orders (item) values %s", rows
        )
    )
    equal(one(f"select count(*) from {PREFIX}_orders where item like 'batch %%'", ()), 1000)


def listen():
    connection = psycopg2.connect(URL)
    connection.autocommit = True
    connection.cursor().execute(f"listen {PREFIX}")
    one("select pg_notify(%s, 'hello')", (PREFIX,))
    equal(select.select([connection], [], [], 30)[0] != [], True)
    connection.poll()
    equal(connection.notifies[0].payload, "hello")
    connection.close()


def load():
    def add(cursor):
        cursor.execute(f"select n from {PREFIX}_counter for update")
        cursor.execute(f"update {PREFIX}_counter set n = %s", (cursor.fetchone()[0] + 1,))

    with ThreadPoolExecutor(10) as threads:
        list(threads.map(lambda _: in_transaction(add), range(200)))
    equal(one(f"select n from {PREFIX}_counter"), 200)


run_steps(
    dict(connect=connect, migrate=migrate, transaction=transaction, rollback=rollback,
         prepared=prepared, batch=batch, listen=listen, pool=load)
)
pool.closeall()
