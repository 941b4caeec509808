import { createClient } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { learn } from '../../../examples/learn-the-service.ts';

test('learn-the-service says how a service with habits of its own is to be read', async () => {
  const sandbox = createSandbox({ records: 900, pageSize: 20, order: 'id-desc', afterLastPage: 'not-found' });
  const said: string[] = [];
  const { options, unknown, schemas } = await learn(createClient(sandbox.clientOptions), (line) =>
    said.push(line),
  );

  expect(said).toContain('accounts: 20 a page, id-desc, id[gt] honoured, updatedSince honoured');
  expect(options).toContainEqual(expect.stringMatching(/^afterLastPage: 'not_found' \/\/ /));
  expect(unknown).toContain('createStatus');
  expect(schemas).toContain('unitCost: money.nullish(),');
  expect(sandbox.requests.every(({ method }) => method === 'GET')).toBe(true);
});
