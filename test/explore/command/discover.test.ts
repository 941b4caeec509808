import { lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import type { Discovery } from 'accounting-data-sdk/explore';
import type { Fault, FaultMatch } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { FORMATTER_DEFAULTS, formatted, loadSchemas } from '../support/schema-file.ts';
import { folder, openSandbox, run } from './support/run.ts';

describe('discover', () => {
  test('prints what it found as JSON', async () => {
    const { env } = openSandbox({ records: 40 });
    const { code, out } = await run(env, ['discover', 'accounts', '--json']);
    const { collections } = JSON.parse(out) as Discovery;
    expect([code, collections]).toMatchObject([
      0,
      [{ collection: 'accounts', access: 'readable', records: 6 }],
    ]);
  });

  test('writes schemas to standard output, or with --out to a file', async () => {
    const { env } = openSandbox({ records: 100 });
    const file = folder()('schemas.ts');
    const printed = await run(env, ['discover', 'accounts', 'boms']);
    const written = await run(env, ['discover', 'accounts', 'boms', '--out', file]);

    expect(printed.out).toBe(readFileSync(file, 'utf8'));
    expect(Object.keys(await loadSchemas(printed.out))).toEqual(['accounts', 'boms']);
    expect(written.out).toBe('');
    expect(written.log).toMatch(/schemas\.ts from \d+ records of 2 collections \(\d+ requests\)/);
  });

  test('compares the file with what the service sends under --check, and replaces it otherwise', async () => {
    const { sandbox, env } = openSandbox({ records: { boms: 60 } });
    const file = folder()('schemas.ts');
    const args = ['discover', 'boms', '-q', '-o', file];
    const check = ['discover', 'boms', '--quiet', '--check', file];
    await run(env, args);
    // More records change the comments, not the code.
    sandbox.store.boms.insert({ ...sandbox.store.boms.get('1'), id: undefined });
    expect(await run(env, check)).toEqual({ code: 0, out: '', log: '' });
    expect((await run(env, ['discover', 'boms', '--check', file])).log).toContain(
      `The service sends what ${file} says.`,
    );

    const before = readFileSync(file, 'utf8');
    for (const id of sandbox.store.boms.ids())
      sandbox.store.boms.update(id, { colour: 'red', quantity: 'many' });
    const changed = await run(env, check);
    expect(changed.code).toBe(8);
    expect(changed.log.split('\n').slice(0, 3)).toEqual([
      '- quantity: z.number().nullish(),',
      '+ quantity: z.string().nullish(),',
      '+ colour: z.string().nullish(),',
    ]);
    expect(readFileSync(file, 'utf8')).toBe(before);
    expect((await run(env, args)).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toContain('colour: z.string()');
  });

  test('prints both forms of a field under --check if one is the beginning of the other', async () => {
    const { sandbox, env } = openSandbox({ records: { boms: 5 } });
    const file = folder()('schemas.ts');
    for (const id of sandbox.store.boms.ids()) sandbox.store.boms.update(id, { colour: 'red', tint: 'dark' });
    await run(env, ['discover', 'boms', '--strict', '--quiet', '--out', file]);
    sandbox.store.boms.update('1', { colour: null, tint: undefined, colourtint: 'x' });
    const { log } = await run(env, ['discover', 'boms', '--strict', '--quiet', '--check', file]);
    expect(log.split('\n').slice(0, 3)).toEqual([
      '- colour: z.string(),',
      '+ colour: z.string().nullable(),',
      '+ colourtint: z.string().optional(),',
    ]);
  });

  test.each([
    ['that it did not write', () => 'export const precious = 1;\n', 'it did not write that file'],
    ['that was edited', (text: string) => text.replace('nullish', 'optional'), 'the file was edited'],
  ])('overwrites a file %s only with --force', async (_, edit, reason) => {
    const { sandbox, env } = openSandbox({ records: { boms: 5 } });
    const file = folder()('schemas.ts');
    await run(env, ['discover', 'boms', '--out', file]);
    const edited = edit(readFileSync(file, 'utf8'));
    writeFileSync(file, edited);
    const before = sandbox.count();
    const { code, log } = await run(env, ['discover', 'boms', '--out', file]);
    expect([code, log]).toEqual([7, expect.stringContaining(reason)]);
    expect([sandbox.count(), readFileSync(file, 'utf8')]).toEqual([before, edited]);

    expect((await run(env, ['discover', 'boms', '--out', file, '--force'])).code).toBe(0);
    expect(readFileSync(file, 'utf8')).not.toBe(edited);
    // Other line endings are no edit.
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('\n', '\r\n'));
    expect((await run(env, ['discover', 'boms', '--out', file])).code).toBe(0);
  });

  test('recognises its file after a formatter, under --check and to replace it, but no other string or comment', async () => {
    const { sandbox, env } = openSandbox({ records: { boms: 60, products: 20 } });
    sandbox.store.boms.update('1', { 'it\'s "it"': { a: 1 }, mixed: 1, 'two  words': 'x' });
    sandbox.store.boms.update('2', { mixed: 'x', 'it\'s "it"': 'text of another kind' });
    const file = folder()('schemas.ts');
    const args = ['discover', 'boms', 'products', '--out', file, '--quiet', '--strict'];
    const check = args.with(3, '--check');
    await run(env, args);
    const text = await formatted(readFileSync(file, 'utf8'), ...FORMATTER_DEFAULTS);
    expect(text).not.toBe(readFileSync(file, 'utf8'));
    writeFileSync(file, text);
    expect(await run(env, check)).toEqual({ code: 0, out: '', log: '' });
    expect((await run(env, args)).code).toBe(0);

    for (const [from, to] of [
      ['two  words', 'other words'],
      ['An amount', 'Our amount'],
    ] as const) {
      writeFileSync(file, text.replace(from, to));
      expect((await run(env, args)).log).toContain('the file was edited');
    }
    writeFileSync(file, text.replace('two  words', 'other words'));
    expect((await run(env, check)).log).toMatch(/^- ["']other words["']: z\.string\(\)\.optional\(\)/m);
  });

  test('keeps a link that leads to its file', async () => {
    const { env } = openSandbox({ records: { boms: 5 } });
    const file = folder();
    writeFileSync(file('schemas.ts'), '');
    symlinkSync(file('schemas.ts'), file('link.ts'));
    expect((await run(env, ['discover', 'boms', '--out', file('link.ts')])).code).toBe(0);
    expect(lstatSync(file('link.ts')).isSymbolicLink()).toBe(true);
    expect(readFileSync(file('schemas.ts'), 'utf8')).toContain('export const boms');
  });

  const status = (number: number, type?: string): Fault => ({ kind: 'status', status: number, type });
  const both = ['boms', 'budgets'];
  test.each<[string, string[], Fault, number, string]>([
    ['the key may read nothing', [], status(403, 'forbidden'), 3, 'no read access'],
    ['every named collection is denied', ['boms'], status(403, 'forbidden'), 3, 'no read access'],
    ['a collection fails', both, status(418), 5, 'budgets cannot be read'],
    ['a collection does not exist', both, status(404, 'not_found'), 5, 'budgets cannot be read'],
    ['the response is no list', both, { kind: 'rewrite', body: '{"a":1}' }, 5, 'unexpected_response'],
    ['the key is revoked meanwhile', both, status(401), 3, 'unauthenticated'],
  ])('keeps the file and compares nothing if %s', async (_, names, fault, code, message) => {
    const { sandbox, env } = openSandbox({ records: 30 });
    const file = folder()('schemas.ts');
    await run(env, ['discover', ...names, '--out', file]);
    const before = readFileSync(file, 'utf8');
    const ofBudgets: FaultMatch = names === both ? { collection: 'budgets' } : {};
    sandbox.faults.add(fault, { ...ofBudgets, times: Number.POSITIVE_INFINITY });
    for (const flag of ['--out', '--check']) {
      const again = await run(env, ['discover', ...names, flag, file, '--quiet']);
      expect([again.code, again.log]).toEqual([code, expect.stringContaining(message)]);
    }
    expect(readFileSync(file, 'utf8')).toBe(before);
  });
});
