import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import ts from 'typescript';
import { afterAll } from 'vitest';
import type * as z from 'zod';

const root = fileURLToPath(new URL('../../../', import.meta.url));
// One for each test file: they run beside each other.
const folder = `${root}test/tools/.generated/${crypto.randomUUID()}/`;
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

const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, root);
const host = ts.createCompilerHost(options);
const parsed = new Map<string, ts.SourceFile | undefined>();
const parse = host.getSourceFile.bind(host);
// Libraries are the same for every file that is looked at: parsed once, they are most of the time that it takes.
host.getSourceFile = (file, ...more) => {
  if (!parsed.has(file)) parsed.set(file, parse(file, ...more));
  return parsed.get(file);
};

/** What the compiler has against a file, under the project's own settings, which are strict. */
export function compilerErrors(source: string): string[] {
  const file = writeSource(source);
  const program = ts.createProgram([file], options, host);
  return ts
    .getPreEmitDiagnostics(program, program.getSourceFile(file))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
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
