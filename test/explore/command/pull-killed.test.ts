import { readdirSync } from 'node:fs';
import { collectionNames, createClient } from 'accounting-data-sdk';
import { expect, test, vi } from 'vitest';
import { killAtRandom } from '../../support/kill-at-random.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { eachSeed } from '../../support/seeds.ts';
import { linesOf } from './support/killing.ts';
import { start } from './support/process.ts';
import { folder, listening, run } from './support/run.ts';

vi.setConfig({ testTimeout: 120_000 });

test('a pull that is killed three times ends with every record once', () =>
  eachSeed([Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))], async (seed) => {
    const name = 'accounts.ndjson';
    const options = { order: 'none', ids: { gap: 3 } } as const;
    const { sandbox, env } = await listening({ records: { accounts: 10_000 }, pageSize: 100, ...options });
    const file = folder();
    const args = ['pull', 'accounts', '--out', file(name), '--checkpoint', file('cp')];
    const killing = { sandbox, random: new SeededRandom(seed), mostRequests: 60 };
    let kills = 0;
    while (kills < 3 && (await killAtRandom(start(env, args), killing))) kills += 1;

    expect(kills).toBe(3);
    const { code } = await run(env, args);
    expect(code).toBe(0);
    // More than required: not only is their union that of the server, none is there twice or torn.
    const ids = linesOf(file(name)).map((line) => (JSON.parse(line) as { id: string }).id);
    expect(ids.length).toBe(10_000);
    expect(readdirSync(file('.'))).toEqual([name]);
    expect(new Set(ids)).toEqual(new Set(sandbox.store.accounts.ids()));
  }));

test('a pull of everything that is killed four times ends with every record of every collection once', () =>
  eachSeed([Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))], async (seed) => {
    const { sandbox, env } = await listening({ records: 3000, pageSize: 20, ids: { gap: 3 } });
    const file = folder();
    const args = ['pull', '--all', '--out', file('data')];
    const killing = { sandbox, random: new SeededRandom(seed), mostRequests: 50 };
    let kills = 0;
    while (kills < 4 && (await killAtRandom(start(env, args), killing))) kills += 1;

    expect(kills).toBe(4);
    expect((await run(env, args)).code).toBe(0);
    const client = createClient(sandbox.clientOptions);
    for (const name of collectionNames) {
      const lines = linesOf(file(`data/${client[name].segment}.ndjson`));
      const ids = lines.map((line) => (JSON.parse(line) as { id: string }).id);
      expect([name, ids]).toEqual([name, sandbox.store[name].ids()]);
    }
    expect(readdirSync(file('data'))).toHaveLength(collectionNames.length);
  }));
