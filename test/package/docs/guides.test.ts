import { metrics } from '@opentelemetry/api';
import { expect, test, vi } from 'vitest';
import { OWN } from '../../../src/opentelemetry/attributes.ts';
import { createInstruments } from '../../../src/opentelemetry/instruments.ts';
import { namesIn, tableRows } from './code-blocks.ts';

/** `accounting.rate_limit.limit` and `.remaining` in one cell stand for two names. */
function namesOf(guide: string, header: string): string[] {
  return tableRows(`src/guides/${guide}`, header).flatMap(([cell = '']) => {
    const [first = '', ...others] = namesIn(cell);
    return [first, ...others.map((name) => first.replace(/\.\w+$/, name))];
  });
}

test('the tables of the guides name every metric, and every attribute of ours on a span', () => {
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
