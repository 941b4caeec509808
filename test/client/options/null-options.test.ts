import { changes, createClient, memoryStore, push, reconcile, sync } from 'accounting-data-sdk';
import { afterEach, expect, test, vi } from 'vitest';
import { LIST_QUERY } from '../../../src/collections/list-query.ts';
import { RAW_REQUEST } from '../../../src/collections/raw-request.ts';
import { CLIENT_OPTIONS } from '../../../src/options.ts';
import { LIST_OPTIONS } from '../../../src/pagination/list-options.ts';
import { ID_BOUNDS } from '../../../src/pagination/page.ts';
import { PUSH_OPTIONS } from '../../../src/push/options.ts';
import { RECONCILE_OPTIONS } from '../../../src/reconcile/reconcile.ts';
import { CHANGES_OPTIONS } from '../../../src/sync/changes.ts';
import { SYNC_OPTIONS } from '../../../src/sync/sync.ts';
import { RETRY_OPTIONS } from '../../../src/transport/call-options.ts';
import { caught, thrown } from '../../support/caught.ts';
import { jsonResponse, scriptedClient, scriptedFetch } from '../../support/scripted-fetch.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

test.each(Object.keys(CLIENT_OPTIONS))('createClient rejects null for %s', (name) => {
  vi.stubEnv('ACCOUNTING_BASE_URL', 'https://env.example');
  vi.stubEnv('ACCOUNTING_API_KEY', 'env-key');
  const error = thrown(() => createClient({ [name]: null }));
  expect(error).toMatchObject({ code: 'invalid_input', argument: name });
});

test.each<[string, object]>([
  ...Object.keys(LIST_OPTIONS)
    .filter((name) => name !== 'resumeFrom')
    .map((name): [string, object] => [name, { [name]: null }]),
  ...Object.keys(RETRY_OPTIONS).map((name): [string, object] => [
    `retry.${name}`,
    { retry: { [name]: null } },
  ]),
])('a list rejects null for %s', (argument, options) => {
  const { accounts } = scriptedClient(scriptedFetch(jsonResponse([])));
  expect(thrown(() => accounts.list({}, options))).toMatchObject({ code: 'invalid_input', argument });
});

test('a list rejects null for resumeFrom', () => {
  const { accounts } = scriptedClient(scriptedFetch(jsonResponse([])));
  expect(thrown(() => accounts.list({}, { resumeFrom: null as never }))).toMatchObject({
    code: 'checkpoint',
  });
});

test.each<[string, object]>([
  ...Object.keys(LIST_QUERY).map((name): [string, object] => [name, { [name]: null }]),
  ...Object.keys(ID_BOUNDS).map((name): [string, object] => [`id.${name}`, { id: { [name]: null } }]),
])('a list rejects null for the filter %s', (argument, query) => {
  const { accounts } = scriptedClient(scriptedFetch(jsonResponse([])));
  expect(thrown(() => accounts.list(query))).toMatchObject({ code: 'invalid_input', argument });
});

test.each(Object.keys(RAW_REQUEST).filter((name) => name !== 'body'))(
  'a request of the caller’s own rejects null for %s',
  async (argument) => {
    const client = scriptedClient(scriptedFetch(jsonResponse({})));
    const request = { method: 'POST', path: '/x', [argument]: null } as never;
    expect(await caught((async () => client.request(request))())).toMatchObject({
      code: 'invalid_input',
      argument,
    });
  },
);

const run = { store: memoryStore(), tenant: 'acme' };
const reconciled = { localIds: () => [], onDelete: () => undefined };
type Work = (of: unknown, options: object) => unknown;

test.each<[string, string, Work, 'accounts' | 'products' | undefined, object]>(
  [
    ...Object.keys(PUSH_OPTIONS).map(
      (name) =>
        ['push', name, push as Work, 'products', { tenant: 'acme', rows: [], key: () => '1' }] as const,
    ),
    ...Object.keys(RECONCILE_OPTIONS).map(
      (name) => ['reconcile', name, reconcile as Work, 'accounts', reconciled] as const,
    ),
    ...Object.keys(CHANGES_OPTIONS).map(
      (name) => ['changes', name, changes as Work, 'accounts', run] as const,
    ),
    ...Object.keys(SYNC_OPTIONS).map(
      (name) =>
        [
          'sync',
          name,
          sync as Work,
          undefined,
          { ...run, ...reconciled, mode: 'full', onBatch: () => undefined },
        ] as const,
    ),
  ].map((each) => [...each]),
)('%s rejects null for %s', async (_, argument, work, collection, options) => {
  const client = scriptedClient(scriptedFetch(jsonResponse([])));
  const of = collection === undefined ? client : client[collection];
  const error = await caught(
    (async () => {
      const result = (await work(of, { ...options, [argument]: null })) as { next?: () => Promise<unknown> };
      await result.next?.();
    })(),
  );
  expect(error).toMatchObject({ code: 'invalid_input', argument });
});
