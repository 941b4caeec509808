import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

/** The package as npm would publish it, and a project that has it installed. */
export interface Installed {
  readonly files: readonly { readonly path: string }[];
  readonly unpackedSize: number;
  /** The project: the package is in its `node_modules`, the fixtures are beside it. */
  readonly project: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    installed: Installed;
  }
}

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../../', import.meta.url));
const manifest = createRequire(import.meta.url)(`${root}package.json`) as {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
};

/** Builds and packs the package. With `BUILT` in the environment, packs what `.ci/run` has just built. */
export async function pack(folder: string): Promise<Omit<Installed, 'project'> & { tarball: string }> {
  const flags = process.env.BUILT ? ['--ignore-scripts'] : [];
  const args = ['pack', '--json', '--silent', '--pack-destination', folder, ...flags];
  const { stdout } = await run('npm', args, { cwd: root });
  // What the build prints comes before.
  const [{ filename, files, unpackedSize }] = JSON.parse(stdout.slice(stdout.indexOf('[\n')));
  return { tarball: join(folder, filename), files, unpackedSize };
}

/** Installs a tarball with npm. What it goes with is linked from here, so that nothing is fetched. */
async function install(folder: string, tarball: string): Promise<string> {
  const project = join(folder, 'project');
  await cp(join(root, 'test/package/installed/fixtures'), project, { recursive: true });
  const { dependencies: own, peerDependencies: peers } = manifest;
  const linked = [...Object.keys(own), ...Object.keys(peers), '@types/node'].map((name) => [
    name,
    `file:${join(root, 'node_modules', name)}`,
  ]);
  const dependencies = { 'accounting-data-sdk': `file:${tarball}`, ...Object.fromEntries(linked) };
  await writeFile(join(project, 'package.json'), JSON.stringify({ private: true, dependencies }));
  await run('npm', ['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: project });
  return project;
}

/** Installs the compilers. They have a folder of their own because npm would link their tsc over ours. */
async function installCompilers(): Promise<void> {
  const folder = join(root, 'test/package/installed/typescript');
  if (existsSync(join(folder, 'node_modules/newest'))) return;
  await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder });
}

export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'accounting-data-sdk-')));
  const teardown = () => rm(folder, { recursive: true, force: true });
  try {
    const [{ tarball, ...contents }] = await Promise.all([pack(folder), installCompilers()]);
    provide('installed', { project: await install(folder, tarball), ...contents });
  } catch (error) {
    await teardown();
    throw error;
  }
  return teardown;
}
