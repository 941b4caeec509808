/**
 * A pull of 100,000 records that is stopped with SIGKILL at ten random moments and gone on with, for each form of its
 * file: the records in it must be those of the server. Prints its seed; SEED=… plays it again.
 *
 *   npm run soak pull
 */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { start } from '../../explore/command/support/process.ts';
import { killAtRandom } from '../../support/kill-at-random.ts';
import { SeededRandom } from '../../support/seeded-random.ts';

const RECORDS = 100_000;
const KILLS = 10;
/** The lines of a file, each read on its own: a kill may have torn the last. */
const linesOf = (file: string) =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
const say = (line: string) => process.stdout.write(`${line}\n`);

async function pullOften(name: string, options: SandboxOptions, random: SeededRandom): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'accounting-soak-'));
  await using sandbox = createSandbox({
    records: { accounts: RECORDS },
    pageSize: 100,
    logLimit: 100,
    ...options,
  });
  await sandbox.listen();
  const env = { ACCOUNTING_BASE_URL: sandbox.baseUrl, ACCOUNTING_API_KEY: sandbox.keys.full };
  const file = join(folder, name);
  const args = ['pull', 'accounts', '--out', file, '--checkpoint', join(folder, 'checkpoint'), '--quiet'];
  const startedAt = Date.now();
  let kills = 0;
  // An even part of the way each time, so that all ten fall into it.
  const most = Math.floor((RECORDS / 100) * (2 / KILLS));
  while (kills < KILLS && (await killAtRandom(start(env, args), { sandbox, random, mostRequests: most }))) {
    kills += 1;
    say(`  kill ${kills}: ${linesOf(file).length} lines after ${sandbox.count()} requests`);
  }
  const requestsBefore = sandbox.count();
  assert.equal(
    await killAtRandom(start(env, args), { sandbox, random, mostRequests: Number.MAX_SAFE_INTEGER }),
    false,
  );

  const ids = linesOf(file).map((line) => (JSON.parse(line) as { id: string }).id);
  assert.equal(kills, KILLS);
  assert.deepEqual(new Set(ids), new Set(sandbox.store.accounts.ids()));
  say(
    `${name}, ${JSON.stringify(options)}: ${ids.length} lines, ${ids.length - new Set(ids).size} twice; ${kills} kills, ` +
      `${sandbox.count()} requests (${sandbox.count() - requestsBefore} after the last kill), ${((Date.now() - startedAt) / 1000).toFixed(1)} s`,
  );
  rmSync(folder, { recursive: true });
}

/** Every form of the file and every order of the list. */
export async function soakPull(): Promise<boolean> {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  const random = new SeededRandom(seed);
  say(`pull: seed ${seed}`);
  try {
    await pullOften('accounts.ndjson', {}, random);
    await pullOften('accounts.ndjson.gz', { order: 'none', ids: { gap: 5 } }, random);
    await pullOften(
      'accounts.ndjson',
      { order: 'id-desc', rateLimit: { limit: 300, windowMs: 1000 } },
      random,
    );
    return true;
  } catch (error) {
    console.error(error);
    return false;
  }
}
