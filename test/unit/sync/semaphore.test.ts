import { describe, expect, test } from 'vitest';
import { Semaphore } from '../../../src/sync/semaphore.ts';
import { settleAll } from '../../../src/sync/settle-all.ts';
import { deferred } from '../../support/deferred.ts';
import { settle } from '../../support/scripted-server.ts';
import { stateOf } from '../../support/virtual-clock.ts';

/** Pieces of work that note when they begin and end when they are told to. */
function worksOn(semaphore: Semaphore) {
  const begun: string[] = [];
  const ends = new Map<string, ReturnType<typeof deferred<string>>>();
  const add = (name: string) => {
    const end = deferred<string>();
    ends.set(name, end);
    const taken = semaphore.run(() => {
      begun.push(name);
      return end.promise;
    });
    taken.catch(() => undefined);
    return taken;
  };
  return { begun, add, end: (name: string) => ends.get(name) };
}

describe('semaphore', () => {
  test('let so many pieces of work run at a time, in the order in which they came', async () => {
    const { begun, add, end } = worksOn(new Semaphore(2));
    const first = add('a');
    for (const name of ['b', 'c', 'd']) add(name);
    await settle();
    expect(begun).toEqual(['a', 'b']);
    end('b')?.resolve('done');
    await settle();
    expect(begun).toEqual(['a', 'b', 'c']);
    end('a')?.resolve('result');
    expect(await first).toBe('result');
    await settle();
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
  });

  test('go on after a failure, which is its own', async () => {
    const { begun, add, end } = worksOn(new Semaphore(1));
    const failing = add('a');
    add('b');
    end('a')?.reject(new Error('no'));
    await expect(failing).rejects.toThrow('no');
    await settle();
    expect(begun).toEqual(['a', 'b']);
  });

  test('are given back where nobody waits', async () => {
    const { begun, add, end } = worksOn(new Semaphore(1));
    for (const name of ['a', 'b']) {
      const taken = add(name);
      end(name)?.resolve('done');
      await taken;
    }
    add('c');
    add('d');
    await settle();
    expect(begun).toEqual(['a', 'b', 'c']);
  });

  test('are handed on to those who wait before anybody who has just come', async () => {
    const { begun, add, end } = worksOn(new Semaphore(1));
    const first = add('a');
    add('b');
    const late = first.then(() => add('late'));
    end('a')?.resolve('done');
    await settle();
    expect(begun).toEqual(['a', 'b']);
    end('b')?.resolve('done');
    await settle();
    expect(begun).toEqual(['a', 'b', 'late']);
    expect(await stateOf(late)).toBe('pending');
  });
});

describe('a consumer has finished', () => {
  test.each([[undefined], [7], [{ length: 1 }], [[]], [[1, undefined]]])(
    'at once where it returns %j',
    async (value) => {
      await expect(settleAll(value)).resolves.toBeUndefined();
    },
  );

  test('when all of its promises have ended, with the first failure', async () => {
    const [slow, failed] = [deferred<void>(), deferred<void>()];
    const end = settleAll(
      Promise.resolve([slow.promise, failed.promise, Promise.reject(new Error('third'))]),
    );
    end.catch(() => undefined);
    failed.reject(new Error('second'));
    expect(await stateOf(end)).toBe('pending');
    slow.resolve();
    await expect(end).rejects.toThrow('second');
  });

  test('with the failure of what it returned', async () => {
    await expect(settleAll(Promise.reject(new Error('no')))).rejects.toThrow('no');
  });
});
