import { readFileSync } from 'node:fs';
import type { ProbeReport } from 'accounting-data-sdk/explore';
import { expect, test } from 'vitest';
import { ends, folder, openSandbox, run } from './support/run.ts';

test('probe logs how many requests it will send, then prints what fits the service, no wider than the terminal', async () => {
  const options = { pageSize: 20, order: 'id-desc', afterLastPage: 'not_found' } as const;
  const { sandbox, env } = openSandbox({ records: { accounts: 90, products: 90 }, ...options });
  sandbox.faults.add({ kind: 'status', status: 403, type: 'forbidden' }, { collection: 'boms' });
  const args = ['probe', 'accounts', 'products', 'boms'];
  const shown: (string | undefined)[] = [];
  const status = (text: string | undefined) => void shown.push(text);
  const { code, out, log } = await run(env, args, { columns: 80, status });
  expect([code, log]).toEqual([0, expect.stringMatching(/^At most \d+ requests, to read only\./)]);
  const most = Number(/\d+/.exec(log)?.[0]);
  const ofMost = `[          ] 1 of at most ${most} requests: `;
  expect(shown).toContainEqual(expect.stringContaining(ofMost));
  expect(shown.at(-1)).toBeUndefined();
  expect(shown).toContainEqual(expect.stringMatching(/^\[={6} {4}\] .* requests: boms \(2 of 3 done\)$/));
  expect(out).toMatch(/^option +value +why\nclient\.afterLastPage +"not_found" /);
  expect(out).toContain('\n\nNot readable: boms (forbidden).\n');
  expect(out).toMatch(/\n\nPass --json to see every finding with its evidence\.\n$/);
  const table = out.slice(0, out.indexOf('\n\n'));
  expect(Math.max(...table.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
  expect([...new Set(sandbox.requests.map(({ method }) => method))]).toEqual(['GET']);
});

test('probe --json prints everything, and probe says so if a service needs no option', async () => {
  const { sandbox, env } = openSandbox({ records: { accounts: 90 } });
  const { out } = await run(env, ['probe', 'accounts', '--json']);
  expect((JSON.parse(out) as ProbeReport).requests).toBe(sandbox.count());
  const plain = await run(env, ['probe', 'accounts']);
  expect(plain.out).toMatch(/^The defaults of createClient and sync fit this service\.\n/);
});

test('probe says so if no response is a list', async () => {
  const { sandbox, env } = openSandbox();
  sandbox.faults.add({ kind: 'rewrite', body: '{"a":1}' });
  const said = /^No collection can be read \(unexpected_response\)\.\nCheck that ACCOUNTING_BASE_URL is /;
  await ends(run(env, ['probe', 'accounts', 'boms', '--quiet']), 5, said);
});

const WRITE = ['probe', 'products', '--write'];

test('probe --write prompts for confirmation, and writes nothing without a yes', async () => {
  const { sandbox, env } = openSandbox();
  const questions: string[] = [];
  const confirm = async (question: string) => questions.push(question) > 1;
  const prompt = { secret: async () => '', confirm };
  const declined = await run(env, WRITE, { prompt });
  const mute = await run(env, WRITE);
  expect([declined.code, mute.code, mute.log]).toEqual([2, 2, expect.stringContaining('--yes')]);
  expect(questions).toEqual([expect.stringContaining(`one product at ${sandbox.baseUrl}`)]);
  expect(sandbox.count()).toBe(0);
  const plan = /^At most \d+ requests, to read, and to create, update and delete one product\./;
  await ends(run(env, WRITE, { prompt }), 0, plan);
  expect(sandbox.journal.at(-1)?.action).toBe('delete');
});

test('probe --write shows how the service responds to writes, and names what it left', async () => {
  const options = { createStatus: 200, requiredFields: ['ean'] } as const;
  const { sandbox, env } = openSandbox({ records: { products: 4 }, ...options });
  sandbox.faults.add({ kind: 'status', status: 403, type: 'forbidden' }, { method: 'DELETE', times: 9 });
  const args = [...WRITE, '-y', '--json', '--draft', '{"ean":"8712345678906"}'];
  const { code, out, log } = await run(env, args);
  expect((JSON.parse(out) as ProbeReport).writes.createStatus).toMatchObject({ known: true, value: 200 });
  const said = `could not be deleted: ${sandbox.store.products.ids().at(-1)}`;
  expect([code, log]).toEqual([5, expect.stringContaining(said)]);
  // Even if it is stopped.
  const stop = new AbortController();
  sandbox.onRequest(({ method }) => method === 'PATCH' && stop.abort());
  const stopped = await run(env, args, { signal: stop.signal });
  const last = `could not be deleted: ${sandbox.store.products.ids().at(-1)}`;
  expect([stopped.code, stopped.out, stopped.log]).toEqual([130, '', expect.stringContaining(last)]);
});

test('probe --out prints what it says without it, --json with --out writes both, and a key without rights neither', async () => {
  const { sandbox, env } = openSandbox({ records: { products: 90 }, filters: { updatedSince: 'ignore' } });
  const file = folder()('service.json');
  const verdict = 'Lists of products ignore updatedSince: each sync reads all of their records.';
  const plain = await run(env, ['probe', 'products']);
  const written = await run(env, ['probe', 'products', '--out', file]);
  for (const { out } of [plain, written]) {
    expect(out).toContain(`No option of createClient or sync follows.\n\n${verdict}\n`);
    expect(out).not.toContain('defaults');
  }
  const before = readFileSync(file, 'utf8');
  const both = await run(env, ['probe', 'products', '--out', file, '--json']);
  expect((JSON.parse(both.out) as ProbeReport).advice).toEqual([verdict]);
  expect([both.log, readFileSync(file, 'utf8')]).toEqual([expect.stringContaining(`Wrote ${file}`), before]);
  const forbidden = { ...env, ACCOUNTING_API_KEY: sandbox.keys.forbidden };
  await ends(run(forbidden, ['probe', 'products', '--out', file]), 3);
  expect(readFileSync(file, 'utf8')).toBe(before);
});
