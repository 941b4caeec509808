import { runInNewContext } from 'node:vm';
import { type ClientOptions, createClient } from 'accounting-data-sdk';
import { expect, test, vi } from 'vitest';
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

const CODES = {
  unsent: `ENOTFOUND EAI_AGAIN ECONNREFUSED EHOSTUNREACH ENETUNREACH UND_ERR_CONNECT_TIMEOUT ConnectionRefused
    FailedToOpenSocket ENETDOWN EADDRNOTAVAIL`,
  blocked: `SELF_SIGNED_CERT_IN_CHAIN HOSTNAME_MISMATCH ERR_INVALID_URL UNKNOWN_CERTIFICATE_VERIFICATION_ERROR
    DEPTH_ZERO_SELF_SIGNED_CERT CERT_HAS_EXPIRED ERR_TLS_CERT_ALTNAME_INVALID ERR_SSL_WRONG_VERSION_NUMBER
    UNABLE_TO_VERIFY_LEAF_SIGNATURE`,
  lost: `NOT_ENOTFOUND ENOTFOUND_NOT NOT_CERT_HAS_EXPIRED HOSTNAME_MISMATCH_NOT ECONNRESET EPIPE EPROTO
    ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC ERR_SSL_UNEXPECTED_EOF_WHILE_READING
    ERR_SSL_DECRYPT_ERROR ERR_SSL_PROTOCOL_IS_SHUTDOWN UND_ERR_SOCKET HPE_INVALID_CONSTANT ETIMEDOUT`,
} as const;

test.each(Object.entries(CODES))('a call is %s at each code of its kind', async (kind, codes) => {
  for (const code of codes.split(/\s+/)) {
    for (const error of [withCode(code), wrapped(wrapped(withCode(code)))]) {
      const expected = { code: 'connection_failed', reason: code, ...KINDS[kind as keyof typeof KINDS] };
      expect(await failureOf(error)).toMatchObject(expected);
    }
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

test('what the system call was decides, and each address that was tried counts', async () => {
  expect(await failureOf(withCode('ETIMEDOUT', { syscall: 'connect' }))).toMatchObject(KINDS.unsent);
  expect(await failureOf(withCode('ECONNRESET', { syscall: 'connect' }))).toMatchObject(KINDS.lost);
  // On an established connection.
  for (const syscall of ['read', 'write'])
    expect(await failureOf(wrapped(withCode('ENETUNREACH', { syscall })))).toMatchObject(KINDS.lost);
  const tried = new AggregateError([withCode('ECONNREFUSED'), withCode('ENETUNREACH')], 'all failed');
  expect(await failureOf(wrapped(tried))).toMatchObject(KINDS.unsent);
});

const deno = (text: string) =>
  new TypeError('fetch failed', { cause: new Error(`error sending request ${text}`) });
const FLAG = 'run again with the --allow-net flag';
const named = (name: string, message: string) => Object.assign(new Error(message), { name });
const IN = 'for url (https://books.example.com/x?updatedSince=2026): client error (Connect): ';
const FROM = 'from 127.0.0.1:37802 for https://books.example.com/x: client error (SendRequest): ';

// What runtimes say that have no codes: Deno 2.9, Bun 1.4, workerd and browsers.
test.each([
  [deno(`${IN}dns error: failed to lookup address information`), 'ENOTFOUND', 'unsent'],
  [deno(`${IN}tcp connect error: Connection refused (os error 111)`), 'ECONNREFUSED', 'unsent'],
  [deno(`${IN}tcp connect error: No route to host (os error 113)`), 'EHOSTUNREACH', 'unsent'],
  [deno(`${IN}operation timed out`), 'not connected', 'unsent'],
  [deno(`${IN}invalid peer certificate: UnknownIssuer`), 'CERT_INVALID', 'blocked'],
  [deno(`${IN}received corrupt message of type X`), 'ERR_SSL_WRONG_VERSION_NUMBER', 'blocked'],
  [deno(`${FROM}connection closed before message completed`), 'ECONNRESET', 'lost'],
  [wrapped(new Error('Connection reset by peer (os error 104)')), 'ECONNRESET', 'lost'],
  [new TypeError('Fetch failed: Requests to port 1 are blocked'), 'bad port', 'blocked'],
  [wrapped(new Error('unknown scheme')), 'unknown scheme', 'blocked'],
  [new TypeError("Url scheme 'foo' not supported"), 'unknown scheme', 'blocked'],
  [new Error('Too many subrequests by single Worker invocation.'), 'too many subrequests', 'blocked'],
  [new Error('Network connection lost.'), 'ECONNRESET', 'lost'],
  [new TypeError('The network connection was lost.'), 'ECONNRESET', 'lost'],
  [new TypeError('A server with the specified hostname could not be found.'), 'ENOTFOUND', 'unsent'],
  [new TypeError('Could not connect to the server.'), 'ECONNREFUSED', 'unsent'],
  [new TypeError('The Internet connection appears to be offline.'), 'ENETUNREACH', 'unsent'],
  [
    new TypeError('An SSL error has occurred and a secure connection to the server cannot be made.'),
    'ERR_SSL_HANDSHAKE_FAILURE',
    'blocked',
  ],
  [
    Object.assign(new TypeError('EPROTO: The TLS handshake failed.'), { code: 'EPROTO' }),
    'ERR_SSL_HANDSHAKE_FAILURE',
    'blocked',
  ],
  [named('NotCapable', `Requires net access to "b.example:80", ${FLAG}`), 'no permission', 'blocked'],
  [named('PermissionDenied', `Requires net access to "b.example", ${FLAG}`), 'no permission', 'blocked'],
  [wrapped(withCode('ERR_ACCESS_DENIED')), 'ERR_ACCESS_DENIED', 'blocked'],
  [
    new TypeError('RequestInit: Expected signal ("AbortSignal {}") to be an instance of AbortSignal.'),
    'bad arguments',
    'blocked',
  ],
  [
    new TypeError(
      "Failed to execute 'fetch' on 'Window': Failed to read the 'signal' property from 'RequestInit'.",
    ),
    'bad arguments',
    'blocked',
  ],
  [
    new TypeError("Window.fetch: 'signal' member of RequestInit does not implement interface AbortSignal."),
    'bad arguments',
    'blocked',
  ],
  [wrapped(new TypeError('Request constructor: invalid method')), 'bad arguments', 'blocked'],
  [new ReferenceError('TextEncoder is not defined'), 'no fetch', 'blocked'],
  [new TypeError('fetch is not a function'), 'no fetch', 'blocked'],
  [new ReferenceError('ship is not defined'), undefined, 'lost'],
  [
    new TypeError('Failed to fetch. Violates the Content Security Policy'),
    'content security policy',
    'blocked',
  ],
] as const)('%s is recognised by its text: %s, %s (%#)', async (error, reason, kind) => {
  expect(await failureOf(error)).toMatchObject({ code: 'connection_failed', reason, ...KINDS[kind] });
});

test.each(['Failed to fetch', 'NetworkError when attempting to fetch resource.', 'Load failed'])(
  'after "%s" of a browser, which does not say why, the message names CORS',
  async (text) => {
    const { message } = (await failureOf(new TypeError(text))) as Error;
    expect(message).toContain('whether the service allows this page (CORS)');
  },
);

test.each([
  ['Too many subrequests.', 'send fewer requests in one invocation'],
  ['Refused by the Content Security Policy', 'add the service to connect-src of the page'],
  ['A server with the specified hostname could not be found.', 'check the host name in baseUrl and the DNS'],
  ['Could not connect to the server.', 'check baseUrl and the network'],
  ['Request is not defined', 'this environment has no Fetch API'],
  ['RequestInit: Expected signal', 'fetch rejected its arguments. Under jsdom'],
])('after "%s" nothing was sent, and the message says what to do: %s', async (text, advice) => {
  const { message } = (await failureOf(new TypeError(text))) as Error;
  expect(message).toContain(`Nothing was sent: ${advice}`);
});

test('headers of a response that are larger than the runtime reads are named, and not requested again', async () => {
  await using server = await scriptedServer((_request, { socket }) => {
    socket.end(`HTTP/1.1 200 OK\r\nx-big: ${'x'.repeat(20_000)}\r\ncontent-length: 2\r\n\r\n{}`);
  });
  const { accounts, products } = createClient({ baseUrl: server.url, apiKey: 'k' });
  for (const call of [() => products.create({}), () => products.delete('1'), () => accounts.get('1')]) {
    expect(await caught(call())).toMatchObject({
      code: 'connection_failed',
      reason: 'UND_ERR_HEADERS_OVERFLOW',
      retryable: false,
      outcome: 'unknown',
      message: expect.stringContaining('headers of the response are larger'),
    });
  }
  expect(server.requests).toHaveLength(3);
});

const KEY = 'key-of-the-company';
const QUOTED = `request to https://books.example.com/x?updatedSince=2026 with ${KEY} failed`;
const Foreign = runInNewContext('({ Error, TypeError, AggregateError })') as typeof globalThis;

/** Anything else that `fetch` can throw, and what the message says of it. */
const thrown: readonly (readonly [what: string, error: unknown, says: string])[] = [
  ['a TypeError', new TypeError('Failed to fetch'), 'threw TypeError: Failed to fetch'],
  [
    'an error that quotes the key',
    new Error(QUOTED),
    'threw Error: request to the URL with [redacted] failed',
  ],
  // As undici does after a 407 of the service.
  ['an error without a cause', wrapped(new Error('')), 'threw TypeError: fetch failed; '],
];

const others: readonly (readonly [what: string, fetch: () => unknown, says: string])[] = [
  ...thrown.map(([what, error, says]) => [`throws ${what}`, () => Promise.reject(error), says] as const),
  ...Object.entries({
    nothing: undefined,
    'a mock': { ok: true, status: 200, json: async () => ({}), headers: new Headers() },
    'a body that is no web stream': { status: 200, ok: true, headers: new Headers(), body: { pipe() {} } },
    'a network error as a Response': Response.error(),
  }).map(([what, value]) => [`returns ${what}`, async () => value, 'did not return a Response'] as const),
];

test.each(others)(
  'a fetch that %s is described, as the global one and as an option',
  async (_, fetch, says) => {
    vi.stubGlobal('fetch', fetch);
    const ofGlobal = (await failureOf(undefined, { fetch: undefined })) as Error;
    vi.unstubAllGlobals();
    const ofOption = (await failureOf(undefined, { fetch: fetch as ClientOptions['fetch'] })) as Error;
    expect(ofGlobal.message).toMatch(/\(fetch threw|: fetch did not/);
    expect(ofOption.message).toContain('the function given as fetch');
    for (const error of [ofGlobal, ofOption]) {
      const { message } = error;
      expect(message).toContain(says);
      expect(error).toMatchObject({ outcome: 'unknown', retryable: !says.startsWith('did not') });
      expect(message).not.toMatch(new RegExp(`${KEY}|updatedSince`));
    }
  },
);

test('an error of another realm keeps its reason and outcome', async () => {
  const unsent = Object.assign(new Foreign.Error('no'), { code: 'ECONNREFUSED' });
  for (const cause of [unsent, new Foreign.AggregateError([unsent])]) {
    const failure = await failureOf(new Foreign.TypeError('fetch failed', { cause }));
    expect(failure).toMatchObject({ reason: 'ECONNREFUSED', ...KINDS.unsent });
    expect((failure as Error).cause).toMatchObject({ name: 'TypeError', message: 'fetch failed' });
  }
});

test('a chain of causes that is a circle ends', async () => {
  const error = new Error('round') as Error & { cause: unknown };
  error.cause = error;
  expect(await failureOf(error)).toMatchObject(KINDS.lost);
});
