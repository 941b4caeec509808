import { expect, test } from 'vitest';
import { CheckpointError } from '../../../src/errors/checkpoint-error.ts';
import {
  Admission,
  type CompanyMemory,
  companyToStore,
  type KnownRecord,
  momentOf,
  storedMemory,
} from '../../../src/reading/company.ts';
import { CallStopped } from '../../../src/transport/call-options.ts';
import { caught } from '../../support/caught.ts';

const NOON = '2026-01-31T12:00:00Z';

/** What the service returns for a known record: its `createdAt`, `gone` for a 404, `denied` for an error. */
type Found = { readonly createdAt: unknown } | 'gone' | 'denied';

interface Given {
  /** What the service returns for each known record. */
  readonly found?: readonly Found[];
  readonly sameCompany?: boolean;
  /** Whether the runtime has no digests. */
  readonly isWithoutDigests?: boolean;
  /** Whether the run goes on if nothing can show the company. */
  readonly continues?: boolean;
}

/** The admission of a run, with `createdAt` of the records that it knows from earlier ones, and what it requested. */
function admissionOf(before: unknown, given: Given = {}, keys: readonly string[] | undefined = ['s old']) {
  const { found = [], sameCompany = false, isWithoutDigests, continues } = given;
  const requested: string[] = [];
  const warnings: string[] = [];
  const known = () => found.map((_, index) => ({ segment: 'products', id: `${index}`, createdAt: before }));
  const memory: CompanyMemory | undefined = keys && { salt: 's', keys, known };
  const admission = new Admission({
    tenant: 'acme',
    sameCompany,
    memories: () => (memory === undefined ? [] : [memory]),
    digestOf: async (key, salt) => (isWithoutDigests ? undefined : `${salt} ${key}`),
    reader: (segment, key) => ({
      async lookUp(id) {
        requested.push(`${segment}/${id} ${key}`);
        const one = found[Number(id)] ?? { createdAt: key.startsWith('other') ? 0 : before };
        if (one === 'denied') return new Error('denied');
        if (one === 'gone') return { record: undefined };
        const row = { id, ...one };
        return { record: row, row };
      },
      async wait() {},
    }),
    onUnprovable: continues ? () => warnings.push('unprovable') : undefined,
  });
  return { admission, requested, warnings };
}

async function admit(before: unknown, found: readonly Found[]) {
  const { admission } = admissionOf(before, { found });
  await admission.admit('new');
  return admission.memory;
}

const same = { createdAt: NOON };
const other = { createdAt: '2026-01-31T12:00:01Z' };

test.each<[string, unknown, readonly Found[]]>([
  ['there is no known record', NOON, []],
  ['the only one was created at the same moment', NOON, [same]],
  ['the moment is written with another offset', NOON, [{ createdAt: '2026-01-31T13:00:00.000+01:00' }]],
  ['the moment is a number', 1_769_860_800, [{ createdAt: 1_769_860_800 }]],
  ['four of five do not exist any more', NOON, ['gone', 'gone', 'gone', 'gone', same]],
  ['some may not be read', NOON, ['denied', 'denied', same]],
  ['a sixth was created at another moment', NOON, [same, same, same, same, same, other]],
])('a new key belongs to the company if %s', async (_, before, found) => {
  const keys = found.length === 0 ? ['s new'] : ['s old', 's new'];
  expect(await admit(before, found)).toEqual({ salt: 's', keys });
});

test.each<[string, unknown, readonly Found[]]>([
  ['the only known record was created at another moment', NOON, [other]],
  ['one of two was created at another moment', NOON, [same, other]],
  ['the fifth was created at another moment', NOON, [same, same, same, same, other]],
  ['one that exists has no createdAt any more', NOON, [same, { createdAt: undefined }]],
  ['none of five exists', NOON, ['gone', 'gone', 'gone', 'gone', 'gone', same]],
  ['none may be read', NOON, ['denied']],
  ['no known record has createdAt', undefined, [{ createdAt: undefined }]],
])('nothing shows that a new key belongs to the company if %s', async (_, before, found) => {
  expect(await caught(admit(before, found))).toMatchObject({ code: 'invalid_input', argument: 'tenant' });
});

test('a key that was used before is admitted without a request, and remembered once', async () => {
  const { admission, requested } = admissionOf(NOON, { found: [other] }, ['s old', 's new']);
  for (let n = 0; n < 3; n++) await admission.admit('new');
  expect([requested, admission.memory]).toEqual([[], { salt: 's', keys: ['s old', 's new'] }]);
});

test.each<[Found]>([[same], ['gone'], ['denied']])(
  'of many known records five are requested: each %j',
  async (each) => {
    const { admission, requested } = admissionOf(NOON, { found: Array<Found>(8).fill(each) });
    const error = await caught(admission.admit('new').then(() => Promise.reject('admitted')));
    expect(error === 'admitted').toBe(each === same);
    expect(requested).toHaveLength(5);
  },
);

test('the last ten keys are remembered', async () => {
  const { admission } = admissionOf(NOON, { sameCompany: true });
  for (let n = 1; n <= 12; n++) await admission.admit(`${n}`);
  expect(admission.memory?.keys).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map((n) => `s ${n}`));
});

const row = (id: number, createdAt: unknown = NOON) => ({ id: `${id}`, createdAt });

test('the first key of a first run is admitted, and the next by the records that were read', async () => {
  const { admission, requested } = admissionOf(NOON, {}, []);
  const { admission: first } = admissionOf(NOON, {}, undefined);
  await first.admit('a');
  expect(first.memory?.keys).toHaveLength(1);
  await admission.admit('a');
  admission.saw('products', [row(101), row(102)]);
  await admission.admit('rotated');
  expect(requested).toEqual(['products/101 rotated', 'products/102 rotated']);
  expect(admission.memory?.keys).toEqual(['s a', 's rotated']);
  const error = await caught(admission.admit('other'));
  expect(error).toMatchObject({ code: 'invalid_input', argument: 'tenant', retryable: false });
  expect(`${error}`).toContain('What was written before it came is kept.');
  expect(admission.rejection).toBe(error);
  // It is not asked for again.
  const count = requested.length;
  expect(await caught(admission.admit('other'))).toBe(error);
  expect(requested).toHaveLength(count);
});

test('a second key at the same moment as the first is rejected, because nothing was read yet', async () => {
  const { admission } = admissionOf(NOON, {}, undefined);
  const [a, b] = await Promise.allSettled([admission.admit('a'), admission.admit('b')]);
  expect([a.status, b.status]).toEqual(['fulfilled', 'rejected']);
});

test('calls that ask at the same time share one proof', async () => {
  const { admission, requested } = admissionOf(NOON, { found: [same, same] });
  await Promise.all([1, 2, 3].map(() => admission.admit('new')));
  expect(requested).toEqual(['products/0 new', 'products/1 new']);
});

test.each<[string, Given, string[]]>([
  ['sameCompany says so', { found: [other], sameCompany: true }, []],
  [
    'nothing can show it, and the run goes on',
    { found: [{ createdAt: undefined }], continues: true },
    ['unprovable'],
  ],
  ['the runtime has no digests: as the first key', { found: [other], isWithoutDigests: true }, []],
])('a key is admitted without a proof if %s', async (_, given, expected) => {
  const { admission, warnings } = admissionOf(given.continues ? undefined : NOON, given);
  await admission.admit('new');
  expect(warnings).toEqual(expected);
});

test('of the memories of several collections, the one that knows the first key is kept', async () => {
  const memory = (salt: string, keys: string[]): CompanyMemory => ({ salt, keys, known: () => [] });
  const admission = new Admission({
    tenant: 'acme',
    sameCompany: false,
    memories: () => [memory('s', ['s old']), memory('t', ['t old', 't new'])],
    digestOf: async (key, salt) => `${salt} ${key}`,
    reader: () => undefined,
  });
  await admission.admit('new');
  expect(admission.memory).toEqual({ salt: 't', keys: ['t old', 't new'] });
});

test('a new key is not of another company while records that could prove it are in a collection that is down', async () => {
  const down = new CheckpointError('down');
  Object.defineProperty(down, Symbol.for('accounting-data-sdk.outage'), { value: true });
  const known = () => ['products', 'accounts'].map((segment) => ({ segment, id: '1', createdAt: NOON }));
  const admission = new Admission({
    tenant: 'acme',
    sameCompany: false,
    memories: () => [{ salt: 's', keys: [], known }],
    digestOf: async (key) => key,
    reader: (segment) => ({
      lookUp: async () => (segment === 'accounts' ? down : { record: undefined }),
      async wait() {},
    }),
  });
  expect(await caught(admission.admit('new'))).toBe(down);
});

test('without digests, a second key of a run is proven too', async () => {
  const { admission } = admissionOf(NOON, { isWithoutDigests: true }, []);
  await admission.admit('a');
  admission.saw('products', [row(101)]);
  await admission.admit('rotated');
  expect(await caught(admission.admit('other'))).toMatchObject({ code: 'invalid_input' });
});

test('the last five records of each collection are kept, each once', () => {
  const { admission } = admissionOf(NOON);
  admission.saw('products', [row(1), row(2), { id: '3' }, null, row(4)]);
  admission.saw('accounts', [{ id: 7, createdAt: 5 }]);
  admission.saw('products', [row(2, 'later'), row(5), row(6), row(7)]);
  expect(admission.seen('products').map(({ id }) => id)).toEqual(['2', '5', '6', '7', '1']);
  expect(admission.seen('products')[0]?.createdAt).toBe('later');
  expect(admission.seen('accounts')).toEqual([{ segment: 'accounts', id: '7', createdAt: 5 }]);
});

test.each([
  ['2026-01-31T12:00:00Z', 1_769_860_800],
  ['2026-01-31T13:00:00.250+01:00', 1_769_860_800.25],
  ['2026-01-31 12:00:00', '2026-01-31 12:00:00'],
  [1_769_860_800, '1769860800'],
])('a state keeps the moment %j in few characters, and it stays the same moment', (createdAt, stored) => {
  const company = companyToStore(
    { salt: 's', keys: ['1', '2', '3'] },
    [{ segment: 'products', id: '7', createdAt }],
    undefined,
  );
  expect(company).toEqual({ salt: 's', keys: ['2', '3'], known: [['7', stored]] });
  const [record] = [...(storedMemory(company, 'products').known() as Iterable<KnownRecord>)];
  expect(momentOf(record?.createdAt)).toBe(momentOf(createdAt));
});

test('a state keeps the records of an earlier run until others are read, and none that are too long', () => {
  const keys = { salt: 's', keys: ['1'] };
  const before = companyToStore(keys, [{ segment: 'products', id: '7', createdAt: NOON }], undefined);
  expect(companyToStore(keys, [], before).known).toEqual(before.known);
  const long = { segment: 'products', id: 'x'.repeat(200), createdAt: NOON };
  const short = { segment: 'products', id: '8', createdAt: NOON };
  expect(companyToStore(keys, [long, short], before).known).toEqual([['8', 1_769_860_800]]);
});

test.each([
  ['its signal', new Error('enough')],
  ['the limit of requests', new CallStopped()],
])('a proof that was stopped with its call is begun again by the next call: %s', async (_, reason) => {
  const stopped = new AbortController();
  const stop = () => {
    if (reason instanceof CallStopped) throw reason;
  };
  let lookUps = 0;
  const known = () => [{ segment: 'products', id: '1', createdAt: NOON }];
  const admission = new Admission({
    tenant: 'acme',
    sameCompany: false,
    memories: () => [{ salt: 's', keys: [], known }],
    digestOf: async (key) => key,
    reader: (__, ___, { signal, beforeAttempt }) => ({
      async lookUp() {
        lookUps += 1;
        await Promise.resolve();
        signal?.throwIfAborted();
        beforeAttempt?.();
        const row = { id: '1', createdAt: NOON };
        return { record: row, row };
      },
      async wait() {},
    }),
  });
  const first = caught(admission.admit('new', { signal: stopped.signal, beforeAttempt: stop }));
  const second = admission.admit('new', { signal: new AbortController().signal });
  if (!(reason instanceof CallStopped)) stopped.abort(reason);
  expect(await first).toBe(reason);
  await second;
  expect(lookUps).toBe(2);
});
