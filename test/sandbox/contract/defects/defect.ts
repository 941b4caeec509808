import type { Send, SendInit, Target } from '../suite/target.ts';

/** A way in which a service could break the contract, put between the suite and a sandbox that does not. */
export interface Defect {
  readonly name: string;
  /** Part of the name of a check that must see it. */
  readonly caughtBy: string;
  readonly spoil: (send: Send, target: Target) => Send;
}

/** A request on its way, open to change. */
export interface Passing {
  readonly method: string;
  readonly url: URL;
  readonly headers: Record<string, string>;
  /** The body as JSON where it is an object. */
  body: Record<string, unknown> | undefined;
  readonly text: string | undefined;
}

function objectIn(text: string | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function open(url: string, init: SendInit): Passing {
  const { method, headers, body } = init;
  return { method, url: new URL(url), headers: { ...headers }, body: objectIn(body), text: body };
}

function sendOn(send: Send, { method, url, headers, body, text }: Passing): Promise<Response> {
  const sent = body === undefined ? text : JSON.stringify(body);
  return send(url.href, {
    method,
    headers,
    redirect: 'manual',
    ...(sent === undefined ? {} : { body: sent }),
  });
}

/** A defect in what the service understands: every request is changed before it gets there. */
export function misread(
  name: string,
  caughtBy: string,
  change: (request: Passing, target: Target) => void,
): Defect {
  const spoil =
    (send: Send, target: Target): Send =>
    (url, init) => {
      const request = open(url, init);
      change(request, target);
      return sendOn(send, request);
    };
  return { name, caughtBy, spoil };
}

/** An answer on its way back, open to change. */
export interface Returning {
  status: number;
  readonly headers: Headers;
  text: string;
  readonly request: Passing;
  /** The body as a list; empty where it is none. */
  readonly list: Record<string, unknown>[];
  /** Sends a request past the defect. */
  readonly ask: (url: URL, headers: Readonly<Record<string, string>>) => Promise<Response>;
}

const WITHOUT_BODY = [204, 304];

/** A defect in what the service says: every answer is changed before it is seen. */
export function missay(
  name: string,
  caughtBy: string,
  change: (answer: Returning, target: Target) => void | Promise<void>,
): Defect {
  const spoil =
    (send: Send, target: Target): Send =>
    async (url, init) => {
      const request = open(url, init);
      const response = await sendOn(send, request);
      const text = await response.text();
      const parsed: unknown = text.startsWith('[') ? JSON.parse(text) : [];
      const answer: Returning = {
        status: response.status,
        headers: new Headers(response.headers),
        text,
        request,
        list: parsed as Record<string, unknown>[],
        ask: (to, headers) => send(to.href, { method: 'GET', headers, redirect: 'manual' }),
      };
      await change(answer, target);
      const body = WITHOUT_BODY.includes(answer.status) ? null : answer.text;
      return new Response(body, { status: answer.status, headers: answer.headers });
    };
  return { name, caughtBy, spoil };
}

/** Changes each record of an answer, whether it is a list or a single one. */
export function eachRecord(answer: Returning, change: (record: Record<string, unknown>) => void): void {
  if (answer.status >= 300 || answer.text === '') return;
  const value: unknown = JSON.parse(answer.text);
  for (const record of Array.isArray(value) ? value : [value]) change(record as Record<string, unknown>);
  answer.text = JSON.stringify(value);
}
