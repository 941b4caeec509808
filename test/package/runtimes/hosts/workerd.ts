import { readFile } from 'node:fs/promises';
import { Miniflare } from 'miniflare';
import { overlappingCalls } from '../scenario.ts';
import type { Host } from './host.ts';

/**
 * The runtime of Cloudflare Workers. Each overlapping call is a request of its own in one isolate: a call that waits
 * for the rate limiter must be resumed by the response to another request.
 */
export const workerdHost: Host = {
  name: 'workerd',
  source: `
    export default {
      async fetch(request) {
        const { call, ...service } = await request.json();
        return Response.json(await (call ? overlappingCall(service) : scenario(service, async () => 0)));
      },
    };`,
  platform: 'browser',
  async run(program, service) {
    const script = {
      type: 'ESModule',
      path: 'worker.mjs',
      contents: await readFile(program, 'utf8'),
    } as const;
    const miniflare = new Miniflare({ modules: [script], compatibilityDate: '2024-10-14' });
    const send = async <Result>(body: object): Promise<Result> => {
      const response = await miniflare.dispatchFetch('http://worker.invalid/', {
        method: 'POST',
        body: JSON.stringify(body),
      });
      if (!response.ok) throw new Error(await response.text());
      return (await response.json()) as Result;
    };
    try {
      await send(service);
      return await overlappingCalls(service, (each) => send<number>({ ...each, call: true }));
    } finally {
      await miniflare.dispose();
    }
  },
};
