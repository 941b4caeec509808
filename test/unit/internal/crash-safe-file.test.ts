import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { replaceFile } from '../../../src/internal/node/crash-safe-file.ts';

let folder: string;
beforeEach(async () => {
  folder = await fs.mkdtemp(join(tmpdir(), 'crash-safe-file-'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  await fs.rm(folder, { recursive: true });
});

/** From now on, no file can be removed. */
function removalFails(): void {
  vi.spyOn(fs, 'rm').mockRejectedValue(new Error('rm failed'));
  syncBuiltinESMExports();
}

test('a file that cannot be renamed rejects with that error, even if its temporary file cannot be removed', async () => {
  vi.spyOn(fs, 'rename').mockImplementation(async () => {
    removalFails();
    throw new Error('rename failed');
  });
  syncBuiltinESMExports();
  const replacing = replaceFile(join(folder, 'state.json'), 'new', join(folder, 'new.tmp'));
  await expect(replacing).rejects.toThrow('rename failed');
});
