import {
  type CallOutcome,
  CheckpointError,
  ConcurrentRunError,
  ConnectionError,
  NotFoundError,
  RateLimitedError,
  ScopeRequiredError,
  TimeoutError,
  UnauthenticatedError,
  type UnexpectedReason,
  UnexpectedResponseError,
  UnknownApiError,
} from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import {
  afterCreate,
  afterLook,
  afterUpdate,
  type CreateEnd,
  type CreateState,
  type CreateStep,
  endOfCreate,
  endOfUpdate,
  isOdd,
  type MadeProduct,
  type MadeSight,
  NONE,
  type ProductFacts,
  type RowStep,
  type SentCreate,
  type Sight,
  toSend,
  type UpdateEnd,
  type UpdateStep,
  unsent,
  whose,
} from '../../../src/push/create.ts';

/** The folded key of the row. */
const KEY = 'a';

const sent = (facts: Partial<SentCreate> = {}): SentCreate => ({
  is: 'sent',
  idempotencyKey: 'first',
  draft: '{"name":"Desk"}',
  sendings: 1,
  isEarlier: false,
  isOwn: true,
  keys: 1,
  failures: 0,
  ...facts,
});
/** As an earlier run left it. */
const earlier = (facts: Partial<SentCreate> = {}) =>
  sent({ isEarlier: true, isOwn: false, keys: 0, ...facts });
const made = (facts: Partial<MadeProduct> = {}): MadeProduct => ({
  is: 'made',
  id: '7',
  createdAt: 100,
  key: KEY,
  isOwn: false,
  wasListed: false,
  misses: 0,
  failures: 0,
  fieldsSent: [],
  ...facts,
});
const product = (facts: Partial<ProductFacts> = {}): ProductFacts => ({
  id: '7',
  createdAt: 100,
  key: KEY,
  ...facts,
});
const listed = (facts: Partial<ProductFacts> = {}) => ({ ...product(facts), isListed: true });
const got = (facts: Partial<ProductFacts> = {}) => ({ ...product(facts), isListed: false });

describe('whose product a known id shows', () => {
  test.each<[string, MadeProduct, ProductFacts, ReturnType<typeof whose>]>([
    ['the key of the row', made(), product(), 'ours'],
    ['the key of the row, created at another moment', made(), product({ createdAt: 200 }), 'ours'],
    ['the key that it last showed', made({ key: 'x' }), product({ key: 'x', createdAt: 200 }), 'ours'],
    ['another key, created at the same moment', made(), product({ key: 'b' }), 'ours'],
    ['no key, created at the same moment', made(), product({ key: '' }), 'ours'],
    ['another key, created at another moment', made(), product({ key: 'b', createdAt: 200 }), 'other'],
    ['no key, created at another moment', made({ key: '' }), product({ key: '', createdAt: 200 }), 'other'],
    ['another key, no moment now', made(), product({ key: 'b', createdAt: undefined }), 'unclear'],
    ['another key, no moment then', made({ createdAt: undefined }), product({ key: 'b' }), 'unclear'],
    ['another key, and a text for a moment', made(), product({ key: 'b', createdAt: '100' }), 'unclear'],
  ])('%s', (_, state, shown, owner) => {
    expect(whose(state, shown, KEY)).toBe(owner);
  });
});

describe('table A: what a round sees', () => {
  const one: Sight = { products: 'one', product: listed() };
  const several: Sight = { products: 'several' };
  const none = (sight?: MadeSight): Sight => ({ products: 'none', mayLack: false, made: sight });
  const lacking = (sight?: MadeSight): Sight => ({ products: 'none', mayLack: true, made: sight });
  const missing: MadeSight = { is: 'missing' };
  const shown = (facts: Partial<ProductFacts> = {}, isTaken = false): MadeSight => ({
    is: 'shown',
    product: got(facts),
    isTaken,
  });
  const renumbered = { key: 'b' };
  const stranger = { key: 'b', createdAt: 200 };
  const unclear = { key: 'b', createdAt: undefined };
  const known = made({ wasListed: true });

  test.each<[string, CreateState, Sight, CreateState, RowStep]>([
    ['one product, nothing sent', NONE, one, known, 'compare'],
    ['one product, a create of this run', sent(), one, { ...known, isOwn: true }, 'compare'],
    ['one product, a create of an earlier run', earlier(), one, known, 'compare'],
    [
      'one product, which is known',
      made({ misses: 1, fieldsSent: ['name'] }),
      one,
      { ...known, fieldsSent: ['name'] },
      'compare',
    ],
    ['one product, another than was known', made({ id: '5', isOwn: true }), one, known, 'compare'],
    ['one product, got by its id', made(), { products: 'one', product: got() }, made(), 'compare'],
    ['several, nothing sent', NONE, several, NONE, 'conflict'],
    ['several, a create sent', sent(), several, sent(), 'conflict'],
    ['several, one known', made(), several, made(), 'conflict'],
    [
      'none, known, shown with another key',
      made({ misses: 1 }),
      none(shown(renumbered)),
      made(renumbered),
      'compare',
    ],
    [
      'none, known, shown with the key of another row',
      made(),
      none(shown(renumbered, true)),
      made(),
      'conflict',
    ],
    ['none, known, shown without a key', made(), none(shown({ key: '' }, true)), made(), 'conflict'],
    ['none, known, nobody can say whose', made(), none(shown(unclear)), made(), 'conflict'],
    [
      'none, known, the id is of another: first miss',
      made(),
      none(shown(stranger)),
      made({ misses: 1 }),
      'open',
    ],
    [
      'none, known, the id is of another, whose key a row has',
      made(),
      none(shown(stranger, true)),
      made({ misses: 1 }),
      'open',
    ],
    [
      'none, known, the id is of another: second miss',
      made({ misses: 1 }),
      none(shown(stranger)),
      NONE,
      'send',
    ],
    ['none, known, not found: first miss', made(), none(missing), made({ misses: 1 }), 'open'],
    ['none, known, not found: second miss', made({ misses: 1 }), none(missing), NONE, 'send'],
    ['none, known, listed, but not found', known, none(missing), known, 'unreachable'],
    ['none, known, the get failed', made(), none({ is: 'failed' }), made(), 'failed'],
    ['none, nothing sent', NONE, none(), NONE, 'send'],
    ['none, a create sent', sent(), none(), sent(), 'send'],
    ['an incomplete list, nothing sent', NONE, lacking(), NONE, 'lacking'],
    ['an incomplete list, a create sent', sent(), lacking(), sent(), 'lacking'],
    ['an incomplete list, first miss', made(), lacking(missing), made({ misses: 1 }), 'open'],
    ['an incomplete list, second miss', made({ misses: 1 }), lacking(missing), NONE, 'lacking'],
  ])('%s', (_, state, sight, next, step) => {
    expect(afterLook(state, sight, KEY)).toEqual({ state: next, step });
  });
});

describe('what is sent', () => {
  const row = { draft: '{"name":"Table"}', mayRepeat: true };

  test.each<[string, CreateState, boolean, Partial<SentCreate>]>([
    ['the first create', NONE, true, {}],
    ['a create that was repeated', sent({ sendings: 2 }), true, { keys: 2 }],
    ['one that an earlier run repeated', earlier({ sendings: 2 }), true, { isEarlier: true }],
    ['a create on a service that ignores its key', sent({ failures: 1 }), false, { keys: 2, failures: 1 }],
    ['one of an earlier run on such a service', earlier(), false, { isEarlier: true }],
  ])('%s has a new key and the draft of the row', (_, state, mayRepeat, facts) => {
    const next = toSend(state, { ...row, mayRepeat });
    expect(next).toEqual(sent({ idempotencyKey: next.idempotencyKey, draft: row.draft, ...facts }));
    expect(next.idempotencyKey).not.toBe('first');
    expect(next.idempotencyKey.length).toBeLessThanOrEqual(64);
    expect(toSend(state, { ...row, mayRepeat }).idempotencyKey).not.toBe(next.idempotencyKey);
  });

  test.each([
    ['a create', sent(), sent({ sendings: 2 })],
    ['a create of an earlier run', earlier(), sent({ sendings: 2, isEarlier: true })],
  ])(
    '%s is repeated once under its key, with its draft, also if the row has another one',
    (_, state, next) => {
      expect(toSend(state, row)).toEqual(next);
    },
  );

  test('a create that is not sent after all is forgotten, a repeat does not count', () => {
    expect(unsent(sent())).toBe(NONE);
    expect(unsent(sent({ sendings: 2 }))).toEqual(sent());
  });
});

test.each([
  ['the service has not failed at it', sent(), true, false],
  ['the service applied others', sent({ failures: 1 }), true, true],
  ['no other create succeeded', sent({ failures: 1 }), false, false],
  ['an earlier run met it too', earlier({ failures: 1 }), false, true],
  ['the service applied other updates', made({ failures: 1 }), true, true],
  ['no other update succeeded', made({ failures: 1 }), false, false],
] as const)('whether the service fails at a row alone: %s', (_, state, hasOthers, odd) => {
  expect(isOdd(state, hasOthers)).toBe(odd);
});

describe('table B: the end of an update', () => {
  const fields = ['name'];
  const updated = (facts: Partial<ProductFacts>): UpdateEnd => ({ end: 'updated', product: product(facts) });
  const tried = made({ fieldsSent: fields });

  test.each<[string, MadeProduct, UpdateEnd, MadeProduct, UpdateStep]>([
    ['2xx', made(), updated({ createdAt: 200 }), made({ fieldsSent: fields, createdAt: 200 }), 'updated'],
    [
      '2xx, after another update',
      made({ fieldsSent: ['ean'] }),
      updated({}),
      made({ fieldsSent: ['ean', 'name'] }),
      'updated',
    ],
    ['2xx with the id alone', made(), updated({ createdAt: undefined, key: '' }), tried, 'updated'],
    [
      '2xx of a renumbered product',
      made({ key: 'x' }),
      updated({ key: 'x' }),
      made({ key: 'x', fieldsSent: fields }),
      'updated',
    ],
    ['2xx of another product', made(), updated({ key: 'b', createdAt: 200 }), made(), 'conflict'],
    [
      '2xx of a product without a moment',
      made(),
      updated({ key: 'b', createdAt: undefined }),
      made(),
      'conflict',
    ],
    ['2xx without a body', made(), { end: 'empty' }, tried, 'updated'],
    ['2xx with another body', made(), { end: 'unread' }, tried, 'look'],
    ['404', made(), { end: 'missing' }, made({ misses: 1 }), 'open'],
    [
      '404 of a product that a list showed',
      made({ wasListed: true }),
      { end: 'missing' },
      made({ wasListed: true }),
      'unreachable',
    ],
    ['outage', made(), { end: 'outage' }, tried, 'open'],
    ['broken', made(), { end: 'broken', isOdd: false }, { ...tried, failures: 1 }, 'open'],
    [
      'broken again, alone',
      made({ failures: 1 }),
      { end: 'broken', isOdd: true },
      { ...tried, failures: 2 },
      'odd',
    ],
    ['any other error', made(), { end: 'failed' }, made(), 'failed'],
  ])('%s', (_, state, end, next, step) => {
    expect(afterUpdate(state, end, { rowKey: KEY, fields })).toEqual({ state: next, step });
  });
});

const rejected = (facts = {}): CreateEnd => ({ end: 'rejected', isOutage: false, isUnseen: false, ...facts });
const notSent = rejected({ isUnseen: true, isOutage: true });

describe('table C: the end of a create', () => {
  const created: CreateEnd = { end: 'created', product: product() };
  const applied: CreateEnd = { end: 'applied', id: '7' };
  const unknown: CreateEnd = { end: 'unknown' };
  const broken: CreateEnd = { end: 'broken', isOdd: false };
  const odd: CreateEnd = { end: 'broken', isOdd: true };
  const repeat = sent({ sendings: 2 });
  const ofId = made({ isOwn: true, createdAt: undefined, key: '' });
  const other = { end: 'created', product: product({ key: 'b' }) } as const;

  test.each<[string, SentCreate, CreateEnd, CreateState, CreateStep]>([
    ['2xx, first sending', sent(), created, made({ isOwn: true }), 'created'],
    ['2xx with another key, first sending', sent(), other, made({ isOwn: true, key: 'b' }), 'conflict'],
    ['2xx, repeat', repeat, created, made({ isOwn: true }), 'look'],
    ['2xx with another key, repeat', repeat, other, made({ isOwn: true, key: 'b' }), 'look'],
    ['2xx with an id alone, first sending', sent(), applied, ofId, 'open'],
    ['2xx with an id alone, repeat', repeat, applied, ofId, 'open'],
    ['rejected, first sending', sent(), rejected(), NONE, 'failed'],
    ['not sent because of an outage, first sending', sent(), notSent, NONE, 'open'],
    ['rejected, repeat', repeat, rejected(), repeat, 'open'],
    ['rate limited, repeat', repeat, rejected({ isUnseen: true }), sent(), 'open'],
    ['not sent, repeat', repeat, notSent, sent(), 'open'],
    ['unknown, first sending', sent(), unknown, sent(), 'open'],
    ['unknown, repeat', repeat, unknown, repeat, 'open'],
    ['500, first sending', sent(), broken, sent({ failures: 1 }), 'open'],
    ['500, repeat', repeat, broken, { ...repeat, failures: 1 }, 'open'],
    ['500 again, alone', sent({ failures: 1 }), odd, sent({ failures: 2 }), 'odd'],
  ])('%s', (_, state, end, next, step) => {
    expect(afterCreate(state, end, KEY)).toEqual({ state: next, step });
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
  [
    'a rejected API key did not either',
    new UnauthenticatedError('', facts('rejected'), response(401)),
    rejected({ isUnseen: true }),
  ],
  [
    'a key that lacks a scope did not either',
    new ScopeRequiredError('', facts('rejected'), response(403)),
    rejected({ isUnseen: true }),
  ],
  ['a connection that was not made did not either', new ConnectionError('', facts('not_sent')), notSent],
  ['a 507 may come after the commit', failed(507), { end: 'broken', isOdd: false }],
  ['a 500 in an outage is unknown', failed(500), { end: 'unknown' }],
  ['a 504 in an outage is unknown', failed(504), { end: 'unknown' }],
  ['a 409 of a key in progress is unknown', failed(409), { end: 'unknown' }],
  ['half a 201 says the id', unread('wrong_content', 'applied', '7'), { end: 'applied', id: '7' }],
  ['half a 201 may lack the id', unread('wrong_content', 'applied'), { end: 'broken', isOdd: false }],
  [
    'half a 201 after a lost response',
    unread('wrong_content', 'unknown', '7'),
    { end: 'broken', isOdd: false },
  ],
  ['the reason of a signal says nothing', new Error('stopped'), { end: 'unknown' }],
  ['a store that failed before an attempt says nothing', new CheckpointError(''), { end: 'unknown' }],
  ['another run before an attempt says nothing', new ConcurrentRunError(''), { end: 'unknown' }],
])('the error of a create: %s', (_, error, end) => {
  expect(endOfCreate(error)).toEqual(end);
});

test.each([
  ['a 404 of the record', new NotFoundError('', facts('rejected'), response(404)), 'missing'],
  ['a 404 of a proxy', new NotFoundError('', facts(), response(404, { content: 'other' })), 'failed'],
  ['no body', unread('empty', 'applied'), 'empty'],
  ['another object', unread('wrong_shape', 'unknown'), 'unread'],
  ['a 502', failed(502), 'outage'],
  ['a 527', failed(527), 'outage'],
  ['a 528', failed(528), 'failed'],
  ['no response in time', new TimeoutError('', facts(), { limit: 'attempt' }), 'outage'],
  ['a lost response', new ConnectionError('', facts()), 'outage'],
  ['a 500', failed(500), 'outage'],
  ['a 422', failed(422, 'rejected'), 'failed'],
])('the error of an update: %s', (_, error, end) => {
  expect(endOfUpdate(error)).toEqual({ end });
});

test.each([500, 502, 503, 504])('a %i after which the service was up is about the row', (status) => {
  expect(endOfCreate(failed(status), { wasUp: true, isOdd: true })).toEqual({ end: 'broken', isOdd: true });
  expect(endOfUpdate(failed(status), { wasUp: true })).toEqual({ end: 'broken', isOdd: false });
});
