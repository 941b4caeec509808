import { createSandbox } from 'accounting-data-sdk/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { call, createProduct, send } from './support/call.ts';

afterEach(() => {
  vi.useRealTimers();
});

const first = { name: 'Desk', salePrice: '129.5000', tags: ['12.50'] };

describe('waits follow fake timers', () => {
  test('delay before the commit responds with 409 to the same key meanwhile', async () => {
    vi.useFakeTimers();
    const sandbox = createSandbox();
    sandbox.faults.next({ kind: 'delay', ms: 5000, before: 'commit' });
    const slow = createProduct(sandbox, first, { idempotencyKey: 'k' });
    await vi.advanceTimersByTimeAsync(4000);
    expect(sandbox.store.products.count).toBe(0);

    for (const body of [first, { name: 'Chair' }]) {
      const repeat = await createProduct(sandbox, body, { idempotencyKey: 'k' });
      repeat.expectProblem(409, 'request_in_progress');
    }
    const other = await createProduct(sandbox, first, { idempotencyKey: 'other' });
    expect(other.status).toBe(201);

    await vi.advanceTimersByTimeAsync(1000);
    const { status, json } = await slow;
    expect(status).toBe(201);
    const again = await createProduct(sandbox, first, { idempotencyKey: 'k' });
    expect([again.status, again.json]).toEqual([201, json]);
    // A repeat that is late gets the first response too.
    sandbox.faults.next({ kind: 'delay', ms: 5000, before: 'commit' });
    const late = createProduct(sandbox, first, { idempotencyKey: 'k' });
    await vi.advanceTimersByTimeAsync(5000);
    expect((await late).json).toEqual(json);
    expect(sandbox.store.products.count).toBe(2);
  });

  test('an abort does not undo the commit', async () => {
    vi.useFakeTimers();
    const sandbox = createSandbox();
    sandbox.faults.next({ kind: 'delay', ms: 5000, before: 'commit' });
    const controller = new AbortController();
    const reason = new Error('enough');
    const aborted = createProduct(sandbox, first, { signal: controller.signal });
    const rejected = expect(aborted).rejects.toBe(reason);
    await vi.advanceTimersByTimeAsync(1000);
    controller.abort(reason);
    await rejected;
    await vi.advanceTimersByTimeAsync(4000);
    expect(sandbox.store.products.count).toBe(1);
  });

  test('a stall ends with the reason of the signal, in headers and in the body', async () => {
    for (const within of ['headers', 'body'] as const) {
      const sandbox = createSandbox();
      sandbox.faults.next({ kind: 'stall', in: within });
      const controller = new AbortController();
      const reason = new Error(within);
      const stalled = call(sandbox, '/accounts', { signal: controller.signal });
      const rejected = expect(stalled).rejects.toBe(reason);
      controller.abort(reason);
      await rejected;
      expect(sandbox.requests).toMatchObject([{ fault: 'stall' }]);
    }
  });

  test('an abort or a cancel ends a slow body, each piece of which is waited for, and leaves no timer', async () => {
    vi.useFakeTimers();
    const sandbox = createSandbox();
    sandbox.faults.add({ kind: 'slow-body', everyMs: 60_000 });
    const controller = new AbortController();
    const response = await send(sandbox, '/accounts', { signal: controller.signal });
    const reason = new Error('enough');
    const rejected = expect(response.text()).rejects.toBe(reason);
    await vi.advanceTimersByTimeAsync(59_999);
    controller.abort(reason);
    await rejected;
    expect(vi.getTimerCount()).toBe(0);
    // So does a reader that needs no more.
    const reader = (await send(sandbox, '/accounts')).body?.getReader();
    const piece = reader?.read();
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await piece)?.value).toHaveLength(1);
    void reader?.read();
    await vi.advanceTimersByTimeAsync(1);
    expect(vi.getTimerCount()).toBe(1);
    await reader?.cancel();
    await vi.advanceTimersByTimeAsync(1);
    expect(vi.getTimerCount()).toBe(0);
    // By default a piece is a byte, and comes every 100 ms.
    sandbox.faults.clear();
    sandbox.faults.next({ kind: 'slow-body' });
    const text = (await send(sandbox, '/accounts')).text();
    await vi.advanceTimersByTimeAsync(200);
    expect(vi.getTimerCount()).toBe(0);
    expect(await text).toBe('[]');
  });
});
