import { afterEach, describe, expect, test, vi } from 'vitest';
import { caught } from '../../support/caught.ts';
import { jsonResponse, scriptedClient, scriptedFetch } from '../../support/scripted-fetch.ts';
import { advance, stateOf, useVirtualClock } from '../../support/virtual-clock.ts';

const MODULE = '../../../src/transport/transport.ts';

/** What `import()` of the transport comes to from here on. */
function loadingIs(load: () => unknown): void {
  vi.resetModules();
  vi.doMock(MODULE, load as () => object);
}

/** Tells of every transport that is made, once `loaded`. */
async function countTransports(made: () => void, loaded?: Promise<void>): Promise<void> {
  const { HttpTransport } =
    await vi.importActual<typeof import('../../../src/transport/transport.ts')>(MODULE);
  loadingIs(async () => {
    await loaded;
    return {
      HttpTransport: class extends HttpTransport {
        constructor(...args: ConstructorParameters<typeof HttpTransport>) {
          super(...args);
          made();
        }
      },
    };
  });
}

afterEach(() => {
  vi.doUnmock(MODULE);
  vi.resetModules();
});

describe('a transport that cannot be loaded', () => {
  useVirtualClock();

  test('is a ConnectionError that says that nothing was sent; the next call tries again', async () => {
    loadingIs(() => {
      throw new TypeError('Failed to fetch dynamically imported module: https://shop.example/transport.js');
    });
    const fetch = scriptedFetch(jsonResponse({ id: '7' }, 201));
    const client = scriptedClient(fetch);

    const create = () => client.products.create({ name: 'Chair' }, { idempotencyKey: 'order-7' });
    expect(await caught(create())).toMatchObject({
      code: 'connection_failed',
      message: expect.stringContaining('could not be loaded'),
      reason: expect.any(String),
      method: 'POST',
      path: '/products',
      attempts: 0,
      idempotencyKey: 'order-7',
      outcome: 'not_sent',
      retryable: true,
    });
    expect(fetch.requests).toHaveLength(0);

    vi.doUnmock(MODULE);
    expect(await create()).toMatchObject({ id: '7' });
    expect(fetch.requests).toHaveLength(1);
  });

  test('is waited for as long as an attempt may take', async () => {
    loadingIs(() => new Promise(() => undefined));
    const client = scriptedClient(scriptedFetch(jsonResponse({ id: '7' })));

    const failed = caught(client.products.get('7', { timeoutMs: 2_000 }));
    await advance(1_999);
    expect(await stateOf(failed)).toBe('pending');
    await advance(1);
    expect(await failed).toMatchObject({
      code: 'timeout',
      limit: 'attempt',
      attempts: 0,
      outcome: 'not_sent',
    });
  });

  test('is waited for until the deadline, where that is sooner', async () => {
    loadingIs(() => new Promise(() => undefined));
    const client = scriptedClient(scriptedFetch(jsonResponse({ id: '7' })));

    const failed = caught(client.products.get('7', { deadlineMs: 500 }));
    await advance(500);
    expect(await failed).toMatchObject({ code: 'timeout', limit: 'deadline', outcome: 'not_sent' });
  });

  test('is still one transport for the calls after one that could not wait', async () => {
    const made = vi.fn();
    let load = () => {};
    await countTransports(made, new Promise((resolve) => (load = resolve)));
    const client = scriptedClient(scriptedFetch(jsonResponse({ id: '7' })));

    const failed = caught(client.products.get('7', { timeoutMs: 100 }));
    const patient = client.products.get('7');
    await advance(100);
    expect(await failed).toMatchObject({ code: 'timeout' });
    const late = client.products.get('7');
    load();
    const both = Promise.all([patient, late]);
    // What waits in the rate gate goes on by the clock.
    await advance(1_000);
    expect(await both).toHaveLength(2);
    expect(made).toHaveBeenCalledTimes(1);
  });

  test('takes its time from the deadline of the call', async () => {
    let load = () => {};
    await countTransports(vi.fn(), new Promise((resolve) => (load = resolve)));
    const client = scriptedClient(scriptedFetch(() => new Promise(() => undefined)));

    const failed = caught(client.products.get('7', { deadlineMs: 1_000 }));
    await advance(900);
    load();
    await advance(99);
    expect(await stateOf(failed)).toBe('pending');
    await advance(1);
    expect(await failed).toMatchObject({ code: 'timeout', limit: 'deadline', attempts: 1 });
  });

  test('is not waited for by who stops meanwhile', async () => {
    loadingIs(() => new Promise(() => undefined));
    const client = scriptedClient(scriptedFetch(jsonResponse({ id: '7' })));
    const controller = new AbortController();
    const failed = caught(client.products.get('7', { signal: controller.signal }));
    await advance(10);
    controller.abort('enough');
    expect(await failed).toBe('enough');
  });

  test("rejects with the signal's own reason for who has stopped meanwhile", async () => {
    loadingIs(() => {
      throw new TypeError('Failed to fetch');
    });
    const client = scriptedClient(scriptedFetch(jsonResponse({ id: '7' })));
    const signal = AbortSignal.abort('enough');
    expect(await caught(client.products.get('7', { signal }))).toBe('enough');
  });

  test('shows no id: it could be the key by mistake', async () => {
    loadingIs(() => {
      throw new TypeError('Failed to fetch');
    });
    const client = scriptedClient(scriptedFetch(jsonResponse({ id: '7' })), { apiKey: 'canary-key-1' });
    const error = await caught(client.products.get('canary-key-1'));
    expect(error).toMatchObject({ code: 'connection_failed', path: '/products/{id}' });
    expect(JSON.stringify(error)).not.toContain('canary');
  });
});

describe('a transport that loads', () => {
  test('does so once for calls that come together, so that they share its retry budget and rate limit', async () => {
    const made = vi.fn();
    await countTransports(made);
    const limits = { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '9' };
    const client = scriptedClient(scriptedFetch(jsonResponse({ id: '7' }, 200, limits)));
    expect(client.rateLimit).toBeUndefined();

    await Promise.all([client.products.get('7'), client.accounts.get('7'), client.products.find('7')]);
    await client.products.get('7');
    expect(made).toHaveBeenCalledTimes(1);
    expect(client.rateLimit).toMatchObject({ limit: 10, remaining: 9 });
  });
});
