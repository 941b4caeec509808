/** Many callers at once, in a process of their own, which ends by itself once nothing is left of them. */
import { getEventListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { createClient, isAccountingError } from 'accounting-data-sdk';
import { heapAfterCollection } from '../../../support/heap.ts';
import { SeededRandom } from '../../../support/seeded-random.ts';
import type { LoadReport, LoadSettings } from './load.ts';
import { watchSockets } from './sockets.ts';

const settings = JSON.parse(process.argv[2] ?? '{}') as LoadSettings & { baseUrl: string; apiKey: string };
const random = new SeededRandom(settings.seed);
const sockets = watchSockets();
const client = createClient({
  baseUrl: settings.baseUrl,
  apiKey: settings.apiKey,
  timeoutMs: settings.timeoutMs,
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
  const calls = Array.from({ length: settings.callers }, () =>
    client.products.get(anyId(), { signal, headers: { 'x-abort': '1' } }),
  );
  setTimeout(() => controller.abort(reason), random.int(0, 40));
  for (const call of await Promise.allSettled(calls)) {
    if (call.status === 'fulfilled') strange.push('a response to an aborted call');
    else if (call.reason !== reason) strange.push(`not the reason of the abort: ${String(call.reason)}`);
    else count('aborted');
  }
  const listeners = getEventListeners(signal, 'abort').length;
  if (listeners > 0) strange.push(`${listeners} listeners left on a signal`);
  // An aborted call still opens its connection; the next round uses it.
  while (sockets.connecting > 0) await wait(5);
}

async function round(tasksInRound: number): Promise<void> {
  const left = { n: tasksInRound };
  await Promise.all(Array.from({ length: settings.callers }, () => caller(left)));
  await abortAll();
}

// A warm-up round: compiled code, connections and the rate limiter are created once and are not growth.
await round(settings.tasksInRound);
const heapMb: number[] = [heapAfterCollection()];
for (let n = 0; n < settings.rounds; n += 1) {
  await round(settings.tasksInRound);
  await wait(10);
  heapMb.push(heapAfterCollection());
}
// Before kept connections run out: what the last call has left behind would be taken for one of them.
const left = sockets.inUse;
// They do so by themselves, a few seconds after their last use.
const deadline = Date.now() + settings.idleMs;
while (sockets.open > 0 && Date.now() < deadline) await wait(100);
const report: LoadReport = { ended, strange, heapMb, sockets: { ...sockets.seen, left, kept: sockets.open } };
console.log(JSON.stringify(report));
// It would not end by itself, and the report says why.
if (left > 0) process.exit();
