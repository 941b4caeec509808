import { builtinModules } from 'node:module';
import type { Import, Source } from './source.ts';

/**
 * The house, from the roof down: a folder or file may import what stands below it. Those on one line do not know each
 * other.
 */
export const LAYERS = [
  ['cli'],
  ['index.ts', 'schemas/index.ts', 'testing', 'node', 'tools', 'opentelemetry'],
  ['client.ts'],
  ['options.ts'],
  ['collections', 'sync'],
  ['pagination'],
  ['transport'],
  ['rate-limiter'],
  ['events.ts', 'money.ts'],
  ['errors'],
  ['schemas'],
  ['internal'],
] as const satisfies readonly (readonly string[])[];

/** Where each package may be imported. */
export const PACKAGES: Readonly<Record<string, { readonly from: string }>> = {
  ky: { from: 'transport/exchange.ts' },
  'p-retry': { from: 'transport/transport.ts' },
  zod: { from: 'schemas/index.ts' },
  'zod/mini': { from: 'schemas/record-schema.ts' },
  'decimal.js': { from: 'money.ts' },
  msw: { from: 'testing/msw.ts' },
  '@opentelemetry/api': { from: 'opentelemetry/' },
  'cli-table3': { from: 'cli/' },
  commander: { from: 'cli/' },
  picocolors: { from: 'cli/' },
};

/** What `import()` alone may load: ky and p-retry come with the first request, Zod with an invalid record. */
const LAZY_PACKAGES = ['ky', 'p-retry', 'zod', 'zod/mini'];

/** What the sandbox may know: it must not share code with what it judges. */
const TESTING_KNOWS = ['testing', 'collections', 'schemas', 'errors', 'internal'];

const MAY_USE_NODE = ['testing', 'node', 'cli'];

/** The folder of a file below src; the file itself if it has a layer of its own. */
const unitOf = (path: string) =>
  LAYERS.some((layer) => (layer as readonly string[]).includes(path)) ? path : (path.split('/')[0] ?? path);

const layerOf = (path: string) =>
  LAYERS.findIndex((layer) => (layer as readonly string[]).includes(unitOf(path)));

/** What is wrong with the imports of each file. */
function eachImport(
  sources: readonly Source[],
  fault: (source: Source, found: Import) => string | undefined,
): string[] {
  return sources.flatMap((source) =>
    source.imports.flatMap((found) => {
      const text = fault(source, found);
      return text === undefined ? [] : [`${source.path}:${found.line} imports ${found.to}: ${text}`];
    }),
  );
}

/** Every import goes to the same folder or down; every file stands in a layer. */
export function goesUp(sources: readonly Source[]): string[] {
  const homeless = sources
    .filter(({ path }) => layerOf(path) < 0)
    .map(({ path }) => `${path} stands in no layer`);
  const up = eachImport(sources, ({ path }, { to, local }) => {
    if (!local || unitOf(path) === unitOf(to) || layerOf(to) > layerOf(path)) return undefined;
    return 'goes up or aside';
  });
  return [...homeless, ...up];
}

/** Imports of files that do not exist, or without their ending. */
export function dangling(sources: readonly Source[]): string[] {
  const paths = new Set(sources.map(({ path }) => path));
  return eachImport(sources, (_, { to, local }) => (local && !paths.has(to) ? 'no such file' : undefined));
}

/** Imports of an entry or a barrel; the table of collections is neither. */
export function importsEntry(sources: readonly Source[]): string[] {
  return eachImport(sources, (_, { to, local }) => {
    if (!local || to === 'collections/index.ts') return undefined;
    return /(^|\/)index\.ts$/.test(to) || to === 'testing/msw.ts' ? 'an entry' : undefined;
  });
}

/** Files that import each other, around whichever corners, types counted. */
export function cycles(sources: readonly Source[]): string[] {
  const reach = reachable(sources);
  const together = sources.map(({ path }) =>
    [...(reach.get(path) ?? [])].filter((other) => reach.get(other)?.has(path)).sort(),
  );
  return [...new Set(together.filter((files) => files.length > 0).map((files) => files.join(' ⇄ ')))];
}

/** What the sandbox reaches, around corners too, of what it is to judge. */
export function testingKnowsTooMuch(sources: readonly Source[]): string[] {
  const reach = reachable(sources);
  return sources
    .filter(({ path }) => unitOf(path) === 'testing')
    .flatMap(({ path }) =>
      [...(reach.get(path) ?? [])]
        .filter((other) => !TESTING_KNOWS.includes(unitOf(other)))
        .map((other) => `${path} reaches ${other}`),
    );
}

/** For each file: every file that it imports, directly or not; by the imports that count. */
function reachable(
  sources: readonly Source[],
  counts: (one: Import) => boolean = () => true,
): Map<string, Set<string>> {
  const direct = new Map(
    sources.map(({ path, imports }) => [
      path,
      imports.filter((one) => one.local && counts(one)).map(({ to }) => to),
    ]),
  );
  const from = (start: string) => {
    const seen = new Set<string>();
    const open = [...(direct.get(start) ?? [])];
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      if (seen.has(path)) continue;
      seen.add(path);
      open.push(...(direct.get(path) ?? []));
    }
    return seen;
  };
  return new Map(sources.map(({ path }) => [path, from(path)]));
}

/** Packages and modules of Node where they do not belong. */
export function strangers(sources: readonly Source[]): string[] {
  return eachImport(sources, ({ path }, { to, local }) => {
    if (local) return undefined;
    if (to.startsWith('node:')) return MAY_USE_NODE.includes(unitOf(path)) ? undefined : 'runs on Node alone';
    if (builtinModules.includes(to)) return 'a module of Node without node:';

    const allowed = PACKAGES[to];
    if (allowed === undefined) return 'no package of this one';
    return path.startsWith(allowed.from) ? undefined : `belongs to ${allowed.from}`;
  });
}

/** Packages that load with this one, around whichever corners. */
export function loadsTooMuch(sources: readonly Source[]): string[] {
  const withFace = reachable(sources, ({ kind }) => kind === 'value').get('index.ts');
  const atOnce = sources.filter(({ path }) => path === 'index.ts' || withFace?.has(path));
  return eachImport(atOnce, (_, { to, kind }) =>
    kind === 'value' && LAZY_PACKAGES.includes(to) ? 'loads with the package' : undefined,
  );
}

/** Names that are not in kebab case. */
export function misnamed(sources: readonly Source[]): string[] {
  const word = /^[a-z0-9]+(-[a-z0-9]+)*(\.ts)?$/;
  return sources.map(({ path }) => path).filter((path) => !path.split('/').every((part) => word.test(part)));
}

/** `any` as a type. */
export function untyped(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, anyTypes }) => anyTypes.map((line) => `${path}:${line} says any`));
}
