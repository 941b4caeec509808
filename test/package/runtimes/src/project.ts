import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';

const exec = promisify(execFile);
export const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** A project that has the packed package installed, with the scenario in it. */
export interface Project extends AsyncDisposable {
  readonly folder: string;
  /** The books, for Node. */
  readonly books: string;
  /** The scenario as a program. */
  readonly program: string;
  /** The scenario as a bundle for pages. */
  readonly page: string;
  /** The scenario as a bundle for workers. */
  readonly worker: string;
}

/** Builds and packs the package, and installs it as a user would. */
export async function createProject(): Promise<Project> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'runtimes-')));
  const dispose = () => rm(folder, { recursive: true, force: true });
  try {
    const tarball = await pack(folder);
    await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
    await npm(['install', '--no-audit', '--no-fund', tarball], folder);
    return { folder, ...(await writeEntries(folder)), [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** Builds beside a copy of what is published: a `dist` that someone works with is neither read nor written. */
async function pack(folder: string): Promise<string> {
  const stage = join(folder, 'stage');
  const { files } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { files: string[] };
  for (const file of ['package.json', 'README.md', 'LICENSE', ...files]) {
    if (file !== 'dist') await cp(join(root, file), join(stage, file), { recursive: true });
  }
  const tsup = join(root, 'node_modules/tsup/dist/cli-default.js');
  await exec(process.execPath, [tsup, '--silent', '--no-dts', '--out-dir', join(stage, 'dist')], {
    cwd: root,
  });
  const { stdout } = await npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], stage);
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  return join(folder, filename);
}

/** A program finds the package by its name; pages and workers get it in one file, as their tools make it. */
async function writeEntries(folder: string) {
  const out = join(folder, 'entries');
  await mkdir(out);
  const entry = (name: string) => fileURLToPath(new URL(`./entries/${name}.ts`, import.meta.url));
  const bundle = { bundle: true, format: 'esm', target: 'es2023', logLevel: 'error' } as const;
  const outfile = (name: string) => join(out, `${name}.mjs`);
  for (const name of ['books', 'process']) {
    await build({
      ...bundle,
      entryPoints: [entry(name)],
      outfile: outfile(name),
      platform: 'node',
      external: ['accounting-data-sdk'],
    });
  }
  for (const [name, conditions] of Object.entries({ page: ['browser'], worker: ['workerd', 'worker'] })) {
    await build({
      ...bundle,
      entryPoints: [entry(name)],
      outfile: outfile(name),
      platform: 'browser',
      conditions,
      // The packed package, not the sources that lie above the entry.
      alias: { 'accounting-data-sdk': join(folder, 'node_modules/accounting-data-sdk/dist/index.js') },
    });
  }
  return {
    books: outfile('books'),
    program: outfile('process'),
    page: outfile('page'),
    worker: outfile('worker'),
  };
}

function npm(args: readonly string[], cwd: string): Promise<{ stdout: string }> {
  return exec('npm', args, { cwd, maxBuffer: 64 * 1024 * 1024 });
}
