import { createSandbox, type Listening, type Sandbox, sandboxFaults } from 'accounting-data-sdk/testing';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { call, createProduct, send as sendToService } from './support/call.ts';
import { type Control, controlOf, Events } from './support/control.ts';
import { rawCall, rawRequest } from './support/raw.ts';

const NOON = '2026-01-31T12:00:00Z';
const HOUR_MS = 3_600_000;

let sandbox: Sandbox;
let listening: Listening;
let control: Control;

beforeEach(async () => {
  sandbox = createSandbox({ records: { accounts: 3, products: 2 }, clock: NOON, rateLimit: { limit: 50 } });
  listening = await sandbox.listen({ control: true });
  control = controlOf(listening);
});
afterEach(() => sandbox.close());

interface Rule {
  readonly id: number;
  readonly rule: object;
  readonly active: boolean;
}

const statusOf = async (path: string, key?: string) =>
  (await call(sandbox, path, key === undefined ? {} : { key })).status;

describe('what another user of the service does with its records', () => {
  test('a record is created, changed and deleted, with updatedAt, and the journal says by whom', async () => {
    sandbox.clock.advance(60_000);
    const created = await control('POST /records/products', { name: 'Desk', salePrice: '5' });
    created.expectStatus(201);
    expect(created.record).toMatchObject({ id: '3', salePrice: '5.0000', updatedAt: '2026-01-31T12:01:00Z' });
    const changed = await control('PATCH /records/products/1', { name: 'Chair', brand: null });
    expect(changed.record).toMatchObject({ name: 'Chair', brand: null, updatedAt: '2026-01-31T12:01:00Z' });
    // Of a read-only collection, by its segment, of the other company.
    (await control('POST /records/account-addresses?company=other', { id: '7', city: 'Oslo' })).expectStatus(
      201,
    );
    (await control('DELETE /records/accounts/2')).expectStatus(204);

    const seen = await call(sandbox, '/products?updatedSince=2026-01-31T12:01:00Z');
    expect(seen.list.map(({ name }) => name)).toEqual(['Chair', 'Desk']);
    expect(await statusOf('/accounts/2')).toBe(404);
    expect(sandbox.otherStore.accountAddresses.get('7')).toEqual({ id: '7', city: 'Oslo' });
    await createProduct(sandbox, { name: 'By a key' });
    const { changes } = (await control('GET /journal')).record;
    expect(changes).toMatchObject([
      { action: 'create', collection: 'products', id: '3', key: 'control', fields: ['name', 'salePrice'] },
      { action: 'update', collection: 'products', id: '1', key: 'control', fields: ['name', 'brand'] },
      { action: 'create', collection: 'accountAddresses', id: '7', company: 'other' },
      { action: 'delete', collection: 'accounts', id: '2', at: '2026-01-31T12:01:00.000Z' },
      { action: 'create', collection: 'products', key: 'full' },
    ]);
    expect((await control('GET /state')).record.changes).toBe(5);
  });

  test('a record of the other company is read, changed and deleted beside that of the same id', async () => {
    const before = sandbox.store.accounts.all();
    const path = '/records/accounts/2?company=other';
    const list = async () => (await control('GET /records/accounts?company=other')).record;
    await control('POST /records/accounts?company=other', { id: '2', name: 'Other' });
    await control(`PATCH ${path}`, { id: '2', name: 'Changed' });
    // Nothing changes.
    await control(`PATCH ${path}`, {});
    const record = { id: '2', name: 'Changed' };
    expect((await control(`GET ${path}`)).record).toEqual(record);
    expect(await list()).toMatchObject({ count: 1, found: 1, records: [record] });
    (await control(`DELETE ${path}`)).expectStatus(204);
    const { count, changes } = await list();
    expect([count, changes]).toEqual([
      0,
      ['create', 'update', 'delete'].map((action) => expect.objectContaining({ action, company: 'other' })),
    ]);
    expect(changes).toMatchObject([{}, { fields: ['name'] }, {}]);
    expect(sandbox.store.accounts.all()).toEqual(before);
  });

  test('a list is searched and divided, and has the changes of its collection', async () => {
    sandbox.store.accounts.insert({ name: 'Anna Zoë' });
    await control('PATCH /records/accounts/4', { city: 'Ede' });
    await control('POST /records/boms', { name: 'anna' });
    await control('POST /records/accounts?company=other', { id: '4' });
    const { record } = await control('GET /records/accounts?search=anna%20z');
    expect(record).toMatchObject({ collection: 'accounts', count: 4, found: 1, records: [{ id: '4' }] });
    expect(record.changes).toMatchObject([{ action: 'update', id: '4' }]);
    // The name of a field, which the one that was inserted does not have.
    expect((await control('GET /records/accounts?search=vatnumber')).record.found).toBe(3);
    const part = await control('GET /records/accounts?offset=1&limit=2');
    expect(part.record).toMatchObject({ found: 4, records: [{ id: '2' }, { id: '3' }] });
    expect((await control('GET /records/accounts/4')).record).toMatchObject({ name: 'Anna Zoë' });
    for (let count = 1; count <= 101; count += 1)
      await control('PATCH /records/accounts/4', { [`field${count}`]: count });
    const { changes } = (await control('GET /records/accounts')).record as { changes: unknown[] };
    expect(changes).toHaveLength(100);
    for (const newest of [changes.slice(-1), (await control('GET /journal?limit=1')).record.changes])
      expect(newest).toMatchObject([{ fields: ['field101'] }]);
  });

  test('a write is delayed as that of a request is', async () => {
    await control('POST /reset', { commitDelayMs: 1000, newRecords: { foundAfterMs: 5000 } });
    await control('POST /records/boms', { id: '70' });
    await control('PATCH /records/accounts/1', { name: 'Later' });
    expect((await call(sandbox, '/accounts/1')).record.name).not.toBe('Later');
    sandbox.clock.advance(1000);
    expect((await call(sandbox, '/accounts/1')).record.name).toBe('Later');
    expect(await statusOf('/boms/70')).toBe(404);
    sandbox.clock.advance(4000);
    expect(await statusOf('/boms/70')).toBe(200);
  });
});

describe('faults', () => {
  test('one is added with its conditions, met, counted, ended, and added again as it is shown', async () => {
    const rule = { kind: 'status', status: 503, collection: 'boms', times: 2 };
    const added = (await control('POST /faults', rule)).expectStatus(201);
    expect(added.record).toEqual({ id: 1, active: true, hits: 0, rule });
    expect([await statusOf('/accounts'), await statusOf('/boms')]).toEqual([200, 503]);
    expect((await control('GET /requests')).record.requests).toMatchObject([{ faults: [] }, { faults: [1] }]);
    expect((await control('GET /state')).record.faults).toEqual([{ id: 1, active: true, hits: 1, rule }]);
    (await control('DELETE /faults/1')).expectStatus(204);
    expect(await statusOf('/boms')).toBe(200);

    const [shown] = (await control('GET /faults')).record.faults as Rule[];
    expect(shown).toMatchObject({ active: false, hits: 1 });
    expect((await control('POST /faults', shown?.rule)).record).toMatchObject({ id: 2, active: true });
    sandbox.faults.add({ kind: 'stall' }, { path: /boms$/, when: () => false });
    expect((await control('GET /state')).record.faults).toMatchObject([
      {},
      {},
      { id: 3, rule: { kind: 'stall', path: '/boms$/', when: 'a function' } },
    ]);
    const ids = async () => ((await control('GET /faults')).record.faults as Rule[]).map(({ id }) => id);
    (await control('DELETE /faults/3')).expectStatus(204);
    expect(await ids()).toEqual([1, 2, 3]);
    (await control('DELETE /faults')).expectStatus(204);
    expect(sandbox.faults.rules).toEqual([]);
    // One that has ended can be deleted again.
    (await control('DELETE /faults/1')).expectStatus(204);
    expect(await ids()).toEqual([1, 2, 3]);
  });

  test('every kind is listed with its fields, and can be added but for one that closes the port for good', async () => {
    const { kinds, conditions } = (await control('GET /faults')).record as {
      kinds: Record<string, Record<'required' | 'optional', Record<string, { expected: string }>>>;
      conditions: object;
    };
    expect(Object.keys(kinds)).toEqual(Object.keys(sandboxFaults));
    expect(Object.keys(conditions)).toEqual(expect.not.arrayContaining(['when']));
    expect(kinds.stall?.optional.in).toMatchObject({ values: ['headers', 'body'] });
    for (const [kind, { required }] of Object.entries(kinds)) {
      const values: Record<string, unknown> = { 'true or false': true, 'a status from 100 to 999': 503 };
      const fields = Object.entries(required).map(([name, { expected }]) => [name, values[expected] ?? 5]);
      const rule = { kind, ...Object.fromEntries(fields), forMs: 60_000, collection: 'boms' };
      (await control('POST /faults', rule)).expectStatus(201);
    }
    const refused = await control('POST /faults', { kind: 'connection-refused' });
    expect(refused.expectProblem(422, 'validation_failed').record.violations).toMatchObject([
      { propertyPath: 'forMs' },
    ]);
    await control('DELETE /faults');
    await control('POST /faults', { kind: 'connection-refused', forMs: 30 }).catch(() => undefined);
    await listening.ready();
    await expect.poll(() => statusOf('/accounts').catch(() => undefined)).toBe(200);
  });
});

describe('the log', () => {
  test('has each request with its response, its bodies as they were sent, and the quota that was left', async () => {
    const body = '{"name":"Desk","weightKg":12345678901234567.89}';
    const created = await createProduct(sandbox, body, { idempotencyKey: 'k-1' });
    const { text } = await rawCall(
      listening,
      `GET /_sandbox/requests HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    ).response;
    expect(text).toContain(`"body":${body},"bodyBytes":${body.length}`);
    const { requests, last } = (await control('GET /requests')).record;
    expect([last, requests]).toEqual([
      1,
      [
        expect.objectContaining({
          number: 1,
          method: 'POST',
          url: '/api/public/v1/products',
          key: 'full',
          idempotencyKey: 'k-1',
          at: '2026-01-31T12:00:00.000Z',
          status: 201,
          quota: { limit: 50, remaining: 49 },
          startedAt: expect.any(Number),
          response: expect.objectContaining({
            sent: 'whole',
            body: expect.objectContaining({ id: '3', name: 'Desk' }),
            bodyBytes: JSON.stringify(created.json).length,
            headers: expect.objectContaining({ 'X-RateLimit-Remaining': '49' }),
          }),
        }),
      ],
    ]);
    expect(JSON.stringify(requests)).not.toContain(sandbox.keys.full);
    // By the clock of the machine, whatever that of the service says.
    const [{ startedAt }] = requests as [{ startedAt: number }];
    expect(Math.abs(Date.now() - startedAt)).toBeLessThan(HOUR_MS);
    await call(sandbox, '/accounts?id[gt]=1&id[gt]=2&a=b?c');
    const after = (await control('GET /requests?after=1&bodies=false')).record;
    expect(after).toMatchObject({ last: 2, requests: [{ number: 2, records: 1 }] });
    expect(JSON.stringify(after)).toContain('?id[gt]=1&id[gt]=2&a=b?c"');
    expect(JSON.stringify(after)).not.toContain('ids');
    expect((await control('GET /requests/2')).record).toMatchObject({ ids: ['3'] });
    (await control('DELETE /requests')).expectStatus(204);
    expect((await control('GET /requests')).record).toEqual({ last: 2, requests: [] });
    expect([sandbox.count(), sandbox.journal]).toEqual([0, []]);
  });

  test('has the first 64 kB of a large body', async () => {
    await createProduct(sandbox, JSON.stringify({ description: 'é'.repeat(100_000) }));
    const { body, bodyBytes, response } = (await control('GET /requests/1')).record;
    expect(bodyBytes).toBe(200_018);
    for (const text of [body, (response as { body: unknown }).body]) {
      expect(text).toMatch(/^\{".*é{10}/);
      expect(Buffer.byteLength(String(text))).toBeLessThanOrEqual(65_538);
    }
  });

  test.each([
    [
      { kind: 'lost-response', committed: true },
      { status: 200, response: { sent: 'nothing' } },
    ],
    [{ kind: 'disconnect', in: 'body' }, { response: { sent: 'partly' } }],
    [{ kind: 'slow-body', bytes: 400, everyMs: 1 }, { response: { sent: 'slowly' } }],
    [{ kind: 'stall' }, { status: 200, response: { sent: 'nothing' } }, true],
    [{ kind: 'delay', ms: 60_000 }, { status: 200, response: null }, true],
  ])(
    'says what became of a response with the fault %j, and when it ended',
    async (fault, shown, lasts = false) => {
      await control('POST /faults', { ...fault, times: 1 });
      const stop = new AbortController();
      const sent = sendToService(sandbox, '/accounts', { signal: stop.signal });
      const ended = sent.then((response) => response.text()).catch(() => {});
      const last = async () => ((await control('GET /requests')).record.requests as unknown[]).at(-1);
      if (lasts) {
        await expect.poll(last).toMatchObject({ fault: fault.kind, durationMs: null });
        stop.abort();
      }
      await ended;
      await expect.poll(last).toMatchObject({ ...shown, durationMs: expect.any(Number) });
    },
  );

  test('says of a response that the client does not read to its end that it was aborted', async () => {
    sandbox.store.products.insert({ id: '9', description: 'x'.repeat(20_000_000) });
    const { socket } = rawCall(listening, rawRequest('/products/9', sandbox.keys.full));
    socket.once('data', () => socket.destroy());
    const last = async () => (await control('GET /requests/1?bodies=false')).record;
    await expect.poll(last).toMatchObject({ status: 200, response: { sent: 'aborted' } });
  });

  test('says when a response without a socket ended, also if the client cancels its body', async () => {
    const headers = { 'X-AUTH-TOKEN': sandbox.keys.full };
    const get = (init: RequestInit = {}) =>
      sandbox.fetch(`${sandbox.baseUrl}/api/public/v1/accounts`, { headers, ...init });
    const last = async () =>
      ((await control('GET /requests?bodies=false')).record.requests as unknown[]).at(-1);
    for (const method of ['GET', 'HEAD']) {
      await get({ method });
      expect(await last()).toMatchObject({ method, status: 200, durationMs: expect.any(Number) });
    }
    sandbox.faults.add({ kind: 'slow-body', everyMs: 60_000 });
    const { body } = await get();
    expect(await last()).toMatchObject({ status: 200, durationMs: null });
    await body?.cancel();
    expect(await last()).toMatchObject({ durationMs: expect.any(Number) });
    const stop = new AbortController();
    const aborted = await get({ signal: stop.signal });
    expect(await last()).toMatchObject({ number: 4, durationMs: null });
    stop.abort();
    await expect(aborted.text()).rejects.toThrow('aborted');
    expect(await last()).toMatchObject({ number: 4, durationMs: expect.any(Number) });
  });

  test('says of a response to a client that has closed the connection before it that it was aborted', async () => {
    const when = () => {
      socket.destroy();
      return true;
    };
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    sandbox.faults.add({ kind: 'delay', ms: 100 }, { when });
    const { socket } = rawCall(listening, rawRequest('/products', sandbox.keys.full));
    const last = async () => (await control('GET /requests/1?bodies=false')).record;
    await expect.poll(last).toMatchObject({ response: null, durationMs: expect.any(Number) });
    vi.advanceTimersByTime(100);
    await expect.poll(last).toMatchObject({ status: 200, response: { sent: 'aborted' } });
  });

  test('follows the requests as events, and continues where a reader was', async () => {
    await call(sandbox, '/accounts');
    const events = await Events.open(listening, '?bodies=false');
    await createProduct(sandbox, '{\n"name": "Desk"\r\n}');
    const first = await events.next();
    expect(first).toMatchObject({ event: 'request', data: { number: 2, status: 201 } });
    expect(first.data).not.toHaveProperty('body');
    let last = first;
    while ((last.data as { durationMs: unknown }).durationMs === null) last = await events.next();
    await control('POST /faults', { kind: 'stall', collection: 'budgets' });
    expect(await events.next()).toMatchObject({ event: 'state' });
    events.close();

    await call(sandbox, '/boms/1');
    const again = await Events.open(listening, '', { 'Last-Event-ID': last.id });
    expect(await again.next()).toMatchObject({ event: 'request', data: { number: 3, path: /boms/ } });
    const all = await Events.open(listening, '?after=0');
    expect(await all.next()).toMatchObject({ data: { number: 1 } });
    expect(await all.next()).toMatchObject({ data: { number: 2, body: { name: 'Desk' } } });
    const restarted = await Events.open(listening, '', { 'Last-Event-ID': 'another:99' });
    expect(await restarted.next()).toMatchObject({ data: { number: 1 } });
    // Of a request that is running nothing is said after the log was emptied.
    const nextOf = async (wanted: string) => {
      for (;;) {
        const { event, data } = await restarted.next();
        if (event === wanted) return data;
      }
    };
    const when = () => {
      void control('POST /reset').then(reset.resolve);
      return true;
    };
    const reset = Promise.withResolvers<unknown>();
    sandbox.faults.add({ kind: 'delay', ms: 20 }, { when });
    const slow = call(sandbox, '/accounts');
    await reset.promise;
    await slow;
    expect((await control('GET /requests')).record.requests).toEqual([]);
    await nextOf('cleared');
    await call(sandbox, '/boms');
    expect(await nextOf('request')).toMatchObject({ path: '/api/public/v1/boms' });
  });
});

test('events have a line every 15 s while they are read, or a proxy would close the connection', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  for (const _ of ['first', 'after all have left']) {
    const stop = new AbortController();
    const { body } = await fetch(`${listening.url}/_sandbox/events`, { signal: stop.signal });
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    await reader?.read();
    vi.advanceTimersByTime(15_000);
    expect((await reader?.read())?.value).toBe(': open\n\n');
    stop.abort();
    await expect.poll(() => vi.getTimerCount()).toBe(0);
  }
});

describe('the service', () => {
  test('shows its state', async () => {
    const head = await control('HEAD /state');
    expect([head.status, head.mediaType]).toEqual([200, 'application/json']);
    expect((await control('PUT /faults', {})).headers.get('allow')).toBe('GET, HEAD, POST, DELETE');
    await call(sandbox, '/accounts');
    const { record } = await control('GET /state');
    const key = (name: keyof Sandbox['keys'], more: object) => ({ key: sandbox.keys[name], ...more });
    expect(record).toMatchObject({
      version: expect.stringMatching(/^[1-9]|^0\.[1-9]/),
      clock: { now: '2026-01-31T12:00:00.000Z' },
      requests: 1,
      keys: {
        full: key('full', { access: 'full', quota: { limit: 50, remaining: 49 } }),
        readOnly: key('readOnly', { access: 'read', quota: { limit: 50, remaining: 50 } }),
        productsOnly: key('productsOnly', { collections: ['products'] }),
        revoked: key('revoked', { isRevoked: true, quota: null }),
        otherCompany: key('otherCompany', { company: 'other' }),
      },
      records: { main: { accounts: 3, products: 2, boms: 0 }, other: { accounts: 0 } },
      options: { pageSize: 30, order: 'id-asc', clock: NOON, rateLimit: { limit: 50 }, fixtures: null },
    });
    const { options } = (await control('GET /options')).record;
    expect(options).toContainEqual({
      name: 'rateLimit.limit',
      value: 50,
      default: 10_000,
      expected: 'a whole number of at least 1',
    });
    expect(JSON.stringify(options)).not.toContain('ids.products');
    expect(options).toContainEqual(expect.objectContaining({ name: 'ids.form', values: expect.any(Array) }));
    // A function is not JSON, and the records of fixtures are too many.
    const given = { clock: { now: () => 0 }, hiddenRecords: () => false, fixtures: { boms: [] } };
    sandbox.reset({ ...given, ids: { boms: { form: 'uuid' } } });
    const own = (await control('GET /options')).record.options;
    expect(own).toContainEqual(expect.objectContaining({ name: 'ids.boms.form', value: 'uuid' }));
    const shown = (await control('GET /state')).record.options as Record<string, unknown>;
    for (const name of Object.keys(given)) expect(shown[name]).toMatch(/^given: an? /);
  });

  test('its clock is moved and stopped', async () => {
    const now = async (change: object) => (await control('POST /clock', change)).record.now;
    expect(await now({ advanceMs: HOUR_MS })).toBe('2026-01-31T13:00:00.000Z');
    expect(await now({ set: '2026-03-01', advanceMs: -1000 })).toBe('2026-02-28T23:59:59.000Z');
    expect(await now({ set: Date.UTC(2026, 0, 1) })).toBe('2026-01-01T00:00:00.000Z');
    const running = createSandbox();
    const port = controlOf(await running.listen({ control: true }));
    const { now: stopped } = (await port('POST /clock', { freeze: true })).record;
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(new Date(running.clock.now()).toISOString()).toBe(stopped);
    await running.close();
  });

  test('keys are issued and revoked', async () => {
    const grant = { access: 'read', collections: ['accounts'] };
    const issued = (await control('POST /keys', grant)).expectStatus(201).record;
    const key = String(issued.key);
    expect([issued.name, await statusOf('/accounts', key), await statusOf('/boms', key)]).toEqual([
      'key-7',
      200,
      403,
    ]);
    (await control(`DELETE /keys/${key}`)).expectStatus(204);
    expect(await statusOf('/accounts', key)).toBe(401);
    (await control(`DELETE /keys/${key}`)).expectNotFound();
  });

  test('another quota begins for every key, and that of the options again', async () => {
    const quota = { limit: 2, windowMs: 60_000, kind: 'fixed' };
    expect((await control('POST /quota', { limit: 2 })).record).toEqual(quota);
    for (const status of [200, 200, 429]) expect(await statusOf('/accounts')).toBe(status);
    const shown = async () => (await control('GET /state')).record.quota;
    expect(await shown()).toMatchObject({ limits: { limit: 2 }, isChanged: true });
    (await control('DELETE /quota')).expectStatus(204);
    expect(await shown()).toMatchObject({ limits: { limit: 50 }, isChanged: false });
    const { headers } = await call(sandbox, '/accounts');
    expect(headers.get('x-ratelimit-remaining')).toBe('49');
    // Those of the last reset.
    sandbox.reset({ rateLimit: { limit: 9 } });
    await control('POST /quota', { limit: 2 });
    await control('DELETE /quota');
    expect(await shown()).toMatchObject({ limits: { limit: 9 }, isChanged: false });
    // Without a limit there is none to look at.
    sandbox.reset({ rateLimit: false });
    await statusOf('/accounts');
    expect((await control('GET /state')).record.keys).toMatchObject({ full: { quota: null } });
    expect((await control('GET /requests')).record.requests).toMatchObject([{ quota: null }]);
  });

  test.each([
    ['fixed', '2 2 2 1'],
    ['fixed-from-first', '2 2 1 0'],
    ['sliding-counter', '2 1 1 0'],
    ['token-bucket', '2 2 1 0'],
  ])(
    'a look at the state neither uses a quota of the kind %s nor begins its window',
    async (kind, expected) => {
      await control('POST /quota', { limit: 3, windowMs: 60_000, kind });
      const look = async () => (await control('GET /state')).record.keys;
      const seen = [];
      for (const [beforeMs, afterMs] of [
        [0, 0],
        [70_000, 49_000],
        [1_000, 1_000],
        [1_000, 9_000],
      ] as const) {
        sandbox.clock.advance(beforeMs);
        await look();
        await look();
        sandbox.clock.advance(afterMs);
        const { headers } = await call(sandbox, '/boms');
        const remaining = Number(headers.get('x-ratelimit-remaining'));
        seen.push(remaining);
        expect(await look()).toMatchObject({ full: { quota: { remaining } } });
      }
      expect(seen.join(' ')).toBe(expected);
      // A reset has the quota of the options.
      await control('POST /reset');
      expect(await look()).toMatchObject({ full: { quota: { limit: 50, remaining: 50 } } });
    },
  );

  test.each(['over HTTP', 'from code'])('a reset %s is a new service with the same keys', async (how) => {
    const { store, clock, keys } = sandbox;
    const before = store.accounts.all();
    const reset = async (changes?: object) => {
      if (how === 'from code') sandbox.reset(changes);
      else (await control('POST /reset', changes)).expectStatus(200);
    };
    await createProduct(sandbox, { name: 'Desk' }, { idempotencyKey: 'k' });
    store.accounts.clear();
    clock.advance(60_000);
    sandbox.revokeKey(keys.full);
    const issued = sandbox.issueKey();
    sandbox.faults.add({ kind: 'status', status: 503 });
    await reset();
    expect([sandbox.count(), sandbox.journal, sandbox.faults.rules]).toEqual([0, [], []]);
    expect((await control('GET /faults')).record.faults).toEqual([]);
    expect([store.accounts.all(), clock.now()]).toEqual([before, Date.parse(NOON)]);
    expect([await statusOf('/accounts'), await statusOf('/accounts', issued)]).toEqual([200, 401]);
    expect((await createProduct(sandbox, { name: 'Chair' }, { idempotencyKey: 'k' })).record).toMatchObject({
      id: '3',
      name: 'Chair',
    });

    await reset({ pageSize: 1, seed: 9, fixtures: { boms: [{ id: '70' }] } });
    expect((await call(sandbox, '/accounts')).list).toHaveLength(1);
    expect([store.boms.ids(), sandbox.otherStore.boms.count]).toEqual([['70'], 0]);
    expect(sandbox.keys.full).toBe(keys.full);
    // Options count until the next reset.
    await reset({});
    expect([(await call(sandbox, '/accounts')).list.length, store.boms.count]).toEqual([3, 0]);
  });

  test('a reset that is rejected changes nothing', async () => {
    sandbox.store.accounts.delete('1');
    for (const change of [
      { pageSizes: 1 },
      { clock: {} },
      { clock: { now: 5 } },
      { clock: 'someday' },
      { records: 1_000_000 },
      { otherRecords: { products: 1e9 } },
      { records: { products: 300_000, accounts: 300_000 } },
      { fixtures: [] },
      { fixtures: { bom: [] } },
      { fixtures: { boms: {} } },
      { fixtures: { boms: [5] } },
      { fixtures: { boms: [{ id: '1' }, { id: '1' }] } },
      // A page that was let in must not read files.
      { fixtures: '/etc' },
      { rateLimit: null },
    ]) {
      const { record } = (await control('POST /reset', change)).expectProblem(422, 'validation_failed');
      expect(record.violations).toMatchObject([{ propertyPath: expect.stringMatching(/./) }]);
      expect(sandbox.store.accounts.ids()).toEqual(['2', '3']);
    }
  });
});

test.each<[request: string, body: unknown, status: number, named: string]>([
  ['POST /faults', { kind: 'losst-response', committed: true }, 422, 'kind: There is no fault'],
  ['POST /faults', { kind: 'lost-response' }, 422, 'committed: The fault lost-response has no default'],
  ['POST /faults', { kind: 'stall', tmes: 1 }, 422, 'tmes: tmes is not a field'],
  ['POST /faults', { kind: 'stall', times: 0 }, 422, 'times: times must be'],
  [
    'POST /faults',
    { kind: 'stall', collection: 'bom' },
    422,
    'collection: collection: there is no collection',
  ],
  ['POST /faults', { kind: 'status', status: 99 }, 422, 'status: status.status must be'],
  ['POST /faults', { kind: 'delay', ms: -1 }, 422, 'ms: delay.ms must be'],
  ['POST /faults', { kind: 'status', status: 503, since: 1 }, 422, 'since: status.since is not an option'],
  ['POST /faults', '{"kind":', 400, 'not JSON'],
  ['POST /faults', '[]', 400, 'JSON object'],
  ['POST /faults', 'null', 400, 'JSON object'],
  ['DELETE /faults/7', undefined, 404, 'no fault 7'],
  ['GET /records/bom', undefined, 404, 'no collection "bom". Did you mean boms?'],
  ['GET /records/boms/7', undefined, 404, 'boms has no record'],
  ['GET /records/boms?company=third', undefined, 422, 'company: company must be'],
  ['GET /records/boms?limit=0', undefined, 422, 'limit: limit must be'],
  ['GET /records/boms?limit=1&limit=2', undefined, 422, 'limit: The query has limit twice'],
  ['POST /reset', { fixtures: { bom: [] } }, 422, 'fixtures.bom: There is no collection bom'],
  ['POST /reset', { fixtures: { boms: 'x' } }, 422, 'fixtures.boms: boms must be an array'],
  [
    'POST /reset',
    { fixtures: { boms: [{}, { id: 7 }] } },
    422,
    'fixtures.boms.1.id: boms: an id is a string',
  ],
  ['POST /reset', { rateLimit: { limit: 0 } }, 422, 'rateLimit.limit: rateLimit.limit must be'],
  ['POST /records/products', { salePrice: 5 }, 422, 'salePrice: products: salePrice is money'],
  [
    'POST /records/products',
    { updatedAt: 'someday' },
    422,
    'updatedAt: products: someday is not a timestamp',
  ],
  ['POST /records/accounts', { id: '1' }, 422, 'id: accounts: 1 already exists'],
  ['POST /records/accounts', { id: 4 }, 422, 'id: accounts: an id is a string'],
  ['PATCH /records/accounts/1', { id: '2' }, 422, 'id: The id of a record cannot be changed'],
  ['PATCH /records/accounts/9', {}, 404, 'accounts has no record'],
  ['DELETE /records/accounts/9', undefined, 404, 'accounts has no record'],
  ['DELETE /records/accounts/%E0%A4%A', undefined, 400, 'percent-encoded'],
  ['POST /clock', { set: 'someday' }, 422, 'set: "someday" is not a timestamp'],
  ['POST /clock', { advanceMs: 1e17 }, 422, 'advanceMs: The clock cannot move so far'],
  ['POST /clock', { advanceMs: -1e17 }, 422, 'advanceMs: The clock cannot move so far'],
  ['POST /clock', { advance: 1 }, 422, 'advance: advance is not an option of the clock'],
  ['POST /clock', {}, 422, 'Pass set, advanceMs or freeze'],
  ['POST /clock', undefined, 422, 'Pass set, advanceMs or freeze'],
  ['POST /keys', { access: 'all' }, 422, 'access: access must be'],
  ['POST /keys', { collections: ['bom'] }, 422, 'collections: collections: there is no collection bom'],
  ['DELETE /keys/x', undefined, 404, 'did not issue'],
  ['POST /quota', { limit: 0 }, 422, 'limit: limit must be'],
  ['GET /requests?after=x', undefined, 422, 'after: after must be'],
  ['GET /requests/99', undefined, 404, 'no request 99'],
  ['GET /events?bodies=perhaps', undefined, 422, 'bodies: bodies must be'],
  ['GET /stat', undefined, 404, 'nothing at'],
  ['PUT /state', {}, 405, 'PUT is not possible'],
])('%s with %j is a problem document (%i) that names what is wrong', async (request, body, status, named) => {
  const response = await control(request, body);
  expect([response.status, response.mediaType]).toEqual([status, 'application/problem+json']);
  const { violations, detail } = response.record as {
    violations?: { propertyPath: string }[];
    detail: string;
  };
  const [field] = violations ?? [];
  expect(field === undefined ? detail : `${field.propertyPath}: ${detail}`).toContain(named);
  expect([await statusOf('/accounts'), sandbox.journal, sandbox.faults.rules]).toEqual([200, [], []]);
});

test.each([4_194_305, 10_000_000])(
  'a body of %i bytes is rejected, with and without Content-Length',
  async (size) => {
    const body = JSON.stringify({ name: 'x'.repeat(size) });
    const rejected = await control('POST /records/accounts', body);
    expect(rejected.expectProblem(413, 'content_too_large').record.detail).toContain('at most 4194304 bytes');
    const stream = new Blob([body]).stream();
    const init = {
      method: 'POST',
      body: stream,
      duplex: 'half',
      headers: { 'Content-Type': 'application/json' },
    };
    const streamed = await fetch(`${listening.url}/_sandbox/records/accounts`, init as RequestInit);
    expect([streamed.status, await statusOf('/accounts')]).toEqual([413, 200]);
  },
);

test('a body that is nested too deeply is rejected, because each list of its collection would fail', async () => {
  const deep = `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
  const rejected = await control('POST /records/accounts', deep);
  expect(rejected.expectProblem(400, 'malformed_request').record.detail).toContain('nested too deeply');
  expect(await statusOf('/accounts')).toBe(200);
});
