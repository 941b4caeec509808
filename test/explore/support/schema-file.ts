import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import type * as z from 'zod';
import { errorsIn, programOf } from '../../support/compiler.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The defaults of Biome and, but for the indentation, of Prettier. */
export const FORMATTER_DEFAULTS = [
  '--javascript-formatter-indent-style=tab',
  '--javascript-formatter-line-width=80',
  '--javascript-formatter-quote-style=double',
  '--quote-properties=as-needed',
  '--trailing-commas=all',
];

/** The schemas that a file of `discover` exports. */
export async function loadSchemas(source: string): Promise<Record<string, z.ZodType>> {
  // Where `zod` and this package are found.
  const folder = `${root}test/explore/.generated/${crypto.randomUUID()}/`;
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}schemas.ts`, source);
  const { schemas } = (await import(/* @vite-ignore */ `${folder}schemas.ts`)) as {
    schemas: Record<string, z.ZodType>;
  };
  return schemas;
}

/** The compiler's errors in some files, under the project's own strict settings. */
export function compilerErrors(...sources: readonly string[]): string[] {
  const texts = new Map(
    sources.map((source, index) => [`${root}test/explore/generated-${index}.ts`, source]),
  );
  const files = [...texts.keys()];
  return errorsIn(programOf(files, texts), files);
}

/** A file as the formatter would write it, with the options of this project unless others are given. */
export async function formatted(source: string, ...options: readonly string[]): Promise<string> {
  const args = ['format', '--stdin-file-path=schemas.ts', ...options];
  const running = promisify(execFile)(`${root}node_modules/.bin/biome`, args, { cwd: root });
  running.child.stdin?.end(source);
  return (await running).stdout;
}
