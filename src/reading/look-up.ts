import { isAccountingError, isKeyRejected } from '../errors/guards.ts';
import { isOutageError } from '../transport/outage.ts';
import { isOtherCompany } from './company.ts';
import type { ReadSettings } from './list-options.ts';
import type { LookUp, RunSource } from './source.ts';

/** What a request for one record shows. An error of it alone, such as a 403 of an archived record, shows nothing. */
export type Finding<T> = LookUp<T> | Error;

/** Requests one record. Rejects if that failed because of the key or the service, so that no other request shows anything. */
export async function lookUp<T extends { id: string }>(
  source: RunSource<T>,
  id: string,
  settings: ReadSettings,
): Promise<Finding<T>> {
  const found = await requestOf(source, id, settings);
  if (!isOutageError(found)) return found;
  await waitForList(source, settings);
  // The service works: what fails again fails because of this record.
  return await requestOf(source, id, onceOnly(settings));
}

/** The same with one attempt for each request. */
export function onceOnly(settings: ReadSettings): ReadSettings {
  return { ...settings, retry: { ...settings.retry, maxAttempts: 1 } };
}

/** Requests one record, and waits for no outage: its error is returned too. */
export async function requestOf<T extends { id: string }>(
  source: RunSource<T>,
  id: string,
  settings: ReadSettings,
): Promise<Finding<T>> {
  settings.signal?.throwIfAborted();
  try {
    return await source.lookUp(id, { ...settings, outage: settings.outage.noting });
  } catch (error) {
    const isAboutKey =
      isKeyRejected(error) || isAccountingError(error, 'rate_limited') || isOtherCompany(error);
    if (!isAccountingError(error) || isAboutKey) throw error;
    return error;
  }
}

/** Waits until the list of a collection responds. Rejects if the service is down for too long. */
export async function waitForList(source: RunSource<{ id: string }>, settings: ReadSettings): Promise<void> {
  try {
    for await (const _ of source.list({}, { ...settings, pagination: 'page', prefetch: 0 })) break;
  } catch (error) {
    if (settings.signal?.aborted || isOutageError(error)) throw error;
  }
}
