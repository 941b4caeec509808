import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loadSchemas } from '../support/schema-file.ts';
import { folder, listening, run } from './support/run.ts';

describe('discover', () => {
  test('writes schemas to standard output, or to a file', async () => {
    const { env } = await listening({ records: 600 });
    const file = folder()('schemas.ts');
    const printed = await run(env, ['discover', 'accounts', 'boms']);
    const written = await run(env, ['discover', 'accounts', 'boms', '--out', file]);

    expect(printed.out).toBe(readFileSync(file, 'utf8'));
    expect(Object.keys(await loadSchemas(printed.out))).toEqual(['accounts', 'boms']);
    expect(written.out).toBe('');
    expect(written.log).toMatch(
      /^About 500 records of each of 2 collections, .*\n\d+ records of 2 collections in \d+ requests: .*schemas\.ts is written\.\n$/,
    );
  });

  test('shows what has changed when it is run again, and writes it down', async () => {
    const { sandbox, env } = await listening({ records: { boms: 60 } });
    const file = folder()('schemas.ts');
    await run(env, ['discover', '--out', file]);
    for (const id of sandbox.store.boms.ids())
      sandbox.store.boms.update(id, { quantity: 0.5, colour: 'red' });

    const again = await run(env, ['discover', '--out', file]);
    expect([again.code, again.log.split('\n').slice(1, 3)]).toEqual([
      0,
      ['~ boms.quantity: was integer, is number', '+ boms.colour: text'],
    ]);
    const third = await run(env, ['discover', '--out', file]);
    expect(third.log).toContain('is up to date');
  });

  test('leaves a file alone that says the same already', async () => {
    const { env } = await listening({ records: 900 });
    const file = folder()('schemas.ts');
    await run(env, ['discover', '--out', file]);
    const long = new Date('2020-01-01');
    utimesSync(file, long, long);
    await run(env, ['discover', '--out', file, '--sample', '30']);
    expect(statSync(file).mtime).toEqual(long);
    await run(env, ['discover', '--out', file, '--strict']);
    expect(statSync(file).mtime).not.toEqual(long);
  });

  test('--check ends with 9 where something has changed, and touches nothing', async () => {
    const { sandbox, env } = await listening({ records: { boms: 60 } });
    const file = folder()('schemas.ts');
    await run(env, ['discover', '--out', file]);
    const same = await run(env, ['discover', '--out', file, '--check']);
    expect([same.code, same.out, same.log]).toEqual([0, '', '']);

    const before = readFileSync(file, 'utf8');
    for (const id of sandbox.store.boms.ids()) sandbox.store.boms.update(id, { colour: 'red' });
    const changed = await run(env, ['discover', '--out', file, '--check']);
    expect(changed.code).toBe(9);
    expect(changed.log).toContain('+ boms.colour: text');
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  test('does not write over a file that is not its own', async () => {
    const { sandbox, env } = await listening();
    const file = folder()('precious.ts');
    writeFileSync(file, 'export const precious = 1;\n');
    const { code, log } = await run(env, ['discover', '--out', file]);
    expect([code, log.split('\n')[0]]).toEqual([8, `${file} was not written by discover.`]);
    expect(readFileSync(file, 'utf8')).toBe('export const precious = 1;\n');
    expect(sandbox.count()).toBe(0);
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

  test('names what the key may not read', async () => {
    const { sandbox, env } = await listening({ records: 300 });
    const { code, log } = await run({ ...env, ACCOUNTING_API_KEY: sandbox.keys.productsOnly }, [
      'discover',
      'products',
      'boms',
      '--out',
      folder()('schemas.ts'),
    ]);
    expect(code).toBe(0);
    expect(log).toContain('Not readable with this key: boms.');
  });
});
