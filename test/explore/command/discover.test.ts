import { lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loadSchemas } from '../support/schema-file.ts';
import { folder, listening, run } from './support/run.ts';

describe('discover', () => {
  test('writes schemas to standard output, or to a file', async () => {
    const { env } = await listening({ records: 200 });
    const file = folder()('schemas.ts');
    const printed = await run(env, ['discover', 'accounts', 'boms']);
    const written = await run(env, ['discover', 'accounts', 'boms', '--out', file]);

    expect(printed.out).toBe(readFileSync(file, 'utf8'));
    expect(Object.keys(await loadSchemas(printed.out))).toEqual(['accounts', 'boms']);
    expect(written.out).toBe('');
    expect(written.log).toMatch(
      /^Reading about 500 records of each of 2 collections\..*\nWrote .*schemas\.ts from \d+ records of 2 collections \(\d+ requests\)\.\n$/,
    );
  });

  test('replaces its file, which then shows what has changed', async () => {
    const { sandbox, env } = await listening({ records: { boms: 60 } });
    const file = folder()('schemas.ts');
    await run(env, ['discover', '--out', file]);
    expect(readFileSync(file, 'utf8')).not.toContain('colour');
    for (const id of sandbox.store.boms.ids()) sandbox.store.boms.update(id, { colour: 'red' });
    const again = await run(env, ['discover', '--out', file]);
    expect([again.code, readFileSync(file, 'utf8')]).toEqual([
      0,
      expect.stringContaining('colour: z.string()'),
    ]);
  });

  test('--check ends with its own code if the service sends something else, and touches nothing', async () => {
    const { sandbox, env } = await listening({ records: { boms: 60 } });
    const file = folder()('schemas.ts');
    await run(env, ['discover', '--out', file]);
    // More records change the comments, not the code.
    sandbox.store.boms.insert({ ...sandbox.store.boms.get('1'), id: undefined });
    const same = await run(env, ['discover', '--out', file, '--check', '--quiet']);
    expect([same.code, same.out, same.log]).toEqual([0, '', '']);

    const before = readFileSync(file, 'utf8');
    for (const id of sandbox.store.boms.ids())
      sandbox.store.boms.update(id, { colour: 'red', quantity: 'many' });
    const changed = await run(env, ['discover', '--out', file, '--check', '--quiet']);
    expect(changed.code).toBe(8);
    expect(changed.log.split('\n').slice(0, 3)).toEqual([
      '- quantity: z.number().nullish(),',
      '+ quantity: z.string().nullish(),',
      '+ colour: z.string().nullish(),',
    ]);
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  test.each([
    ['that it did not write', () => 'export const precious = 1;\n', 'it did not write that file'],
    ['that was edited', (text: string) => text.replace('nullish', 'optional'), 'the file was edited'],
  ])('does not overwrite a file %s, unless forced', async (_, edit, reason) => {
    const { sandbox, env } = await listening({ records: { boms: 5 } });
    const file = folder()('schemas.ts');
    await run(env, ['discover', 'boms', '--out', file]);
    const edited = edit(readFileSync(file, 'utf8'));
    writeFileSync(file, edited);
    const before = sandbox.count();
    const { code, log } = await run(env, ['discover', 'boms', '--out', file]);
    expect([code, log.split('\n')[0]]).toEqual([7, `discover does not overwrite ${file}: ${reason}.`]);
    expect([sandbox.count(), readFileSync(file, 'utf8')]).toEqual([before, edited]);

    expect((await run(env, ['discover', 'boms', '--out', file, '--force'])).code).toBe(0);
    expect(readFileSync(file, 'utf8')).not.toBe(edited);
  });

  test('recognises its file with other line endings', async () => {
    const { env } = await listening({ records: { boms: 5 } });
    const file = folder()('schemas.ts');
    await run(env, ['discover', 'boms', '--out', file]);
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('\n', '\r\n'));
    expect((await run(env, ['discover', 'boms', '--out', file, '--check'])).code).toBe(0);
    expect((await run(env, ['discover', 'boms', '--out', file])).code).toBe(0);
  });

  test('keeps a link that leads to its file', async () => {
    const { env } = await listening({ records: { boms: 5 } });
    const file = folder();
    writeFileSync(file('schemas.ts'), '');
    symlinkSync(file('schemas.ts'), file('link.ts'));
    expect((await run(env, ['discover', 'boms', '--out', file('link.ts')])).code).toBe(0);
    expect(lstatSync(file('link.ts')).isSymbolicLink()).toBe(true);
    expect(readFileSync(file('schemas.ts'), 'utf8')).toContain('export const boms');
  });

  test('writes nothing when it is stopped', async () => {
    const { sandbox, env } = await listening({ records: 3000 });
    const file = folder()('schemas.ts');
    const stop = new AbortController();
    sandbox.onRequest(() => sandbox.count() === 9 && stop.abort());
    const { code } = await run(env, ['discover', '--out', file], { signal: stop.signal });
    expect(code).toBe(130);
    expect(() => readFileSync(file)).toThrow('ENOENT');
  });

  test('names the collections that the key may not read', async () => {
    const { sandbox, env } = await listening({ records: 300 });
    const { code, log } = await run({ ...env, ACCOUNTING_API_KEY: sandbox.keys.productsOnly }, [
      'discover',
      'products',
      'boms',
      '--out',
      folder()('schemas.ts'),
    ]);
    expect(code).toBe(0);
    expect(log).toContain('This key may not read boms.');
  });

  const none = 'The API key is valid but has no read access.';
  test.each([
    ['the key may read nothing', [], { kind: 'status', status: 403, type: 'forbidden' }, 3, none],
    [
      'every named collection is denied',
      ['boms'],
      { kind: 'status', status: 403, type: 'scope_required' },
      3,
      none,
    ],
    [
      'a collection fails',
      [],
      { kind: 'status', status: 418 },
      5,
      'budgets cannot be read (unknown_problem).',
    ],
    [
      'a collection is no list',
      [],
      { kind: 'rewrite', body: '{"a":1}' },
      5,
      'budgets cannot be read (unexpected_response).',
    ],
    [
      'the key is revoked meanwhile',
      [],
      { kind: 'status', status: 401 },
      3,
      'GET /budgets returned 401 (unauthenticated): A fault of the sandbox.',
    ],
  ] as const)('keeps the file and compares nothing if %s', async (_, names, fault, code, message) => {
    const { sandbox, env } = await listening({ records: 300 });
    const file = folder()('schemas.ts');
    await run(env, ['discover', ...names, '--out', file]);
    const before = readFileSync(file, 'utf8');
    const collection = message === none ? undefined : 'budgets';
    sandbox.faults.add(fault, { collection, times: Number.POSITIVE_INFINITY });
    for (const more of [[], ['--check']]) {
      const again = await run(env, ['discover', ...names, '--out', file, '--quiet', ...more]);
      expect([again.code, again.log.split('\n')[0]]).toEqual([code, message]);
    }
    expect(readFileSync(file, 'utf8')).toBe(before);
  });
});
