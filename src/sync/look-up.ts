import { isAccountingError } from '../errors/guards.ts';
import type { ReadSettings } from '../reading/list-options.ts';
import type { LookUp, RunSource } from '../reading/source.ts';

/** What a request for one record shows. An error of it alone, such as a 403 of an archived record, shows nothing. */
export type Finding<T> = LookUp<T> | Error;

/** Requests one record. Rejects if that failed because of the key or the service, so that no other request shows anything. */
export async function lookUp<T extends { id: string }>(
  source: RunSource<T>,
  id: string,
  settings: ReadSettings,
): Promise<Finding<T>> {
  settings.signal?.throwIfAborted();
  try {
    return await source.lookUp(id, settings);
  } catch (error) {
    const isAboutKey =
      isAccountingError(error, 'unauthenticated') || isAccountingError(error, 'rate_limited');
    if (!isAccountingError(error) || isAboutKey || (await isServiceDown(source, error, settings)))
      throw error;
    return error;
  }
}

/** Whether a request failed because the service is down. */
export function isServiceDown(
  source: Pick<RunSource<{ id: string }>, 'isServiceDown'>,
  error: unknown,
  { headers, timeoutMs, signal, beforeAttempt }: ReadSettings,
): Promise<boolean> {
  return source.isServiceDown(error, { headers, timeoutMs, signal, beforeAttempt });
}
