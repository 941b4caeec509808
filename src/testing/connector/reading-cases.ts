import { type CollectionName, collections } from '../../collections/index.ts';
import { isMoney } from '../../schemas/money.ts';
import { hashText } from '../data/seeded-random.ts';
import type { Fault } from '../faults/fault.ts';
import type { Sandbox } from '../sandbox.ts';
import type { Case, Night } from './case.ts';
import { type Changes, isList, type Stage } from './stage.ts';

const QUIET: Night = {};

/** Three records, the same ones in each run of a case. */
const some = (stage: Stage, name: CollectionName) => {
  const ids = stage.ids(name);
  const first = stage.random.between(0, ids.length - 7);
  return [ids[first], ids[first + 2], ids[first + 5]].filter((id) => id !== undefined);
};
const changeSome = (stage: Stage) => stage.each((name) => stage.change(name, some(stage, name)));

/** A night with a fault in the third list request of each collection and those after it, and changes before it. */
const faulty = (fault: Fault, times: number): Night => ({
  before: (stage) => {
    changeSome(stage);
    stage.each((collection) => stage.sandbox.faults.add(fault, { collection, skip: 2, times }));
  },
  ends: 'either',
});

const afterEachPage = (change: Changes['change']): Night => ({ during: { after: [2, 3, 4], change } });
/** One of the ids that responses of the night contained; none if they contained none. */
const oneListed = (stage: Stage, name: CollectionName) => {
  const listed = stage.listed(name);
  return listed.length === 0 ? [] : [stage.random.pick(listed)];
};
const removeListed = (stage: Stage, name: CollectionName) => stage.remove(name, oneListed(stage, name));

/** The fields of a collection with amounts, documented or not. */
const amountFields = (stage: Stage, name: CollectionName) => {
  const isAmount = (value: unknown) => typeof value === 'string' && value.includes('.') && isMoney(value);
  const documented = Object.entries(collections[name].fields).filter(([, kind]) => kind === 'money');
  const seen = stage
    .store(name)
    .all()
    .flatMap((record) => Object.entries(record));
  return new Set([...documented, ...seen.filter(([, value]) => isAmount(value))].map(([field]) => field));
};
const AMOUNTS = ['123456789012345678.12345678', '-0.00000001', '0.10', '99999999999.9999'];

/** Names as people type and paste them: each is lost by another careless step. */
const NAMES = [
  '  Desk  with  spaces ',
  `O'Brien "Bros" \\ Co; --`,
  'K\u0151rös és Fia \u{1f469}\u{1f3fd}\u200d\u{1f527}',
  // The same letter in two characters: another string, if it is not normalized.
  'Ko\u030bro\u0308s',
  '\u0150'.repeat(255),
];

/** A list without its records, in an object or alone. */
const emptied = (body: string) =>
  JSON.stringify(JSON.parse(body, (_, value: unknown) => (Array.isArray(value) ? [] : value)));

/** Whether no request has yet come after a pause of so many ms. */
const untilPause = ({ clock }: Sandbox, pauseMs: number) => {
  let last = Infinity;
  return () => {
    const now = clock.now();
    // After a pause, every request comes after a pause.
    last = now - last >= pauseMs ? -Infinity : now;
    return last === now;
  };
};

/** What happens to connectors that read, in the order in which one would fix them. */
export const readingCases: readonly Case[] = [
  {
    name: 'no records',
    why: 'A new company has no records, and most companies have none in some collections.',
    advice: 'An empty first page is a success, and the next night may bring the first records.',
    records: 0,
    nights: [
      QUIET,
      {
        before: (stage) =>
          stage.each((name) => {
            for (let n = 0; n < 3; n += 1) stage.insert(name);
          }),
      },
    ],
  },
  {
    name: 'exactly one page',
    why: 'Some frameworks respond to a page after the last one with an empty list, others with 404.',
    advice: 'After a full page, an empty one and a 404 both mean that the list has ended.',
    records: 5,
    service: { afterLastPage: 'not_found' },
    nights: [QUIET],
  },
  {
    name: 'changed records',
    why: 'Users rename accounts and change prices every day.',
    advice: 'Write each record as an upsert.',
    nights: [QUIET, { before: changeSome }],
  },
  {
    name: 'deletions between pages',
    why: 'A page number says how many rows to skip, so a deletion moves every later record forward.',
    advice: 'Read by keyset, or read again.',
    nights: [afterEachPage(removeListed)],
  },
  {
    name: 'deletions, newest first',
    why: 'Some services list the newest record first, so that ids descend.',
    advice: 'Read by keyset without assuming that ids ascend, or read again.',
    service: { order: 'id-desc' },
    nights: [afterEachPage(removeListed)],
  },
  {
    name: 'inserts, newest first',
    why: 'A new record at the front of the list moves the last one of each page to the next page.',
    advice: 'Upsert by id: a record may come twice in one read.',
    service: { order: 'created-desc' },
    nights: [afterEachPage((stage, name) => stage.insert(name))],
  },
  {
    name: 'changes, oldest change first',
    why: 'In a list by updatedAt, a change moves a record to the end and every record behind it forward.',
    advice: 'Read by keyset on the id, whatever the order of the list.',
    service: { order: 'updated-asc' },
    nights: [afterEachPage((stage, name) => stage.change(name, oneListed(stage, name)))],
  },
  {
    name: 'changes, newest change first',
    why: 'A record that changes during the read moves to the first page, which the connector has already read.',
    advice: 'Read by keyset on the id, whatever the order of the list.',
    service: { order: 'updated-desc' },
    nights: [
      afterEachPage((stage, name) => {
        const unread = stage.ids(name).filter((id) => !stage.listed(name).includes(id));
        if (unread.length > 0) stage.change(name, [stage.random.pick(unread)]);
      }),
    ],
  },
  {
    name: 'deletions without an order',
    why: 'A database without ORDER BY returns rows in the order of its storage.',
    advice: 'Read by keyset on the id, and narrow the interval until a response is complete.',
    service: { order: 'none' },
    nights: [afterEachPage(removeListed)],
  },
  {
    name: 'ties',
    why: 'A bulk import gives many records one updatedAt, and PostgreSQL may order equal rows differently for each page.',
    advice: 'Do not read by page a list that is not sorted by something unique.',
    service: { order: 'updated-asc', ties: 'each-page' },
    nights: [
      {
        before: (stage) =>
          stage.each((name) => {
            stage.change(name, stage.ids(name), { updatedAt: '2025-06-01T12:00:00Z' });
          }),
      },
    ],
  },
  {
    name: 'hidden rows',
    why: 'A service that checks permissions after it has selected a page sends pages that are not full.',
    advice: 'A short page is not the last one: read on until a page is empty.',
    service: { hiddenRecords: ({ id }) => hashText(id) % 9 === 0 },
    nights: [QUIET, { before: changeSome }],
  },
  {
    name: 'UUIDs',
    why: 'API Platform drops a bound such as id[gt] without an error if ids are not integers.',
    advice: 'Check that each record is within the bound, and read by page if ids are not integers.',
    service: { ids: { form: 'uuid' }, textIdBounds: 'ignore' },
    nights: [QUIET, { before: changeSome }],
  },
  {
    name: 'ids beyond 2^53',
    why: 'Snowflake ids and bigint sequences exceed what a JavaScript number can hold.',
    advice: 'Keep ids as strings, and compare them as BigInt.',
    records: 0,
    service: { ids: { form: 'numeric' }, idColumn: 'int8' },
    nights: [
      {
        before: (stage) =>
          stage.each((name) => {
            for (let n = 0n; n < 13n; n += 1n) stage.insert(name, { id: String(9_007_199_254_740_994n + n) });
          }),
      },
    ],
  },
  {
    name: 'late commits',
    why: 'updatedAt is set when a transaction begins, but the record is visible only when it ends.',
    advice:
      'Start each run a few minutes before the watermark, and take the watermark from the start of a run.',
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
    advice:
      'Read the second of the watermark again, and replace what the copy has: a later state can have the same updatedAt.',
    nights: [
      {
        before: (stage) => {
          stage.sandbox.clock.advance(60_000);
          stage.sandbox.clock.freeze();
          stage.each((name) => stage.change(name, stage.ids(name)));
        },
        during: { after: [2], change: (stage, name) => stage.change(name, oneListed(stage, name)) },
      },
      QUIET,
    ],
  },
  {
    name: 'service clock behind',
    why: 'The clock of a service differs from yours, by seconds or by a day.',
    advice: 'Take the watermark from the service: the header Date, or updatedAt.',
    service: { clockOffsetMs: -86_400_000 },
    nights: [QUIET, { before: changeSome }],
  },
  {
    name: 'local times',
    why: 'Symfony compares the local time of updatedSince and ignores its offset.',
    advice: 'Write the bound in the lowest offset that the service uses, never in UTC.',
    service: { dateFilter: 'local', timeZone: 'America/New_York', timestamps: 'offset' },
    nights: [{ before: changeSome }, { before: changeSome }],
  },
  {
    name: 'the night when clocks go back',
    why: 'The local times between one and two o’clock occur twice, so a later change can have an earlier time.',
    advice: 'Keep the watermark in UTC, and write the bound in the lowest offset of the year.',
    service: {
      dateFilter: 'local',
      timeZone: 'America/New_York',
      timestamps: 'offset',
      clock: '2030-11-03T05:50:00Z',
    },
    nights: [
      { before: changeSome },
      {
        before: (stage) => {
          stage.sandbox.clock.advance(-1_800_000);
          changeSome(stage);
        },
      },
    ],
  },
  {
    name: 'a small quota',
    why: 'Every key has a quota, and a full read of a large company exceeds it.',
    advice: 'Wait as long as Retry-After says, or read X-RateLimit-Remaining before the quota is used up.',
    records: 8,
    service: { rateLimit: { limit: 2, windowMs: 1_000, kind: 'fixed-from-first' } },
    nights: [QUIET],
  },
  {
    name: '429 without headers',
    why: 'A proxy in front of the service limits too, and sends neither a quota nor Retry-After.',
    advice: 'Wait longer after each 429: half a second, a second, two.',
    records: 13,
    service: { rateLimitHeaders: false },
    nights: [
      {
        before: ({ sandbox }) =>
          sandbox.faults.add({ kind: 'status', status: 429 }, { when: untilPause(sandbox, 400), times: 30 }),
        ends: 'either',
        most429s: 12,
      },
      QUIET,
    ],
  },
  {
    name: '503 for a while',
    why: 'A deployment makes the service unavailable for some seconds.',
    advice: 'Retry, or reject: a read that ended early must not look complete.',
    nights: [QUIET, faulty({ kind: 'status', status: 503 }, 2), QUIET],
  },
  {
    name: 'cut bodies',
    why: 'A proxy that restarts closes connections in the middle of a response.',
    advice: 'Request the page again, or reject.',
    nights: [QUIET, faulty({ kind: 'disconnect', in: 'body' }, 2), QUIET],
  },
  {
    name: 'half a JSON',
    why: 'A service that runs out of memory or time can end a body early, with status 200.',
    advice: 'Request the page again, or reject: invalid JSON is not the end of the list.',
    nights: [
      QUIET,
      faulty({ kind: 'rewrite', body: (body) => body.slice(0, Math.floor(body.length / 2)) }, 2),
      QUIET,
    ],
  },
  {
    name: 'slow pages',
    why: 'The last pages of a large collection take the database seconds.',
    advice: 'Allow a request half a minute; after a timeout request the page again, or reject.',
    records: 13,
    nights: [QUIET, faulty({ kind: 'delay', ms: 2_500 }, 1), QUIET],
  },
  {
    name: 'unknown fields',
    why: 'Services add fields at any time, without a new version of the API.',
    advice: 'Ignore or keep fields that you do not know, objects and arrays too.',
    nights: [
      QUIET,
      {
        before: (stage) =>
          stage.each((name) => {
            stage.change(name, stage.ids(name, 8), { customLabel: 'new', customTree: { a: [1, null] } });
          }),
      },
    ],
  },
  {
    name: 'a record of nulls',
    why: 'A record that was imported or half filled in can have null in any field.',
    advice: 'Every field but id can be null.',
    nights: [
      QUIET,
      {
        before: (stage) =>
          stage.each((name) => {
            const [id = ''] = stage.ids(name, 12);
            const fields = Object.keys(stage.store(name).get(id) ?? {});
            const cleared = fields.filter((field) => !['id', 'createdAt', 'updatedAt'].includes(field));
            stage.change(name, [id], Object.fromEntries(cleared.map((field) => [field, null])));
          }),
      },
    ],
  },
  {
    name: 'a name that is a number',
    why: 'PHP can encode every string of digits as a number, so a product whose name is "4711" gets the name 4711.',
    advice:
      'Expect a value of another type in any field, and keep the record: one record must not end the run.',
    nights: [
      QUIET,
      {
        before: (stage) => {
          changeSome(stage);
          stage.each((name) => {
            stage.change(name, stage.ids(name, 5), { name: 4711 });
          });
        },
      },
    ],
  },
  {
    name: 'long amounts',
    why: 'An amount has up to 18 digits before the point and 8 after it, of which a floating-point number keeps 15.',
    advice: 'Keep amounts as strings, and calculate with decimals.',
    service: { moneyDigits: 'as-sent' },
    nights: [
      {
        before: (stage) =>
          stage.each((name) => {
            const fields = [...amountFields(stage, name)];
            for (const [place, id] of stage.ids(name, 0, 1, 2, 3).entries()) {
              const amounts = fields.map((field, n) => [field, AMOUNTS[(place + n) % AMOUNTS.length]]);
              stage.change(name, [id], Object.fromEntries(amounts));
            }
          }),
      },
    ],
  },
  {
    name: 'unusual names',
    why: 'People type and paste names with quotes, emoji, accents and spaces, in two forms of Unicode.',
    advice:
      'Bind values instead of quoting them, and store text as it comes: no trim, no cut, four bytes for a character.',
    nights: [
      QUIET,
      {
        before: (stage) =>
          stage.each((collection) => {
            for (const [place, name] of NAMES.entries())
              stage.change(collection, stage.ids(collection, place), { name });
          }),
      },
    ],
  },
  {
    name: 'deleted records',
    why: 'A list of changes shows no deletions.',
    advice: 'Read everything from time to time, and delete what the service confirms with 404.',
    nights: [
      QUIET,
      { before: (stage) => stage.each((name) => stage.remove(name, some(stage, name))), deletions: true },
    ],
  },
  {
    name: 'restored records',
    why: 'A user undoes a deletion, and the record is there again under its old id.',
    advice: 'An upsert also brings back what the copy holds as deleted.',
    nights: [
      QUIET,
      { before: (stage) => stage.each((name) => stage.remove(name, stage.ids(name, 9))) },
      {
        before: (stage) =>
          stage.each((name) => {
            for (const [id, versions] of stage.timeline(name).versions) {
              if (versions.at(-1)?.record === undefined) stage.insert(name, { id });
            }
          }),
      },
    ],
  },
  {
    name: 'one forbidden collection',
    why: 'A key never has more permissions than its user, and those change.',
    advice: 'A 403 is about one collection: read the others, keep the copy, and report it.',
    nights: [
      QUIET,
      {
        before: (stage) => {
          changeSome(stage);
          const [collection] = stage.collections;
          const forbidden = { kind: 'status', status: 403, type: 'scope_required' } as const;
          stage.sandbox.faults.add(forbidden, { collection });
        },
        ends: 'loudly',
        completeAnyway: ({ collections: [, ...others] }) => others,
      },
    ],
  },
  {
    name: 'a revoked key',
    why: 'Keys are revoked and replaced, and every request is then a 401.',
    advice: 'Reject, and delete nothing.',
    nights: [QUIET, { before: ({ sandbox }) => sandbox.revokeKey(sandbox.keys.full), ends: 'loudly' }],
  },
  {
    name: '404 for everything',
    why: 'A gateway that lost its route responds with 404 to every path.',
    advice: 'A 404 for a list is not an empty list: reject, and delete nothing.',
    nights: [
      QUIET,
      {
        before: ({ sandbox }) =>
          sandbox.faults.add({ kind: 'status', status: 404, body: '<h1>Not Found</h1>' }),
        ends: 'loudly',
      },
      QUIET,
    ],
  },
  {
    name: 'empty lists',
    why: 'A service that loses a permission or its database replica can return empty lists.',
    advice: 'If the service suddenly has nothing, delete nothing, and confirm each deletion by a GET.',
    nights: [
      QUIET,
      {
        before: ({ sandbox }) =>
          sandbox.faults.add({ kind: 'rewrite', body: emptied }, { when: ({ path }) => isList(path) }),
        ends: 'either',
      },
      QUIET,
    ],
  },
  {
    name: 'killed and started again',
    why: 'Deployments, restarts and time limits end a connector at any request.',
    advice:
      'Store a checkpoint after its records, and keep the watermark of the start until a run has ended.',
    nights: [
      QUIET,
      {
        before: (stage) => stage.each((name) => stage.change(name, stage.ids(name))),
        runs: 'killed',
        ends: 'either',
      },
      QUIET,
    ],
  },
  {
    name: 'killed in the first night',
    why: 'The first read takes longest, so it is the one most likely to be interrupted.',
    advice:
      'Store a checkpoint after its records, and keep the watermark of the start until a run has ended.',
    nights: [
      {
        runs: 'killed',
        ends: 'either',
        during: { after: [2], change: (stage, name) => stage.change(name, oneListed(stage, name)) },
      },
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
