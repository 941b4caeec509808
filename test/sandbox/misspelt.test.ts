import { createSandbox, type Fault, type FaultMatch, type SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';

// As from JavaScript, where no compiler looks first: one case for each kind of check, and for each check of one option.
test.each([
  [{ createStatus: 204 }, 'createStatus must be 200 or 201, not 204.'],
  [{ ids: { form: 'guid' } }, `ids.form must be 'numeric', 'uuid' or 'ulid', not "guid".`],
  [{ ids: { gap: 0.5 } }, 'ids.gap must be a whole number of at least 1, not 0.5.'],
  [{ clock: 'someday' }, 'someday is not a timestamp.'],
  [{ timeZone: 'Mars/Olympus' }, 'timeZone must be an IANA name'],
  [{ moneyDigits: '4' }, 'moneyDigits must be'],
  [{ records: { boms: Number.NaN } }, 'records must be'],
  [{ records: { account: 5 } }, 'records: there is no collection account'],
  [{ hiddenRecords: 1.1 }, 'hiddenRecords must be a number from 0 to 1'],
  [{ contentTypes: { create: [] } }, 'contentTypes.create must be'],
  [{ requiredFields: ['nmae'] }, '"nmae" is not a field of a product. Did you mean name?'],
  [500, 'createSandbox got 500 instead of options. Pass { records: 500 }.'],
  [null, 'createSandbox got null instead of options'],
])('createSandbox rejects %j', (options, message) => {
  expect(() => createSandbox(options as unknown as SandboxOptions)).toThrow(message);
});

test('a sandbox says what to pass in place of a bare port, and does not listen', async () => {
  const sandbox = createSandbox();
  const message = 'listen got 4010 instead of options. Pass { port: 4010 }.';
  await expect(sandbox.listen(4010 as never)).rejects.toThrow(message);
  expect(sandbox.clientOptions.fetch).toBe(sandbox.fetch);
});

test('an option that is undefined has its default', () => {
  const options = { rateLimit: undefined, ids: { gap: undefined }, origin: undefined };
  expect(createSandbox(options).store.accounts.insert({}).id).toBe('1');
});

const RESET = { kind: 'disconnect', reset: true, committed: false };

test.each([
  [{ kind: 'timeout' }, {}, 'no fault "timeout". Known: lost-response,'],
  [null, {}, 'no fault undefined'],
  [{ kind: 'lost-response', commited: true }, {}, 'Did you mean committed?'],
  [{ kind: 'lost-response' }, {}, 'no default for committed'],
  [{ kind: 'delay', ms: 'abc' }, {}, 'delay.ms must be a number'],
  [{ kind: 'status', status: '503' }, {}, 'status.status must be a status'],
  [{ kind: 'rewrite', body: 5 }, {}, 'rewrite.body must be'],
  [{ kind: 'status', status: 429, retryAfter: {} }, {}, 'status.retryAfter must be'],
  [RESET, { colection: 'accounts' }, 'Did you mean collection?'],
  [RESET, { times: 0 }, 'times must be'],
  [RESET, { when: 'always' }, 'when must be a function'],
  [RESET, () => true, 'faults.add got () => true instead of options. Pass { when: … }.'],
  [RESET, { path: '/products' }, 'begins with /api/public/v1/, not "/products".'],
  [RESET, { path: '/api/public/v1/boms?_page=1' }, 'whole path without query'],
])('a sandbox rejects the fault %j %j', (fault, match, message) => {
  const { faults } = createSandbox();
  expect(() => faults.add(fault as unknown as Fault, match as unknown as FaultMatch)).toThrow(message);
  expect(faults.rules).toEqual([]);
});

test.each([
  [{ acces: 'read' }, 'Did you mean access?'],
  [{ collections: ['account'] }, 'there is no collection account'],
])('a sandbox rejects the key grant %j', (grant, message) => {
  expect(() => createSandbox().issueKey(grant as object)).toThrow(message);
});

test('a sandbox rejects unknown options of a write to the store', () => {
  const { accounts } = createSandbox().store;
  expect(() => accounts.insert({}, { visibleAfter: 5 } as object)).toThrow('Did you mean visibleAfterMs?');
});
