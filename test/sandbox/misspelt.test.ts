import { createSandbox, faultyFetch, type Sandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';

const RESET = { kind: 'disconnect', reset: true, committed: false };
const add = (fault: unknown, match: unknown) => (sandbox: Sandbox) =>
  sandbox.faults.add(fault as never, match as never);
const issue = (grant: object) => (sandbox: Sandbox) => sandbox.issueKey(grant);
const rules = (given: unknown, options?: object) => () => faultyFetch(fetch, given as never, options);

// As from JavaScript, where no compiler looks first: one case for each kind of check.
test.each<[options: unknown, message: string]>([
  [{ clock: 'someday' }, 'someday is not a timestamp.'],
  [{ timeZone: 'Mars/Olympus' }, 'timeZone must be an IANA name'],
  [{ hiddenRecords: 20 }, 'hiddenRecords must be a number from 0 to 1'],
  [{ records: { account: 5 } }, 'records: there is no collection account'],
  [{ order: { bom: 'id-asc' } }, 'order: there is no collection bom'],
  [{ requiredFields: ['nmae'] }, '"nmae" is not a field of a product. Did you mean name?'],
  [{ uniqueFields: ['nmae'] }, 'uniqueFields: "nmae" is not a field of a product.'],
  [500, 'createSandbox got 500 instead of options. Pass { records: 500 }.'],
])('createSandbox rejects %j', (options, message) => {
  expect(() => createSandbox(options as never)).toThrow(message);
});

test.each<[what: string, use: (sandbox: Sandbox) => unknown, message: string]>([
  ['an unknown fault', add({ kind: 'timeout' }, {}), 'no fault "timeout". Known: lost-response,'],
  ['a misspelt field', add({ kind: 'lost-response', commited: true }, {}), 'Did you mean committed?'],
  ['a fault that lacks a field', add({ kind: 'lost-response' }, {}), 'no default for committed'],
  ['a wrong number', add({ kind: 'delay', ms: 'abc' }, {}), 'delay.ms must be a number'],
  ['a misspelt condition', add(RESET, { colection: 'accounts' }), 'Did you mean collection?'],
  ['a wrong condition', add(RESET, { times: 0 }), 'times must be'],
  ['a function for conditions', add(RESET, () => true), 'instead of options. Pass { when: … }.'],
  ['a path without its prefix', add(RESET, { path: '/products' }), 'begins with /api/public/v1/'],
  ['a path with a query', add(RESET, { path: '/api/public/v1/boms?_page=1' }), 'whole path without query'],
  ['a misspelt grant', issue({ acces: 'read' }), 'Did you mean access?'],
  ['a grant of no collection', issue({ collections: ['account'] }), 'there is no collection account'],
  ['a rule with a misspelling', rules([{ fault: { kind: 'stall' }, tmes: 2 }]), 'tmes is not an option'],
  ['one rule instead of rules', rules({ fault: { kind: 'stall' } }), 'Pass an array such as [{ fault }].'],
  ['a misspelt option of faultyFetch', rules([], { sed: 2 }), 'sed is not an option of faultyFetch'],
])('%s is rejected by its name', (_, use, message) => {
  const sandbox = createSandbox();
  expect(() => use(sandbox)).toThrow(message);
  expect(sandbox.faults.rules).toEqual([]);
});

test('a sandbox says what to pass in place of a bare port', async () => {
  const message = 'listen got 4010 instead of options. Pass { port: 4010 }.';
  await expect(createSandbox().listen(4010 as never)).rejects.toThrow(message);
});

test('an option that is undefined has its default', () => {
  const options = { rateLimit: undefined, ids: { gap: undefined }, origin: undefined };
  expect(createSandbox(options).store.accounts.insert({}).id).toBe('1');
});
