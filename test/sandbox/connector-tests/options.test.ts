import { collectionNames } from 'accounting-data-sdk';
import { type ConnectorRun, type ConnectorTestsOptions, connectorTests } from 'accounting-data-sdk/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { get, reader } from './connectors.ts';
import { messageOf } from './failures.ts';

/** A connector without a mistake for the cases of this file, and some options instead of its own. */
const connector = (options: Partial<ConnectorTestsOptions> = {}): ConnectorTestsOptions => ({
  ...reader(),
  ...options,
});
const rejecting = (message: string) => () => Promise.reject(new Error(message));
const listOf = async (service: ConnectorRun, query = '') => await get(service, `accounts${query}`);

test.each([
  [{ expected: { hidden: 'why' } }, 'expected: there is no case "hidden". Did you mean hidden rows?'],
  [{ expected: { 'hidden rows': ' ' } }, 'expected: hidden rows needs a reason.'],
  [{ only: ['hidden rows'] }, 'only is not an option of connectorTests'],
  [{ collections: ['acounts'] }, 'Did you mean accounts?'],
  [{ collections: [] }, 'connectorTests got no collections to read. Pass the names of at least one.'],
  [{ run: undefined, writes: { run: () => 1 } }, 'needs collections, run and records, or writes, or both.'],
])('connectorTests rejects %j', (options, message) => {
  expect(() => connectorTests(connector(options as Partial<ConnectorTestsOptions>))).toThrow(message);
});

test('an expected failure passes and is printed, and fails once the connector passes the case', async () => {
  const print = vi.spyOn(console, 'info').mockImplementation(() => {});
  const expected = { UUIDs: 'not yet' };
  expect(await messageOf('UUIDs', connector({ expected, run: rejecting('broken') }))).toBeUndefined();
  expect(print.mock.calls).toEqual([['Expected ("not yet"): UUIDs: The run rejected: broken.']]);
  expect(await messageOf('UUIDs', connector({ expected }))).toBe(
    'UUIDs: the connector passes this case now. Remove it from expected ("not yet").',
  );
});

test('a case fails with its name if reset or, after a run, records of the user throws', async () => {
  const broken = () => {
    throw new Error('no such table');
  };
  const reset = rejecting('no such table');
  expect(await messageOf('UUIDs', connector({ reset }))).toBe('UUIDs: no such table');
  const { run, records, ...others } = reader();
  let hasRun = false;
  const started = async (service: ConnectorRun) => {
    await run(service);
    hasRun = true;
  };
  const failing = { ...others, run: started, records: () => (hasRun ? broken() : []) };
  expect(await messageOf('UUIDs', failing)).toBe("UUIDs: records('accounts') failed: no such table");
  // The tables of a copy may not exist before the first run.
  hasRun = false;
  const creating = { ...failing, records: () => (hasRun ? records('accounts') : broken()) };
  expect(await messageOf('ids beyond 2^53', creating)).toBeUndefined();
});

test('cases that are started at once run one after another, each with its service, which is closed', async () => {
  const urls = new Set<string>();
  let [running, most] = [0, 0];
  const run = async (service: ConnectorRun) => {
    urls.add(service.baseUrl);
    running += 1;
    most = Math.max(most, running);
    await listOf(service);
    running -= 1;
  };
  const cases = connectorTests(connector({ run })).slice(0, 3);
  await Promise.allSettled(cases.map((each) => each.run()));
  expect([most, urls.size]).toEqual([1, 3]);
  for (const url of urls) await expect(fetch(url)).rejects.toThrow('fetch failed');
});

test('a message has the first five problems, and the number of the others', async () => {
  const collections = collectionNames.slice(0, 7);
  const options = connector({ collections, run: () => {} });
  const message = await messageOf('UUIDs', options);
  const { why } = connectorTests(options).find(({ name }) => name === 'UUIDs') ?? {};
  expect(message?.split('\n').at(-1)).toBe(`Why services do this: ${why}`);
  expect(message?.match(/23 of 23 \w+ are missing/g)).toHaveLength(5);
  expect(message).toContain('\n… and 2 more.\n');
});

test('the message of a run that destroyed something says so, with the error of the run', async () => {
  const { run, reset, ...others } = reader({ endsAtFirstFailure: true });
  const emptying = async (service: ConnectorRun) => {
    reset();
    await run(service).catch(rejecting('accounts: broken'));
  };
  expect(await messageOf('one forbidden collection', { ...others, reset, run: emptying })).toMatch(
    / The copy had record 1 before the run, and the service still has it\.\nThe run rejected: accounts: broken\./,
  );
});

const COLUMNS =
  "records('accountAddresses') must return an array of records with the fields of the service, at least id and street";

test.each<[records: unknown, message: string]>([
  [[{ id: '1' }], `${COLUMNS}: street is missing.`],
  [[{ street: 'x' }], `${COLUMNS}: id is missing.`],
  [undefined, `${COLUMNS}.`],
  [[{ id: '1', street: 'left over' }], 'The copy is not empty before the case. The option reset'],
])('a case fails if records returns %j', async (records, message) => {
  const options = connector({ collections: ['accountAddresses'], records: () => records });
  expect(await messageOf('UUIDs', options)).toContain(message);
});

test('a connector that sends requests after a kill fails the case', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  /** Its connections are rejected until the run has settled. The case watches it until timers go on. */
  const sendOne = async ({ baseUrl }: ConnectorRun) => {
    while (!(await fetch(baseUrl).catch(() => undefined)));
    vi.runAllTimers();
  };
  const run = async (service: ConnectorRun) => {
    while (!service.signal.aborted) await listOf(service).catch(() => undefined);
    void sendOne(service);
    throw service.signal.reason;
  };
  expect(await messageOf('killed and started again', connector({ run }))).toContain(
    'The run sent requests after it had been killed',
  );
});

test('a run that takes longer than timeoutMs is killed', async () => {
  const run = ({ signal }: ConnectorRun) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const message = await messageOf('UUIDs', connector({ run, timeoutMs: 20 }));
  expect(message).toContain('The run had not ended after timeoutMs (20 ms).');
});

test('a case fails if the API key is in an error with which a run rejects, even if it is expected to fail', async () => {
  const run = async (service: ConnectorRun) => {
    throw new Error('It failed.', { cause: new Error(`401 for ${service.apiKey}`) });
  };
  const leak = 'The API key is in an error with which a run rejected.';
  const expected = { UUIDs: 'a known leak' };
  expect(await messageOf('UUIDs', connector({ run, expected }))).toContain(leak);
  // Where a run has to reject.
  const { run: right, ...others } = reader({ endsAtFirstFailure: true });
  const leaking = (service: ConnectorRun) => right(service).catch(() => run(service));
  expect(await messageOf('one forbidden collection', { ...others, run: leaking })).toContain(leak);
});

test('the options of the service apply to every case, unless it tests them', async () => {
  const seen: unknown[] = [];
  const run = async (each: ConnectorRun) => {
    for (const page of [1, 2]) {
      const response = await listOf(each, `?_page=${page}`);
      seen.push(response.ok ? (await response.json())['hydra:member'].length : response.status);
    }
  };
  const service = { listBody: 'hydra:member', afterLastPage: 'empty', pageSize: 100 } as const;
  await messageOf('no records', connector({ run, service }));
  expect(seen).toEqual([0, 404, 5, 404]);
});

test.each<[what: string, name: string, service: ConnectorTestsOptions['service']]>([
  ['fields that are null', 'odd records', { nullFields: 'omitted' }],
  ['records that the service hides', 'killed and started again', { hiddenRecords: 0.3 }],
])('a right copy may lack %s', async (_, name, service) => {
  expect(await messageOf(name, connector({ service }))).toBeUndefined();
});
