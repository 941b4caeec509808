import assert from 'node:assert/strict';
import { ContractClient } from './contract-client.ts';
import type { ContractResponse } from './contract-response.ts';

/** A check does not use up a larger quota. */
const MOST_REQUESTS = 2000;

/** A client whose quota may be used up, with requests left. */
export async function limited(client: ContractClient): Promise<ContractClient> {
  const { limited: target, wait } = client.target;
  const limitedClient = new ContractClient({ ...client.target, ...target });
  for (let tries = 0; tries < 3; tries += 1) {
    const response = await limitedClient.list('accounts');
    if (response.status !== 429 && Number(response.headers.get('x-ratelimit-remaining')) > 1)
      return limitedClient;
    await wait(Math.max(1, Number(response.headers.get('retry-after') ?? 60)) * 1000);
  }
  assert.fail('the quota does not come back');
}

/** Sends requests until the quota is used up; returns the 429. */
export async function exhaustQuota(
  client: ContractClient,
  send: (client: ContractClient) => Promise<ContractResponse>,
): Promise<ContractResponse> {
  for (let sent = 0; sent < MOST_REQUESTS; sent += 1) {
    const response = await send(client);
    if (response.status === 429) return response.expectProblem(429, 'rate_limited');
  }
  assert.fail(`${MOST_REQUESTS} requests and no 429`);
}
