import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { killAtRandom } from '../../support/kill-at-random.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { eachSeed } from '../../support/seeds.ts';
import { start } from './support/process.ts';
import { folder, listening, run } from './support/run.ts';

const ROWS = 400;
/** `SOAK_KILLS=40` kills as often as when push was written. */
const KILLS = Number(process.env.SOAK_KILLS ?? 2);

test.each([
  ['without a state', []],
  ['with a state', ['--state', 'state', '--tenant', 'shop']],
])('a push that is killed again and again leaves each product once (%s)', { timeout: 600_000 }, (_, args) =>
  eachSeed([Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))], async (seed) => {
    const { sandbox, env } = await listening({ pageSize: 100, logLimit: 20_000 });
    for (let n = 0; n < ROWS; n += 4) sandbox.store.products.insert({ productNumber: `P-${n}`, name: 'old' });
    const file = folder();
    const rows = Array.from({ length: ROWS }, (_row, n) => `P-${n},Product ${n},${n}.50`);
    writeFileSync(file('products.csv'), `productNumber,name,salePrice\n${rows.join('\n')}\n`);
    const command = ['push', file('products.csv'), '--key', 'productNumber', '--yes'];
    const state = args.map((arg) => (arg === 'state' ? file('state') : arg));
    const killing = { sandbox, random: new SeededRandom(seed), mostRequests: Math.ceil(ROWS / KILLS) };
    let kills = 0;
    while (kills < KILLS && (await killAtRandom(start(env, [...command, ...state]), killing))) kills += 1;
    // What a push sends until it is dead depends on the machine: the last ones may find nothing left to write.
    expect(kills).toBeGreaterThan(0);

    const { code, log } = await run(env, [...command, ...state]);
    expect(log).toContain(`${ROWS} rows:`);
    expect(code).toBe(0);
    const found = sandbox.store.products
      .all()
      .map(({ productNumber, name, salePrice }) => `${productNumber},${name},${salePrice}`);
    expect(found.toSorted()).toEqual(rows.map((row) => `${row}00`).toSorted());
    sandbox.clearLogs();
    await run(env, [...command, ...state]);
    expect(sandbox.journal).toEqual([]);
  }),
);
