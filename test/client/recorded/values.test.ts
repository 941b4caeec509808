import {
  type Client,
  type ClientOptions,
  createClient,
  type Decimal,
  idFromIri,
  type MoneyOptions,
  toDecimal,
  toMoney,
} from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { runToEnd, useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

/** A client whose every response has this body. */
function clientOf(body: string, options: ClientOptions = {}, init: ResponseInit = {}): Client {
  const headers = { 'content-type': 'application/json', ...init.headers };
  return createClient({
    baseUrl: 'https://books.example',
    apiKey: 'key-of-the-company',
    rateLimiter: false,
    retry: false,
    maxWaitMs: 0,
    fetch: async () => new Response(body, { ...init, headers }),
    ...options,
  }) as Client;
}

/** The message of what an act ends with, or its value. */
async function shown(act: () => unknown): Promise<string> {
  try {
    return JSON.stringify(await runToEnd((async () => act())())) ?? 'undefined';
  } catch (error) {
    return String(error).replace(/ ?(?:Ask the operator of the service\.|With validation: 'report'.*)/g, '');
  }
}

/** Each value as JSON, which may hold what JavaScript cannot write. */
const VALUES =
  'null true 5 -0 2.5 1e400 9007199254740993 "" "a" "5" "5.123456789" "1,5" "1e3" "2026-01-31" [] [1e400] [null] {} {"a":1e400}'.split(
    ' ',
  );
const FIELDS = [
  'id',
  'name',
  'salePrice',
  'isInactive',
  'salePriceDecimals',
  'stockQuantity',
  'tags',
  'updatedAt',
  'own',
];

const own = z.object({ id: z.string(), name: z.string().max(3), updatedAt: z.iso.datetime() });
const READ_OPTIONS: Readonly<Record<string, ClientOptions>> = {
  'validation off': { validation: 'off' },
  'ids as numbers': { ids: 'numbers' },
  'a schema of the caller': { schemas: { products: own } },
  'the same and validation off': { schemas: { products: own }, validation: 'off' },
  'a schema without an id': { schemas: { products: z.object({ name: z.string() }) as never } },
  'a schema that throws': {
    schemas: {
      products: own.transform(() => {
        throw new Error('out of order');
      }),
    },
  },
};
const deep = (levels: number) => `{"id":"7","a":${'['.repeat(levels)}${']'.repeat(levels)}}`;

/** Bodies in place of a record, and of a list. */
const BODIES: Readonly<Record<string, string>> = {
  'a string': '"a"',
  null: 'null',
  'an array': '[]',
  'an object': '{}',
  'a record': '{"id":"7","name":"Desk"}',
  'a record of JSON-LD': '{"@context":"/c","@id":"/accounts/7","id":"7"}',
  'a record with __proto__': '{"id":"7","__proto__":{"a":1}}',
  'a record within data': '{"data":{"id":"7"}}',
  'an error in a 200': '{"error":"Subscription expired"}',
  'a problem in a 200': '{"type":"forbidden","title":"No","status":403}',
  'a list': '[{"id":"7"}]',
  'a list of others':
    '[1,null,"a",[],{"id":7},{"uuid":"7"},{"id":null},{"id":""},{"id":{}},{"id":1.5},{"id":1e400}]',
  'an object with numeric keys': '{"0":{"id":"7"},"1":{"id":"8"}}',
  'hydra:member': '{"hydra:member":[{"id":"7"}],"hydra:totalItems":1}',
  'member of an object': '{"member":{"0":{"id":"7"}}}',
  'a list within data': '{"data":{"items":[{"id":"7"}]},"total":1}',
  'a record of 499 levels': deep(499),
  'a record of 501 levels': deep(501),
};

/** Bodies of errors: what the error says of them. */
const PROBLEMS: readonly (readonly [status: number, body: string, headers?: Record<string, string>])[] = [
  [400, ''],
  [400, '[]'],
  [400, '{"error":{"message":"Bad filter"}}'],
  [400, '{"title":"Bad Request","detail":null,"status":400}'],
  [400, '{"type":"https://docs.example/errors#malformed_request","detail":"No such field:\\nname"}'],
  [400, '{"type":"tag:x","title":"Field missing","status":400}'],
  [401, '{"message":"Unauthorized"}'],
  [401, '<h1>Sign in</h1>', { 'content-type': 'text/html' }],
  [403, '<h1>Blocked</h1>', { 'content-type': 'text/html' }],
  [403, '{"type":"scope-required","title":"Scope","scope":"accounts.read"}'],
  [403, '{"title":"Forbidden"}'],
  [404, '{"type":"product_not_found","title":"Gone"}'],
  [404, '{"status":404,"error":"Not Found","path":"/x"}'],
  [409, '{"type":"request_in_progress"}'],
  [410, '{"title":"Gone"}'],
  [
    422,
    '{"violations":[{"propertyPath":"name","message":"Too long","code":"x"},{"message":"Odd"},{"propertyPath":"a"}]}',
  ],
  [422, '{"errors":[{"pointer":"#/price/net","detail":"Not a number"}]}'],
  [422, '{"errors":{"name":["Too long","Odd"],"non_field_errors":["No"]}}'],
  [422, '{"name":["Too long"]}'],
  [
    422,
    `{"violations":[${'1234567'.split('').map((n) => `{"propertyPath":"f${n}","message":"m${n}"}`)}],"detail":"f1: m1"}`,
  ],
  [422, '{"detail":"name: Too long","violations":[{"propertyPath":"name","message":"Too long"}]}'],
  [429, '{"type":"rate_limited","detail":"Slow down"}', { 'retry-after': '90' }],
  [429, '<h1>Slow down</h1>', { 'retry-after': '86400', 'content-type': 'text/html' }],
  [429, '{}', { 'retry-after': 'Sat, 31 Jan 2026 12:02:00 GMT', date: 'Sat, 31 Jan 2026 12:00:00 GMT' }],
  [429, '{}', { 'retry-after': 'soon', 'x-ratelimit-limit': '10, 10', 'x-ratelimit-remaining': '-1' }],
  [
    503,
    '{"type":"about:blank","status":503}',
    { 'retry-after': '0', 'x-ratelimit-limit': '9', 'x-ratelimit-remaining': '9' },
  ],
  [200, '{"type":"rate_limited","status":429}', { 'retry-after': '90' }],
];

const AMOUNTS = [
  ...[
    '0',
    '-0',
    '-0.0',
    '0.00005',
    '-0.00005',
    '1.23456',
    '-1.5',
    '2.5',
    '0.125',
    '-0.125',
    '0.135',
    '007.10',
    '5.',
    '.5',
    '+5',
    ' 5',
    '1e3',
    '1,5',
    '1_000',
    '',
  ],
  ...[
    '999999999999999999.99999999',
    '999999999999999999.999999999',
    '1000000000000000000',
    'NaN',
    '0x10',
    '٣',
  ],
];
const NUMBERS: Readonly<Record<string, Decimal | bigint | number>> = {
  '0.1 + 0.2': 0.1 + 0.2,
  '-0': -0,
  '-0.004': -0.004,
  '1e-9': 1e-9,
  '1e21': 1e21,
  '2^53 - 1': 2 ** 53 - 1,
  '2^53': 2 ** 53,
  '-(2^53)': -(2 ** 53),
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '10n^18n - 1n': 10n ** 18n - 1n,
  '10n^18n': 10n ** 18n,
  '-(10n^18n)': -(10n ** 18n),
  '1/3': toDecimal('1').dividedBy(3),
  '1/0': toDecimal('1').dividedBy(0),
  '10^18 - 0.001': toDecimal('999999999999999999').plus('0.999'),
};
const ROUNDINGS: readonly MoneyOptions[] = [
  {},
  { digits: 0, rounding: 'half_even' },
  { digits: 8 },
  ...(['half_up', 'half_down', 'up', 'down', 'ceiling', 'floor'] as const).map((rounding) => ({
    digits: 2,
    rounding,
  })),
];

const IRIS = [
  ...[
    '/accounts/2',
    'https://b.example/api/accounts/2?x=1#y',
    '/accounts/a%2Fb',
    '/accounts/%zz',
    '/accounts/',
    '/2',
    '//2',
    'a/2',
  ],
  ...['/.well-known/genid/2', '2?x', '/accounts/..', '/accounts/%2e%2e', 'urn:x:2', 'https://b.example/2'],
];

/** One line for each outcome, with what has it. */
async function grouped(names: readonly string[], act: (name: string) => Promise<string>): Promise<string[]> {
  const byOutcome = new Map<string, string[]>();
  for (const name of names) {
    const outcome = await act(name);
    byOutcome.set(outcome, [...(byOutcome.get(outcome) ?? []), name]);
  }
  return [...byOutcome].map(([outcome, all]) => `  ${outcome} <- ${all.join(', ')}`);
}

test('each value of a response, an error and an amount is read, or called wrong, as recorded', async () => {
  const lines: string[] = [];
  const part = (title: string) => void lines.push('', `# ${title}`);
  part('products with such values: what a list says');
  for (const field of FIELDS) {
    const bodyOf = (value: string) =>
      field === 'id' ? `[{"id":${value}}]` : `[{"id":"7","${field}":${value}}]`;
    const read = async (value: string) => {
      const list = clientOf(bodyOf(value)).products.list({}, { pagination: 'none' }).toArray({ limit: 1 });
      const text = await shown(() => list.then(() => 'as it is'));
      return text.replace(/.*does not have the documented shape/, '').replaceAll('"as it is"', 'as it is');
    };
    lines.push(`${field}:`, ...(await grouped(VALUES, read)));
  }
  part('the same, with other options');
  const bodies = [
    '{"id":7}',
    '{"id":"7","name":5}',
    '{"id":"7","name":"long","updatedAt":"x"}',
    '{"id":"7","name":"a","own":1,"updatedAt":"2026-01-31T12:00:00Z"}',
  ];
  for (const [name, options] of Object.entries(READ_OPTIONS)) {
    lines.push(`${name}:`);
    for (const body of bodies)
      lines.push(`  ${body}: ${await shown(() => clientOf(body, options).products.get('7'))}`);
  }
  part('in place of a record, a list, a list that reports, and what is deleted');
  for (const [name, body] of Object.entries(BODIES)) {
    const list = (options?: ClientOptions) => async () => {
      const pages = clientOf(body, options).accounts.list({}, { pagination: 'none' }).pages();
      for await (const { records, invalid } of pages)
        return { records, invalid: invalid.map(({ id, issues }) => ({ id, issues })) };
      return undefined;
    };
    const texts = [
      await shown(() => clientOf(body).accounts.get('7')),
      await shown(list()),
      await shown(list({ validation: 'report' })),
      await shown(() => clientOf(body).products.delete('7')),
    ];
    lines.push(`${name}:`, ...texts.map((text) => `  ${text.replaceAll(/\[{20,}\]*/g, '[…')}`));
  }
  part('bodies of 10 bytes, and the largest that is read');
  for (const maxBodyBytes of [9, 10]) {
    const text = '{"id":"7"}';
    lines.push(
      `${maxBodyBytes}:`,
      `  ${await shown(() => clientOf(text, { maxBodyBytes }).accounts.get('7'))}`,
      `  ${await shown(() => clientOf(text, { maxBodyBytes }).products.delete('7'))}`,
      `  ${await shown(() => clientOf('{"type":1}', { maxBodyBytes }, { status: 400 }).accounts.get('7'))}`,
    );
  }
  part('errors of a get, and of a create');
  for (const [status, body, headers] of PROBLEMS) {
    const client = clientOf(body, {}, { status, ...(headers === undefined ? {} : { headers }) });
    const error = await runToEnd(client.accounts.get('7').then(String, (thrown: unknown) => thrown));
    const { code, retryable, outcome, violations, extensions, retryAfterMs, rateLimit, missing } =
      error as Record<string, unknown>;
    const fields = { code, retryable, outcome, violations, extensions, retryAfterMs, rateLimit, missing };
    const json = JSON.stringify(fields).replaceAll(/"(?:violations|extensions)":(?:\[\]|\{\}),?/g, '');
    const ofCreate = await shown(() => client.products.create({ name: 'a' }));
    const title = `${status} ${body}${headers === undefined ? '' : ` ${JSON.stringify(headers)}`}`;
    lines.push(title, `  ${error}`, `  ${json}`, `  ${ofCreate}`);
  }
  part('amounts: toDecimal, and toMoney with each rounding');
  for (const options of ROUNDINGS) {
    const write = (amount: string) => shown(() => toMoney(amount, options));
    lines.push(`${JSON.stringify(options)}:`, ...(await grouped(AMOUNTS, write)));
  }
  lines.push(
    'toDecimal:',
    ...(await grouped(AMOUNTS, (amount) => shown(() => toDecimal(amount).toString()))),
  );
  for (const options of [{}, { digits: 2, rounding: 'half_up' }] as const) {
    const write = (name: string) => shown(() => toMoney(NUMBERS[name] as number, options));
    lines.push(`numbers ${JSON.stringify(options)}:`, ...(await grouped(Object.keys(NUMBERS), write)));
  }
  part('IRIs');
  lines.push(...(await grouped(IRIS, (iri) => shown(() => idFromIri(iri)))));
  await expect(`${lines.slice(1).join('\n')}\n`).toMatchFileSnapshot('./values.txt');
});
