import type { ServiceReply } from '../service/message.ts';

/** How an answer goes out. Each adapter tells it as well as its medium can. */
export type Transmission =
  | { readonly how: 'whole' }
  /** Nobody listens. */
  | { readonly how: 'refuse' }
  /** Nothing comes: the connection is closed, reset, or stays open for ever. */
  | { readonly how: 'nothing'; readonly ending: Ending }
  /** The first bytes of status line and headers, or of the body, and then no more. */
  | { readonly how: 'cut'; readonly in: 'headers' | 'body'; readonly atByte: number; readonly ending: Ending }
  | { readonly how: 'slow-body'; readonly bytes: number; readonly everyMs: number }
  | { readonly how: 'wrong-length'; readonly by: number }
  | { readonly how: 'corrupt-gzip' };

/** What becomes of the connection. */
export type Ending = 'close' | 'reset' | 'stall';

/** An answer, and how it goes out. */
export interface Delivery {
  /** Undefined where nothing is sent. */
  readonly reply: ServiceReply | undefined;
  readonly transmission: Transmission;
}

export const WHOLE: Transmission = { how: 'whole' };
