import { type ClientOptions, createClient } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { caught } from '../support/caught.ts';
import { success } from '../support/responses.ts';
import { newOrigin } from '../support/scripted-fetch.ts';
import { closedPort, scriptedServer } from '../support/scripted-server.ts';

const withCode = (code: unknown, extra: object = {}) => Object.assign(new Error('why'), { code }, extra);
const wrapped = (cause: unknown) => new TypeError('fetch failed', { cause });

/** What a call fails with whose `fetch` rejects. */
const failureOf = (error: unknown, options: ClientOptions = {}) => {
  const fetch = async () => Promise.reject(error);
  const client = createClient({
    baseUrl: newOrigin(),
    apiKey: 'key-of-the-company',
    fetch,
    retry: { maxAttempts: 1 },
    ...options,
  });
  return caught(client.accounts.get('1'));
};

/** Whether anything was sent, and whether it can help to send it again. */
const KINDS = {
  unsent: { outcome: 'not_sent', retryable: true },
  blocked: { outcome: 'not_sent', retryable: false },
  lost: { outcome: 'unknown', retryable: true },
} as const;

test.each([
  ['ENOTFOUND', 'unsent'],
  ['EAI_AGAIN', 'unsent'],
  ['ECONNREFUSED', 'unsent'],
  ['EHOSTUNREACH', 'unsent'],
  ['ENETUNREACH', 'unsent'],
  ['UND_ERR_CONNECT_TIMEOUT', 'unsent'],
  ['ConnectionRefused', 'unsent'],
  ['FailedToOpenSocket', 'unsent'],
  ['ENETDOWN', 'unsent'],
  ['EADDRNOTAVAIL', 'unsent'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'blocked'],
  ['HOSTNAME_MISMATCH', 'blocked'],
  ['ERR_INVALID_URL', 'blocked'],
  ['UNKNOWN_CERTIFICATE_VERIFICATION_ERROR', 'blocked'],
  ['NOT_ENOTFOUND', 'lost'],
  ['ENOTFOUND_NOT', 'lost'],
  ['NOT_CERT_HAS_EXPIRED', 'lost'],
  ['HOSTNAME_MISMATCH_NOT', 'lost'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'blocked'],
  ['CERT_HAS_EXPIRED', 'blocked'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'blocked'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'blocked'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'blocked'],
  ['ECONNRESET', 'lost'],
  ['EPIPE', 'lost'],
  ['EPROTO', 'lost'],
  ['ERR_SSL_SSLV3_ALERT_BAD_RECORD_MAC', 'lost'],
  ['ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC', 'lost'],
  ['UND_ERR_SOCKET', 'lost'],
  ['UND_ERR_HEADERS_TIMEOUT', 'lost'],
  ['HPE_INVALID_CONSTANT', 'lost'],
  ['ETIMEDOUT', 'lost'],
] as const)('%s is %s, at the top or as a cause', async (code, kind) => {
  for (const error of [withCode(code), wrapped(withCode(code)), wrapped(wrapped(withCode(code)))]) {
    expect(await failureOf(error)).toMatchObject({ code: 'connection_failed', reason: code, ...KINDS[kind] });
  }
});

test('the failures of Node itself are among them: a closed port, a server without TLS, a blocked port', async () => {
  await using server = await scriptedServer(success);
  for (const [baseUrl, failure] of [
    [`http://127.0.0.1:${await closedPort()}`, { reason: 'ECONNREFUSED', ...KINDS.unsent }],
    [server.url.replace('http:', 'https:'), KINDS.blocked],
    ['http://127.0.0.1:1', { reason: 'bad port', ...KINDS.blocked }],
  ] as const) {
    const client = createClient({ baseUrl, apiKey: 'k', retry: { maxAttempts: 1 } });
    expect(await caught(client.products.create({}))).toMatchObject({ code: 'connection_failed', ...failure });
  }
  expect(server.requests).toHaveLength(0);
});

test('ETIMEDOUT of a connect means that nothing was sent', async () => {
  expect(await failureOf(withCode('ETIMEDOUT', { syscall: 'connect' }))).toMatchObject(KINDS.unsent);
  expect(await failureOf(withCode('ECONNRESET', { syscall: 'connect' }))).toMatchObject(KINDS.lost);
});

test.each(['EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN'])(
  '%s on an established connection has outcome unknown',
  async (code) => {
    for (const syscall of ['read', 'write']) {
      expect(await failureOf(wrapped(withCode(code, { syscall })))).toMatchObject(KINDS.lost);
    }
    expect(await failureOf(wrapped(withCode(code, { syscall: 'connect' })))).toMatchObject(KINDS.unsent);
  },
);

test('each address that was tried counts', async () => {
  const tried = new AggregateError([withCode('ECONNREFUSED'), withCode('ENETUNREACH')], 'all failed');
  expect(await failureOf(wrapped(tried))).toMatchObject(KINDS.unsent);
});

test.each(['bad port', 'unknown scheme'])('"%s", which comes without a code, is blocked', async (message) => {
  expect(await failureOf(wrapped(new Error(message)))).toMatchObject({ reason: message, ...KINDS.blocked });
});

test.each([
  ['a bare TypeError', new TypeError('Failed to fetch')],
  ['a string', 'went wrong'],
  ['undefined', undefined],
  ['a code that is a sentence', withCode('header s3cret is invalid')],
  ['a code that is a number', withCode(7)],
])('%s is lost, without a reason', async (_, error) => {
  expect(await failureOf(error)).toMatchObject({ reason: undefined, ...KINDS.lost });
});

test('a cause is found five levels down, and no further', async () => {
  const nested = (levels: number): unknown => {
    let error: unknown = withCode('ENOTFOUND');
    for (let level = 0; level < levels; level += 1) error = wrapped(error);
    return error;
  };
  expect(await failureOf(nested(5))).toMatchObject(KINDS.unsent);
  expect(await failureOf(nested(6))).toMatchObject(KINDS.lost);
});

test('a chain of causes that is a circle ends', async () => {
  const error = new Error('round') as Error & { cause: unknown };
  error.cause = error;
  expect(await failureOf(error)).toMatchObject(KINDS.lost);
});
