import { createClient } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { caught } from '../support/caught.ts';
import { jsonResponse } from '../support/scripted-fetch.ts';

// Forms in which services respond that the API documentation does not name.

const MERGE = 'application/merge-patch+json';

/** A service that accepts an update only under some content types. */
function patching(accepted: readonly string[]) {
  const types: (string | null)[] = [];
  const fetch = async (_: string, init: RequestInit) => {
    const type = new Headers(init.headers).get('content-type');
    types.push(type);
    if (!accepted.includes(type ?? '')) return jsonResponse({ title: 'Unsupported' }, 415);
    return jsonResponse({ id: '7' });
  };
  return {
    types,
    client: (own = {}) => createClient({ baseUrl: 'https://x.example', apiKey: 'k', fetch, ...own }),
  };
}

test('sends an update that gets a 415 once more as merge-patch, and every later one at once', async () => {
  const service = patching([MERGE]);
  const client = service.client();
  await client.products.update('7', { name: 'Desk' });
  await client.products.update('7', { name: null });
  expect(service.types).toEqual(['application/json', MERGE, MERGE]);
});

test('a 415 to both content types is the error, and is not remembered', async () => {
  const service = patching([]);
  const client = service.client();
  for (let n = 0; n < 2; n++) {
    expect(await caught(client.products.update('7', { name: 'Desk' }))).toMatchObject({
      status: 415,
      attempts: 1,
    });
  }
  expect(service.types).toEqual(['application/json', MERGE, 'application/json', MERGE]);
});

test('sends no merge-patch if a value is an object, or if contentTypes or contentType decide', async () => {
  const service = patching([MERGE]);
  const patch = (client: ReturnType<typeof service.client>, body: object, contentType?: string) =>
    caught(client.request({ method: 'PATCH', path: '/products/7', body, contentType }));
  await patch(service.client(), { size: { width: 1 } });
  await patch(service.client({ contentTypes: { update: 'application/json' } }), { name: 'Desk' });
  await patch(service.client(), { name: 'Desk' }, 'application/json');
  expect(service.types).toEqual(['application/json', 'application/json', 'application/json']);
});
