// The create of one row, as pure functions: what a round makes of a row by what it sees (table A), what the end of an
// update means (B) and that of a create (C). The guide describes it under "Why nothing is created twice".
//
//            sent, key and draft are stored           2xx, or a list shows it
//   none ───────────────────────────────────▶ sent ───────────────────────────▶ made
//    ▲  ▲                                      │ ▲                                │
//    │  └── rejected, at its first sending ────┘ └── not shown: sent again,       │
//    │                                               then under a new key         │
//    └──────────────── two looks, in two rounds, did not show it ─────────────────┘
//
// What a round cannot settle is `open`: the next round, of this push or of the next, looks again.

import { isAccountingError, isApiError } from '../errors/guards.ts';
import { newIdempotencyKey } from '../transport/idempotency-key.ts';
import { isOutageError } from '../transport/outage.ts';

/** What a product was known by when it was last shown. */
export interface ProductFacts {
  readonly id: string;
  /** In whole seconds, or as it was sent if it names no moment; undefined if it was not sent. */
  readonly createdAt: number | string | undefined;
  /** Its folded key; empty without one. */
  readonly key: string;
}

/** A create was or is about to be sent. Its outcome is not known. */
export interface SentCreate {
  readonly is: 'sent';
  readonly idempotencyKey: string;
  /** The draft as it was sent: a repeat under the same key sends the same. */
  readonly draft: string;
  /** How often it was sent under this key, by any run. It was stored before, so the last one may be missing. */
  readonly sendings: number;
  /** Whether an earlier run left it, under this key or another. */
  readonly isEarlier: boolean;
  /** Whether this run sent it. */
  readonly isOwn: boolean;
  /** Keys that this run has sent it under. */
  readonly keys: number;
  /** Calls of this run at which the service failed, although it was up. */
  readonly failures: number;
}

/** A create returned this id, or a list showed it. */
export interface MadeProduct extends ProductFacts {
  readonly is: 'made';
  /** Whether this run sent the create. */
  readonly isOwn: boolean;
  /** Whether a list of this run showed it. */
  readonly wasListed: boolean;
  /** Looks, each in a round of its own, that did not show the product. */
  readonly misses: number;
  /** Calls of this run at which the service failed, although it was up. */
  readonly failures: number;
  /** The fields that updates of this run have sent, unless the service rejected them. */
  readonly fieldsSent: readonly string[];
}

/** What is known of the create of one row. */
export type CreateState = typeof NONE | SentCreate | MadeProduct;

/** Nothing is under way. */
export const NONE = { is: 'none' } as const;

/** How often a create is sent under one key. */
const MAX_SENDINGS = 2;

/** A create that an earlier run left in the store. */
export function earlier(stored: Pick<SentCreate, 'idempotencyKey' | 'draft' | 'sendings'>): SentCreate {
  return { is: 'sent', ...stored, isEarlier: true, isOwn: false, keys: 0, failures: 0 };
}

/** A product that an earlier run, or a list, is known by. */
export function known({ id, createdAt, key }: ProductFacts, isOwn = false): MadeProduct {
  const course = { isOwn, wasListed: false, misses: 0, failures: 0, fieldsSent: [] };
  return { is: 'made', id, createdAt, key, ...course };
}

/**
 * Whose a product is that has the id of a row's product, but not the row's key: `ours`, because it still has the key that it
 * last showed or was created at the same moment, so that it was renumbered; `other`, under an id that was used again; or
 * `unclear`, because a moment is missing.
 */
export function whose(state: MadeProduct, shown: ProductFacts, rowKey: string): 'ours' | 'other' | 'unclear' {
  if (shown.key !== '' && (shown.key === rowKey || shown.key === state.key)) return 'ours';
  const [then, now] = [state.createdAt, shown.createdAt];
  // A moment and a text without an offset cannot be compared.
  if (then === undefined || typeof then !== typeof now) return 'unclear';
  return then === now ? 'ours' : 'other';
}

/** A product that a list or a get shows. */
export interface SeenProduct extends ProductFacts {
  readonly isListed: boolean;
}

/** What a round sees of a row. */
export type Sight =
  /** One product has its key. */
  | { readonly products: 'one'; readonly product: SeenProduct }
  /** Several products could be meant, or one only looks alike. */
  | { readonly products: 'several' }
  /** None has its key. */
  | {
      readonly products: 'none';
      /** Whether the list can have missed it. */
      readonly mayLack: boolean;
      /** Of a `made` row: what the list or a get says of its id. */
      readonly made?: MadeSight | undefined;
    };

export type MadeSight =
  /** It shows a product that may be that of the row; `isTaken`: with the key of another row, or without one. */
  | { readonly is: 'shown'; readonly product: SeenProduct; readonly isTaken: boolean }
  /** A get says that it does not exist. */
  | { readonly is: 'missing' }
  /** The get failed otherwise. */
  | { readonly is: 'failed' };

/**
 * What a round does about a row. `unreachable`: it fails, because a list of this run showed its product, but a request for it
 * says that it does not exist. `lacking`: it fails, because the list can lack its product.
 */
export type RowStep = 'compare' | 'conflict' | 'failed' | 'unreachable' | 'open' | 'lacking' | 'send';

/** Table A: what a round makes of a row by what it sees. */
export function afterLook(
  state: CreateState,
  sight: Sight,
  rowKey: string,
): { readonly state: CreateState; readonly step: RowStep } {
  if (sight.products === 'several') return { state, step: 'conflict' };
  if (sight.products === 'one') return { state: found(state, sight.product), step: 'compare' };
  const unseen = { state, step: sight.mayLack ? 'lacking' : 'send' } as const;
  if (state.is !== 'made') return unseen;

  const { made } = sight;
  if (made === undefined || made.is === 'failed') return { state, step: 'failed' };
  if (made.is === 'missing' && state.wasListed) return { state, step: 'unreachable' };
  if (made.is === 'shown') {
    const owner = whose(state, made.product, rowKey);
    if (owner === 'unclear' || (owner === 'ours' && made.isTaken)) return { state, step: 'conflict' };
    if (owner === 'ours') return { state: found(state, made.product), step: 'compare' };
  }
  const missed = { ...state, misses: state.misses + 1 };
  // One look may come from a copy of the data that lags behind.
  return missed.misses < 2 ? { state: missed, step: 'open' } : { ...unseen, state: NONE };
}

/** A product that a list shows under the key of a row is that of its create. */
function found(state: CreateState, product: SeenProduct): MadeProduct {
  const { id, createdAt, key, isListed } = product;
  const isSame = state.is === 'made' && state.id === id;
  const before = isSame ? state : known(product, state.is === 'sent' && state.isOwn);
  return { ...before, createdAt, key, misses: 0, wasListed: before.wasListed || isListed };
}

/**
 * What is stored before a create is sent. One whose outcome is unknown is repeated once under its key, with its draft,
 * because the service may be slower than the client waits; after that, it gets a new key and the draft of its row.
 * `mayRepeat` is false for a service that ignores the key.
 */
export function toSend(
  state: CreateState,
  { draft, mayRepeat }: { readonly draft: string; readonly mayRepeat: boolean },
): SentCreate {
  const before =
    state.is === 'sent' ? state : ({ is: 'sent', isEarlier: false, keys: 0, failures: 0 } as const);
  if (state.is === 'sent' && state.sendings < MAX_SENDINGS && mayRepeat)
    return { ...state, sendings: state.sendings + 1, isOwn: true, keys: Math.max(1, state.keys) };
  const idempotencyKey = newIdempotencyKey();
  return { ...before, idempotencyKey, draft, sendings: 1, isOwn: true, keys: before.keys + 1 };
}

/** What is known of a create that was stored, but not sent after all. */
export function unsent(state: SentCreate): CreateState {
  return isFirstSending(state) ? NONE : { ...state, sendings: state.sendings - 1 };
}

/** Whether nothing but the sending that just ended, or did not begin, used the key of a create. */
function isFirstSending({ sendings }: SentCreate): boolean {
  return sendings <= 1;
}

/**
 * Whether the service fails at a row alone, so that it is sent a single time more: it applied others, or an earlier run met
 * it too. `hasOthers`: it applied a write of this kind.
 */
export function isOdd(state: SentCreate | MadeProduct, hasOthers: boolean): boolean {
  return state.failures > 0 && (hasOthers || (state.is === 'sent' && state.isEarlier));
}

/** What an update ended with. */
export type UpdateEnd =
  | { readonly end: 'updated'; readonly product: ProductFacts }
  /** The service says that there is no such product. */
  | { readonly end: 'missing' }
  /** The service is down. */
  | { readonly end: 'outage' }
  /** A 500, or another sign of an outage although the service is up: it failed, for this call or for all. */
  | { readonly end: 'broken'; readonly isOdd: boolean }
  /** A 2xx without a body, after which the product could not be read. */
  | { readonly end: 'empty' }
  /** A 2xx with a body that is not the product. */
  | { readonly end: 'unread' }
  | { readonly end: 'failed' };

interface Circumstances {
  /** Whether the service was up after the error. */
  readonly wasUp?: boolean;
  /** See {@link isOdd}, before this call. */
  readonly isOdd?: boolean;
}

/** What the error of an update says. */
export function endOfUpdate(
  error: unknown,
  { wasUp = false, isOdd: odd = false }: Circumstances = {},
): UpdateEnd {
  if (isAccountingError(error, 'not_found') && error.missing) return { end: 'missing' };
  if (isAccountingError(error, 'unexpected_response'))
    return { end: error.reason === 'empty' ? 'empty' : 'unread' };
  if (!isOutageError(error)) return { end: 'failed' };
  return wasUp ? { end: 'broken', isOdd: odd } : { end: 'outage' };
}

/** `look`: a request for the product shows whether it was updated. `odd`: it fails, because the service fails at it alone. */
export type UpdateStep = 'updated' | 'conflict' | 'unreachable' | 'look' | 'open' | 'odd' | 'failed';

/** Table B: what the end of an update makes of a row. `fields`: those that were sent. */
export function afterUpdate(
  state: MadeProduct,
  end: UpdateEnd,
  { rowKey, fields }: { readonly rowKey: string; readonly fields: readonly string[] },
): { readonly state: MadeProduct; readonly step: UpdateStep } {
  const sent = { ...state, fieldsSent: [...new Set([...state.fieldsSent, ...fields])] };
  switch (end.end) {
    case 'updated': {
      const { createdAt, key } = end.product;
      // A response with the id alone says nothing about whose it is.
      if (createdAt === undefined && key === '') return { state: sent, step: 'updated' };
      if (whose(state, end.product, rowKey) !== 'ours') return { state, step: 'conflict' };
      return { state: { ...sent, createdAt, key }, step: 'updated' };
    }
    case 'missing':
      return state.wasListed
        ? { state, step: 'unreachable' }
        : { state: { ...state, misses: state.misses + 1 }, step: 'open' };
    case 'outage':
      return { state: sent, step: 'open' };
    case 'broken':
      return { state: { ...sent, failures: state.failures + 1 }, step: end.isOdd ? 'odd' : 'open' };
    case 'empty':
      return { state: sent, step: 'updated' };
    case 'unread':
      return { state: sent, step: 'look' };
    default:
      return { state, step: 'failed' };
  }
}

/** What a create ended with, over all its attempts. */
export type CreateEnd =
  | { readonly end: 'created'; readonly product: ProductFacts }
  /** The service did not carry it out. `isUnseen`: it did not look at the idempotency key, because of the rate limit for example. */
  | { readonly end: 'rejected'; readonly isOutage: boolean; readonly isUnseen: boolean }
  /** A 2xx that could not be read but for its id. */
  | { readonly end: 'applied'; readonly id: string }
  /** A 5xx, or a sign of an outage although the service is up, or a 2xx that is not the product. It can exist. */
  | { readonly end: 'broken'; readonly isOdd: boolean }
  | { readonly end: 'unknown' };

/** Errors of services that did not look at the idempotency key. */
const BEFORE_THE_KEY: readonly string[] = ['rate_limited', 'unauthenticated', 'scope_required'];

/**
 * What the error of a create says. One that is not of this package, such as that of a signal, says nothing, and neither do
 * those that stop an attempt before it is sent: an earlier one may have been.
 */
export function endOfCreate(
  error: unknown,
  { wasUp = false, isOdd: odd = false }: Circumstances = {},
): CreateEnd {
  if (!isAccountingError(error) || error.code === 'checkpoint' || error.code === 'concurrent_run')
    return { end: 'unknown' };
  const { outcome } = error;
  if (outcome === 'rejected' || outcome === 'not_sent') {
    const isUnseen = outcome === 'not_sent' || BEFORE_THE_KEY.includes(error.code);
    return { end: 'rejected', isOutage: isOutageError(error), isUnseen };
  }
  const isUnread = isAccountingError(error, 'unexpected_response');
  if (outcome === 'applied' && isUnread && error.recordId !== undefined)
    return { end: 'applied', id: error.recordId };
  const isOfService = isApiError(error) && error.status >= 500;
  const isBroken = isUnread || (isOutageError(error) ? wasUp : isOfService);
  return isBroken ? { end: 'broken', isOdd: odd } : { end: 'unknown' };
}

/** `look`: the product can be another than the row's, because its create was repeated. `odd`: see {@link UpdateStep}. */
export type CreateStep = 'created' | 'conflict' | 'look' | 'open' | 'odd' | 'failed';

/** Table C: what the end of a create makes of a row. */
export function afterCreate(
  state: SentCreate,
  end: CreateEnd,
  rowKey: string,
): { readonly state: CreateState; readonly step: CreateStep } {
  const { isOwn } = state;
  switch (end.end) {
    case 'created': {
      const made = known(end.product, isOwn);
      if (!isFirstSending(state)) return { state: made, step: 'look' };
      return { state: made, step: made.key === rowKey ? 'created' : 'conflict' };
    }
    case 'applied':
      return { state: known({ id: end.id, createdAt: undefined, key: '' }, isOwn), step: 'open' };
    case 'broken':
      return { state: { ...state, failures: state.failures + 1 }, step: end.isOdd ? 'odd' : 'open' };
    case 'unknown':
      return { state, step: 'open' };
    default:
      if (isFirstSending(state)) return { state: NONE, step: end.isOutage ? 'open' : 'failed' };
      // Of a repeat, a rejection says nothing about the first sending. A service can store it for the key.
      return { state: end.isUnseen ? unsent(state) : state, step: 'open' };
  }
}
