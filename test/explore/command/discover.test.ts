import { lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import type { Discovery } from 'accounting-data-sdk/explore';
import type { Fault } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { FORMATTER_DEFAULTS, formatted, loadSchemas, ODD_FIELDS } from '../support/schema-file.ts';
import { ends, folder, openSandbox, run } from './support/run.ts';

describe('discover', () => {
  test('prints what it found as JSON, or schemas, which it writes to a file with --out', async () => {
    const { env } = openSandbox({ records: { accounts: 40, boms: 9 } });
    const shown: (string | undefined)[] = [];
    const status = (text: string | undefined) => void shown.push(text);
    const { out } = await run(env, ['discover', 'accounts', '--json'], { status });
    expect(shown).toContain('[          ] 0 requests: accounts (0 of 1 sampled)');
    expect(shown.at(-1)).toBeUndefined();
    const { collections } = JSON.parse(out) as Discovery;
    expect(collections).toMatchObject([{ collection: 'accounts', access: 'readable', records: 40 }]);
    const file = folder()('a/b/schemas.ts');
    const printed = await run(env, ['discover', 'accounts', 'boms']);
    const written = await run(env, ['discover', 'accounts', 'boms', '--out', file]);
    expect(printed.out).toBe(readFileSync(file, 'utf8'));
    expect(Object.keys(await loadSchemas(printed.out))).toEqual(['accounts', 'boms']);
    expect(written.log).toMatch(/schemas\.ts from 49 records of 2 collections \(\d+ requests\)/);
  });

  test('reads as many records as --sample says, and names the collections that the key may not read', async () => {
    const { sandbox, env } = openSandbox({ records: { accounts: 400, products: 400 } });
    const settings = { ...env, ACCOUNTING_API_KEY: sandbox.keys.productsOnly };
    const file = folder()('schemas.ts');
    const args = ['discover', 'accounts', 'products', '--sample', '60', '--out', file];
    const { log, out } = await ends(run(settings, [...args, '--json']), 0);
    expect(log).toContain('at most about 60 records of each of 2 collections.');
    expect(log).toContain('from 60 records of 1 collection (4 requests). This key may not read accounts.');
    expect(JSON.parse(out)).toMatchObject({ requests: 4, collections: [{ records: 0 }, { records: 60 }] });
    expect(readFileSync(file, 'utf8')).toContain(
      '/** One of the accounts: it could not be read (scope_required). */',
    );
    await ends(run(env, ['discover', 'boms', '--check', file]), 8);
    await ends(run(env, ['discover', 'boms', '--out', file]), 0);
    expect(readFileSync(file, 'utf8')).toContain('/** One of the boms: there was no record. */');
    await ends(run(env, ['discover', 'boms', '--check', file]), 0, `The service sends what ${file} says.`);
  });

  // All in one record: each name must be a field of its own.
  test('writes a schema that accepts its sample, with odd names and deep lists', async () => {
    const { sandbox, env } = openSandbox({ records: { boms: 1 } });
    const fields = ODD_FIELDS.map(([, each]) => JSON.stringify(each).slice(1, -1)).join();
    const record = `{"id":"1",${fields}}`;
    sandbox.faults.add({ kind: 'rewrite', body: `[${record}]` });
    const { boms } = await loadSchemas((await run(env, ['discover', 'boms'])).out);
    // Zod drops __proto__, and so does the client.
    const kept = JSON.parse(record, (name, value) => (name === '__proto__' ? undefined : value)) as object;
    expect(boms?.parse(JSON.parse(record))).toEqual(kept);
    for (const name of Object.keys(kept).slice(1))
      expect([name, boms?.safeParse({ id: '1', [name]: true }).success]).toEqual([name, false]);
  });

  test('compares the file with what the service sends under --check, and replaces it otherwise', async () => {
    const { sandbox, env } = openSandbox({ records: { boms: 60 } });
    const { boms } = sandbox.store;
    boms.update('1', { 'it\'s "it"': { a: 1 }, mixed: 1, 'two  words': 'x' });
    boms.update('2', { 'it\'s "it"': 'text of another kind', mixed: 'x' });
    const file = folder()('schemas.ts');
    const discover = (flag: string) => run(env, ['discover', 'boms', '-q', flag, file]);
    await discover('--out');
    // A formatter changes the layout, and more records change the comments.
    const text = await formatted(readFileSync(file, 'utf8'), ...FORMATTER_DEFAULTS);
    expect(text).not.toBe(readFileSync(file, 'utf8'));
    writeFileSync(file, text);
    boms.insert({ ...boms.get('1'), id: undefined });
    expect(await discover('--check')).toEqual({ code: 0, out: '', log: '' });
    writeFileSync(file, text.replace('two  words', 'other words'));
    await ends(discover('--check'), 8, `The service differs from ${file}.`);
    writeFileSync(file, text);

    const before = readFileSync(file, 'utf8');
    for (const id of boms.ids()) boms.update(id, { colour: 'red', quantity: 'many' });
    await ends(discover('--check'), 8, 'Run discover --out, and look at what changes.');
    expect(readFileSync(file, 'utf8')).toBe(before);
    await ends(discover('--out'), 0);
    expect(readFileSync(file, 'utf8')).toContain('colour: z.string()');
  });

  test('overwrites a file that it did not write only with --force, and keeps a link to it', async () => {
    const { sandbox, env } = openSandbox({ records: { boms: 5 } });
    const [file, link] = ['schemas.ts', 'link.ts'].map(folder()) as [string, string];
    symlinkSync(file, link);
    const args = ['discover', 'boms', '--out', link];
    const foreign = '// Not Generated by accounting-data-sdk discover\nexport const precious = 1;\n';
    writeFileSync(file, foreign);
    await ends(run(env, args), 7, 'it did not write that file');
    expect([sandbox.count(), readFileSync(file, 'utf8')]).toEqual([0, foreign]);

    expect((await run(env, [...args, '--force'])).code).toBe(0);
    const written = readFileSync(file, 'utf8');
    for (const text of [`/* eslint-disable */\n${written.replaceAll('\n', '\r\n')}`, ' \n']) {
      writeFileSync(file, text);
      expect([(await run(env, args)).code, readFileSync(file, 'utf8')]).toEqual([0, written]);
    }
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
  });

  test.each<[what: string, fault: Fault, code: number, message: string]>([
    ['a collection fails', { kind: 'status', status: 418 }, 5, 'budgets cannot be read'],
    ['the response is no list', { kind: 'rewrite', body: '{"a":1}' }, 5, 'unexpected_response'],
    ['the key is revoked meanwhile', { kind: 'status', status: 401 }, 3, 'unauthenticated'],
  ])('keeps the file and compares nothing if %s', async (_, fault, code, message) => {
    const { sandbox, env } = openSandbox({ records: 30 });
    const file = folder()('schemas.ts');
    await run(env, ['discover', 'boms', 'budgets', '--out', file]);
    const before = readFileSync(file, 'utf8');
    sandbox.faults.add(fault, { collection: 'budgets' });
    for (const flag of ['--out', '--check'])
      await ends(run(env, ['discover', 'boms', 'budgets', flag, file, '--quiet']), code, message);
    expect(readFileSync(file, 'utf8')).toBe(before);
  });
});
