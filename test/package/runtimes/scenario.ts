import * as sdk from 'accounting-data-sdk';

/** A running `accounting-data-sdk sandbox`, started with `SANDBOX_ARGS` for one run of the scenario. */
export interface Service {
  readonly baseUrl: string;
  readonly apiKey: string;
}

const ACCOUNTS = 100;
const PRODUCTS = 40;
const ONCE = { maxAttempts: 1 };

const RECORDS = { accounts: ACCOUNTS, products: PRODUCTS, boms: 1, budgets: 1 };

export const SANDBOX_ARGS: readonly string[] = [
  'sandbox',
  '--port=0',
  '--quiet',
  '--cors',
  `--options=${JSON.stringify({ records: RECORDS, rateLimit: { limit: 20, windowMs: 1000 } })}`,
  `--fault=${JSON.stringify({ kind: 'lost-response', committed: true, method: 'POST', times: 1 })}`,
  `--fault=${JSON.stringify({ kind: 'stall', collection: 'boms', times: 2 })}`,
  `--fault=${JSON.stringify({ kind: 'disconnect', reset: true, committed: false, collection: 'budgetLines' })}`,
  `--fault=${JSON.stringify({ kind: 'status', status: 200, body: '<h1>Oops</h1>', collection: 'budgets' })}`,
];

function expect(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(`Expected ${what}.`);
}

function equal(actual: unknown, expected: unknown, what: string): void {
  const [seen, due] = [JSON.stringify(actual), JSON.stringify(expected)];
  expect(seen === due, `${what} to be ${due}, not ${seen}`);
}

const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

/** What every runtime must do. Rejects with what it did differently. */
export async function scenario(service: Service, call = overlappingCall): Promise<string> {
  const client = sdk.createClient(service);
  const products = await pagination(client);
  await writes(client, products);
  await errors(service, client);
  await abort(client);
  await incrementalSync(client);
  return overlappingCalls(service, call);
}

/** Both kinds of pagination read every record once. Resolves to the product ids. */
async function pagination(client: sdk.Client): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of client.accounts.list()) ids.push(id);
  equal([ids.length, new Set(ids).size], [ACCOUNTS, ACCOUNTS], 'the accounts read by page');
  equal((await client.accounts.get(ids[41] ?? '')).id, ids[41], 'the account');
  const products = await client.products.list({}, { pagination: 'keyset' }).toArray({ limit: Infinity });
  equal(products.length, PRODUCTS, 'the products read by keyset');
  // A browser shows these headers only if the service exposes them.
  equal(client.rateLimit?.limit, 20, 'the quota');
  return products.map(({ id }) => id);
}

/** The response to the create is lost: the client sends it again, and one product exists. */
async function writes(client: sdk.Client, before: readonly string[]): Promise<void> {
  const desk = await client.products.create({ name: 'Desk', salePrice: '12345678901234567.8901' });
  equal(desk.salePrice, '12345678901234567.8901', 'the price');
  const ids = await client.products.list().toArray({ limit: Infinity });
  equal(ids.filter(({ id }) => !before.includes(id)).length, 1, 'the number of new products');
  await client.products.update(desk.id, { salePrice: null });
  equal((await client.products.get(desk.id)).salePrice, null, 'the cleared price');
  await client.products.delete(desk.id);
  equal(await client.products.find(desk.id), undefined, 'the deleted product');
}

/** Each failure has its class, its code and its guard. */
async function errors({ baseUrl, apiKey }: Service, client: sdk.Client): Promise<void> {
  const wrongKey = sdk.createClient({ baseUrl, apiKey: `${apiKey}x`, retry: ONCE });
  const gone = sdk.createClient({ baseUrl: 'http://127.0.0.1:1', apiKey, retry: ONCE });
  const failures = [
    [() => client.accounts.get('999999'), sdk.NotFoundError, 'not_found'],
    [() => wrongKey.accounts.find('1'), sdk.UnauthenticatedError, 'unauthenticated'],
    [() => client.products.create({ salePrice: '1.5x' }), sdk.InvalidInputError, 'invalid_input'],
    [() => client.budgets.get('1', { retry: ONCE }), sdk.UnexpectedResponseError, 'unexpected_response'],
    [() => client.boms.get('1', { timeoutMs: 200, retry: ONCE }), sdk.TimeoutError, 'timeout'],
    [() => gone.accounts.get('1'), sdk.ConnectionError, 'connection_failed'],
  ] as const;
  for (const [call, type, code] of failures) {
    const error = await rejection(call());
    expect(error instanceof type && sdk.isAccountingError(error, code), `${type.name}, not ${String(error)}`);
  }
}

/** What a runtime that says why `fetch` failed lets the client know: whether anything was sent, and may be sent again. */
export async function networkFailures({ baseUrl, apiKey }: Service): Promise<void> {
  const failures = [
    ['http://no-such-host.invalid', 'not_sent'],
    [baseUrl.replace('http:', 'https:'), 'not_sent', false],
    ['http://127.0.0.1:1', 'not_sent'],
    ['http://127.0.0.1:2', 'not_sent', true],
    [baseUrl, 'unknown', true],
  ] as const;
  for (const [url, outcome, retryable] of failures) {
    const client = sdk.createClient({ baseUrl: url, apiKey, allowInsecure: true, retry: ONCE });
    const error = await rejection(client.budgetLines.get('1'));
    const isConnection = sdk.isAccountingError(error, 'connection_failed');
    expect(isConnection && error.reason !== undefined, `a reason of ${url}, not ${String(error)}`);
    equal([error.outcome, retryable && error.retryable], [outcome, retryable], `what ${error.message} says`);
  }
}

/** A signal ends a request that would never end, with its own reason. */
async function abort(client: sdk.Client): Promise<void> {
  const controller = new AbortController();
  const reason = new Error('changed my mind');
  setTimeout(() => controller.abort(reason), 100);
  const seen = await rejection(client.boms.get('1', { signal: controller.signal }));
  expect(seen === reason, `the reason of the signal, not ${String(seen)}`);
}

/** The first run delivers every record, the second none. */
async function incrementalSync(client: sdk.Client): Promise<void> {
  const store = sdk.memoryStore();
  const run = () =>
    sdk.sync(client, {
      store,
      tenant: 'acme',
      collections: ['accounts', 'products'],
      onBatch: () => undefined,
    });
  equal((await run()).records, ACCOUNTS + PRODUCTS, 'the records of the first sync');
  equal((await run()).records, 0, 'the records of the second sync');
}

/** One of the overlapping calls, with a client of its own. Resolves to the number of 429s that it got. */
export async function overlappingCall(service: Service): Promise<number> {
  let rejected = 0;
  const on = {
    response({ status }: { status: number }) {
      if (status === 429) rejected += 1;
    },
  };
  await sdk.createClient({ ...service, on }).accounts.get('1');
  return rejected;
}

/** Fifty calls at once with a quota of twenty a second. Without the rate limiter thirty would get a 429 at once. */
export async function overlappingCalls(service: Service, call = overlappingCall): Promise<string> {
  const counts = await Promise.all(Array.from({ length: 50 }, () => call(service)));
  const rejected = counts.reduce((sum, count) => sum + count, 0);
  expect(rejected <= 10, `at most 10 responses with status 429, not ${rejected}`);
  return `50 overlapping calls got ${rejected} responses with status 429`;
}
