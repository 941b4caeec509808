import * as sdk from 'accounting-data-sdk';
import { Books } from './books.ts';
import { check, rejection } from './expect.ts';

/** Each failure is an instance of its class, has its code, and narrows by its guard. */
export async function errors(orders: string): Promise<string> {
  const books = await Books.open(orders, { records: { accounts: 3 } });
  const once = { ...books.clientOptions, retry: { maxAttempts: 1 } };
  const client = sdk.createClient(once);
  const as = (apiKey: string) => sdk.createClient({ ...once, apiKey }).accounts.find('1');

  await fails(client.accounts.get('999'), { type: sdk.NotFoundError, code: 'not_found' });
  await fails(as(books.keys.revoked), { type: sdk.UnauthenticatedError, code: 'unauthenticated' });
  await fails(as(books.keys.forbidden), { type: sdk.ForbiddenError, code: 'forbidden' });
  await fails(as(books.keys.productsOnly), { type: sdk.ScopeRequiredError, code: 'scope_required' });
  await fails(client.products.create({ salePrice: '1.5x' }), {
    type: sdk.InvalidInputError,
    code: 'invalid_input',
  });
  await fails(client.products.create({ salePrice: 5 as unknown as string }), {
    type: sdk.InvalidInputError,
    code: 'invalid_input',
  });

  const read = () => client.accounts.get('1');
  await books.fault({ kind: 'status', status: 422, type: 'validation_failed' });
  await fails(read(), { type: sdk.ValidationFailedError, code: 'validation_failed' });
  await books.fault({ kind: 'rate-limited', retryAfter: 3600 });
  await fails(read(), { type: sdk.RateLimitedError, code: 'rate_limited' });
  await books.close();
  return 'seven classes';
}

/** What never became an answer that can be read. */
export async function broken(orders: string): Promise<string> {
  const books = await Books.open(orders, { records: { accounts: 3 } });
  const client = sdk.createClient({ ...books.clientOptions, retry: { maxAttempts: 1 }, timeoutMs: 30_000 });
  const read = () => client.accounts.get('1');

  await books.fault({ kind: 'html-response' });
  await fails(read(), { type: sdk.UnexpectedResponseError, code: 'unexpected_response' });
  await books.fault({ kind: 'redirect', location: `${books.baseUrl}/elsewhere` });
  await fails(read(), { type: sdk.RedirectError, code: 'redirected' });
  await books.fault({ kind: 'stall' });
  await fails(client.accounts.get('1', { timeoutMs: 100 }), { type: sdk.TimeoutError, code: 'timeout' });
  await books.close();
  await fails(read(), { type: sdk.ConnectionError, code: 'connection_failed' });
  return 'four classes';
}

async function fails(
  promise: Promise<unknown>,
  { type, code }: { type: abstract new (...args: never[]) => Error; code: sdk.AccountingErrorCode },
): Promise<void> {
  const error = await rejection(promise);
  check(error instanceof type, `${type.name}, not ${String(error)}`);
  check(error instanceof sdk.AccountingError && error.code === code, `the code ${code}`);
  check(sdk.isAccountingError(error, code), `a guard that holds for ${code}`);
}
