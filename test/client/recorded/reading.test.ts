import {
  type Client,
  type ClientOptions,
  type CustomCursor,
  createClient,
  type Page,
} from 'accounting-data-sdk';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { runToEnd, startEvenClock, useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

type Boms = Page<{ id: string }>;

/** Writes a line with the virtual time. */
type Log = (text: string) => void;

/** The rows of a request; `n` counts from 1. */
type Respond = (parameters: URLSearchParams, n: number) => readonly object[] | Response;

interface Play {
  readonly service?: SandboxOptions;
  readonly options?: ClientOptions;
  /** In place of a sandbox. */
  readonly respond?: Respond;
  readonly read: (client: Client, log: Log, sandbox: ReturnType<typeof createSandbox>) => Promise<unknown>;
}

const idsOf = (records: readonly { id: string }[]) => records.map(({ id }) => id).join(' ');
const shown = ({ records, complete, repeated, restarted, resumeToken, evidence }: Boms) =>
  [
    `page ${idsOf(records)}`,
    `${complete} (${evidence.facts.join(' ')})`,
    ...(repeated > 0 ? [`${repeated} repeated`] : []),
    ...(restarted ? ['restarted'] : []),
    ...(resumeToken === undefined ? [] : [positionIn(resumeToken)]),
  ].join(' | ');

/** What a token holds beside its checksum. */
function positionIn(token: string): string {
  const { at } = JSON.parse(Buffer.from(token, 'base64url').toString());
  return JSON.stringify(at).replaceAll('"', '');
}

/** Reads all pages, with 250 ms of work for each. */
async function slowly(pages: AsyncIterable<Boms>, log: Log): Promise<void> {
  for await (const page of pages) {
    log(shown(page));
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

/** Reads pages until one, then goes on from its token, with other options. */
const resumed =
  (pages: number, options: ClientOptions = {}): Play['read'] =>
  async (client, log, sandbox) => {
    let resumeFrom: string | undefined;
    let left = pages;
    for await (const page of client.boms.list().pages()) {
      log(shown(page));
      resumeFrom = page.resumeToken;
      if (--left === 0) break;
    }
    sandbox.store.boms.delete('5');
    sandbox.store.boms.insert({ name: 'new' });
    log('resumed, without 5 and with another one');
    const { pagination, prefetch } = options;
    const own = { resumeFrom, ...(pagination ? { pagination } : {}), ...(prefetch ? { prefetch } : {}) };
    await slowly(client.boms.list({}, own as object).pages(), log);
  };

const read: Play['read'] = (client, log) => slowly(client.boms.list().pages(), log);
const toArray =
  (limit: number, options: object = {}): Play['read'] =>
  async (client, log) =>
    log(`array ${idsOf(await client.boms.list({}, options).toArray({ limit }))}`);

const byLastId: CustomCursor<unknown> = {
  first: { parameters: { size: '4' } },
  next: ({ ids }) => (ids.length === 0 ? undefined : { id: { gt: ids.at(-1) as string } }),
};
let pagesOfCursor = 0;
const throwing: CustomCursor<unknown> = {
  first: {},
  next: () => {
    pagesOfCursor += 1;
    if (pagesOfCursor === 2) throw new RangeError('no third page');
    return { page: pagesOfCursor + 1 };
  },
};

/** A service by the number of the page: its rows by their ids, separated by blanks. */
const pages =
  (...ids: readonly (string | Response)[]): Respond =>
  (parameters) => {
    const page = ids[Number(parameters.get('_page') ?? '1') - 1] ?? '';
    return page instanceof Response
      ? page
      : page
          .split(' ')
          .filter(Boolean)
          .map((id) => ({ id }));
  };
/** The same by the number of the request, with links to the next one. */
const links =
  (...steps: readonly (readonly [ids: string, query?: string])[]): Respond =>
  (_, n) => {
    const [ids = '', query] = steps[n - 1] ?? [];
    const next = query === undefined ? {} : { link: `</boms?${query}>; rel="next"` };
    return Response.json(
      ids
        .split(' ')
        .filter(Boolean)
        .map((id) => ({ id })),
      { headers: next },
    );
  };
/** A service in the order of these rows, with pages of a size and all bounds on id. */
const bounded =
  (rows: readonly { id: string }[], size: number): Respond =>
  (parameters) => {
    const bound = (name: string, least: bigint) => BigInt(parameters.get(`id[${name}]`) ?? least);
    const most = 10n ** 30n;
    const found = rows.filter(({ id: text }) => {
      const id = BigInt(text);
      return (
        id > bound('gt', -1n) && id >= bound('gte', 0n) && id < bound('lt', most) && id <= bound('lte', most)
      );
    });
    const page = Number(parameters.get('_page') ?? 1);
    return found.slice(size * (page - 1), size * page);
  };
const gone = () => Response.json({ type: 'not_found', status: 404 }, { status: 404 });
const failed = () => Response.json({ title: 'Broken' }, { status: 500 });
const proxy = () =>
  new Response('<h1>Nothing here</h1>', { status: 404, headers: { 'content-type': 'text/html' } });
const odd = [{ id: '1' }, { id: '2', updatedAt: 7 }, { name: 'no id' }, 5] as readonly object[];
const until =
  (ms: number, prefetch: number): Play['read'] =>
  async (client, log) => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error('the caller stops')), ms);
    const list = client.boms.list({}, { signal: controller.signal, prefetch });
    for await (const page of list.pages()) log(shown(page));
  };

const PLAYS: Readonly<Record<string, Play>> = {
  'keyset, prefetch 0': { read, options: { prefetch: 0 } },
  'keyset, prefetch 1': { read },
  'keyset, prefetch 4': { read, options: { prefetch: 4 } },
  'keyset, prefetch 4, sparse ids': { read, options: { prefetch: 4 }, service: { ids: { gap: 7 } } },
  'keyset, prefetch 4, descending': { read, options: { prefetch: 4 }, service: { order: 'id-desc' } },
  'keyset, prefetch 4, no order': { read, options: { prefetch: 4 }, service: { order: 'none' } },
  'keyset, prefetch 4, little quota': {
    read,
    options: { prefetch: 4 },
    service: { rateLimit: { limit: 9, windowMs: 60_000 } },
  },
  'keyset, listOrder id': { read, options: { listOrder: 'id', prefetch: 2 } },
  'keyset, listOrder id, of another order': {
    read,
    options: { listOrder: 'id' },
    service: { order: 'updated-desc' },
  },
  'keyset, the bounds of the caller': {
    read: (client, log) => slowly(client.boms.list({ id: { gt: '3', lte: '14' } }).pages(), log),
  },
  'keyset, bounds that exclude everything': {
    read: (client, log) => slowly(client.boms.list({ id: { gt: '5', lt: '6' } }).pages(), log),
  },
  'keyset, between': {
    read: (client, log) => slowly(client.boms.list({ id: { between: ['4', '9'] } }).pages(), log),
  },
  'keyset, both operators of a side': {
    read: (client, log) => slowly(client.boms.list({ id: { gt: '3', gte: '3' } }).pages(), log),
  },
  'keyset by name, both operators of a side': {
    read: (client, log) =>
      slowly(client.boms.list({ id: { gt: '3', gte: '3' } }, { pagination: 'keyset' }).pages(), log),
  },
  'resumed after the first page': { read: resumed(1) },
  'resumed after the third page, prefetch 4': { read: resumed(3), options: { prefetch: 4 } },
  'resumed after the end': { read: resumed(99) },
  'resumed, descending': { read: resumed(2), service: { order: 'id-desc' } },
  'resumed, no order': { read: resumed(2), service: { order: 'none' } },
  'resumed, text ids': { read: resumed(2), service: { ids: { form: 'text' } } },
  'resumed by page': { read: resumed(1, { pagination: 'page' }) },
  'resumed by first': {
    read: async (client, log) => {
      const { value } = await client.boms.list().pages().next();
      const list = client.boms.list({}, { resumeFrom: value?.resumeToken });
      log(
        `first ${JSON.stringify((await list.first())?.id)}, array ${idsOf(await list.toArray({ limit: 2 }))}`,
      );
    },
  },
  'page, prefetch 0': { read, options: { pagination: 'page', prefetch: 0 } },
  'page, prefetch 1': { read, options: { pagination: 'page' } },
  'page, prefetch 4': { read, options: { pagination: 'page', prefetch: 4 } },
  'page, from page 3': { read: (client, log) => slowly(client.boms.list({ page: 3 }).pages(), log) },
  'page 3 by keyset': {
    read: (client, log) => slowly(client.boms.list({ page: 3 }, { pagination: 'keyset' }).pages(), log),
  },
  'page, a service that rejects pages after the last': {
    read,
    options: { pagination: 'page' },
    service: { afterLastPage: 'not_found' },
  },
  'page, the same with afterLastPage': {
    read,
    options: { pagination: 'page', afterLastPage: 'not_found', prefetch: 4 },
    service: { afterLastPage: 'not_found' },
  },
  'page, of a service without pages': {
    read,
    options: { pagination: 'page' },
    service: { paginated: false },
  },
  'none, of a service with pages': { read, options: { pagination: 'none' } },
  'none, of a service that counts': {
    read,
    options: { pagination: 'none' },
    service: { formats: 'jsonld', listBody: 'hydra:member' },
  },
  'link, in the header': {
    read,
    options: { pagination: 'link', prefetch: 4 },
    service: { linkHeader: true },
  },
  'link, prefetch 0': { read, options: { pagination: 'link', prefetch: 0 }, service: { linkHeader: true } },
  'link, a cursor in the body': { read, options: { pagination: 'link' }, service: { cursor: 'body' } },
  'a cursor of the caller': { read, options: { pagination: byLastId, prefetch: 4 } },
  'a cursor that throws': { read, options: { pagination: throwing } },
  'by collection': { read, options: { pagination: { boms: 'page', accounts: 'none' } } },
  'with parameters': {
    read: (client, log) => slowly(client.boms.list({}, { parameters: { b: '2' } }).pages(), log),
    options: { pagination: 'page', parameters: { a: '1' }, pageParameter: 'p' },
    service: { pageParameter: 'p' },
  },
  'page, rows that come again': {
    read,
    options: { pagination: 'page' },
    respond: pages('a b c d e', 'e f g', 'b h', 'h i j'),
  },
  'page, a page without a new row in the middle': {
    read,
    options: { pagination: 'page', prefetch: 0 },
    respond: pages('a b c', 'c b', 'd e', 'e d'),
  },
  'page, the last one again and again': {
    read,
    options: { pagination: 'page' },
    respond: (parameters) =>
      (parameters.get('_page') === '1' ? 'abcde' : 'fghij').split('').map((id) => ({ id })),
  },
  'page, an empty page and then rows, prefetch 4': {
    read,
    options: { pagination: 'page', prefetch: 4 },
    respond: pages('a b', '', 'c', failed(), failed()),
  },
  'page, an empty page and then failures': {
    read,
    options: { pagination: 'page', prefetch: 4, retry: false },
    respond: pages('a b', '', gone(), failed(), failed()),
  },
  'page, pages of several lengths': {
    read: toArray(8, { pagination: 'page', prefetch: 4 }),
    respond: pages('a b c d', 'e', 'f g', 'h i', 'j'),
  },
  'page, a page that fails ahead': {
    read,
    options: { pagination: 'page', prefetch: 4, retry: false },
    respond: pages('a b', 'c d', failed(), 'e f'),
  },
  'page, invalid rows that come again': {
    read: async (client, log) => {
      for await (const { records, invalid, repeated } of client.boms.list().pages())
        log(`page ${idsOf(records)} | ${invalid.map(({ id, issues }) => `${id}: ${issues}`)} | ${repeated}`);
    },
    options: { pagination: 'page', validation: 'report', prefetch: 0 },
    respond: (parameters) => (Number(parameters.get('_page')) < 3 ? odd : []),
  },
  'page, three pages of rows that came before, and then others': {
    read,
    options: { pagination: 'page' },
    respond: pages(
      '1 2 3 4 5 6 7 8 9 10 11 12',
      ...Array.from({ length: 3 }, () => '2 3 4 5 6 7 8 9 10 11 12'),
      '13 14',
    ),
  },
  'page, aborted while the end is checked': {
    read: until(150, 0),
    options: { pagination: 'page' },
    respond: pages(''),
  },
  'page, aborted while a page behind the end is sent again': {
    read: until(500, 3),
    options: { pagination: 'page' },
    respond: (parameters, n) =>
      parameters.get('_page') === '4' ? new Response(null, { status: 503 }) : pages('1 2')(parameters, n),
  },
  'none, aborted before the response': { read: until(50, 0), options: { pagination: 'none' } },
  'link, aborted ahead': {
    read: until(150, 1),
    options: { pagination: 'link' },
    service: { linkHeader: true },
  },
  'none, as many as it counts': {
    read,
    options: { pagination: 'none' },
    respond: () => Response.json({ member: [{ id: '2' }, { id: '1' }, { id: '2' }], totalItems: 3 }),
  },
  'none, of a usual length': {
    read: (client, log) => read(client.withOptions({ pagination: 'none' }), log, createSandbox()),
    service: { pageSize: 50, records: { boms: 10 } },
  },
  'link, numbers that change and then stay': {
    read,
    options: { pagination: 'link' },
    respond: links(['a', 'page=2&s=1'], ['b', 'page=3&s=1'], ['c', 'page=3&s=x'], ['d']),
  },
  'link, a number that stays': {
    read,
    options: { pagination: 'link' },
    respond: links(['a', 'size=2&s=x'], ['b', 'size=2&s=y'], ['c', 'size=2&s=z'], ['d']),
  },
  'link, empty pages between': {
    read,
    options: { pagination: 'link' },
    respond: links(['a b', 's=x'], ['', 's=y'], ['', 's=z'], ['c']),
  },
  'link, back to an earlier page': {
    read,
    options: { pagination: 'link', prefetch: 0 },
    respond: links(
      ['a b c d e', 's=x'],
      ['f', 's=y'],
      ['a b c d e', 's=x'],
      ['a b c d e', 's=x'],
      ['a b c d e', 's=x'],
    ),
  },
  'keyset, invalid rows': {
    read: async (client, log) => {
      for await (const page of client.boms.list().pages())
        log(`${shown(page)} | invalid ${idsOf(page.invalid as never)}`);
    },
    options: {
      validation: 'report',
      schemas: { boms: z.object({ id: z.string(), name: z.string() }) },
      prefetch: 2,
    },
    respond: bounded(
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((id) => ({ id: `${id}`, name: id % 4 === 2 ? 5 : 'a' })),
      4,
    ),
  },
  'keyset, invalid rows in intervals that overlap': {
    read: async (client, log) => {
      for await (const { records, invalid } of client.boms.list().pages())
        log(`page ${idsOf(records)} | invalid ${idsOf(invalid as never)}`);
    },
    options: {
      validation: 'report',
      schemas: { boms: z.object({ id: z.string(), name: z.string() }) },
      prefetch: 4,
    },
    respond: bounded(
      [1, 11, 19, 28, 29, 39, 47, 55, 57, 69, 77, 78, 88, 97, 99, 110, 113].map((id) => ({
        id: `${id}`,
        name: id > 30 ? 5 : 'a',
      })),
      5,
    ),
  },
  'keyset, rows that come twice in a response': {
    read,
    options: { prefetch: 4 },
    respond: bounded(
      [1, 2, 2, 3, 4, 4, 4, 5, 6, 7].map((id) => ({ id: `${id}` })),
      4,
    ),
  },
  'keyset, large ids': {
    read,
    respond: bounded(
      ['2147483640', '2147483647', '2147483648', '9007199254740993'].map((id) => ({ id })),
      3,
    ),
  },
  'keyset, two pages of rows that are gone later': {
    read,
    options: { prefetch: 0 },
    respond: (parameters, n) =>
      bounded(
        (n < 4 ? [1, 2, 3, 4, 5, 6, 7] : [1, 2, 3]).map((id) => ({ id: `${id}` })),
        3,
      )(parameters, n),
  },
  'keyset, no rows after the first page': {
    read,
    options: { prefetch: 0 },
    respond: (parameters, n) =>
      bounded(
        (n < 2 ? [1, 2, 3, 4, 5, 6, 7] : []).map((id) => ({ id: `${id}` })),
        3,
      )(parameters, n),
  },
  'keyset, no rows for a moment': {
    read,
    options: { prefetch: 0 },
    respond: (parameters, n) =>
      bounded(
        (n === 4 || n === 5 ? [] : [1, 2, 3, 4, 5, 6, 7]).map((id) => ({ id: `${id}` })),
        3,
      )(parameters, n),
  },
  'keyset, ids that are no integers, and rows that come again': {
    read,
    respond: pages('1 2 x', 'x 3', '3 1', '4'),
  },
  'keyset, ids that are no integers later': {
    read,
    respond: (parameters) => {
      const [after, through] = [
        Number(parameters.get('id[gt]') ?? 0),
        Number(parameters.get('id[lte]') ?? 99),
      ];
      const all = [1, 2, 3, 4, 5, 6]
        .filter((id) => id > after && id <= through)
        .map((id) => ({ id: `${id}` }));
      const isBounded = [...parameters.keys()].some((name) => name.startsWith('id['));
      if (isBounded) return (after < 3 ? all : [...all, { id: 'x7' }]).slice(0, 3);
      return [...all, { id: 'x7' }].slice(
        3 * Number(parameters.get('_page')) - 3,
        3 * Number(parameters.get('_page')),
      );
    },
  },
  'resumed, ids that are no integers': {
    read: async (client, log) => {
      const { value } = await client.boms.list().pages().next();
      await slowly(client.boms.list({}, { resumeFrom: value?.resumeToken }).pages(), log);
    },
    respond: (parameters, n) => {
      const rows = bounded(
        [1, 2, 3, 4, 5, 6].map((id) => ({ id: `${id}` })),
        3,
      )(parameters, n);
      return n < 4 || rows instanceof Response || rows.length === 0
        ? rows
        : [...rows.slice(0, -1), { id: `x${n}` }];
    },
  },
  'resumed, an id that is no integer, and nothing is lost': {
    read: async (client, log) => {
      const { value } = await client.boms.list().pages().next();
      await slowly(client.boms.list({}, { resumeFrom: value?.resumeToken }).pages(), log);
    },
    respond: (parameters, n) => {
      const rows = [1, 2, 3, 4, 5, 6].map((id) => ({ id: `${id}` }));
      if (n < 4) return bounded(rows, 3)(parameters, n);
      const page = Number(parameters.get('_page') ?? 0);
      const all = [...rows, { id: 'x7' }];
      return page === 0 ? [...rows.slice(2, 4), { id: 'x7' }] : all.slice(3 * page - 3, 3 * page);
    },
  },
  'an id that is no integer, and a row beside it that no page shows': {
    read,
    respond: (parameters, n) =>
      parameters.has('_page') ? pages('1 2 3', '5 6')(parameters, n) : [{ id: '4' }, { id: 'x7' }],
  },
  'resumed, bounds that are rejected then': {
    read: async (client, log) => {
      const { value } = await client.boms.list({}, { prefetch: 0 }).pages().next();
      await slowly(client.boms.list({}, { resumeFrom: value?.resumeToken }).pages(), log);
    },
    options: { retry: false },
    respond: (parameters, n) =>
      n > 2
        ? Response.json({ type: 'malformed_request', status: 400 }, { status: 400 })
        : bounded(
            [1, 2, 3, 4, 5, 6].map((id) => ({ id: `${id}` })),
            3,
          )(parameters, n),
  },
  'keyset, bounds that are rejected': {
    read,
    options: { retry: false },
    respond: (parameters) =>
      [...parameters.keys()].some((name) => name.startsWith('id['))
        ? Response.json({ type: 'malformed_request', status: 400 }, { status: 400 })
        : (['1 2', '3 4', '5'][Number(parameters.get('_page')) - 1]?.split(' ').map((id) => ({ id })) ?? []),
  },
  'the times of pages': {
    read: async (client, log) => {
      for await (const page of client.boms.list({}, { pagination: 'page', prefetch: 0 }).pages()) {
        const { requestedAt, serverTime, durationMs, rateLimit, first } = page;
        log(JSON.stringify({ requestedAt, serverTime, durationMs, rateLimit, first }));
      }
    },
    respond: (parameters, n) =>
      Response.json(n < 3 ? [{ id: parameters.get('_page') }] : [], {
        headers: {
          ...(n === 1 ? { date: 'Sat, 31 Jan 2026 11:00:00 GMT', age: '60' } : {}),
          ...(n === 2 ? { 'x-ratelimit-limit': '9', 'x-ratelimit-remaining': '5' } : {}),
        },
      }),
  },
  'afterLastPage, a page of a proxy first': {
    read,
    options: { pagination: 'page', afterLastPage: 'not_found' },
    respond: () => proxy(),
  },
  'afterLastPage, an empty list': {
    read,
    options: { afterLastPage: 'not_found' },
    respond: () => gone(),
  },
  'afterLastPage, a page of a proxy later': {
    read,
    options: { pagination: 'page', afterLastPage: 'not_found', prefetch: 0 },
    respond: pages('a b', proxy(), gone()),
  },
  'toArray of 0': { read: toArray(0) },
  'toArray of 1': { read: toArray(1) },
  'toArray of a page less one': { read: toArray(4) },
  'toArray of a page': { read: toArray(5) },
  'toArray of a page and one, prefetch 4': { read: toArray(6), options: { prefetch: 4 } },
  'toArray of all': { read: toArray(17) },
  'toArray of Infinity': { read: toArray(Number.POSITIVE_INFINITY) },
  'toArray by page of 1': { read: toArray(1, { pagination: 'page' }), options: { prefetch: 4 } },
  'toArray by page of 6': { read: toArray(6, { pagination: 'page' }), options: { prefetch: 4 } },
  'toArray in one response of 2': { read: toArray(2, { pagination: 'none' }) },
  'toArray by link of 6': { read: toArray(6, { pagination: 'link' }), service: { linkHeader: true } },
  first: { read: async (client, log) => log(`first ${(await client.boms.list().first())?.id}`) },
  'first of none': {
    read: async (client, log) => log(`first ${(await client.boms.list().first())?.id}`),
    service: { records: 0 },
  },
  'left after a page': {
    read: async (client, log) => {
      for await (const page of client.boms.list().pages()) {
        log(shown(page));
        break;
      }
    },
    options: { prefetch: 4 },
  },
  'left after two records, and read again': {
    read: async (client, log) => {
      const list = client.boms.list({}, { pagination: 'page' });
      for await (const { id } of list) {
        log(`record ${id}`);
        if (id === '2') break;
      }
      for await (const { id } of list) {
        log(`record ${id}`);
        break;
      }
    },
  },
  'aborted in the middle of a page': {
    read: async (client, log) => {
      const controller = new AbortController();
      for await (const { id } of client.boms.list({}, { signal: controller.signal, prefetch: 4 })) {
        log(`record ${id}`);
        if (id === '6') controller.abort(new Error('the caller stops'));
      }
    },
  },
  'failing on the third request': {
    read: async (client, log, sandbox) => {
      sandbox.faults.add({ kind: 'status', status: 500 }, { skip: 2 });
      await slowly(client.boms.list().pages(), log);
    },
    options: { retry: false },
  },
};

/** What a read does, by the virtual time: a response comes after 100 ms. */
async function play({ service, options, read, respond }: Play): Promise<string[]> {
  startEvenClock();
  pagesOfCursor = 0;
  let sent = 0;
  const sandbox = createSandbox({
    origin: 'https://service.example',
    clock: { now: () => Date.now() },
    pageSize: 5,
    records: { boms: 17 },
    ...service,
  });
  const lines: string[] = [];
  const startedAt = Date.now();
  const log = (text: string) => void lines.push(`${String(Date.now() - startedAt).padStart(6)} ${text}`);
  const client = createClient({
    ...sandbox.clientOptions,
    rateLimiter: 'client',
    logger: { debug() {}, info() {}, warn: (text) => log(`warning: ${text.replace(/#\d+ /, '')}`) },
    fetch: async (url, init) => {
      const { pathname, search } = new URL(url);
      log(`-> ${pathname.slice(15)}${decodeURIComponent(search)}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
      init.signal?.throwIfAborted();
      if (respond === undefined) return sandbox.fetch(url, init);
      sent += 1;
      const response = respond(new URL(url).searchParams, sent);
      return response instanceof Response ? response : Response.json(response);
    },
    ...options,
  });
  await runToEnd(
    (async () => read(client, log, sandbox))().then(
      () => log('end'),
      (error: { resumeToken?: string }) =>
        log(`${error}${error.resumeToken === undefined ? '' : ` | ${positionIn(error.resumeToken)}`}`),
    ),
  );
  return lines;
}

test('each way of reading a list requests and delivers what is recorded, when it is recorded', async () => {
  const parts: string[] = [];
  for (const [title, each] of Object.entries(PLAYS)) parts.push(`# ${title}`, ...(await play(each)), '');
  await expect(parts.join('\n')).toMatchFileSnapshot('./reading.txt');
});
