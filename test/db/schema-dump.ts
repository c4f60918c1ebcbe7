import type { Queryable } from '#src/db/port.js';

/**
 * Everything the migrations made, as text: the same for the same schema on every server. From the
 * catalogs, because there is no pg_dump for PGlite.
 */
export async function dumpSchema(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ line: string }>(`
    with tables as (
      select c.oid, c.relname::text as name
        from pg_class c
       where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
    ), lines as (
      select t.name, 0 as part, 0 as place, 'table ' || t.name as line from tables t
      union all
      select t.name, 1, a.attnum,
             '  ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
               || case when a.attnotnull then ' not null' else '' end
               || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
        from tables t
        join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
        left join pg_attrdef d on d.adrelid = t.oid and d.adnum = a.attnum
      union all
      -- Not-null constraints ('n') are catalogued from Postgres 18 on; the columns show them.
      select t.name, 2, row_number() over (partition by t.name order by c.conname)::int,
             '  constraint ' || c.conname || ' ' || pg_get_constraintdef(c.oid)
        from tables t join pg_constraint c on c.conrelid = t.oid and c.contype <> 'n'
      union all
      select t.name, 3, row_number() over (partition by t.name order by i.indexrelid::regclass::text)::int,
             '  ' || pg_get_indexdef(i.indexrelid)
        from tables t join pg_index i on i.indrelid = t.oid
    )
    select line from lines order by name, part, place`);
  return `${rows.map(({ line }) => line).join('\n')}\n`;
}
