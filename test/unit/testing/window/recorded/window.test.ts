import { afterEach, expect, test } from 'vitest';
import type { SandboxOptions } from '../../../../../src/testing/options.ts';
import { Server } from '../support/server.ts';
import { Session } from './session.ts';

let session: Session | undefined;
afterEach(() => session?.page.close());

const serverWith = (options: SandboxOptions = {}) =>
  new Server({
    clock: '2026-01-31T12:00:00Z',
    pageSize: 2,
    records: { accounts: 3, products: 2 },
    otherRecords: { accounts: 1 },
    ...options,
  });

async function expectRecorded(file: string): Promise<void> {
  await expect(await session?.end()).toMatchFileSnapshot(`./${file}.txt`);
}

/** A connector that sends requests and reads their responses to the end. */
function connectorOf({ server }: Session) {
  const failed = (sent: Promise<Response>) => sent.then((response) => response.text()).catch(() => {});
  return {
    get: (path: string, key?: string, init?: RequestInit) => failed(server.send(`GET ${path}`, init, key)),
    create: (key: string, body: object) =>
      failed(
        server.send('POST /products', { headers: { 'idempotency-key': key }, body: JSON.stringify(body) }),
      ),
    send: (request: string, body: unknown) =>
      failed(server.send(request, { body: typeof body === 'string' ? body : JSON.stringify(body) })),
  };
}

test('requests are shown as recorded', async () => {
  session = await Session.open(serverWith({ rateLimit: { limit: 12, windowMs: 60_000 } }));
  const { server } = session;
  const { faults } = server.core;
  const { get, create, send } = connectorOf(session);

  await session.step('a list', () => get('/accounts?id%5Bgt%5D=1'));
  await session.step('a record that does not exist', () => get('/products/9?a=b%20c', 'readOnly'));
  await session.step('a key that does not exist', () => get('/boms', 'no such key'));
  await session.step('a response that is lost, and its retry', async (page) => {
    faults.add({ kind: 'lost-response', committed: true }, { method: 'POST', times: 1 });
    await create('k1', { name: "It's a desk", salePrice: '5.10' });
    await page.later(100);
    await create('k1', { name: "It's a desk", salePrice: '5.10' });
  });
  await session.step('a response that is late and arrives slowly', async (page) => {
    faults.add({ kind: 'delay', ms: 1_500 }, { times: 1 });
    faults.add({ kind: 'slow-body', bytes: 200, everyMs: 100 }, { times: 1 });
    void get('/accounts/1');
    await page.go('#requests/6');
  });
  await session.step('it ends', (page) => page.later(4_000));
  await session.step('it is closed', (page) => page.click('.detail a', 'Close'));
  await session.step('a response that is cut off', async () => {
    faults.add({ kind: 'disconnect', in: 'body', atByte: 40 }, { times: 1 });
    await get('/accounts/2');
  });
  await session.step('a client that leaves', async (page) => {
    faults.add({ kind: 'delay', ms: 60_000 }, { times: 1 });
    const stop = new AbortController();
    const sent = get('/accounts/3', 'full', { signal: stop.signal });
    await page.later(2_000);
    stop.abort();
    await sent;
  });
  await session.step('a request that does not reach the service', async () => {
    faults.add({ kind: 'lost-response', committed: false }, { times: 1 });
    await create('k2', { name: 'Chair' });
  });
  await session.step('a body that is not JSON', () => send('PATCH /products/1', 'name = "x"'));
  await session.step('a redirect and a failure', async () => {
    faults.add({ kind: 'status', status: 302 }, { times: 1 });
    await get('/accounts', 'full', { redirect: 'manual' });
    faults.add({ kind: 'status', status: 503, retryAfter: 2 }, { times: 1 });
    await get('/accounts');
  });
  await session.step('the quota ends', async () => {
    for (let sent = 0; sent < 4; sent += 1) await get('/accounts');
  });
  session.picture();
  await session.step('the key is used again before its wait is over', async (page) => {
    await page.later(20_000);
    await get('/accounts');
  });
  session.picture();

  const opened = [1, 3, 4, 5, 7, 8, 9, 10, 11, 12, 16];
  for (const number of opened) {
    await session.step(`request ${number} is opened`, (page) =>
      page.click(`tr:has([href="#requests/${number}"])`),
    );
    await session.step('it is copied as a command', (page) => page.click('button', 'Copy as curl'));
    await session.step('it is copied as a test', (page) => page.click('button', 'Copy as test'));
  }
  await session.step('a copy is not allowed', async (page) => {
    await page.later(3_000);
    page.clipboard = undefined;
    await page.click('button', 'Copy as test');
  });
  await session.step('an error is shown for a while', (page) => page.later(12_000));
  await session.step('request 99 is opened', (page) => page.go('#requests/99'));
  await session.step('arrow down, from no request', (page) => page.key('.request-table', 'ArrowDown'));
  await session.step('arrow up, at the first one', (page) => page.key('.request-table', 'ArrowUp'));
  await session.step('arrow down', (page) => page.key('.request-table', 'ArrowDown'));
  await session.step('another key', (page) => page.key('.request-table', 'Enter'));
  await session.step('no response alone', (page) => page.click('.chips button', 'no response'));
  await session.step('arrow down, beyond the list', async (page) => {
    for (let pressed = 0; pressed < 6; pressed += 1) await page.key('.request-table', 'ArrowDown');
  });
  await session.step('and with a word', (page) => page.fill('Filter requests', 'POST'));
  await session.step('and with another one', (page) => page.fill('Filter requests', ' post K2 '));
  await session.step('no response no longer alone', (page) => page.click('.chips button', 'no response'));
  await session.step('no request', (page) => page.fill('Filter requests', '#77'));
  await session.step('the number of a request', (page) => page.fill('Filter requests', '#11'));
  await session.step('an error type', (page) => page.fill('Filter requests', 'unauthenticated none'));
  await session.step('a fault', (page) => page.fill('Filter requests', 'disconnect'));
  await session.step('a path with brackets', (page) => page.fill('Filter requests', 'id[gt]'));
  await session.step('an empty filter', (page) => page.fill('Filter requests', ''));
  await expectRecorded('requests');
});

test('the timeline is moved as recorded', async () => {
  session = await Session.open(serverWith({ rateLimit: false }));
  const { page, server } = session;
  const { faults } = server.core;
  const { get, create } = connectorOf(session);
  const step = async (title: string, work: () => Promise<unknown>) => {
    await session?.step(title, work);
    session?.picture();
  };

  await step('simultaneous requests of two keys', async () => {
    faults.add({ kind: 'delay', ms: 400 }, { collection: 'boms', times: 2 });
    void get('/boms');
    void get('/boms', 'readOnly');
    await page.later(100);
    void get('/accounts');
    await page.later(100);
    void get('/accounts/9');
    faults.add({ kind: 'lost-response', committed: true }, { collection: 'products', times: 1 });
    await create('k1', { name: 'Desk' });
    await page.later(50);
    await create('k1', { name: 'Desk' });
  });
  await step('after a minute, one more', async () => {
    await page.later(60_000);
    await get('/accounts');
  });
  await step('all are shown', () => page.click('button', 'Fit'));
  await step('over a request', () => page.pointer('pointermove', 158, 40));
  await step('beside the requests', () => page.pointer('pointerleave', 0, 0));
  await step('zoomed in with a button', () => page.click('button', 'Zoom in'));
  await step('zoomed out with a button', () => page.click('button', 'Zoom out'));
  await step('a wheel scrolls the page', () => page.pointer('wheel', 500, 30, { deltaX: 5, deltaY: 60 }));
  await step('a wheel to the side', () => page.pointer('wheel', 500, 30, { deltaX: -60, deltaY: 5 }));
  await step('a wheel with a key, at the first request', async () => {
    await page.click('button', 'Fit');
    await page.pointer('wheel', 155, 30, { deltaX: 0, deltaY: -1_200, ctrlKey: true });
  });
  await step('a drag that begins at a request', async () => {
    await page.pointer('pointermove', 155, 40);
    await page.pointer('pointerdown', 155, 40);
    await page.pointer('pointermove', 175, 40);
  });
  await step('it ends', () => page.pointer('pointerup', 155, 40));
  await step('a drag', async () => {
    await page.pointer('pointerdown', 300, 30);
    await page.pointer('pointermove', 303, 30);
    await page.pointer('pointermove', 400, 30);
    await page.pointer('pointermove', 450, 500);
    await page.pointer('pointerup', 450, 500);
    await page.pointer('pointermove', 700, 30);
  });
  expect(page.captured).toEqual([1, 1]);
  await step('a drag that the browser takes away', async () => {
    await page.pointer('pointerdown', 300, 30);
    await page.pointer('pointermove', 200, 30);
    await page.pointer('pointercancel', 0, 0);
    await page.pointer('pointermove', 700, 30);
  });
  await step('the other button', async () => {
    await page.pointer('pointerdown', 300, 30, { button: 2 });
    await page.pointer('pointermove', 400, 30, { button: 2 });
  });
  for (const key of ['+', '=', '-', 'ArrowRight', 'ArrowLeft', '0', 'f', 'x'])
    await step(`the key ${key}`, () => page.key('canvas', key));
  await step('a click on a request', async () => {
    await page.click('button', 'Fit');
    await page.pointer('pointerdown', 156, 20);
    await page.pointer('pointerup', 156, 20);
  });
  await step('a click beside all requests', async () => {
    await page.pointer('pointerdown', 700, 20);
    await page.pointer('pointerup', 700, 20);
  });
  await step('follows again', () => page.click('button', 'Follow'));
  await step('one more request', () => get('/accounts/1'));
  await step('stands still', () => page.click('button', 'Pause'));
  await step('and one more', () => get('/accounts/2'));
  await step('another page, and back', async () => {
    await page.go('#faults');
    await page.go('#requests');
  });
  await step('a request that is not shown is opened', () => page.go('#requests/1'));
  await step('a request that is opened before it arrives', async () => {
    await page.go('#requests/10');
    await page.later(60_000);
    await get('/accounts/3');
  });
  await step('the log is emptied', () => Promise.resolve(server.core.clearLogs()));
  await step('a request after it', () => get('/accounts/3'));
  await expectRecorded('timeline');
});

test('many requests are scrolled as recorded', async () => {
  session = await Session.open(serverWith({ rateLimit: false }));
  const { page } = session;
  const { get, send } = connectorOf(session);
  await session.step('sixty requests', async () => {
    for (let sent = 1; sent <= 60; sent += 1) await get(`/boms/${sent}`);
  });
  await session.step('scrolled to the middle', () => page.scroll('.request-table', 960));
  await session.step('two more requests', async () => {
    await get('/boms/61');
    await get('/boms/62');
  });
  await session.step('a row is opened', () => page.click('tr:has([href="#requests/30"])'));
  await session.step('arrow down', async () => {
    for (let pressed = 0; pressed < 13; pressed += 1) await page.key('.request-table', 'ArrowDown');
  });
  await session.step('scrolled to the end', () => page.scroll('.request-table', 1_584));
  await session.step('arrow up', () => page.key('.request-table', 'ArrowUp'));
  await session.step('a filter', () => page.fill('Filter requests', 'boms/6'));
  await session.step('scrolled to the start, with a large body and many headers', async () => {
    await page.fill('Filter requests', '');
    await page.scroll('.request-table', 0);
    await send('POST /products', { name: 'x'.repeat(70_000) });
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    await get('/boms', 'full', { headers: Object.fromEntries(names.map((name) => [`x-${name}`, name])) });
  });
  await session.step('the large body is opened', () => page.go('#requests/63'));
  await session.step('the many headers are opened', () => page.go('#requests/64'));
  await session.step('twenty thousand more', async () => {
    const entry = { method: 'GET', path: '/x', url: '/x', key: 'full', idempotencyKey: null, status: 200 };
    const ended = { error: null, records: null, fault: null, durationMs: 1, bodyBytes: 0, quota: null };
    const response = { sent: 'whole', headers: {}, bodyBytes: 2 };
    const entries = Array.from({ length: 20_000 }, (_, at) => {
      return { ...entry, ...ended, response, number: at + 65, startedAt: 1_769_860_900_000 + at };
    });
    page.receive('request', entries);
    await page.later();
  });
  await expectRecorded('many-requests');
});

test('records are shown and changed as recorded', async () => {
  const records = { accounts: 3, products: 55 };
  session = await Session.open(serverWith({ records, commitDelayMs: 0 }), '#records');
  const { page, server } = session;
  const { send } = connectorOf(session);

  await session.step('the next page', () => page.click('.pager button', 'Next'));
  await session.step('the previous page', () => page.click('.pager button', 'Previous'));
  await session.step('a search on the second page', async () => {
    await page.click('.pager button', 'Next');
    await page.fill('Search records', 'P-100051');
  });
  await session.step('a search without a result', () => page.fill('Search records', 'no <such> text'));
  await session.step('no search', () => page.fill('Search records', ''));
  await session.step('another collection from the second page', async () => {
    await page.click('.pager button', 'Next');
    await page.click('.collections a', 'accounts');
  });
  await session.step('a collection without records', () => page.click('.collections a', 'boms'));
  await session.step('the other company', () => page.click('.tabs button', 'Other'));
  await session.step('its accounts', () => page.go('#records/accounts'));
  await session.step('a record of it', () => page.click('.record-table a'));
  await session.step('the first company', async () => {
    await page.go('#records/accounts');
    await page.click('.tabs button', 'First company');
  });
  await session.step('a record', () => page.click('.record-table a', '2'));
  const edit = async (text: string) => {
    await page.fill('Record as JSON', text);
    await page.submit('.editor');
  };
  const textOf = () => (page.field('Record as JSON') as HTMLTextAreaElement).value;
  await session.step('it is saved as it is', () => page.submit('.editor'));
  await session.step('fields are changed, and others are taken out', () =>
    edit('{"id":"2","name":"Élan","accountNumber":1.50,"kind":12345678901234567890,"tags":["a",{"b":null}]}'),
  );
  await session.step('it is written back', () => edit(textOf().replace('"name": "Élan"', '"name": "Elan"')));
  await session.step('no object', () => edit('[1]'));
  await session.step('no JSON', () => edit('{"id":'));
  await session.step('a key changes another record', () =>
    send('PATCH /products/1', { name: 'Desk', ean: '' }),
  );
  await session.step('another program changes one', () =>
    server.control('PATCH /records/products/2', { name: 'Sofa' }),
  );
  await session.step('all changes', () => page.click('.changes button'));
  await session.step('fewer changes', () => page.click('.changes button'));
  await session.step('a new record', () => page.click('a', 'Add a record'));
  await session.step('an id that exists', () => edit('{"id":"2"}'));
  await session.step('another id', () => edit('{"id":"a/b %","name":"Pine"}'));
  await session.step('it is deleted', () => page.click('.editor button', 'Delete'));
  await session.step('a record that does not exist', () => page.go('#records/accounts/77'));
  await session.step('a collection that does not exist', () => page.go('#records/nothing'));
  await session.step('a minute later', async () => {
    await page.go('#records/accounts');
    server.core.state.clock.advance(61_000);
    await page.later(2_000);
  });
  await session.step('a record is changed by a test in the same process', async () => {
    server.core.state.companies.main.accounts.delete('1');
    await page.later(2_000);
  });
  await session.step('records of many forms, one of them changed twice', async () => {
    const { boms } = server.core.state.companies.main;
    boms.insert({ code: 'A', parts: [1] });
    boms.insert({ name: 'Second', parts: { of: 2 }, remark: 'x'.repeat(61), createdAt: '2020-01-01' });
    boms.insert({ name: null, extra: false, parts: null });
    await send('PATCH /products/1', { name: 'Desk' });
    server.control('PATCH /records/boms/1', { code: 'B' });
    server.core.state.clock.advance(10_000);
    server.control('PATCH /records/boms/1', { code: 'C' });
    await page.go('#records/boms');
  });
  await session.step('back', () => page.go('#records/accounts'));
  await session.step('a test in the same process empties the log', () => server.core.clearLogs());
  await session.step('the record that is open is gone', async () => {
    await page.go('#records/accounts/3');
    server.core.state.companies.main.accounts.delete('3');
    await page.submit('.editor');
    await page.click('.editor button', 'Delete');
  });
  await expectRecorded('records');
});

test('faults are added and ended as recorded', async () => {
  session = await Session.open(serverWith(), '#faults');
  const { page, server } = session;
  const { get } = connectorOf(session);

  for (const title of ['Responses lost', 'Service down', 'Slow', 'One record broken', 'Quota of 10'])
    await session.step(`the preset ${title}`, () => page.click('.preset', title));
  await session.step('two requests meet them', async () => {
    void get('/accounts');
    void get('/products/1');
    await page.later(2_500);
  });
  await session.step('one is switched off', () => page.click('.fault-row [role=switch]', 'status'));
  await session.step('and on', () => page.click('.fault-row.ended [role=switch]'));
  await session.step('the quota is switched off', () => page.click('[role=switch]', 'quota'));
  await session.step('all are ended', () => page.click('button', 'End all'));
  await session.step('its notice is dismissed', () => page.click('.notice button'));
  await session.step('another program adds one', () => server.control('POST /faults', { kind: 'stall' }));
  await session.step('one that was added by code', () =>
    server.core.faults.add({ kind: 'rewrite', body: (body) => body }, { path: /x/ }),
  );
  await session.step('it is shown after two seconds', () => page.later(2_000));
  for (const kind of ['disconnect', 'slow-body', 'status', 'connection-refused'])
    await session.step(`the kind ${kind}`, () => page.fill('What happens', kind));
  await session.step('it is added without an end', async () => {
    await page.fill('method', '');
    await page.fill('times', '');
    await page.submit('.builder');
  });
  await session.step('for a second', async () => {
    await page.fill('forMs', '1000');
    await page.submit('.builder');
    server.core.faults.clear();
  });
  await session.step('a status with a body and conditions', async () => {
    await page.fill('What happens', 'status');
    await page.fill('status', '404');
    await page.fill('body', '{"a":1}');
    await page.fill('retryAfter', '5');
    await page.fill('method', 'GET');
    await page.fill('collection', 'accounts');
    await page.fill('times', '2');
    await page.fill('probability', '0.5');
  });
  await session.step('it is added', () => page.submit('.builder'));
  await session.step('its code is copied', () => page.click('.builder .rule-code button'));
  await session.step('a value that is not allowed', async () => {
    await page.fill('probability', 'often');
    await page.submit('.builder');
  });
  await session.step('a value that is taken back, and a body that is a text', async () => {
    await page.fill('probability', ' ');
    await page.fill('body', '{"a":');
  });
  await session.step('another kind keeps the conditions', () => page.fill('What happens', 'lost-response'));
  await session.step('true or false', () => page.fill('committed', 'false'));
  await session.step('the sandbox does not respond', async () => {
    server.isUp = false;
    await page.submit('.builder');
  });
  await expectRecorded('faults');
});

test('clock, keys, options and a reset are shown as recorded', async () => {
  const options = {
    rateLimit: { limit: 5, windowMs: 60_000 },
    order: 'id-desc',
    lockedRecords: ['1'],
    clock: Date.parse('2026-01-31T12:00:00Z'),
  } as const;
  session = await Session.open(serverWith(options), '#service');
  const { page, server } = session;
  const { get, create } = connectorOf(session);

  for (const step of ['+1 min', '+1 h', '+1 day', 'Stop'])
    await session.step(`the clock: ${step}`, () => page.click('.buttons button', step));
  const set = async (text: string) => {
    await page.fill('Set to', text);
    await page.submit('form.inline');
  };
  await session.step('the clock is set', () => set('2030-01-31T12:00:00.250+01:00'));
  await session.step('to no timestamp', () => set('someday'));
  await session.step('a key is used', () => get('/accounts'));
  await session.step('its quota is used up', async () => {
    for (let sent = 0; sent < 5; sent += 1) await get('/accounts');
  });
  await session.step('a key is issued', async () => {
    await page.fill('Another key', 'none');
    const issue = [...page.document.querySelectorAll('form.inline')].at(-1);
    issue?.dispatchEvent(Object.assign(page.event('submit'), {}));
  });
  await session.step('a key of few collections is issued by code', async () => {
    server.core.state.keyring.issue({ access: 'read', collections: ['accounts', 'boms'] });
    await page.later(2_000);
  });
  await session.step('a key is copied', () => page.click('.keys button', 'Copy'));
  await session.step('a key is revoked', () => page.click('button', 'Revoke readOnly'));
  await session.step('a reset is asked for', () => page.click('button', 'Reset …'));
  await session.step('it is cancelled', () => page.click('button', 'Cancel'));
  await session.step('the sandbox is reset', async () => {
    await create('k', { name: 'Desk' });
    await page.click('button', 'Reset …');
    await page.click('button', 'Reset everything');
  });
  await session.step('the page of requests', () => page.click('nav a', 'Requests'));
  await session.step('a test resets it with other options', async () => {
    await page.click('nav a', 'Service');
    server.core.reset({ rateLimit: false, seed: 7, fixtures: { boms: [{ id: '1' }] } });
    await page.later(2_000);
  });
  await expectRecorded('service');
});

test('what happens while the window is disconnected is shown as recorded', async () => {
  const first = serverWith();
  const send = async (path: string) => (await first.send(`GET ${path}`)).text();
  session = await Session.open(first);
  const { page } = session;
  const connection = async (title: string, work: () => unknown) => {
    await session?.step(title, async () => {
      await work();
      await page.later(4_000);
    });
  };
  await connection('a request', () => send('/boms/1'));
  await connection('the sandbox is not reachable', () => first.stop());
  await connection('it is again, after two requests', async () => {
    await send('/boms/2');
    await send('/boms/3');
    first.isUp = true;
  });
  await connection('its log is emptied meanwhile', async () => {
    first.stop();
    first.core.clearLogs();
    first.isUp = true;
  });
  await connection('a request', () => send('/boms/4'));
  await connection('its log is emptied meanwhile, and another request follows', async () => {
    first.stop();
    first.core.clearLogs();
    await send('/boms/5');
    first.isUp = true;
  });
  await connection('a request, and the end of another one, while the log is on its way', async () => {
    first.stop();
    first.core.faults.add({ kind: 'delay', ms: 5_300 }, { times: 1 });
    void send('/boms/6');
    first.isUp = true;
    first.latencyMs = 1_000;
    await page.later(4_500);
    await send('/boms/7');
    await page.later(1_000);
    first.latencyMs = 0;
  });
  await connection('the log is emptied', () => first.core.clearLogs());
  await connection('another sandbox on its port', async () => {
    await send('/boms/8');
    first.stop();
    page.server = serverWith();
    await page.server.send('GET /boms/9');
  });
  await connection('the browser gives up, and the window tries again', () => page.giveUp());
  await connection('a request', async () => page.server.send('GET /boms/10'));
  await connection('a request while the tab is hidden', async () => {
    page.hide();
    await page.server.send('GET /boms/11');
  });
  await connection('the tab is shown', () => page.show());
  await expectRecorded('connection');
});
