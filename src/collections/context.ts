import type { ClientListeners } from '../events.ts';
import type { Validation } from '../schemas/record-reader.ts';
import type { CallSettings } from '../transport/call-options.ts';
import type { Transport } from '../transport/request.ts';
import type { PaginationOptions } from './list-options.ts';

/** What the collections of one client share. */
export interface CollectionContext {
  readonly transport: Transport;
  /** Ends in `/api/public/v1`; part of what resume tokens are bound to. */
  readonly baseUrl: string;
  readonly settings: CallSettings;
  readonly lists: Required<{ [K in keyof PaginationOptions]: NonNullable<PaginationOptions[K]> }>;
  readonly validation: Validation;
  readonly listeners: ClientListeners;
}
