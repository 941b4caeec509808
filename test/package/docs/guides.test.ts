import { existsSync, globSync } from 'node:fs';
import { dirname, join, matchesGlob } from 'node:path';
import { metrics } from '@opentelemetry/api';
import {
  type CollectionName,
  collectionNames,
  createClient,
  evidenceFacts,
  fieldKinds,
  productServerFields,
} from 'accounting-data-sdk';
import { createSandbox, sandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test, vi } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { collections } from '../../../src/collections/index.ts';
import { apiErrorOf } from '../../../src/errors/api-error-of.ts';
import { OWN } from '../../../src/opentelemetry/attributes.ts';
import { createInstruments } from '../../../src/opentelemetry/instruments.ts';
import { clientOptions } from '../../../src/options.ts';
import { listOptions } from '../../../src/pagination/list-options.ts';
import { idBounds } from '../../../src/pagination/page.ts';
import { pushOptions } from '../../../src/push/options.ts';
import { parseProblem } from '../../../src/schemas/problem.ts';
import { syncOptions } from '../../../src/sync/sync-options.ts';
import { Failure } from '../../../src/transport/failure.ts';
import { afterFailure, BEGUN } from '../../../src/transport/retry-policy.ts';
import { namesIn, read, tableRows } from './code-blocks.ts';
import { optionSections, reportRows, sandboxSections } from './option-guides.ts';

const inGuide = (guide: string, header: string) => tableRows(`src/guides/${guide}`, header);
const first = (cell = '') => namesIn(cell)[0] ?? '';
/** `accounting.rate_limit.limit` and `.remaining` in one cell stand for two names. */
const all = (cell = '') =>
  namesIn(cell).map((name, _, [whole = '']) => (name.startsWith('.') ? whole.replace(/\.\w+$/, name) : name));

/** The fields of a collection that the guide lists: each is one line in the source, with its documentation. */
function fieldRows(name: CollectionName): string[] {
  const { fields, segment } = collections[name];
  const sources = ['src/schemas/product-fields.ts', `src/collections/${segment}.ts`].filter(existsSync);
  return Object.entries(fields).flatMap(([field, kind]) => {
    if (Object.hasOwn(productServerFields, field)) return [];
    const line = new RegExp(`/\\*\\* ([^\\n]*?) \\*/\\s+${field}: '${kind}',`);
    const [, comment] = line.exec(sources.map(read).join('\n')) ?? [];
    if (comment === undefined) throw new Error(`${field} of ${name} has no comment beside it.`);
    const { json } = fieldKinds[kind];
    const type = kind === 'money' ? 'money: a decimal string' : kind === json ? kind : `${kind}: a ${json}`;
    return `| \`${name === 'products' ? '' : `${name}.`}${field}\` | ${type} | ${comment} |\n`;
  });
}

/** A collection, with what it has beyond most others. */
const segments = collectionNames.map((name) => {
  const { segment, writable, fields } = collections[name];
  const count = Object.keys(fields).length;
  const more = [...(writable ? ['writable'] : []), ...(count > 0 ? [`${count} documented fields`] : [])];
  return `| \`${segment}\` | ${[`\`${name}\``, ...more].join(', ')} |\n`;
});

const factRows = Object.entries(evidenceFacts).map(
  ([name, { complete, pagination = 'any', when }]) =>
    `| \`${complete}\` | \`${name}\` | ${pagination === 'any' ? pagination : `\`${pagination}\``} | ${when} |\n`,
);

/** A guide with other rows in a table, or other sections below a heading: what is before the first of them stays. */
function withPart(guide: string, [head, part]: readonly [string, string]): string {
  const isTable = head.startsWith('|');
  const at = guide.indexOf(isTable ? `${head}\n` : `\n## ${head}\n`);
  if (at < 0) throw new Error(`The guide has no ${head}.`);
  const start = isTable ? guide.indexOf('\n| ', at) + 1 : guide.indexOf('### ', at);
  const rest = guide.slice(start);
  const end = rest.search(isTable ? /^(?!\|)/m : /\n## /);
  return guide.slice(0, start) + part + (end < 0 ? '' : rest.slice(end));
}

test.each<[string, Readonly<Record<string, string>>]>([
  ['options.md', optionSections],
  ['reading.md', { '| `complete` | fact | `pagination` | when |': factRows.join('') }],
  ['sandbox-options.md', sandboxSections],
  ['reports.md', { '| field | of | meaning |': reportRows.join('') }],
  ['service.md', { '| segment | property of the client |': segments.join('') }],
  ['product-fields.md', { '| field | type | meaning |': collectionNames.flatMap(fieldRows).join('') }],
])('%s lists what the source has; vitest -u writes it', async (guide, parts) => {
  const written = Object.entries(parts).reduce(withPart, read(`src/guides/${guide}`));
  await expect(written).toMatchFileSnapshot(`../../../src/guides/${guide}`);
});

test.each(['copy-in-a-database.md', 'pushing.md', 'options.md'])(
  '%s says what proves the company of a new key',
  (guide) => {
    expect(read(`src/guides/${guide}`)).toContain(
      'up to five known records are requested: at least one must exist, and all that exist must have the same `createdAt`',
    );
  },
);

/** Every code in the sources of the error classes. */
const codes = globSync('src/errors/*.ts').flatMap((file) =>
  [...read(file).matchAll(/readonly code = '(\w+)'/g)].map(([, code = '']) => code),
);

/** Every metric. */
function metricNames(): string[] {
  const meter = metrics.getMeter('names');
  const kinds = ['createHistogram', 'createCounter', 'createGauge'] as const;
  const made = kinds.map((kind) => vi.spyOn(meter, kind));
  createInstruments(meter);
  return made.flatMap(({ mock }) => mock.calls.map(([name]) => name));
}

const responseOf = (status: number, type?: string) => ({
  status,
  problem: { ...parseProblem({}), type },
  requestId: undefined,
  rateLimit: undefined,
  headers: {},
  retryAfterMs: undefined,
});

/** The class and code of an error response. */
function errorOf(type: string | undefined) {
  const facts = { method: 'GET', path: '/accounts', attempts: 1, outcome: 'rejected' } as const;
  return apiErrorOf(responseOf(499, type), facts);
}

const documented = codes.filter((code) => code !== 'unknown_problem' && errorOf(code).code === code);
const elsewhere: string[] = [OWN.waitReason, OWN.waitExpected, OWN.collection];
/** Options of the sandbox that stand for nothing that the API documentation leaves open. */
const notOpen = ['seed', 'records', 'otherRecords', 'fixtures', 'origin', 'clock'];
const ofSandbox = (cell = '') => namesIn(cell.split('sandbox ')[1] ?? '');

test.each<[string, string, (row: readonly string[]) => unknown, readonly unknown[]]>([
  ['errors.md', 'code', ([code]) => first(code), codes],
  ['telemetry.md', 'metric', ([metric]) => all(metric), metricNames()],
  [
    'telemetry.md',
    'attribute',
    ([attribute]) => all(attribute),
    Object.values(OWN).filter((name) => !elsewhere.includes(name)),
  ],
  [
    'service.md',
    'status',
    ([, type, name]) => `${first(type)} ${first(name)}`,
    documented.map((code) => `${code} ${errorOf(code).name}`),
  ],
  [
    'service.md',
    'left open',
    ([, , option]) => ofSandbox(option),
    Object.keys(sandboxOptions).filter((name) => !notOpen.includes(name)),
  ],
])('the table of %s that begins with %s has every row, and no other', (guide, header, stated, actual) => {
  const rows = new Set(inGuide(guide, header).flatMap(stated));
  expect([...rows].toSorted()).toEqual(actual.toSorted());
});

test('the table of what the API documentation leaves open names options that exist', () => {
  const tables = {
    ...clientOptions,
    ...listOptions,
    ...syncOptions,
    ...pushOptions,
    page: true,
    id: { options: idBounds },
  };
  const found = inGuide('service.md', 'left open').flatMap(([, , cell = '']) =>
    namesIn(cell.split('sandbox ')[0] ?? ''),
  );
  const exists = (path: string) => {
    const [name = '', field] = path.split('.');
    const entry: { readonly options?: object } | undefined = Reflect.get(tables, name);
    return field === undefined ? entry !== undefined : Object.hasOwn(entry?.options ?? {}, field);
  };
  expect(found.length).toBeGreaterThan(20);
  expect(found.filter((path) => !exists(path))).toEqual([]);
});

const STATUSES = Array.from({ length: 200 }, (_, index) => 400 + index);

/** Whether the client sends a call again after this status. */
function isSentAgain(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', status: number): boolean {
  const failure = new Failure('status', { kind: 'status', response: responseOf(status) });
  const retry = { maxAttempts: 5, baseDelayMs: 0, maxDelayMs: 0, updates: true, creates: true };
  const { step } = afterFailure(BEGUN, failure, { method, retry, canMergePatch: false }, 0);
  return ['retry', 'wait', 'refresh_key'].includes(step.next);
}

/** The statuses of a cell such as `408, 425` or `506 to 599: …`. */
function statusesIn(cell: string): number[] {
  const [, from, to] = /^(\d{3}) to (\d{3})\b/.exec(cell) ?? [];
  const [list] = /^\d{3}(?:, \d{3})*/.exec(cell) ?? [];
  if (from === undefined) return list?.split(', ').map(Number) ?? [];
  return STATUSES.filter((status) => status >= Number(from) && status <= Number(to));
}

test.each(['GET', 'POST', 'PATCH', 'DELETE'] as const)(
  'the table of the errors guide names the statuses that are sent again for %s',
  (method) => {
    const stated = inGuide('errors.md', 'what failed').flatMap(([what = '', read = '', write = '']) => {
      const says = method === 'GET' || write === 'the same' ? read : write;
      return says.startsWith('sent again') ? statusesIn(what) : [];
    });
    expect(stated.toSorted()).toEqual(STATUSES.filter((status) => isSentAgain(method, status)));
  },
);

test('the table of what is sent names each header and the body, with the requests that have them', async () => {
  const sandbox = createSandbox({ records: { products: 2 } });
  const sent: Request[] = [];
  const { products } = createClient({
    ...sandbox.clientOptions,
    fetch(input, init) {
      sent.push(new Request(input, init));
      return sandbox.fetch(input, init);
    },
  });
  const fields = { name: 'Desk', salePrice: '129.0000' };
  const requests = {
    'the calls that you pass them to': () => products.get('1', { headers: { 'x-shop': '17' } }),
    lists: () => products.list({ updatedSince: '2024-01-01' }).toArray({ limit: 1 }),
    creates: () => products.create(fields),
    updates: () => products.update('1', fields),
    deletes: () => products.delete('1'),
  };
  const seen: string[] = [];
  for (const [when, request] of Object.entries(requests)) {
    await request();
    for (const each of sent.splice(0)) {
      const body = await each.text();
      const names = [...each.headers.keys(), ...(body === '' ? [] : ['the fields'])];
      seen.push(...names.map((name) => `${name}: ${when}`));
      expect(new URL(each.url).origin).toBe(sandbox.baseUrl);
      expect(['', JSON.stringify(fields)]).toContain(body);
    }
  }
  const stated = inGuide('security.md', 'sent').flatMap(([what = '', when = '']) => {
    const name = /^the fields/.exec(what)?.[0] ?? first(what).toLowerCase();
    const kinds = when.startsWith('each request') ? Object.keys(requests) : when.split(', ');
    return kinds.map((kind) => `${name === 'headers' ? 'x-shop' : name}: ${kind}`);
  });
  expect(seen.toSorted()).toEqual(stated.toSorted());
});

test('the lines that CONTRIBUTING tells a newcomer to change exist, and so do the tests to run', () => {
  const rows = tableRows('.github/CONTRIBUTING.md', 'in');
  expect(rows.length).toBeGreaterThan(3);
  for (const [file = '', change = '', run = ''] of rows) {
    expect(read(first(file))).toContain(namesIn(change).at(change.startsWith('add') ? -1 : 0));
    const paths = run.match(/test\/[\w./-]+/g) ?? [];
    expect(paths.filter((path) => !existsSync(path))).toEqual([]);
  }
});

const documents = globSync([
  'README.md',
  'src/README.md',
  '.github/*.md',
  'src/guides/*.md',
  'examples/*/README.md',
]);

/** The anchors of the headings, as GitHub and VitePress form them. */
function anchorsOf(text: string): string[] {
  const headings = text.replace(/^```.*?^```$/gms, '').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
}

test('links lead to files and headings that exist', () => {
  const dead = documents.flatMap((document) =>
    [...read(document).matchAll(/\]\((?!https:)([^)#]*)(?:#([^)]+))?\)/g)].flatMap(
      ([link, path = '', anchor]) => {
        const target = path === '' ? document : join(dirname(document), path);
        const isAlive =
          existsSync(target) && (anchor === undefined || anchorsOf(read(target)).includes(anchor));
        return isAlive ? [] : [`${document}: ${link}`];
      },
    ),
  );
  expect(documents.length).toBeGreaterThan(20);
  expect(dead).toEqual([]);
});

test('the README and the guides of the package link to no file that is not in it', () => {
  const { files } = manifest;
  const isPacked = (path: string) =>
    ['README.md', 'LICENSE', 'package.json'].includes(path) ||
    files.reduce((isIn, pattern) => {
      const glob = pattern.replace(/^!/, '');
      const isMatch = matchesGlob(path, glob) || matchesGlob(path, `${glob}/**`);
      return isMatch ? !pattern.startsWith('!') : isIn;
    }, false);
  const packed = globSync(['README.md', 'llms.txt', 'src/guides/*.md']).filter(isPacked);
  const links = packed.flatMap((document) =>
    [...read(document).matchAll(/\]\((?!https:|#)([^)#]+)/g)].map(
      ([, path = '']) => [document, path] as const,
    ),
  );
  expect(packed.length).toBeGreaterThan(20);
  expect(links.length).toBeGreaterThan(100);
  expect(links.filter(([document, path]) => !isPacked(join(dirname(document), path)))).toEqual([]);
});

test('a list of what can go wrong has one situation a line, and at most two sentences about it', () => {
  const items = globSync('src/guides/*.md').flatMap((guide) => {
    const [, list = ''] = read(guide).split('\n## What can go wrong\n');
    return [...list.replace(/\n## .*/s, '').matchAll(/^- (.*)$/gm)].map(
      ([, item = '']) => `${guide}: ${item}`,
    );
  });
  const isLong = (item: string) => {
    const [, rest] = /: \*\*.*?\*\*(.*)$/.exec(item) ?? [];
    return rest === undefined || (rest.match(/[.!?](?=\s+[A-Z`]|\s*$)/g) ?? []).length > 2;
  };
  expect(items.length).toBeGreaterThan(50);
  expect(items.filter(isLong)).toEqual([]);
});

test('llms.txt names every guide of the package once', () => {
  const guides = globSync('src/guides/*.md', { exclude: ['**/index.md'] });
  const named = [...read('llms.txt').matchAll(/\]\((src\/guides\/[^)]+)\): .{20}/g)];
  expect(named.map(([, path]) => path).toSorted()).toEqual(guides.toSorted());
});
