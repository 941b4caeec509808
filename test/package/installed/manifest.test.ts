import { readFileSync } from 'node:fs';
import { createClient } from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import lockfile from '../../../package-lock.json' with { type: 'json' };

interface Locked {
  readonly resolved?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly peer?: boolean;
  readonly hasInstallScript?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const locked = Object.entries(lockfile.packages as Readonly<Record<string, Locked>>);

describe('package.json', () => {
  test('has the version that the client sends', async () => {
    const userAgents: (string | null)[] = [];
    const client = createClient({
      baseUrl: 'https://books.example.com',
      apiKey: 'id/secret',
      fetch: async (_, init) => {
        userAgents.push(new Headers(init?.headers).get('user-agent'));
        return Response.json([]);
      },
    });
    await client.accounts.list().first();
    expect(userAgents).toEqual([expect.stringMatching(`^${manifest.name}/${manifest.version}( |$)`)]);
  });

  test('has each entry for import and for require, with types of its own', () => {
    for (const [entry, target] of Object.entries(manifest.exports)) {
      if (typeof target === 'string') continue;
      const name = target.import.default.slice('./dist/'.length, -'.js'.length);
      expect(target, entry).toEqual({
        import: { types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` },
        require: { types: `./dist/${name}.d.cts`, default: `./dist/${name}.cjs` },
      });
    }
  });

  test('names types first, because the first condition that matches is taken', () => {
    const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
    expect(text).not.toMatch(/"default":[^\n]*,\n\s*"types"/);
  });
});

describe('package-lock.json', () => {
  test('has the version of package.json', () => {
    expect(lockfile.version).toBe(manifest.version);
  });

  test('names no registry: packages come from the one that npm is set to', () => {
    expect(locked.filter(([, { resolved }]) => resolved?.startsWith('http')).map(([path]) => path)).toEqual(
      [],
    );
  });

  test('has no gaps: npm ci requires the builds for every platform, even those that it does not install', () => {
    const paths = new Set(locked.map(([path]) => path));
    const gaps = locked.flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !paths.has(`node_modules/${name}`) && !paths.has(`${path}/node_modules/${name}`),
      ),
    );
    expect(gaps).toEqual([]);
  });

  test('installs at most six packages beside this one, none with an install script', () => {
    const production = locked.filter(([path, { dev, peer }]) => path !== '' && !dev && !peer);
    expect(production.length).toBeLessThanOrEqual(6);
    expect(production.filter(([, { hasInstallScript }]) => hasInstallScript)).toEqual([]);
  });
});
