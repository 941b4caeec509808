// npm start: with arguments the processes that are killed, otherwise the tests.

import { spawnSync } from 'node:child_process';

if (process.argv.length > 2) {
  await import('./run.ts');
} else {
  const { status } = spawnSync('npm', ['test', '--silent'], { stdio: 'inherit', shell: true });
  process.exitCode = status ?? 1;
}
