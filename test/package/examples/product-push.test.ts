import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, onTestFinished, test } from 'vitest';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

test('product-push pushes the export of a shop, and sends nothing the second time', async () => {
  const sandbox = createSandbox({ allowedStatuses: ['active'] });
  await sandbox.listen();
  const folder = await mkdtemp(join(tmpdir(), 'product-push-'));
  onTestFinished(async () => {
    await sandbox.close();
    await rm(folder, { recursive: true });
  });
  const run = async () => {
    const main = path('../../../examples/product-push/src/main.ts');
    const child = spawn(process.execPath, ['--import', path('../../support/from-source.mjs'), main], {
      cwd: folder,
      env: { ...process.env, ACCOUNTING_BASE_URL: sandbox.baseUrl, ACCOUNTING_API_KEY: sandbox.keys.full },
    });
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += chunk));
    const code = await new Promise((resolve) => child.on('close', resolve));
    return { code, printed };
  };
  const first = await run();
  expect(first.printed).toContain('DESK-160: created');
  expect(first.printed).toContain('SHELF-3: draft.salePrice: is not a decimal with a point');
  expect(first.printed).toContain('MAT-10: duplicate');
  expect(first.printed).toMatch(/BIN-1: .*422/);
  expect(first).toMatchObject({ code: 1, printed: expect.stringContaining('created: 5') });
  sandbox.clearLogs();
  expect((await run()).printed).toContain('unchanged: 5');
  expect(sandbox.journal).toEqual([]);
});
