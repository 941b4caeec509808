import type { ListOptions } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import {
  jsonResponse,
  problemResponse,
  scriptedClient,
  scriptedFetch,
} from '../../support/scripted-fetch.ts';
import { byId, everything } from './service.ts';

const noRecords = { message: 'No records found' };
const html = () =>
  new Response('<h1>Not Found</h1>', { status: 404, headers: { 'content-type': 'text/html' } });

const KINDS: readonly ListOptions[] = [
  {},
  { pagination: 'page' },
  { pagination: 'none' },
  { pagination: byId },
];

test.each(
  KINDS.flatMap((options) => [
    [options, 'a problem document', () => problemResponse(404, { type: 'not_found' })] as const,
    [options, 'a JSON object', () => jsonResponse(noRecords, 404)] as const,
    [options, 'a 410', () => jsonResponse(noRecords, 410)] as const,
  ]),
)('with afterLastPage: not_found, a list (%j) without records may be %s', async (options, _, respond) => {
  const client = scriptedClient(scriptedFetch(respond), { afterLastPage: 'not_found' });
  expect(await client.accounts.list({}, options).toArray(everything)).toEqual([]);
  expect(await client.accounts.list({}, options).first()).toBeUndefined();
  // A record and the address of the service are no lists.
  expect(await caught(client.ping())).toMatchObject({ code: 'not_found' });
  expect(await caught(client.accounts.get('1'))).toMatchObject({ code: 'not_found' });
  const strict = client.withOptions({ afterLastPage: 'empty' }).accounts.list({}, options);
  expect(await caught(strict.toArray(everything))).toMatchObject({ code: 'not_found' });
});

test.each(KINDS)('a page of a proxy does not show that a list (%j) is empty', async (options) => {
  const { accounts } = scriptedClient(scriptedFetch(html), { afterLastPage: 'not_found' });
  const error = (await caught(accounts.list({}, options).toArray(everything))) as Error;
  expect(error).toMatchObject({ code: 'not_found', missing: false });
  // The option is set.
  expect(error.message).not.toContain('afterLastPage');
});
