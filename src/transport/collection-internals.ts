import type { FieldTable } from '../schemas/record.ts';
import type { CallSettings } from './call-options.ts';

/** What a push needs to know of a collection that can be written. */
export interface WriteFacts {
  /** The kind of each documented field: an amount is compared as a decimal, an EAN as a string. */
  readonly fields: FieldTable;
  /** The defaults of the client: how long an attempt may take, and whether a create is sent again. */
  readonly settings: CallSettings;
  /** The JSON text of a body. Throws an InvalidInputError for what a create or update would reject before sending. */
  body(draft: object): string;
}

/**
 * What sync and push need of a client's collection beside its public methods. The type of a collection does not show it, so
 * that an editor suggests to users only what is for them.
 */
export interface CollectionInternals {
  /** Writes to the logger of the client that a callback threw, such as `onProgress`. */
  callbackFailed?(name: string, thrown: unknown): void;
  /** Only of a collection that can be written. */
  readonly writeFacts?: WriteFacts;
}

/** The internals of a client's collection; none of another object, such as a source with its own `list`. */
export function internalsOf(collection: unknown): CollectionInternals {
  return collection ?? {};
}
