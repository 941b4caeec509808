import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from 'accounting-data-sdk';
import { discover } from 'accounting-data-sdk/explore';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, inject, test } from 'vitest';
import { folder, openSandbox, run } from '../../explore/command/support/run.ts';
import { formatted, ODD_FIELDS } from '../../explore/support/schema-file.ts';
import { compilers, node } from './support/run.ts';

async function fileOfDiscover() {
  const sandbox = createSandbox({ records: 600, seed: 11 });
  sandbox.store.accounts.insert({
    address: { city: 'Gent', geo: { lat: 1.5 } },
    lines: [{ amount: '1.00' }, { amount: '2.00', note: 'x' }],
    matrix: [[1], [2]],
    // Two names of the same words.
    headOffice: { city: 'Gent' },
    'head-office': { city: 'Gent' },
  });
  const { source } = await discover(createClient(sandbox.clientOptions));
  return source;
}

async function schemasOfOddFields() {
  const sandbox = createSandbox();
  sandbox.store.accounts.insert(Object.assign({}, ...ODD_FIELDS.map(([, fields]) => fields)));
  const client = createClient(sandbox.clientOptions);
  return (await discover(client, { collections: ['accounts'] })).source;
}

const clientOfOddFields = `
import { createClient } from 'accounting-data-sdk';
export const nameOf = async () => (await createClient({ schemas }).accounts.get('1')).id satisfies string;`;

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
  product.salePrice satisfies string | null | undefined;
  product.tags satisfies (string | null)[] | null | undefined;
  // @ts-expect-error: an amount is not a number
  account.creditLimit satisfies number | undefined;
  // @ts-expect-error: not every record has a name
  account.name satisfies string;
  for await (const line of client.bomLines.list()) line.bomId satisfies string | null | undefined;
}`;

async function fileOfProbe() {
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
  const collections = ['accountAddresses', 'products'];
  const { code } = await run(env, ['probe', ...collections, '--write', '--yes', '--quiet', '--out', file]);
  expect(code).toBe(0);
  return readFileSync(file, 'utf8');
}

const configuredClient = `
import { createClient, memoryStore, sync } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
const sandbox = createSandbox({ ...service.sandbox });
const client = createClient({ ...service.client, ...sandbox.clientOptions });
export const run = () => sync(client, { ...service.sync, store: memoryStore(), tenant: 'acme', onBatch() {} });`;

/** Compiles files in the project that has the package installed, under strict settings. */
async function compiled(...sources: readonly string[]) {
  const folder = join(inject('installed').project, 'generated');
  await mkdir(folder);
  for (const [index, source] of sources.entries()) await writeFile(join(folder, `${index}.mts`), source);
  const compilerOptions = {
    ...{ target: 'es2023', module: 'nodenext', types: [], noEmit: true, skipLibCheck: true },
    ...{ strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true },
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.mts'] }));
  return await node(compilers.newest, '--project', folder);
}

test('the schemas of discover are formatted and type the client, and the file of probe --out fits the options', async () => {
  const [schemas, service] = [await fileOfDiscover(), await fileOfProbe()];
  expect(await formatted(schemas)).toBe(schemas);
  expect(service).toContain('    // ');
  const odd = (await schemasOfOddFields()) + clientOfOddFields;
  const files = [schemas + typedClient, odd, service + configuredClient];
  expect(await compiled(...files)).toEqual({ code: 0, output: '' });
});
