import { appendFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Client, collectionNames, createClient } from 'accounting-data-sdk';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { ends, folder, openSandbox, run } from './support/run.ts';

describe('fixtures', () => {
  test('from another sandbox give equal lists, filters and records', async () => {
    const options: SandboxOptions = {
      ...{ ids: { form: 'uuid' }, formats: 'jsonld', relations: 'iri', nullFields: 'omitted' },
      ...{ timestamps: 'offset', timeZone: '+12:45', order: 'updated-desc', timestampsEverywhere: true },
    };
    const { sandbox: source, env } = openSandbox({ ...options, records: 160 });
    const data = folder()('data');
    expect((await run(env, ['pull', '--all', '--out', data, '--quiet'])).code).toBe(0);
    const copy = createSandbox({ ...options, fixtures: data });
    const [one, other] = [source, copy].map(({ clientOptions }) => createClient(clientOptions)) as [
      Client,
      Client,
    ];
    for (const name of collectionNames) {
      const [id = ''] = source.store[name].ids();
      for (const query of [{}, { id: { gt: id } }, { updatedSince: '2024-01-01T00:00:00Z' }]) {
        const listed = await one[name].list(query).toArray({ limit: Infinity });
        expect(await other[name].list(query).toArray({ limit: Infinity })).toEqual(listed);
      }
    }
  });

  test('of pull load with every invalid record that a service sent, and are served as they are', async () => {
    const { sandbox: source, env } = openSandbox({ records: { products: 25 } });
    const body = (text: string) =>
      text
        .replace(/("id":"1",.*?"salePrice":)"([\d.]+)"/, '$1$2')
        .replace('"id":"2"', '"id":2')
        .replace('"id":"3"', '"id":null')
        .replace(/("id":"4",.*?"createdAt":)"[^"]*"/, '$1"someday"');
    source.faults.add({ kind: 'rewrite', body });
    const file = folder()('products.ndjson');
    await ends(run(env, ['pull', 'products', '--out', file]), 5, /^25 .*\n\d of them are invalid/m);
    // A pull by page can write a record twice.
    appendFileSync(file, '{"id":"25","name":"Again"}\n');

    const copy = createSandbox({ fixtures: dirname(file), pageSize: 100, commitDelayMs: 60_000 });
    const { products } = createClient({ ...copy.clientOptions, validation: 'report' });
    const first = await products.list({}, { pagination: 'page' }).pages().next();
    const rows = first.done ? [] : (first.value.rows as { id: unknown; salePrice?: unknown }[]);
    expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining([2, '4', '25', '26']));
    expect(rows.find(({ id }) => id === '1')?.salePrice).toEqual(expect.any(Number));
    expect(rows.find(({ id }) => id === '25')).toMatchObject({ name: 'Again' });
    expect(await products.update('1', { salePrice: '7' })).toMatchObject({ salePrice: '7.0000' });
  });

  test.each<[message: string | undefined, text: string | Buffer, name?: string]>([
    [undefined, '\uFEFF{"id":"1","name":"Zoë"}\r\n\r\n{"id":"2","name":"a\u2028b"}'],
    ['accounts.ndjson cannot be loaded: line 4 is not a JSON object.', '{"id":"1"}\n\n\n{"secret'],
    ['it is not UTF-8.', Buffer.from('{"id":"1","name":"Zoë"}', 'latin1')],
    ['line 1 has 9007199254740993, which has', '{"id":"1","n":9007199254740993,"m":9007199254740995}'],
    ['no file of a collection', '{"id":"1"}\n', 'unknown.ndjson'],
  ])('are rejected with %s: %j', (message, text, name = 'accounts.ndjson') => {
    const file = folder();
    writeFileSync(file(name), text);
    const load = () => createSandbox({ fixtures: file('.') });
    if (message === undefined)
      return expect(load().store.accounts.all()).toMatchObject([{ name: 'Zoë' }, { name: 'a\u2028b' }]);
    expect(load).toThrow(message);
    expect(load).not.toThrow('secret');
  });
});
