import { readdirSync, readFileSync } from 'node:fs';
import { metrics } from '@opentelemetry/api';
import { createSandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test, vi } from 'vitest';
import { OWN } from '../../../src/opentelemetry/attributes.ts';
import { createInstruments } from '../../../src/opentelemetry/instruments.ts';
import { resolveOptions } from '../../../src/options.ts';
import { PUSH_OPTIONS } from '../../../src/push/options.ts';
import { RECONCILE_OPTIONS } from '../../../src/reconcile/reconcile.ts';
import { CHANGES_OPTIONS } from '../../../src/sync/changes.ts';
import { SYNC_OPTIONS } from '../../../src/sync/sync.ts';
import { CALL_OPTIONS } from '../../../src/transport/call-options.ts';
import { namesIn, root, tableRows, writeCodeBlocks } from './code-blocks.ts';

const files = readdirSync(`${root}src/guides`).filter((file) => file.endsWith('.md'));
const blocks = files.flatMap((file) =>
  writeCodeBlocks(`src/guides/${file}`).map((block) => ({ ...block, guide: file })),
);

describe('the guides', () => {
  test.for(files)('show code of at most 80 columns: %s', (guide) => {
    const lines = blocks.filter((block) => block.guide === guide).flatMap(({ code }) => code.split('\n'));
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });

  test.for(files)('have no paragraph that is too long to read: %s', (file) => {
    const text = readFileSync(`${root}src/guides/${file}`, 'utf8').replace(/^```.*?^```$/gms, '');
    const paragraphs = text.split(/\n\n|\n(?= *- |\d+\. )/).filter((paragraph) => !paragraph.startsWith('|'));
    expect(paragraphs.filter(({ length }) => length > 600)).toEqual([]);
  });

  // The index is the start page of the site alone.
  test.for(files.filter((file) => file !== 'index.md'))(
    'contain no syntax that only the site understands: %s',
    (file) => {
      expect(readFileSync(`${root}src/guides/${file}`, 'utf8')).not.toMatch(/^(?:<<<|:::|\[\[toc|<script)/m);
    },
  );
});

/** `accounting.rate_limit.limit` and `.remaining` in one cell stand for two names. */
function namesOf(guide: string, header: string): string[] {
  return tableRows(`src/guides/${guide}`, header).flatMap(([cell = '']) => {
    const [first = '', ...others] = namesIn(cell);
    return [first, ...others.map((name) => first.replace(/\.\w+$/, name))];
  });
}

describe('the recipe for ranges of ids', () => {
  const recipe = blocks.find(({ code }) => code.includes('const parts = 6n'));

  test.for([
    { records: 0 },
    { records: 1 },
    { records: 1_023 },
    { records: 1_024 },
    { records: 900, gap: 7 },
  ])('reads each record once: %o', async ({ records, gap = 1 }) => {
    await using sandbox = createSandbox({ records: { accounts: records }, pageSize: 30, ids: { gap } });
    await sandbox.listen();
    vi.stubEnv('ACCOUNTING_BASE_URL', sandbox.baseUrl);
    vi.stubEnv('ACCOUNTING_API_KEY', sandbox.keys.full);
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    await import(/* @vite-ignore */ `${recipe?.file}?records=${records}`);
    expect(log.mock.calls).toEqual([[records, records]]);
  });
});

describe('the tables of the guides', () => {
  test('name every metric, and every attribute of ours on a span', () => {
    const named: string[] = [];
    const meter = metrics.getMeter('names');
    for (const kind of ['createHistogram', 'createCounter', 'createGauge'] as const) {
      const make = meter[kind].bind(meter);
      vi.spyOn(meter, kind).mockImplementation((name: string) => {
        named.push(name);
        return make(name) as never;
      });
    }
    createInstruments(meter);
    expect(namesOf('telemetry.md', 'metric').toSorted()).toEqual(named.toSorted());

    const elsewhere: string[] = [OWN.waitReason, OWN.waitExpected, OWN.collection];
    const onSpans = Object.values(OWN).filter((name) => !elsewhere.includes(name));
    expect(namesOf('telemetry.md', 'attribute').toSorted()).toEqual(onSpans.toSorted());
  });

  test('state the limits that are applied', () => {
    const { settings } = resolveOptions({ baseUrl: 'https://books.example.com', apiKey: 'k' }).defaults;
    const stated = tableRows('src/guides/running-at-scale.md', 'option').flatMap(
      ([option = '', , value = '']) => {
        const name = namesIn(option)[0] ?? '';
        return value.endsWith(' s') ? [[name, Number.parseInt(value, 10) * 1000]] : [];
      },
    );
    const { timeoutMs, maxWaitMs, deadlineMs } = settings;
    expect(Object.fromEntries(stated)).toEqual({ timeoutMs, maxWaitMs, deadlineMs });
  });

  test('list the options of sync, changes and reconcile', () => {
    const rows = tableRows('src/guides/options.md', 'option of a sync');
    const tables = { sync: SYNC_OPTIONS, changes: CHANGES_OPTIONS, reconcile: RECONCILE_OPTIONS };
    for (const [of, table] of Object.entries(tables)) {
      const listed = rows.filter(([, which = '']) => which === 'all three' || which.split(', ').includes(of));
      const own = Object.keys(table).filter((name) => !Object.hasOwn(CALL_OPTIONS, name));
      expect(listed.flatMap(([cell = '']) => namesIn(cell)).toSorted(), of).toEqual(own.toSorted());
    }
  });

  test('list the options of push', () => {
    const listed = tableRows('src/guides/options.md', 'option of push').flatMap(([cell = '']) =>
      namesIn(cell),
    );
    expect(listed.toSorted()).toEqual(Object.keys(PUSH_OPTIONS).toSorted());
  });
});
