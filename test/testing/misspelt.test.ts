import { expect, test } from 'vitest';
import { createSandbox, type Fault, type FaultMatch, type SandboxOptions } from '../../src/testing/index.ts';

// As from JavaScript, where no compiler looks first.
test.each([
  [{ pagesize: 5 }, 'createSandbox has no pagesize: there are seed, records,'],
  [{ order: 'id-ascending' }, 'order must be one of id-asc, id-desc,'],
  [{ listBody: 'members' }, 'listBody must be one of array, member, hydra:member, not members.'],
  [{ createStatus: 204 }, 'createStatus must be one of 200, 201, not 204.'],
  [{ problemType: 'uri' }, 'problemType must be one of'],
  [{ ids: { form: 'guid' } }, 'ids.form must be one of numeric, uuid, ulid, not guid.'],
  [{ ids: { from: 1 } }, 'ids has no from'],
  [{ rateLimit: { limit: 5 } }, 'rateLimit has no limit: there are budget, windowMs, kind.'],
  [{ rateLimit: { kind: 'leaky' } }, 'rateLimit.kind must be one of'],
  [{ idempotency: { replay: 409 } }, 'idempotency.replay must be one of'],
  [{ idempotency: { ttl: 1 } }, 'idempotency has no ttl'],
  [{ idempotency: { lifetimeMs: -1 } }, 'idempotency.lifetimeMs must be'],
  [{ moneyDigits: '4' }, 'moneyDigits must be'],
  [{ records: '500' }, 'records must be'],
  [{ records: { account: 5 } }, 'records: there is no collection account'],
])('an option that does not exist is refused: %j', (options, message) => {
  expect(() => createSandbox(options as unknown as SandboxOptions)).toThrow(message);
});

test.each([
  [{ kind: 'timeout' }, {}, 'There is no fault timeout, but lost-response,'],
  [{ kind: 'lost-response', commited: true }, {}, 'The fault lost-response has no commited'],
  [{ kind: 'connection-reset' }, { colection: 'accounts' }, 'What a fault matches has no colection'],
  [
    { kind: 'connection-reset' },
    { collection: 'account-addresses' },
    'there is no collection account-addresses',
  ],
])('a fault that would meet nothing, or everything, is refused: %j %j', (fault, match, message) => {
  const { faults } = createSandbox();
  expect(() => faults.add(fault as Fault, match as FaultMatch)).toThrow(message);
  expect(faults.rules).toEqual([]);
});

test.each([
  [{ acces: 'read' }, 'issueKey has no acces'],
  [{ access: 'write' }, 'access must be one of full, read, none, not write.'],
  [{ collections: ['account'] }, 'there is no collection account'],
])('a key with rights that do not exist is refused: %j', (grant, message) => {
  expect(() => createSandbox().issueKey(grant as object)).toThrow(message);
});
