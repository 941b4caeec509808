/**
 * Changes the source line by line and asks the tests whether they notice: `npm run mutation`, or `-- errors schemas`
 * for some folders. MUTATION_SAMPLE=20 changes one line in twenty; MUTATION_STATIC=true also what modules do while they
 * are loaded, such as tables, at half a minute each. Fails where less than 85 % are noticed.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { folders } from './folders.ts';

const GOAL = 85;
const root = fileURLToPath(new URL('../../../', import.meta.url));

interface Report {
  readonly files: Readonly<Record<string, { readonly mutants: readonly { readonly status: string }[] }>>;
}

function mutate(folder: string): { noticed: number; all: number } {
  const env = { ...process.env, MUTATION_FOLDER: folder };
  const { status } = spawnSync('npx', ['stryker', 'run'], { cwd: root, env, stdio: 'inherit' });
  if (status !== 0) throw new Error(`The run over src/${folder} ended with ${status}.`);

  const report = JSON.parse(readFileSync(`${root}.generated/mutation/${folder}.json`, 'utf8')) as Report;
  const mutants = Object.values(report.files).flatMap(({ mutants }) => mutants.map(({ status }) => status));
  const noticed = mutants.filter((status) => status === 'Killed' || status === 'Timeout').length;
  const missed = mutants.filter((status) => status === 'Survived' || status === 'NoCoverage').length;
  return { noticed, all: noticed + missed };
}

const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(folders);
const scores = wanted.map((folder) => ({ folder, ...mutate(folder) }));
const total = scores.reduce(
  (sum, { noticed, all }) => ({ noticed: sum.noticed + noticed, all: sum.all + all }),
  {
    noticed: 0,
    all: 0,
  },
);
for (const { folder, noticed, all } of [...scores, { folder: 'all', ...total }]) {
  console.log(`${folder.padEnd(10)} ${((100 * noticed) / all).toFixed(1)} % (${noticed} of ${all} noticed)`);
}
if (total.noticed * 100 < GOAL * total.all) process.exitCode = 1;
