import { idempotencyKeyFor, toDecimal } from 'accounting-data-sdk';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkedQuery } from '../../../src/collections/list-query.ts';
import { products } from '../../../src/collections/products.ts';
import { writeBody } from '../../../src/collections/write-body.ts';
import { apiErrorOf } from '../../../src/errors/api-error-of.ts';
import { checkId, checkText } from '../../../src/input/checks.ts';
import { integerId, rangeOf } from '../../../src/pagination/id-bounds.ts';
import { stateOf } from '../../../src/pagination/keyset/token.ts';
import { decodeResumeToken } from '../../../src/pagination/resume-token.ts';
import { decodeState } from '../../../src/reading/state.ts';
import { isMoney } from '../../../src/schemas/money.ts';
import { parseProblem } from '../../../src/schemas/problem.ts';
import { isTimestamp } from '../../../src/schemas/timestamp.ts';
import { errorOf } from '../../../src/transport/error-of.ts';
import { checkIdempotencyKey } from '../../../src/transport/idempotency-key.ts';
import { networkFailure } from '../../../src/transport/network-failure.ts';
import { rateLimitOf } from '../../../src/transport/received.ts';
import { Redactor } from '../../../src/transport/redact.ts';
import { checkHeaders } from '../../../src/transport/request-headers.ts';
import { parseRetryAfter } from '../../../src/transport/retry-after.ts';
import { parseBaseUrl, requestUrl } from '../../../src/transport/url.ts';
import { anyText, endsWell, tries } from '../../support/hostile.ts';

const scope = { baseUrl: 'https://x.example', collection: 'accounts', filters: {} };
const redactor = new Redactor();
redactor.hide('secret/\\1');
const sent = { url: 'https://books.example.com/x', redactor };
const facts = { method: 'GET', path: '/x' };
const read = { ...facts, attempts: 1, outcome: 'applied' } as const;
const limits = { timeoutMs: 1_000, deadlineMs: 1_000, timeouts: 0 };

const responseOf = (type: string, detail: string) => ({
  status: 422,
  problem: parseProblem({ type, detail, violations: [{ message: detail }] }),
  requestId: undefined,
  rateLimit: undefined,
  headers: {},
  retryAfterMs: undefined,
});

/** Everything that reads a text: from the wire, from a store, or from a caller. */
const readers: Readonly<Record<string, (text: string) => unknown>> = {
  'Retry-After': (text) => parseRetryAfter(text, text),
  'a rate limit': (text) =>
    rateLimitOf(
      new Headers({ 'x-ratelimit-limit': text.replace(/[^ -~]/g, '0'), 'x-ratelimit-remaining': '1' }),
    ),
  'what a problem says': (text) => apiErrorOf(responseOf(text, text), facts),
  'a problem document': (text) => parseProblem(redactor.value({ [text]: [text], type: text, detail: text })),
  'an amount': isMoney,
  'a decimal': toDecimal,
  'a timestamp': isTimestamp,
  'a resume token': (text) => decodeResumeToken(text, scope),
  'a resume token of any content': (text) =>
    decodeResumeToken(Buffer.from(text).toString('base64url'), scope),
  'a position': (text) =>
    stateOf(
      { pagination: 'keyset', order: 'asc', inOrder: true, after: text, highest: text, idLimit: text },
      {
        bounds: undefined,
        range: { after: -1n, through: undefined },
        onlyChanges: false,
        listOrder: 'any',
        facts: read,
      },
    ),
  'a checkpoint': (text) => decodeState(text, 'k'),
  'a checkpoint of any content': (text) =>
    decodeState(
      JSON.stringify({ v: 1, scope: text, by: text, watermark: text, run: { watermark: text } }),
      'k',
    ),
  'an id': (text) => requestUrl('https://x.example/api', ['accounts', checkId(text)]),
  'a path': (text) => requestUrl('https://x.example/api', `/${checkText(text, 'path')}`),
  'a whole number as id': integerId,
  'bounds on ids': (text) => rangeOf({ gt: text, lte: text, between: text }),
  'a query': (text) => checkedQuery({ updatedSince: text, id: { gt: text, between: [text, text] } }),
  'a base URL': (text) => parseBaseUrl(text, true),
  'a header': (text) => checkHeaders({ [text]: text, 'x-a': text }),
  'an Idempotency-Key': checkIdempotencyKey,
  'parts of an Idempotency-Key': (text) => idempotencyKeyFor(text, text),
  'a failure of fetch': (text) =>
    errorOf(
      networkFailure(Object.assign(new TypeError(text), { code: text, cause: new Error(text) }), sent),
      facts,
      limits,
    ),
  'a draft': (text) => writeBody(products, { [text]: text, salePrice: text, name: text }, 'draft'),
};

/** Texts of which a parser that backtracks, or searches again from each place, would not see the end. */
const growing: readonly ((length: number) => string)[] = [
  ...Array.from(' 0.-/%a[\\é\ud800', (unit) => (length: number) => unit.repeat(length)),
  (length) => `${' '.repeat(length)}x`,
  (length) => '"\\'.repeat(length / 2),
  (length) => `secret${'%25'.repeat(length / 3)}`,
  (length) => `secret&${'amp;'.repeat(length / 4)}`,
  (length) => '<a'.repeat(length / 2),
  (length) => '. '.repeat(length / 2),
  (length) => '+json'.repeat(length / 5),
  (length) => `1.${'0'.repeat(length)}x`,
  (length) => `https://${'rfc'.repeat(length / 3)}`,
  (length) => `2026-01-31T12:00:00.${'1'.repeat(length)}Z`,
  (length) => `${'a:'.repeat(length / 2)}\n`,
  (length) => `{"v":1,"of":"${'x'.repeat(length)}","at":{}}`,
];

/** Work that backtracks without an end outlasts the test; in the long form work that grows with the square does too. */
const LENGTH = process.env.SOAK_FAULTS === undefined ? 100_000 : 1_000_000;

test.each(Object.entries(readers))(
  '%s: any text is parsed before the test times out, or fails with an error of this package',
  { timeout: 120_000 },
  (_, read) => {
    fc.assert(
      fc.property(anyText, (text) => endsWell(() => read(text))),
      tries(200),
    );
    for (const make of growing) expect(endsWell(() => read(make(LENGTH)))).toBe(true);
  },
);
