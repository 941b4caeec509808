import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** What a tarball holds. */
export interface Contents {
  readonly files: readonly { readonly path: string; readonly size: number }[];
  readonly unpackedSize: number;
}

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../../', import.meta.url));
const manifest = createRequire(import.meta.url)(`${root}package.json`) as {
  readonly files: readonly string[];
};

/** Builds into a folder of its own: a `dist` that someone works with is neither read nor written. */
export async function pack(folder: string): Promise<{ tarball: string } & Contents> {
  const stage = join(folder, 'stage');
  await mkdir(stage);
  const listed = manifest.files.filter((pattern) => pattern !== 'dist' && !pattern.startsWith('!'));
  for (const file of ['package.json', 'README.md', 'LICENSE', ...globSync(listed, { cwd: root })]) {
    await cp(join(root, file), join(stage, file));
  }
  const tsup = join(root, 'node_modules/tsup/dist/cli-default.js');
  await run(process.execPath, [tsup, '--silent', '--out-dir', join(stage, 'dist')], { cwd: root });
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: stage,
  });
  const [packed] = JSON.parse(stdout) as [Contents & { filename: string }];
  return {
    tarball: join(folder, packed.filename),
    files: packed.files.map(({ path, size }) => ({ path, size })),
    unpackedSize: packed.unpackedSize,
  };
}
