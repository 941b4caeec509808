/** `npm run example <name>` runs an example against a sandbox of its own, or against ACCOUNTING_BASE_URL. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { createSandbox } from 'accounting-data-sdk/testing';

process.chdir(import.meta.dirname);
const [name = '', ...args] = process.argv.slice(2);
const isProject = existsSync(`${name}/package.json`);
if (!isProject && !existsSync(`${name}.ts`)) {
  const names = [...globSync('*.ts'), ...globSync('*/package.json')].map((path) =>
    path.replace(/(\.ts|\/package\.json)$/, ''),
  );
  console.error(
    `npm run example <name>, with one of: ${names.filter((each) => !/^run$|\.test$/.test(each)).join(', ')}`,
  );
  process.exit(1);
}

if (isProject) {
  // A project of its own, with a sandbox of its own.
  const npm = (command: string, ...words: string[]) =>
    spawnSync('npm', [command, '--silent', '--prefix', name, ...words], { stdio: 'inherit' });
  process.exit(npm('install').status || npm('start', '--', ...args).status || 0);
}

const sandbox = createSandbox({ records: 420, seed: 7, requiredFields: ['name'] });
await sandbox.listen();
const own = { ACCOUNTING_BASE_URL: sandbox.baseUrl, ACCOUNTING_API_KEY: sandbox.keys.full };
const env = process.env.ACCOUNTING_BASE_URL ? process.env : { ...process.env, ...own };
const child = spawn(process.execPath, [`${name}.ts`, ...args], { stdio: 'inherit', env });
process.on('SIGINT', () => child.kill('SIGINT'));
const [code] = (await once(child, 'exit')) as [number | null];
await sandbox.close();
process.exitCode = code ?? 1;
