import { createClient } from 'accounting-data-sdk';
import { probe } from 'accounting-data-sdk/explore';
import type { Sandbox, SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { SERVICES } from '../../support/services.ts';
import { runToEnd, useVirtualClock } from '../../support/virtual-clock.ts';
import { openService } from '../support/service.ts';

useVirtualClock();

/** The report of a probe, a line for each value in it, and its requests. */
async function play(service: SandboxOptions): Promise<string[]> {
  const sandbox = openService({ records: { accounts: 70, products: 40, bomLines: 1 }, ...service });
  const collections = ['accounts', 'products', 'bomLines', 'budgets'] as const;
  const report = await runToEnd(probe(createClient(sandbox.clientOptions), { collections }));
  return [...linesOf(report), `requests: ${sandbox.requests.length}`];
}

/** A line for each value. */
function linesOf(report: object): string[] {
  const path: string[] = [];
  const shown: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value === 'object' && value !== null)
      for (const [name, inside] of Object.entries(value)) {
        path.push(name);
        walk(inside);
        path.pop();
      }
    else shown.push(`${path.join('.')}: ${JSON.stringify(value)}`);
  };
  walk(JSON.parse(JSON.stringify(report)));
  return shown;
}

// After the first service only what a probe says of another one and not of the first.
test('a probe reports of each service what is recorded', async () => {
  const [[first, defaults] = ['', {}], ...others] = Object.entries(SERVICES);
  const usual = new Set(await play(defaults));
  const text = [`# ${first}`, ...usual];
  for (const [name, service] of others) {
    const lines = await play(service);
    text.push('', `# ${name}: ${JSON.stringify(service)}`, ...lines.filter((line) => !usual.has(line)));
  }
  await expect(`${text.join('\n').trimEnd()}\n`).toMatchFileSnapshot('./probe.txt');
});

const DRAFT = { brand: 'Probe', productNumber: 'P-1' };

/** Services that differ only in what they do with writes, and faults of them, by what that is. */
const WRITING: Readonly<Record<string, readonly [SandboxOptions, ((sandbox: Sandbox) => unknown)?]>> = {
  ...Object.fromEntries(Object.entries(SERVICES).map(([name, service]) => [name, [service]])),
  'an unknown required field': [{ requiredFields: ['brand', 'ean'] }],
  'no content type fits': [{ contentTypes: { create: ['text/plain'], update: ['text/plain'] } }],
  'the update has no content type that fits': [{ contentTypes: { update: ['text/plain'] } }],
  'a new record is never listed': [{ newRecords: { listedAfterMs: 3_600_000 } }],
  'a new record is never found': [{ newRecords: { foundAfterMs: 3_600_000 } }],
  'the key may not write': [
    {},
    ({ faults }) => faults.add({ kind: 'status', status: 403 }, { method: 'POST' }),
  ],
  'creates get no response': [
    {},
    ({ faults }) => faults.add({ kind: 'lost-response', committed: true }, { method: 'POST', times: 3 }),
  ],
  'no create is carried out': [
    {},
    ({ faults }) => faults.add({ kind: 'connection-refused' }, { method: 'POST' }),
  ],
  'the create returns no record': [
    {},
    ({ faults }) => faults.add({ kind: 'rewrite', body: '{}' }, { method: 'POST', times: 1 }),
  ],
  'the replay fails': [
    {},
    ({ faults }) => faults.add({ kind: 'status', status: 503 }, { method: 'POST', skip: 1 }),
  ],
  'updates fail': [{}, ({ faults }) => faults.add({ kind: 'status', status: 500 }, { method: 'PATCH' })],
  'deletes fail': [{}, ({ faults }) => faults.add({ kind: 'status', status: 403 }, { method: 'DELETE' })],
  'the first delete fails': [
    {},
    ({ faults }) => faults.add({ kind: 'status', status: 409 }, { method: 'DELETE', times: 1 }),
  ],
  'lookups fail': [
    {},
    ({ faults }) =>
      faults.add({ kind: 'status', status: 403 }, { method: 'GET', path: /products\/\d+$/, skip: 2 }),
  ],
};

test('a probe that writes reports of each service what is recorded', async () => {
  const text: string[] = [];
  let usual: ReadonlySet<string> | undefined;
  for (const [name, [service, change]] of Object.entries(WRITING)) {
    const sandbox = openService({ records: { products: 3 }, ...service });
    change?.(sandbox);
    const heard: string[] = [];
    const client = createClient({ ...sandbox.clientOptions, retry: { maxAttempts: 2 } });
    const report = await runToEnd(
      probe(client, {
        collections: ['products'],
        write: { draft: DRAFT },
        onPlan: (plan) => heard.push(`plan: ${JSON.stringify(plan)}`),
        onProgress: ({ collection, requests, ...now }) => {
          if (collection === undefined) heard.push(`after ${requests}: ${JSON.stringify(now)}`);
        },
        onLeftBehind: (ids) => heard.push(`left: ${ids.join()}`),
      }),
    );
    const { writes, requests, client: options, sync, sandbox: like, advice } = report;
    const sent = sandbox.requests.filter(({ method, body }) => method !== 'GET' || body !== undefined);
    const first = sandbox.requests.findIndex(({ method }) => method !== 'GET');
    const lines = [
      ...heard.slice(0, 2),
      ...linesOf({ writes, options, sync, like, advice }),
      ...sandbox.requests
        .slice(Math.max(0, first))
        .map(({ method, path, query, status, headers, body, idempotencyKey }) => {
          const sentAs = body === undefined ? '' : ` ${headers['content-type']} ${JSON.stringify(body)}`;
          const key = idempotencyKey === undefined ? '' : ' with a key';
          const queried = Object.entries(query)
            .map((pair) => pair.join('='))
            .join('&');
          return `${method} ${path.replace('/api/public/v1', '')} ${queried}${sentAs}${key} → ${status}`;
        }),
      `${requests} requests reported, ${sandbox.requests.length} sent; ${sent.length} writes; ${sandbox.store.products.count} products`,
    ];
    text.push(`# ${name}`, ...lines.filter((line) => usual?.has(line) !== true), '');
    usual ??= new Set(lines);
  }
  await expect(`${text.join('\n').trimEnd()}\n`).toMatchFileSnapshot('./probe-writes.txt');
});
