/**
 * Changes the source and reports how many of the changes the tests detect: `npm run mutation`, or
 * `npm run mutation -- errors schemas` for some folders. `MUTATION_SAMPLE=20` changes one line in twenty, because a
 * whole folder takes hours. It is a report: a low score does not fail.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FOLDERS = ['errors', 'schemas', 'pagination', 'push', 'sync', 'transport'];
const root = fileURLToPath(new URL('../../', import.meta.url));
const own = 'test/mutation';
const stryker = [
  `${own}/node_modules/@stryker-mutator/core/bin/stryker.js`,
  'run',
  `${own}/stryker.config.mjs`,
];

interface Report {
  readonly files: Readonly<Record<string, { readonly mutants: readonly { readonly status: string }[] }>>;
}

function mutate(folder: string): { detected: number; all: number } {
  const env = { ...process.env, MUTATION_FOLDER: folder };
  const { status } = spawnSync(process.execPath, stryker, { cwd: root, env, stdio: 'inherit' });
  if (status !== 0) throw new Error(`The run over src/${folder} ended with code ${status}.`);

  const report = JSON.parse(readFileSync(`${root}.generated/mutation/${folder}.json`, 'utf8')) as Report;
  const statuses = Object.values(report.files).flatMap(({ mutants }) => mutants.map(({ status }) => status));
  const count = (...wanted: string[]) => statuses.filter((status) => wanted.includes(status)).length;
  const detected = count('Killed', 'Timeout');
  return { detected, all: detected + count('Survived', 'NoCoverage') };
}

const wanted = process.argv.length > 2 ? process.argv.slice(2) : FOLDERS;
for (const folder of wanted) {
  const { detected, all } = mutate(folder);
  console.log(
    `${folder.padEnd(10)} ${((100 * detected) / all).toFixed(1)} % (${detected} of ${all} detected)`,
  );
}
