import { createClient, InvalidInputError } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';

// From JavaScript anything can be passed instead of an object.
const none = null as never;
const client = () => createClient(createSandbox({ records: { accounts: 40 } }).clientOptions);

describe('what cannot be right is an InvalidInputError, before anything is sent', () => {
  test.each<[string, () => unknown]>([
    ['no options', () => createClient(none)],
    ['no retry', () => createClient({ ...createSandbox().clientOptions, retry: none })],
    [
      'an appInfo without a name',
      () => createClient({ ...createSandbox().clientOptions, appInfo: {} as never }),
    ],
    ['names that are a string', () => client().withOptions({ retry: { inProgressTypes: 'abc' as never } })],
    ['an empty name', () => client().withOptions({ retry: { inProgressTypes: [''] } })],
    ['no client options', () => client().withOptions(none)],
    ['no list options', () => client().accounts.list({}, none)],
  ])('%s', (_, act) => {
    expect(act).toThrow(InvalidInputError);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['no call options', () => client().accounts.get('1', none)],
    ['no options of a create', () => client().products.create({}, none)],
    ['no headers', () => client().accounts.get('1', { headers: none })],
    ['headers as a Headers object', () => client().accounts.get('1', { headers: new Headers() as never })],
    ['a header of the connection', () => client().accounts.get('1', { headers: { 'Content-Length': '5' } })],
    ['a request of null', () => client().request(none)],
    [
      'an idempotency key where none goes',
      () => client().request({ method: 'PATCH', path: ['products', '1'], body: {}, idempotencyKey: 'k' }),
    ],
  ])('%s', async (_, act) => {
    await expect(act()).rejects.toBeInstanceOf(InvalidInputError);
  });

  test('a collection without options has none', () => {
    expect(client().collection('invoices', none)).toBeDefined();
  });
});

describe('a list that is aborted in the middle of a page', () => {
  test('yields no more records and rejects with the reason', async () => {
    const controller = new AbortController();
    const seen: string[] = [];
    const list = client().accounts.list({}, { signal: controller.signal });
    const reading = (async () => {
      for await (const { id } of list) {
        seen.push(id);
        if (seen.length === 3) controller.abort('enough');
      }
    })();
    await expect(reading).rejects.toBe('enough');
    expect(seen).toHaveLength(3);
  });
});

describe('a call that cannot get its key', () => {
  test('emits an error event', async () => {
    const codes: string[] = [];
    const { baseUrl, fetch } = createSandbox().clientOptions;
    const keyless = createClient({
      baseUrl,
      ...(fetch === undefined ? {} : { fetch }),
      apiKey: () => Promise.reject(new Error('the vault is down')),
      on: { error: ({ error }) => codes.push(error.code) },
    });
    await expect(keyless.accounts.get('1')).rejects.toBeInstanceOf(InvalidInputError);
    expect(codes).toEqual(['invalid_input']);
  });
});

describe('an error response', () => {
  test('carries its Retry-After, whatever its class', async () => {
    const sandbox = createSandbox();
    sandbox.faults.next({ kind: 'status', status: 503, retryAfter: 3600 });
    const call = createClient(sandbox.clientOptions).accounts.get('1');
    await expect(call).rejects.toMatchObject({ code: 'unknown_problem', retryAfterMs: 3_600_000 });
  });

  test('may be tried again if the first request with the key still runs', async () => {
    const sandbox = createSandbox();
    const running = { kind: 'status', status: 409, type: 'request_in_progress' } as const;
    sandbox.faults.add(running, { method: 'POST', times: 5 });
    const retrying = createClient({ ...sandbox.clientOptions, retry: { baseDelayMs: 0 } });
    await expect(retrying.products.create({ name: 'Desk' })).rejects.toMatchObject({
      retryable: true,
      outcome: 'unknown',
      attempts: 5,
    });
  });
});
