import { isAccountingError, isKeyRejected } from '../errors/guards.ts';
import { type CopyRow, copyRows } from '../internal/copy-rows.ts';
import { forEach } from '../internal/for-each.ts';
import type { ReadSettings } from '../reading/list-options.ts';
import type { LookUp, RunSource } from '../reading/source.ts';
import { isOutageError } from '../transport/outage.ts';
import type { Seen } from './pass.ts';

/** What a request for one record shows. An error of it alone, such as a 403 of an archived record, shows nothing. */
export type Finding<T> = LookUp<T> | Error;

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

/** Requests one record. Rejects if that failed because of the key or the service, so that no other request shows anything. */
export async function lookUp<T extends { id: string }>(
  source: RunSource<T>,
  id: string,
  settings: ReadSettings,
): Promise<Finding<T>> {
  const once = { ...settings, outage: settings.outage.noting };
  const found = await requestOf(source, id, once);
  if (!isOutageError(found)) return found;
  await waitForList(source, settings);
  // The service works: what fails again fails because of this record.
  return await requestOf(source, id, { ...once, retry: { ...settings.retry, maxAttempts: 1 } });
}

async function requestOf<T extends { id: string }>(
  source: RunSource<T>,
  id: string,
  settings: ReadSettings,
): Promise<Finding<T>> {
  settings.signal?.throwIfAborted();
  try {
    return await source.lookUp(id, settings);
  } catch (error) {
    const isAboutKey = isKeyRejected(error) || isAccountingError(error, 'rate_limited');
    if (!isAccountingError(error) || isAboutKey) throw error;
    return error;
  }
}

/** Waits until the list of a collection responds. Rejects if the service is down for too long. */
async function waitForList(source: RunSource<{ id: string }>, settings: ReadSettings): Promise<void> {
  try {
    for await (const _ of source.list({}, { ...settings, pagination: 'page', prefetch: 0 })) break;
  } catch (error) {
    if (settings.signal?.aborted || isOutageError(error)) throw error;
  }
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
