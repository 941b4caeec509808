import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from 'accounting-data-sdk';
import { discover } from 'accounting-data-sdk/explore';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, inject, test } from 'vitest';
import { folder, openSandbox, run } from '../../explore/command/support/run.ts';
import { ODD_FIELDS } from '../../explore/support/schema-file.ts';
import { compilers, node, success } from './support/run.ts';

/** What `discover` writes for the records of a sandbox, and an account with these fields. */
async function schemasOf(records: number, fields: object): Promise<string> {
  const sandbox = createSandbox({ records, seed: 11 });
  sandbox.store.accounts.insert({ ...fields });
  return (await discover(createClient(sandbox.clientOptions))).source;
}

const ACCOUNT = {
  address: { city: 'Gent', geo: { lat: 1.5 } },
  lines: [{ amount: '1.00' }, { amount: '2.00', note: 'x' }],
  matrix: [[1], [2]],
  // Two names of the same words.
  headOffice: { city: 'Gent' },
  'head-office': { city: 'Gent' },
};

const typedClient = `
import { createClient } from 'accounting-data-sdk';
export async function use() {
  const client = createClient({ schemas });
  const account = await client.accounts.get('1');
  account.creditLimit satisfies string | null | undefined;
  account.paymentTermDays satisfies number | null | undefined;
  account.somethingNew satisfies unknown;
  account.address?.geo?.lat satisfies number | null | undefined;
  account.lines?.[0]?.amount satisfies string | null | undefined;
  account.matrix?.[0]?.[0] satisfies number | null | undefined;
  const product = await client.products.get('1');
  product satisfies Product;
  product.tags satisfies (string | null)[] | null | undefined;
  // @ts-expect-error: an amount is not a number
  account.creditLimit satisfies number | undefined;
  // @ts-expect-error: not every record has a name
  account.name satisfies string;
}`;

const clientOfOddFields = `
import { createClient } from 'accounting-data-sdk';
export const nameOf = async () => (await createClient({ schemas }).accounts.get('1')).id satisfies string;`;

async function fileOfProbe(): Promise<string> {
  const { env } = openSandbox({
    records: { accounts: 40, accountAddresses: 40, products: 40 },
    pageSizeParameter: 'itemsPerPage',
    formats: 'jsonld',
    relations: 'iri',
    contentTypes: { create: ['application/ld+json'], update: ['application/merge-patch+json'] },
    idempotency: { replay: 'ignored' },
    dateFilter: 'local',
    timeZone: '-02:30',
  });
  const file = folder()('service.ts');
  const args = ['accountAddresses', 'products', '--write', '--yes', '--quiet', '--out', file];
  expect((await run(env, ['probe', ...args])).code).toBe(0);
  return readFileSync(file, 'utf8');
}

const configuredClient = `
import { createClient, memoryStore, sync } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
const sandbox = createSandbox({ ...service.sandbox });
const client = createClient({ ...service.client, ...sandbox.clientOptions });
export const run = () => sync(client, { ...service.sync, store: memoryStore(), tenant: 'acme', onBatch() {} });`;

test('the schemas of discover type the client, and the file of probe --out fits the options', async () => {
  const files = [
    (await schemasOf(600, ACCOUNT)) + typedClient,
    (await schemasOf(0, Object.assign({}, ...ODD_FIELDS.map(([, fields]) => fields)))) + clientOfOddFields,
    (await fileOfProbe()) + configuredClient,
  ];
  const generated = join(inject('installed').project, 'generated');
  await mkdir(generated);
  for (const [index, source] of files.entries()) await writeFile(join(generated, `${index}.mts`), source);
  const compilerOptions = {
    ...{ target: 'es2023', module: 'nodenext', types: [], noEmit: true, skipLibCheck: true },
    ...{ strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true },
  };
  await writeFile(join(generated, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.mts'] }));
  expect(await node([compilers.newest, '--project', generated])).toEqual(success);
});
