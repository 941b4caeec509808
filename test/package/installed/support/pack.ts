import { execFile } from 'node:child_process';
import { cp, mkdir, symlink } from 'node:fs/promises';
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

/**
 * Packs what a fresh clone holds, by `npm pack` alone: a `dist` that someone works with is neither read nor written.
 * With `BUILT` in the environment, packs the `dist` that `.ci/run` has just built in such a clone.
 */
export async function pack(folder: string): Promise<{ tarball: string } & Contents> {
  const { stdout } = process.env.BUILT
    ? await packIn(root, folder, '--ignore-scripts')
    : await packIn(await cloneIn(folder), folder);
  // What the build prints comes before.
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as [Contents & { filename: string }];
  return {
    tarball: join(folder, packed.filename),
    files: packed.files.map(({ path, size }) => ({ path, size })),
    unpackedSize: packed.unpackedSize,
  };
}

function packIn(cwd: string, folder: string, ...flags: readonly string[]) {
  return run('npm', ['pack', '--json', '--silent', '--pack-destination', folder, ...flags], { cwd });
}

/** Copies the files that git tracks, and links the installed packages. */
async function cloneIn(folder: string): Promise<string> {
  const clone = join(folder, 'clone');
  await mkdir(clone);
  const { stdout: list } = await run(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    {
      cwd: root,
    },
  );
  const { stdout: gone } = await run('git', ['ls-files', '-z', '--deleted'], { cwd: root });
  const deleted = new Set(gone.split('\0'));
  for (const file of list.split('\0')) {
    if (file !== '' && !deleted.has(file)) await cp(join(root, file), join(clone, file));
  }
  await symlink(join(root, 'node_modules'), join(clone, 'node_modules'));
  return clone;
}
