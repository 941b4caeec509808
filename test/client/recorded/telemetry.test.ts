import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { type Client, changes, createClient, memoryStore, push, sync } from 'accounting-data-sdk';
import { checkpointCounter, telemetryListeners } from 'accounting-data-sdk/opentelemetry';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { afterEach, expect, test } from 'vitest';
import { brief } from '../../support/brief.ts';
import {
  runToEnd,
  startVirtualClock,
  stopVirtualClock,
  useVirtualClock,
} from '../../support/virtual-clock.ts';
import { record, type SeenSpan } from '../telemetry/support/recorder.ts';

useVirtualClock();
afterEach(() => context.disable());

interface Service {
  readonly sandbox: Sandbox;
  readonly client: Client;
  readonly store: ReturnType<typeof memoryStore>;
  readonly onCheckpoint: ReturnType<typeof checkpointCounter>;
}

const collections = ['accounts', 'products'] as const;
const onBatch = () => {};

const STEPS: Readonly<Record<string, (service: Service) => unknown>> = {
  'a record': ({ client }) => client.products.get('2'),
  'one that does not exist': ({ client }) => client.products.get('99'),
  'a list': ({ client }) => client.accounts.list({}, { pagination: 'page' }).toArray({ limit: 100 }),
  'bounds on id': ({ client }) => client.accounts.list({ id: { gt: '3', lte: '9' } }).toArray({ limit: 100 }),
  'a create whose response is lost': ({ sandbox, client }) => {
    sandbox.faults.next({ kind: 'lost-response', committed: true });
    return client.products.create({ name: 'Desk' });
  },
  'an update that is limited': ({ sandbox, client }) => {
    sandbox.faults.next({ kind: 'status', status: 429, retryAfter: 7 });
    return client.products.update('2', { name: 'Table' });
  },
  'a delete that is rejected': ({ sandbox, client }) => {
    sandbox.faults.next({ kind: 'status', status: 403, type: 'forbidden' });
    return client.products.delete('2');
  },
  'a service that is down': ({ sandbox, client }) => {
    for (let n = 0; n < 3; n++) sandbox.faults.next({ kind: 'status', status: 503 });
    return client.boms.get('1', { retry: { maxAttempts: 3 } });
  },
  'no time': ({ sandbox, client }) => {
    sandbox.faults.next({ kind: 'delay', ms: 5_000 });
    return client.products.get('2', { timeoutMs: 1_000, retry: false });
  },
  'an abort in flight': ({ sandbox, client }) => {
    sandbox.faults.next({ kind: 'delay', ms: 5_000 });
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 500);
    return client.products.get('2', { signal: stop.signal });
  },
  'an argument that is rejected': ({ client }) => client.products.get(''),
  'an invalid record': ({ sandbox, client }) => {
    sandbox.store.accounts.insert({ name: 'New' });
    sandbox.store.products.insert({ name: 7 } as never);
    return client.products.list().toArray({ limit: 100 });
  },
  'a sync': ({ client, store, onCheckpoint }) =>
    sync(client, { store, tenant: 'acme', collections, onBatch, onCheckpoint, concurrency: 1 }),
  'a sync that fails': ({ sandbox, client, store, onCheckpoint }) => {
    sandbox.faults.add({ kind: 'status', status: 400 }, { collection: 'accounts', times: 2 });
    return sync(client, { store, tenant: 'acme', collections, onBatch, onCheckpoint, concurrency: 1 });
  },
  'a sync that is stopped': ({ client }) => {
    const stop = new AbortController();
    const onBatch = () => stop.abort();
    return sync(client, { store: memoryStore(), tenant: 'T.2', collections, onBatch, signal: stop.signal });
  },
  'a sync that is stopped with a reason of its own': ({ client }) =>
    sync(client, {
      store: memoryStore(),
      tenant: 'T.2',
      collections,
      onBatch,
      signal: AbortSignal.abort('enough'),
    }),
  'a push': ({ client, store }) =>
    push(client.products, {
      rows: [{ productNumber: 'A' }, { productNumber: 'B' }],
      key: 'productNumber',
      store,
      tenant: 'acme',
      concurrency: 1,
    }),
  'a push that fails': ({ sandbox, client, store }) => {
    sandbox.faults.add({ kind: 'status', status: 401, type: 'unauthenticated' }, { times: 1 });
    return push(client.products, {
      rows: [{ productNumber: 'C' }],
      key: 'productNumber',
      store,
      tenant: 'acme',
    });
  },
  'changes of a collection': async ({ client, store, onCheckpoint }) => {
    for await (const _ of changes(client.accounts, { store, tenant: 'acme', onCheckpoint })) break;
  },
};

/** Names of the conventions that are the same in every span. */
const SAME = new Set(['server.address', 'server.port', 'url.scheme', 'team']);

/** What most spans have. */
const USUAL =
  /, rate_limit\.limit 10000, rate_limit\.remaining \d+|, call\.(?:attempts|requests) 1(?=,)|, call\.waited 0(?=,|$)/g;

function linesOf(spans: readonly SeenSpan[], isWhole: boolean): string[] {
  const lineOf = ({ name, kind, attributes, failed, statusMessage, events }: SeenSpan) => {
    const own = Object.entries(attributes).filter(
      ([key]) => !SAME.has(key) && key !== 'http.request.method' && key !== 'url.template',
    );
    const facts = own.map(([key, value]) => `${key.replace('accounting.', '')} ${JSON.stringify(value)}`);
    const others = [kind === 'INTERNAL' ? '' : kind, failed ? 'FAILED' : '', statusMessage ?? ''].filter(
      Boolean,
    );
    const waits = events.map((event) => `${event.name} ${brief(event.attributes)}`);
    return [
      `${name.replace('accounting ', '')}`,
      ...others,
      isWhole ? facts.join(', ') : facts.join(', ').replaceAll(USUAL, ''),
      ...waits,
    ]
      .filter(Boolean)
      .join(' | ');
  };
  const shown = (parent: string | undefined, depth: number): string[] =>
    spans
      .filter((span) => span.parent === parent)
      .flatMap((span) => [`${'  '.repeat(depth)}${lineOf(span)}`, ...shown(span.id, depth + 1)]);
  return shown(undefined, 1);
}

test('the spans and metrics of each call and run are those that are recorded', async () => {
  startVirtualClock(1);
  // Hardly any jitter, because how often code asks for a random number must not matter; ids of spans must differ.
  let asked = 0;
  Math.random = () => 0.5 + ++asked * 1e-9;
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const sandbox = createSandbox({
    origin: 'https://traces.example:8443',
    pageSize: 5,
    records: { accounts: 12, products: 3 },
  });
  const recorded = record();
  const attributes = { team: 'books' };
  const client = createClient({
    ...sandbox.clientOptions,
    validation: 'report',
    logger: { debug: () => {}, info: () => {}, warn: () => {} },
    on: telemetryListeners({ ...recorded.options, attributes }),
  } as never);
  const onCheckpoint = checkpointCounter({ ...recorded.options, attributes });
  const service = { sandbox, client, store: memoryStore(), onCheckpoint };
  const lines: string[] = [];
  let before = 0;
  for (const [title, step] of Object.entries(STEPS)) {
    lines.push(title);
    await runToEnd(
      (async () => step(service))().catch((error: unknown) => lines.push(`  ${brief(error).slice(0, 120)}`)),
    );
    const spans = await recorded.spans();
    lines.push(...linesOf(spans.slice(before), before === 0));
    before = spans.length;
  }
  lines.push(`spans that are open: ${recorded.open()}`);
  // The reader of metrics waits by a timer.
  stopVirtualClock();
  for (const [name, { descriptor, dataPoints }] of await recorded.metrics()) {
    lines.push(`${name} in ${descriptor.unit}: ${descriptor.description}`);
    for (const { attributes: of, value } of dataPoints) {
      const shown = Object.entries(of).filter(([key]) => !SAME.has(key));
      const point =
        typeof value === 'object' && 'buckets' in value ? { count: value.count, sum: value.sum } : value;
      lines.push(
        `  ${shown.map(([key, one]) => `${key.replace('accounting.', '')} ${one}`).join(', ')}: ${brief(point)}`,
      );
    }
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('./telemetry.txt');
});
