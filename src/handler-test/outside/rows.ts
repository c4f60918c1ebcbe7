/** The rows of a scratch database, as they are compared and shown. */
import type { Queryable } from '../../db/port.js';

/** `schema.table` → its rows, one a line, as JSON. */
export type Rows = ReadonlyMap<string, string>;

/** Rows of a table that are compared. */
const MOST_ROWS = 10_000;

/**
 * Columns whose value the database itself makes up: ids, times. A sequence goes on when a
 * transaction is undone, so they differ between two runs that did the same.
 */
const MADE_UP = 'nextval|now\\(\\)|current_|localtime|clock_timestamp|uuid|random\\(';

const TABLES = `
select quote_ident(n.nspname) || '.' || quote_ident(c.relname) as name,
  array(
    select a.attname::text from pg_attribute a
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      and (a.attidentity <> '' or pg_get_expr(d.adbin, d.adrelid) ~* $1)
  ) as made_up
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'p') and not c.relispartition
  and n.nspname !~ '^(pg_|information_schema$)'
order by 1`;

export async function readRows(db: Queryable): Promise<Rows> {
  const rows = new Map<string, string>();
  const { rows: tables } = await db.query<{ name: string; made_up: string[] }>(TABLES, [MADE_UP]);
  for (const { name, made_up } of tables) {
    // The name is quoted by Postgres itself.
    const { rows: found } = await db.query<{ line: string }>(
      `select (to_jsonb(t) - $1::text[])::text as line from ${name} as t order by 1 limit ${MOST_ROWS}`,
      [made_up],
    );
    rows.set(name, found.map(({ line }) => `${line}\n`).join(''));
  }
  return rows;
}
