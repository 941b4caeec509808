import { createSandbox, type Fault, type Listening, type Sandbox } from 'accounting-data-sdk/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { call, createProduct } from './support/call.ts';
import { bodyOf, headerOf, rawCall, rawRequest } from './support/raw.ts';

let sandbox: Sandbox;
let listening: Listening;

beforeEach(async () => {
  sandbox = createSandbox();
  sandbox.store.accounts.insert({ name: 'Anna & Zoë', creditLimit: '12.5000' });
  listening = await sandbox.listen({ cors: false });
});
afterEach(() => sandbox.close());

/** The bytes of a response under a fault, and the end of the connection. */
function raw(fault: Fault | undefined, headers: string[] = ['Connection: close']) {
  if (fault !== undefined) sandbox.faults.next(fault);
  return rawCall(listening, rawRequest('/accounts', sandbox.keys.full, headers)).response;
}

describe('no response', () => {
  test.each([
    [{ kind: 'lost-response', committed: true }, 'closed', 200],
    [{ kind: 'lost-response', committed: false }, 'closed', undefined],
    [{ kind: 'disconnect', reset: true, committed: false }, 'ECONNRESET', undefined],
    [{ kind: 'disconnect', reset: true }, 'ECONNRESET', 200],
  ] as const)('%j sends no byte, and the connection ends with %s', async (fault, end, status) => {
    expect(await raw(fault)).toEqual({ text: '', end });
    expect(sandbox.requests).toMatchObject([{ fault: fault.kind, status }]);
  });

  test('a stall sends nothing and keeps the connection until the sandbox closes', async () => {
    const logged = new Promise<void>((resolve) => sandbox.onRequest(() => resolve()));
    sandbox.faults.next({ kind: 'stall' });
    const { response, socket } = rawCall(listening, rawRequest('/accounts', sandbox.keys.full));
    await logged;
    // Another connection is served meanwhile, and by then the stalled one would have had its bytes.
    expect((await call(sandbox, '/accounts')).status).toBe(200);
    expect([socket.bytesRead, socket.closed]).toEqual([0, false]);
    await sandbox.close();
    expect((await response).text).toBe('');
  });

  test('connection-refused closes the port until the rule ends', async () => {
    const open = rawCall(listening, '');
    const rule = sandbox.faults.next({ kind: 'connection-refused' });
    expect((await open.response).text).toBe('');
    expect(await raw(undefined)).toEqual({ text: '', end: 'ECONNREFUSED' });
    rule.remove();
    await listening.ready();
    expect((await raw(undefined)).text).toMatch(/^HTTP\/1.1 200 OK/);
    expect(sandbox.requests).toHaveLength(1);

    await using late = createSandbox();
    late.faults.next({ kind: 'connection-refused' });
    expect((await rawCall(await late.listen(), '').response).end).toBe('ECONNREFUSED');
  });

  test('connection-refused with forMs opens the port again by itself', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const rule = sandbox.faults.add({ kind: 'connection-refused' }, { forMs: 5000 });
    vi.advanceTimersByTime(4999);
    expect((await raw(undefined)).end).toBe('ECONNREFUSED');
    vi.advanceTimersByTime(1);
    expect(rule.active).toBe(false);
    vi.useRealTimers();
    await listening.ready();
    expect((await raw(undefined)).text).toMatch(/^HTTP\/1.1 200 OK/);
  });

  test('connection-refused with a condition resets the connection', async () => {
    sandbox.faults.add({ kind: 'connection-refused' }, { skip: 1 });
    expect((await raw(undefined)).text).toMatch(/^HTTP\/1.1 200 OK/);
    expect(await raw(undefined)).toEqual({ text: '', end: 'ECONNRESET' });
  });
});

describe('a part of a response', () => {
  test('disconnect in the headers closes within them', async () => {
    const whole = (await raw(undefined)).text;
    const { text, end } = await raw({ kind: 'disconnect', in: 'headers', atByte: 30 });
    expect([text, end]).toEqual([text.slice(0, 30), 'closed']);
    expect(text.slice(0, 17)).toBe(whole.slice(0, 17));
  });

  test.each([
    [{ kind: 'disconnect', in: 'body', atByte: 0 }, 'closed'],
    [{ kind: 'disconnect', in: 'body', reset: true, atByte: 5 }, 'ECONNRESET'],
  ] as const)('%j sends the headers and so many bytes of the body', async (fault, end) => {
    const whole = bodyOf((await raw(undefined)).text);
    const cut = await raw(fault);
    expect(cut.end).toBe(end);
    expect(bodyOf(cut.text)).toBe(whole.slice(0, fault.atByte));
    expect(Number(headerOf(cut.text, 'Content-Length'))).toBe(whole.length);
  });

  test('a stall in the body sends the first bytes and keeps the connection', async () => {
    sandbox.faults.next({ kind: 'stall', in: 'body', atByte: 3 });
    const { response, socket } = rawCall(listening, rawRequest('/accounts', sandbox.keys.full));
    const first = await new Promise<string>((resolve) => {
      let text = '';
      socket.on('data', (bytes) => {
        text += bytes.toString('latin1');
        if (text.includes('\r\n\r\n[{"')) resolve(text);
      });
    });
    expect((await call(sandbox, '/accounts')).status).toBe(200);
    expect([bodyOf(first), socket.closed]).toEqual(['[{"', false]);
    await sandbox.close();
    await response;
  });

  test('slow-body sends the same bytes', async () => {
    const whole = bodyOf((await raw(undefined)).text);
    expect(bodyOf((await raw({ kind: 'slow-body', bytes: 20, everyMs: 1 })).text)).toBe(whole);
  });
});

describe('Node’s fetch', () => {
  test.each([
    [{ kind: 'lost-response', committed: true }, 'UND_ERR_SOCKET'],
    [{ kind: 'disconnect', reset: true, committed: false }, 'ECONNRESET'],
    [{ kind: 'disconnect', in: 'body', atByte: 99_999 }, 'UND_ERR_SOCKET'],
    [{ kind: 'disconnect', in: 'body', reset: true }, 'ECONNRESET'],
  ] as const)(
    '%j fails with %s on a port and through sandbox.fetch, for a large and compressed response and a small one',
    async (fault, code) => {
      const alone = createSandbox();
      for (const target of [sandbox, alone]) {
        target.store.boms.insert({ name: 'Shelf' });
        for (let i = 0; i < 30; i += 1)
          target.store.budgets.insert({ name: 'The same words compress well '.repeat(30) });
        for (const path of ['/budgets', '/boms']) {
          target.faults.next(fault);
          const error = await call(target, path).catch((reason: unknown) => reason);
          expect(error).toBeInstanceOf(TypeError);
          expect((error as TypeError).cause).toMatchObject({ code });
          // The fault was for one request: the next is served.
          expect((await call(target, path)).status).toBe(200);
        }
      }
    },
  );
});

describe('closing', () => {
  test('ends idle connections and those in the middle of a response, can happen twice, and the sandbox can listen again', async () => {
    const idle = rawCall(listening, rawRequest('/accounts', sandbox.keys.full));
    await new Promise((resolve) => idle.socket.once('data', resolve));
    sandbox.faults.next({ kind: 'slow-body', everyMs: 60_000 });
    const dripping = rawCall(listening, rawRequest('/accounts', sandbox.keys.full));
    await new Promise((resolve) => dripping.socket.once('data', resolve));

    await Promise.all([sandbox.close(), sandbox.close()]);
    expect((await idle.response).text).toMatch(/^HTTP\/1.1 200 OK/);
    expect(bodyOf((await dripping.response).text)).toBe('');
    expect((await rawCall(listening, '').response).end).toBe('ECONNREFUSED');
    await sandbox.listen();
    expect((await call(sandbox, '/accounts')).status).toBe(200);
    await expect(sandbox.listen()).rejects.toThrow('is already listening');
  });

  test('ends waits, carries nothing out afterwards and leaves no timer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const before = vi.getTimerCount();
    sandbox.faults.add({ kind: 'delay', ms: 60_000, before: 'commit' }, { method: 'POST', times: 1 });
    const came = new Promise<void>((resolve) => {
      const listed = () => (sandbox.requests.length > 0 ? resolve() : setImmediate(listed));
      listed();
    });
    const create = () => createProduct(sandbox, { name: 'Desk' }, { idempotencyKey: 'k' });
    const late = create().catch((error: unknown) => error);
    await came;
    expect(vi.getTimerCount()).toBeGreaterThan(before);
    await sandbox.close();
    expect(await late).toBeInstanceOf(TypeError);
    expect([vi.getTimerCount(), sandbox.store.products.count]).toEqual([before, 0]);
    vi.useRealTimers();
    // The key of a create that was not applied is unused.
    expect((await create()).status).toBe(201);
  });
});
