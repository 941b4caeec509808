import type { ServiceResponse } from '../message.ts';

/** A response, and how it is sent. */
export interface Delivery {
  /** Undefined if nothing is sent. */
  readonly response: ServiceResponse | undefined;
  readonly transmission: Transmission;
}

/** How a response is sent. Each adapter does what its medium allows. */
type Transmission =
  | { readonly how: 'whole' }
  /** The port does not accept the connection. */
  | { readonly how: 'refused' }
  /** No byte is sent. */
  | { readonly how: 'nothing'; readonly ending: Ending }
  /** Only the first bytes are sent, see {@link cutAt}. */
  | {
      readonly how: 'cut';
      readonly in: 'headers' | 'body';
      readonly atByte: number | undefined;
      readonly ending: Ending;
    }
  | { readonly how: 'slow-body'; readonly bytes: number; readonly everyMs: number };

/**
 * How many bytes of the headers, or of the body as it is sent, a cut lets through: half of them by default, and never
 * all, because then nothing would be missing. Compression can make a body shorter than `atByte`.
 */
export function cutAt(atByte: number | undefined, size: number): number {
  return Math.min(atByte ?? Math.floor(size / 2), Math.max(0, size - 1));
}

/** How the connection ends; with `stall` it stays open. */
export type Ending = 'close' | 'reset' | 'stall';

/** The delivery of a response without a fault in its transmission. */
export function whole(response: ServiceResponse): Delivery {
  return { response, transmission: { how: 'whole' } };
}

/** A delivery without a byte. */
export function nothing(ending: Ending): Delivery {
  return { response: undefined, transmission: { how: 'nothing', ending } };
}
