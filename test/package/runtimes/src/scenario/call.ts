import { createClient } from 'accounting-data-sdk';
import type { Call } from './gate.ts';

/** One of the calls that overlap, by a client of its own. Resolves to the id of what it has read. */
export async function call({ id, ...connection }: Call): Promise<string> {
  const { id: read } = await createClient(connection).accounts.get(id);
  return read;
}
