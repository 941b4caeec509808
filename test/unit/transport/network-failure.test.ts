import { expect, test } from 'vitest';
import { networkFailure } from '../../../src/transport/network-failure.ts';

const target = { host: 'books.example.com', port: 443, proxy: undefined };
const facts = { method: 'GET', path: '/accounts/1', outcome: 'unknown' } as const;
const withCode = (code: string, extra: object = {}) => Object.assign(new Error('s3cret'), { code }, extra);
const wrapped = (cause: unknown) => new TypeError('fetch failed', { cause });

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
])('%s is %s, whether at the top or as a cause', (code, fault) => {
  for (const error of [withCode(code), wrapped(withCode(code)), wrapped(wrapped(withCode(code)))]) {
    const failure = networkFailure(error, target);
    expect(failure.fault).toBe(fault);
    const shown = failure.toError(facts);
    expect(shown).toMatchObject({ code: 'connection_failed', reason: code, retryable: fault !== 'blocked' });
    expect(shown.cause).toBeUndefined();
    expect(`${shown.message} ${shown.stack}`).not.toContain('s3cret');
  }
});

test('ETIMEDOUT of a connect means that nothing was sent', () => {
  expect(networkFailure(withCode('ETIMEDOUT', { syscall: 'connect' }), target).fault).toBe('unsent');
  expect(networkFailure(withCode('ECONNRESET', { syscall: 'connect' }), target).fault).toBe('lost');
});

test.each([
  ['ENOTFOUND', 'not_sent', 'Nothing was sent: check baseUrl and the network.'],
  ['CERT_HAS_EXPIRED', 'not_sent', 'Nothing was sent: check the scheme, port and certificate of baseUrl.'],
  ['ECONNRESET', 'unknown', 'The connection broke. Try again.'],
  [
    'ENOTFOUND',
    'unknown',
    'This attempt was not sent, but one before it was. Check baseUrl and the network.',
  ],
] as const)('%s in a GET whose outcome is %s says: %s', (code, outcome, advice) => {
  const error = networkFailure(withCode(code), target).toError({ ...facts, outcome });
  expect(error.message).toBe(`GET /accounts/1 got no response (${code} books.example.com:443). ${advice}`);
});

test.each([
  ['ECONNRESET', 'The connection broke.'],
  ['ENOTFOUND', 'This attempt was not sent, but one before it was.'],
])('%s in a write points to the outcome', (code, what) => {
  const write = { ...facts, method: 'POST', outcome: 'unknown' } as const;
  const { message } = networkFailure(withCode(code), target).toError(write);
  expect(message).toContain(`${what} See outcome for what the service may have done.`);
});

test('where no code says why, the message gives no reason', () => {
  expect(networkFailure(new Error('s3cret'), target).toError(facts).message).toBe(
    'GET /accounts/1 got no response (connection to books.example.com:443). The connection broke. Try again.',
  );
});

test.each(['EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN'])(
  '%s on a connection that was made already says nothing of what was sent',
  (code) => {
    for (const syscall of ['read', 'write']) {
      expect(networkFailure(wrapped(withCode(code, { syscall })), target).fault).toBe('lost');
    }
    expect(networkFailure(wrapped(withCode(code, { syscall: 'connect' })), target).fault).toBe('unsent');
  },
);

test('of several addresses that were tried each is looked at', () => {
  const tried = new AggregateError([withCode('ECONNREFUSED'), withCode('ENETUNREACH')], 'all failed');
  expect(networkFailure(wrapped(tried), target).fault).toBe('unsent');
});

test.each(['bad port', 'unknown scheme'])('"%s", which comes without a code, is blocked', (message) => {
  expect(networkFailure(wrapped(new Error(message)), target).toError(facts)).toMatchObject({
    reason: message,
    retryable: false,
  });
});

test.each([
  ['a bare TypeError', new TypeError('Failed to fetch s3cret')],
  ['a string', 's3cret'],
  ['undefined', undefined],
  ['a code that quotes', withCode('header s3cret is invalid')],
  ['a code that is a number', Object.assign(new Error('x'), { code: 7 })],
])('%s counts as lost, without a reason', (_, error) => {
  const failure = networkFailure(error, target);
  expect(failure.fault).toBe('lost');
  expect(failure.toError(facts)).toMatchObject({ reason: undefined });
  expect(failure.toError(facts).message).not.toContain('s3cret');
});

test('a cause is found five levels down, and no further', () => {
  const nested = (levels: number): unknown => {
    let error: unknown = withCode('ENOTFOUND');
    for (let level = 0; level < levels; level += 1) error = wrapped(error);
    return error;
  };
  expect(networkFailure(nested(5), target).fault).toBe('unsent');
  expect(networkFailure(nested(6), target).fault).toBe('lost');
});

test('a chain of causes that turns in a circle is not followed for ever', () => {
  const error = new Error('round') as Error & { cause: unknown };
  error.cause = error;
  expect(networkFailure(error, target).fault).toBe('lost');
});
