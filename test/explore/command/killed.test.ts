import { writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { collectionNames } from 'accounting-data-sdk';
import type { SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { killAtRandom } from '../../support/kill-at-random.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { eachSeed } from '../../support/seeds.ts';
import { start } from './support/process.ts';
import { folder, listening, run } from './support/run.ts';

/** `SOAK_KILLS=40` kills each command more often. */
const KILLS = Number(process.env.SOAK_KILLS ?? 2);

interface Killed {
  readonly options: SandboxOptions;
  readonly mostRequests: number;
  readonly args: (file: (name: string) => string) => readonly string[];
}

/** Kills a command at random moments, then runs it to its end. */
async function killedAndRepeated(seed: number, { options, mostRequests, args }: Killed) {
  const { sandbox, env } = await listening({ logLimit: 20_000, ...options });
  const file = folder();
  const command = args(file);
  const killing = { sandbox, random: new SeededRandom(seed), mostRequests };
  let kills = 0;
  while (kills < KILLS && (await killAtRandom(start(env, command), killing))) {
    kills += 1;
    sandbox.store.accounts.update('4', { name: `Changed ${kills}` });
  }
  // How many requests a process sends before it dies depends on the machine: the last ones may find nothing left to do.
  expect(kills).toBeGreaterThan(0);
  expect((await run(env, command)).code).toBe(0);
  return { sandbox, env, file, command };
}

const SEEDS = [Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))];
const IDS = { ids: { gap: 3, start: 4 } } as const;

test('a pull --to that is killed again and again holds each record exactly once', () =>
  eachSeed(SEEDS, async (seed) => {
    const { sandbox, file } = await killedAndRepeated(seed, {
      options: { records: 1000, pageSize: 20, ...IDS },
      mostRequests: 50,
      args: (file) => ['pull', '--all', '--to', file('books.sqlite'), '--tenant', 'acme'],
    });
    using database = new DatabaseSync(file('books.sqlite'));
    const held = database.prepare('SELECT id FROM accounting_record WHERE collection = ?');
    for (const name of collectionNames) {
      const ids = held.all(name).map(({ id }) => String(id));
      expect([name, ids.toSorted()]).toEqual([name, sandbox.store[name].ids().toSorted()]);
    }
  }));

const ROWS = 120;
const ROW_TEXTS = Array.from({ length: ROWS }, (_row, n) => `P-${n},Product ${n},${n}.50`);

test('a push with --state that is killed again and again leaves each product once', () =>
  eachSeed(SEEDS, async (seed) => {
    const { sandbox, env, command } = await killedAndRepeated(seed, {
      options: {
        pageSize: 100,
        fixtures: {
          accounts: [{ id: '4' }],
          products: Array.from({ length: ROWS / 4 }, (_row, n) => ({
            productNumber: `P-${n * 4}`,
            name: 'old',
          })),
        },
      },
      mostRequests: Math.ceil(ROWS / KILLS),
      args(file) {
        writeFileSync(file('products.csv'), `productNumber,name,salePrice\n${ROW_TEXTS.join('\n')}\n`);
        const state = ['--state', file('state'), '--tenant', 'shop', '--visible-after', '300ms'];
        return ['push', file('products.csv'), '--key', 'productNumber', '--yes', ...state];
      },
    });
    const found = sandbox.store.products
      .all()
      .map(({ productNumber, name, salePrice }) => `${productNumber},${name},${salePrice}`);
    expect(found.toSorted()).toEqual(ROW_TEXTS.map((row) => `${row}00`).toSorted());
    sandbox.clearLogs();
    await run(env, command);
    expect(sandbox.journal).toEqual([]);
  }));
