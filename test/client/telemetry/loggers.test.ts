import { PassThrough } from 'node:stream';
import { createClient, type Logger } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { createLogger, format, transports } from 'winston';
import {
  jsonResponse,
  problemResponse,
  scriptedClient,
  scriptedFetch,
} from '../../support/scripted-fetch.ts';

/** A stream, and the lines of JSON that were written to it. */
function sink() {
  const stream = new PassThrough();
  const lines = () => {
    const text = String(stream.read() ?? '');
    return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as LogLine]));
  };
  return { stream, lines };
}

interface LogLine {
  readonly level: string | number;
  readonly message?: string;
  readonly msg?: string;
  readonly [field: string]: unknown;
}

const number = expect.any(Number);

/** The lines of a call that is retried and fails: the level (debug, info or warn), the text and the fields. */
const EXPECTED: readonly (readonly [level: number, line: RegExp, fields: object])[] = [
  [
    0,
    /^accounting-data-sdk #\d+ GET \/products\/404 attempt 1$/,
    { attempt: 1, call: number, method: 'GET' },
  ],
  [0, / → 503 in \d+ ms, \d+\/10000 left$/, { attempt: 1, status: 503, durationMs: number }],
  [1, / status 503; again in \d+ ms$/, { attempt: 1, reason: 'status 503', waitMs: number }],
  [0, / attempt 2$/, { attempt: 2 }],
  [
    0,
    / → 404 in \d+ ms, \d+\/10000 left, request r-7$/,
    { attempt: 2, status: 404, durationMs: number, requestId: 'r-7' },
  ],
  [
    2,
    / failed after \d+ ms: not_found\. .*404/,
    {
      ...{ status: 404, code: 'not_found', outcome: 'unknown', requestId: 'r-7' },
      ...{ attempt: 2, durationMs: number, waitedMs: number },
    },
  ],
];

/** The lines of a create that the service rejects. */
const REJECTED: typeof EXPECTED = [
  [0, / POST \/products attempt 1$/, { attempt: 1, method: 'POST' }],
  [0, / → 400 in \d+ ms, request r1$/, { status: 400, durationMs: number, requestId: 'r1' }],
  [
    2,
    / failed after \d+ ms: malformed_request, outcome rejected\. /,
    { status: 400, requestId: 'r1', durationMs: number, waitedMs: 0, outcome: 'rejected' },
  ],
];

const LOGGERS: readonly [string, (stream: PassThrough) => Logger, levels: readonly unknown[]][] = [
  ['pino', (stream) => pino({ level: 'debug' }, stream), [20, 30, 40]],
  [
    'winston',
    (stream) =>
      createLogger({
        level: 'debug',
        format: format.json(),
        transports: [new transports.Stream({ stream })],
      }),
    ['debug', 'info', 'warn'],
  ],
];

test.each(LOGGERS)('the client logs lines and fields to %s as it is', async (_, create, levels) => {
  const { stream, lines } = sink();
  const sandbox = createSandbox();
  const options = { ...sandbox.clientOptions, logger: create(stream), retry: { baseDelayMs: 1 } };
  sandbox.faults.next({ kind: 'status', status: 503 });
  sandbox.faults.next({ kind: 'rewrite', headers: { 'X-Request-Id': 'r-7' } });
  await expect(createClient(options).products.get('404')).rejects.toThrow();
  const seen = lines();
  expect(seen.map(({ msg, message }) => msg ?? message)).toEqual(
    EXPECTED.map(([, line]) => expect.stringMatching(line)),
  );
  expect(seen).toMatchObject(
    EXPECTED.map(([level, , fields]) => ({ level: levels[level], path: '/products/404', ...fields })),
  );
  expect(JSON.stringify(seen)).not.toContain(sandbox.keys.full);
});

test.each(LOGGERS)(
  'a write that fails is logged to %s with its outcome and the id of its request',
  async (...row) => {
    const [, create, levels] = row;
    const { stream, lines } = sink();
    const response = problemResponse(400, { type: 'malformed_request' }, { 'x-request-id': 'r1' });
    const { products } = scriptedClient(scriptedFetch(response), { logger: create(stream), retry: false });
    await expect(products.create({ name: 'Desk' })).rejects.toThrow();
    const seen = lines();
    expect(seen.map(({ msg, message }) => msg ?? message)).toEqual(
      REJECTED.map(([, line]) => expect.stringMatching(line)),
    );
    expect(seen).toMatchObject(
      REJECTED.map(([level, , fields]) => ({ level: levels[level], path: '/products', ...fields })),
    );
  },
);

test.each(LOGGERS)('warnings of rows, of collections and of listeners have fields in %s', async (...row) => {
  const [, create, levels] = row;
  const { stream, lines } = sink();
  const bad = new Error('bad listener', { cause: new RangeError('too far') });
  const request = vi.fn().mockImplementationOnce(() => {
    throw bad;
  });
  const invalid = [
    { id: null, name: 5 },
    { id: '7', name: 5, isSaleItem: 'yes' },
  ];
  const pages = [invalid, [{ id: '9' }], [{ id: '9' }, { id: '10' }], []];
  const client = scriptedClient(scriptedFetch(...pages.map((page) => jsonResponse(page))), {
    logger: create(stream),
    validation: 'report',
    on: { request },
  });
  await client.products.list({}, { pagination: 'page' }).toArray({ limit: 9 });
  const seen = lines().filter(({ level }) => level === levels[2]);
  const issues = ['name: expected a string', 'isSaleItem: expected true or false'];
  const unnamed = ['name: expected a string', 'id: expected a string'];
  expect(seen.map(({ msg, message }) => `${msg ?? message}`.replace('accounting-data-sdk', ''))).toEqual([
    ': the listener on.request threw Error: bad listener',
    ` products ?: ${unnamed.join('; ')}`,
    ` products 7: ${issues.join('; ')}`,
    expect.stringMatching(/^ products: rows came twice/),
  ]);
  expect(seen).toMatchObject([
    { cause: { message: 'bad listener', cause: { name: 'RangeError', message: 'too far' } } },
    { collection: 'products', issues: unnamed },
    { collection: 'products', id: '7', issues },
    { collection: 'products' },
  ]);
});
