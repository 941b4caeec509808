const { createClient, isApiError } = require('accounting-data-sdk');
const { createSandbox } = require('accounting-data-sdk/testing');
const { pullAccounts } = require('./pull-accounts.cjs');

test('pulls every account, in whatever order the service lists them', async () => {
  for (const order of ['id-asc', 'id-desc', 'none']) {
    const sandbox = createSandbox({ order, records: { accounts: 75 } });
    const { accounts } = await pullAccounts(createClient(sandbox.clientOptions));
    expect([...accounts.keys()].sort()).toEqual(sandbox.store.accounts.ids().sort());
  }
});

test('waits for the end of an outage in the middle of a list', async () => {
  const sandbox = createSandbox({ records: { accounts: 75 } });
  sandbox.faults.add({ kind: 'status', status: 503 }, { collection: 'accounts', skip: 1, times: 2 });
  const { accounts } = await pullAccounts(createClient(sandbox.clientOptions));
  expect(accounts.size).toBe(75);
  expect(sandbox.count(({ status }) => status === 503)).toBe(2);
});

test('waits for a quota that is used up', async () => {
  const sandbox = createSandbox({ records: { accounts: 75 }, rateLimit: { limit: 2, windowMs: 1000 } });
  const { accounts } = await pullAccounts(createClient(sandbox.clientOptions));
  expect(accounts.size).toBe(75);
});

test('distinguishes a revoked key from a key that may not read accounts', async () => {
  const sandbox = createSandbox();
  const codes = [];
  for (const apiKey of [sandbox.keys.revoked, sandbox.keys.productsOnly]) {
    const error = await pullAccounts(createClient({ ...sandbox.clientOptions, apiKey })).catch(
      (reason) => reason,
    );
    codes.push(isApiError(error) && error.code);
  }
  expect(codes).toEqual(['unauthenticated', 'scope_required']);
});
