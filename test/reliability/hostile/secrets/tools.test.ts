import { createClient } from 'accounting-data-sdk';
import { discover, probe } from 'accounting-data-sdk/explore';
import { expect, test } from 'vitest';
import { CANARIES, echoHeaders, echoMembers } from '../../../support/echoes.ts';
import { leaks } from '../../../support/leaks.ts';
import { json, problem } from '../../../support/responses.ts';
import { type ScriptedResponse, scriptedServer } from '../../../support/scripted-server.ts';

/** Wherever a record can hold the key: as its id, a value, a timestamp, the name of a member, deep inside. */
const rowsOf = (canary: string) =>
  Array.from({ length: 30 }, (_, n) => ({
    id: n === 3 ? canary : `r${n}-${canary}`,
    token: canary,
    accountId: canary,
    salePrice: canary,
    createdAt: canary,
    [canary]: { [canary]: [canary, { key: canary }] },
    ...(n % 2 === 0 ? { status: `is ${canary}` } : {}),
  }));

/** Lists succeed, writes and reads of one record are rejected; every response echoes the key. */
const service =
  (canary: string): ScriptedResponse =>
  (request, wire) => {
    const { pathname, searchParams } = new URL(request.url, 'http://x');
    const isList = !pathname.replace('/api/public/v1/', '').includes('/') && request.method === 'GET';
    const echo = { ...echoHeaders(canary), 'content-type': `application/json; key=${canary}` };
    if (isList)
      return json(searchParams.get('_page') === '2' ? [] : rowsOf(canary), 200, echo)(request, wire);
    const status = request.method === 'GET' ? 404 : 422;
    const type = request.method === 'GET' ? `https://errors.example/${canary}` : 'validation_failed';
    return problem(
      status,
      { ...echoMembers(canary), [canary]: canary, type },
      echoHeaders(canary),
    )(request, wire);
  };

const clientOf = (baseUrl: string, apiKey: string) =>
  createClient({ baseUrl, apiKey, rateLimiter: false, retry: { maxAttempts: 1 } });

test.each(CANARIES)(
  'no finding of a probe shows the key, which the service puts everywhere: %s',
  async (canary) => {
    await using server = await scriptedServer(service(canary));
    const notified: unknown[] = [];
    const report = await probe(clientOf(server.url, canary), {
      collections: ['accounts', 'products'],
      write: { draft: { remark: canary } },
      onPlan: (plan) => void notified.push(plan),
      onProgress: (progress) => void notified.push(progress),
      onCollection: (findings) => void notified.push(findings),
      onLeftBehind: (ids) => void notified.push(ids),
    });
    expect(report.collections.map(({ access }) => access)).toEqual(['readable', 'readable']);
    expect(report.problems.seen.length).toBeGreaterThan(1);
    expect(JSON.stringify(report)).toContain('[redacted]');
    for (const thing of [report, ...notified]) expect(leaks(thing, canary)).toEqual([]);
  },
);

test.each(CANARIES)('nothing that discover finds or prints shows the key: %s', async (canary) => {
  await using server = await scriptedServer(service(canary));
  const notified: unknown[] = [];
  const options = {
    collections: ['accounts', 'products'] as const,
    onProgress: (progress: unknown) => void notified.push(progress),
  };
  const client = clientOf(server.url, canary);
  const first = await discover(client, options);
  const again = await discover(client, { ...options, strict: true });
  expect(first.collections.map(({ records }) => records)).toEqual([30, 30]);
  expect(first.source).toContain("'[redacted]'");
  for (const thing of [first, again, ...notified]) expect(leaks(thing, canary)).toEqual([]);
});

test('client.request returns what the service sent, unredacted, as lists do', async () => {
  const [canary] = CANARIES;
  await using server = await scriptedServer(service(canary));
  const client = clientOf(server.url, canary);
  expect(await client.request({ path: '/accounts' })).toEqual(rowsOf(canary));
  expect(await client.accounts.list({}, { pagination: 'page' }).toArray({ limit: 30 })).toEqual(
    rowsOf(canary),
  );
});

test('a key so short that every other word holds it garbles no finding', async () => {
  await using server = await scriptedServer(json([{ id: '1', bank: 'kept' }]), json([]));
  const { source } = await discover(clientOf(server.url, 'k'), { collections: ['accounts'] });
  expect(source).toContain('bank: ');
  expect(source).not.toContain('[redacted]');
});
