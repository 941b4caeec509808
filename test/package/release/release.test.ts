import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import manifest from '../../../package.json' with { type: 'json' };

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string) => readFile(join(root, path), 'utf8');

describe('a release', () => {
  let folder: string;
  const copied = (path: string) => readFile(join(folder, path), 'utf8');
  const command = (name: string, ...args: string[]) => run(name, args, { cwd: folder });

  // A change of the test's own: between a release and the next change no change is pending.
  const change = '- Add what a test has thought up.';
  const announce = () =>
    writeFile(join(folder, '.changeset/thought-up.md'), `---\n"${manifest.name}": minor\n---\n\n${change}\n`);

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'accounting-data-sdk-release-'));
    const needed = ['package.json', 'CHANGELOG.md', '.changeset', 'src/internal/version.ts'];
    for (const path of needed) await cp(join(root, path), join(folder, path), { recursive: true });
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    await command('git', 'init', '--quiet');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test('is announced in CHANGELOG.md by what the changesets say: npm run changelog writes it', async () => {
    const before = await read('CHANGELOG.md');
    await command(process.execPath, '.changeset/unreleased.mjs');
    expect(await copied('CHANGELOG.md')).toBe(before);

    await announce();
    await command(process.execPath, '.changeset/unreleased.mjs');
    const [, unreleased] = (await copied('CHANGELOG.md')).split(/^(?=## )/m);
    expect(unreleased).toMatch(/^## Unreleased\n\n- /);
    expect(unreleased).toContain(`${change}\n`);
  });

  test('has its version in every place, and its changes in a section of its own', async () => {
    await announce();
    await command(process.execPath, 'node_modules/@changesets/cli/bin.js', 'version');
    await command(process.execPath, '.changeset/unreleased.mjs');

    const { version } = JSON.parse(await copied('package.json')) as { version: string };
    expect(version).not.toBe(manifest.version);
    expect(await copied('src/internal/version.ts')).toContain(`VERSION = '${version}'`);
    const changelog = await copied('CHANGELOG.md');
    expect(changelog).not.toContain('Unreleased');
    const [, latest] = changelog.split(/^(?=## )/m);
    expect(latest).toContain(`## ${version}\n`);
    expect(latest).toContain(`${change}\n`);
    const left = await readdir(join(folder, '.changeset'));
    expect(left.filter((name) => name.endsWith('.md'))).toEqual(['README.md']);
  });
});

describe('release:check', () => {
  const places = {
    repository: { type: 'git', url: 'git+https://code.example.com/acme/accounting-data-sdk.git' },
    homepage: 'https://code.example.com/acme/accounting-data-sdk#readme',
    bugs: { url: 'https://code.example.com/acme/accounting-data-sdk/issues' },
  };

  /** Runs the script beside a package.json with these fields. */
  async function check(fields: object): Promise<{ readonly code: number; readonly log: string }> {
    const folder = await mkdtemp(join(tmpdir(), 'accounting-data-sdk-release-check-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await cp(join(root, '.changeset/release-check.mjs'), join(folder, '.changeset/release-check.mjs'));
    await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'a-package', ...fields }));
    const args = [join(folder, '.changeset/release-check.mjs')];
    return new Promise((resolve) => {
      execFile(process.execPath, args, (error, _, log) => resolve({ code: error === null ? 0 : 1, log }));
    });
  }

  test('passes if repository, homepage and bugs are URLs', async () => {
    expect(await check(places)).toEqual({ code: 0, log: '' });
    expect(await check({ ...places, repository: places.repository.url, bugs: places.bugs.url })).toEqual({
      code: 0,
      log: '',
    });
  });

  test.each([
    [{}, 'repository, homepage, bugs'],
    [{ ...places, repository: undefined }, 'repository'],
    [{ ...places, repository: { type: 'git' } }, 'repository'],
    [{ ...places, homepage: '' }, 'homepage'],
    [{ ...places, bugs: { email: 'bugs@example.com' } }, 'bugs'],
  ])('fails for %j and names the fields', async (fields, named) => {
    const { code, log } = await check(fields);
    expect(code).toBe(1);
    expect(log).toContain(`package.json has no https URL in ${named}. `);
  });

  test('runs before every publish', () => {
    expect(manifest.scripts.prepublishOnly).toMatch(/^npm run release:check && /);
  });
});

test('npm run quickstart keeps the declarations of an earlier build', () => {
  const { quickstart, 'build:js': build } = manifest.scripts;
  expect(quickstart).toMatch(/^npm run --silent build:js && /);
  // tsup overwrites what it builds and removes nothing (`clean: false`), and `--no-dts` builds no declarations.
  expect(build).toBe('tsup --no-dts --silent');
});

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly needs?: string;
        readonly permissions?: Readonly<Record<string, string>>;
        readonly steps: readonly {
          readonly uses?: string;
          readonly run?: string;
          readonly with?: Readonly<Record<string, unknown>>;
          readonly env?: Readonly<Record<string, string>>;
        }[];
      }
    >
  >;
}

describe('the workflows', async () => {
  const folder = '.github/workflows';
  const names = await readdir(join(root, folder));
  const workflows = await Promise.all(
    names.map(async (name) => [name, parse(await read(`${folder}/${name}`)) as Workflow] as const),
  );

  test.for(workflows)('%s begins with the right to read alone', ([, { permissions }]) => {
    expect(permissions).toEqual({ contents: 'read' });
  });

  test('call scripts that there are', () => {
    const steps = workflows.flatMap(([, { jobs }]) => Object.values(jobs).flatMap((job) => job.steps));
    const commands = steps.flatMap((step) => [step.run, step.with?.version, step.with?.publish].map(String));
    const scripts = commands.flatMap((text) => /\bnpm run (\S+)/.exec(text)?.[1] ?? []);
    expect(scripts.length).toBeGreaterThanOrEqual(2);
    expect(commands).toContainEqual(expect.stringMatching(/ npm run test:runtimes$/));
    expect(Object.keys(manifest.scripts)).toEqual(expect.arrayContaining(scripts));
    expect(commands).toContain('bash .ci/run');
  });

  test('publish only what passed the checks, in a job of their own that has no right to sign', async () => {
    const { jobs } = parse(await read(`${folder}/release.yml`)) as Workflow;
    expect(jobs.release?.needs).toBe('check');
    expect(jobs.check?.permissions).toBeUndefined();
    expect(jobs.check?.steps.map(({ run }) => run)).toContain('bash .ci/run');
  });

  test('publish with provenance and no token of npm', async () => {
    const job = (parse(await read(`${folder}/release.yml`)) as Workflow).jobs.release;
    const publish = job?.steps.find(({ uses }) => uses?.startsWith('changesets/action@'));
    expect(job?.permissions?.['id-token']).toBe('write');
    expect(publish?.env).toEqual({
      GITHUB_TOKEN: expect.stringContaining('secrets.'),
      NPM_CONFIG_PROVENANCE: 'true',
    });
    const place = job?.steps.findIndex(({ uses }) => uses?.startsWith('changesets/action@'));
    expect(job?.steps.slice(0, place).map(({ run }) => run)).toContain('npm run release:check');
  });
});
