import { describe, expect, test } from 'vitest';
import { createOptions } from '../../../src/collections/create-options.ts';
import { clientOptions, resolveOptions } from '../../../src/options.ts';
import { listOptions } from '../../../src/pagination/list-options.ts';
import { pushOptions } from '../../../src/push/options.ts';
import { reconcileOptions } from '../../../src/reconcile/reconcile.ts';
import { changesOptions } from '../../../src/sync/changes.ts';
import { syncOptions } from '../../../src/sync/sync.ts';
import { callOptions } from '../../../src/transport/call-options.ts';
import { namesIn, tableRows } from './code-blocks.ts';

const GUIDE = 'src/guides/options.md';
const { defaults, transport } = resolveOptions({ baseUrl: 'https://books.example.com', apiKey: 'k' });
const { settings, lists, validation } = defaults;

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

  test('state the defaults that are applied', () => {
    const { retry, timeoutMs, deadlineMs, maxWaitMs } = settings;
    const ofRetry = Object.entries(retry).map(([name, value]) => [`retry.${name}`, value]);
    const { rateLimiter, bareNotFound, contentTypes } = transport;
    const applied: Record<string, unknown> = {
      timeoutMs,
      deadlineMs,
      maxWaitMs,
      ...Object.fromEntries(ofRetry),
      ...lists,
      // The default of each list, unless its query or its options need another one.
      pagination: lists.pagination ?? 'keyset',
      // With a target it is 'report'.
      validation: validation ?? 'throw',
      rateLimiter,
      bareNotFound,
      contentTypes: contentTypes.create,
    };
    const stated = tableRows(GUIDE, 'option').flatMap(([option = '', value = '']) => {
      const name = namesIn(option)[0] ?? '';
      if (!(name in applied)) return [];
      const quoted = namesIn(value).join();
      const text = quoted === '' ? value.replaceAll(',', '').replace(/ .*/, '') : quoted.replaceAll("'", '');
      return [[name, text]];
    });
    expect(Object.fromEntries(stated)).toEqual(
      Object.fromEntries(Object.entries(applied).map(([name, value]) => [name, String(value)])),
    );
    expect(transport.maxBodyBytes).toBe(16 * 1024 * 1024);
  });

  test('state the same limits in the guide to scale', () => {
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
    const rows = tableRows(GUIDE, 'option of a sync');
    const tables = { sync: syncOptions, changes: changesOptions, reconcile: reconcileOptions };
    for (const [of, table] of Object.entries(tables)) {
      const listed = rows.filter(([, which = '']) => which === 'all three' || which.split(', ').includes(of));
      const own = Object.keys(table).filter((name) => !Object.hasOwn(callOptions, name));
      expect(listed.flatMap(([cell = '']) => namesIn(cell)).toSorted(), of).toEqual(own.toSorted());
    }
  });

  test('list the options of push', () => {
    const listed = tableRows(GUIDE, 'option of push').flatMap(([cell = '']) => namesIn(cell));
    expect(listed.toSorted()).toEqual(Object.keys(pushOptions).toSorted());
  });
});
