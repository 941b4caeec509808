import {
  type CallOutcome,
  ConnectionError,
  NotFoundError,
  RateLimitedError,
  type UnexpectedReason,
  UnexpectedResponseError,
  UnknownApiError,
} from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import {
  afterBrokenRound,
  afterCreate,
  afterLook,
  afterUpdate,
  type CreateEnd,
  type CreateState,
  endOfCreate,
  endOfUpdate,
  type MadeProduct,
  NONE,
  type SentCreate,
  type Sight,
  toSend,
} from '../../../src/push/create.ts';

const sent = (facts: Partial<SentCreate> = {}): SentCreate => ({
  is: 'sent',
  idempotencyKey: 'first',
  draft: '{"name":"Desk"}',
  isEarlier: false,
  sendings: 1,
  ...facts,
});
const earlier = (sendings: number) => sent({ isEarlier: true, sendings });
const made = (facts: Partial<MadeProduct> = {}): MadeProduct => ({
  is: 'made',
  id: '7',
  isOwn: false,
  misses: 0,
  ...facts,
});
const rejected = (facts = {}): CreateEnd => ({ end: 'rejected', isOutage: false, isUnseen: false, ...facts });
const unsent = rejected({ isUnseen: true, isOutage: true });
const none = (facts: object = {}): Sight => ({ products: 'none', mayLack: false, ...facts });
const one: Sight = { products: 'one', id: '7' };
const lacks = none({ made: 'missing', mayLack: true });

describe('what a round sees', () => {
  test.each<[string, CreateState, Sight, CreateState, string]>([
    ['one product, nothing sent', NONE, one, made(), 'compare'],
    ['the product of a create of this run', sent(), one, made({ isOwn: true }), 'compare'],
    ['the product of a create of an earlier run', earlier(0), one, made(), 'compare'],
    ['its own product', made({ isOwn: true, misses: 1 }), one, made({ isOwn: true }), 'compare'],
    ['another product than this run made', made({ id: '5', isOwn: true }), one, made(), 'compare'],
    ['several products, nothing sent', NONE, { products: 'several' }, NONE, 'conflict'],
    ['several products, a create sent', sent(), { products: 'several' }, sent(), 'conflict'],
    ['several products, one made', made(), { products: 'several' }, made(), 'conflict'],
    ['a made product by its id', made({ misses: 1 }), none({ made: 'shown' }), made(), 'compare'],
    ['a made product of another row', made(), none({ made: 'of_another' }), made(), 'conflict'],
    ['a made product missing, first', made(), none({ made: 'missing' }), made({ misses: 1 }), 'open'],
    ['a made product missing, second', made({ misses: 1 }), none({ made: 'missing' }), NONE, 'send'],
    ['the same, in an incomplete list', made({ misses: 1 }), lacks, NONE, 'lacking'],
    ['a made product missing, first, in an incomplete list', made(), lacks, made({ misses: 1 }), 'open'],
    ['a failed get', made({ misses: 1 }), none({ made: 'failed' }), made({ misses: 1 }), 'failed'],
    ['an incomplete list, nothing sent', NONE, none({ mayLack: true }), NONE, 'lacking'],
    ['an incomplete list, a create sent', sent(), none({ mayLack: true }), sent(), 'lacking'],
    ['no product, nothing sent', NONE, none(), NONE, 'send'],
    ['no product, a create sent', sent(), none(), sent(), 'send'],
  ])('%s', (_, state, sight, next, step) => {
    expect(afterLook(state, sight)).toEqual({ state: next, step });
  });
});

describe('what is sent', () => {
  const intention = { draft: '{"name":"Table"}', mayRepeat: true };

  test.each([
    ['the first create', NONE, true],
    ['a create that was repeated', sent({ sendings: 2 }), true],
    ['a create of an earlier run that was repeated', earlier(2), true],
    ['a create on a service that ignores its key', sent(), false],
    ['a create of an earlier run on such a service', earlier(0), false],
  ] as const)('%s has a new key and the draft of the row', (_, state, mayRepeat) => {
    const next = toSend(state, { ...intention, mayRepeat });
    expect(next).toEqual(sent({ idempotencyKey: next.idempotencyKey, draft: intention.draft }));
    expect(next.idempotencyKey).not.toBe('first');
    expect(next.idempotencyKey.length).toBeLessThanOrEqual(64);
    expect(toSend(state, { ...intention, mayRepeat }).idempotencyKey).not.toBe(next.idempotencyKey);
  });

  test.each([
    ['a create', sent(), sent({ sendings: 2 })],
    ['a create of an earlier run', earlier(0), earlier(1)],
    ['a create of an earlier run, which may not have sent it,', earlier(1), earlier(2)],
  ] as const)('%s is repeated under its key, with its draft', (_, state, next) => {
    expect(toSend(state, intention)).toEqual(next);
  });
});

test('a create on a service that ignores its key stays one at which the service failed', () => {
  expect(toSend(sent({ isOdd: true }), { draft: '{}', mayRepeat: false }).isOdd).toBe(true);
});

test.each([
  ['the service applied others', sent(), true, true],
  ['no other create succeeded', sent(), false, undefined],
  ['an earlier run met it too', earlier(1), false, true],
  ['the service applied other updates', made(), true, true],
  ['no other update succeeded', made(), false, undefined],
] as const)('a 500 is about the row if %s', (_, state, hasOthers, isOdd) => {
  expect(afterBrokenRound(state, hasOthers)).toEqual({ ...state, isOdd });
});

describe('the end of an update', () => {
  test.each([
    ['missing', made({ misses: 1 }), 'open'],
    ['outage', made(), 'open'],
    ['broken', made(), 'open'],
    ['empty', made(), 'updated'],
    ['unread', made(), 'look'],
    ['failed', made(), 'failed'],
  ] as const)('%s', (end, state, step) => {
    expect(afterUpdate(made(), end)).toEqual({ state, step });
  });

  test('broken, at a row at which the service failed alone', () => {
    const odd = made({ isOdd: true });
    expect(afterUpdate(odd, 'broken')).toEqual({ state: odd, step: 'odd' });
  });
});

describe('the end of a create', () => {
  const created: CreateEnd = { end: 'created', id: '7' };
  const applied: CreateEnd = { end: 'applied', id: '7' };
  const unknown: CreateEnd = { end: 'unknown' };
  const broken: CreateEnd = { end: 'broken' };
  const repeat = sent({ sendings: 2 });
  const odd = sent({ isOdd: true });

  test.each<[string, SentCreate, CreateEnd, CreateState, string]>([
    ['2xx, first sending', sent(), created, made({ isOwn: true }), 'created'],
    ['2xx, repeat', repeat, created, made({ isOwn: true }), 'created'],
    ['2xx, repeat of an earlier run', earlier(1), created, made(), 'look'],
    ['2xx with a new product', earlier(1), { ...created, isNew: true }, made({ isOwn: true }), 'look'],
    ['500, first sending', sent(), broken, sent(), 'open'],
    ['500, repeat', repeat, broken, repeat, 'open'],
    ['500 again at a row at which it failed alone', odd, broken, odd, 'odd'],
    ['unknown, at a row at which it failed alone', odd, unknown, odd, 'open'],
    ['2xx with an id alone, first sending', sent(), applied, made({ isOwn: true }), 'open'],
    ['2xx with an id alone, repeat of an earlier run', earlier(1), applied, made(), 'open'],
    ['rejected, first sending', sent(), rejected(), NONE, 'failed'],
    ['not sent because of an outage, first sending', sent(), rejected({ isOutage: true }), NONE, 'open'],
    ['rejected, repeat', repeat, rejected(), repeat, 'open'],
    ['rejected, repeat of an earlier run', earlier(1), rejected(), earlier(2), 'open'],
    ['rate limited, repeat', repeat, rejected({ isUnseen: true }), sent(), 'open'],
    ['not sent, repeat of an earlier run', earlier(1), unsent, earlier(0), 'open'],
    ['unknown, first sending', sent(), unknown, sent(), 'open'],
    ['unknown, repeat', repeat, unknown, repeat, 'open'],
    ['unknown, repeat of an earlier run', earlier(1), unknown, earlier(1), 'open'],
  ])('%s', (_, state, end, next, step) => {
    expect(afterCreate(state, end)).toEqual({ state: next, step });
  });
});

const facts = (outcome: CallOutcome = 'unknown') => ({ outcome });
const response = (status: number, more = {}) =>
  ({ status, problem: { violations: [], extensions: {} }, headers: {}, ...more }) as never;
const failed = (status: number, outcome?: CallOutcome) =>
  new UnknownApiError('', facts(outcome), response(status));
const unread = (reason: UnexpectedReason, outcome: CallOutcome, recordId?: string) =>
  new UnexpectedResponseError('', facts(outcome), { status: 201, reason, recordId });

test.each<[string, unknown, CreateEnd]>([
  ['a 503 that was rejected is an outage', failed(503, 'rejected'), rejected({ isOutage: true })],
  ['a 422 is about the draft', failed(422, 'rejected'), rejected()],
  [
    'a 429 did not look at the key',
    new RateLimitedError('', facts('rejected'), response(429)),
    rejected({ isUnseen: true }),
  ],
  ['a connection that was not made did not either', new ConnectionError('', facts('not_sent')), unsent],
  ['a 500 may come after the commit', failed(500), { end: 'broken' }],
  ['a 507 too', failed(507), { end: 'broken' }],
  ['a 504 is of a gateway', failed(504), { end: 'unknown' }],
  ['a 409 of a key in progress is unknown', failed(409), { end: 'unknown' }],
  ['half a 201 says the id', unread('wrong_content', 'applied', '7'), { end: 'applied', id: '7' }],
  ['half a 201 may lack the id', unread('wrong_content', 'applied'), { end: 'broken' }],
  ['half a 201 after a lost response', unread('wrong_content', 'unknown', '7'), { end: 'broken' }],
  ['the reason of a signal says nothing', new Error('stopped'), { end: 'unknown' }],
])('the error of a create: %s', (_, error, end) => {
  expect(endOfCreate(error)).toEqual(end);
});

test.each([
  ['a 404 of the record', new NotFoundError('', facts('rejected'), response(404)), 'missing'],
  ['a 404 of a proxy', new NotFoundError('', facts(), response(404, { content: 'other' })), 'failed'],
  ['no body', unread('empty', 'applied'), 'empty'],
  ['another object', unread('wrong_shape', 'unknown'), 'unread'],
  ['a 502', failed(502), 'outage'],
  ['a lost response', new ConnectionError('', facts()), 'outage'],
  ['a 500', failed(500), 'broken'],
  ['a 422', failed(422, 'rejected'), 'failed'],
])('the error of an update: %s', (_, error, end) => {
  expect(endOfUpdate(error)).toBe(end);
});

test.each([502, 503, 504])('a %i after which the service was up is about the row', (status) => {
  expect(endOfCreate(failed(status), true)).toEqual({ end: 'broken' });
  expect(endOfUpdate(failed(status), true)).toBe('broken');
});
