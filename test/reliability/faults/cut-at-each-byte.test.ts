import type { AnyAccountingError, Client, RequestOptions } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { callWith, type METHODS, quickClient } from '../../support/four-methods.ts';
import { closedAgain, listenersOn, openResources } from '../../support/open-resources.ts';
import { type Framing, type RawResponse, rawJson, sendRaw } from '../../support/raw-responses.ts';
import { type SeenRequest, scriptedServer } from '../../support/scripted-server.ts';

type Call = 'LIST' | (typeof METHODS)[number];

/** What follows a cut in the body: the same request again, success, or the error of the status. */
type Then = 'sent again' | 'done' | 'unknown_problem';

type Kind = readonly [call: Call, status: number, then: Then, framing: Framing];

const hour = 3_600_000;

const kinds: readonly Kind[] = [
  ['LIST', 200, 'sent again', 'chunked'],
  ['GET', 200, 'sent again', 'length'],
  ['POST', 201, 'sent again', 'chunked'],
  ['PATCH', 200, 'sent again', 'length'],
  ['DELETE', 200, 'done', 'length'],
  ['DELETE', 204, 'done', 'length'],
  // The bytes of a problem are the same for every method.
  ['POST', 422, 'unknown_problem', 'length'],
];

/** A response to a call: a record, a list of it, or a problem. */
function responseTo(call: Call, status: number, framing: Framing = 'length'): RawResponse {
  const record = { id: '42' };
  const body = status >= 400 ? { type: 'other' } : call === 'LIST' ? [record] : record;
  return rawJson(status, body, { framing });
}

function start(client: Client, call: Call, options: RequestOptions): Promise<unknown> {
  return call === 'LIST' ? client.accounts.list({}, options).first() : callWith(client, call, options);
}

/** Makes a call for every byte at which the response is cut, at most 16 at a time; the next attempt gets it whole. */
async function cutEverywhere([call, status, , framing]: Kind, attempts: 1 | 2, signal: AbortSignal) {
  const response = responseTo(call, status, framing);
  const seen = new Map<string, SeenRequest[]>();
  await using server = await scriptedServer((request, wire) => {
    const at = String(request.headers['x-cut']);
    const before = seen.get(at) ?? [];
    seen.set(at, [...before, request]);
    const whole = responseTo(call, call === 'DELETE' ? 204 : call === 'POST' ? 201 : 200).bytes;
    return sendRaw(before.length > 0 ? whole : response.bytes.subarray(0, Number(at)))(request, wire);
  });
  const ends: { readonly at: number; readonly end: Promise<AnyAccountingError | undefined> }[] = [];
  for (let at = 0; at < response.bytes.length; ) {
    // Each has its own client and retry budget. The time limits are long, so that leaks are seen.
    const client = quickClient(server.url, {
      rateLimiter: false,
      timeoutMs: hour,
      deadlineMs: hour,
      maxWaitMs: 1_000,
      retry: { maxAttempts: attempts, baseDelayMs: 0 },
    });
    const called = start(client, call, { headers: { 'x-cut': `${at}` }, signal });
    const end = called.then(
      () => undefined,
      (error) => error as AnyAccountingError,
    );
    ends.push({ at, end });
    if (ends.length % 16 === 0) await end;
    // A head at every tenth byte, its end and the body at each.
    at += at < response.bodyAt - 10 ? 10 : 1;
  }
  return await Promise.all(
    ends.map(async ({ at, end }) => {
      const error = await end;
      return { at, inHead: at < response.bodyAt, error, requests: seen.get(`${at}`) ?? [] };
    }),
  );
}

/** The expected end of a call whose response is cut in its head or in its body. */
function due(then: Then, inHead: boolean, attempts: 1 | 2): string {
  const again = inHead || then === 'sent again';
  if (!again && then === 'done') return 'done, requests 1';
  if (again && attempts === 2) return 'done, requests 2';
  if (inHead) return 'connection_failed, unknown, retryable true, requests 1';
  if (again) return 'unexpected_response, applied, retryable true, requests 1';
  return `${then}, rejected, retryable false, requests 1`;
}

test.each(kinds)(
  'a %s whose %i response is cut at any byte ends as the byte decides: in the body it is %s (framed by %s)',
  async (...kind) => {
    const [call, , then] = kind;
    const before = openResources();
    const { signal } = new AbortController();
    for (const attempts of [1, 2] as const) {
      const ends = await cutEverywhere(kind, attempts, signal);
      expect(ends.length).toBeGreaterThan(5);
      for (const { at, inHead, error, requests } of ends) {
        const found = error && `${error.code}, ${error.outcome}, retryable ${error.retryable}`;
        expect(`${at}: ${found ?? 'done'}, requests ${requests.length}`).toBe(
          `${at}: ${due(then, inHead, attempts)}`,
        );
        const sent = requests.map(({ url, headers, body }) => `${url} ${headers['idempotency-key']} ${body}`);
        expect(new Set(sent).size).toBe(1);
        expect(error?.attempts ?? requests.length).toBe(requests.length);
      }
      const keys = ends.map(({ requests }) => requests[0]?.headers['idempotency-key']);
      expect(new Set(keys).size).toBe(call === 'POST' ? ends.length : 1);
    }
    expect(listenersOn(signal)).toBe(0);
    await closedAgain(before);
  },
);
