/**
 * Temporary tables and the like. The engine has one schema for them; those of a client that is not
 * at its turn stand in it under names that nobody uses. They are renamed in the catalogs, all at
 * once and with what belongs to them (indexes, sequences, row types), which plans and defaults,
 * going by oid, do not notice.
 */
import type { RawSession } from '../db/raw-session.js';
import { type ClientState, TEMPORARY_CATALOGS, type TemporaryObject } from './client-state.js';
import { literal, query } from './own-statements.js';

const CATALOGS = Object.entries(TEMPORARY_CATALOGS) as [
  TemporaryObject['catalog'],
  { name: string; schema: string },
][];

const PARKED = 'jobq_t';

/** Takes the client's names away; the session must be as the engine starts. */
export async function park(raw: RawSession, state: ClientState): Promise<void> {
  const lists = CATALOGS.map(
    ([catalog, { name, schema }]) =>
      `select '${catalog}' as catalog, oid::text as oid, ${name}::text as name from pg_catalog.${catalog}
        where ${schema} = pg_catalog.pg_my_temp_schema() and ${name} !~ '^${PARKED}'`,
  );
  state.parked = await query<TemporaryObject & Record<string, string>>(
    raw,
    lists.join(' union all '),
  );
  state.temporary = state.parked.length > 0;
  if (!state.temporary) return;
  const renames = CATALOGS.map(
    ([catalog, { name, schema }]) =>
      `update pg_catalog.${catalog} set ${name} = '${PARKED}' || oid
        where ${schema} = pg_catalog.pg_my_temp_schema() and ${name} !~ '^${PARKED}'`,
  );
  await query(raw, renames.join('; '));
}

/** Gives the client its names back. */
export async function unpark(raw: RawSession, state: ClientState): Promise<void> {
  const renames = CATALOGS.flatMap(([catalog, { name }]) => {
    const values = state.parked
      .filter((object) => object.catalog === catalog)
      .map((object) => `(${object.oid}::oid, ${literal(object.name)})`);
    if (values.length === 0) return [];
    return [
      `update pg_catalog.${catalog} set ${name} = own.name
         from (values ${values.join(', ')}) as own (oid, name) where ${catalog}.oid = own.oid`,
    ];
  });
  await query(raw, renames.join('; '));
  state.parked = [];
}

/**
 * Drops what the client at its turn has made. The statements are all written before the first is
 * run, because what is dropped takes other things with it.
 */
export const DROP_TEMPORARY = `do $jobq$
  declare
    statement text;
    statements text[] := array(
      select pg_catalog.format('drop %s if exists %s cascade',
        case relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence'
          when 'f' then 'foreign table' when 'c' then 'type' else 'table' end,
        oid::pg_catalog.regclass)
        from pg_catalog.pg_class
       where relnamespace = pg_catalog.pg_my_temp_schema() and relname !~ '^${PARKED}'
         and relkind in ('r', 'p', 'v', 'm', 'S', 'f', 'c')
      union all
      select pg_catalog.format('drop type if exists %s cascade', oid::pg_catalog.regtype)
        from pg_catalog.pg_type
       where typnamespace = pg_catalog.pg_my_temp_schema() and typname !~ '^${PARKED}'
         and typtype in ('d', 'e', 'r')
      union all
      select pg_catalog.format('drop routine if exists %s cascade', oid::pg_catalog.regprocedure)
        from pg_catalog.pg_proc
       where pronamespace = pg_catalog.pg_my_temp_schema() and proname !~ '^${PARKED}');
  begin
    foreach statement in array statements loop
      execute statement;
    end loop;
  end $jobq$`;
