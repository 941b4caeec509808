import { createSandbox, type Fault, type Listening, type Sandbox } from 'accounting-data-sdk/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
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

/** A request, byte for byte. */
const request = (...headers: string[]) => rawRequest('/accounts', sandbox.keys.full, headers);

/** The bytes of a response under a fault, and the end of the connection. */
async function raw(fault?: Fault) {
  if (fault !== undefined) sandbox.faults.next(fault);
  return await rawCall(listening, request('Connection: close')).response;
}

const isServed = async () => expect((await raw()).text).toMatch(/^HTTP\/1.1 200 OK/);

test.each([
  [{ kind: 'lost-response', committed: true }, 'closed', 200],
  [{ kind: 'lost-response', committed: false }, 'closed', undefined],
  [{ kind: 'disconnect', reset: true, committed: false }, 'ECONNRESET', undefined],
  [{ kind: 'disconnect', reset: true }, 'ECONNRESET', 200],
] as const)('%j sends no byte, and the connection ends with %s', async (fault, end, status) => {
  expect(await raw(fault)).toEqual({ text: '', end });
  expect(sandbox.requests).toMatchObject([{ fault: fault.kind, status }]);
});

test.each([
  [{ kind: 'disconnect', in: 'body', reset: true, atByte: 5 }, 5, 'ECONNRESET'],
  [{ kind: 'slow-body', bytes: 20, everyMs: 1 }, 999, 'closed'],
] as const)('%j sends the headers and the first %i bytes of the body', async (fault, bytes, end) => {
  const whole = bodyOf((await raw()).text);
  const cut = await raw(fault);
  expect([bodyOf(cut.text), cut.end]).toEqual([whole.slice(0, bytes), end]);
  expect(Number(headerOf(cut.text, 'Content-Length'))).toBe(whole.length);
  const { text } = await raw({ kind: 'disconnect', in: 'headers', atByte: 17 });
  expect(text).toBe('HTTP/1.1 200 OK\r\n');
  const { text: timeless } = await raw({ kind: 'rewrite', headers: { date: null } });
  expect([headerOf(timeless, 'Date'), bodyOf(timeless)]).toEqual([undefined, whole]);
});

test.each([
  [{ kind: 'stall' }, ''],
  [{ kind: 'stall', committed: false }, ''],
  [{ kind: 'stall', in: 'body', atByte: 3 }, '[{"'],
] as const)('%j sends %j and keeps the connection until the sandbox closes', async (fault, sent) => {
  sandbox.faults.next(fault);
  const logged = new Promise<void>((resolve) => sandbox.onRequest(() => resolve()));
  const { response, socket } = rawCall(listening, request());
  await (sent === '' ? logged : new Promise((resolve) => socket.once('data', resolve)));
  // Another connection is served meanwhile, and by then the stalled one would have had its bytes.
  expect((await call(sandbox, '/accounts')).status).toBe(200);
  expect(socket.closed).toBe(false);
  await sandbox.close();
  const { text } = await response;
  expect([text === '', text.endsWith(sent)]).toEqual([sent === '', true]);
  expect(sandbox.requests[0]?.status).toBe('committed' in fault ? undefined : 200);
});

test('connection-refused closes the port until the rule ends, and resets a connection if it has a condition', async () => {
  const open = rawCall(listening, '');
  const rule = sandbox.faults.next({ kind: 'connection-refused' });
  expect((await open.response).text).toBe('');
  expect(await raw()).toEqual({ text: '', end: 'ECONNREFUSED' });
  rule.remove();
  await listening.ready();
  sandbox.faults.add({ kind: 'connection-refused' }, { skip: 1 });
  await isServed();
  expect(await raw()).toEqual({ text: '', end: 'ECONNRESET' });
  expect(sandbox.requests).toHaveLength(2);

  await using late = createSandbox();
  late.faults.next({ kind: 'connection-refused' });
  const port = await late.listen();
  expect((await rawCall(port, '').response).end).toBe('ECONNREFUSED');
  // A port that was closed stays closed.
  await late.close();
  late.faults.clear();
  await port.ready();
  expect((await rawCall(port, '').response).end).toBe('ECONNREFUSED');
});

test('an error in the condition of a test is a response that says so', async () => {
  const when = () => {
    throw new Error('no such variable');
  };
  sandbox.faults.add({ kind: 'stall' }, { when });
  const response = await call(sandbox, '/accounts');
  expect(response.expectProblem(500, 'sandbox_failed').record.detail).toContain('no such variable');
});

test('a sandbox that is closed while its port opens again stays closed', async () => {
  const rule = sandbox.faults.add({ kind: 'connection-refused' });
  expect((await raw()).end).toBe('ECONNREFUSED');
  rule.remove();
  await sandbox.close();
  // It would open some turns later.
  for (let tries = 0; tries < 10; tries += 1) expect((await raw()).end).toBe('ECONNREFUSED');
});

test('connection-refused with forMs opens the port again by itself', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  sandbox.faults.add({ kind: 'connection-refused' }, { forMs: 5000 });
  vi.advanceTimersByTime(4999);
  expect((await raw()).end).toBe('ECONNREFUSED');
  vi.advanceTimersByTime(1);
  vi.useRealTimers();
  await listening.ready();
  await isServed();
});

test.each([
  [{ kind: 'lost-response', committed: true }, 'UND_ERR_SOCKET'],
  [{ kind: 'disconnect', reset: true, committed: false }, 'ECONNRESET'],
  [{ kind: 'disconnect', in: 'headers', atByte: 17 }, 'UND_ERR_SOCKET'],
  [{ kind: 'disconnect', in: 'body', atByte: 99_999 }, 'UND_ERR_SOCKET'],
  [{ kind: 'disconnect', in: 'body', reset: true }, 'ECONNRESET'],
] as const)('Node’s fetch of a large and a small response with %j fails with %s', async (fault, code) => {
  for (const target of [sandbox, createSandbox()]) {
    target.store.boms.insert({ name: 'Shelf' });
    // More than is sent without compression.
    target.store.budgets.insert({ name: 'The same words compress well '.repeat(900) });
    for (const path of ['/budgets', '/boms']) {
      target.faults.next(fault);
      const error = await call(target, path).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(TypeError);
      const message = 'in' in fault && fault.in === 'body' ? 'terminated' : 'fetch failed';
      expect(error).toMatchObject({ message, cause: { code } });
      // The fault was for one request: the next is served.
      expect((await call(target, path)).status).toBe(200);
    }
  }
});

test('closing ends idle connections and those in the middle of a response, can happen twice, and the sandbox can listen again', async () => {
  const idle = rawCall(listening, request());
  await new Promise((resolve) => idle.socket.once('data', resolve));
  sandbox.faults.next({ kind: 'slow-body', everyMs: 60_000 });
  const dripping = rawCall(listening, request());
  await new Promise((resolve) => dripping.socket.once('data', resolve));

  await Promise.all([sandbox.close(), sandbox.close()]);
  expect((await idle.response).text).toMatch(/^HTTP\/1.1 200 OK/);
  expect(bodyOf((await dripping.response).text)).toBe('');
  expect((await rawCall(listening, '').response).end).toBe('ECONNREFUSED');
  await sandbox.listen();
  expect((await call(sandbox, '/accounts')).status).toBe(200);
  await expect(sandbox.listen()).rejects.toThrow('is already listening');
});

test('closing ends waits, carries nothing out afterwards and leaves no timer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const before = vi.getTimerCount();
  sandbox.faults.add({ kind: 'delay', ms: 60_000, before: 'commit' }, { method: 'POST', times: 1 });
  const create = () => createProduct(sandbox, { name: 'Desk' }, { idempotencyKey: 'k' });
  const late = create().catch((error: unknown) => error);
  while (sandbox.count() === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(vi.getTimerCount()).toBeGreaterThan(before);
  await sandbox.close();
  expect(await late).toBeInstanceOf(TypeError);
  expect([vi.getTimerCount(), sandbox.store.products.count]).toEqual([before, 0]);
  vi.useRealTimers();
  // The key of a create that was not applied is unused.
  expect((await create()).status).toBe(201);
});
