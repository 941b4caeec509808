import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createClient } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, onTestFinished, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));

/** A copy of the files that a release changes, and a way to run programs of it. */
async function checkout() {
  const folder = await mkdtemp(join(tmpdir(), 'accounting-data-sdk-release-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const path of ['CHANGELOG.md', '.changeset', 'src/internal/version.ts'])
    await cp(join(root, path), join(folder, path), { recursive: true });
  const unnamed = { ...manifest, repository: undefined, homepage: undefined, bugs: undefined };
  await writeFile(join(folder, 'package.json'), JSON.stringify(unnamed));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  return {
    folder,
    read: (path: string) => readFile(join(folder, path), 'utf8'),
    node: (program: string, args: string[] = [], env: NodeJS.ProcessEnv = {}) =>
      run(process.execPath, [program, ...args], { cwd: folder, env: { PATH: process.env.PATH, ...env } }),
  };
}

test('release:version writes the version into every place, and the changes into a section of CHANGELOG.md', async () => {
  const { folder, read, node } = await checkout();
  const change = 'Add what a test has thought up.';
  const changeset = `---\n"${manifest.name}": minor\n---\n\n${change}\n`;
  await writeFile(join(folder, '.changeset/thought-up.md'), changeset);
  await run('git', ['init', '--quiet'], { cwd: folder });
  await node('node_modules/@changesets/cli/bin.js', ['version']);
  await node('.changeset/version.mjs');

  const { version } = JSON.parse(await read('package.json')) as { version: string };
  expect(version).not.toBe(manifest.version);
  expect(await read('src/internal/version.ts')).toContain(`VERSION = '${version}'`);
  const [, latest, before] = (await read('CHANGELOG.md')).split(/^(?=## )/m);
  expect(latest).toContain(`## ${version}\n`);
  expect(latest).toContain(`- ${change}\n`);
  expect(before).toContain(`## ${manifest.version}\n`);
});

test('the client sends the version of package.json', async () => {
  const sandbox = createSandbox();
  await createClient(sandbox.clientOptions).ping();
  const userAgent = sandbox.requests[0]?.headers['user-agent'];
  expect(userAgent).toMatch(new RegExp(`^${manifest.name}/${manifest.version}( |$)`));
});

test.each([
  { REPOSITORY_URL: 'https://code.example.com/acme/sdk' },
  { GITHUB_SERVER_URL: 'https://code.example.com', GITHUB_REPOSITORY: 'acme/sdk' },
])('release:check passes once release:repository has named the repository: %j', async (env) => {
  const { read, node } = await checkout();
  const check = () => node('.changeset/release-check.mjs');
  await expect(check()).rejects.toThrow(/no https URL in repository, homepage, bugs\. /);
  await expect(node('.changeset/repository.mjs')).rejects.toThrow('Set REPOSITORY_URL to the https address');
  await node('.changeset/repository.mjs', [], env);
  await check();
  expect(JSON.parse(await read('package.json'))).toEqual({
    ...manifest,
    repository: { type: 'git', url: 'git+https://code.example.com/acme/sdk.git' },
    homepage: 'https://code.example.com/acme/sdk#readme',
    bugs: { url: 'https://code.example.com/acme/sdk/issues' },
  });
});
