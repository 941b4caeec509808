import { DatabaseSync } from 'node:sqlite';
import {
  type Client,
  type ClientOptions,
  changes,
  createClient,
  forget,
  refresh,
  type Store,
  SyncError,
  type SyncReport,
  type SyncTarget,
  sync,
  verify,
} from 'accounting-data-sdk';
import { sqliteTarget } from 'accounting-data-sdk/targets';
import { createSandbox, type Sandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { brief } from '../../support/brief.ts';
import { runToEnd, startEvenClock, useVirtualClock } from '../../support/virtual-clock.ts';
import { withoutChance } from '../../support/without-chance.ts';

useVirtualClock();

type Options = Readonly<Record<string, unknown>>;
type Step = (books: Books) => unknown;

interface Books {
  readonly sandbox: Sandbox;
  readonly client: Client;
  readonly states: Map<string, string>;
  /** The ids of the copy, by collection. */
  readonly copy: Map<string, Set<string>>;
  readonly target: SyncTarget;
  readonly say: (line: string) => void;
}

interface Session {
  readonly service?: SandboxOptions;
  readonly client?: ClientOptions;
  /** Whether the states say nothing of interest. */
  readonly hidesStates?: boolean;
  readonly steps: Readonly<Record<string, Step>>;
}

const collections = ['accounts', 'products'];
const MINUTE = 60_000;

/** A sync to functions that keep ids. */
const synced =
  (options: Options | ((books: Books) => Options) = {}): Step =>
  async (books) => {
    const { client, states, copy, say } = books;
    const idsOf = (name: string) => copy.get(name) ?? copy.set(name, new Set()).get(name) ?? new Set();
    const given = {
      store: states,
      tenant: 'acme',
      collections,
      concurrency: 1,
      onBatch: ({ collection, records, invalid, mode, restarted, last }: BatchLike) => {
        for (const { id } of records) idsOf(collection).add(id);
        const ids = [...records, ...invalid].map(({ id }) => id).join(' ');
        say(`batch ${collection} ${mode} ${ids}${last ? 'last' : ''}${restarted ? ' restarted' : ''}`);
      },
      ...(typeof options === 'function' ? options(books) : options),
    };
    await reported(sync(client, given as never), say);
  };

interface BatchLike {
  readonly collection: string;
  readonly records: readonly { readonly id: string }[];
  readonly invalid: readonly { readonly id?: string }[];
  readonly mode: string;
  readonly restarted: boolean;
  readonly last: boolean;
}

const inFull: Options = { mode: 'full' };
const deletions = ({ copy, say }: Books): Options => ({
  mode: 'full',
  localIds: (collection: string) => copy.get(collection) ?? [],
  onDelete: (ids: readonly string[], collection: string) => {
    for (const id of ids) copy.get(collection)?.delete(id);
    say(`delete ${collection} ${ids.join(' ')}`);
  },
});

/** A sync to a copy in SQLite. */
const copied =
  (options: Options = {}): Step =>
  ({ client, target, say }) =>
    reported(sync(client, { target, tenant: 'acme', collections, concurrency: 1, ...options } as never), say);

async function reported(running: Promise<SyncReport>, say: Books['say']): Promise<void> {
  try {
    said(await running, say);
  } catch (error) {
    if (error instanceof SyncError) said(error.report, say);
    throw error;
  }
}

function said({ startedAt, endedAt, tenant, collections: all, ...report }: SyncReport, say: Books['say']) {
  say(`report of ${tenant}, ${endedAt.getTime() - startedAt.getTime()} ms: ${brief(report)}`);
  for (const { collection, ...own } of all) say(`  ${collection} ${brief(own)}`);
}

const verified =
  (options: Options = {}): Step =>
  async ({ client, target, say }) => {
    const {
      startedAt: _,
      endedAt: __,
      collections: all,
      ...report
    } = await verify(client, {
      target,
      tenant: 'acme',
      collections,
      ...options,
    } as never);
    say(`verified ${brief(report)}`);
    for (const { collection, ...own } of all) say(`  ${collection} ${brief(own)}`);
  };

const refreshed =
  (ids: readonly string[], options: Options = {}): Step =>
  async ({ client, target, say }) =>
    say(`refreshed ${brief(await refresh(client.accounts, { target, tenant: 'acme', ids, ...options }))}`);

const looped =
  (options: Options = {}, after = Number.POSITIVE_INFINITY): Step =>
  async ({ client, states, say }) => {
    const batches = changes(client.accounts, { store: states, tenant: 'acme', ...options } as never);
    for (let count = 0; count < after; count++) {
      const { done, value } = await batches.next();
      if (done) return say(`changes ${brief({ ...value, startedAt: undefined, endedAt: undefined })}`);
      const { collection, records, mode, last } = value as BatchLike;
      say(`batch ${collection} ${mode} ${records.map(({ id }) => id).join(' ')}${last ? 'last' : ''}`);
    }
    await batches.return(undefined as never);
  };

const fault =
  (...given: Parameters<Sandbox['faults']['add']>): Step =>
  ({ sandbox }) =>
    void sandbox.faults.add(...given);
const works: Step = ({ sandbox }) => sandbox.faults.clear();
/** Time of the service alone, and of the machine too. */
const later =
  (ms: number): Step =>
  ({ sandbox }) =>
    void sandbox.clock.advance(ms);
const passes =
  (ms: number): Step =>
  () =>
    new Promise((resolve) => setTimeout(resolve, ms));
const as =
  (keyOf: (sandbox: Sandbox) => string, step: Step): Step =>
  (books) =>
    step({ ...books, client: clientOf(books, { apiKey: keyOf(books.sandbox) }) });
const changed =
  (change: (sandbox: Sandbox) => unknown): Step =>
  ({ sandbox }) =>
    void change(sandbox);
const gone = (...ids: readonly string[]): Step =>
  changed(({ store }) => {
    for (const id of ids) store.accounts.delete(id);
  });

function clientOf({ sandbox, say }: Pick<Books, 'sandbox' | 'say'>, options: ClientOptions = {}): Client {
  const warn = (text: unknown) => say(`warn: ${typeof text === 'string' ? text : brief(text)}`);
  const logger = { debug: () => {}, info: () => {}, warn };
  return createClient({ ...sandbox.clientOptions, logger, ...options });
}

const accounts: Options = { collections: ['accounts'] };
const withDeletions = (options: Options = {}) =>
  synced((books) => ({ ...deletions(books), ...accounts, ...options }));
/** Whatever the path of one account is. */
const oneAccount = /\/accounts\/[^/]+$/;

const SESSIONS: Readonly<Record<string, Session>> = {
  'deletions with functions': {
    hidesStates: true,
    steps: {
      first: synced(accounts),
      'two are gone': gone('3', '11'),
      'found in full': withDeletions(),
      'one is archived': fault({ kind: 'status', status: 403, type: 'forbidden' }, { path: /accounts\/5$/ }),
      'and hidden': (books) =>
        fault({ kind: 'rewrite', body: without('5') }, { method: 'GET', path: /accounts$/ })(books),
      'which is kept': withDeletions(),
      'one is only hidden': async (books) => {
        await works(books);
        await fault({ kind: 'rewrite', body: without('7') }, { method: 'GET', path: /accounts$/ })(books);
      },
      'and comes in a batch': withDeletions(),
      'most are gone': async (books) => {
        await works(books);
        await gone('1', '2', '4', '5', '6', '7')(books);
      },
      'with few candidates': withDeletions({ maxCandidates: 2 }),
      'no record is found': fault({ kind: 'status', status: 404, type: 'not_found' }, { path: oneAccount }),
      'which proves nothing': withDeletions(),
      'each is forbidden': async (books) => {
        await works(books);
        await fault({ kind: 'status', status: 403, type: 'forbidden' }, { path: oneAccount })(books);
      },
      'which proves nothing either': withDeletions(),
      'found at last': async (books) => {
        await works(books);
        await withDeletions()(books);
      },
      'all are new ones': changed(({ store }) => {
        store.accounts.clear();
        for (let id = 101; id < 110; id++) store.accounts.insert({ id: `${id}` });
      }),
      'as of another company': withDeletions(),
      'with any number': withDeletions({ maxCandidates: Number.POSITIVE_INFINITY }),
      'none is left': changed(({ store }) => store.accounts.clear()),
      'so nothing is deleted': withDeletions({ maxCandidates: Number.POSITIVE_INFINITY }),
    },
  },
  'runs that pause': {
    steps: {
      'two requests': synced({ stopAfter: { requests: 2 } }),
      'five more': synced({ stopAfter: { requests: 5 } }),
      'and the rest': synced({ stopAfter: { requests: 30 } }),
      'nothing is left, so a new round': synced({ stopAfter: { requests: 2 } }),
      'the rest of it': synced({ stopAfter: { requests: 30 } }),
      'a service that is slow': fault({ kind: 'delay', ms: 4_000 }),
      'ten seconds': synced({ stopAfter: { ms: 10_000 }, ...inFull }),
      'ten more': synced({ stopAfter: { ms: 10_000 }, ...inFull, concurrency: 2 }),
      'one asks for a long wait': async (books) => {
        await works(books);
        await fault({ kind: 'status', status: 429, retryAfter: 90 }, { times: 1, skip: 2 })(books);
      },
      'a limit before its end': synced({ stopAfter: { ms: 60_000 } }),
      'accounts always fail': async (books) => {
        await works(books);
        await passes(2 * MINUTE)(books);
        await fault({ kind: 'status', status: 500 }, { collection: 'accounts' })(books);
      },
      'the others are read': synced({ stopAfter: { ms: 20_000 }, ...inFull }),
      'only accounts are left': synced({ stopAfter: { ms: 20_000 }, ...inFull }),
      'everything fails': fault({ kind: 'status', status: 503 }),
      'an outage': synced({ stopAfter: { ms: 20_000 }, ...inFull }),
      'two that fail in other ways': async (books) => {
        await works(books);
        await fault({ kind: 'status', status: 500 }, { collection: 'accounts' })(books);
        await fault({ kind: 'disconnect' }, { collection: 'products' })(books);
      },
      'are named by the last': synced({ stopAfter: { ms: 20_000 }, ...inFull, concurrency: 2 }),
    },
  },
  'a stop after a pause': {
    steps: {
      'a long wait for accounts': fault(
        { kind: 'status', status: 503, retryAfter: 90 },
        { collection: 'accounts' },
      ),
      'and a late 401 for products': async (books) => {
        await fault({ kind: 'delay', ms: 2_000 }, { collection: 'products' })(books);
        await fault(
          { kind: 'status', status: 401, type: 'unauthenticated' },
          { collection: 'products' },
        )(books);
      },
      'is about the key': synced({
        stopAfter: { ms: 20_000 },
        concurrency: 2,
        collections: ['budgets', ...collections],
      }),
    },
  },
  'pauses by page': {
    client: { pagination: 'page' },
    steps: {
      'two requests': synced({ stopAfter: { requests: 2 } }),
      'the rest': synced({ stopAfter: { requests: 10 } }),
      'a slow service': fault({ kind: 'delay', ms: 4_000 }),
      'beyond both limits': synced({ stopAfter: { requests: 2, ms: 10_000 }, ...inFull }),
    },
  },
  'deletions in a copy, over several runs': {
    steps: {
      first: copied(accounts),
      'four are gone': gone('1', '4', '8', '12'),
      'full with eight requests': copied({ ...accounts, ...inFull, stopAfter: { requests: 8 } }),
      'eight more': copied({ ...accounts, ...inFull, stopAfter: { requests: 8 } }),
      'and eight': copied({ ...accounts, ...inFull, stopAfter: { requests: 8 } }),
      'the rest': copied({ ...accounts, ...inFull }),
      'one hidden': fault({ kind: 'rewrite', body: without('5') }, { method: 'GET', path: /accounts$/ }),
      verify: verified(accounts),
      'verify of few': verified({ ...accounts, maxCandidates: 0 }),
      'full again': copied({ ...accounts, ...inFull }),
    },
  },
  'verify and refresh': {
    steps: {
      'without a copy': verified(accounts),
      'refresh without a copy': refreshed(['1']),
      first: copied(accounts),
      'changes, a gap and a new one': changed(({ store, clock }) => {
        store.accounts.update('2', { name: 'Changed before' });
        clock.advance(10 * MINUTE);
        store.accounts.delete('3');
        store.accounts.insert({ name: 'New' });
        store.accounts.update('4', { name: 'Changed' });
      }),
      'by page': (books) => verified()({ ...books, client: clientOf(books, { pagination: 'page' }) }),
      'with a short lookback': verified({ ...accounts, lookbackMs: 0 }),
      'with another prefix': verified({ ...accounts, prefix: 'other' }),
      'refresh of some': refreshed(['2', '3', '3', '13', 'none']),
      'of a wrong id': refreshed(['..']),
      'no record is found': fault({ kind: 'status', status: 404, type: 'not_found' }, { path: oneAccount }),
      'refresh proves nothing': refreshed(['5']),
      'one is forbidden': async (books) => {
        await works(books);
        await fault({ kind: 'status', status: 403, type: 'forbidden' }, { path: /accounts\/6$/ })(books);
      },
      'refresh of it': refreshed(['5', '6']),
      'another company': as(({ keys }) => keys.otherCompany, refreshed(['5'])),
      'a forbidden collection': as(
        ({ issueKey }) => issueKey({ collections: ['accounts'] }),
        verified({ sameCompany: true }),
      ),
      'every one is': as(({ keys }) => keys.forbidden, verified({ sameCompany: true })),
      'forget all': ({ target, say }) => forget({ target, tenant: 'acme' }).then((done) => say(brief(done))),
      'of another tenant': ({ target, say }) =>
        forget({ target, tenant: 'none' }).then((done) => say(brief(done))),
    },
  },
  'failures of the service': {
    hidesStates: true,
    steps: {
      'a row without an id': fault(
        { kind: 'rewrite', body: (text: string) => text.replace('"id":"5"', '"id":null') },
        { collection: 'accounts' },
      ),
      'and without deletions': synced(),
      'a 400 for accounts': async (books) => {
        await works(books);
        await fault({ kind: 'status', status: 400 }, { collection: 'accounts' })(books);
      },
      'fails them alone': synced(),
      'an outage': async (books) => {
        await works(books);
        await fault({ kind: 'status', status: 503 }, { skip: 2 })(books);
      },
      'of two collections': (books) =>
        synced({
          concurrency: 2,
          maxOutageMs: 10_000,
          retry: { maxAttempts: 1 },
          onProgress: (progress: object) => books.say(`progress ${brief(progress)}`),
        })(books),
      'one that ends': async (books) => {
        await works(books);
        await fault({ kind: 'status', status: 503 }, { times: 6 })(books);
      },
      'is waited for': (books) =>
        synced({
          concurrency: 2,
          retry: { maxAttempts: 2 },
          onProgress: (progress: object) => books.say(`progress ${brief(progress)}`),
        })(books),
      'an offset is rejected': async (books) => {
        await works(books);
        await fault(
          { kind: 'status', status: 400 },
          { when: ({ query }) => /updatedSince=[^&]*-\d\d(?:%3A|:)\d\d(?:&|$)/.test(query) },
        )(books);
      },
      'and sent in UTC': synced(),
      'a revoked key': as(({ keys }) => keys.revoked, synced({ sameCompany: true })),
      'a key without rights': as(({ keys }) => keys.forbidden, synced({ sameCompany: true })),
      'with a right for products': as(({ keys }) => keys.productsOnly, synced({ sameCompany: true })),
      'of another tenant': as(({ keys }) => keys.productsOnly, synced({ tenant: 'T.2' })),
      'which fails then': as(({ keys }) => keys.productsOnly, synced({ tenant: 'T.3', onForbidden: 'fail' })),
    },
  },
  'rows without an id': {
    client: { validation: 'report' },
    steps: {
      'one of accounts': fault(
        { kind: 'rewrite', body: (text: string) => text.replace('"id":"5"', '"id":null') },
        { collection: 'accounts' },
      ),
      'ends them': synced(),
      'and again': synced(inFull),
    },
  },
  'failures of the caller': {
    hidesStates: true,
    steps: {
      'a consumer that throws at the second batch': throwsAt('onBatch', 2),
      'a store that cannot write': throwsAt('set', 3),
      'a store that cannot read': throwsAt('get', 1),
      'or reads its last value no more': throwsAt('get', 3),
      'a damaged state': ({ states }) => void states.set('accounting-data-sdk:acme:accounts', '{"v":1,'),
      'of one collection': synced(),
      'a later state': ({ states }) => void states.set('accounting-data-sdk:acme:accounts', '{"v":2}'),
      'of it': synced(),
      'another parameter': ({ states }) => void states.delete('accounting-data-sdk:acme:accounts'),
      'a signal at the third batch': (books) => {
        const stop = new AbortController();
        let batches = 0;
        const onBatch = () => {
          if (++batches === 3) stop.abort(new Error('stopped'));
        };
        return synced({ onBatch, signal: stop.signal })(books);
      },
      'and the rest': synced(),
      'listeners that throw': synced({
        onProgress: () => {
          throw new Error('no screen');
        },
        onCheckpoint: () => {
          throw new Error('no log');
        },
        ...accounts,
      }),
      none: synced({ collections: [] }),
    },
  },
  'starts and clocks': {
    steps: {
      'what changed in two years': synced({
        updatedSince: '2024-01-31T12:00:00Z',
        collections: ['products'],
      }),
      'a start in the future': synced({ updatedSince: '2027-01-31', tenant: 'T.2' }),
      'an hour later': later(60 * MINUTE),
      'reads deep': synced({ collections: ['products'] }),
      'ten minutes later': later(10 * MINUTE),
      'with a lookback of an hour': synced({
        collections: ['products'],
        lookbackMs: 60 * MINUTE,
        headers: { 'X-Trace': '1' },
      }),
      'the clock goes back a minute': later(-1 * MINUTE),
      'which the lookback covers': synced({ collections: ['products'] }),
      'and an hour': later(-60 * MINUTE),
      'which reads everything': synced({ collections: ['products'] }),
    },
  },
  'keys of the company': {
    steps: {
      first: synced(),
      'a new key': as(({ issueKey }) => issueKey(), synced()),
      'another company': as(({ keys }) => keys.otherCompany, synced()),
      'which is said to be the same': as(
        ({ keys }) => keys.otherCompany,
        synced({ sameCompany: true, ...inFull }),
      ),
      'accounts alone have no createdAt': as(
        ({ issueKey }) => issueKey(),
        synced({ tenant: 'T.2', ...accounts }),
      ),
      'so a new key is accepted': as(({ issueKey }) => issueKey(), synced({ tenant: 'T.2', ...accounts })),
      'into a copy': copied(),
      'with a new key': as(({ issueKey }) => issueKey(), copied()),
      'and another company': as(({ keys }) => keys.otherCompany, copied()),
    },
  },
  'changes of one collection': {
    steps: {
      'the first batch': looped({}, 1),
      'again, to the second': looped({}, 2),
      'to the end': looped(),
      'under a name': looped({ name: 'ledger', id: { gt: '3', lte: '6' } }),
      'and other bounds': looped({ name: 'ledger', id: { gt: '4' } }),
      'a year back': looped({ prefix: 'p', updatedSince: '2025-01-31T00:00:00Z' }),
      'in full': looped({ ...inFull }),
    },
  },
  'two runs at once': {
    steps: {
      first: synced(),
      'of functions': (books) => {
        let isFirst = true;
        const onBatch = async () => {
          if (!isFirst) return;
          isFirst = false;
          await synced({ ...inFull, ...accounts })(books);
        };
        return synced({ onBatch, ...inFull, ...accounts })(books);
      },
    },
  },
};

/** The body of a list without the record of an id. */
function without(id: string) {
  return (text: string) =>
    text.startsWith('[')
      ? JSON.stringify(JSON.parse(text).filter((row: { id: string }) => row.id !== id))
      : text;
}

/** A sync of which a call of the caller's code fails. */
function throwsAt(method: 'onBatch' | 'get' | 'set', at: number): Step {
  return (books) => {
    let calls = 0;
    const called = (name: string) => {
      if (name === method && ++calls === at) throw new Error(`no ${method}`);
    };
    const store: Store = {
      get: (key) => {
        called('get');
        return books.states.get(key);
      },
      set: (key, text) => {
        called('set');
        books.states.set(key, text);
      },
    };
    return synced({ store, onBatch: () => called('onBatch') })(books);
  };
}

async function play(
  { service, client: clientOptions, hidesStates = false, steps }: Session,
  number: number,
): Promise<string[]> {
  startEvenClock();
  const sandbox = createSandbox({
    // Sessions share no rate limiter.
    origin: `https://books-${number}.example`,
    pageSize: 5,
    records: { accounts: 12, products: 3 },
    ...service,
  });
  const lines: string[] = [];
  const say = (line: string) => void lines.push(`  ${line}`);
  const client = clientOf({ sandbox, say }, clientOptions);
  const target = sqliteTarget(new DatabaseSync(':memory:'));
  const books: Books = { sandbox, client, states: new Map(), copy: new Map(), target, say };
  for (const [title, step] of Object.entries(steps)) {
    lines.push(title);
    sandbox.clearLogs();
    const before = new Map(books.states);
    await runToEnd(
      (async () => step(books))().catch((error: unknown) => {
        if (!(error instanceof SyncError)) return say(brief(error));
        const failed = error.errors.map(({ collection }) => collection);
        say(`SyncError of ${failed.join(', ')}: ${error.message}`);
        for (const { collection, error: own } of error.errors)
          if ((own as Error).cause !== undefined)
            say(`  ${collection} because of ${brief((own as Error).cause)}`);
      }),
    );
    sentLines(sandbox).forEach(say);
    for (const [key, text] of books.states)
      if (!hidesStates && before.get(key) !== text)
        say(`state ${key.replace('accounting-data-sdk:', '')} ${shownState(text)}`);
  }
  return lines;
}

/** What a state says, without what identifies it. */
function shownState(text: string): string {
  try {
    const { v: _, scope: __, by: ___, company, run, ...state } = JSON.parse(text);
    const known = company && { keys: company.keys.length, known: company.known };
    return brief({ ...state, company: known, run: run && { ...run, token: run.token && '…' } }).replaceAll(
      '"',
      '',
    );
  } catch {
    return text;
  }
}

/** The requests: of a list how many, of a record each. */
function sentLines({ requests }: Sandbox): string[] {
  const lines: { text: string; count: number }[] = [];
  for (const { path, query, status, key, headers } of requests) {
    const name = path.split('/').slice(4).join('/');
    const since = query.updatedSince === undefined ? '' : ` since ${query.updatedSince}`;
    const own = [key === 'full' ? '' : ` by ${key}`, headers['x-trace'] === undefined ? '' : ` traced`].join(
      '',
    );
    const text = `sent ${name}${since} ${status ?? '-'}${own}`;
    const last = lines.at(-1);
    if (last?.text === text) last.count += 1;
    else lines.push({ text, count: 1 });
  }
  return lines.map(({ text, count }) => (count > 1 ? `${text} ×${count}` : text));
}

test('syncs do, report and store what is recorded', async () => {
  const texts: string[] = [];
  for (const [number, [title, session]] of Object.entries(SESSIONS).entries()) {
    const lines = await play(session, number);
    texts.push(`# ${title}\n${lines.join('\n')}\n`);
  }
  await expect(withoutChance(texts.join('\n'))).toMatchFileSnapshot('./syncs.txt');
});
