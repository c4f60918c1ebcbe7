import { DatabaseError, type Queryable } from '../db/port.js';

/**
 * Payloads as a handler gets them: what Postgres prints for the jsonb that it stores (keys sorted,
 * doubled ones gone, spaces after colons and commas).
 * @returns for each text what it becomes, or undefined where Postgres does not take it.
 */
export async function storedPayloads(
  db: Queryable,
  texts: readonly string[],
): Promise<(string | undefined)[]> {
  try {
    const { rows } = await db.query<{ payload: string }>(
      `select each::jsonb as payload from unnest($1::text[]) with ordinality as given(each, nth)
       order by nth`,
      [texts],
    );
    return rows.map(({ payload }) => payload);
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    if (texts.length <= 1) return [undefined];
    const middle = Math.ceil(texts.length / 2);
    return [
      ...(await storedPayloads(db, texts.slice(0, middle))),
      ...(await storedPayloads(db, texts.slice(middle))),
    ];
  }
}
