import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProductDraft } from 'accounting-data-sdk';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { expect, test, vi } from 'vitest';
import { numbered } from '../../support/push.ts';
import { writeCodeBlocks } from './code-blocks.ts';

const blocks = writeCodeBlocks('src/guides/pushing.md', 'deactivate');
const program = blocks.find(({ code }) => code.includes('isInactive: true'));

/** Runs the program of the guide with other rows, and a store of its own. Returns what it prints. */
async function runProgram(sandbox: Sandbox, rows: readonly ProductDraft[], name: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'deactivate-'));
  const code = (program?.code ?? '')
    .replace(/^const rows = .*$/m, `const rows = ${JSON.stringify(rows)};`)
    .replace("'.push'", JSON.stringify(folder));
  const file = (program?.file ?? '').replace(/\.ts$/, `-${name}.ts`);
  writeFileSync(file, `${code}\nexport {};\n`);
  const printed = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  try {
    vi.stubEnv('ACCOUNTING_BASE_URL', sandbox.baseUrl);
    vi.stubEnv('ACCOUNTING_API_KEY', sandbox.keys.full);
    await import(/* @vite-ignore */ file);
    return printed.mock.calls.flat().join('\n');
  } finally {
    vi.unstubAllEnvs();
    printed.mockRestore();
    rmSync(folder, { recursive: true, force: true });
  }
}

const rows = numbered(20);

test.each<[string, readonly ProductDraft[], readonly ProductDraft[], readonly string[]]>([
  ['and no other', [...rows, { productNumber: 'OLD' }, { name: 'without a key' }], rows, ['OLD']],
  ['whose key no row has in any spelling', [...rows.slice(1), { productNumber: 'p-0 ' }], rows, []],
  [
    'unless a row failed',
    [...rows, { productNumber: 'OLD' }],
    [...rows, { productNumber: 'X', status: 'no' }],
    [],
  ],
  ['unless a row has no key', [...rows, { productNumber: 'OLD' }], [...rows, { name: 'x' }], []],
  ['unless a row is in conflict', [...rows, ...rows.slice(0, 1), { productNumber: 'OLD' }], rows, []],
  ['unless they are more than a tenth', [...rows, ...numbered(23).slice(20)], rows, []],
])(
  'the program of the guide deactivates a product that no row has, %s',
  async (name, existing, given, expected) => {
    await using sandbox = createSandbox({ allowedStatuses: ['active'] });
    await sandbox.listen();
    for (const product of existing) sandbox.store.products.insert({ ...product });
    const printed = await runProgram(sandbox, given, name.replaceAll(/\W/g, '-'));
    const products = sandbox.store.products.all();
    expect(products.flatMap(({ productNumber, isInactive }) => (isInactive ? [productNumber] : []))).toEqual(
      expected,
    );
    expect(printed.includes('have no row')).toBe(name.startsWith('unless'));
  },
);
