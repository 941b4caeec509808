import { setTimeout as wait } from 'node:timers/promises';
import { createClient } from 'accounting-data-sdk';
import { type ConnectorRun, type ConnectorTestsOptions, connectorTests } from 'accounting-data-sdk/testing';
import { expect, test, vi } from 'vitest';
import { messageOf } from './failures.ts';
import { COLLECTIONS, deletionByAbsence, loopByPage } from './naive.ts';

/** A connector that keeps a right copy of what it lists. */
function connector() {
  let copy: object[] = [];
  return {
    collections: ['accounts'] as const,
    async run({ baseUrl, apiKey, signal }: ConnectorRun) {
      copy = await createClient({ baseUrl, apiKey })
        .accounts.list({}, { signal, pagination: 'keyset' })
        .toArray({ limit: 1_000 });
    },
    records: () => copy,
    reset: () => {
      copy = [];
    },
  };
}

test('cases have a name and a reason, and `only` and `skip` choose by name', () => {
  const cases = connectorTests(connector());
  expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
  for (const { why } of cases) expect(why).toMatch(/^[A-Zu].*\.$/);
  const names = (options: ConnectorTestsOptions) =>
    connectorTests({ ...connector(), ...options }).map(({ name }) => name);
  expect(names({ only: ['ties', 'UUIDs'] })).toEqual(['ties', 'UUIDs']);
  expect(names({ skip: ['ties'] })).toHaveLength(cases.length - 1);
});

test('an unknown case, option or collection is rejected by its name', () => {
  expect(() => connectorTests({ ...connector(), only: ['tis'] })).toThrow('Did you mean ties?');
  expect(() => connectorTests({ ...connector(), skip: ['x'] })).toThrow('skip: there is no case "x"');
  expect(() => connectorTests({ ...connector(), expected: { hidden: 'why' } })).toThrow(
    'Did you mean hidden rows?',
  );
  expect(() => connectorTests({ ...connector(), sed: 1 } as never)).toThrow(
    'sed is not an option of connectorTests',
  );
  expect(() => connectorTests({ ...connector(), collections: ['acounts'] as never })).toThrow(
    'Did you mean accounts?',
  );
  expect(() => connectorTests({ ...connector(), seed: '1' as never })).toThrow('seed must be a whole number');
  expect(() => connectorTests({ collections: ['accounts'] })).toThrow(
    'needs collections, run and records, or writes',
  );
  expect(() => connectorTests({ ...connector(), collections: [] })).toThrow('collections must not be empty');
  expect(() => connectorTests({ ...connector(), only: [] })).toThrow('only must not be empty');
});

test('an expected failure passes and is printed, and fails once the connector passes the case', async () => {
  const print = vi.spyOn(console, 'info').mockImplementation(() => {});
  const expected = { 'changed records': 'not yet' };
  const failing = { ...connector(), run: () => Promise.reject(new Error('broken')) };
  expect(await messageOf('changed records', { ...failing, expected })).toBeUndefined();
  expect(print.mock.calls).toEqual([['Expected ("not yet"): changed records: The run rejected: broken.']]);
  expect(await messageOf('changed records', { ...connector(), expected })).toBe(
    'changed records: the connector passes this case now. Remove it from expected ("not yet").',
  );
  for (const reason of ['', ' ', true]) {
    expect(() => connectorTests({ ...failing, expected: { ties: reason as string } })).toThrow(
      'expected: ties needs a reason.',
    );
  }
});

test('a case fails with its name if a function of the user throws', async () => {
  const broken = () => {
    throw new Error('no such table');
  };
  expect(await messageOf('ties', { ...connector(), reset: broken })).toBe('ties: no such table');
  expect(await messageOf('ties', { ...connector(), output: broken })).toBe('ties: no such table');
  const { run, ...others } = connector();
  let hasRun = false;
  const options = {
    ...others,
    run: async (service: ConnectorRun) => {
      await run(service);
      hasRun = true;
    },
    records: () => (hasRun ? broken() : []),
  };
  expect(await messageOf('ties', options)).toBe("ties: records('accounts') failed: no such table");
});

test('cases that are started at once run one after another, each with its service', async () => {
  const { run, reset, ...others } = connector();
  let running = 0;
  let most = 0;
  const counted = async (service: ConnectorRun) => {
    running += 1;
    most = Math.max(most, running);
    await run(service).finally(() => {
      running -= 1;
    });
  };
  const cases = connectorTests({
    ...others,
    reset,
    run: counted,
    only: ['changed records', 'ties', 'unknown fields', 'a revoked key'],
  });
  await Promise.all(cases.map((each) => each.run()));
  expect(most).toBe(1);
});

test('a case closes its service', async () => {
  const { run, ...others } = connector();
  const urls: string[] = [];
  const noting = async (service: ConnectorRun) => {
    urls.push(service.baseUrl);
    await run(service);
  };
  expect(await messageOf('ties', { ...others, run: noting })).toBeUndefined();
  await expect(fetch(String(urls[0]))).rejects.toThrow('fetch failed');
});

test('the message of a failed case has the reason, the advice, why services do this, and how to repeat it', async () => {
  const forgetful = connector();
  const records = () => forgetful.records().slice(1);
  expect(await messageOf('exactly one page', { ...forgetful, records, seed: 5 })).toContain(
    'The run rejected',
  );
  const broken = { ...connector(), run: () => Promise.reject(new Error('accounts: 404')) };
  expect(await messageOf('exactly one page', broken)).toContain(
    'The run rejected: accounts: 404.\nAfter a full',
  );
  const message = await messageOf('ties', { ...forgetful, records, seed: 5 });
  expect(message?.split('\n')).toEqual([
    expect.stringMatching(
      /^ties: 1 of 23 accounts is missing from the copy \(id \d+\)\. The response to request \d+ contained record \d+\.$/,
    ),
    'Do not read by page a list that is not sorted by something unique.',
    expect.stringMatching(/^Why services do this: /),
    "Repeat it with only: ['ties'], seed: 5.",
  ]);
});

test('the message of a run that destroyed something names the fault, and the error of the run', async () => {
  const { run, reset, ...others } = connector();
  const emptying = async (service: ConnectorRun) => {
    reset();
    await run({ ...service, signal: AbortSignal.timeout(5_000) }).catch(() => {
      throw new Error('accounts: broken');
    });
  };
  const service = { ...others, reset, run: emptying };
  expect(await messageOf('one forbidden collection', service)).toMatch(
    / The copy had record 1 before the run, and the service still has it\.\nThe run rejected: accounts: broken\./,
  );
  const ignoring = { ...connector(), run: (each: ConnectorRun) => emptying(each).catch(() => undefined) };
  expect(await messageOf('one forbidden collection', { ...ignoring, records: others.records })).toMatch(
    / The run reported success\. It has to reject\.\n/,
  );
});

test('the message of a missing record says that its page was cut, or that the collection was not listed', async () => {
  const careless = { collections: COLLECTIONS, ...deletionByAbsence() };
  expect(await messageOf('cut bodies', careless)).toContain(
    "No response of the run contained record 11; request 3 met the fault 'disconnect'.",
  );
  const getOne = ({ baseUrl, apiKey }: ConnectorRun) =>
    fetch(`${baseUrl}/api/public/v1/accounts/1`, { headers: { 'X-AUTH-TOKEN': apiKey } });
  expect(await messageOf('ties', { ...connector(), run: getOne })).toContain(
    '23 of 23 accounts are missing from the copy (ids 1, 2, 3, 4, 5, …). The run did not list the collection.',
  );
});

test('a copy in which stale records could not be seen is rejected, and one that is not empty at first', async () => {
  const nameless = { ...connector(), records: () => [{ id: '1' }] };
  expect(await messageOf('ties', nameless)).toContain('name is missing');
  expect(await messageOf('ties', { ...connector(), records: () => undefined })).toContain(
    'must return an array',
  );
  const full = { ...connector(), records: () => [{ id: '1', name: 'left over' }] };
  expect(await messageOf('ties', full)).toContain(
    'The copy is not empty before the case. The option reset has to empty it',
  );
});

test('a run that does not end is killed, and fails the case', async () => {
  const run = ({ signal }: ConnectorRun) =>
    new Promise((_, reject) => signal.addEventListener('abort', reject));
  expect(await messageOf('ties', { ...connector(), run, timeoutMs: 20 })).toContain(
    'The run had not ended after timeoutMs (20 ms).\n',
  );
});

test('a connector that sends requests after a kill fails the case', async () => {
  const run = async ({ baseUrl, signal }: ConnectorRun) => {
    const get = () => fetch(`${baseUrl}/api/public/v1/accounts`).catch(() => undefined);
    while (!signal.aborted) await get();
    void wait(20).then(get);
    throw signal.reason;
  };
  expect(await messageOf('killed in the first night', { ...connector(), run })).toContain(
    'The run sent requests after it had been killed',
  );
});

test('a case has the same message again for its seed, and another one for another seed', async () => {
  const messageFor = async (seed: number) => {
    const options = { collections: COLLECTIONS, ...loopByPage(), seed };
    return (await messageOf('deletions between pages', options))?.replace(/seed: .*/, '');
  };
  const first = await messageFor(7);
  expect(await messageFor(7)).toBe(first);
  expect(await messageFor(8)).not.toBe(first);
});

test('a case fails if the API key is in the output of the connector or in an error, even if it is expected to fail', async () => {
  const { run, ...others } = connector();
  let log = '';
  const logging = async (service: ConnectorRun) => {
    log += `GET ${service.baseUrl} ${service.apiKey}\n`;
    await run(service);
  };
  const options = { ...others, run: logging, output: async () => log };
  expect(await messageOf('changed records', options)).toContain(
    'The API key is in the output of the connector, or in an error with which a run rejected.',
  );
  expect(await messageOf('changed records', { ...options, output: () => 'GET …' })).toBeUndefined();
  const inError = async (service: ConnectorRun) => {
    await run(service);
    const cause = new Error(`401 for ${service.apiKey}`);
    throw new Error('It failed.', { cause });
  };
  const failing = { ...others, run: inError };
  expect(await messageOf('a revoked key', failing)).toContain('The API key is in the output');
  const expected = { 'changed records': 'a known leak' };
  expect(await messageOf('changed records', { ...failing, expected })).toContain(
    'The API key is in the output',
  );
  const lines = () => log.split('\n');
  expect(await messageOf('changed records', { ...options, output: lines as never })).toContain(
    'output must return a string',
  );
});

test('one collection is enough to exceed the small quota', async () => {
  const run = async ({ baseUrl, apiKey }: ConnectorRun) => {
    for (let page = 1; ; page += 1) {
      const url = `${baseUrl}/api/public/v1/accounts?_page=${page}`;
      const response = await fetch(url, { headers: { 'X-AUTH-TOKEN': apiKey } });
      if (!response.ok) throw new Error(`page ${page}: ${response.status}`);
      if (((await response.json()) as object[]).length === 0) return;
    }
  };
  expect(await messageOf('a small quota', { ...connector(), run })).toContain(
    'The run rejected: page 3: 429.',
  );
});

test('a pause ends the 429 without headers', async () => {
  const { run, ...others } = connector();
  const statuses: number[] = [];
  const patient = async (service: ConnectorRun) => {
    for (let status = 429; status === 429; await wait(status === 429 ? 500 : 0)) {
      const headers = { 'X-AUTH-TOKEN': service.apiKey };
      status = (await fetch(`${service.baseUrl}/api/public/v1/accounts`, { headers })).status;
      statuses.push(status);
    }
    await run(service);
  };
  expect(await messageOf('429 without headers', { ...others, run: patient })).toBeUndefined();
  expect(statuses).toEqual([429, 200, 200]);
});

test('a connector that ignores 429 fails the case that counts them', async () => {
  const { run, ...others } = connector();
  const impatient = async (service: ConnectorRun) => {
    const get = () =>
      fetch(`${service.baseUrl}/api/public/v1/accounts`, { headers: { 'X-AUTH-TOKEN': service.apiKey } });
    for (let sent = 0; sent < 14; sent += 1) await get();
    await run(service);
  };
  expect(await messageOf('429 without headers', { ...others, run: impatient })).toMatch(
    /The connector got \d+ responses with status 429\. 12 are enough to notice the limit\./,
  );
});

test('a process is killed by its own function, which ends its run', async () => {
  const kills: number[] = [];
  const { run: read, ...others } = connector();
  const run = (service: ConnectorRun) => {
    const controller = new AbortController();
    return {
      done: Promise.resolve(read({ ...service, signal: controller.signal })),
      kill: () => {
        kills.push(1);
        controller.abort(new Error('SIGKILL'));
      },
    };
  };
  expect(await messageOf('killed in the first night', { ...others, run })).toBeUndefined();
  expect(kills.length).toBeGreaterThan(0);
});

test('a connector that empties its copy first loses it when it is killed', async () => {
  const { run, reset, ...others } = connector();
  const emptying = async (service: ConnectorRun) => {
    await reset();
    await run(service);
  };
  const options = { ...others, reset, run: emptying };
  expect(await messageOf('killed and started again', options)).toMatch(
    /The copy had record \d+ before the run/,
  );
});

test('the options of the service apply to every case', async () => {
  const queries: string[] = [];
  const run = async ({ baseUrl, apiKey }: ConnectorRun) => {
    const response = await fetch(`${baseUrl}/api/public/v1/accounts`, {
      headers: { 'X-AUTH-TOKEN': apiKey },
    });
    queries.push(Object.keys((await response.json()) as object).join());
  };
  await messageOf('ties', { ...connector(), run, service: { listBody: 'hydra:member' } });
  expect(queries[0]).toContain('hydra:member');
});

test('a case overrides the options of the service that it tests, and how many records it has', async () => {
  const service = { order: 'id-asc', afterLastPage: 'empty', pageSize: 100, records: 0 } as const;
  const pages: string[] = [];
  const run = async ({ baseUrl, apiKey }: ConnectorRun) => {
    const headers = { 'X-AUTH-TOKEN': apiKey };
    const get = async (page: number) => {
      const response = await fetch(`${baseUrl}/api/public/v1/accounts?_page=${page}`, { headers });
      const body = (await response.json()) as object[];
      pages.push(response.ok ? `${body.length} records` : String(response.status));
    };
    await get(1);
    await get(2);
  };
  await messageOf('exactly one page', { ...connector(), run, service });
  expect(pages).toEqual(['5 records', '404']);
});

test('a record may lack its name if the service leaves out what is null', async () => {
  const options = { ...connector(), service: { nullFields: 'omitted' } as const };
  expect(await messageOf('a record of nulls', options)).toBeUndefined();
});

test('a copy need not have the records that the service always hides', async () => {
  for (const hiddenRecords of [0.3, ['1']]) {
    const options = { ...connector(), service: { hiddenRecords } };
    expect(await messageOf('ids beyond 2^53', options)).toBeUndefined();
    expect(await messageOf('killed in the first night', options)).toBeUndefined();
  }
});
