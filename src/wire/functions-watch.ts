import type { RawSession } from '../db/raw-session.js';
import { query } from './own-statements.js';

/**
 * What the app's own functions, triggers and views may do in its session without a statement that
 * says so. Where there are none that could, which is the rule, nothing needs to be looked at.
 */
export interface Hidden {
  /** Settings or temporary objects. */
  session: boolean;
  /** pg_backend_pid, advisory locks. */
  identity: boolean;
  /** lastval, currval. */
  sequences: boolean;
  /** Any function at all: a SELECT may write. */
  functions: boolean;
}

export const NOTHING_HIDDEN: Hidden = {
  session: false,
  identity: false,
  sequences: false,
  functions: false,
};

/** Commands after which it may have changed. */
export const CHANGES_FUNCTIONS =
  /^(?:CREATE|ALTER) (?:FUNCTION|PROCEDURE|ROUTINE|VIEW|TABLE|RULE|TRIGGER|EXTENSION|DOMAIN|INDEX)|^(?:DO|CALL)/;

const SESSION = String.raw`(^|[;'$]|\m(begin|then|else|loop)\M)\s*(set|reset|discard)\M|\mtemp(orary)?\M|pg_temp`;
const IDENTITY = `pg_backend_pid|advisory_|(cancel|terminate)_backend`;
const SEQUENCES = String.raw`\m(lastval|currval)\M`;

export async function findHidden(raw: RawSession): Promise<Hidden> {
  const [row] = await query<{ [Key in keyof Hidden]: boolean }>(
    raw,
    `with own as (
       select prosrc as source from pg_catalog.pg_proc p
         join pg_catalog.pg_language l on l.oid = p.prolang
        where p.oid >= 16384 and p.pronamespace <> 'pg_catalog'::regnamespace
          and l.lanname not in ('c', 'internal')
     ), used as (
       select p.proname as name from pg_catalog.pg_depend d
         join pg_catalog.pg_proc p on p.oid = d.refobjid
        where d.refclassid = 'pg_proc'::regclass and d.refobjid >= 16384
          and p.pronamespace = 'pg_catalog'::regnamespace
     )
     select exists (select from own where source ~* $jobq$${SESSION}$jobq$) as session,
            exists (select from own where source ~* $jobq$${IDENTITY}$jobq$)
              or exists (select from used where name ~ $jobq$${IDENTITY}$jobq$) as identity,
            exists (select from own where source ~* $jobq$${SEQUENCES}$jobq$)
              or exists (select from used where name ~ $jobq$${SEQUENCES}$jobq$) as sequences,
            exists (select from own) as functions`,
  );
  return row!;
}
