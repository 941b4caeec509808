import { collections } from '../../collections/index.ts';
import { isMoney } from '../../schemas/money.ts';
import type { ResolvedSandboxOptions } from '../resolve-options.ts';
import { decodeText, encodeText, type ServiceReply } from '../service/message.ts';
import { PROBLEMS, type ProblemName, problemReply } from '../service/problem.ts';
import type { ContentFault } from './fault.ts';

const HTML =
  '<!doctype html><html><head><title>Service</title></head><body><h1>Please try again later</h1></body></html>';

const EMPTY: ServiceReply = { status: 200, headers: {}, body: undefined };

function htmlReply(status: number): ServiceReply {
  return { status, headers: { 'Content-Type': 'text/html; charset=utf-8' }, body: encodeText(HTML) };
}

/** Retry-After as it goes out; undefined for none. */
function retryAfter(value: number | Date | string | null | undefined): Record<string, string> {
  if (value === null || value === undefined) return {};
  return { 'Retry-After': value instanceof Date ? value.toUTCString() : String(value) };
}

/** The name of the error that belongs to a status, where one does. */
function nameOf(status: number): string {
  const known = Object.entries(PROBLEMS).find(([, [its]]) => its === status);
  return known?.[0] ?? (status >= 500 ? 'internal_error' : 'error');
}

function statusReply(
  fault: Extract<ContentFault, { kind: 'status' }>,
  options: ResolvedSandboxOptions,
): ServiceReply {
  const { status, body = 'problem', type: name = nameOf(status) } = fault;
  const headers = retryAfter(fault.retryAfter);
  if (body === 'empty') return { status, headers, body: undefined };
  if (body === 'html') return { ...htmlReply(status), headers: { ...htmlReply(status).headers, ...headers } };

  const title = Object.hasOwn(PROBLEMS, name) ? PROBLEMS[name as ProblemName][1] : 'An error';
  return problemReply({ name, status, title, detail: 'Told to fail by the sandbox.', headers }, options);
}

/** What is answered in place of the service, for faults that keep it from carrying the request out; undefined for others. */
export function insteadOf(fault: ContentFault, options: ResolvedSandboxOptions): ServiceReply | undefined {
  switch (fault.kind) {
    case 'html-response':
      return fault.committed === true ? undefined : htmlReply(fault.status ?? 200);
    case 'rate-limited': {
      const [status, title] = PROBLEMS.rate_limited;
      const wait = retryAfter(fault.retryAfter === undefined ? 1 : fault.retryAfter);
      const headers = { ...wait, 'X-RateLimit-Remaining': '0' };
      return problemReply(
        { name: 'rate_limited', status, title, detail: 'Try again later.', headers },
        options,
      );
    }
    case 'status':
      return fault.committed === true ? undefined : statusReply(fault, options);
    case 'redirect':
      return { status: fault.status ?? 302, headers: { Location: fault.location }, body: undefined };
    case 'rewrite':
      return fault.committed === false ? rewrite(fault, EMPTY) : undefined;
    default:
      return undefined;
  }
}

/** The documented amounts, of whichever collection. */
const AMOUNTS = new Set(
  Object.values(collections).flatMap(({ fields }) =>
    Object.keys(fields).filter((field) => fields[field] === 'money'),
  ),
);

/** In collections whose fields are not documented, four digits after the point tell an amount. */
const LOOKS_LIKE_MONEY = /^-?\d+\.\d{4}$/;

function moneyAsNumber(body: Uint8Array): Uint8Array {
  const parsed: unknown = JSON.parse(decodeText(body), (field, value: unknown) => {
    if (!isMoney(value)) return value;
    return AMOUNTS.has(field) || LOOKS_LIKE_MONEY.test(value) ? Number(value) : value;
  });
  return encodeText(JSON.stringify(parsed));
}

function rewrite(fault: Extract<ContentFault, { kind: 'rewrite' }>, reply: ServiceReply): ServiceReply {
  const headers: Record<string, string> = { ...reply.headers };
  for (const [name, value] of Object.entries(fault.headers ?? {})) {
    const old = Object.keys(headers).find((header) => header.toLowerCase() === name.toLowerCase());
    if (old !== undefined) delete headers[old];
    if (value !== null) headers[name] = value;
  }
  const before = reply.body === undefined ? '' : decodeText(reply.body);
  const made = typeof fault.body === 'function' ? fault.body(before) : fault.body;
  const body = typeof made === 'string' ? encodeText(made) : (made ?? reply.body);
  return { ...reply, status: fault.status ?? reply.status, headers, body };
}

/** What a fault makes of an answer of the service. */
export function distort(
  fault: ContentFault,
  reply: ServiceReply,
  options: ResolvedSandboxOptions,
): ServiceReply {
  const headers = { ...reply.headers };
  switch (fault.kind) {
    case 'html-response':
      return { ...htmlReply(fault.status ?? 200), headers: { ...headers, ...htmlReply(200).headers } };
    case 'status': {
      const made = statusReply(fault, options);
      return { ...made, headers: { ...headers, ...made.headers } };
    }
    case 'empty-body':
      return { ...reply, status: fault.status ?? reply.status, body: undefined };
    case 'wrong-content-type':
      return { ...reply, headers: { ...headers, 'Content-Type': fault.contentType ?? 'text/plain' } };
    case 'money-as-number':
      return reply.body === undefined ? reply : { ...reply, body: moneyAsNumber(reply.body) };
    case 'clock-skew':
      headers.Date = new Date(Date.parse(headers.Date ?? '') + fault.byMs).toUTCString();
      return { ...reply, headers };
    case 'rewrite':
      return rewrite(fault, reply);
    default:
      return reply;
  }
}
