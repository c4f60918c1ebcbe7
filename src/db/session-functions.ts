/**
 * Functions of Postgres that answer for a session, put in front of the engine's own. The engine has
 * one session; which client's turn it is stands in settings (`jobq_wire.…`) that src/wire/tenancy.ts sees to.
 *
 * They stand in pg_catalog, because that comes first on every search path; the built-in functions
 * keep their oids under another name. pg_dump leaves out what is in pg_catalog. Outside of a
 * client's turn, and in a process without this port, they do what the built-in ones do.
 *
 * What they have to say they say as INFO, which goes out whatever client_min_messages is, and stays
 * said when the transaction is rolled back, as a session's advisory locks stay held.
 */
/** SQLSTATEs of what the functions say. */
export const SAID = {
  /** A setting was set for the session; the message is its name. */
  set: 'JQ001',
  /** As an error: another client holds the lock that the message names. */
  held: 'JQ002',
  locked: 'JQ003',
  unlocked: 'JQ004',
  unlockedAll: 'JQ005',
  /** The message is a process id. */
  cancel: 'JQ006',
  terminate: 'JQ007',
} as const;

/** What `jobq_wire_version()` says; goes up when a function below changes. */
export const SESSION_FUNCTIONS_VERSION = 1;

/** The two spaces of keys: one bigint, or two integers. */
const KEYS = [
  { args: 'bigint', pass: '$1', key: `pg_catalog.format('b%s', $1)` },
  { args: 'integer, integer', pass: '$1, $2', key: `pg_catalog.format('i%s,%s', $1, $2)` },
];

function lockFunctions(): string[] {
  const found: string[] = [];
  for (const { args, pass, key } of KEYS) {
    for (const shared of [false, true]) {
      const mode = shared ? 's' : 'x';
      const suffix = shared ? '_shared' : '';
      const taken = `pg_catalog.jobq_wire_taken(${key}, ${!shared})`;
      const lock = `pg_catalog.concat(${key}, ':${mode}')`;
      for (const level of ['', 'xact_']) {
        const say =
          level === '' ? `raise info using errcode = '${SAID.locked}', message = ${lock};` : '';
        found.push(
          plpgsql(
            `pg_advisory_${level}lock${suffix}`,
            args,
            'void',
            `if ${taken} then
               raise exception using errcode = '${SAID.held}', message = ${lock};
             end if;
             perform pg_catalog.jobq_engine_pg_advisory_${level}lock${suffix}(${pass});
             ${say}`,
          ),
          plpgsql(
            `pg_try_advisory_${level}lock${suffix}`,
            args,
            'boolean',
            `if ${taken} then return false; end if;
             if not pg_catalog.jobq_engine_pg_try_advisory_${level}lock${suffix}(${pass}) then
               return false;
             end if;
             ${say}
             return true;`,
          ),
        );
      }
      found.push(
        plpgsql(
          `pg_advisory_unlock${suffix}`,
          args,
          'boolean',
          `if not pg_catalog.jobq_engine_pg_advisory_unlock${suffix}(${pass}) then
             return false;
           end if;
           raise info using errcode = '${SAID.unlocked}', message = ${lock};
           return true;`,
        ),
      );
    }
  }
  return found;
}

function plpgsql(name: string, args: string, returns: string, body: string): string {
  return `create or replace function pg_catalog.${name}(${args}) returns ${returns}
    language plpgsql strict volatile parallel unsafe as $jobq$ begin ${body} end $jobq$;`;
}

/** Creates or replaces them all. In each prepared cluster from the start; older ones get them later. */
export const SESSION_FUNCTIONS = [
  `do $jobq$
   declare
     found record;
   begin
     for found in
       select oid::regprocedure as signature, proname from pg_catalog.pg_proc
        where oid < 16384
          and (proname ~ '^pg_(try_)?advisory_'
               or proname in ('pg_backend_pid', 'set_config', 'lastval', 'currval',
                              'pg_cancel_backend', 'pg_terminate_backend'))
     loop
       execute pg_catalog.format('alter function %s rename to %I',
                                 found.signature, 'jobq_engine_' || found.proname);
     end loop;
   end $jobq$;`,

  `create or replace function pg_catalog.jobq_wire_taken(key text, exclusive boolean)
   returns boolean language sql stable as $jobq$
     select pg_catalog.strpos(
       coalesce(pg_catalog.current_setting('jobq_wire.held', true), ''),
       pg_catalog.concat(' ', key, case when exclusive then ':' else ':x' end)) > 0
   $jobq$;`,
  ...lockFunctions(),
  plpgsql(
    'pg_advisory_unlock_all',
    '',
    'void',
    `perform pg_catalog.jobq_engine_pg_advisory_unlock_all();
     raise info using errcode = '${SAID.unlockedAll}', message = 'all';`,
  ),

  `create or replace function pg_catalog.pg_backend_pid() returns integer
   language sql stable parallel restricted as $jobq$
     select coalesce(
       nullif(pg_catalog.current_setting('jobq_wire.pid', true), '')::integer,
       pg_catalog.jobq_engine_pg_backend_pid())
   $jobq$;`,
  plpgsql(
    'pg_cancel_backend',
    'pid integer',
    'boolean',
    `raise info using errcode = '${SAID.cancel}', message = pid::text; return true;`,
  ),
  plpgsql(
    'pg_terminate_backend',
    'pid integer, timeout bigint default 0',
    'boolean',
    `raise info using errcode = '${SAID.terminate}', message = pid::text; return true;`,
  ),

  // Not strict: null is a value here.
  `create or replace function pg_catalog.set_config(
     setting_name text, new_value text, is_local boolean) returns text
   language plpgsql volatile parallel unsafe as $jobq$
   begin
     if setting_name is not null
        and (not coalesce(is_local, false) or setting_name ~* '_timeout$') then
       raise info using errcode = '${SAID.set}', message = setting_name;
     end if;
     return pg_catalog.jobq_engine_set_config(setting_name, new_value, is_local);
   end $jobq$;`,

  // What the client's sequences gave it before others had the session in between.
  `create or replace function pg_catalog.jobq_wire_kept(name text) returns bigint
   language sql stable as $jobq$
     select (nullif(pg_catalog.current_setting('jobq_wire.sequences', true), '')::jsonb ->> name)::bigint
   $jobq$;`,
  plpgsql(
    'lastval',
    '',
    'bigint',
    `return pg_catalog.jobq_engine_lastval();
     exception when object_not_in_prerequisite_state then
       if pg_catalog.jobq_wire_kept('last') is null then raise; end if;
       return pg_catalog.jobq_wire_kept('last');`,
  ),
  plpgsql(
    'currval',
    'regclass',
    'bigint',
    `return pg_catalog.jobq_engine_currval($1);
     exception when object_not_in_prerequisite_state then
       if pg_catalog.jobq_wire_kept($1::oid::text) is null then raise; end if;
       return pg_catalog.jobq_wire_kept($1::oid::text);`,
  ),
  // All that this turn's sequences have given, as JSON, or null when there was none.
  `create or replace function pg_catalog.jobq_wire_sequences() returns text
   language plpgsql volatile as $jobq$
   declare
     kept jsonb := coalesce(
       nullif(pg_catalog.current_setting('jobq_wire.sequences', true), ''), '{}')::jsonb;
     sequence oid;
   begin
     begin
       kept := kept || pg_catalog.jsonb_build_object('last', pg_catalog.jobq_engine_lastval());
     exception when object_not_in_prerequisite_state then
       return nullif(kept, '{}')::text;
     end;
     for sequence in select oid from pg_catalog.pg_class where relkind = 'S' loop
       begin
         kept := kept || pg_catalog.jsonb_build_object(
           sequence::text, pg_catalog.jobq_engine_currval(sequence::regclass));
       exception when object_not_in_prerequisite_state then
       end;
     end loop;
     return kept::text;
   end $jobq$;`,

  // The engine ends itself over any conversion (PGlite 0.5.17). Without a default one it says that
  // there is none, to convert_to() as to SET client_encoding.
  'update pg_catalog.pg_conversion set condefault = false where condefault;',

  `create or replace function pg_catalog.jobq_wire_version() returns integer
   language sql immutable as $jobq$ select ${SESSION_FUNCTIONS_VERSION} $jobq$;`,
].join('\n');
