import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Miniflare } from 'miniflare';
import type { Ask } from '../entries/worker.ts';
import { type Call, gate } from '../scenario/gate.ts';
import { type Outcome, runStep, stepNames } from '../scenario/outcome.ts';
import type { Host } from './host.ts';

const { version } = createRequire(import.meta.url)('workerd/package.json') as { version: string };

/** The runtime of Cloudflare Workers. The calls that overlap come in as requests of their own, in one isolate. */
export function workerdHost({ worker }: { worker: string }): Host {
  return {
    name: 'workerd',
    version: async () => version,
    async run({ orders, onOutcome }) {
      const miniflare = new Miniflare({
        modules: [{ type: 'ESModule', path: 'worker.mjs', contents: await readFile(worker, 'utf8') }],
        compatibilityDate: '2026-07-01',
      });
      const ask = async <Answer>(question: Ask): Promise<Answer> => {
        const response = await miniflare.dispatchFetch('http://worker.invalid/', {
          method: 'POST',
          body: JSON.stringify(question),
        });
        if (!response.ok) throw new Error(await response.text());
        return (await response.json()) as Answer;
      };
      const inRequestOfItsOwn = (call: Call) => ask<string>({ call });
      try {
        await miniflare.ready;
        for (const step of stepNames) {
          onOutcome(
            step === 'gate'
              ? await runStep(step, () => gate(orders, inRequestOfItsOwn))
              : await ask<Outcome>({ step, orders }),
          );
        }
      } finally {
        await miniflare.dispose();
      }
    },
  };
}
