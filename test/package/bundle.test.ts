import { gzipSync } from 'node:zlib';
import { build, type Metafile } from 'esbuild';
import { describe, expect, inject, it } from 'vitest';
import { packagesOf } from './support/packages.ts';

const { project } = inject('installed');

/** Chunks of a bundle. */
interface Load {
  /** Bytes after gzip. */
  readonly size: number;
  /** The packages that have code in it. */
  readonly packages: readonly string[];
  readonly files: readonly string[];
}

/** A bundle: what a page loads at once, and what it loads when it comes to it. */
interface Bundle {
  readonly atOnce: Load;
  readonly later: Load;
}

/** The chunks that a chunk imports statically, itself included. */
function loadedWith(outputs: Metafile['outputs'], chunk: string, seen = new Set<string>()): Set<string> {
  if (seen.has(chunk)) return seen;

  seen.add(chunk);
  for (const { path, kind } of outputs[chunk]?.imports ?? []) {
    if (kind === 'import-statement') loadedWith(outputs, path, seen);
  }
  return seen;
}

/** Bundles a program for browsers, as an application does. */
async function bundle(program: string): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: program, resolveDir: project, sourcefile: 'app.js' },
    outdir: 'out',
    absWorkingDir: project,
    bundle: true,
    minify: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2023',
    write: false,
    metafile: true,
  });
  // Both lists are in the same order.
  const chunks = Object.entries(metafile.outputs).map(([name, { inputs }], index) => ({
    name,
    size: gzipSync(outputFiles[index]?.contents ?? '', { level: 9 }).length,
    files: Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : [])),
  }));
  const entry = chunks.find(({ name }) => metafile.outputs[name]?.entryPoint !== undefined)?.name ?? '';
  const first = loadedWith(metafile.outputs, entry);

  const load = (those: typeof chunks): Load => {
    const files = those.flatMap((chunk) => chunk.files);
    return { size: those.reduce((sum, { size }) => sum + size, 0), files, packages: packagesOf(files) };
  };
  return {
    atOnce: load(chunks.filter(({ name }) => first.has(name))),
    later: load(chunks.filter(({ name }) => !first.has(name))),
  };
}

const everything = await bundle("export * from 'accounting-data-sdk';");
const walk = await bundle(`
  import { createClient } from 'accounting-data-sdk';
  for await (const account of createClient({ apiKey: 'key' }).accounts.list()) console.log(account.id);
`);

describe('bundled for a browser, after gzip', () => {
  it('all of it is at most 66 kB', () => {
    expect(everything.atOnce.size + everything.later.size).toBeLessThanOrEqual(66_000);
  });

  it('a program that walks is at most 46 kB, of which 30 kB load at once', () => {
    expect(walk.atOnce.size + walk.later.size).toBeLessThanOrEqual(46_000);
    expect(walk.atOnce.size).toBeLessThanOrEqual(30_000);
  });

  it('ky and Zod load when they are needed', () => {
    expect(everything.atOnce.packages).not.toEqual(expect.arrayContaining(['ky']));
    expect(everything.atOnce.packages).not.toEqual(expect.arrayContaining(['zod']));
    expect(everything.later.packages).toEqual(expect.arrayContaining(['ky', 'zod']));
  });

  it('holds none of the languages of Zod', () => {
    const files = [...everything.atOnce.files, ...everything.later.files];
    expect(files.filter((file) => file.includes('/locales/'))).toEqual([]);
  });

  it('holds decimal.js only where money is counted with', () => {
    expect(everything.atOnce.packages).toContain('decimal.js');
    expect([...walk.atOnce.packages, ...walk.later.packages]).not.toContain('decimal.js');
  });
});
