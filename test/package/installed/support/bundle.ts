import { gzipSync } from 'node:zlib';
import { build, type Metafile } from 'esbuild';
import { packagesOf } from './packages.ts';

/** Chunks of a bundle. */
interface Load {
  /** Bytes after gzip. */
  readonly size: number;
  /** The packages that have code in it. */
  readonly packages: readonly string[];
  readonly files: readonly string[];
}

/** A bundle: what a page loads at once, and what it loads later. */
export interface Bundle {
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

/** Bundles a program for browsers, as an application in a folder does. */
export async function bundle(program: string, folder: string): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: program, resolveDir: folder, sourcefile: 'app.js' },
    outdir: 'out',
    absWorkingDir: folder,
    bundle: true,
    minify: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2023',
    write: false,
    metafile: true,
    // Rejects for errors anyway; warnings are about chunks outside node_modules, where they are never installed.
    logLevel: 'silent',
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
