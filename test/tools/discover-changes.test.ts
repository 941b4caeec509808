import { createClient } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { type DiscoverOptions, discover, type SchemaChange } from 'accounting-data-sdk/tools';
import { describe, expect, test } from 'vitest';
import { formatted, loadSchemas } from './support/schema-file.ts';

type Records = readonly Record<string, unknown>[];

/** A run over accounts that look like this. */
async function run(records: Records, options: DiscoverOptions = {}) {
  const sandbox = createSandbox();
  for (const record of records) sandbox.store.accounts.insert(record);
  return discover(createClient(sandbox.clientOptions), { collections: ['accounts'], ...options });
}

const repeated = (record: Record<string, unknown>, count = 30): Records =>
  Array.from({ length: count }, () => record);

/** What a second run says after a first one. */
async function changed(before: Records, after: Records, options: DiscoverOptions = {}) {
  const { source } = await run(before, options);
  const { changes } = await run(after, { ...options, previous: source });
  return changes.map(({ change, field, from, to }: SchemaChange) => `${change} ${field}: ${from} → ${to}`);
}

describe('a second run', () => {
  test('says nothing where nothing has changed', async () => {
    const sandbox = createSandbox({ records: 4000 });
    const client = createClient(sandbox.clientOptions);
    const first = await discover(client);
    const second = await discover(client, { previous: first.source });
    expect(second.changes).toEqual([]);
    expect(second.source).toBe(first.source);
  });

  test('says which fields came, went and became wider', async () => {
    const before = repeated({
      count: 1,
      when: '2026-01-31',
      gone: 'x',
      price: '1.50',
      tags: ['a'],
      address: { city: 'Gent' },
    });
    const after = repeated({
      count: 1.5,
      when: '2026-01-31T10:00:00Z',
      price: 'on request',
      tags: ['a', 5],
      address: { city: 'Gent', street: 'Kerkstraat' },
      added: true,
    });
    expect(await changed(before, after)).toEqual([
      'gone gone: text → undefined',
      'widened count: integer → number',
      'widened when: date → text',
      'widened price: money → text',
      'widened tags[]: text → integer or text',
      'added address.street: undefined → text',
      'added added: undefined → boolean',
    ]);
  });

  test('does not call a field gone that was only sometimes there, or of which few records could tell', async () => {
    const sometimes = [...repeated({ a: 1, rare: 1 }, 2), ...repeated({ a: 1 })];
    expect(await changed(sometimes, repeated({ a: 1 }))).toEqual([]);
    expect(await changed(repeated({ a: 1, b: 2 }), repeated({ a: 1 }, 5))).toEqual([]);
  });

  test('counts null and absence as wider only in strict schemas', async () => {
    const before = repeated({ a: 'x', b: 'y' });
    const after = [...repeated({ a: 'x', b: null }), { b: 'y' }];
    expect(await changed(before, after)).toEqual([]);
    expect(await changed(before, after, { strict: true })).toEqual([
      'widened a: text → text, not always',
      'widened b: text → text or null',
    ]);
  });

  test('forgets nothing that an earlier one knew', async () => {
    const first = await run([...repeated({ a: 1.5, rare: 'x' }, 3), ...repeated({ a: 1 })]);
    const second = await run(repeated({ a: 1 }), { previous: first.source });
    const third = await run(repeated({ a: 1 }), { previous: second.source });
    expect(third.changes).toEqual([]);
    expect(third.source).toContain('a: z.number()');
    expect(third.source).toContain('/** Text; on none of the records of the last run. */');
    expect(third.collections[0]?.fields.a?.kinds).toEqual(['number']);
  });

  test('keeps collections that it was not asked about, or could not read, or found empty', async () => {
    const sandbox = createSandbox({ records: 2000 });
    const first = await discover(createClient(sandbox.clientOptions));
    const apiKey = sandbox.keys.productsOnly;
    const part = await discover(createClient(sandbox.clientOptions), {
      collections: ['boms'],
      previous: first.source,
    });
    const forbidden = await discover(createClient({ ...sandbox.clientOptions, apiKey }), {
      previous: first.source,
    });
    sandbox.store.clear();
    const empty = await discover(createClient(sandbox.clientOptions), { previous: first.source });

    const fieldsOf = async (source: string) =>
      Object.fromEntries(
        Object.entries(await loadSchemas(source)).map(([name, schema]) => [
          name,
          Object.keys((schema as unknown as { shape: object }).shape),
        ]),
      );
    const fields = await fieldsOf(first.source);
    for (const { source, changes } of [part, forbidden, empty]) {
      expect(changes).toEqual([]);
      expect(await fieldsOf(source)).toEqual(fields);
      expect(await formatted(source)).toBe(source);
    }
  });

  test('reads what it wrote also after a formatter with other habits', async () => {
    const { source } = await run(repeated({ a: 1, deep: { list: [{ b: 'x' }] } }));
    const reformatted = source
      .replaceAll("'", '"')
      .replaceAll(';\n', '\n')
      .replaceAll('  ', '\t')
      .replaceAll('\n', '\r\n');
    const { changes } = await run(repeated({ a: 1.5, deep: { list: [{ b: 2 }] } }), {
      previous: reformatted,
    });
    expect(changes.map(({ field }) => field)).toEqual(['a', 'deep.list[].b']);
  });

  test('takes a file that it did not write for none', async () => {
    for (const previous of [
      '',
      'export const schemas = {};',
      '// seen accounts 5 {"a":"nonsense"}',
      '// seen accounts 5 {"a":',
    ]) {
      const { changes } = await run(repeated({ a: 1 }), { previous });
      expect(changes).toEqual([]);
    }
  });

  test('says which collection is new', async () => {
    const sandbox = createSandbox({ records: 2000 });
    const client = createClient(sandbox.clientOptions);
    const { source } = await discover(client, { collections: ['boms'] });
    const { changes } = await discover(client, { collections: ['boms', 'products'], previous: source });
    expect(changes).toEqual([
      { collection: 'products', field: undefined, change: 'added', from: undefined, to: undefined },
    ]);
  });
});
