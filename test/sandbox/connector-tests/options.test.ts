import { spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { createClient } from 'accounting-data-sdk';
import { type ConnectorRun, type ConnectorTestsOptions, connectorTests } from 'accounting-data-sdk/testing';
import { expect, test, vi } from 'vitest';
import { reader } from './connectors.ts';
import { messageOf } from './failures.ts';

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

const get = ({ baseUrl, apiKey }: ConnectorRun, path = '') =>
  fetch(`${baseUrl}/api/public/v1/accounts${path}`, { headers: { 'X-AUTH-TOKEN': apiKey } });

test('cases have a name and a reason', () => {
  const cases = connectorTests({ ...connector(), writes: { run: () => 1 } });
  expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
  for (const { why } of cases) expect(why).toMatch(/^[A-Zu].*\.$/);
});

test.each([
  [{ expected: { hidden: 'why' } }, 'expected: there is no case "hidden". Did you mean hidden rows?'],
  [{ expected: { 'hidden rows': ' ' } }, 'expected: hidden rows needs a reason.'],
  [{ only: ['hidden rows'] }, 'only is not an option of connectorTests'],
  [{ collections: ['acounts'] }, 'Did you mean accounts?'],
  [{ collections: [] }, 'connectorTests got no collections to read. Pass the names of at least one.'],
  [{ run: undefined, writes: { run: () => 1 } }, 'needs collections, run and records, or writes, or both.'],
  [{ timeoutMs: '1' }, 'timeoutMs must be a number of milliseconds'],
])('connectorTests rejects %j', (options, message) => {
  const given = { ...connector(), ...options } as unknown as ConnectorTestsOptions;
  expect(() => connectorTests(given)).toThrow(message);
});

test('an expected failure passes and is printed, and fails once the connector passes the case', async () => {
  const print = vi.spyOn(console, 'info').mockImplementation(() => {});
  const expected = { 'hidden rows': 'not yet' };
  const failing = { ...connector(), run: () => Promise.reject(new Error('broken')) };
  expect(await messageOf('hidden rows', { ...failing, expected })).toBeUndefined();
  expect(print.mock.calls).toEqual([['Expected ("not yet"): hidden rows: The run rejected: broken.']]);
  expect(await messageOf('hidden rows', { ...connector(), expected })).toBe(
    'hidden rows: the connector passes this case now. Remove it from expected ("not yet").',
  );
});

test('a case fails with its name if a function of the user throws', async () => {
  const broken = () => {
    throw new Error('no such table');
  };
  expect(await messageOf('UUIDs', { ...connector(), reset: broken })).toBe('UUIDs: no such table');
  const { run, records, ...others } = connector();
  const reading = (first: () => object[], later: () => object[]) => {
    let read = first;
    const started = async (service: ConnectorRun) => {
      await run(service);
      read = later;
    };
    return { ...others, run: started, records: () => read() };
  };
  const message = await messageOf(
    'UUIDs',
    reading(() => [], broken),
  );
  expect(message).toBe("UUIDs: records('accounts') failed: no such table");
  // The tables of a copy may not exist before the first run.
  expect(await messageOf('ids beyond 2^53', reading(broken, records))).toBeUndefined();
});

test('cases that are started at once run one after another, each with its service, which is closed', async () => {
  const { run, ...others } = connector();
  const urls = new Set<string>();
  let [running, most] = [0, 0];
  const counted = async (service: ConnectorRun) => {
    urls.add(service.baseUrl);
    running += 1;
    most = Math.max(most, running);
    await run(service).finally(() => {
      running -= 1;
    });
  };
  const names = ['hidden rows', 'UUIDs', 'odd records'];
  const cases = connectorTests({ ...others, run: counted }).filter(({ name }) => names.includes(name));
  await Promise.allSettled(cases.map((each) => each.run()));
  expect([most, urls.size]).toEqual([1, 3]);
  for (const url of urls) await expect(fetch(url)).rejects.toThrow('fetch failed');
});

test('the message of a failed case says what is wrong, why, and what to do, and is the same each time', async () => {
  const forgetful = connector();
  const options = { ...forgetful, records: () => forgetful.records().slice(1) };
  const message = await messageOf('deletions between pages', options);
  expect(message?.split('\n')).toEqual([
    expect.stringMatching(
      /^deletions between pages: 1 of 20 accounts is missing from the copy \(id \d+\)\. The response to request \d+ contained record \d+\.$/,
    ),
    'Read by keyset, or read again.',
    'Why services do this: A page number says how many rows to skip, so a deletion moves every later record forward.',
  ]);
  expect(await messageOf('deletions between pages', options)).toBe(message);
  const broken = { ...connector(), run: () => Promise.reject(new Error('accounts: 404')) };
  expect(await messageOf('no records', broken)).toContain('The run rejected: accounts: 404.\nAn empty first');
});

test('the message of a run that destroyed something says so, with the error of the run', async () => {
  const { run, reset, ...others } = connector();
  const emptying = async (service: ConnectorRun) => {
    reset();
    await run({ ...service, signal: AbortSignal.timeout(5_000) }).catch(() => {
      throw new Error('accounts: broken');
    });
  };
  expect(await messageOf('one forbidden collection', { ...others, reset, run: emptying })).toMatch(
    / The copy had record 1 before the run, and the service still has it\.\nThe run rejected: accounts: broken\./,
  );
  const ignoring = (service: ConnectorRun) => emptying(service).catch(() => undefined);
  expect(await messageOf('one forbidden collection', { ...others, reset, run: ignoring })).toMatch(
    / The run reported success\. It has to reject\.\n/,
  );
});

test('at most five problems are shown, and the others counted', async () => {
  const options = { writes: { run: () => undefined } };
  const lines = (await messageOf('changed rows', options))?.split('\n') ?? [];
  expect([lines.length, lines[4], lines[5]]).toEqual([8, 'There is no product "desk-5".', '… and 7 more.']);
});

test('records in which stale ones could not be seen are rejected', async () => {
  const options = {
    ...connector(),
    collections: ['accountAddresses'] as const,
    records: () => [{ id: '1' }],
  };
  expect(await messageOf('UUIDs', options)).toContain(
    "records('accountAddresses') must return an array of records with the fields of the service, at least id and street: street is missing.",
  );
  const anonymous = { ...options, records: () => [{ street: 'x' }] };
  expect(await messageOf('UUIDs', anonymous)).toContain(': id is missing.');
});

test('a copy that is no array, or is not empty before the case, is rejected', async () => {
  expect(await messageOf('UUIDs', { ...connector(), records: () => undefined })).toContain(
    'must return an array',
  );
  const full = { ...connector(), records: () => [{ id: '1', name: 'left over' }] };
  expect(await messageOf('UUIDs', full)).toContain(
    'The copy is not empty before the case. The option reset has to empty it',
  );
});

test('a connector that sends requests after a kill fails the case', async () => {
  const run = async (service: ConnectorRun) => {
    while (!service.signal.aborted) await get(service).catch(() => undefined);
    void wait(20).then(() => get(service).catch(() => undefined));
    throw service.signal.reason;
  };
  expect(await messageOf('killed and started again', { ...connector(), run })).toContain(
    'The run sent requests after it had been killed',
  );
});

test('a connector that is a process is killed through its signal', async () => {
  const killedBy: (string | null)[] = [];
  const run = ({ signal }: ConnectorRun) =>
    new Promise((_, reject) => {
      const args = ['-e', 'setInterval(() => {}, 1e6)'];
      const child = spawn(process.execPath, args, { signal, killSignal: 'SIGKILL' });
      child.once('error', () => {});
      child.once('close', (_, name) => {
        killedBy.push(name);
        reject(new Error(`ended by ${name}`));
      });
    });
  const options = { ...connector(), run, timeoutMs: 20 };
  expect(await messageOf('UUIDs', options)).toContain('The run had not ended after timeoutMs (20 ms).');
  expect(killedBy).toEqual(['SIGKILL']);
});

test('a case fails if the API key is in an error with which a run rejects, even if it is expected to fail', async () => {
  const { run, ...others } = connector();
  const leaking = async (service: ConnectorRun) => {
    await run(service);
    const cause = new Error(`401 for ${service.apiKey}`);
    throw new Error('It failed.', { cause });
  };
  const leak = 'The API key is in an error with which a run rejected.';
  const expected = { UUIDs: 'a known leak' };
  expect(await messageOf('UUIDs', { ...others, run: leaking, expected })).toContain(leak);
  expect(await messageOf('one forbidden collection', { ...others, run: leaking })).toContain(leak);
});

test('a pause ends the 429s, and a connector that ignores them fails', async () => {
  const { run, ...others } = connector();
  const statuses: number[] = [];
  let now = Date.now();
  const service = { clock: { now: () => now } };
  const patient = async (each: ConnectorRun) => {
    for (let status = 429; status === 429; now += 1_000) {
      status = (await get(each)).status;
      statuses.push(status);
    }
    await run(each);
  };
  expect(await messageOf('a quota', { ...others, run: patient, service })).toBeUndefined();
  expect(statuses).toEqual([429, 200, 429, 200, 200]);
  const impatient = async (each: ConnectorRun) => {
    for (let sent = 0; sent < 14; sent += 1) await get(each);
  };
  expect(await messageOf('a quota', { ...others, run: impatient, service })).toMatch(
    /The connector got \d+ responses with status 429\. 12 are enough to notice the limit\./,
  );
});

test('the options of the service apply to every case, unless it tests them', async () => {
  const bodies: unknown[] = [];
  const run = async (service: ConnectorRun) => {
    for (const page of [1, 2]) {
      const response = await get(service, `?_page=${page}`);
      bodies.push(response.ok ? await response.json() : response.status);
    }
  };
  const service = { listBody: 'hydra:member', afterLastPage: 'empty', pageSize: 100, records: 0 } as const;
  await messageOf('no records', { ...connector(), run, service });
  await messageOf('hidden rows', { ...connector(), run, service });
  expect(bodies.slice(0, 4)).toMatchObject([
    { 'hydra:member': [] },
    404,
    { 'hydra:member': [{}, {}, {}, {}, {}] },
    404,
  ]);
  expect(JSON.stringify(bodies[4])).toContain('hydra:member');
});

test.each<[what: string, name: string, service: ConnectorTestsOptions['service']]>([
  ['fields that are null', 'odd records', { nullFields: 'omitted' }],
  ['records that the service hides', 'killed and started again', { hiddenRecords: 0.3 }],
])('a right copy may lack %s', async (_, name, service) => {
  expect(await messageOf(name, { ...reader(), service })).toBeUndefined();
});
