import { type ClientOptions, createClient } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { caught } from '../../../support/caught.ts';
import { CANARIES, echoHeaders, echoMembers } from '../../../support/echoes.ts';
import { json, problem } from '../../../support/responses.ts';
import { scriptedServer } from '../../../support/scripted-server.ts';
import { openSinks } from '../../../support/sinks.ts';

const clientOf = (baseUrl: string, apiKey: string, own: ClientOptions = {}) =>
  createClient({ baseUrl, apiKey, rateLimiter: false, retry: { baseDelayMs: 1, maxDelayMs: 5 }, ...own });

test.each(CANARIES)('neither span nor measurement of a success shows the key: %s', async (canary) => {
  const { recorder, ...sinks } = openSinks();
  const echo = { ...echoHeaders(canary), 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '9' };
  const product = { id: canary, name: canary, [canary]: canary };
  await using server = await scriptedServer(
    json(product, 201, echo),
    json({ ...product, id: '1' }, 200, echo),
  );
  const client = clientOf(server.url, canary, sinks.options);
  await client.products.create({ name: 'Desk' });
  await client.products.get('1');
  await client.request({ path: ['products', '1'] });

  const spans = await recorder.spans();
  expect([spans.length, (await recorder.metrics()).size > 1]).toEqual([6, true]);
  expect(JSON.stringify(spans)).toContain('[redacted]');
  expect(await sinks.leaks(canary)).toEqual([]);
});

test.each(CANARIES)(
  'a record whose id is the key: no path in spans, events, errors and logs shows it: %s',
  async (canary) => {
    const sinks = openSinks();
    const rows = json([{ id: canary }], 200, echoHeaders(canary));
    const notFound = problem(404, { ...echoMembers(canary), type: 'not_found' }, echoHeaders(canary));
    await using server = await scriptedServer(rows, problem(503, echoMembers(canary)), notFound);
    const client = clientOf(server.url, canary, sinks.options);
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
    expect(await sinks.recorder.spans()).toHaveLength(11);
    expect([sinks.lines.length > 10, sinks.events.length > 10]).toEqual([true, true]);
    expect(await sinks.leaks(canary, ...errors)).toEqual([]);
  },
);

test.each(CANARIES)(
  'a path that begins with the key: no path, template or name of a span shows it: %s',
  async (canary) => {
    const sinks = openSinks();
    await using server = await scriptedServer(problem(404, { type: 'not_found' }));
    const client = clientOf(server.url, canary, sinks.options);
    const error = await caught(client.request({ path: [canary, '7'] }));
    expect(error).toMatchObject({ code: 'not_found', path: '/[redacted]/7' });
    const names = (await sinks.recorder.spans()).map(({ name }) => name);
    expect(names).toContain('accounting GET /[redacted]');
    expect(await sinks.leaks(canary, error)).toEqual([]);
  },
);

test('spans and measurements show no text of an error, no query and no body', async () => {
  const { recorder, options } = openSinks();
  const said = { type: 'validation_failed', title: 'books-1', detail: 'books-2', instance: '/books-3' };
  const violations = [{ propertyPath: 'books4', message: 'books-5', code: 'books-6' }];
  await using server = await scriptedServer(problem(422, { ...said, violations }), json([{ id: 'books-7' }]));
  const client = clientOf(server.url, CANARIES[0], options);
  await caught(client.products.create({ name: 'books-8' }));
  await client.products.list({ updatedSince: '2026-01-31' }).toArray({ limit: 1 });

  const spans = await recorder.spans();
  expect(spans.filter(({ name }) => name.startsWith('accounting '))).toHaveLength(2);
  expect(server.requests[1]?.url).toContain('2026-01-31');
  expect(JSON.stringify([spans, ...(await recorder.metrics()).values()])).not.toMatch(/books-?\d|2026-01-31/);
});
