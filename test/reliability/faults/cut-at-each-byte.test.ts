import type { AnyAccountingError, Client, RequestOptions } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { callWith, METHODS, quickClient } from '../../support/four-methods.ts';
import { closedAgain, listenersOn, openResources } from '../../support/open-resources.ts';
import { type Framing, type RawResponse, rawJson, sendRaw } from '../../support/raw-responses.ts';
import { type ScriptedResponse, type SeenRequest, scriptedServer } from '../../support/scripted-server.ts';

type Call = 'LIST' | (typeof METHODS)[number];

/** What the client does after a cut behind the head: sends again, counts the call as done, or throws at once. */
type Then = 'R' | 'done' | 'X';

interface Kind {
  readonly call: Call;
  readonly status: number;
  readonly framing: Framing;
  readonly response: RawResponse;
  readonly then: Then;
}

const record = { id: '42' };
const hour = 3_600_000;
const FRAMINGS = ['length', 'chunked'] as const;

const kind = (call: Call, status: number, then: Then, framing: Framing = 'length'): Kind => {
  const bodies: Record<number, unknown> = {
    422: { type: 'validation_failed' },
    429: { type: 'rate_limited' },
  };
  const headers = status === 429 ? ['retry-after: 3600'] : [];
  const body = bodies[status] ?? (call === 'LIST' ? [record] : record);
  return { call, status, framing, then, response: rawJson(status, body, { framing, headers }) };
};

/** A soak tests every method with every problem response: the bytes are the same. */
const problems: readonly (readonly [Call, number, Framing])[] =
  process.env.SOAK_FAULTS === undefined
    ? [
        ['POST', 422, 'length'],
        ['DELETE', 429, 'chunked'],
      ]
    : METHODS.flatMap((method) =>
        [422, 429].flatMap((status) => FRAMINGS.map((framing) => [method, status, framing] as const)),
      );

const kinds: readonly Kind[] = [
  kind('LIST', 200, 'R', 'chunked'),
  kind('GET', 200, 'R'),
  kind('POST', 201, 'R', 'chunked'),
  kind('PATCH', 200, 'R'),
  kind('DELETE', 200, 'done'),
  kind('DELETE', 204, 'done'),
  ...problems.map(([method, status, framing]) => kind(method, status, 'X', framing)),
];

const well: Record<Call, RawResponse> = {
  LIST: rawJson(200, [record]),
  GET: rawJson(200, record),
  POST: rawJson(201, record),
  PATCH: rawJson(200, record),
  DELETE: rawJson(204, undefined),
};

function start(client: Client, call: Call, options: RequestOptions): Promise<unknown> {
  return call === 'LIST' ? client.accounts.list({}, options).first() : callWith(client, call, options);
}

/** Each request names the byte at which its response is cut; the next attempt gets a whole response. */
function cutting({ call, response }: Kind): ScriptedResponse {
  const seen = new Set<string>();
  return (request, wire) => {
    const at = String(request.headers['x-cut']);
    const bytes = seen.has(at) ? well[call].bytes : response.bytes.subarray(0, Number(at));
    seen.add(at);
    return sendRaw(bytes)(request, wire);
  };
}

interface Ended {
  readonly at: number;
  readonly error: AnyAccountingError | undefined;
  readonly requests: readonly SeenRequest[];
}

/** The suite cuts a head at every tenth byte, and its end and the body at each; a soak cuts everything at each. */
const stepAt = ({ response }: Kind, at: number) =>
  process.env.SOAK_FAULTS === undefined && at < response.bodyAt - 10 ? 10 : 1;

/** Makes one call for every byte at which the response is cut, at most 16 at a time; returns what happened to each. */
async function cutEverywhere(of: Kind, attempts: 1 | 2, signal: AbortSignal): Promise<Ended[]> {
  await using server = await scriptedServer(cutting(of));
  const ended: Promise<Omit<Ended, 'requests'>>[] = [];
  for (let at = 0; at < of.response.bytes.length; at += stepAt(of, at)) {
    // Each has its own client and retry budget. The time limits are long, so that leaks are seen.
    const client = quickClient(server.url, {
      rateLimiter: false,
      timeoutMs: hour,
      deadlineMs: hour,
      maxWaitMs: 1_000,
      retry: { maxAttempts: attempts, baseDelayMs: 0 },
    });
    const headers = { 'x-cut': `${at}` };
    ended.push(
      start(client, of.call, { headers, signal }).then(
        () => ({ at, error: undefined }),
        (error) => ({ at, error }),
      ),
    );
    if (ended.length % 16 === 0) await ended.at(-1);
  }
  const all = await Promise.all(ended);
  return all.map(({ at, error }) => ({
    at,
    error,
    requests: server.requests.filter(({ headers }) => headers['x-cut'] === `${at}`),
  }));
}

/** The expected result of a cut at this byte, as one line. */
function due({ call, status, response, then }: Kind, at: number, attempts: 1 | 2): string {
  const inHead = at < response.bodyAt;
  const again = inHead || then === 'R';
  if (!again && then === 'done') return 'well, 1 request';
  if (again && attempts === 2) return 'well, 2 requests';
  if (inHead) return `connection_failed, unknown, 1 attempts, 1 requests, retryable true, ${call}`;
  if (again) return `unexpected_response, applied, 1 attempts, 1 requests, retryable true, ${call}`;
  // The status decides if the body is cut.
  const code = status === 429 ? 'rate_limited' : 'unknown_problem';
  return `${code}, rejected, 1 attempts, 1 requests, retryable ${status === 429}, ${call}`;
}

function found({ call }: Kind, { error, requests }: Ended): string {
  const count = requests.length;
  if (error === undefined) return `well, ${count} request${count === 1 ? '' : 's'}`;
  const { code, outcome, attempts, retryable } = error;
  return `${code}, ${outcome}, ${attempts} attempts, ${count} requests, retryable ${retryable}, ${call}`;
}

test.each(kinds)(
  '$call handles a $status response, framed by $framing, that is cut at any byte',
  async (of) => {
    const before = openResources();
    const { signal } = new AbortController();
    for (const attempts of [1, 2] as const) {
      const ends = await cutEverywhere(of, attempts, signal);
      expect(ends.length).toBeGreaterThan(5);
      expect(ends.map((end) => `${end.at}: ${found(of, end)}`)).toEqual(
        ends.map(({ at }) => `${at}: ${due(of, at, attempts)}`),
      );
      for (const { error, requests } of ends) {
        const sent = requests.map(
          ({ method, url, headers, body }) => `${method} ${url} ${headers['idempotency-key']} ${body}`,
        );
        expect(new Set(sent).size).toBe(1);
        if (error !== undefined) expect(error.idempotencyKey).toBe(requests[0]?.headers['idempotency-key']);
      }
      const keys = ends.map(({ requests }) => requests[0]?.headers['idempotency-key']);
      expect(new Set(keys).size).toBe(of.call === 'POST' ? ends.length : 1);
    }
    expect(listenersOn(signal)).toBe(0);
    await closedAgain(before);
  },
);
