import { type CopyRow, copyRows } from '../internal/copy-rows.ts';
import { forEach } from '../internal/for-each.ts';
import type { Finding } from '../reading/look-up.ts';
import type { LookUp } from '../reading/source.ts';
import type { Seen } from './pass.ts';

/** A record that was requested, what was found, and what a copy keeps of that. */
export interface Sighting<T> {
  /** As it was requested. */
  readonly id: string;
  readonly found: Finding<T>;
  readonly seen: Seen;
}

/**
 * The id that the service has, if it is not the one that was requested: it ignores the case of ids. A copy that has the
 * requested one has the record under an id that does not exist any more.
 */
export function otherIdOf({ id, seen }: Sighting<unknown>): string | undefined {
  return seen === undefined || seen instanceof Error || seen.id === id ? undefined : seen.id;
}

/** Requests these records, some at a time. */
export async function lookUpAll<T extends { id: string }>(
  ids: readonly string[],
  concurrency: number,
  request: (id: string) => Promise<Finding<T>>,
): Promise<readonly Sighting<T>[]> {
  const sightings: Sighting<T>[] = [];
  await forEach(ids, concurrency, async (id) => {
    const found = await request(id);
    sightings.push({ id, found, seen: found instanceof Error ? found : rowOf(found) });
  });
  return sightings;
}

function rowOf({ record, invalid }: LookUp<{ id: string }>): CopyRow | undefined {
  return copyRows(record === undefined ? [] : [record], invalid === undefined ? [] : [invalid])[0];
}
