import { type Client, createClient } from 'accounting-data-sdk';
import { createSandbox, type Fault } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { runToEnd, startEvenClock, useVirtualClock } from '../../support/virtual-clock.ts';
import { withoutChance } from '../../support/without-chance.ts';

useVirtualClock();

const FAULTS: readonly Fault[] = [
  { kind: 'connection-refused' },
  { kind: 'lost-response', committed: true },
  { kind: 'disconnect', in: 'body' },
  { kind: 'stall' },
  { kind: 'stall', in: 'body' },
  ...[
    400, 401, 403, 404, 405, 406, 408, 409, 410, 412, 413, 415, 422, 423, 428, 429, 431, 451, 500, 501, 502,
    503, 504,
  ].map((status) => ({ kind: 'status', status }) as const),
  { kind: 'status', status: 409, type: 'request_in_progress' },
  { kind: 'status', status: 429, retryAfter: 4_000 },
  { kind: 'status', status: 503, retryAfter: 4_000 },
  { kind: 'status', status: 404, body: '<h1>No such page</h1>' },
  { kind: 'status', status: 502, body: '<html><title>Bad gateway</title></html>' },
  { kind: 'status', status: 400, body: { error: 'Bad', message: ['one', 'two'] } },
  { kind: 'rewrite', status: 204, body: '', committed: true },
  { kind: 'rewrite', status: 302, headers: { location: '/login' } },
  { kind: 'rewrite', status: 307, headers: { location: 'https://elsewhere.example/x' } },
  { kind: 'rewrite', body: '<h1>Welcome</h1>', headers: { 'content-type': 'text/html' } },
  { kind: 'rewrite', body: '{"id":' },
  { kind: 'rewrite', body: '{"items":3}' },
  { kind: 'rewrite', body: '[]' },
  { kind: 'rewrite', body: '[{"name":"without an id"}]' },
  { kind: 'rewrite', body: '[{"id":"7","creditLimit":12.5,"salePrice":12.5}]' },
  { kind: 'rewrite', body: (body) => body.replaceAll('"1"', '"2"') },
];

const CALLS: Readonly<Record<string, (client: Client) => Promise<unknown>>> = {
  list: (client) => client.accounts.list().toArray({ limit: 3 }),
  'list by page': (client) => client.withOptions({ pagination: 'page' }).accounts.list().first(),
  get: (client) => client.accounts.get('1'),
  find: (client) => client.accounts.find('1'),
  create: (client) => client.products.create({ name: 'Desk', productNumber: 'N1' }),
  'create with a key': (client) => client.products.create({ name: 'Desk' }, { idempotencyKey: 'my-key' }),
  update: (client) => client.products.update('1', { name: 'Desk' }),
  delete: (client) => client.products.delete('1'),
  ping: (client) => client.ping(),
};

/** The line of an error, and its JSON without what is in the line. */
function shown(error: unknown): string[] {
  const { name, message, ...fields } = JSON.parse(JSON.stringify(error));
  return [String(error), JSON.stringify(fields)];
}

/** What each kind of call comes to if each of its requests meets the fault. */
async function play(fault: Fault): Promise<string[]> {
  const lines = [
    `# ${JSON.stringify(fault, (_, value) => (typeof value === 'function' ? `${value}` : value))}`,
  ];
  for (const [name, call] of Object.entries(CALLS)) {
    startEvenClock();
    const sandbox = createSandbox({
      origin: 'https://service.example',
      records: { accounts: 3, products: 1 },
      clock: { now: () => Date.now() },
    });
    sandbox.faults.add(fault);
    const events: string[] = [];
    const note = (level: string) => (first: unknown, second?: unknown) =>
      void events.push(
        `${level}: ${[first, second].map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join(' ')}`,
      );
    const client = createClient({
      ...sandbox.clientOptions,
      // The sandboxes have one origin and one key: a shared limiter would keep a 429 of the fault before.
      rateLimiter: 'client',
      logger: { debug: () => {}, info: note('info'), warn: note('warn') },
    });
    const startedAt = Date.now();
    const result = await runToEnd(
      call(client).then(
        (value) => [`ends with ${JSON.stringify(value)?.slice(0, 80)}`],
        (error: unknown) => shown(error),
      ),
    );
    const sent = sandbox.requests.map(({ method, status }) => `${method} ${status ?? '-'}`).join(', ');
    lines.push(
      `${name} (${sent}; ${Date.now() - startedAt} ms)`,
      ...[...result, ...events].map((line) => `  ${line}`),
    );
  }
  return lines;
}

test('each fault gives each call the error that is recorded', async () => {
  const parts: string[] = [];
  for (const fault of FAULTS) parts.push((await play(fault)).join('\n'));
  await expect(`${withoutChance(parts.join('\n\n'))}\n`).toMatchFileSnapshot('./errors.txt');
});
