import { randomUUID } from 'node:crypto';
import { collectionNames } from 'accounting-data-sdk';
import { type SandboxOptions, sandboxOptions } from 'accounting-data-sdk/testing';
import { Decimal } from 'decimal.js';
import { describe, expect, test } from 'vitest';
import { type CallResponse, ids, type Json, type Sent } from '../support/call.ts';
import { ContractClient } from './client.ts';
import {
  allSegments,
  documentedFields,
  type Field,
  productFields,
  readOnlySegments,
} from './specification.ts';

/** Services that differ in what the specification leaves open. Each such option occurs in one of them. */
const VARIANTS: Readonly<Record<string, SandboxOptions>> = {
  'every default': {},
  'small pages': {
    pageSize: 7,
    order: 'id-desc',
    timestamps: 'offset',
    problemType: 'path',
    createStatus: 200,
    updateStatus: 201,
    deleteStatus: 200,
    moneyDigits: 'as-sent',
    requiredFields: ['name'],
    linkHeader: true,
    lockedRecords: ['3'],
    timeZone: 'Asia/Kolkata',
    contentTypes: {
      create: ['application/json', 'application/ld+json'],
      update: ['application/json', 'application/merge-patch+json'],
    },
    rateLimit: { kind: 'fixed-from-first' },
  },
  'one page': {
    pageSize: 100,
    order: 'none',
    timestamps: 'milliseconds',
    problemType: 'url',
    idempotency: { replay: 'conflict' },
    unknownFields: 'reject',
    clockOffsetMs: -90_000,
    ties: 'each-response',
    timestampsEverywhere: true,
    uniqueFields: ['productNumber'],
    rateLimit: { kind: 'sliding-counter' },
  },
  'sparse ids': {
    order: 'updated-asc',
    ids: { start: 9_999_990, gap: 13 },
    invalidFilter: 'reject',
    problemType: 'urn',
    pageSizeParameter: 'itemsPerPage',
    idempotency: { differentBody: 'stored' },
    nullFields: 'omitted',
    relations: 'iri',
    notFoundBody: { type: 'not_found' },
    dateFilter: 'local',
    idColumn: 'int8',
    seed: 99,
  },
  UUIDs: { ids: { form: 'uuid' }, betweenSeparator: ',', rateLimit: { kind: 'token-bucket' } },
  ULIDs: { order: 'created-desc', ids: { form: 'ulid' }, afterLastPage: 'not_found' },
  'text ids': {
    ids: { form: 'text', prefix: 'rec_', accounts: { form: 'numeric' } },
    order: { accounts: 'id-desc' },
  },
};

/** Options that occur in no service above, by the reason. */
const ELSEWHERE = {
  'say what a service has, not how it behaves': [
    ...['records', 'otherRecords', 'fixtures', 'origin', 'clock'],
    ...['rateLimit.limit', 'rateLimit.windowMs'],
  ],
  'break a sentence of the specification': [
    ...['pageParameter', 'paginated', 'listBody', 'formats', 'cursor', 'ids.numbers', 'moneyAsNumbers'],
    ...['filters.id', 'filters.updatedSince', 'textIdBounds', 'rateLimitHeaders', 'hiddenRecords'],
  ],
  'deny or delay what every check does': [
    ...['allowedStatuses', 'commitDelayMs', 'newRecords.listedAfterMs', 'newRecords.foundAfterMs'],
  ],
};

interface Table {
  readonly [name: string]: { readonly allows: unknown; readonly options?: Table };
}

/** The paths of all options. Those of one collection are those of its group again. */
function pathsOf(table: Table): string[] {
  const names = Object.keys(table).filter((name) => !(collectionNames as readonly string[]).includes(name));
  return names.flatMap((name) => {
    const inside = pathsOf(table[name]?.options ?? {});
    return inside.length === 0 ? [name] : inside.map((path) => `${name}.${path}`);
  });
}

test('each option of the sandbox occurs in a service above, or is named with the reason', () => {
  const at = (value: unknown, name: string) => (value as Json | undefined)?.[name];
  const isVaried = (path: string) =>
    Object.values(VARIANTS).some((options) => path.split('.').reduce<unknown>(at, options) !== undefined);
  const others = pathsOf(sandboxOptions).filter((path) => !isVaried(path));
  expect(others.toSorted()).toEqual(Object.values(ELSEWHERE).flat().toSorted());
});

/** An id that no record has. */
const UNKNOWN_ID = '2147483646';
/** The sandbox has one code for the filters of all collections. */
const SEGMENT = 'bom-lines';
const PROBLEM = 'application/problem+json';
const WHOLE = /^\d+$/;
const ISO_8601 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Strings that are not a JSON object. Not `[]`: PHP reads it as the same value as `{}`. */
const NOT_OBJECTS = ['{', '{"name":', 'name=Desk', '"Desk"', '[1]', 'null', ''];
/** Bodies that can be read and whose content is wrong: one field of another type than its own. */
const WRONG = [{ isInactive: 'x' }, { salePriceDecimals: 'x' }, { tags: 'one' }, { name: { a: 'Desk' } }];

/** The order of ids that a service with numeric strings, UUIDs or ULIDs has. The specification leaves their form open. */
function compareIds(a: string, b: string): number {
  if (WHOLE.test(a) && WHOLE.test(b)) return BigInt(a) < BigInt(b) ? -1 : Number(a !== b);
  return a < b ? -1 : Number(a !== b);
}

const FITS: Readonly<Record<Field['type'], (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  array: Array.isArray,
  boolean: (value) => typeof value === 'boolean',
  integer: Number.isInteger,
  number: (value) => typeof value === 'number',
  money: (value) => typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value),
};

/** A value for each field that a client may set; two sets that differ in every field. */
function values(other: boolean): Record<string, unknown> {
  const text = (name: string) => `${name} ${other ? 'two' : 'one'}`;
  const of: Readonly<Record<Field['type'], (name: string) => unknown>> = {
    string: (name) => (name.startsWith('valid') ? `203${other ? 1 : 0}-01-01` : text(name)),
    array: (name) => [text(name)],
    boolean: () => other,
    integer: () => (other ? 4 : 2),
    number: () => (other ? 7.25 : 3),
    money: () => (other ? '1234567.8901' : '129.5000'),
  };
  const settable = productFields.filter(({ responseOnly }) => !responseOnly);
  return Object.fromEntries(settable.map(({ name, type }) => [name, of[type](name)]));
}

/** What was sent is what is there; a cleared field may be omitted; amounts may be written with more or fewer zeros. */
function expectFields(product: Json, sent: Json): void {
  const money = new Set(productFields.filter(({ type }) => type === 'money').map(({ name }) => name));
  const form = (name: string, value: unknown = null) =>
    money.has(name) && value !== null ? new Decimal(String(value)).toFixed() : value;
  const of = (record: Json) => Object.keys(sent).map((name) => [name, form(name, record[name])]);
  expect(of(product)).toEqual(of(sent));
}

/** The quota headers of a response. */
function quotaOf({ headers, call }: CallResponse): { readonly limit: number; readonly remaining: number } {
  const given = ['limit', 'remaining'].map((name) => headers.get(`x-ratelimit-${name}`) ?? '');
  for (const value of given) expect([call, value]).toEqual([call, expect.stringMatching(WHOLE)]);
  const [limit = 0, remaining = 0] = given.map(Number);
  expect([call, limit > 0 && remaining <= limit]).toEqual([call, true]);
  return { limit, remaining };
}

describe.each(Object.entries(VARIANTS))('a service with %s follows the specification:', (name, options) => {
  const client = new ContractClient(options);
  const { keys, sandbox } = client;
  const hasNulls = options.nullFields !== 'omitted';

  /** Every field of the table is there, in its type or empty. */
  const expectDocumented = (record: Json, fields: readonly Field[] = productFields) => {
    const misfits = fields.filter(({ name, type, responseOnly }) => {
      const isThere = Object.hasOwn(record, name) || (!hasNulls && !responseOnly);
      return !isThere || !(FITS[type](record[name]) || ((record[name] ?? null) === null && !responseOnly));
    });
    expect(misfits).toEqual([]);
  };
  /** The ids that a query finds on all its pages, in their order. */
  const idsOf = async (query: Readonly<Record<string, string>> = {}) =>
    (await client.readAll(SEGMENT, query)).map(({ id }) => id).sort(compareIds);
  /** How many products bear a name; names of checks are unique. */
  const named = async (name: string) =>
    (await client.readAll('products')).filter((product) => product.name === name).length;
  const unique = () => `Contract check ${randomUUID()}`;

  test('a key sees and changes the data of its own company alone', async () => {
    const key = keys.otherCompany;
    for (const segment of allSegments) {
      const own = (await client.readAll(segment)).map(({ id }) => id);
      const theirs = (await client.some(segment, { key })).map(({ id }) => id);
      expect(theirs.filter((id) => own.includes(id))).toEqual([]);
      for (const id of theirs.slice(0, 2)) (await client.get(segment, id)).expectNotFound();
    }
    const { id } = await client.product({ name: 'Ours' });
    (await client.update(id, { name: 'Theirs' }, { key })).expectNotFound();
    (await client.delete(id, { key })).expectNotFound();
    expect((await client.get('products', id)).record.name).toBe('Ours');
  });

  test('products carry createdAt and updatedAt, which a client cannot set, as it cannot set the id', async () => {
    for (const { createdAt, updatedAt } of await client.some('products')) {
      for (const time of [createdAt, updatedAt]) expect(time).toMatch(ISO_8601);
      expect(Date.parse(String(createdAt))).toBeLessThanOrEqual(Date.parse(String(updatedAt)));
    }
    const before = await client.product();
    const past = '1999-12-31T00:00:00Z';
    for (const [field, value] of Object.entries({ id: '4711', createdAt: past, updatedAt: past })) {
      // The specification leaves open whether it is rejected or ignored. The value is never stored.
      const created = await client.create({ name: 'Contract check', [field]: value });
      if (created.status < 300) expect(created.record[field]).not.toBe(value);
      await client.update(before.id, { [field]: value });
    }
    expect((await client.get('products', before.id)).record).toEqual(before);
  });

  test('a request without a key, with two, or with one that is unknown or revoked is 401, each time', async () => {
    // The key is read only from its header.
    const headers = { Authorization: `Bearer ${keys.full}` };
    for (const key of [null, 'no-such-key-0123456789', `${keys.full}, ${keys.full}`, keys.revoked]) {
      const first = (await client.list('accounts', {}, { key })).expectUnauthenticated();
      const again = (await client.list('accounts', {}, { key, headers })).expectUnauthenticated();
      expect([first.mediaType, again.json]).toEqual([PROBLEM, first.json]);
    }
  });

  test('a record that denies the operation is 403 and stays unchanged', async () => {
    const before = await client.product();
    sandbox.store.products.lock(before.id);
    (await client.update(before.id, { name: 'Changed' })).expectForbidden();
    (await client.delete(before.id)).expectForbidden();
    expect((await client.get('products', before.id)).record).toEqual(before);
  });

  test.each(name === 'every default' ? readOnlySegments : [SEGMENT])(
    '%s are got as the list shows them, with a permission, and cannot be written',
    async (segment) => {
      const listed = (await client.some(segment))[0];
      const { id } = listed;
      expect((await client.get(segment, id)).expectStatus(200).record).toEqual(listed);
      for (const other of [UNKNOWN_ID, 'no such record', '%', 'ü'])
        (await client.get(segment, other)).expectNotFound();
      (await client.list(segment, {}, { key: keys.forbidden })).expectForbidden();
      (await client.get(segment, id, { key: keys.forbidden })).expectForbidden();
      for (const [path, method] of [
        [`/${segment}`, 'POST'],
        [`/${segment}/${id}`, 'PATCH'],
        [`/${segment}/${id}`, 'DELETE'],
      ] as const) {
        const { status } = await client.send(path, { method, body: {}, idempotencyKey: 'read-only' });
        expect([method, String(status)]).toEqual([method, expect.stringMatching(/^4..$/)]);
      }
      (await client.get(segment, id)).expectStatus(200);
    },
  );

  test('every response carries the quota and the time of the service, and every error is JSON with a type', async () => {
    const created = await client.create({ name: 'Contract check' });
    const id = String(created.record.id);
    const responses = [
      created,
      await client.list('products', { _page: '2' }),
      (await client.get('accounts', UNKNOWN_ID)).expectStatus(404),
      (await client.list('accounts', {}, { key: null })).expectStatus(401),
      (await client.list('accounts', {}, { key: keys.forbidden })).expectStatus(403),
      await client.update(id, { brand: 'Oak & Co' }),
      (await client.send('/../v2/accounts')).expectStatus(404),
      await client.create('{'),
      await client.create({ isInactive: 'perhaps' }),
      await client.send('/products', { method: 'POST', body: {} }),
      await client.delete(id),
    ];
    for (const response of responses) {
      quotaOf(response);
      expect(Date.parse(response.headers.get('date') ?? '')).toBe(sandbox.clock.now());
      if (response.status < 300) continue;
      // Every error is JSON with a type.
      expect(response.mediaType).toMatch(/^application\/(problem\+|ld\+)?json$/);
      expect(response.errorType).not.toBe('');
    }
  });

  test('over the quota every operation is 429 with Retry-After, until then, and for no other key', async () => {
    const quotas: number[] = [];
    const { client: limited, rejected } = await client.exhausted(async (each) => {
      const response = await each.list('accounts');
      quotas.push(quotaOf(response).remaining);
      return response;
    });
    // Each request takes one of it.
    expect(quotas).toEqual([4, 3, 2, 1, 0, 0]);
    const retryAfter = rejected.headers.get('retry-after') ?? '';
    expect(rejected.mediaType).toBe(PROBLEM);
    expect(retryAfter).toMatch(WHOLE);
    (await limited.send('/products/1')).expectProblem(429, 'rate_limited');
    (await limited.list('accounts', {}, { key: limited.keys.readOnly })).expectStatus(200);
    limited.sandbox.clock.advance(Number(retryAfter) * 1000);
    (await limited.list('accounts')).expectStatus(200);
  });

  test('id[gt], id[gte], id[lt], id[lte] and id[between] apply their bounds', async () => {
    const all = await idsOf();
    const three = all.slice(all.length >> 1).slice(0, 3);
    const [low = '', , high = ''] = three;
    expect(await idsOf({ 'id[gt]': low, 'id[lte]': high })).toEqual(three.slice(1));
    expect(await idsOf({ 'id[gte]': low, 'id[lt]': high })).toEqual(three.slice(0, 2));
    const { betweenSeparator = '..' } = options;
    expect(await idsOf({ 'id[between]': `${low}${betweenSeparator}${high}` })).toEqual(three);
  });

  test('_page is the page number, from 1, and 1 if left out; the pages contain every record once', async () => {
    const [one, two] = [
      await client.list(SEGMENT, { _page: '1' }),
      await client.list(SEGMENT, { _page: '2' }),
    ];
    expect(ids(one)).toEqual(ids(await client.list(SEGMENT)));
    expect(ids(two).filter((id) => ids(one).includes(id))).toEqual([]);
    const all = await idsOf();
    expect(all).toEqual(sandbox.store.bomLines.ids().toSorted(compareIds));
    expect(await idsOf({ 'id[gt]': String(all[0]) })).toEqual(all.slice(1));
  });

  test('updatedSince takes a date and a timestamp in any offset, up to its second, and combines with pages and bounds', async () => {
    const [{ id, updatedAt }] = await client.some(SEGMENT);
    expect(updatedAt).toMatch(ISO_8601);
    const later = (ms: number) => new Date(Date.parse(String(updatedAt)) + ms).toISOString();
    const found = async (updatedSince: string) =>
      ids(await client.list(SEGMENT, { 'id[gte]': id, 'id[lte]': id, updatedSince }));
    for (const time of [String(updatedAt), '1990-01-01', '1990-01-01T00:00:00+02:00'])
      expect([time, await found(time)]).toEqual([time, [id]]);
    for (const time of [later(1000), `${later(1000 + 5 * 3_600_000).slice(0, 19)}+05:00`, '2190-01-01'])
      expect([time, await found(time)]).toEqual([time, []]);

    const all = await client.readAll(SEGMENT);
    const times = all.map((record) => Date.parse(String(record.updatedAt))).sort((a, b) => a - b);
    const since = times[times.length >> 1] ?? Number.NaN;
    const changed = all.filter((record) => Date.parse(String(record.updatedAt)) >= since);
    // The bound is the id of a changed record, so that each filter excludes a record that the other includes.
    const [low = '', ...rest] = changed.map((record) => record.id).sort(compareIds);
    expect(await idsOf({ updatedSince: new Date(since).toISOString(), 'id[gt]': low })).toEqual(rest);
  });

  test('every documented field is in every record, in its type, and can be set and changed', async () => {
    for (const [segment, fields] of Object.entries(documentedFields))
      for (const record of await client.some(segment)) expectDocumented(record, fields);
    const [one, two] = [values(false), { ...values(true), name: `${unique()} Größe, 机, 🪑 "quoted" \\ \n` }];
    const made = await client.product(one);
    expectDocumented(made);
    expectFields(made, one);
    expectFields((await client.update(made.id, two)).record, two);
    expectFields((await client.get('products', made.id)).record, two);
    expect(await named(two.name)).toBe(1);
  });

  test('a delete takes one product, and none without a permission', async () => {
    const [kept, gone] = [await client.product(), await client.product()];
    (await client.delete(gone.id, { key: keys.readOnly })).expectForbidden();
    (await client.get('products', gone.id)).expectStatus(200);
    expect([200, 204]).toContain((await client.delete(gone.id)).status);
    (await client.get('products', gone.id)).expectNotFound();
    (await client.update(gone.id, { name: 'Again' })).expectNotFound();
    (await client.delete(gone.id)).expectNotFound();
    expect((await client.get('products', kept.id)).record).toEqual(kept);
  });

  test('a key creates one record, however often and in how many requests at once; two keys two', async () => {
    const [name, idempotencyKey] = [unique(), randomUUID()];
    const first = (await client.create({ name }, { idempotencyKey })).record;
    for (let again = 0; again < 3; again += 1) {
      // The specification leaves open whether it is replayed or rejected. It must not be another record.
      const response = await client.create({ name }, { idempotencyKey });
      if (response.status < 300) expect(response.record.id).toBe(first.id);
    }
    const other = randomUUID();
    await Promise.all([1, 2, 3, 4, 5].map(() => client.create({ name }, { idempotencyKey: other })));
    expect(await named(name)).toBe(2);
  });

  test('a rejected create leaves no record, as does one without Idempotency-Key', async () => {
    const name = unique();
    const keyless = await client.send('/products', { method: 'POST', body: { name } });
    keyless.expectProblem(422, 'idempotency_key_required');
    (await client.create({ name, isInactive: 'perhaps' })).expectProblem(422, 'validation_failed');
    (await client.create({ name }, { key: null })).expectUnauthenticated();
    expect(await named(name)).toBe(0);
  });

  test('an update keeps a field that is left out, and clears one that is null, whatever its type', async () => {
    const set = { brand: 'Oak', salePrice: '129.5000', isWebShop: true, tags: ['a'], stockQuantity: 5 };
    const before = await client.product(set);
    const response = (await client.update(before.id, { color: 'ash' })).record;
    const { color: _, updatedAt: __, ...kept } = before;
    expectDocumented(response);
    expectFields(response, { ...kept, color: 'ash' });
    expectFields((await client.get('products', before.id)).record, { ...kept, color: 'ash' });
    const cleared = Object.fromEntries(Object.keys(set).map((field) => [field, null]));
    expectFields((await client.update(before.id, cleared)).record, cleared);
    expectFields((await client.get('products', before.id)).record, cleared);
  });

  test('an update moves updatedAt of one product, and a rejected or empty one changes nothing', async () => {
    const [kept, before] = [await client.product({ brand: 'one' }), await client.product({ brand: 'one' })];
    await client.update(before.id, { brand: 'two', isInactive: 'perhaps' });
    await client.update(before.id, { brand: 'two' }, { key: keys.readOnly });
    expect((await client.get('products', before.id)).record).toEqual(before);
    sandbox.clock.advance(2000);
    const after = (await client.update(before.id, { brand: 'two' })).record;
    expect([after.brand, after.createdAt]).toEqual(['two', before.createdAt]);
    expect(Date.parse(String(after.updatedAt))).toBeGreaterThan(Date.parse(String(before.updatedAt)));
    await client.update(kept.id, {});
    expect((await client.get('products', kept.id)).record).toEqual(kept);
  });

  test.each<[verb: string, write: (sent: Sent) => Promise<CallResponse>]>([
    ['create', ({ body, ...sent }) => client.create(body, sent)],
    ['update', async ({ body, ...sent }) => client.update((await client.product()).id, body, sent)],
  ])('a %s is rejected for its body, its type, its key and the quota', async (verb, write) => {
    for (const body of NOT_OBJECTS) (await write({ body })).expectProblem(400, 'malformed_request');
    for (const body of WRONG) (await write({ body })).expectProblem(422, 'validation_failed');
    const { status } = await write({ body: '{"name":"Desk"}', headers: { 'Content-Type': 'text/plain' } });
    expect(String(status)).toMatch(/^4..$/);
    (await write({ body: { name: 'Desk' }, key: null })).expectUnauthenticated();
    (await write({ body: { name: 'Desk' }, key: keys.readOnly })).expectForbidden();
    await client.exhausted((limited) =>
      verb === 'create' ? limited.create('{') : limited.update(UNKNOWN_ID, { name: 'Desk' }),
    );
  });
});
