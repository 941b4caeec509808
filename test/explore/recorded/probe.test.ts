import { createClient } from 'accounting-data-sdk';
import { probe } from 'accounting-data-sdk/explore';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { SERVICES } from '../../support/services.ts';
import { runToEnd, startVirtualClock, useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

/** The report of a probe, a line for each value in it, and its requests. */
async function play(service: SandboxOptions): Promise<string[]> {
  startVirtualClock(1);
  const sandbox = createSandbox({
    origin: 'https://service.example',
    clock: { now: () => Date.now() },
    records: { accounts: 70, products: 40, bomLines: 1 },
    ...service,
  });
  const collections = ['accounts', 'products', 'bomLines', 'budgets'] as const;
  const report = await runToEnd(probe(createClient(sandbox.clientOptions), { collections }));
  const path: string[] = [];
  const shown: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value === 'object' && value !== null)
      for (const [name, inside] of Object.entries(value)) {
        path.push(name);
        walk(inside);
        path.pop();
      }
    else shown.push(`${path.join('.')}: ${JSON.stringify(value)}`);
  };
  walk(JSON.parse(JSON.stringify(report)));
  return [...shown, `requests: ${sandbox.requests.length}`];
}

// After the first service only what a probe says of another one and not of the first.
test('a probe reports of each service what is recorded', async () => {
  const [[first, defaults] = ['', {}], ...others] = Object.entries(SERVICES);
  const usual = new Set(await play(defaults));
  const text = [`# ${first}`, ...usual];
  for (const [name, service] of others) {
    const lines = await play(service);
    text.push('', `# ${name}: ${JSON.stringify(service)}`, ...lines.filter((line) => !usual.has(line)));
  }
  await expect(`${text.join('\n')}\n`).toMatchFileSnapshot('./probe.txt');
});
