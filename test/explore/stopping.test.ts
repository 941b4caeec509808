import { createClient } from 'accounting-data-sdk';
import { discover, probe, whoami } from 'accounting-data-sdk/explore';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { caught } from '../support/caught.ts';

test.each([
  ['whoami', whoami],
  ['probe', probe],
  ['discover', discover],
])('%s stops with the reason of its signal and sends no further request', async (_, explore) => {
  const sandbox = createSandbox({ records: 600 });
  const client = createClient(sandbox.clientOptions);
  const stop = new AbortController();
  // Even one that is an error of the service.
  const reason = await caught(
    createClient({ ...sandbox.clientOptions, apiKey: sandbox.keys.forbidden }).accounts.get('1'),
  );
  sandbox.clearLogs();
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
