import {
  type Client,
  type ClientOptions,
  createClient,
  PushError,
  type PushReport,
  type PushResult,
  push,
  type Store,
} from 'accounting-data-sdk';
import { createSandbox, type Sandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { brief } from '../../support/brief.ts';
import { type Quirks, quirky } from '../../support/quirks.ts';
import { runToEnd, startEvenClock, useVirtualClock } from '../../support/virtual-clock.ts';
import { withoutChance } from '../../support/without-chance.ts';

useVirtualClock();

interface Shop {
  readonly sandbox: Sandbox;
  readonly client: Client;
  readonly states: Map<string, string>;
  readonly say: (line: string) => void;
}

type Options = Readonly<Record<string, unknown>>;
type Step = (shop: Shop) => unknown;
type Row = Readonly<Record<string, unknown>>;

interface Session {
  readonly service?: SandboxOptions;
  readonly client?: ClientOptions;
  readonly quirks?: Quirks;
  /** The products that the service has at first. */
  readonly products?: readonly Row[];
  readonly steps: Readonly<Record<string, Step>>;
}

const A = { productNumber: 'A', name: 'Anvil' };
const B = { productNumber: 'B', name: 'Bolt' };
const C = { productNumber: 'C', name: 'Clamp' };
const [a, b, c] = [
  { ...A, salePrice: '1' },
  { ...B, salePrice: '2' },
  { ...C, salePrice: '3' },
];

const pushed =
  (rows: Iterable<object> | AsyncIterable<object>, options: Options = {}): Step =>
  async ({ client, states, say }) => {
    const onResult = ({ action, key, index, row: _, ...rest }: PushResult) =>
      say(`result ${index} ${key} ${action} ${brief(rest)}`);
    const given = { rows, key: 'productNumber', store: states, tenant: 'shop', concurrency: 1, onResult };
    try {
      return said(await push(client.products, { ...given, ...options } as never), say);
    } catch (error) {
      if (error instanceof PushError) said(error.report, say);
      throw error;
    }
  };

function said({ startedAt, endedAt, tenant, ...report }: PushReport, say: Shop['say']): void {
  say(`report of ${tenant}, ${endedAt.getTime() - startedAt.getTime()} ms: ${brief(report)}`);
}

const fault =
  (...given: Parameters<Sandbox['faults']['add']>): Step =>
  ({ sandbox }) =>
    void sandbox.faults.add(...given);
const works: Step = ({ sandbox }) => sandbox.faults.clear();
const change =
  (id: string, fields: Row): Step =>
  ({ sandbox }) =>
    void sandbox.store.products.update(id, fields);
const remove =
  (id: string): Step =>
  ({ sandbox }) =>
    void sandbox.store.products.delete(id);
/** The same with another key of the service. */
const as =
  (keyOf: (sandbox: Sandbox) => string, step: Step): Step =>
  (shop) =>
    step({
      ...shop,
      client: createClient({ ...shop.sandbox.clientOptions, apiKey: keyOf(shop.sandbox) }),
    });
const stored =
  (key: string, text: string | ((before: string) => string)): Step =>
  ({ states }) => {
    const name = `accounting-data-sdk:shop:${key}`;
    states.set(name, typeof text === 'string' ? text : text(states.get(name) ?? ''));
  };

const SESSIONS: Readonly<Record<string, Session>> = {
  'rows of which some mean one product': {
    products: [A, { productNumber: 'b', name: 'Bolt' }, { productNumber: 'B', name: 'Bolt' }],
    steps: {
      'spellings, and two with a product each': pushed([
        { ...a, productNumber: ' a' },
        b,
        { ...b, productNumber: 'b' },
        A,
      ]),
      'an own key function and key name': pushed(
        [
          { ...A, ean: '1' },
          { ...B, ean: '2' },
          { ...C, ean: '3' },
        ],
        {
          key: ({ ean }: Row) => ean,
          keyName: 'ean',
        },
      ),
      'look-alikes': pushed([{ productNumber: 'Ａ' }, { productNumber: '²' }]),
      'what is no key': pushed([
        { productNumber: 7 },
        { productNumber: true },
        { productNumber: ' \u200b' },
        {},
      ]),
      'a key function that throws': pushed([A, B], {
        key: ({ productNumber }: Row) => {
          if (productNumber === 'B') throw new Error('no key');
          return productNumber;
        },
        keyName: 'other',
      }),
    },
  },
  'rows that cannot be read': {
    steps: {
      'a getter that throws': pushed([
        {
          get productNumber(): string {
            throw new Error('gone');
          },
        },
        A,
        {
          productNumber: 'X',
          get name(): string {
            throw new TypeError('gone too');
          },
        },
      ]),
      'an end that throws': pushed(
        (function* () {
          yield B;
          throw new Error('line 2 is cut off');
        })(),
      ),
      none: pushed([]),
    },
  },
  'products that changed upstream': {
    products: [A, B, C],
    steps: {
      first: pushed([A, B, C, { productNumber: 'D' }]),
      'A is renumbered, B is gone, C has the key of D': async (shop) => {
        await change('1', { productNumber: 'A-2' })(shop);
        await remove('2')(shop);
        await change('4', { productNumber: 'D-2' })(shop);
        await change('3', { productNumber: 'D' })(shop);
      },
      'a dry run': pushed([a, b, c, { productNumber: 'D' }], { dryRun: true }),
      again: pushed([a, b, c, { productNumber: 'D' }]),
      'and once more': pushed([a, b, c, { productNumber: 'D' }]),
      'the time of one is not known': stored('products-push:productNumber:2', (text) =>
        text.replace(/,\d+\]/, ',null]'),
      ),
      'but shown again': pushed([b]),
    },
  },
  'a list of many pages': {
    service: { pageSize: 1 },
    products: [A, B, C, { productNumber: 'D' }, { productNumber: 'E' }, { productNumber: 'F' }],
    steps: {
      'without the list of pages': pushed([A, B]),
      'by the known products': pushed([a, B]),
      'one of them locked': fault(
        { kind: 'status', status: 403, type: 'forbidden' },
        { path: /\/products\/2$/ },
      ),
      'a look-up that fails': pushed([A, b]),
      'unlocked, and one removed': async (shop) => {
        await works(shop);
        await remove('1')(shop);
      },
      'then the list is read': pushed([A, B]),
    },
  },
  'keys of the service': {
    products: [A, B],
    steps: {
      first: pushed([A]),
      'a new key of the company': as(({ issueKey }) => issueKey(), pushed([a])),
      'another company': as(({ keys }) => keys.otherCompany, pushed([B])),
      'another company, which is said to be the same': as(
        ({ keys }) => keys.otherCompany,
        pushed([B], { sameCompany: true }),
      ),
      'the known products are gone': async (shop) => {
        await remove('1')(shop);
        await remove('2')(shop);
      },
      'a new key again': as(({ issueKey }) => issueKey(), pushed([A])),
      'and accepted': as(({ issueKey }) => issueKey(), pushed([A], { sameCompany: true })),
      'a key that may only read': as(({ keys }) => keys.readOnly, pushed([a, B], { sameCompany: true })),
      'a revoked key': as(({ keys }) => keys.revoked, pushed([A])),
      'a forbidden key': as(({ keys }) => keys.forbidden, pushed([A])),
    },
  },
  'known products of a company': {
    service: { pageSize: 2 },
    products: 'ABCDEFG'.split('').map((productNumber) => ({ productNumber })),
    steps: {
      first: pushed([{ productNumber: 'G' }]),
      'the second and the third are gone, one is new': async (shop) => {
        await remove('2')(shop);
        await remove('3')(shop);
        await pushed([{ productNumber: 'H' }])(shop);
      },
      'by the known products alone': pushed([{ productNumber: 'G' }]),
      'another prefix and tenant': pushed([{ productNumber: 'G' }], { prefix: 'books:eu', tenant: 'T.2' }),
    },
  },
  'states that cannot be used': {
    products: [A],
    steps: {
      first: pushed([A]),
      damaged: stored('products-push', '{"v":2'),
      'with it': pushed([A]),
      'of another version': stored('products-push', '{"v":1}'),
      'with that': pushed([A]),
      'of another service': stored('products-push', '{"v":2,"scope":"other"}'),
      'with that one': pushed([A]),
      deleted: ({ states }) => void states.delete('accounting-data-sdk:shop:products-push'),
      'a damaged part': stored('products-push:productNumber:1', (text) => text.replace('["1"', '[1')),
      'with that part': pushed([A]),
      'a damaged create': stored('products-push', (text) =>
        text.replace('"open":{}', '"open":{"productNumber":{"sent":{"a":{}},"made":{}}}'),
      ),
      'with that create': pushed([A]),
    },
  },
  'stores that fail': {
    products: [A],
    steps: Object.fromEntries(
      (['get', 'set'] as const).flatMap((method) =>
        [1, 3, 6, 7].map((at): [string, Step] => [
          `at the ${method} number ${at}`,
          (shop) => pushed([a, B], { store: failing(shop.states, method, at) })(shop),
        ]),
      ),
    ),
  },
  'creates that are interrupted': {
    service: { newRecords: { listedAfterMs: 5_000 } },
    steps: {
      'the response is lost, and the process too': fault(
        { kind: 'lost-response', committed: true },
        { method: 'POST' },
      ),
      first: (shop) => pushed([A, B], stopsAt(shop, 'POST'))(shop),
      'the service works': works,
      'the next run': pushed([a, B]),
      'the process is killed before the service has it': fault(
        { kind: 'lost-response', committed: false },
        { method: 'POST' },
      ),
      'a run with C': (shop) => pushed([C], stopsAt(shop, 'POST'))(shop),
      'works again': works,
      'a dry run': pushed([c], { dryRun: true }),
      'the next run, which waits for less': pushed([c], { visibleAfterMs: 2_000 }),
    },
  },
  'writes that fail': {
    products: [A],
    steps: {
      'one row is odd': fault(
        { kind: 'status', status: 500 },
        { when: ({ body }) => /Bolt/.test(new TextDecoder().decode(body)) },
      ),
      'a 500 of one row': pushed([a, B, C]),
      'invalid rows': fault(
        {
          kind: 'status',
          status: 422,
          type: 'validation_failed',
        },
        { method: 'POST' },
      ),
      'a 422': pushed([B, { productNumber: 'V', salePrice: '9' }]),
      'the service works': works,
      'no method': fault({ kind: 'status', status: 405 }, { method: 'POST' }),
      'a 405 for each create': pushed([{ ...A, salePrice: '5' }, B, { productNumber: 'X' }]),
      'works again': works,
      'no such product': fault({ kind: 'status', status: 404, type: 'not_found' }, { method: 'PATCH' }),
      'a 404 for an update': pushed([{ ...A, salePrice: '6' }]),
      'works once more': works,
      'each response is another object': fault({ kind: 'rewrite', body: '{"id":"99"}' }, { method: 'PATCH' }),
      'an update without its product': pushed([{ ...A, salePrice: '7' }]),
      'works in the end': works,
      'a 429 with a long wait': fault(
        { kind: 'status', status: 429, retryAfter: 120 },
        { method: 'POST', times: 1 },
      ),
      'waits at most a minute': pushed([{ productNumber: 'Y' }], { maxWaitMs: 60_000 }),
      'waits for it': pushed([{ productNumber: 'Y' }]),
    },
  },
  'a service that is down': {
    products: [A],
    steps: {
      'at a write': fault({ kind: 'status', status: 503, retryAfter: 3 }, { method: 'POST', times: 7 }),
      'down for less than two minutes': pushed([B, C], { retry: { maxAttempts: 2 } }),
      'at all writes': fault({ kind: 'disconnect', committed: false }, { skip: 4 }),
      'down for longer': pushed([{ productNumber: 'D' }, { productNumber: 'E' }], {
        maxOutageMs: 20_000,
        retry: false,
      }),
      'up again': works,
      'the next run': pushed([{ productNumber: 'D' }, { productNumber: 'E' }]),
    },
  },
  'writes of two at a time, and listeners': {
    service: { rateLimit: { limit: 9, windowMs: 10_000, kind: 'fixed' } },
    products: [A],
    steps: {
      'with every listener': (shop) =>
        pushed([a, B, C, { productNumber: 'D' }, { productNumber: 'E' }, { productNumber: 'F' }], {
          concurrency: 2,
          headers: { 'X-Trace': 't1' },
          onProgress: (progress: object) => shop.say(`progress ${brief(progress)}`),
        })(shop),
      'listeners that throw': pushed([A, { productNumber: 'G' }], {
        onProgress: () => {
          throw new Error('no screen');
        },
        onResult: () => {
          throw new Error('no disk');
        },
      }),
      'a confirm that takes long': (shop) =>
        pushed([{ ...A, name: 'New' }, { productNumber: 'H' }], {
          confirm: async (counts: object) => {
            shop.say(`asked ${brief(counts)}`);
            await new Promise((resolve) => setTimeout(resolve, 6_000));
            shop.sandbox.store.products.insert({ productNumber: 'H' });
            return true;
          },
        })(shop),
      'a confirm that throws': pushed([{ productNumber: 'I' }], {
        confirm: () => {
          throw new Error('no terminal');
        },
      }),
      'a signal that has fired': pushed([A], { signal: AbortSignal.abort(new Error('stopped')) }),
      'a signal at the second write': (shop) =>
        pushed(
          [{ productNumber: 'J' }, { productNumber: 'K' }, { productNumber: 'L' }],
          stopsAt(shop, 'POST', 2),
        )(shop),
    },
  },
  'fields that the service stores differently': {
    service: { moneyDigits: 2, unknownFields: 'ignore', updateStatus: 204, createStatus: 200 },
    products: [{ ...A, salePrice: '1.0000', tags: ['x'] }],
    steps: {
      first: pushed([
        { ...a, salePrice: '1.005', colour: 'red', tags: ['y', 'x'] },
        { ...b, salePrice: '2.005', colour: 'blue' },
        { ...c, salePrice: '3.0050', remark: null },
      ]),
      again: pushed([{ ...a, colour: 'red', tags: null, remark: undefined }]),
    },
  },
  'lists that lack products': {
    client: { pagination: 'page' },
    service: { ids: { form: 'uuid' }, order: 'updated-asc', ties: 'each-page', pageSize: 2 },
    products: 'ABCDEFGHIJ'.split('').map((productNumber) => ({ productNumber })),
    steps: {
      'rows fail': pushed([{ productNumber: 'A' }, { productNumber: 'Z' }]),
      'or are created': pushed([{ productNumber: 'Z' }], { incompleteList: 'create' }),
    },
  },
  'a service that stores keys in capitals': {
    quirks: { storedKey: (key) => key.toUpperCase() },
    steps: {
      'five of a function that returns them as they are': pushed(
        ['a', 'b', 'c', 'd', 'e'].map((ean) => ({ ean, productNumber: `${ean}ß` })),
        { key: ({ productNumber }: Row) => productNumber },
      ),
    },
  },
  'hidden products': {
    service: { hiddenRecords: ['1'] },
    products: [A, B],
    steps: {
      first: pushed([B]),
      'the store knows the hidden one': ({ states }) => {
        const [[key = '', text = ''] = []] = [...states].filter(([name]) => /productNumber:/.test(name));
        const own = text.replace(/"b":\["2"/, '"a":["1"');
        states.set(key.replace(/.$/, '1'), own);
      },
      'a row of it, and a new one': pushed([A, C]),
    },
  },
  'products that are invalid': {
    products: [A, B, C],
    steps: {
      'one has a number as key, one has no id': fault(
        {
          kind: 'rewrite',
          body: (text: string) =>
            text.replace('"productNumber":"B"', '"productNumber":7').replace('"id":"3"', '"id":null'),
        },
        { method: 'GET' },
      ),
      'rows of all': pushed([A, B, C, { productNumber: 'D' }]),
      'with a function': pushed([C], { key: ({ productNumber }: Row) => productNumber, keyName: 'f' }),
      'corrected during a question': (shop) =>
        pushed([{ productNumber: 'D' }], {
          confirm: async (counts: object) => {
            shop.say(`asked ${brief(counts)}`);
            shop.sandbox.faults.clear();
            await new Promise((resolve) => setTimeout(resolve, 6_000));
            return true;
          },
        })(shop),
    },
  },
  'other ways to read': {
    client: { pagination: 'page', prefetch: 2 },
    service: { pageSize: 2 },
    products: [A, B, C],
    steps: {
      'by page': pushed([A, { productNumber: 'D' }], { timeoutMs: 5_000, visibleAfterMs: 1_000 }),
      'a slow service': fault({ kind: 'delay', ms: 7_000 }, { method: 'POST' }),
      'with less time': pushed([{ productNumber: 'E' }], { timeoutMs: 2_000, retry: { maxAttempts: 2 } }),
      'and a deadline': pushed([{ productNumber: 'F' }], { deadlineMs: 3_000 }),
    },
  },
  'a run that was killed': {
    products: [A],
    steps: {
      'its mark': stored('products-push:run', '{"v":2,"by":"dead"}'),
      'and its last sign of life': stored('products-push:alive:dead', '{"v":2,"alive":3}'),
      'the next one takes over': (shop) =>
        pushed([a], { onProgress: (progress: object) => shop.say(`progress ${brief(progress)}`) })(shop),
      'another that runs': stored('products-push:run', '{"v":2,"by":"other"}'),
      'says so': (shop) => {
        let alive = 0;
        const store: Store = {
          get: (key) => (key.endsWith('alive:other') ? { v: 2, alive: ++alive } : shop.states.get(key)),
          set: (key, text) => void shop.states.set(key, text),
        };
        return pushed([A], { store })(shop);
      },
    },
  },
};

/** A store whose call of a method with this number fails. */
function failing(states: Map<string, string>, method: 'get' | 'set', at: number): Store {
  let calls = 0;
  const called = (name: 'get' | 'set', key: string) => {
    if (name === method && ++calls === at) throw new Error(`no ${method} of ${key.split(':').slice(2)}`);
  };
  return {
    get: async (key) => {
      called('get', key);
      return states.get(key);
    },
    set: async (key, text) => {
      called('set', key);
      states.set(key, text);
    },
  };
}

/** A signal that fires once so many requests of a method were sent. */
function stopsAt({ sandbox }: Shop, wanted: string, count = 1): { signal: AbortSignal } {
  const stop = new AbortController();
  let sent = 0;
  const end = sandbox.onRequest(({ method }) => {
    if (method !== wanted || ++sent < count) return;
    end();
    stop.abort(new Error('stopped'));
  });
  return { signal: stop.signal };
}

async function play(
  { service, client: clientOptions, quirks, products = [], steps }: Session,
  number: number,
) {
  startEvenClock();
  const sandbox = createSandbox({
    // Sessions share no rate limiter.
    origin: `https://shop-${number}.example`,
    ...service,
  });
  for (const fields of products)
    sandbox.store.products.insert({ createdAt: '2024-01-01T00:00:00Z', ...fields });
  const lines: string[] = [];
  const say = (line: string) => void lines.push(`  ${line}`);
  const log = (level: string) => (text: unknown) =>
    say(`${level}: ${typeof text === 'string' ? text : brief(text)}`);
  const client = createClient({
    ...sandbox.clientOptions,
    ...(quirks && { fetch: quirky(sandbox.fetch, quirks) }),
    ...clientOptions,
    logger: { debug: () => {}, info: () => {}, warn: log('warn') },
  });
  const shop: Shop = { sandbox, client, states: new Map(), say };
  for (const [title, step] of Object.entries(steps)) {
    lines.push(title);
    sandbox.clearLogs();
    const before = new Map(shop.states);
    await runToEnd(
      (async () => step(shop))().catch((error: unknown) =>
        say(error instanceof PushError ? `PushError: ${error.message}` : brief(error)),
      ),
    );
    sentLines(sandbox).forEach(say);
    for (const [key, text] of shop.states) {
      if (before.get(key) === text || /products-push:(?:run|alive)/.test(key)) continue;
      say(`state ${key.replace('accounting-data-sdk:', '')} ${shownState(text)}`);
    }
  }
  return lines;
}

/** What an entry of a store says, of the keys only how many. */
function shownState(text: string): string {
  try {
    const { v: _, scope: __, company, ...content } = JSON.parse(text);
    return `${JSON.stringify(content)}${company ? ` ${JSON.parse(company).keys?.length} keys` : ''}`;
  } catch {
    return text;
  }
}

/** The requests, of a list of several pages in one line. */
function sentLines({ requests }: Sandbox): string[] {
  const lines: { text: string; count: number }[] = [];
  for (const { method, path, status, body, key } of requests) {
    const name = path.split('/').slice(4).join('/');
    const isList = method === 'GET' && name === 'products';
    const text = `sent ${method} ${name} ${status ?? '-'}${body === undefined ? '' : ` ${JSON.stringify(body)}`}${key === 'full' ? '' : ` by ${key}`}`;
    const last = lines.at(-1);
    if (isList && last?.text === text) last.count += 1;
    else lines.push({ text, count: 1 });
  }
  return lines.map(({ text, count }) => (count > 1 ? `${text} ×${count}` : text));
}

test('pushes do, report and store what is recorded', async () => {
  const texts: string[] = [];
  for (const [number, [title, session]] of Object.entries(SESSIONS).entries()) {
    const lines = await play(session, number);
    texts.push(`# ${title}\n${lines.join('\n')}\n`);
  }
  await expect(withoutChance(texts.join('\n'))).toMatchFileSnapshot('./pushes.txt');
});
