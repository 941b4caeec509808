import { DatabaseSync } from 'node:sqlite';
import {
  type Client,
  type ClientOptions,
  changes,
  createClient,
  forget,
  push,
  refresh,
  type SyncOptions,
  sync,
  verify,
} from 'accounting-data-sdk';
import { sqliteTarget } from 'accounting-data-sdk/targets';
import { createSandbox, type Sandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { runToEnd, startEvenClock, useVirtualClock } from '../../support/virtual-clock.ts';
import { withoutChance } from '../../support/without-chance.ts';

useVirtualClock();

/** What a session has: its runs share the store, the database and the sandbox. */
interface Books {
  readonly sandbox: Sandbox;
  readonly client: Client;
  readonly states: Map<string, string>;
  readonly target: ReturnType<typeof sqliteTarget>;
  readonly say: (line: string) => void;
}

type Step = (books: Books) => unknown;

interface Session {
  readonly service?: SandboxOptions;
  readonly client?: ClientOptions;
  readonly steps: readonly (readonly [title: string, step: Step])[];
}

const collections = ['accounts', 'products'] as const;
const MINUTE = 60_000;

const synced =
  (options: Partial<SyncOptions<Client>> = {}): Step =>
  ({ client, states, say }) =>
    sync(client, {
      store: states,
      tenant: 'acme',
      collections,
      concurrency: 1,
      onBatch: ({ collection, records, invalid, mode, last, restarted }) => {
        const ids = records.map(({ id }) => id).join(' ');
        say(
          `batch of ${collection}, ${mode}: ${ids}${invalid.length > 0 ? ` invalid ${invalid.length}` : ''}${last ? ', last' : ''}${restarted ? ', restarted' : ''}`,
        );
      },
      onProgress: (progress) => say(`progress ${JSON.stringify(progress)}`),
      onCheckpoint: (checkpoint) => say(`checkpoint ${JSON.stringify(checkpoint)}`),
      ...options,
    });

const inFull: Pick<SyncOptions<Client>, 'mode'> = { mode: 'full' };

const copied =
  (options: object = {}): Step =>
  ({ client, target }) =>
    sync(client, { target, tenant: 'acme', collections, concurrency: 1, ...options });

const rows = [
  { productNumber: 'A1', name: 'Anvil', salePrice: '10' },
  { productNumber: 'A2', name: 'Axe', tags: ['x'] },
  { productNumber: 'A3', name: 'Awl', salePrice: '1.005' },
];

const pushed =
  (options: object = {}): Step =>
  ({ client, states, say }) =>
    push(client.products, {
      rows,
      key: 'productNumber',
      store: states,
      tenant: 'acme',
      concurrency: 1,
      onProgress: (progress: unknown) => say(`progress ${JSON.stringify(progress)}`),
      onResult: (result: unknown) => say(`result ${JSON.stringify(result)}`),
      ...options,
    } as never);

const changed: Step = ({ sandbox: { store, clock } }) => {
  clock.advance(10 * MINUTE);
  store.accounts.update('2', { name: 'Changed' });
  store.accounts.delete('3');
  store.accounts.insert({ name: 'New' });
  store.products.update('1', { name: 'Changed too' });
};

const later: Step = ({ sandbox: { clock } }) => void clock.advance(10 * MINUTE);
const down: Step = ({ sandbox: { faults } }) => void faults.add({ kind: 'status', status: 503 });
const up: Step = ({ sandbox: { faults } }) => faults.clear();

const local = (ids: readonly string[]): Partial<SyncOptions<Client>> => ({
  mode: 'full',
  localIds: () => ids,
  collections: ['accounts'],
  onDelete: () => {},
});

const SESSIONS: Readonly<Record<string, Session>> = {
  'sync to functions': {
    steps: [
      ['the first run', synced()],
      ['nothing new', synced()],
      ['change', changed],
      ['changes', synced()],
      ['everything again', synced(inFull)],
      ['with local ids', synced(local(['1', '2', '3']))],
      ['with many local ids', synced(local(Array.from({ length: 80 }, (_, n) => `${n + 1}`)))],
      ['service down', down],
      ['no service', synced({ maxOutageMs: 5_000 })],
      ['service up', up],
      ['later', later],
      ['a pause after two requests', synced({ stopAfter: { requests: 2 }, ...inFull })],
      ['the rest', synced({ stopAfter: { requests: 20 } })],
      [
        'a consumer that throws',
        synced({ onBatch: () => Promise.reject(new Error('disk full')), ...inFull }),
      ],
      [
        'another company',
        ({ sandbox, states, say }) =>
          synced()({
            client: createClient({ ...sandbox.clientOptions, apiKey: sandbox.keys.otherCompany }),
            states,
            say,
          } as Books),
      ],
      [
        'a forbidden collection',
        ({ sandbox, states, say }) => {
          const apiKey = sandbox.issueKey({ collections: ['accounts'] });
          return synced({ sameCompany: true })({
            client: createClient({ ...sandbox.clientOptions, apiKey }),
            states,
            say,
          } as Books);
        },
      ],
    ],
  },
  'sync of a service that differs': {
    service: {
      order: 'updated-desc',
      pageSize: 2,
      filters: { updatedSince: 'ignore' },
      hiddenRecords: ['2'],
      timestamps: 'milliseconds',
    },
    steps: [
      ['the first run', synced()],
      ['change', changed],
      ['changes', synced()],
      ['everything again', synced(inFull)],
    ],
  },
  'sync by page': {
    client: { pagination: 'page' },
    steps: [
      ['the first run', synced()],
      ['change', changed],
      ['changes', synced()],
    ],
  },
  'sync of invalid records': {
    steps: [
      [
        'a wrong record',
        ({ sandbox: { store } }) => {
          store.accounts.insert({ name: 7, creditLimit: true } as never);
          store.products.insert({ name: 7 } as never);
        },
      ],
      ['the first run', synced()],
      ['copied', copied()],
      [
        'refresh',
        ({ client, target }) => refresh(client.accounts, { target, tenant: 'acme', ids: ['13', '14'] }),
      ],
    ],
  },
  'a copy': {
    steps: [
      ['the first run', copied()],
      ['nothing new', copied()],
      ['verify', ({ client, target }) => verify(client, { target, tenant: 'acme', collections })],
      ['change', changed],
      [
        'verify after changes',
        ({ client, target }) => verify(client, { target, tenant: 'acme', collections }),
      ],
      [
        'refresh',
        ({ client, target }) =>
          refresh(client.accounts, { target, tenant: 'acme', ids: ['2', '3', '4', '99'] }),
      ],
      ['changes', copied()],
      ['everything again', copied({ mode: 'full' })],
      ['verify again', ({ client, target }) => verify(client, { target, tenant: 'acme' })],
      ['the accounts are gone', ({ sandbox: { store } }) => void store.accounts.clear()],
      ['everything again', copied({ mode: 'full' })],
      ['with any number of deletions', copied({ mode: 'full', maxCandidates: Number.POSITIVE_INFINITY })],
      [
        'another key of the company',
        ({ sandbox, target }) =>
          copied()({
            client: createClient({ ...sandbox.clientOptions, apiKey: sandbox.issueKey() }),
            target,
          } as Books),
      ],
      ['forget', ({ target }) => forget({ target, tenant: 'acme' })],
      ['forget again', ({ target }) => forget({ target, tenant: 'acme' })],
    ],
  },
  changes: {
    steps: [
      [
        'the first run',
        ({ client, states, say }) =>
          drained(changes(client.accounts, { store: states, tenant: 'acme' }), say),
      ],
      ['change', changed],
      [
        'changes',
        ({ client, states, say }) =>
          drained(changes(client.accounts, { store: states, tenant: 'acme' }), say),
      ],
    ],
  },
  push: {
    steps: [
      ['a dry run', pushed({ dryRun: true })],
      ['not confirmed', pushed({ confirm: () => false })],
      ['the first push', pushed()],
      ['nothing new', pushed()],
      [
        'changed rows',
        pushed({ rows: [{ ...rows[0], name: 'Anvil 2' }, rows[1], { productNumber: 'A4', name: 'Adze' }] }),
      ],
      [
        'rows that cannot be sent',
        pushed({
          rows: [
            { name: 'No number' },
            { productNumber: 'A1' },
            { productNumber: 'A1', name: 'Twice' },
            { productNumber: 'B1', salePrice: 'x' },
            { productNumber: 'B2', colour: 'red' },
          ],
        }),
      ],
      [
        'unknown fields rejected',
        pushed({ rows: [{ productNumber: 'B2', colour: 'red' }], unknownFields: 'reject' }),
      ],
      [
        'a duplicate in the service',
        ({ sandbox: { store } }) => void store.products.insert({ productNumber: 'A1', name: 'Other' }),
      ],
      ['with the duplicate', pushed()],
    ],
  },
  'push to a service that fails': {
    steps: [
      [
        'responses get lost',
        ({ sandbox: { faults } }) =>
          void faults.add({ kind: 'lost-response', committed: true }, { method: 'POST', times: 2 }),
      ],
      ['the first push', pushed({ concurrency: 1 })],
      [
        'errors of the service',
        ({ sandbox: { faults } }) =>
          void faults.add({ kind: 'status', status: 422, body: { detail: 'No' } }, { method: 'POST' }),
      ],
      ['a new row', pushed({ rows: [...rows, { productNumber: 'N1', name: 'New' }] })],
      ['service down', down],
      ['no service', pushed({ maxOutageMs: 5_000 })],
      ['service up', up],
      [
        'a body without a record',
        ({ sandbox: { faults } }) =>
          void faults.add({ kind: 'rewrite', body: '' }, { method: 'POST', times: 1 }),
      ],
      ['the rest', pushed({ rows: [...rows, { productNumber: 'N1', name: 'New' }] })],
    ],
  },
  'push to a service that changes what it stores': {
    service: {
      moneyDigits: 2,
      unknownFields: 'ignore',
      uniqueFields: ['name'],
      newRecords: { listedAfterMs: 5_000 },
    },
    steps: [
      [
        'the first push',
        pushed({
          rows: [
            ...rows,
            { productNumber: 'A5', name: 'Axe' },
            { productNumber: 'A6', name: 'Arrow', colour: 'red' },
          ],
        }),
      ],
      ['again', pushed({ rows: [...rows, { productNumber: 'A6', name: 'Arrow', colour: 'red' }] })],
    ],
  },
};

async function drained(batches: AsyncGenerator<object, object>, say: Books['say']): Promise<object> {
  for (;;) {
    const { done, value } = await batches.next();
    if (done) return value;
    say(
      `batch ${JSON.stringify({ ...value, records: (value as { records: { id: string }[] }).records.map(({ id }) => id), rows: undefined, checkpoint: undefined })}`,
    );
  }
}

async function play({ service, client: clientOptions, steps }: Session): Promise<string> {
  startEvenClock();
  const sandbox = createSandbox({
    origin: 'https://service.example',
    pageSize: 5,
    records: { accounts: 12, products: 3 },
    clock: '2026-01-31T12:00:00Z',
    ...service,
  });
  const lines: string[] = [];
  const say = (line: string) => void lines.push(`  ${line}`);
  const log = (level: string) => (first: unknown, second?: unknown) =>
    say(
      `${level}: ${[first, second]
        .filter((one) => one !== undefined)
        .map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
        .join(' ')}`,
    );
  const client = createClient({
    ...sandbox.clientOptions,
    ...clientOptions,
    logger: { debug: () => {}, info: log('info'), warn: log('warn') },
  });
  const database = new DatabaseSync(':memory:');
  const books: Books = { sandbox, client, states: new Map(), target: sqliteTarget(database), say };
  for (const [title, step] of steps) {
    lines.push(title);
    sandbox.clearLogs();
    const before = new Map(books.states);
    const ran = (async () => step(books))();
    const ended = await runToEnd(
      ran.then(
        (value) => JSON.stringify(value),
        (error: unknown) => `${error}\n  ${JSON.stringify(error)}`,
      ),
    );
    if (ended !== undefined) say(ended);
    for (const { method, path, query, status, idempotencyKey, body } of sandbox.requests)
      say(
        `sent ${method} ${path.slice(15)} ${JSON.stringify(query)} ${status ?? '-'}${idempotencyKey ? ` key ${idempotencyKey}` : ''}${body === undefined ? '' : ` ${JSON.stringify(body)}`}`,
      );
    for (const [key, text] of books.states) if (before.get(key) !== text) say(`state ${key} ${text}`);
    for (const key of before.keys()) if (!books.states.has(key)) say(`state ${key} is gone`);
  }
  const tables = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    .all() as { name: string }[];
  for (const { name } of tables) {
    lines.push(`table ${name}`);
    // The clock of a database is its own.
    for (const { synced_at, ...row } of database.prepare(`SELECT * FROM "${name}"`).all())
      say(
        JSON.stringify(row, (_, value) =>
          value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
        ),
      );
  }
  database.close();
  return withoutChance(lines.join('\n'));
}

test.each(Object.keys(SESSIONS))('runs do, report and store what is recorded: %s', async (name) => {
  const recorded = await play(SESSIONS[name] as Session);
  await expect(`${recorded}\n`).toMatchFileSnapshot(`./${name.replaceAll(' ', '-')}.txt`);
});
