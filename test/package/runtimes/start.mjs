// Plain JavaScript, for whichever Node a machine has: installs what is missing and goes on with the project's own Node.

import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Whether a folder has what its lockfile says. */
function isInstalled(folder) {
  const installed = `${folder}/node_modules/.package-lock.json`;
  return (
    existsSync(installed) && statSync(installed).mtimeMs >= statSync(`${folder}/package-lock.json`).mtimeMs
  );
}

function run(command, args, cwd) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: 'inherit' });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

for (const folder of [here('../../..'), here('.')]) {
  if (isInstalled(folder)) continue;
  console.log(`Installing ${folder}`);
  run('npm', ['ci', '--silent', '--no-audit', '--no-fund'], folder);
}
run(here('../../../node_modules/node/bin/node'), [here('src/main.ts'), ...process.argv.slice(2)], here('.'));
