import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { jsonResponse, scriptedClient, scriptedFetch } from '../../support/scripted-fetch.ts';
import { settle } from '../../support/scripted-server.ts';

/** So many pages of three records, and the records of a walk through them. */
function walkOf(pages: number) {
  const fetch = scriptedFetch(({ url }) => {
    const page = Number(url.searchParams.get('_page'));
    return jsonResponse(page <= pages ? [1, 2, 3].map((n) => ({ id: String(page * 10 + n) })) : []);
  });
  const controller = new AbortController();
  const { signal } = controller;
  const walk = scriptedClient(fetch).accounts.list({}, { signal, prefetch: 0 });
  return { fetch, controller, records: walk[Symbol.asyncIterator]() };
}

const reason = new Error('enough');

test('a walk that is stopped in the middle of a page hands nothing more of it out', async () => {
  const { fetch, controller, records } = walkOf(3);
  expect((await records.next()).value?.id).toBe('11');
  controller.abort(reason);
  expect(await caught(records.next())).toBe(reason);
  expect(await records.next()).toEqual({ done: true, value: undefined });
  await settle();
  expect(fetch.requests).toHaveLength(1);
});

test('a walk that is stopped behind a page asks for no other', async () => {
  const { fetch, controller, records } = walkOf(3);
  for (let n = 0; n < 3; n += 1) await records.next();
  controller.abort(reason);
  expect(await caught(records.next())).toBe(reason);
  expect(await records.next()).toEqual({ done: true, value: undefined });
  expect(fetch.requests).toHaveLength(1);
});

test('a signal that fires when the walk is over changes nothing', async () => {
  const { controller, records } = walkOf(1);
  for (let n = 0; n < 3; n += 1) expect((await records.next()).done).toBe(false);
  expect(await records.next()).toEqual({ done: true, value: undefined });
  controller.abort(reason);
  expect(await records.next()).toEqual({ done: true, value: undefined });
});

test.each([[new Error('enough')], ['enough']])(
  'a certified walk rejects with %j and adds nothing to it',
  async (why) => {
    const fetch = scriptedFetch(({ url }) =>
      jsonResponse(url.searchParams.has('id[gt]') ? [] : [1, 2, 3].map((n) => ({ id: String(n) }))),
    );
    const controller = new AbortController();
    const { signal } = controller;
    const pages = scriptedClient(fetch)
      .accounts.list({}, { signal, prefetch: 0, pagination: 'keyset' })
      .pages();
    const stopped = caught(pages.next());
    controller.abort(why);
    expect(await stopped).toBe(why);
    expect(Object.keys(Object(why))).not.toContain('resumeToken');
  },
);

test('leaving a page in its middle leaves the walk: what is left of it is not handed out', async () => {
  const { fetch, records } = walkOf(3);
  await records.next();
  expect(await records.return?.()).toEqual({ done: true, value: undefined });
  expect(await records.next()).toEqual({ done: true, value: undefined });
  expect(fetch.requests).toHaveLength(1);
});
