import { describe, expect, test } from 'vitest';
import { Confirmation } from '../../../src/sync/confirmation.ts';
import {
  type ReconcileOptions,
  type ReconcileSource,
  resolveReconcileOptions,
} from '../../../src/sync/reconcile-options.ts';
import { ReconcileStats } from '../../../src/sync/reconcile-stats.ts';
import type { RequestOptions } from '../../../src/transport/call-options.ts';
import { caught } from '../../support/caught.ts';
import { deferred } from '../../support/deferred.ts';
import { settle } from '../../support/scripted-server.ts';
import { stateOf } from '../../support/virtual-clock.ts';

type Row = { id: string };
type Find = (id: string, options: RequestOptions) => Promise<Row | undefined>;

/** A confirmation over a `find`, and what came of it. */
function confirming(find: Find, more: Partial<ReconcileOptions<Row>> = {}) {
  const asked: string[] = [];
  const repaired: string[][] = [];
  const stats = new ReconcileStats('accounts', undefined);
  const source: ReconcileSource<Row> = {
    list: () => expect.unreachable(),
    find: (id, options) => {
      asked.push(id);
      return find(id, options);
    },
  };
  const resolved = resolveReconcileOptions<Row>({
    localIds: () => [],
    onDelete: () => undefined,
    onRepair: (records) => repaired.push(records.map(({ id }) => id)),
    ...more,
  });
  return { asked, repaired, stats, confirmation: new Confirmation(source, { ...resolved, stats }) };
}

const ids = (count: number) => Array.from({ length: count }, (_, n) => String(n + 1))[Symbol.iterator]();
const isEven = (id: string) => Number(id) % 2 === 0;

describe('a confirmation', () => {
  test('tells what is gone, and has what is there repaired in batches', async () => {
    const find: Find = async (id) => (isEven(id) ? { id } : undefined);
    const { confirmation, repaired, stats } = confirming(find, { batchSize: 2, concurrency: 1 });
    expect(await confirmation.goneOf(ids(10))).toEqual(['1', '3', '5', '7', '9']);
    expect(repaired).toEqual([['2', '4'], ['6', '8'], ['10']]);
    expect(stats.repaired).toBe(5);
  });

  test('repairs nothing where all are gone', async () => {
    const { confirmation, repaired, stats } = confirming(async () => undefined);
    expect(await confirmation.goneOf(ids(3))).toEqual(['1', '2', '3']);
    expect(repaired).toEqual([]);
    expect(stats.repaired).toBe(0);
  });

  test('says of one id whether it is gone', async () => {
    const { confirmation } = confirming(async (id) => (isEven(id) ? { id } : undefined));
    expect([await confirmation.isGone('1'), await confirmation.isGone('2')]).toEqual([true, false]);
  });

  test.each([1, 3])('asks for %i at a time', async (concurrency) => {
    const answers: ReturnType<typeof deferred<undefined>>[] = [];
    const find: Find = () => {
      const answer = deferred<undefined>();
      answers.push(answer);
      return answer.promise;
    };
    const { confirmation, asked } = confirming(find, { concurrency });
    const gone = confirmation.goneOf(ids(5));
    await settle();
    expect(asked).toHaveLength(concurrency);
    answers[0]?.resolve(undefined);
    await settle();
    expect(asked).toHaveLength(concurrency + 1);
    for (let n = 0; n < 5; n++) {
      answers[n]?.resolve(undefined);
      await settle();
    }
    expect(await gone).toHaveLength(5);
  });

  test('asks for no other after a failure, and ends when nothing is on its way any more', async () => {
    const slow = deferred<undefined>();
    const failure = new Error('the service fails');
    const find: Find = async (id) => {
      if (id === '1') return await slow.promise;
      throw failure;
    };
    const { confirmation, asked } = confirming(find, { concurrency: 2 });
    const end = confirmation.goneOf(ids(9));
    end.catch(() => undefined);
    expect(await stateOf(end)).toBe('pending');
    slow.resolve(undefined);
    expect(await caught(end)).toBe(failure);
    expect(asked).toEqual(['1', '2']);
  });

  test('asks as it is told to, and says when it waits', async () => {
    const { signal } = new AbortController();
    const told = { timeoutMs: 1, deadlineMs: 2, maxWaitMs: 3, retry: { maxAttempts: 4 }, signal };
    const seen: RequestOptions[] = [];
    const find: Find = async (_, options) => {
      seen.push(options);
      return undefined;
    };
    const { confirmation, stats } = confirming(find, { ...told, headers: { 'x-trace': '1' } });
    await confirmation.isGone('1');
    expect(seen).toEqual([
      { ...told, headers: { 'cache-control': 'no-cache', 'x-trace': '1' }, onWait: stats.waits },
    ]);
  });

  test('asks for nothing once the signal has fired', async () => {
    const signal = AbortSignal.abort('enough');
    const { confirmation, asked } = confirming(async () => undefined, { signal });
    expect(await caught(confirmation.isGone('1'))).toBe('enough');
    expect(await caught(confirmation.goneOf(ids(3)))).toBe('enough');
    expect(asked).toEqual([]);
  });

  test('tells how far it is', async () => {
    const told: unknown[] = [];
    const { confirmation, stats } = confirming(async () => undefined);
    const progress = new ReconcileStats('accounts', ({ phase, done }) => told.push([phase, done]));
    stats.reached = (phase, count) => progress.reached(phase, count);
    await confirmation.goneOf(ids(3));
    progress.tell();
    expect(told).toEqual([['confirm', 3]]);
  });
});
