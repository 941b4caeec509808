import { describe, expect, test } from 'vitest';
import { createOptions } from '../../../src/collections/create-options.ts';
import type { OptionTable } from '../../../src/internal/options.ts';
import { clientOptions } from '../../../src/options.ts';
import { listOptions } from '../../../src/pagination/list-options.ts';
import { pushOptions } from '../../../src/push/options.ts';
import { reconcileOptions } from '../../../src/reconcile/reconcile.ts';
import { changesOptions } from '../../../src/sync/changes.ts';
import { syncOptions } from '../../../src/sync/sync.ts';
import { callOptions } from '../../../src/transport/call-options.ts';
import { namesIn, tableRows } from './code-blocks.ts';

const GUIDE = 'src/guides/options.md';

/** A default as the guide states it; undefined for one that only words can state. */
function statedDefault({ default: value, required }: OptionTable[string]): string | undefined {
  if (required === true) return 'required';
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined;
}

/** The default in a cell: the first name in code, or a number with or without its unit. */
function defaultIn(cell: string): string {
  if (cell.includes('required')) return 'required';
  const [quoted] = namesIn(cell);
  if (quoted !== undefined) return quoted.replaceAll("'", '');
  const number = Number(cell.replaceAll(',', '').replace(/ .*/, ''));
  return String(cell.endsWith(' MiB') ? number * 2 ** 20 : number);
}

/** The rows of a guide's table that state another default than the tables in code. */
function wrongDefaults(
  rows: readonly (readonly [names: string, cell: string])[],
  table: OptionTable,
): string[] {
  return rows.flatMap(([names, cell]) =>
    namesIn(names).flatMap((name) => {
      const stated = statedDefault(table[name] as OptionTable[string]);
      if (stated === undefined || stated === defaultIn(cell) || cell.startsWith('as in a sync')) return [];
      return [`${name}: ${cell}, not ${stated}`];
    }),
  );
}

describe('the tables of the guide to options', () => {
  test('list every option of the client, and mark those of each call', () => {
    const rows = tableRows(GUIDE, 'option').map(([cell = '']) => ({
      name: namesIn(cell)[0] ?? '',
      isOfCalls: cell.endsWith('◦'),
    }));
    // The row of the option names the members of `on` and `appInfo`.
    const { retry, ...others } = clientOptions;
    const names = [...Object.keys(others), ...Object.keys(retry.options).map((name) => `retry.${name}`)];
    expect(rows.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
    const ofCalls = rows.filter(({ isOfCalls }) => isOfCalls).map(({ name }) => name.split('.')[0]);
    const shared = Object.keys(clientOptions).filter((name) => Object.hasOwn(listOptions, name));
    expect([...new Set(ofCalls)].toSorted()).toEqual(shared.toSorted());
  });

  test('list every option that calls alone have', () => {
    const listed = tableRows(GUIDE, 'option of').flatMap(([, names = '']) => namesIn(names));
    const ofCalls = Object.keys({ ...listOptions, ...createOptions });
    const alone = ofCalls.filter((name) => !Object.hasOwn(clientOptions, name));
    expect(listed.toSorted()).toEqual(alone.toSorted());
  });

  test('state the defaults of the client that are applied', () => {
    const { retry, ...others } = clientOptions;
    const ofRetry = Object.entries(retry.options).map(([name, entry]) => [`retry.${name}`, entry] as const);
    const rows = tableRows(GUIDE, 'option').map(([names = '', cell = '']) => [names, cell] as const);
    expect(wrongDefaults(rows, { ...others, ...Object.fromEntries(ofRetry) })).toEqual([]);
    const types = rows.find(([names]) => names.includes('retry.inProgressTypes'))?.[1] ?? '';
    expect(namesIn(types)).toEqual(retry.options.inProgressTypes.default);
  });

  test('state the same limits in the guide to scale', () => {
    const stated = tableRows('src/guides/running-at-scale.md', 'option').flatMap(
      ([option = '', , value = '']) => {
        const name = namesIn(option)[0] ?? '';
        return value.endsWith(' s') ? [[name, Number.parseInt(value, 10) * 1000]] : [];
      },
    );
    const { timeoutMs, maxWaitMs, deadlineMs } = callOptions;
    const limits = { timeoutMs, maxWaitMs, deadlineMs };
    expect(Object.entries(limits).map(([name, entry]) => [name, entry.default])).toEqual(
      expect.arrayContaining(stated),
    );
  });

  test('list the options of sync, changes and reconcile', () => {
    const rows = tableRows(GUIDE, 'option of a sync');
    const tables = { sync: syncOptions, changes: changesOptions, reconcile: reconcileOptions };
    for (const [of, table] of Object.entries(tables)) {
      const listed = rows.filter(([, which = '']) => which === 'all three' || which.split(', ').includes(of));
      const own = Object.keys(table).filter((name) => !Object.hasOwn(callOptions, name));
      expect(listed.flatMap(([cell = '']) => namesIn(cell)).toSorted(), of).toEqual(own.toSorted());
      // A sync with a target has no store.
      const cells = listed.map(([names = '', , cell = '']) => [names, cell] as const);
      expect(wrongDefaults(cells, table)).toEqual([]);
    }
  });

  test('list the options of push', () => {
    const listed = tableRows(GUIDE, 'option of push').flatMap(([cell = '']) => namesIn(cell));
    expect(listed.toSorted()).toEqual(Object.keys(pushOptions).toSorted());
    const rows = tableRows(GUIDE, 'option of push').map(([names = '', cell = '']) => [names, cell] as const);
    const others = rows.filter(([, cell]) => !cell.startsWith('those of the client'));
    expect(wrongDefaults(others, pushOptions)).toEqual([]);
  });
});
