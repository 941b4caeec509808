import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Host } from './host.ts';

const path = (name: string) => fileURLToPath(new URL(`../node_modules/${name}`, import.meta.url));

/** What is used of `sql.js`. */
interface SqlJs {
  readonly Database: new (
    file: Uint8Array,
  ) => {
    exec(sql: string): readonly { readonly values: readonly (readonly unknown[])[] }[];
  };
}

/** A copy in SQLite, opened by the SQLite of 2021, which knows no `->>`. */
export const oldSqliteHost: Host = {
  name: 'sqlite-3.35',
  source: `
    import { createClient, sync } from 'accounting-data-sdk';
    import { sqliteTarget } from 'accounting-data-sdk/targets';
    const [, , baseUrl, apiKey, file] = process.argv;
    const collections = ['accounts', 'products'];
    const target = sqliteTarget(file);
    const { records } = await sync(createClient({ baseUrl, apiKey }), { tenant: 'acme', target, collections });
    console.log(records);`,
  platform: 'node',
  executable: path('node-24/bin/node'),
  async run(program, { baseUrl, apiKey }) {
    const file = `${program}.sqlite`;
    const { stdout } = await promisify(execFile)(path('node-24/bin/node'), [program, baseUrl, apiKey, file]);
    const load = createRequire(import.meta.url)('sqlite-3.35/dist/sql-wasm.js') as (options: {
      wasmBinary: Uint8Array;
    }) => Promise<SqlJs>;
    const { Database } = await load({ wasmBinary: await readFile(path('sqlite-3.35/dist/sql-wasm.wasm')) });
    const database = new Database(await readFile(file));
    const count = (view: string) => Number(database.exec(`SELECT count(id) FROM ${view}`)[0]?.values[0]?.[0]);
    const [accounts, products] = [count('accounts'), count('products')];
    assert.equal(accounts + products, Number(stdout));
    return `${accounts} accounts, ${products} products`;
  },
};
