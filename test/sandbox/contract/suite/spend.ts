import assert from 'node:assert/strict';
import type { Answer } from './answer.ts';
import { Probe } from './probe.ts';

/** Beyond this a budget is too large to be used up by a check. */
const MOST_REQUESTS = 2000;

/** The service whose budget may be used up, with some of it left. */
export async function scarce(probe: Probe): Promise<Probe> {
  const { scarce: target, wait } = probe.target;
  assert.ok(target !== undefined, 'there is no budget to use up');
  const poor = new Probe({ ...probe.target, ...target });
  for (let tries = 0; tries < 3; tries += 1) {
    const answer = await poor.list('accounts');
    if (answer.status !== 429 && Number(answer.headers.get('x-ratelimit-remaining')) > 1) return poor;
    await wait(Math.max(1, Number(answer.headers.get('retry-after') ?? 60)) * 1000);
  }
  assert.fail('the budget does not come back');
}

/** Asks until the budget is used up; gives the refusal. */
export async function spend(probe: Probe, ask: (probe: Probe) => Promise<Answer>): Promise<Answer> {
  for (let sent = 0; sent < MOST_REQUESTS; sent += 1) {
    const answer = await ask(probe);
    if (answer.status === 429) return answer.expectProblem(429, 'rate_limited');
  }
  assert.fail(`${MOST_REQUESTS} requests and no 429`);
}
