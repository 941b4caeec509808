import * as sdk from 'accounting-data-sdk';

/** A running `accounting-data-sdk sandbox`, started with `SANDBOX_ARGS` for one run of the scenario. */
export interface Service {
  readonly baseUrl: string;
  readonly apiKey: string;
}

const [ACCOUNTS, PRODUCTS] = [100, 40];
const ALL = { limit: Infinity };
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

function equal(actual: unknown, expected: unknown, what: string): void {
  const [seen, due] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (seen !== due) throw new Error(`Expected ${what} to be ${due}, not ${seen}.`);
}

const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

/** What every runtime must do. Rejects with what it did differently. */
export async function scenario(service: Service, call = overlappingCall): Promise<void> {
  const client = sdk.createClient(service);
  await reads(client);
  await writes(client);
  await errors(service, client);
  await overlappingCalls(service, call);
}

/** Each kind of pagination and a sync read every record once. */
async function reads(client: sdk.Client): Promise<void> {
  for (const pagination of ['page', 'keyset'] as const) {
    const accounts = await client.accounts.list({}, { pagination }).toArray(ALL);
    equal(new Set(accounts.map(({ id }) => id)).size, ACCOUNTS, `the accounts read by ${pagination}`);
  }
  // A browser shows these headers only if the service exposes them.
  equal(client.rateLimit?.limit, 20, 'the quota');
  const run = { store: sdk.memoryStore(), tenant: 'acme', collections: ['accounts', 'products'] } as const;
  for (const records of [ACCOUNTS + PRODUCTS, 0]) {
    equal((await sdk.sync(client, { ...run, onBatch() {} })).records, records, 'the records of a sync');
  }
}

/** The response to the create is lost: the client sends it again, and one product exists. */
async function writes({ products }: sdk.Client): Promise<void> {
  const salePrice = '12345678901234567.8901';
  const desk = await products.create({ name: 'Desk', salePrice });
  const all = await products.list().toArray(ALL);
  equal([desk.salePrice, all.length], [salePrice, PRODUCTS + 1], 'the price, and the number of products');
  await products.update(desk.id, { salePrice: null });
  equal((await products.get(desk.id)).salePrice, null, 'the cleared price');
  await products.delete(desk.id);
  equal(await products.find(desk.id), undefined, 'the deleted product');
}

/** Each failure has its class, its code and its guard. A signal ends a request that would never end, with its own reason. */
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
    equal([error instanceof type, sdk.isAccountingError(error, code)], [true, true], `${code} of ${error}`);
  }

  const controller = new AbortController();
  setTimeout(() => controller.abort('changed my mind'), 100);
  const { signal } = controller;
  equal(await rejection(client.boms.get('1', { signal })), 'changed my mind', 'the reason of the signal');
}

/** What a runtime that says why `fetch` failed lets the client know: whether anything was sent, and may be sent again. */
export async function networkFailures({ baseUrl, apiKey }: Service): Promise<void> {
  const failures = [
    ['http://no-such-host.invalid', 'not_sent'],
    [baseUrl.replace('http:', 'https:'), 'not_sent', false],
    ['http://127.0.0.1:2', 'not_sent', true],
    [baseUrl, 'unknown', true],
  ] as const;
  for (const [url, outcome, retryable] of failures) {
    const client = sdk.createClient({ baseUrl: url, apiKey, allowInsecure: true, retry: ONCE });
    const error = await rejection(client.budgetLines.get('1'));
    if (!sdk.isAccountingError(error, 'connection_failed')) throw error;
    const seen = [error.reason !== undefined, error.outcome, retryable && error.retryable];
    equal(seen, [true, outcome, retryable], `what ${error.message} says`);
  }
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
export async function overlappingCalls(service: Service, call = overlappingCall): Promise<void> {
  const counts = await Promise.all(Array.from({ length: 50 }, () => call(service)));
  const rejected = counts.reduce((sum, count) => sum + count, 0);
  if (rejected > 10) throw new Error(`Expected at most 10 responses with status 429, not ${rejected}.`);
}
