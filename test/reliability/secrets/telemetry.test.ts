import { type ClientOptions, changes, createClient, memoryStore } from 'accounting-data-sdk';
import { checkpointCounter, telemetryListeners } from 'accounting-data-sdk/opentelemetry';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { record } from '../../client/telemetry/support/recorder.ts';
import { caught } from '../../support/caught.ts';
import { CANARIES, echoHeaders, echoMembers } from '../../support/echoes.ts';
import { leaks } from '../../support/leaks.ts';
import { everyKindOfResponse, provocations } from '../../support/provocations.ts';
import { json, problem } from '../../support/responses.ts';
import { scriptedServer } from '../../support/scripted-server.ts';

type Recorder = ReturnType<typeof record>;

/** Everything that exporters were given, and how much of it. */
async function exported(recorder: Recorder) {
  const spans = await recorder.spans();
  const metrics = [...(await recorder.metrics()).values()];
  return {
    spans,
    metrics,
    events: spans.flatMap(({ events }) => events),
    points: metrics.flatMap(({ dataPoints }) => dataPoints as readonly unknown[]),
  };
}

const clientOf = (baseUrl: string, apiKey: string, own: ClientOptions = {}) =>
  createClient({ baseUrl, apiKey, rateLimiter: false, retry: { baseDelayMs: 1, maxDelayMs: 5 }, ...own });

test.each(CANARIES)('neither span nor measurement of a success shows the key: %s', async (canary) => {
  const recorder = record();
  const echo = { ...echoHeaders(canary), 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '9' };
  const product = { id: canary, name: canary, [canary]: canary };
  await using server = await scriptedServer(
    json(product, 201, echo),
    json({ ...product, id: '1' }, 200, echo),
  );
  const client = clientOf(server.url, canary, { on: telemetryListeners(recorder.options) });
  await client.products.create({ name: 'Desk' });
  await client.products.get('1');
  await client.request({ path: ['products', '1'] });

  const { spans, points, metrics } = await exported(recorder);
  expect([spans.length, points.length > 3]).toEqual([6, true]);
  expect(JSON.stringify(spans)).toContain('[redacted]');
  for (const thing of [...spans, ...points, ...metrics]) expect(leaks(thing, canary)).toEqual([]);
});

test.each(CANARIES)(
  'a record whose id is the key: no path in spans, events, errors and logs shows it: %s',
  async (canary) => {
    const recorder = record();
    const lines: string[] = [];
    const write = (line: string) => void lines.push(line);
    const events: unknown[] = [];
    const note = (event: unknown) => void events.push(event);
    const rows = json([{ id: canary }], 200, echoHeaders(canary));
    const notFound = problem(404, { ...echoMembers(canary), type: 'not_found' }, echoHeaders(canary));
    await using server = await scriptedServer(rows, problem(503, echoMembers(canary)), notFound);
    const client = clientOf(server.url, canary, {
      on: [
        telemetryListeners(recorder.options),
        { request: note, response: note, retry: note, error: note, end: note },
      ],
      logger: { debug: write, info: write, warn: write },
    });
    const [first] = await client.products.list().toArray({ limit: 1 });
    const id = String(first?.id);
    expect(id).toBe(canary);
    const errors = [
      await caught(client.products.get(id)),
      await caught(client.products.update(id, { name: 'Desk' })),
      await caught(client.request({ path: ['products', id] })),
      await caught(client.request({ path: `/products/${encodeURIComponent(id)}` })),
    ];

    expect(server.requests.at(-1)?.url).toBe(`/api/public/v1/products/${encodeURIComponent(canary)}`);
    for (const error of errors)
      expect(error).toMatchObject({ code: 'not_found', path: '/products/[redacted]' });
    const { spans, points } = await exported(recorder);
    expect([spans.length, lines.length > 10, events.length > 10]).toEqual([11, true, true]);
    for (const thing of [...errors, ...spans, ...points, ...events, ...lines])
      expect(leaks(thing, canary)).toEqual([]);
  },
);

const cases = CANARIES.flatMap((canary) => Object.keys(provocations).map((name) => ({ canary, name })));

test.each(cases)('neither span nor measurement of $name shows the key: $canary', async ({ canary, name }) => {
  const recorder = record();
  const error = await provocations[name]?.(canary, { on: telemetryListeners(recorder.options) });
  expect((error as Error).name).toBe(name);

  const { spans, points, metrics } = await exported(recorder);
  // Invalid input and store errors belong to no call, so they have no span.
  const isOfCalls = !['InvalidInputError', 'CheckpointError'].includes(name);
  expect(spans.length > 0).toBe(isOfCalls);
  for (const thing of [...spans, ...points, ...metrics]) expect(leaks(thing, canary)).toEqual([]);
  expect(spans.filter(({ statusMessage }) => statusMessage !== undefined)).toEqual([]);
});

test.each(CANARIES)(
  'the telemetry of retries, waits, checkpoints and invalid rows shows no key: %s',
  async (canary) => {
    const recorder = record();
    await using server = await scriptedServer(...everyKindOfResponse(canary));
    const client = clientOf(server.url, canary, {
      validation: 'report',
      schemas: { accounts: z.looseObject({ id: z.string(), name: z.string().optional() }) },
      on: telemetryListeners(recorder.options),
    } as ClientOptions);
    for await (const _ of changes(client.accounts, {
      store: memoryStore(),
      tenant: 'acme',
      pagination: 'page',
      onCheckpoint: checkpointCounter(recorder.options),
    }));
    await caught(client.accounts.get('1'));

    const { spans, events, points, metrics } = await exported(recorder);
    expect(events.length).toBeGreaterThan(1);
    expect(metrics.map(({ descriptor }) => descriptor.name)).toEqual(
      expect.arrayContaining(['accounting.client.invalid_records', 'accounting.sync.checkpoints']),
    );
    for (const thing of [...spans, ...points, ...metrics]) expect(leaks(thing, canary)).toEqual([]);
  },
);

test('neither what the service says of an error, nor a query, nor a body is in spans and measurements', async () => {
  const recorder = record();
  const said = { type: 'validation_failed', title: 'books-1', detail: 'books-2', instance: '/books-3' };
  const violations = [{ propertyPath: 'books4', message: 'books-5', code: 'books-6' }];
  await using server = await scriptedServer(problem(422, { ...said, violations }), json([{ id: 'books-7' }]));
  const client = clientOf(server.url, CANARIES[0], { on: telemetryListeners(recorder.options) });
  await caught(client.products.create({ name: 'books-8' }));
  await client.products.list({ updatedSince: '2026-01-31' }).toArray({ limit: 1 });

  const { spans, points } = await exported(recorder);
  expect(spans.filter(({ name }) => name.startsWith('accounting '))).toHaveLength(2);
  expect(server.requests[1]?.url).toContain('2026-01-31');
  expect(JSON.stringify([spans, points])).not.toMatch(/books-?\d|2026-01-31/);
});
