import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll } from 'vitest';
import type * as z from 'zod';
import { errorsIn, programOf } from '../../support/compiler.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
// One for each test file: they run beside each other.
const folder = `${root}test/explore/.generated/${crypto.randomUUID()}/`;
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

/** Writes TypeScript where `zod` and this package are found. */
export function writeSource(source: string): string {
  mkdirSync(folder, { recursive: true });
  files += 1;
  const file = `${folder}schemas-${files}.ts`;
  writeFileSync(file, source);
  return file;
}

/** The schemas that a file of `discover` exports. */
export async function loadSchemas(source: string): Promise<Record<string, z.ZodType>> {
  const { schemas } = (await import(/* @vite-ignore */ writeSource(source))) as {
    schemas: Record<string, z.ZodType>;
  };
  return schemas;
}

/** The compiler's errors in some files, under the project's own strict settings. */
export function compilerErrors(...sources: readonly string[]): string[] {
  const files = sources.map(writeSource);
  return errorsIn(programOf(files), files);
}

/** A file as the formatter would write it. */
export async function formatted(source: string): Promise<string> {
  const running = promisify(execFile)(
    `${root}node_modules/.bin/biome`,
    ['format', '--stdin-file-path=schemas.ts'],
    {
      cwd: root,
    },
  );
  running.child.stdin?.end(source);
  return (await running).stdout;
}
