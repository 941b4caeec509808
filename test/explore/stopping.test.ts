import { createClient, InvalidInputError } from 'accounting-data-sdk';
import { discover, probe, whoami } from 'accounting-data-sdk/explore';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';

test.each([
  ['whoami', whoami],
  ['probe', probe],
  ['discover', discover],
])('%s stops with the reason of its signal and sends no further request', async (_, explore) => {
  const sandbox = createSandbox({ records: 600 });
  const client = createClient(sandbox.clientOptions);
  const stop = new AbortController();
  // Even one that looks like an error of the service.
  const reason = new InvalidInputError('stop', 'was wanted');
  let sent = 0;
  const onProgress = ({ requests }: { requests: number }) => {
    if (requests < 5 || stop.signal.aborted) return;
    sent = sandbox.count();
    stop.abort(reason);
  };
  await expect(explore(client, { signal: stop.signal, onProgress })).rejects.toBe(reason);
  await expect(explore(client, { signal: stop.signal })).rejects.toBe(reason);
  expect(sent).toBeGreaterThan(0);
  expect(sandbox.count()).toBe(sent);
});
