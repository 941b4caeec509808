// Routes of single records that do not take every id: the service lists records that it does not find by their ids.

import { DatabaseSync } from 'node:sqlite';
import { createClient, refresh, sync } from 'accounting-data-sdk';
import { sqliteTarget } from 'accounting-data-sdk/targets';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { jsonResponse, newOrigin, problemResponse } from '../../support/scripted-fetch.ts';

/** A service that lists accounts in pages of 30 and looks for what `routed` makes of an id. */
function serviceOf(ids: readonly string[], routed: (id: string) => string | undefined) {
  const state = {
    exist: new Set(ids),
    hidden: new Set<string>(),
    requested: [] as string[],
    pages: 0,
    onGet: () => {},
  };
  const fetch = async (url: string) => {
    const { pathname, searchParams } = new URL(url);
    const id = pathname.split('/accounts/')[1];
    if (id !== undefined) {
      const asked = decodeURIComponent(id);
      state.requested.push(asked);
      const found = routed(asked);
      return found !== undefined && state.exist.has(found)
        ? jsonResponse({ id: found })
        : problemResponse(404, { type: 'not_found', title: 'Not found' });
    }
    state.pages += 1;
    const page = Number(searchParams.get('_page') ?? 1);
    const rows = [...state.exist].filter((each) => !state.hidden.has(each)).map((each) => ({ id: each }));
    return jsonResponse(rows.slice((page - 1) * 30, page * 30));
  };
  const client = createClient({
    baseUrl: newOrigin(),
    apiKey: 'key',
    rateLimiter: false,
    retry: false,
    fetch,
  });
  const database = new DatabaseSync(':memory:');
  const run = { tenant: 'acme', target: sqliteTarget(database), collections: ['accounts'] } as const;
  const copied = () =>
    database
      .prepare('SELECT id FROM accounting_record')
      .all()
      .map(({ id }) => String(id));
  return { state, client, run, copied };
}

const numbered = (count: number, id: (n: string) => string) =>
  Array.from({ length: count }, (_, n) => id(String(n).padStart(3, '0')));

const plain = numbered(40, (n) => `a-${n}`);
const cutAt = (char: string) => (id: string) => id.split(char)[0];
const only = (pattern: RegExp) => (id: string) => (pattern.test(id) ? id : undefined);

/** What the ids have that the route does not take, some of them, and the route. */
const kinds: readonly (readonly [string, readonly string[], (id: string) => string | undefined])[] = [
  ['a dot', numbered(40, (n) => `mail.host.${n}`), cutAt('.')],
  ['a semicolon', numbered(40, (n) => `a;${n}`), cutAt(';')],
  ['a slash', numbered(40, (n) => `a/${n}`), only(/^[^/]*$/)],
  ['a percent sign', numbered(40, (n) => `a%${n}`), only(/^[^%]*$/)],
  ['a colon', numbered(40, (n) => `a:${n}`), only(/^[^:]*$/)],
  ['a space', numbered(40, (n) => `a ${n}`), only(/^\S*$/)],
  ['characters beyond ASCII', numbered(40, (n) => `ä${n}`), only(/^[ -~]*$/)],
  ['a plus sign', numbered(40, (n) => `a+${n}`), (id) => id.replaceAll('+', ' ')],
];

test.each(kinds)(
  'a full sync keeps records whose id has %s, which the service lists but does not find',
  async (_, odd, routed) => {
    const { state, client, run, copied } = serviceOf([...plain, ...odd], routed);
    await sync(client, run);
    // Four of each are not listed; one of each is deleted.
    for (const id of [...plain.slice(0, 4), ...odd.slice(0, 4)]) state.hidden.add(id);
    for (const id of [plain[9], odd[9]]) state.exist.delete(id as string);
    const [report] = (await sync(client, { ...run, mode: 'full' })).collections;
    expect(report?.deletions).toMatchObject({ candidates: 10, deleted: 1, repaired: 4 });
    const kept = report?.deletions?.unconfirmed ?? [];
    expect(kept.map(({ id }) => id).toSorted()).toEqual([...odd.slice(0, 4), odd[9]].toSorted());
    for (const { error } of kept)
      expect(error).toMatchObject({ reason: 'unrouted_id', code: 'unexpected_response' });
    expect(copied().toSorted()).toEqual([...state.exist, odd[9]].toSorted());
    // Now the client knows it.
    expect(await caught(client.accounts.find(odd[0] as string))).toMatchObject({ reason: 'unrouted_id' });
    expect(await caught(client.accounts.get(odd[9] as string))).toMatchObject({ reason: 'unrouted_id' });
    expect(await client.accounts.find('a-999')).toBeUndefined();
  },
);

test('a full sync keeps records whose id begins with a zero, which a route that casts ids does not find', async () => {
  const padded = numbered(40, (n) => `0${n}`);
  const { state, client, run, copied } = serviceOf(
    [...numbered(40, (n) => `1${n}`), ...padded],
    (id) => `${Number(id)}`,
  );
  const byPage = client.withOptions({ pagination: 'page' });
  await sync(byPage, run);
  state.hidden.add('0003');
  for (const id of ['0009', '1009']) state.exist.delete(id);
  const [report] = (await sync(byPage, { ...run, mode: 'full' })).collections;
  expect(report?.deletions).toMatchObject({ candidates: 3, deleted: 1 });
  expect(report?.deletions?.unconfirmed.map(({ id }) => id).toSorted()).toEqual(['0003', '0009']);
  expect(String(report?.deletions?.unconfirmed[0]?.error)).toContain(', which the service lists,');
  expect(copied().toSorted()).toEqual([...state.exist, '0009'].toSorted());
});

test('a full sync names what ids have that are not found, and a record that shows it', async () => {
  const odd = numbered(40, (n) => `mail.host.${n}`);
  const { state, client, run } = serviceOf([...plain, ...odd], cutAt('.'));
  await sync(client, run);
  state.exist.delete('mail.host.017');
  const [report] = (await sync(client, { ...run, mode: 'full' })).collections;
  const [kept] = report?.deletions?.unconfirmed ?? [];
  expect(String(kept?.error)).toContain(
    'the record "mail.host.000", which the service lists, is not found by its id',
  );
  // Three records of the form, and no more for other candidates.
  expect(state.requested.filter((id) => id.startsWith('mail'))).toHaveLength(4);
});

test('a run that resumes after the last page asks for records of the form that the one before has listed', async () => {
  const odd = numbered(40, (n) => `mail.host.${n}`);
  const { state, client, run, copied } = serviceOf([...plain, ...odd], (id) => id);
  await sync(client, run);
  for (const id of ['a-003', 'mail.host.017']) state.exist.delete(id);
  // Its pages, and the first of the look-ups.
  const first = await sync(client, { ...run, mode: 'full', stopAfter: { requests: state.pages + 1 } });
  expect([first.paused, state.requested.length]).toEqual([true, 1]);
  state.pages = 0;
  const [report] = (await sync(client, { ...run, mode: 'full' })).collections;
  expect([state.pages, report?.deletions]).toMatchObject([0, { deleted: 2, unconfirmed: [] }]);
  expect(copied().toSorted()).toEqual([...state.exist].toSorted());
});

test('records of a form of which none is listed are kept', async () => {
  const { state, client, run, copied } = serviceOf([...plain, 'one.of.its.kind'], (id) => id);
  await sync(client, run);
  state.exist.delete('one.of.its.kind');
  const [report] = (await sync(client, { ...run, mode: 'full' })).collections;
  expect(report?.deletions).toMatchObject({ deleted: 0, unconfirmed: [{ id: 'one.of.its.kind' }] });
  expect(String(report?.deletions?.unconfirmed[0]?.error)).toContain(
    'no record whose id has letters and "."',
  );
  expect(copied()).toContain('one.of.its.kind');
  expect(await client.accounts.find('another.of.its.kind')).toBeUndefined();
});

test.each([
  ['all ids have a dot, and the route takes them', numbered(80, (n) => `mail.host.${n}`), (id: string) => id],
  [
    'some ids have a dot, and the route takes them',
    [...plain, ...numbered(40, (n) => `a.${n}`)],
    (id: string) => id,
  ],
  [
    'one in forty has letters, and the route takes them',
    [...numbered(80, String), 'A-1', 'A-2'],
    (id: string) => id,
  ],
] as const)('a full sync deletes what is gone if %s', async (_, ids, routed) => {
  const { state, client, run, copied } = serviceOf(ids, routed);
  await sync(client, run);
  for (const id of [ids.at(-1), ids[20]]) state.exist.delete(id as string);
  const [report] = (await sync(client, { ...run, mode: 'full' })).collections;
  expect(report?.deletions).toMatchObject({ deleted: 2, unconfirmed: [] });
  expect(copied().toSorted()).toEqual([...state.exist].toSorted());
});

test('refresh keeps and reports records of a form that the service does not find', async () => {
  const odd = numbered(40, (n) => `mail.host.${n}`);
  const { state, client, run, copied } = serviceOf([...plain, ...odd], cutAt('.'));
  await sync(client, run);
  for (const id of ['a-003', 'mail.host.003']) state.exist.delete(id);
  const ids = ['a-003', 'a-004', 'mail.host.003', 'mail.host.004'];
  state.requested.length = 0;
  const report = await refresh(client.accounts, { tenant: 'acme', target: run.target, ids });
  expect(report).toMatchObject({ deleted: 1, unchanged: 1 });
  expect(report.unconfirmed.map(({ id }) => id)).toEqual(['mail.host.003', 'mail.host.004']);
  expect(copied()).toEqual(expect.arrayContaining(['mail.host.003', 'mail.host.004']));
  expect(copied()).not.toContain('a-003');
  // Three others of the form are enough to tell.
  expect(state.requested.filter((id) => id.includes('mail') && !ids.includes(id))).toHaveLength(3);
});

test('refresh deletes what is gone if another record of its form is found, but none of those that it was given', async () => {
  const odd = numbered(40, (n) => `mail.host.${n}`);
  // These, which come first, have nothing that the odd ones have not, and show nothing of those.
  const simple = numbered(40, (n) => `a${n}`);
  const { state, client, run, copied } = serviceOf([...simple, ...odd], (id) => id);
  await sync(client, run);
  const ids = odd.slice(0, 5);
  for (const id of ids) state.exist.delete(id);
  const report = await refresh(client.accounts, { tenant: 'acme', target: run.target, ids });
  expect(report).toMatchObject({ deleted: 5, unconfirmed: [] });
  expect(copied().toSorted()).toEqual([...state.exist].toSorted());
});
