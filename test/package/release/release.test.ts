import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createClient } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'accounting-data-sdk-release-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs a script of `.changeset` beside a package.json with these fields. Returns what it logs, and what that contains then. */
async function runScript(name: string, fields: object, env: NodeJS.ProcessEnv = {}) {
  const folder = await temporaryFolder();
  const [script, file] = [join(folder, '.changeset', name), join(folder, 'package.json')];
  await cp(join(root, '.changeset', name), script);
  await writeFile(file, JSON.stringify({ name: 'a-package', ...fields }));
  const ended = await run(process.execPath, [script], { env }).then(
    ({ stderr }) => ({ code: 0, log: stderr }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, log: stderr }),
  );
  return { ...ended, written: JSON.parse(await readFile(file, 'utf8')) as object };
}

test('release:version writes the version into every place, and the changes into a section of CHANGELOG.md', async () => {
  const folder = await temporaryFolder();
  const needed = ['package.json', 'CHANGELOG.md', '.changeset', 'src/internal/version.ts'];
  for (const path of needed) await cp(join(root, path), join(folder, path), { recursive: true });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  const change = 'Add what a test has thought up.';
  await writeFile(
    join(folder, '.changeset/thought-up.md'),
    `---\n"${manifest.name}": minor\n---\n\n${change}\n`,
  );
  await run('git', ['init', '--quiet'], { cwd: folder });

  await run(process.execPath, ['node_modules/@changesets/cli/bin.js', 'version'], { cwd: folder });
  await run(process.execPath, ['.changeset/version.mjs'], { cwd: folder });

  const copied = (path: string) => readFile(join(folder, path), 'utf8');
  const { version } = JSON.parse(await copied('package.json')) as { version: string };
  expect(version).not.toBe(manifest.version);
  expect(await copied('src/internal/version.ts')).toContain(`VERSION = '${version}'`);
  const [, latest, before] = (await copied('CHANGELOG.md')).split(/^(?=## )/m);
  expect(latest).toContain(`## ${version}\n`);
  expect(latest).toContain(`- ${change}\n`);
  expect(before).toContain(`## ${manifest.version}\n`);
  const left = await readdir(join(folder, '.changeset'));
  expect(left.filter((name) => name.endsWith('.md'))).toEqual(['README.md']);
});

test('the client sends the version of package.json', async () => {
  const sandbox = createSandbox();
  await createClient(sandbox.clientOptions).ping();
  const userAgent = sandbox.requests[0]?.headers['user-agent'];
  expect(userAgent).toMatch(new RegExp(`^${manifest.name}/${manifest.version}( |$)`));
});

describe('release:check', () => {
  const places = {
    repository: { type: 'git', url: 'git+https://code.example.com/acme/accounting-data-sdk.git' },
    homepage: 'https://code.example.com/acme/accounting-data-sdk#readme',
    bugs: { url: 'https://code.example.com/acme/accounting-data-sdk/issues' },
  };

  test.each([
    [places, 0, /^$/],
    [{}, 1, /no https URL in repository, homepage, bugs\. /],
    [{ ...places, repository: { type: 'git' }, homepage: '' }, 1, /no https URL in repository, homepage\. /],
  ])(
    'passes if repository, homepage and bugs are URLs, and names those that are not: %j',
    async (fields, code, log) => {
      expect(await runScript('release-check.mjs', fields)).toMatchObject({
        code,
        log: expect.stringMatching(log),
      });
    },
  );
});

describe('release:repository', () => {
  const address = 'https://code.example.com/acme/sdk';

  test.each([
    { REPOSITORY_URL: address },
    { GITHUB_SERVER_URL: 'https://code.example.com', GITHUB_REPOSITORY: 'acme/sdk' },
  ])('names the repository in package.json: %j', async (env) => {
    const { written } = await runScript('repository.mjs', {}, env);
    expect(written).toEqual({
      name: 'a-package',
      repository: { type: 'git', url: `git+${address}.git` },
      homepage: `${address}#readme`,
      bugs: { url: `${address}/issues` },
    });
  });

  test('fails without an https address', async () => {
    const env = { REPOSITORY_URL: 'git@code.example.com:acme/sdk' };
    const { code, log } = await runScript('repository.mjs', {}, env);
    expect(code).toBe(1);
    expect(log).toContain('Set REPOSITORY_URL to the https address');
  });
});
