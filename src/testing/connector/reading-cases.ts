import { collections } from '../../collections/index.ts';
import { isMoney } from '../../schemas/money.ts';
import { labelOf } from '../data/records.ts';
import { hashText } from '../data/seeded-random.ts';
import type { Fault } from '../faults/fault.ts';
import { type Case, type Night, QUIET } from './case.ts';
import { type Change, isList } from './stage.ts';
import type { Fields } from './timeline.ts';

/** A night before which every collection changes. */
const changing = (...changes: readonly Change[]): Night => ({
  before: (stage) =>
    stage.each((name) => {
      for (const change of changes) change(stage, name);
    }),
});

const changeSome: Change = (stage, name) => stage.change(name, stage.some(name));
const changeAll: Change = (stage, name) => stage.change(name, stage.ids(name));
const changeListed: Change = (stage, name) => stage.change(name, stage.oneListed(name));
const removeListed: Change = (stage, name) => stage.remove(name, stage.oneListed(name));
const removeSome: Change = (stage, name) => stage.remove(name, stage.some(name));

/** Changes, and a fault in the third list request of each collection and the one after it. */
const faulty = (fault: Fault): Night => ({
  ...changing(changeSome, ({ sandbox }, collection) =>
    sandbox.faults.add(fault, { collection, skip: 2, times: 2 }),
  ),
  ends: 'either',
});

/** 429s until a request comes after a pause of so many ms: a connector needs only a few. */
const limited = (pauseMs: number, retryAfter: { readonly retryAfter?: number }): Night => ({
  before({ sandbox: { clock, faults } }) {
    let last = Infinity;
    const when = () => {
      const now = clock.now();
      // After a pause, every request comes after a pause.
      last = now - last >= pauseMs ? -Infinity : now;
      return last === now;
    };
    faults.add({ kind: 'status', status: 429, ...retryAfter }, { when, times: 30 });
  },
  most429s: 12,
});

/** The fields of a record whose value is of a type, each with another value. */
const setEach = (record: Fields, type: string, value: unknown) =>
  Object.fromEntries(
    Object.keys(record)
      .filter((field) => typeof record[field] === type)
      .map((field) => [field, value]),
  );

/** Clears every field of a record that the service does not fill. */
const clearOne =
  (place: number): Change =>
  (stage, name) => {
    const ids = stage.ids(name, place);
    const fields = ids.flatMap((id) => Object.keys(stage.record(name, id)));
    const cleared = fields.filter((field) => !['id', 'createdAt', 'updatedAt'].includes(field));
    stage.change(name, ids, Object.fromEntries(cleared.map((field) => [field, null])));
  };

/** Gives a record the values of a type: its numbers, its flags and its label. */
const setOne =
  (place: number, number: number, boolean: boolean, label: string): Change =>
  (stage, name) => {
    for (const id of stage.ids(name, place)) {
      const record = stage.record(name, id);
      const values = { ...setEach(record, 'number', number), ...setEach(record, 'boolean', boolean) };
      stage.change(name, [id], { ...values, [labelOf(name)]: label });
    }
  };

/** Amounts that a floating-point number does not keep, numbers that are not whole, and texts of all kinds. */
const setExactValues: Change = (stage, name) => {
  const isAmount = (value: unknown) => typeof value === 'string' && value.includes('.') && isMoney(value);
  const { fields } = collections[name];
  const records = stage.store(name).all();
  const amounts = new Set([
    ...Object.keys(fields).filter((field) => fields[field] === 'money'),
    ...records.flatMap((record) => Object.keys(record).filter((field) => isAmount(record[field]))),
  ]);
  const numbers = Object.keys(fields).filter((field) => fields[field] === 'number');
  for (const [place, text] of TEXTS.entries()) {
    const digits = [...amounts].map((field, n) => [field, AMOUNTS[(place + n) % AMOUNTS.length]]);
    const fractions = numbers.map((field) => [field, place + 0.125]);
    const values = Object.fromEntries([...digits, ...fractions]);
    stage.change(name, stage.ids(name, place), { ...values, [labelOf(name)]: text });
  }
};
const AMOUNTS = ['123456789012345678.12345678', '-0.00000001', '0.10', '99999999999.9999'];

/** Texts as people type and paste them: each is lost by another careless step. */
const TEXTS = [
  '  Desk  with  spaces ',
  `O'Brien "Bros" \\ Co; --`,
  'K\u0151rös és Fia \u{1f469}\u{1f3fd}\u200d\u{1f527}',
  // The same letter in two characters: another string, if it is not normalized.
  'Ko\u030bro\u0308s',
  '\u0150'.repeat(300),
];

/** Lists without some of their records, in an object or alone. */
const listsWithout = (isLeftOut: (id: unknown) => boolean): Fault => ({
  kind: 'rewrite',
  body: (body) =>
    JSON.stringify(
      JSON.parse(body, (_, value: unknown) =>
        Array.isArray(value) ? value.filter((each) => each?.id === undefined || !isLeftOut(each.id)) : value,
      ),
    ),
});
const OF_LISTS = { when: ({ path }: { path: string }) => isList(path) };

/** Statuses of a record that exists: archived, in use, or out of reach for a reason of the service's own. */
const NOT_DELETED = [403, 423, 405];

/** What happens to connectors that read, in the order in which one would fix them. */
export const readingCases: readonly Case[] = [
  {
    name: 'no records',
    why: 'A new company has no records, and after a full page some services send an empty list, others 404.',
    advice: 'An empty first page is a success; after a full page, an empty one and a 404 both end the list.',
    records: 0,
    service: { afterLastPage: 'not_found' },
    nights: [
      QUIET,
      changing((stage, name) => {
        for (let n = 0; n < 5; n += 1) stage.insert(name);
      }),
    ],
  },
  {
    name: 'changed records',
    why: 'Users rename accounts and clear fields every day, and API Platform leaves out what is null.',
    advice: 'Replace the whole record: a field that is left out was cleared, and 0, false and "" are values.',
    service: { nullFields: 'omitted' },
    nights: [
      changing(setOne(4, 7, true, 'Before'), setOne(11, 7, true, 'Before')),
      changing(changeSome, setOne(4, 0, false, ''), clearOne(11)),
    ],
  },
  {
    name: 'odd records',
    why: 'Services add fields, imports leave fields null, and PHP can encode the name "4711" as a number.',
    advice: 'Any field but id may be null, new or of another type: one odd record must not end the run.',
    nights: [
      QUIET,
      changing(
        changeSome,
        (stage, name) =>
          stage.change(name, stage.ids(name, 8), { customLabel: 'new', customTree: { a: [1, null] } }),
        (stage, name) => stage.change(name, stage.ids(name, 5), { [labelOf(name)]: 4711 }),
        clearOne(12),
      ),
    ],
  },
  {
    name: 'exact values',
    why: 'Amounts have more digits than a floating-point number keeps, and people paste emoji and quotes.',
    advice:
      'Keep amounts as strings, bind values, and store text as it comes: do not trim, cut or normalize it.',
    service: { moneyDigits: 'as-sent' },
    nights: [QUIET, changing(setExactValues)],
  },
  {
    name: 'deletions between pages',
    why: 'A page number says how many rows to skip, so a deletion moves every later record forward.',
    advice: 'Read by keyset, or read again.',
    nights: [{ during: { after: [2, 3, 4], change: removeListed } }],
  },
  {
    name: 'a list without an order',
    why: 'A database without ORDER BY returns rows in the order of its storage, which changes move.',
    advice: 'Read by keyset on the id without assuming that ids ascend, or read again.',
    service: { order: 'none' },
    nights: [{ during: { after: [2, 3, 4], change: removeListed } }],
  },
  {
    name: 'hidden rows',
    why: 'A service that checks permissions after it has selected a page sends pages that are not full.',
    advice: 'A short page is not the last one: read on until a page is empty.',
    service: { hiddenRecords: ({ id }) => hashText(id) % 9 === 0 },
    nights: [QUIET, changing(changeSome)],
  },
  {
    name: 'UUIDs',
    why: 'API Platform drops a bound such as id[gt] without an error if ids are not integers.',
    advice: 'Check that each record is within the bound, and read by page if ids are not integers.',
    service: { ids: { form: 'uuid' }, textIdBounds: 'ignore' },
    nights: [QUIET, changing(changeSome)],
  },
  {
    name: 'pages by a cursor',
    why: 'A service that continues a list by a cursor ignores page numbers: each of them is the first page again.',
    advice: 'Follow the link to the next page in the header Link, or read by bounds on the id.',
    service: { cursor: 'header' },
    nights: [QUIET, changing(changeSome)],
  },
  {
    name: 'ids beyond 2^53',
    why: 'Snowflake ids and bigint sequences exceed what a JavaScript number can hold.',
    advice: 'Keep ids as strings, and compare them as BigInt.',
    records: 0,
    service: { ids: { form: 'numeric' }, idColumn: 'int8' },
    nights: [
      changing((stage, name) => {
        for (let n = 0n; n < 13n; n += 1n) stage.insert(name, { id: String(9_007_199_254_740_994n + n) });
      }),
    ],
  },
  {
    name: 'late commits',
    why: 'updatedAt is set when a transaction begins, by a clock that is not yours, and others see it at its end.',
    advice:
      'Read from a few minutes before the last run began, by the clock of the service: its header Date.',
    service: { clockOffsetMs: -86_400_000 },
    nights: [
      {
        before: (stage) => {
          stage.sandbox.clock.advance(-60_000);
          stage.each((name) => stage.change(name, stage.ids(name, 3, 9), {}, { visibleAfterMs: 600_000 }));
          stage.sandbox.clock.advance(60_000);
          stage.each((name) => stage.change(name, stage.ids(name, 15)));
        },
      },
      QUIET,
    ],
  },
  {
    name: 'several changes in one second',
    why: 'Timestamps have seconds, and an import changes hundreds of records in one.',
    advice: 'Read the second of the watermark again, and replace even what has the same updatedAt.',
    nights: [
      {
        before: (stage) => {
          stage.sandbox.clock.advance(60_000);
          stage.sandbox.clock.freeze();
          stage.each((name) => changeAll(stage, name));
        },
        during: { after: [2], change: changeListed },
      },
      QUIET,
    ],
  },
  {
    name: 'local times',
    why: 'Symfony compares local times, without their offset, and in autumn those of an hour occur twice.',
    advice: 'Keep the watermark in UTC, and write the bound in the lowest offset of the year.',
    service: {
      dateFilter: 'local',
      timeZone: 'America/New_York',
      timestamps: 'offset',
      clock: '2030-11-03T05:50:00Z',
    },
    nights: [
      changing(changeSome),
      {
        // They change half an hour after the first night, and are read half an hour later.
        before: (stage) => {
          stage.sandbox.clock.advance(-1_800_000);
          stage.each((name) => changeSome(stage, name));
          stage.sandbox.clock.advance(2_400_000);
        },
      },
    ],
  },
  {
    name: 'a quota',
    why: 'Every key has a quota, and a proxy in front of the service limits too, without Retry-After.',
    advice:
      'Wait as long as Retry-After says; without it longer after each 429: half a second, a second, two.',
    records: 8,
    nights: [limited(900, { retryAfter: 1 }), { ...limited(400, {}), ends: 'either' }, QUIET],
  },
  {
    name: 'interrupted responses',
    why: 'A deployment makes a service unavailable for seconds, and one without memory ends a body early.',
    advice: 'Request the page again, or reject: a read that ended early must not look complete.',
    nights: [
      QUIET,
      faulty({ kind: 'status', status: 503 }),
      faulty({ kind: 'rewrite', body: (body) => body.slice(0, Math.floor(body.length / 2)) }),
      QUIET,
    ],
  },
  {
    name: 'deleted records',
    why: 'A list of changes shows no deletions, and a record whose deletion is undone has its old id.',
    advice:
      'Read everything from time to time, delete what a GET confirms with 404, and bring back the rest.',
    nights: [
      QUIET,
      changing((stage, name) => stage.remove(name, stage.ids(name, 9))),
      changing((stage, name) => {
        for (const [id, versions] of stage.timeline(name).versions)
          if (versions.at(-1)?.record === undefined) stage.insert(name, { id });
      }),
      { ...changing(removeSome), deletions: true },
    ],
  },
  {
    name: 'records that are not listed',
    why: 'A gateway without a route responds with 404 to any path, a stale replica with lists that lack records.',
    advice: 'Delete only what a GET confirms with a 404 of the service, and reject if every request fails.',
    nights: [
      QUIET,
      {
        before: ({ sandbox }) =>
          sandbox.faults.add({ kind: 'status', status: 404, body: '<h1>Not Found</h1>' }),
        ends: 'loudly',
      },
      {
        before: ({ sandbox }) =>
          sandbox.faults.add(
            listsWithout(() => true),
            OF_LISTS,
          ),
        ends: 'either',
      },
      {
        ...changing((stage, collection) => {
          const { faults } = stage.sandbox;
          const ids = stage.some(collection);
          faults.add(
            listsWithout((id) => ids.includes(String(id))),
            { collection, ...OF_LISTS },
          );
          for (const [place, id] of ids.entries()) {
            const fault = { kind: 'status', status: NOT_DELETED[place] ?? 403 } as const;
            faults.add(fault, { collection, path: new RegExp(`/${id}$`) });
          }
        }),
        ends: 'either',
      },
      QUIET,
      { before: ({ sandbox }) => sandbox.revokeKey(sandbox.keys.full), ends: 'loudly' },
    ],
  },
  {
    name: 'one forbidden collection',
    why: 'A key never has more permissions than its user, and those change.',
    advice: 'A 403 is about one collection: read the others, keep the copy, and report it.',
    nights: [
      QUIET,
      {
        ...changing(changeSome, ({ sandbox, collections: [first] }, collection) => {
          const fault = { kind: 'status', status: 403, type: 'scope_required' } as const;
          if (collection === first) sandbox.faults.add(fault, { collection });
        }),
        ends: 'loudly',
        completeAnyway: ({ collections: [, ...others] }) => others,
      },
    ],
  },
  {
    name: 'killed and started again',
    why: 'Deployments, restarts and time limits end a connector at any request, most often in its first run.',
    advice:
      'Store a checkpoint after its records, and keep the watermark of the start until a run has ended.',
    nights: [
      { runs: 'killed', ends: 'either', during: { after: [2], change: changeListed } },
      { ...changing(changeAll), runs: 'killed', ends: 'either' },
      QUIET,
    ],
  },
  {
    name: 'two runs at once',
    why: 'A run takes longer than the interval of its schedule, or two machines have the same job.',
    advice: 'Allow one run at a time, and upsert by id with a unique index.',
    nights: [{ runs: 'twice at once', ends: 'either' }, QUIET],
  },
];
