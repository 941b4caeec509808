// The life of one create, as pure functions: what a round makes of a row by what it sees, and what a response makes of
// it. The guide to pushing describes it under "How duplicates are avoided".
//
//            sent, key and draft are stored           2xx, or a list shows it
//   none ───────────────────────────────────▶ sent ───────────────────────────▶ made
//    ▲  ▲                                      │ ▲                                │
//    │  └── rejected, at its first sending ────┘ └── not shown: sent again,       │
//    │                                               then under a new key         │
//    └──────────────── two looks, in two rounds, did not show it ─────────────────┘

import { isAccountingError, isApiError } from '../errors/guards.ts';
import { newIdempotencyKey } from '../transport/idempotency-key.ts';
import { signOfError } from '../transport/outage.ts';

/** A create was or is about to be sent. Its outcome is not known. */
export interface SentCreate {
  readonly is: 'sent';
  readonly idempotencyKey: string;
  /** The draft as it was sent: a repeat sends the same. */
  readonly draft: string;
  /** Whether an earlier run sent it. */
  readonly isEarlier: boolean;
  /** Rounds of this run that sent it. An earlier run may have stored it, and not sent it. */
  readonly sendings: number;
  /** The service failed at it in a round in which it applied others. */
  readonly isOdd?: true | undefined;
}

/** A create returned this id, or a list showed it. */
export interface MadeProduct {
  readonly is: 'made';
  readonly id: string;
  /** Whether this run sent the create. */
  readonly isOwn: boolean;
  /** Looks, each in a round of its own, that did not show the product. */
  readonly misses: number;
  /** The service failed at an update of it in a round in which it applied others. */
  readonly isOdd?: true | undefined;
}

/** What is known of the create of one row. */
export type CreateState = typeof NONE | SentCreate | MadeProduct;

/** Nothing is under way. */
export const NONE = { is: 'none' } as const;

/** Rounds of a run that send a create under one key. */
const MAX_SENDINGS = 2;

/** A product that an earlier run, or a list, is known by. */
export function known(id: string): MadeProduct {
  return { is: 'made', id, isOwn: false, misses: 0 };
}

/** What a round sees of a row. */
export type Sight =
  /** One product has its key. */
  | { readonly products: 'one'; readonly id: string }
  /** Several products could be meant. */
  | { readonly products: 'several' }
  /** None has its key. */
  | {
      readonly products: 'none';
      /** Whether the list can have missed it: it repeated products, or has one whose key cannot be read. */
      readonly mayLack: boolean;
      /**
       * What became of the id of a `made` row: the list or a get shows it; as the product of another row, or without a
       * key; a get says that it does not exist; the get failed.
       */
      readonly made?: 'shown' | 'of_another' | 'missing' | 'failed' | undefined;
    };

/** What a round does about a row next. `lacking`: it fails, because the list can lack its product. */
type RowStep = 'compare' | 'conflict' | 'failed' | 'open' | 'lacking' | 'send';

/** What a round makes of a row by what it sees. */
export function afterLook(state: CreateState, sight: Sight): { state: CreateState; step: RowStep } {
  if (sight.products === 'several') return { state, step: 'conflict' };
  if (sight.products === 'one') return { state: found(state, sight.id), step: 'compare' };
  if (state.is === 'made') {
    if (sight.made === 'shown') return { state: { ...state, misses: 0 }, step: 'compare' };
    if (sight.made === 'of_another') return { state, step: 'conflict' };
    if (sight.made !== 'missing') return { state, step: 'failed' };
    const missed = { ...state, misses: state.misses + 1 };
    // One look may come from a copy of the data that lags behind.
    if (missed.misses < 2) return { state: missed, step: 'open' };
    return { state: NONE, step: sight.mayLack ? 'lacking' : 'send' };
  }
  return { state, step: sight.mayLack ? 'lacking' : 'send' };
}

/** A product that a list shows under the key of a row is that of its create. */
function found(state: CreateState, id: string): MadeProduct {
  if (state.is === 'made' && state.id === id) return { ...state, misses: 0 };
  return { is: 'made', id, isOwn: state.is === 'sent' && !state.isEarlier, misses: 0 };
}

/**
 * What is stored before a create is sent. One whose outcome is unknown is repeated once under its key, because the
 * service may be slower than the client waits; after that, it gets a new key and the draft of its row. `mayRepeat` is
 * false for a service that ignores the key.
 */
export function toSend(
  state: CreateState,
  { draft, mayRepeat }: { readonly draft: string; readonly mayRepeat: boolean },
): SentCreate {
  if (state.is === 'sent' && state.sendings < MAX_SENDINGS && mayRepeat)
    return { ...state, sendings: state.sendings + 1 };
  const idempotencyKey = newIdempotencyKey();
  const isOdd = state.is === 'sent' ? state.isOdd : undefined;
  return { is: 'sent', idempotencyKey, draft, isEarlier: false, sendings: 1, isOdd };
}

/**
 * What a 5xx makes of a write if the service applied others of its kind, or if an earlier run met it too: it is about
 * the row, so one more attempt is enough.
 */
export function afterBrokenRound(state: CreateState, hasOthers: boolean): CreateState {
  if (state.is === 'none') return state;
  return hasOthers || (state.is === 'sent' && state.isEarlier) ? { ...state, isOdd: true } : state;
}

/** Whether nothing but the sending that just ended, or did not begin, used the key of a create. */
export function isFirstSending({ isEarlier, sendings }: SentCreate): boolean {
  return !isEarlier && sendings <= 1;
}

/** What an update ended with that returned no product. */
export type UpdateEnd =
  /** The service says that there is no such product. */
  | 'missing'
  /** The service is down. */
  | 'outage'
  /** A 500, or another sign of an outage although the service is up: it failed, for this call or for all. */
  | 'broken'
  /** A 2xx without a body, after which the product could not be read. */
  | 'empty'
  /** A 2xx with a body that is not the product. */
  | 'unread'
  | 'failed';

/** What the error of an update, or of a delete, says. `wasUp`: the service was up after it. */
export function endOfUpdate(error: unknown, wasUp = false): UpdateEnd {
  if (isAccountingError(error, 'not_found') && error.missing) return 'missing';
  if (isAccountingError(error, 'unexpected_response')) return error.reason === 'empty' ? 'empty' : 'unread';
  const sign = signOfError(error);
  if (sign === undefined) return 'failed';
  return sign === 'down' && !wasUp ? 'outage' : 'broken';
}

const STEPS = {
  missing: 'open',
  outage: 'open',
  broken: 'open',
  empty: 'updated',
  unread: 'look',
  failed: 'failed',
} as const;

/**
 * What such an end makes of a row. `look`: a request for the product shows whether it was updated. `odd`: it fails, because
 * the service fails at it alone.
 */
export function afterUpdate(
  state: MadeProduct,
  end: UpdateEnd,
): { state: MadeProduct; step: (typeof STEPS)[UpdateEnd] | 'odd' } {
  if (end === 'broken' && state.isOdd) return { state, step: 'odd' };
  const misses = state.misses + Number(end === 'missing');
  return { state: { ...state, misses }, step: STEPS[end] };
}

/** What a create ended with, over all its attempts. */
export type CreateEnd =
  /** `isNew`: the product did not exist when this run began. */
  | { readonly end: 'created'; readonly id: string; readonly isNew?: boolean | undefined }
  /** The service did not carry it out. `isUnseen`: it did not look at the key, because of the rate limit for example. */
  | { readonly end: 'rejected'; readonly isOutage: boolean; readonly isUnseen: boolean }
  /** A 2xx that could not be read but for its id. */
  | { readonly end: 'applied'; readonly id: string }
  /**
   * A 500, another status of the service itself, a sign of an outage although the service is up, or a 2xx that is not the
   * product. It can have been created before.
   */
  | { readonly end: 'broken' }
  | { readonly end: 'unknown' };

/**
 * What the error of a create says. One that is not of this package, such as that of a signal, says nothing. `wasUp`: the
 * service was up after it.
 */
export function endOfCreate(error: unknown, wasUp = false): CreateEnd {
  if (!isAccountingError(error)) return { end: 'unknown' };
  const { outcome } = error;
  if (outcome === 'rejected' || outcome === 'not_sent') {
    const isUnseen = outcome === 'not_sent' || isAccountingError(error, 'rate_limited');
    return { end: 'rejected', isOutage: signOfError(error) !== undefined, isUnseen };
  }
  const id = isAccountingError(error, 'unexpected_response') ? error.recordId : undefined;
  if (outcome === 'applied' && id !== undefined) return { end: 'applied', id };
  const isUnread = isAccountingError(error, 'unexpected_response');
  const isOwnStatus = isApiError(error) && error.status >= 500 && signOfError(error) !== 'down';
  const isBroken = isUnread || isOwnStatus || wasUp;
  return { end: isBroken ? 'broken' : 'unknown' };
}

/**
 * What the end of a create makes of a row. `look`: an earlier run sent it, so the product can have been changed or
 * deleted since. `odd`: it fails, and stays in the store.
 */
export function afterCreate(
  state: SentCreate,
  end: CreateEnd,
): { state: CreateState; step: 'created' | 'look' | 'open' | 'odd' | 'failed' } {
  const { isEarlier, sendings, isOdd } = state;
  switch (end.end) {
    case 'created': {
      const isOwn = !isEarlier || end.isNew === true;
      return {
        state: { is: 'made', id: end.id, isOwn, misses: 0 },
        step: isEarlier ? 'look' : 'created',
      };
    }
    case 'applied':
      return { state: { is: 'made', id: end.id, isOwn: !isEarlier, misses: 0 }, step: 'open' };
    case 'broken':
      return { state, step: isOdd ? 'odd' : 'open' };
    case 'unknown':
      return { state, step: 'open' };
    default:
      if (isFirstSending(state)) return { state: NONE, step: end.isOutage ? 'open' : 'failed' };
      // Of a repeat, a rejection says nothing about the first sending. A service can store it for the key.
      return { state: { ...state, sendings: end.isUnseen ? sendings - 1 : MAX_SENDINGS }, step: 'open' };
  }
}
