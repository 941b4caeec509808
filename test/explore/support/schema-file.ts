import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import type * as z from 'zod';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The defaults of Biome and, but for the indentation, of Prettier. */
export const FORMATTER_DEFAULTS = [
  '--javascript-formatter-indent-style=tab',
  '--javascript-formatter-line-width=80',
  '--javascript-formatter-quote-style=double',
  '--quote-properties=as-needed',
  '--trailing-commas=all',
];

const nested = (levels: number, wrap: (inner: unknown) => unknown): unknown =>
  levels === 0 ? '1.00' : wrap(nested(levels - 1, wrap));

/** Every way in which a name can occur. */
const named = (name: string) => ({
  [name]: 'text',
  [`inside ${name}`]: { [name]: { [name]: [{ [name]: 1 }] } },
});

/** Fields of which a schema may reject the record that it was made from, or may not compile. */
export const ODD_FIELDS: readonly (readonly [name: string, fields: Readonly<Record<string, unknown>>])[] = [
  ['thirty objects in each other', { objects30: nested(30, (down) => ({ down })) }],
  ['thirty lists in each other', { lists30: nested(30, (item) => [item]) }],
  ['lists and objects in each other', { both15: nested(15, (down) => [{ down, none: null }]) }],
  ...['constructor', 'toString', '__proto__', 'then', 'class', 'default', '1e3', ''].map(
    (name) => [`a field named ${JSON.stringify(name)}`, named(name)] as const,
  ),
];

/** A folder in which code finds `zod` and this package. */
export function projectFolder(): string {
  const folder = `${root}test/explore/.generated/${crypto.randomUUID()}/`;
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** The schemas that a file of `discover` exports. */
export async function loadSchemas(source: string): Promise<Record<string, z.ZodType>> {
  const file = `${projectFolder()}schemas.ts`;
  writeFileSync(file, source);
  const { schemas } = (await import(/* @vite-ignore */ file)) as {
    schemas: Record<string, z.ZodType>;
  };
  return schemas;
}

/** A file as the formatter would write it, with the options of this project unless others are given. */
export async function formatted(source: string, ...options: readonly string[]): Promise<string> {
  const args = ['format', '--stdin-file-path=schemas.ts', ...options];
  const running = promisify(execFile)(`${root}node_modules/.bin/biome`, args, { cwd: root });
  running.child.stdin?.end(source);
  return (await running).stdout;
}
