import { type Client, type ClientOptions, createClient, type ResponseMeta } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { caught } from '../../../support/caught.ts';
import { CANARIES, echoHeaders, echoMembers } from '../../../support/echoes.ts';
import { callWith, METHODS } from '../../../support/four-methods.ts';
import { leaks } from '../../../support/leaks.ts';
import { html, json, misbehave, problem, redirect, respond } from '../../../support/responses.ts';
import { networkError, scriptedFetch } from '../../../support/scripted-fetch.ts';
import { type ScriptedResponse, scriptedServer } from '../../../support/scripted-server.ts';
import { shown } from '../../../support/shown.ts';
import { openSinks } from '../../../support/sinks.ts';

const [CANARY] = CANARIES;
const echo = echoHeaders(CANARY);
const echoes = { ...echoMembers(CANARY), type: `https://errors.example/${CANARY}` };

const faults: Record<string, ScriptedResponse> = {
  ...Object.fromEntries(
    [400, 401, 403, 404, 409, 422, 500].map((status) => [`${status}`, problem(status, echoes, echo)]),
  ),
  '429': problem(429, echoes, { ...echo, 'retry-after': '3600' }),
  'a typed 404': problem(404, { ...echoes, type: 'not_found' }, echo),
  'HTML that echoes': respond(502, { ...echo, 'content-type': 'text/html' }, `<h1>${CANARY}</h1>`),
  'a page with 200': html(),
  'no JSON': respond(200, { ...echo, 'content-type': 'application/json' }, `{"key":"${CANARY}`),
  'a wrong type': respond(200, { ...echo, 'content-type': 'text/plain' }, CANARY),
  'no UTF-8': respond(200, { ...echo, 'content-type': 'application/json' }, Buffer.from([0x22, 0xff, 0x22])),
  'a wrong shape': json({ id: '42', name: 7, salePrice: CANARY }, 200, echo),
  'no body': respond(200, echo),
  'too much': json({ id: '42', remark: CANARY.repeat(300) }, 200, echo),
  'a redirect': redirect(302, `https://${CANARY}.example/${CANARY}?token=${CANARY}`),
  'a lost response': misbehave.reset,
  'a cut response': misbehave.closeInBody,
};

const clientOf = (baseUrl: string, options: ClientOptions = {}): Client =>
  createClient({
    baseUrl,
    apiKey: CANARY,
    retry: { maxAttempts: 2, baseDelayMs: 1, maxDelayMs: 5 },
    maxBodyBytes: 2_000,
    ...options,
  });

test.each(Object.keys(faults))(
  'no error, event, log line or span shows the key: %s, in any method',
  async (name) => {
    const sinks = openSinks();
    await using server = await scriptedServer(faults[name] as ScriptedResponse);
    const client = clientOf(server.url, { ...sinks.options, rateLimiter: 'client' });
    const said: unknown[] = [];
    for (const method of METHODS) {
      const options = { onResponse: (meta: ResponseMeta) => void said.push({ ...meta }) };
      said.push(await callWith(client, method, options).catch((error: unknown) => error));
    }
    expect(server.requests[0]?.headers['x-auth-token']).toBe(CANARY);
    expect([sinks.events.length > 4, sinks.lines.length > 4]).toEqual([true, true]);
    expect(await sinks.leaks(CANARY, ...said)).toEqual([]);
  },
);

test('a fetch that quotes the key in its error is not quoted', async () => {
  const quoting = new TypeError(`invalid header value "${CANARY}"`, {
    cause: Object.assign(new Error(`X-AUTH-TOKEN: ${CANARY}`), { code: `E_${CANARY}`, headers: { CANARY } }),
  });
  for (const error of [quoting, networkError('ECONNRESET', CANARY), networkError(CANARY.toUpperCase())]) {
    const end = await caught(
      clientOf('https://x.example', { fetch: scriptedFetch(error) }).accounts.get('1'),
    );
    expect(end).toMatchObject({ code: 'connection_failed' });
    expect(leaks(end, CANARY)).toEqual([]);
  }
});

test('neither a client, a collection, a list nor a page shows the key', async () => {
  await using server = await scriptedServer(json([{ id: '1' }], 200, echo), json([]));
  const client = clientOf(server.url);
  const list = client.accounts.list();
  const pages = list.pages();
  const { value: page } = await pages.next();
  const records = list[Symbol.asyncIterator]();
  const other = client.withOptions({ timeoutMs: 5 });
  const things = [
    client,
    other,
    client.accounts,
    client.products,
    client.collection('x'),
    list,
    pages,
    page,
    records,
  ];
  for (const thing of [...things, client.rateLimit, client.accounts.get, client.request]) {
    expect(leaks(thing, CANARY)).toEqual([]);
  }
  await pages.return?.();
});

test('the body of a request is on no error', async () => {
  await using server = await scriptedServer(problem(422, { type: 'validation_failed' }));
  const error = await caught(clientOf(server.url).products.create({ remark: 'body-3b1d' }));
  expect(error).toMatchObject({ code: 'validation_failed' });
  expect(shown(error)).not.toContain('body-3b1d');
});
