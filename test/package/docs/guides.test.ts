import { readdirSync, readFileSync } from 'node:fs';
import { metrics } from '@opentelemetry/api';
import { createSandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test, vi } from 'vitest';
import { OWN } from '../../../src/opentelemetry/attributes.ts';
import { createInstruments } from '../../../src/opentelemetry/instruments.ts';
import { namesIn, root, tableRows, writeCodeBlocks } from './code-blocks.ts';

const files = readdirSync(`${root}src/guides`).filter((file) => file.endsWith('.md'));
const blocks = files.flatMap((file) =>
  writeCodeBlocks(`src/guides/${file}`).map((block) => ({ ...block, guide: file })),
);

describe('the guides', () => {
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
});
