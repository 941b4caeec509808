/** Many callers at once, in a process of their own, which ends by itself once nothing is left of them. */
import { setTimeout as wait } from 'node:timers/promises';
import { createClient, isAccountingError } from 'accounting-data-sdk';
import { heapAfterCollection } from '../../../support/heap.ts';
import { listenersOn, openResources } from '../../../support/open-resources.ts';
import { SeededRandom } from '../../../support/seeded-random.ts';
import type { Load, LoadReport } from './load.ts';

const CALLERS = 200;
const TASKS_IN_A_ROUND = 10_000;
/** How long connections that are kept for a later call may take to run out, once there is no call any more. */
const IDLE_MS = 60_000;

const { seed, baseUrl, apiKey, rounds } = JSON.parse(process.argv[2] ?? '{}') as Load;
const random = new SeededRandom(seed);
const client = createClient({
  baseUrl,
  apiKey,
  timeoutMs: 10_000,
  retry: { baseDelayMs: 1, maxDelayMs: 20 },
});
const ended: Record<string, number> = {};
const strange: string[] = [];

function count(how: string): void {
  ended[how] = (ended[how] ?? 0) + 1;
}

const anyId = () => String(random.int(1, 200));

/** What a caller may do; some of it is more than one call. */
const tasks: readonly (() => Promise<unknown>)[] = [
  () => client.products.get(anyId()),
  () => client.accounts.find(String(random.int(1, 4_000))),
  () => client.accounts.list({ id: { gt: String(random.int(1, 2_000)) } }).toArray({ limit: 40 }),
  () => client.accounts.list({}, { pagination: 'keyset' }).toArray({ limit: 70 }),
  () => client.products.update(anyId(), { salePrice: '129.0000' }),
  async () => {
    const { id } = await client.products.create({ name: 'Desk', description: 'x'.repeat(2_000) });
    await client.products.delete(id);
  },
];

async function caller(tasksLeft: { n: number }): Promise<void> {
  while (tasksLeft.n > 0) {
    tasksLeft.n -= 1;
    try {
      await random.pick(tasks)();
      count('done');
    } catch (error) {
      if (isAccountingError(error)) count(error.code);
      else strange.push(String(error));
    }
  }
}

/** All callers start at once and are aborted at once, between the first byte and the response that never comes. */
async function abortAll(): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  const reason = new Error('aborted by the load test');
  const calls = Array.from({ length: CALLERS }, () =>
    client.products.get(anyId(), { signal, headers: { 'x-abort': '1' } }),
  );
  setTimeout(() => controller.abort(reason), random.int(0, 40));
  for (const call of await Promise.allSettled(calls)) {
    if (call.status === 'fulfilled') strange.push('a response to an aborted call');
    else if (call.reason !== reason) strange.push(`not the reason of the abort: ${String(call.reason)}`);
    else count('aborted');
  }
  const listeners = listenersOn(signal);
  if (listeners > 0) strange.push(`${listeners} listeners left on a signal`);
}

async function round(): Promise<void> {
  const left = { n: TASKS_IN_A_ROUND };
  await Promise.all(Array.from({ length: CALLERS }, () => caller(left)));
  await abortAll();
}

// A warm-up round: compiled code, connections and the rate limiter are created once and are not growth.
await round();
const heapMb: number[] = [heapAfterCollection()];
for (let n = 0; n < rounds; n += 1) {
  await round();
  await wait(10);
  heapMb.push(heapAfterCollection());
}
// Kept connections run out by themselves, a few seconds after their last use. One that a call has left behind does not.
const deadline = performance.now() + IDLE_MS;
while (openResources() > 0 && performance.now() < deadline) await wait(100);
if (openResources() > 0) strange.push(`${openResources()} sockets and timers were left behind`);
const report: LoadReport = { ended, strange, heapMb };
console.log(JSON.stringify(report));
process.exit();
