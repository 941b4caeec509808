// A client with the profile of a service reads every record, and a sandbox with it is the same service.

import { writeFileSync } from 'node:fs';
import { type CollectionName, createClient } from 'accounting-data-sdk';
import { type ProbeReport, probe } from 'accounting-data-sdk/explore';
import { createSandbox, type Sandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { expectNoFindings, NO_HURRY, seedsToRun } from '../../support/seeds.ts';
import { API_PLATFORM, fillProducts } from '../support/products.ts';
import type { Settings } from './support/process.ts';
import { ends, folder, main, openSandbox, run } from './support/run.ts';

const COLLECTIONS = ['accounts', 'boms', 'products'] as const satisfies readonly CollectionName[];
const UUIDS = { ids: { form: 'uuid' }, textIdBounds: 'ignore' } as const satisfies SandboxOptions;
const TEXTS = { ids: { form: 'text' }, textIdBounds: 'ignore' } as const satisfies SandboxOptions;
const LD = { listBody: 'hydra:member' } as const satisfies SandboxOptions;

/** Services by what is odd about them, each with the pagination that its profile advises. */
const VARIANTS: Readonly<Record<string, readonly [SandboxOptions, pagination?: unknown]>> = {
  'the specification': [{}],
  'page instead of _page': [{ pageParameter: 'page' }],
  'page, and UUIDs': [{ ...UUIDS, pageParameter: 'page' }, 'page'],
  'a name of its own in JSON-LD': [{ ...UUIDS, ...LD, pageParameter: 'pageNumber' }, 'page'],
  'a name of its own in member': [{ ...UUIDS, listBody: 'member', pageParameter: 'p' }, 'page'],
  'a name of its own in Link': [{ ...UUIDS, linkHeader: true, pageParameter: 'pageNumber' }, 'page'],
  'a name that only JSON-LD shows': [{ ...UUIDS, formats: 'both', pageParameter: 'seite' }, 'page'],
  'a name of its own, and integers': [{ pageParameter: 'pageNumber' }],
  'one page of each, and links': [{ ...UUIDS, ...LD, pageParameter: 'n', pageSize: 100 }, 'link'],
  'a page size that can be larger': [{ ...UUIDS, pageSizeParameter: 'itemsPerPage' }, 'page'],
  'a cursor in the header': [{ ...UUIDS, cursor: 'header' }, 'link'],
  'a cursor in the body': [{ ...UUIDS, cursor: 'body' }, 'link'],
  'a cursor in hydra': [{ ...TEXTS, ...LD, cursor: 'body' }, 'link'],
  'a cursor, and integers': [{ cursor: 'header' }],
  'a cursor in the body, and integers': [{ cursor: 'body', order: 'id-desc' }],
  'a cursor by the last change': [{ ...UUIDS, cursor: 'header', order: 'updated-desc' }, 'link'],
  'a cursor in no order': [{ cursor: 'body', order: 'none', filters: { id: 'ignore' } }, 'link'],
  'a cursor, and rows that are hidden': [
    { cursor: 'header', order: 'updated-asc', hiddenRecords: 0.1 },
    'link',
  ],
  'a cursor, and small pages': [{ ...UUIDS, cursor: 'header', pageSize: 7 }, 'link'],
  'a cursor, and rows that are hidden from integers': [{ cursor: 'body', hiddenRecords: 0.1 }, 'link'],
  'a cursor where one collection has integers': [
    { ids: { form: 'uuid', boms: { form: 'numeric' } }, textIdBounds: 'ignore', cursor: 'header' },
    { accounts: 'link', products: 'link' },
  ],
  'dotted ids': [{ ids: { form: 'text', prefix: 'mail.host.' }, textIdBounds: 'ignore' }, 'page'],
  'dotted ids with bounds': [{ ids: { form: 'text', prefix: 'mail.host.' } }, 'page'],
  'ids with slashes': [{ ids: { form: 'text', prefix: 'a/b:' }, textIdBounds: 'ignore' }, 'page'],
  'ids of other letters': [{ ids: { form: 'text', prefix: 'Kö-' }, textIdBounds: 'ignore' }, 'page'],
  'digits with zeros before them': [{ ids: { form: 'text', prefix: '' }, textIdBounds: 'ignore' }, 'page'],
  'digits of another script': [{ ids: { form: 'text', prefix: '٣' }, textIdBounds: 'ignore' }, 'page'],
  'JSON numbers': [{ ids: { numbers: true } }],
  'JSON numbers in one collection': [{ ids: { boms: { numbers: true } } }],
  'ids beyond 2^31': [{ ids: { start: 3_000_000_000 } }],
  'ids beyond int4 that are no bound': [{ idColumn: 'int4' }],
  'UUIDs with bounds': [{ ids: { form: 'uuid' } }, 'page'],
  ULIDs: [{ ids: { form: 'ulid' }, textIdBounds: 'ignore' }, 'page'],
  'ids of three forms': [
    { ids: { accounts: { form: 'uuid' }, boms: { form: 'text' } }, textIdBounds: 'ignore' },
    { accounts: 'page', boms: 'page' },
  ],
  'sparse ids': [{ ids: { gap: 7 }, timestampsEverywhere: true }],
  'pages off, and integers': [{ paginated: false }],
  'pages off, and a total': [{ ...UUIDS, ...LD, paginated: false }, 'none'],
  'pages off, and a total in member': [{ ...TEXTS, listBody: 'member', paginated: false }, 'none'],
  'pages off, and a header that says so': [{ ...UUIDS, linkHeader: true, paginated: false }, 'link'],
  'pages off in one collection': [
    { ...UUIDS, paginated: { accounts: false } },
    { accounts: 'none', boms: 'page', products: 'page' },
  ],
  'pages off in one collection, and integers': [{ paginated: { boms: false } }],
  'bounds that are ignored': [{ filters: { id: 'ignore' } }, 'page'],
  'bounds that one collection ignores': [{ filters: { boms: { id: 'ignore' } } }, { boms: 'page' }],
  'bounds that are rejected': [{ filters: { accounts: { id: 'reject' } } }, { accounts: 'page' }],
  'one bound at a time': [{ filters: { id: 'single' } }, 'page'],
  'updatedSince that is ignored': [{ filters: { updatedSince: 'ignore' } }],
  'updatedSince that one collection rejects': [{ filters: { accounts: { updatedSince: 'reject' } } }],
  'hidden rows by the last change': [{ order: 'updated-desc', hiddenRecords: 0.1 }, 'page'],
  'an order for each collection': [{ order: { accounts: 'id-desc', products: 'updated-asc' } }],
  'a 404 after the last page': [{ ...UUIDS, afterLastPage: 'not_found' }, 'page'],
  'amounts as numbers': [{ moneyAsNumbers: true }],
  'errors without a problem document': [{ notFoundBody: 'Not Found' }],
  'API Platform': [{ ...API_PLATFORM, pageParameter: 'page' }, 'page'],
  'API Platform with UUIDs': [{ ...API_PLATFORM, ...UUIDS, pageParameter: 'page', hiddenRecords: 0 }, 'page'],
};

const COUNTS = { accounts: 95, boms: 61, products: 0 };

function serviceOf(options: SandboxOptions): Sandbox {
  const sandbox = createSandbox({ records: COUNTS, ...options });
  fillProducts(sandbox, 75);
  return sandbox;
}

/** The ids that a list with a profile shows, those of invalid rows too. */
async function read(sandbox: Sandbox, { client }: Pick<ProbeReport, 'client'>, name: CollectionName) {
  const ids: unknown[] = [];
  const reader = createClient({ ...sandbox.clientOptions, ...client });
  for await (const page of reader[name].list().pages())
    ids.push(...page.ids, ...page.invalid.map(({ id }) => id));
  return ids.sort();
}

/** Serves the sandbox of a profile as the command does, and returns the environment for other commands. */
async function served(file: string, work: (env: Settings) => Promise<unknown>): Promise<void> {
  const stop = new AbortController();
  const lines: string[] = [];
  const io = { out: (line: string) => lines.push(line), env: {}, colors: false, signal: stop.signal };
  let running: Promise<number> | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const log = (line: string) => void (line.startsWith('Listening') && resolve());
      running = main(['sandbox', '--service', file, '--port', '0', '--seed', '7', '--quiet'], { ...io, log });
      running.then(() => reject(new Error(lines.join('\n'))), reject);
    });
    const settings = lines.flatMap((line) => [...line.matchAll(/^(ACCOUNTING_\w+)=(.*)$/gm)]);
    await work(Object.fromEntries(settings.map(([, name = '', value = '']) => [name, value])));
  } finally {
    stop.abort();
    await running;
  }
}

const probed = (sandbox: Sandbox) => probe(createClient(sandbox.clientOptions), { collections: COLLECTIONS });

function profileFile({ client, sync, sandbox }: ProbeReport): string {
  const file = folder()('service.json');
  writeFileSync(file, JSON.stringify({ client, sync, sandbox }));
  return file;
}

const isUnchanged = (env: Settings, file: string) =>
  ends(run(env, ['probe', ...COLLECTIONS, '--check', file, '--quiet']), 0, /^$/);

test.each(Object.entries(VARIANTS))(
  'the profile of a service with %s reads every record, and its sandbox is that service',
  async (_, [options, pagination]) => {
    const sandbox = serviceOf(options);
    const report = await probed(sandbox);
    expect(report.client.pagination).toEqual(pagination);
    for (const name of COLLECTIONS) {
      const { count } = sandbox.store[name];
      const ids = await read(sandbox, report, name);
      if (!options.hiddenRecords) expect([name, ids]).toEqual([name, sandbox.store[name].ids().sort()]);
      else expect(ids.length).toBeGreaterThan((1 - 2 * Number(options.hiddenRecords)) * count);
      expect(new Set(ids).size).toBe(ids.length);
    }
    // As many as the command generates for a profile.
    const counts = Object.fromEntries(
      COLLECTIONS.map((name) => [name, Math.max(350, 5 * (options.pageSize ?? 30))]),
    );
    const { env } = openSandbox({ ...report.sandbox, records: counts });
    await isUnchanged(env, profileFile(report));
  },
);

/** A service whose collections differ in anything that a profile may name, with few records and many. */
function randomService(seed: number): { options: SandboxOptions; sandbox: Sandbox } {
  const random = new SeededRandom(seed);
  const pick = <const T>(...values: readonly T[]): T => random.pick(values);
  const often = <const T>(value: T, ...others: readonly T[]): T => pick(value, value, value, ...others);
  const each = <T>(value: () => T) =>
    random.chance(0.4) && Object.fromEntries(COLLECTIONS.map((name) => [name, value()]));
  const ids = () => ({
    form: often('numeric', 'uuid', 'ulid', 'text'),
    numbers: often(false, true),
    gap: pick(1, 6),
    prefix: pick('', 'mail.host.', 'K/', 'é'),
  });
  const filters = () => ({
    id: often('apply', 'ignore', 'reject', 'single'),
    updatedSince: often('apply', 'ignore', 'reject'),
  });
  const order = () => often('id-asc', 'id-desc', 'created-asc', 'updated-desc', 'updated-asc', 'none');
  const paginated = () => often(true, false);
  const options: SandboxOptions = {
    seed,
    pageSize: pick(10, 30, 50, 100),
    ids: { ...ids(), ...each(ids) },
    filters: { ...filters(), ...each(filters) },
    textIdBounds: pick('apply', 'ignore'),
    order: each(order) || order(),
    paginated: each(paginated) || paginated(),
    cursor: often(undefined, 'header', 'body'),
    linkHeader: often(false, true),
    pageParameter: pick('_page', 'page', 'pageNumber'),
    pageSizeParameter: often('', 'itemsPerPage'),
    listBody: often('array', 'member', 'hydra:member'),
    formats: often('json', 'jsonld', 'both'),
    afterLastPage: often('empty', 'not_found'),
    timestampsEverywhere: random.chance(0.5),
  };
  const counts = COLLECTIONS.map((name) => [name, pick(0, 1, 2, 12, 29, 30, 31, 60, 95, 100, 130)]);
  return { options, sandbox: createSandbox({ ...options, records: Object.fromEntries(counts) }) };
}

test(
  'the profile of any service loses no record in silence, even later, and its sandbox is that service',
  NO_HURRY,
  () =>
    expectNoFindings(seedsToRun(8), async (seed) => {
      const { options, sandbox } = randomService(seed);
      const report = await probed(sandbox);
      const { pageSize = 30 } = options;
      const findings: string[] = [];
      const look = async (when: string, mayFail: (name: CollectionName) => boolean) => {
        for (const name of COLLECTIONS) {
          const ids = await read(sandbox, report, name).catch((error: Error) => error);
          if (ids instanceof Error) {
            if (!mayFail(name)) findings.push(`${when}, ${name}: ${ids.message}`);
          } else if (ids.join() !== sandbox.store[name].ids().sort().join())
            findings.push(`${when}, ${name}: ${ids.length} of ${sandbox.store[name].count}`);
        }
      };
      const open = /^(.*): no page parameter found/.exec(report.advice[0] ?? '')?.[1]?.split(', ') ?? [];
      await look('now', (name) => open.includes(name));
      const count = Math.max(350, 5 * (report.sandbox.pageSize ?? 30));
      const { env } = openSandbox({
        ...report.sandbox,
        records: Object.fromEntries(COLLECTIONS.map((name) => [name, count])),
      });
      const checked = await run(env, ['probe', ...COLLECTIONS, '--check', profileFile(report), '--quiet']);
      if (checked.code !== 0) findings.push(checked.log);
      for (const name of COLLECTIONS)
        while (sandbox.store[name].count < 2.4 * pageSize) sandbox.store[name].insert({});
      await look('later', () => true);
      return findings;
    }),
);

test.each(['a cursor in the header', 'ids of three forms', 'pages off in one collection'])(
  'sandbox --service with the profile of a service with %s is that service',
  async (name) => {
    const [options] = VARIANTS[name] ?? [{}];
    const file = profileFile(await probed(serviceOf(options)));
    await served(file, (env) => isUnchanged(env, file));
  },
);

const GROWN = 80;

test.each<[string, SandboxOptions, pagination: unknown]>([
  ['page numbers', UUIDS, 'page'],
  ['page numbers of another name, as JSON-LD links say', { ...UUIDS, ...LD, pageParameter: 'seite' }, 'link'],
  ['the parameter page', { ...UUIDS, pageParameter: 'page' }, 'page'],
  ['a cursor in the header', { ...UUIDS, cursor: 'header' }, 'link'],
  ['a cursor in the body', { ...TEXTS, cursor: 'body' }, 'link'],
  ['one response with a total', { ...UUIDS, ...LD, paginated: false }, 'none'],
  ['integers', { pageParameter: 'seite' }, undefined],
])(
  'a profile reads every record of collections that have grown past a page: %s',
  async (_, options, pagination) => {
    const sandbox = createSandbox({ ...options, records: { accounts: 20, boms: 5, products: 12 } });
    const report = await probed(sandbox);
    expect(report.client.pagination).toEqual(pagination);
    for (const name of COLLECTIONS) {
      while (sandbox.store[name].count < GROWN) sandbox.store[name].insert({});
      expect(await read(sandbox, report, name)).toEqual(sandbox.store[name].ids().sort());
    }
  },
);

test.each<[string, SandboxOptions, open: string]>([
  [
    'page numbers of another name',
    { ...UUIDS, pageParameter: 'seite', pageSize: 50 },
    'accounts, products, boms',
  ],
  ['pages that nothing leads to', { ...TEXTS, paginated: 'first' }, 'accounts, products, boms'],
  ['one response without a total', { ...UUIDS, paginated: false }, 'accounts, products, boms'],
  ['one short response in one collection', { ...UUIDS, paginated: { boms: false } }, 'boms'],
])(
  'a probe of a service with %s advises no pagination for what it cannot read, which is an error then',
  async (_, options, open) => {
    const sandbox = createSandbox({ ...options, records: { accounts: 95, boms: 29, products: 60 } });
    const report = await probed(sandbox);
    expect(report.advice[0]).toBe(
      `${open}: no page parameter found: set pageParameter, or a cursor. Lists of them fail until then. If one response is the whole list, set pagination: 'none'.`,
    );
    for (const name of open.split(', ') as CollectionName[]) {
      while (sandbox.store[name].count < GROWN) sandbox.store[name].insert({});
      expect(await caught(read(sandbox, report, name))).toMatchObject({ code: 'filter_ignored' });
    }
    const { env } = openSandbox({ ...report.sandbox, records: { accounts: 350, boms: 350, products: 350 } });
    await isUnchanged(env, profileFile(report));
  },
);
