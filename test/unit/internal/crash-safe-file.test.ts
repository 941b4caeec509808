import { mkdtemp, rm as remove, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { replaceFile, writeWhole } from '../../../src/internal/node/crash-safe-file.ts';

const failing = vi.hoisted(() => new Set<string>());

vi.mock('node:fs/promises', async (original) => {
  const actual = await original<typeof import('node:fs/promises')>();
  const orFail = <Name extends 'rename' | 'rm'>(name: Name) =>
    (async (...args: [string, never]) => {
      // The first rm comes before the file is written.
      if (name === 'rename' && failing.has(name)) failing.add('rm');
      if (failing.has(name)) throw new Error(`${name} failed`);
      await (actual[name] as (...args: [string, never]) => Promise<void>)(...args);
    }) as never;
  return { ...actual, rename: orFail('rename'), rm: orFail('rm') };
});

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crash-safe-file-'));
});
afterEach(async () => {
  failing.clear();
  await remove(folder, { recursive: true });
});

test('a file that cannot be renamed rejects with that error, even if its temporary file cannot be removed', async () => {
  const file = join(folder, 'state.json');
  await writeFile(file, 'old');
  failing.add('rename');
  await expect(replaceFile(file, 'new', join(folder, 'new.tmp'))).rejects.toThrow('rename failed');
});

test('a file that cannot be written rejects with that error, even if it cannot be removed', async () => {
  const content = (async function* () {
    yield 'a';
    failing.add('rm');
    throw new Error('content failed');
  })();
  await expect(writeWhole(join(folder, 'rows.json'), content)).rejects.toThrow('content failed');
});
