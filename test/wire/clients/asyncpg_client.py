import asyncio
import json

import asyncpg
from steps import PREFIX, URL, equal, run_steps_async


async def main():
    pool = await asyncpg.create_pool(
        URL, min_size=1, max_size=10, server_settings={"application_name": PREFIX}
    )

    async def order(connection, item):
        id = await connection.fetchval(
            f"insert into {PREFIX}_orders (item) values ($1) returning id", item
        )
        await connection.execute(
            "insert into jobs (kind, payload) values ($1, $2)", PREFIX, json.dumps({"order": id})
        )

    async def jobs():
        return await pool.fetchval("select count(*) from jobs where kind = $1", PREFIX)

    async def connect():
        equal((await pool.fetchval("select version()")).startswith("PostgreSQL 18"), True)

    async def migrate():
        async with pool.acquire() as connection, connection.transaction():
            await connection.execute(
                f"create table {PREFIX}_orders (id serial primary key, item text unique);"
                f"create table {PREFIX}_counter (n int); insert into {PREFIX}_counter values (0)"
            )

    async def transaction():
        async with pool.acquire() as connection, connection.transaction():
            await order(connection, "book")
        equal(await jobs(), 1)

    async def rollback():
        try:
            async with pool.acquire() as connection, connection.transaction():
                await order(connection, "pen")
                await order(connection, "book")
            raise AssertionError("a second book was taken")
        except asyncpg.UniqueViolationError:
            pass
        equal([await jobs(), await pool.fetchval(f"select count(*) from {PREFIX}_orders")], [1, 1])

    async def prepared():
        async with pool.acquire() as a, pool.acquire() as b:
            plus = await a.prepare("select $1::int + 1")
            times = await b.prepare("select $1::int * 2")
            for i in range(20):
                equal([await plus.fetchval(i), await times.fetchval(i)], [i + 1, i * 2])

    async def batch():
        async with pool.acquire() as connection:
            await connection.copy_records_to_table(
                f"{PREFIX}_orders", records=[(f"batch {i}",) for i in range(500)], columns=["item"]
            )
            await connection.executemany(
                f"insert into {PREFIX}_orders (item) values ($1)",
                [(f"batch {i}",) for i in range(500, 1000)],
            )
        found = await pool.fetchval(f"select count(*) from {PREFIX}_orders where item like 'batch %'")
        equal(found, 1000)

    async def listen():
        heard = asyncio.get_running_loop().create_future()
        async with pool.acquire() as connection:
            await connection.add_listener(PREFIX, lambda *args: heard.set_result(args[3]))
            await pool.execute("select pg_notify($1, 'hello')", PREFIX)
            equal(await asyncio.wait_for(heard, 30), "hello")
            await connection.reset()

    async def load():
        async def add():
            async with pool.acquire() as connection, connection.transaction():
                n = await connection.fetchval(f"select n from {PREFIX}_counter for update")
                await connection.execute(f"update {PREFIX}_counter set n = $1", n + 1)

        await asyncio.gather(*(add() for _ in range(200)))
        equal(await pool.fetchval(f"select n from {PREFIX}_counter"), 200)

    await run_steps_async(
        dict(connect=connect, migrate=migrate, transaction=transaction, rollback=rollback,
             prepared=prepared, batch=batch, listen=listen, pool=load)
    )
    await pool.close()


asyncio.run(main())
