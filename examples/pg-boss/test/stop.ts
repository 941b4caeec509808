import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { createSandbox } from 'accounting-data-sdk/testing';
import { plan, startQueue } from '../src/queue.ts';
import { createDatabase } from './database.ts';

test('SIGTERM ends a process in time and without an error, in the middle of a request', async (t) => {
  await using sandbox = createSandbox({ records: { accounts: 50 } });
  await sandbox.listen();
  const requested = new Promise<void>((resolve) => {
    const when = () => {
      resolve();
      return true;
    };
    sandbox.faults.add({ kind: 'delay', ms: 3_600_000 }, { when, times: Number.POSITIVE_INFINITY });
  });
  const { baseUrl, apiKey } = sandbox.clientOptions;
  const folder = await mkdtemp(join(tmpdir(), 'pg-boss-'));
  t.after(() => rm(folder, { recursive: true }));
  const companies = join(folder, 'companies.json');
  await writeFile(companies, JSON.stringify([{ tenant: 'acme', baseUrl, apiKey }]));

  // Only PostgreSQL can be used by two processes.
  let program = 'machine.ts';
  const env = { ...process.env };
  if (process.env.DATABASE_URL !== undefined) {
    const database = await createDatabase();
    t.after(() => database.close());
    const boss = await startQueue(database.queue);
    await plan(boss, { tenant: 'acme', mode: 'incremental' });
    await boss.stop({ graceful: false });
    program = '../src/main.ts';
    env.DATABASE_URL = database.url;
  }
  const child = spawn(process.execPath, [join(import.meta.dirname, program), companies], { env });
  t.after(() => child.kill('SIGKILL'));
  const [printed, errors, exited] = [text(child.stdout), text(child.stderr), once(child, 'exit')];
  const failed = once(child.stderr, 'data');
  await Promise.race([requested, exited, failed]);
  child.kill('SIGTERM');
  // It ends itself with another code if that takes longer.
  assert.deepEqual(await exited, [0, null]);
  assert.equal(await errors, '');
  assert.match(await printed, /^acme: stopped, queued again$/m);
});
