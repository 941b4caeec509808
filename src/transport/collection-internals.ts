import type { RunEvent } from '../events.ts';
import type { FieldTable } from '../schemas/record.ts';
import type { CallSettings, RequestOptions } from './call-options.ts';
import { signOfError } from './outage.ts';

/** What a push needs to know of a collection that can be written. */
export interface WriteFacts {
  /** The kind of each documented field: an amount is compared as a decimal, an EAN as a string. */
  readonly fields: FieldTable;
  /** The defaults of the client: how long an attempt may take, and whether a create is sent again. */
  readonly settings: CallSettings;
  /**
   * The JSON text of a body. Throws an InvalidInputError, which names the argument, for what a create or update would
   * reject before sending.
   */
  body(fields: object, argument: 'draft' | 'missing'): string;
}

/**
 * What sync and push need of a client's collection beside its public methods. The type of a collection does not show it, so
 * that an editor suggests to users only what is for them.
 */
export interface CollectionInternals {
  /** Writes to the logger of the client that a callback threw, such as `onProgress`. */
  callbackFailed?(name: string, thrown: unknown): void;
  /** Writes a warning about the collection to the logger of the client. */
  warn?(text: string): void;
  /** Carries out a run inside the listeners of the client. */
  readonly inRun?: (<T>(event: RunEvent, work: () => Promise<T>) => Promise<T>) | undefined;
  /** The same collection, whose calls are sent again while the service is down, until it has been for `maxOutageMs`. */
  outlasting?(maxOutageMs: number, beforeAttempt?: CallSettings['beforeAttempt']): unknown;
  /** Whether the service is down, after a call failed: sends one list request of another collection. */
  isServiceDown?(options: RequestOptions): Promise<boolean>;
  /** As `get`, with the row as the service sent it, before a schema transformed it. */
  lookUp?(id: string, options: RequestOptions): Promise<{ readonly record: unknown; readonly row: unknown }>;
  /** Only of a collection that can be written. */
  readonly writeFacts?: WriteFacts;
}

/** The key of the internals: the same symbol in every copy of the package, because `sync` may be another copy than the client. */
export const INTERNALS = Symbol.for('accounting-data-sdk.collection');

/** The internals of a client's collection; none of another object, such as a source with its own `list`. */
export function internalsOf(collection: unknown): CollectionInternals {
  return (collection as { readonly [INTERNALS]?: CollectionInternals } | null | undefined)?.[INTERNALS] ?? {};
}

/** Carries out a run inside the listeners of the client that a collection belongs to. */
export function inRun<T>(collection: unknown, event: RunEvent, work: () => Promise<T>): Promise<T> {
  return internalsOf(collection).inRun?.(event, work) ?? work();
}

/** The same collection, whose calls outlast an outage. A source with its own `list` waits as it does. */
export function outlasting<Collection>(
  collection: Collection,
  maxOutageMs: number,
  beforeAttempt?: CallSettings['beforeAttempt'],
): Collection {
  return (
    (internalsOf(collection).outlasting?.(maxOutageMs, beforeAttempt) as Collection | undefined) ?? collection
  );
}

/**
 * Whether a call failed because the service is down, so that no other call would succeed. False of a source that cannot
 * tell.
 */
export async function isServiceDown(
  collection: unknown,
  error: unknown,
  options: RequestOptions,
): Promise<boolean> {
  if (signOfError(error) === undefined) return false;
  return (await internalsOf(collection).isServiceDown?.(options)) ?? false;
}
