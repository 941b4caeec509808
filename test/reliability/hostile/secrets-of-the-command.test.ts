import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Settings } from '../../explore/command/support/process.ts';
import { folder, run } from '../../explore/command/support/run.ts';
import { json, misbehave, problem, redirect, respond } from '../../support/responses.ts';
import { type ScriptedResponse, scriptedServer } from '../../support/scripted-server.ts';
import { CANARIES, echoHeaders, echoMembers, leaks } from '../../support/secrets.ts';
import { useFastClock } from '../../support/virtual-clock.ts';

useFastClock();

/** Looks different in a URL and in JSON. */
const [, KEY] = CANARIES;

/** Runs the command. Nothing that it prints, and no status of a terminal, shows the key. */
async function expectNoKey(env: Settings, args: readonly string[], canary: string) {
  const status: string[] = [];
  const show = (line: string | undefined) => void status.push(line ?? '');
  const { code, out, log } = await run(env, args, { status: show });
  const text = [out, log, ...status].join('\n');
  expect(leaks(text, canary)).toEqual([]);
  expect(text.trim()).not.toBe('');
  return { code, text };
}

const environment = (baseUrl: string, key: string): Settings => ({
  ACCOUNTING_BASE_URL: baseUrl,
  ACCOUNTING_API_KEY: key,
});

const missing = (canary: string) =>
  problem(404, { ...echoMembers(canary), type: 'not_found' }, echoHeaders(canary));

/** Lists of one page, records by id, errors for everything else; headers and problem documents echo the key. */
const books =
  (canary: string, row: object = {}): ScriptedResponse =>
  (request, wire) => {
    const { pathname, searchParams } = new URL(request.url, 'http://x');
    const [, id] = pathname.replace('/api/public/v1/', '').split('/');
    if (Number(id) > 30) return missing(canary)(request, wire);
    const record = (n: number) => ({ id: `${n}`, name: `n${n}`, createdAt: '2026-01-01T00:00:00Z', ...row });
    const rows = Array.from({ length: 30 }, (_, n) => record(n + 1));
    const found = id === undefined ? (Number(searchParams.get('_page')) > 1 ? [] : rows) : record(Number(id));
    return json(found, 200, echoHeaders(canary))(request, wire);
  };

const COMMANDS: readonly (readonly string[])[] = [
  ['whoami'],
  ['get', 'accounts', '7'],
  ['pull', 'accounts', '--pagination', 'page', '--max-outage', '0'],
  ['probe', 'accounts', '--json'],
  ['discover', 'accounts', 'products'],
];
const responses: readonly (readonly [what: string, code: number, ScriptedResponse])[] = [
  ['a successful run', 0, books(KEY)],
  ['a 401 that echoes', 3, problem(401, { ...echoMembers(KEY), type: 'unauthenticated' }, echoHeaders(KEY))],
  ['a reset', 6, misbehave.reset],
  ['a redirect', 5, redirect(302, `https://${encodeURIComponent(KEY)}.x/${KEY}`)],
  ['a page that echoes', 5, respond(200, { 'content-type': 'text/html' }, `<h1>${KEY}</h1>`)],
];

test.each(
  responses.flatMap(([what, code, response]) =>
    COMMANDS.map((args) => ({ what, code, response, args, name: args.join(' ') })),
  ),
)('$what shows no key: $name', async ({ args, code, response }) => {
  await using server = await scriptedServer(response);
  const quiet = code === 0 ? [] : ['--quiet'];
  expect(await expectNoKey(environment(server.url, KEY), [...args, ...quiet], KEY)).toMatchObject({ code });
  expect(server.requests[0]?.headers['x-auth-token']).toBe(KEY);
});

/** The key where it does not belong. */
const misplaced = ['whoami --api-key KEY', 'whoami --apikye=KEY', 'whoami -kKEY', '--key KEY whoami'].map(
  (line) => [line, 2] as const,
);

/** Arguments in which only the environment variable shows that they are the key. */
const unmarked = [
  ['KEY', 2],
  ['--KEY', 2],
  ['get KEY 1', 2],
  ['get accounts KEY', 5],
  ['pull accounts --pagination KEY', 2],
  ['whoami --base-url KEY', 2],
  ['whoami --base-url https://ENCODED@x.example', 2],
  ['discover accounts --check /no/such/KEY', 7],
] as const;

test.each(
  CANARIES.flatMap((canary) => [...misplaced, ...unmarked].map(([line, code]) => ({ canary, line, code }))),
)('the command does not print a key that is an argument: $line, $canary', async ({ canary, line, code }) => {
  const args = line
    .split(' ')
    .map((arg) => arg.replaceAll('KEY', canary).replaceAll('ENCODED', encodeURIComponent(canary)));
  await using server = await scriptedServer(missing(canary));
  expect(await expectNoKey(environment(server.url, canary), args, canary)).toMatchObject({ code });
  const isMisplaced = misplaced.some(([other]) => other === line);
  if (isMisplaced) expect(await expectNoKey({}, args, canary)).toMatchObject({ code });
});

test('no schema file shows the key, whatever records have', async () => {
  const path = folder();
  await using server = await scriptedServer(books(KEY, { [KEY]: KEY, token: KEY }));
  const args = ['discover', 'accounts', '--out', path('schemas.ts')];
  expect(await expectNoKey(environment(server.url, KEY), args, KEY)).toMatchObject({ code: 0 });
  const source = readFileSync(path('schemas.ts'), 'utf8');
  expect(source).toContain('[redacted]');
  expect(leaks(source, KEY)).toEqual([]);
});
