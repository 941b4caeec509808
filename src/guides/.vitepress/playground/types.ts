import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

// The declarations that the editor knows: of the built package, of its libraries, of the language and of the browser.

const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** What the playground has in place of modules of Node. */
const AMBIENT = `
declare const process: { readonly env: Readonly<Record<string, string | undefined>>; exitCode?: number | undefined };
declare module 'node:assert/strict' {
  export function ok(value: unknown, message?: string): asserts value;
  export function equal(actual: unknown, expected: unknown, message?: string): void;
  export function notEqual(actual: unknown, expected: unknown, message?: string): void;
  export function deepEqual(actual: unknown, expected: unknown, message?: string): void;
  export function match(text: string, pattern: RegExp, message?: string): void;
  export function rejects(promise: Promise<unknown> | (() => Promise<unknown>), expected?: RegExp): Promise<void>;
  interface Assert {
    (value: unknown, message?: string): asserts value;
    ok(value: unknown, message?: string): asserts value;
    equal(actual: unknown, expected: unknown, message?: string): void;
    notEqual(actual: unknown, expected: unknown, message?: string): void;
    deepEqual(actual: unknown, expected: unknown, message?: string): void;
    match(text: string, pattern: RegExp, message?: string): void;
    rejects(promise: Promise<unknown> | (() => Promise<unknown>), expected?: RegExp): Promise<void>;
  }
  const assert: Assert;
  export default assert;
}
declare module 'node:timers/promises' {
  export function setTimeout<T = void>(ms?: number, value?: T): Promise<T>;
}
`;

export const playgroundTypes: Plugin = {
  name: 'playground-types',
  resolveId: (id) => (id === 'playground-types' ? '\0playground-types' : undefined),
  load: (id) =>
    id === '\0playground-types'
      ? `export default JSON.parse(${JSON.stringify(JSON.stringify(declarations()))});`
      : undefined,
};

function declarations(): Readonly<Record<string, string>> {
  const files: Record<string, string> = { '/ambient.d.ts': AMBIENT };
  const add = (folder: string, pattern: string, to: string, edit = (text: string) => text) => {
    for (const file of globSync(pattern, { cwd: root + folder }))
      files[`${to}/${file}`] = edit(readFileSync(`${root}${folder}/${file}`, 'utf8'));
  };
  const name = '/node_modules/accounting-data-sdk';
  add('dist', '*.d.ts', `${name}/dist`);
  add('.', 'package.json', name);
  add('node_modules/decimal.js', '{package.json,decimal.d.ts}', '/node_modules/decimal.js', withoutComments);
  add('node_modules/zod', '{package.json,index.d.ts,v4/**/*.d.ts}', '/node_modules/zod', withoutComments);
  add('node_modules/typescript/lib', 'lib.{es,dom,decorators}*.d.ts', '/lib', withoutComments);
  add('node_modules/typescript/lib', 'lib.esnext.disposable.d.ts', '/lib', withoutComments);
  return files;
}

/** Their comments would be most of them, and explain other libraries. The references at the top are comments too. */
function withoutComments(text: string): string {
  return text.startsWith('{') ? text : text.replaceAll(/^\s*\/\*\*?[\s\S]*?\*\/\s*\n/gm, '');
}
