import { PassThrough } from 'node:stream';
import { createClient, type Logger } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createLogger, format, transports } from 'winston';

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

/** A call that is retried, and one that fails. */
async function makeCalls(logger: Logger): Promise<string> {
  const sandbox = createSandbox({ records: { products: 1 } });
  const client = createClient({ ...sandbox.clientOptions, logger, retry: { baseDelayMs: 1 } });
  sandbox.faults.next({ kind: 'status', status: 503 });
  await client.products.get('1');
  await expect(client.products.get('404')).rejects.toThrow();
  return sandbox.keys.full;
}

const EXPECTED = [
  /^accounting-data-sdk #\d+ GET \/products\/1 attempt 1$/,
  / → 503 in \d+ ms, \d+\/10000 left$/,
  / status 503; again in \d+ ms$/,
  / attempt 2$/,
  / → 200 in \d+ ms/,
  / GET \/products\/404 attempt 1$/,
  / → 404 in /,
  / failed after \d+ ms: not_found\. .*404/,
];

/** The fields of each line, without those of the logger and without what differs from run to run. */
const FIELDS = [
  { attempt: 1 },
  { attempt: 1, status: 503, durationMs: expect.any(Number) },
  { attempt: 1, reason: 'status 503', waitMs: expect.any(Number) },
  { attempt: 2 },
  { attempt: 2, status: 200, durationMs: expect.any(Number) },
  { attempt: 1 },
  { attempt: 1, status: 404, durationMs: expect.any(Number) },
  { attempt: 1, status: 404, durationMs: expect.any(Number), code: 'not_found', outcome: 'rejected' },
].map((fields, line) => ({
  method: 'GET',
  path: line < 5 ? '/products/1' : '/products/404',
  call: expect.any(Number),
  ...fields,
}));

/** Which of its levels a logger gives each line: debug, info or warn. */
const LEVELS = [0, 0, 1, 0, 0, 0, 0, 2];

test.each<[string, (stream: PassThrough) => Logger, levels: readonly unknown[]]>([
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
])('the client logs lines and fields to %s as it is', async (_, create, levels) => {
  const { stream, lines } = sink();
  const key = await makeCalls(create(stream));
  const seen = lines();
  expect(seen.map(({ msg, message }) => msg ?? message)).toEqual(
    EXPECTED.map((line) => expect.stringMatching(line)),
  );
  expect(seen.map(({ level }) => level)).toEqual(LEVELS.map((index) => levels[index]));
  expect(seen).toMatchObject(FIELDS);
  expect(JSON.stringify(seen)).not.toContain(key);
});

test('the client gives loggers the id of a request, and the outcome of a write in text as well', async () => {
  const { stream, lines } = sink();
  const sandbox = createSandbox();
  const client = createClient({ ...sandbox.clientOptions, logger: pino({ level: 'debug' }, stream) });
  const body = JSON.stringify({ type: 'validation_failed', detail: 'no\nway' });
  const headers = { 'X-Request-Id': 'req-7' };
  sandbox.faults.next({ kind: 'rewrite', status: 422, headers, body, committed: false });
  await expect(client.products.create({ name: 'Desk' })).rejects.toThrow();

  const [, response, failure] = lines();
  expect(response).toMatchObject({ requestId: 'req-7', msg: expect.stringMatching(/, request req-7$/) });
  expect(failure).toMatchObject({
    code: 'validation_failed',
    outcome: 'rejected',
    requestId: 'req-7',
    status: 422,
  });
  expect(failure?.msg).toMatch(/failed after \d+ ms: validation_failed, outcome rejected\. .*no way/);
  expect(failure?.msg).not.toContain('\n');
});
