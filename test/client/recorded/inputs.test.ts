import { createClient, idempotencyKeyFor, idFromIri, toMoney } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test, vi } from 'vitest';
import { useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

const sandbox = createSandbox({ records: 0, origin: 'https://service.example' });
const client = createClient({ ...sandbox.clientOptions, logger: quiet() });
const { accounts, products } = client;

function quiet() {
  return { debug() {}, info() {}, warn() {} };
}

const VALUES: Readonly<Record<string, unknown>> = {
  undefined,
  null: null,
  true: true,
  false: false,
  0: 0,
  '-1': -1,
  1: 1,
  '1.5': 1.5,
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '2^53': 2 ** 53,
  '1n': 1n,
  "''": '',
  "' '": ' ',
  "'a'": 'a',
  "'a\\n'": 'a\n',
  "'\\ud800'": '\ud800',
  '{}': {},
  '{ a: 1 }': { a: 1 },
  "{ a: 'b' }": { a: 'b' },
  '{ a: null }': { a: null },
  '[]': [],
  '[null]': [null],
  "['a', 'b']": ['a', 'b'],
  'a function': () => {},
  'a symbol': Symbol('s'),
  'a promise': Promise.resolve(1),
  'a date': new Date('2026-01-31T12:00:00Z'),
  'an invalid date': new Date(Number.NaN),
  'a Map': new Map([['a', 'b']]),
  'an instance': new (class {
    a = 'b';
  })(),
  'search parameters': new URLSearchParams('a=b'),
  'a signal': new AbortController().signal,
};

type Options = Record<string, unknown>;

/** By function: the names of its options, and how they are passed. Each name may lead into an object: `retry.maxAttempts`. */
const OPTIONS: Readonly<
  Record<string, readonly [names: string, call: (options: never) => unknown, needed?: Options]>
> = {
  createClient: [
    `baseUrl apiKey allowInsecure on on.request on.run logger appInfo appInfo.name appInfo.version fetch contentTypes
       contentTypes.create contentTypes.update bareNotFound ids checkIds maxBodyBytes rateLimiter timeoutMs deadlineMs maxWaitMs
       retry retry.maxAttempts retry.baseDelayMs retry.maxDelayMs retry.updates retry.creates pagination prefetch listOrder
       afterLastPage pageParameter parameters parameters.a validation schemas schemas.accounts`,
    (options) => createClient(options),
    { ...sandbox.clientOptions, appInfo: { name: 'shop' } },
  ],
  'client.withOptions': ['timeoutMs retry pagination parameters validation', (o) => client.withOptions(o)],
  'client.collection': ['schema', (o) => client.collection('boms', o)],
  'the query of list': [
    'page updatedSince id id.gt id.gte id.lt id.lte id.between',
    (o) => void accounts.list(o),
  ],
  list: [
    'signal headers headers.a onResponse timeoutMs retry pagination pagination.first pagination.next prefetch parameters resumeFrom',
    (o) => void accounts.list({}, o),
  ],
  toArray: ['limit', (o) => accounts.list().toArray(o)],
  get: ['signal headers headers.a headers.accept onResponse deadlineMs retry', (o) => accounts.get('7', o)],
  create: ['idempotencyKey', (o) => products.create({}, o)],
  request: [
    'method path query query.a body contentType schema idempotencyKey redactKey',
    (o) => client.request(o),
    { path: '/boms', method: 'POST' },
  ],
  toMoney: ['digits rounding', (o) => toMoney('1.23', o)],
};

/** Arguments that are no options. */
const ARGUMENTS: Readonly<Record<string, (value: never) => unknown>> = {
  'accounts.get(id)': (id) => accounts.get(id),
  'products.update(id)': (id) => products.update(id, { name: 'Desk' }),
  'products.create(draft)': (draft) => products.create(draft),
  'products.create({ name })': (name) => products.create({ name }),
  'products.create({ salePrice })': (salePrice) => products.create({ salePrice }),
  'products.create({ isInactive })': (isInactive) => products.create({ isInactive }),
  'products.create({ salePriceDecimals })': (salePriceDecimals) => products.create({ salePriceDecimals }),
  'products.create({ stockQuantity })': (stockQuantity) => products.create({ stockQuantity }),
  'products.create({ tags })': (tags) => products.create({ tags }),
  'products.create({ id })': (id) => products.create({ id }),
  'products.create({ own })': (own) => products.create({ own } as object),
  'products.update({ salePrice })': (salePrice) => products.update('1', { salePrice }),
  'client.collection(name)': (name) => client.collection(name),
  idempotencyKeyFor: (part) => idempotencyKeyFor(part),
  idFromIri: (iri) => idFromIri(iri),
};

function nested([first = '', ...others]: readonly string[], value: unknown, needed: Options): Options {
  if (others.length === 0) return { ...needed, [first]: value };
  return { ...needed, [first]: nested(others, value, (needed[first] ?? {}) as Options) };
}

/** What each value comes to: the message of an error, with the values that have it. */
async function outcomes(act: (value: unknown) => unknown): Promise<string[]> {
  const byOutcome = new Map<string, string[]>();
  for (const [name, value] of Object.entries(VALUES)) {
    let outcome: string;
    try {
      await act(value);
      outcome = 'allowed';
    } catch (error) {
      const { code, status, message } = error as { code?: string; status?: number; message: string };
      outcome = status === undefined ? (code === 'invalid_input' ? message : String(error)) : 'allowed';
    }
    byOutcome.set(outcome, [...(byOutcome.get(outcome) ?? []), name]);
  }
  const most = Math.max(...[...byOutcome.values()].map(({ length }) => length));
  return [...byOutcome].map(([outcome, names]) => {
    const isRest = names.length === most && byOutcome.size > 1;
    return `  ${outcome} <- ${isRest ? 'every other' : names.join(', ')}`;
  });
}

test('each option and argument rejects the values that are recorded, in their words', async () => {
  vi.stubEnv('ACCOUNTING_API_KEY', '');
  const lines: string[] = [];
  for (const [of, [names, call, needed = {}]] of Object.entries(OPTIONS))
    for (const name of names.split(/\s+/)) {
      const options = (value: unknown) => nested(name.split('.'), value, needed) as never;
      lines.push(`${of}: ${name}`, ...(await outcomes((value) => call(options(value)))));
    }
  for (const [name, act] of Object.entries(ARGUMENTS))
    lines.push(name, ...(await outcomes((value) => act(value as never))));
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('./inputs.txt');
});
