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
  [0, / → 404 in \d+ ms/, { attempt: 2, status: 404, durationMs: number }],
  [2, / failed after \d+ ms: not_found\. .*404/, { status: 404, code: 'not_found', outcome: 'unknown' }],
];

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
  const sandbox = createSandbox();
  const options = { ...sandbox.clientOptions, logger: create(stream), retry: { baseDelayMs: 1 } };
  sandbox.faults.next({ kind: 'status', status: 503 });
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
