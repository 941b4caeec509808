import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type ConnectorRun, connectorTests } from 'accounting-data-sdk/testing';
import { type Local, startLocal } from '../src/local.ts';

let folder = mkdtempSync(join(tmpdir(), 'worker-'));
let local: Promise<Local> | undefined;

async function stop(): Promise<void> {
  await (await local)?.[Symbol.asyncDispose]();
  local = undefined;
}

/** Runs the schedule once. A kill ends the process of the worker, whose database is a file and stays. */
async function run({ baseUrl, apiKey, signal }: ConnectorRun): Promise<void> {
  const start = () => startLocal({ baseUrl, apiKey, folder });
  local ??= start();
  const outcome = (await local).run().catch((error: Error) => error.message);
  const killed = new Promise<string>((resolve) => {
    signal.addEventListener('abort', () => resolve('killed'));
  });
  const how = await Promise.race([outcome, killed]);
  if (how === 'ok') return;
  if (!signal.aborted) throw new Error(how);
  await stop();
  local = start();
  // As if twenty minutes had passed: then another run may begin.
  await (await local).db.prepare('delete from lease').run();
  throw new Error('killed');
}

const cases = connectorTests({
  collections: ['accounts', 'products'],
  expected: {
    'no records': 'a 404 after the last page is an error, unless afterLastPage says that it is not',
    'deleted records': 'a list of changes shows no deletions',
  },
  run,
  async records(collection) {
    const copied = 'select data from record where collection = ?1';
    const { results = [] } =
      (await (await local)?.db.prepare(copied).bind(collection).all<{ data: string }>()) ?? {};
    return results.map(({ data }) => JSON.parse(data));
  },
  async reset() {
    await stop();
    rmSync(folder, { recursive: true });
    folder = mkdtempSync(join(tmpdir(), 'worker-'));
  },
});
for (const { name, run: play } of cases) test(name, play);
after(async () => {
  await stop();
  rmSync(folder, { recursive: true });
});
