import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Settings } from '../../../explore/command/support/process.ts';
import { folder, listening, run } from '../../../explore/command/support/run.ts';
import { CANARIES, echoHeaders, echoMembers, formsOf } from '../../../support/echoes.ts';
import { json, misbehave, problem, redirect } from '../../../support/responses.ts';
import { type ScriptedResponse, scriptedServer } from '../../../support/scripted-server.ts';
import { useFastClock } from '../../../support/virtual-clock.ts';

useFastClock();

/** What a run says: both streams, and the line of status that a terminal shows. */
async function said(env: Settings, args: readonly string[]): Promise<{ code: number; text: string }> {
  const status: string[] = [];
  const show = (line: string | undefined) => void status.push(line ?? '');
  const { code, out, log } = await run(env, args, { status: show });
  return { code, text: [out, log, ...status].join('\n') };
}

const leaksOf = (text: string, canary: string) =>
  text.split('\n').filter((line) => formsOf(canary).some((form) => line.includes(form)));

const environment = (baseUrl: string, key: string): Settings => ({
  ACCOUNTING_BASE_URL: baseUrl,
  ACCOUNTING_API_KEY: key,
});

/** Lists of one page, records by id, errors for everything else; headers and problem documents echo the key. */
const books =
  (canary: string, row: object = {}): ScriptedResponse =>
  (request, wire) => {
    const { pathname, searchParams } = new URL(request.url, 'http://x');
    const [, id] = pathname.replace('/api/public/v1/', '').split('/');
    const echo = { ...echoHeaders(canary), 'content-type': 'application/json' };
    const missing = problem(404, { ...echoMembers(canary), type: 'not_found' }, echoHeaders(canary));
    if (id !== undefined && Number(id) > 30) return missing(request, wire);
    const record = (n: number) => ({
      id: String(n),
      name: `n${n}`,
      createdAt: '2026-01-01T00:00:00Z',
      ...row,
    });
    if (id !== undefined) return json(record(Number(id)), 200, echo)(request, wire);
    const page = Number(searchParams.get('_page') ?? '1');
    const rows = page > 1 ? [] : Array.from({ length: 30 }, (_, n) => record(n + 1));
    return json(rows, 200, echo)(request, wire);
  };

const COMMANDS: readonly (readonly string[])[] = [
  ['whoami'],
  ['whoami', '--json'],
  ['get', 'accounts', '7'],
  ['pull', 'accounts', '--pagination', 'page', '--max-outage', '0'],
  ['probe', 'accounts'],
  ['probe', 'accounts', '--json'],
  ['discover', 'accounts'],
  ['discover', 'accounts', 'products', '--strict'],
];

const cases = CANARIES.flatMap((canary) => COMMANDS.map((args) => ({ canary, args, name: args.join(' ') })));

test.each(cases)('a successful run shows no key: $name, $canary', async ({ canary, args }) => {
  await using server = await scriptedServer(books(canary));
  const { code, text } = await said(environment(server.url, canary), args);
  expect([code, leaksOf(text, canary)]).toEqual([0, []]);
  expect(text.length).toBeGreaterThan(60);
  expect(server.requests[0]?.headers['x-auth-token']).toBe(canary);
});

const failures: Readonly<Record<string, { respond: (canary: string) => ScriptedResponse; codes: number[] }>> =
  {
    'a 401 that echoes': {
      respond: (canary) =>
        problem(401, { ...echoMembers(canary), type: 'unauthenticated' }, echoHeaders(canary)),
      codes: [3],
    },
    'a reset': { respond: () => misbehave.reset, codes: [6] },
    'a redirect': {
      respond: (canary) => redirect(302, `https://${encodeURIComponent(canary)}.x/${canary}`),
      codes: [5],
    },
    'a page that echoes': {
      respond:
        (canary) =>
        (_, { response }) =>
          void response.writeHead(200, { 'content-type': 'text/html' }).end(`<h1>${canary}</h1>`),
      codes: [5],
    },
  };
// One for each command: the same error of the same call is printed, whatever its other flags are.
const failing = cases
  .filter(({ name }) => !/whoami --json|probe accounts$|--strict/.test(name))
  .flatMap((one) => Object.keys(failures).map((failure) => ({ ...one, failure })));

test.each(failing)('$failure shows no key: $name, $canary', async ({ canary, args, failure }) => {
  const { respond, codes } = failures[failure] as (typeof failures)[string];
  await using server = await scriptedServer(respond(canary));
  const ran = await said(environment(server.url, canary), [...args, '--quiet']);
  expect(leaksOf(ran.text, canary)).toEqual([]);
  expect(codes).toContain(ran.code);
  expect(ran.text.trim()).not.toBe('');
});

/** The key where it does not belong, and how the command ends. */
const misplaced: readonly (readonly [args: readonly string[], code: number])[] = [
  [['whoami', '--api-key', 'KEY'], 2],
  [['whoami', '--api_key', 'KEY'], 2],
  [['whoami', '--api_key=KEY'], 2],
  [['whoami', '--apikye=KEY'], 2],
  [['whoami', '--auth-token=KEY'], 2],
  [['whoami', '-kKEY'], 2],
  [['whoami', '-k=KEY'], 2],
  [['--key', 'KEY', 'whoami'], 2],
];
/** Arguments in which only the environment variable shows that they are the key. */
const unmarked: typeof misplaced = [
  [['KEY'], 2],
  [['--KEY'], 2],
  [['whoami', 'KEY'], 2],
  [['get', 'KEY', '1'], 2],
  [['get', 'accounts', 'KEY'], 4],
  [['pull', 'accounts', '--pagination', 'KEY'], 2],
  [['pull', 'accounts', '--since', 'KEY'], 2],
  [['discover', '--sample', 'KEY'], 2],
  [['probe', '--draft', 'KEY'], 2],
  [['discover', 'accounts', '--check', '--out', '/no/such/KEY'], 7],
  [['whoami', '--base-url', 'KEY'], 2],
  [['whoami', '--base-url', 'https://ENCODED@x.example'], 2],
];
const given = (list: typeof misplaced) =>
  CANARIES.flatMap((canary) => list.map(([args, code]) => ({ canary, args, code, name: args.join(' ') })));
const withKey = (args: readonly string[], canary: string) =>
  args.map((arg) => arg.replaceAll('KEY', canary).replaceAll('ENCODED', encodeURIComponent(canary)));

test.each(given([...misplaced, ...unmarked]))(
  'the command does not print a key that is both an argument and in the environment: $name, $canary',
  async ({ canary, args, code }) => {
    await using server = await scriptedServer(
      problem(404, { ...echoMembers(canary), type: 'not_found' }, echoHeaders(canary)),
    );
    const ran = await said(environment(server.url, canary), withKey(args, canary));
    expect([ran.code, leaksOf(ran.text, canary)]).toEqual([code, []]);
    expect(ran.text.trim()).not.toBe('');
  },
);

test.each(given(misplaced))(
  'the command does not print a key that is only an argument: $name, $canary',
  async ({ canary, args, code }) => {
    const ran = await said({}, withKey(args, canary));
    expect([ran.code, leaksOf(ran.text, canary)]).toEqual([code, []]);
    expect(ran.text.trim()).not.toBe('');
  },
);

test.each(CANARIES)('no help shows the key: %s', async (canary) => {
  for (const args of [[], ['whoami'], ['get'], ['pull'], ['probe'], ['discover'], ['sandbox']]) {
    const { text } = await said(environment('https://x.example', canary), [...args, '--help']);
    expect(text.length).toBeGreaterThan(100);
    expect(leaksOf(text, canary)).toEqual([]);
  }
});

test.each(CANARIES)('no schema file shows the key, whatever records have: %s', async (canary) => {
  const path = folder();
  await using server = await scriptedServer(books(canary, { [canary]: canary, token: canary }));
  const args = ['discover', 'accounts', '--out', path('schemas.ts')];
  const { code, text } = await said(environment(server.url, canary), args);
  expect([code, leaksOf(text, canary)]).toEqual([0, []]);
  const source = readFileSync(path('schemas.ts'), 'utf8');
  expect(source).toContain('[redacted]');
  expect(leaksOf(source, canary)).toEqual([]);
});

test('no checkpoint of a pull that was rejected half-way shows the key', async () => {
  const path = folder();
  const { sandbox, env } = await listening({ records: { accounts: 300 } });
  const key = sandbox.keys.full;
  const body = JSON.stringify({ ...echoMembers(key), type: 'forbidden' });
  sandbox.faults.add({ kind: 'rewrite', status: 403, body }, { when: () => sandbox.count() > 4 });
  const files = ['--out', path('rows.ndjson'), '--checkpoint', path('point')];
  const { code, text } = await said(env, ['pull', 'accounts', ...files]);
  expect([code, leaksOf(text, key)]).toEqual([3, []]);
  for (const file of ['rows.ndjson.part', 'point']) {
    const kept = readFileSync(path(file), 'utf8');
    expect(kept.length).toBeGreaterThan(50);
    expect([file, leaksOf(kept, key)]).toEqual([file, []]);
  }
});
