import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Miniflare } from 'miniflare';
import type { Host } from './host.ts';

const TIMEOUT_MS = 2_000;
/** Far below the other waits of a call, which are at least a second. */
const SOON_MS = 900;

/**
 * The queue of the rate limiter on Workers. Each call belongs to a request of its own; `leave` ends that request while
 * its call is queued or in flight, so that neither code nor timers of the call run again.
 */
export const workerdQueueHost: Host = {
  name: 'workerd-queue',
  source: `
    import { createClient } from 'accounting-data-sdk';
    export default {
      async fetch(request) {
        const { baseUrl, id, leave } = await request.json();
        const client = createClient({ baseUrl, apiKey: 'key', timeoutMs: ${TIMEOUT_MS}, retry: { maxAttempts: 1 } });
        const call = client.accounts.get(id);
        if (!leave) return Response.json((await call).id);
        call.catch(() => {});
        await new Promise((resolve) => setTimeout(resolve, 200));
        return Response.json('left');
      },
    };`,
  platform: 'browser',
  async run(program) {
    const contents = await readFile(program, 'utf8');
    const miniflare = new Miniflare({
      modules: [{ type: 'ESModule', path: 'worker.mjs', contents }],
      compatibilityDate: '2024-10-14',
    });
    // Holds each request until the test responds.
    const held = new Map<string, ServerResponse>();
    const server = createServer((request, response) => {
      held.set(request.url?.split('/').at(-1) ?? '', response);
    }).listen(0, '127.0.0.1');
    try {
      const url = await miniflare.ready;
      if (!server.listening) await once(server, 'listening');
      const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const call = async (id: string, leave = false) => {
        const response = await fetch(url, { method: 'POST', body: JSON.stringify({ baseUrl, id, leave }) });
        return (await response.json()) as string;
      };
      const respond = (id: string, remaining: number) => {
        const headers = { 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': String(remaining) };
        held
          .get(id)
          ?.writeHead(200, { 'content-type': 'application/json', ...headers })
          .end(`{"id":"${id}"}`);
      };
      /** How long it takes until the service has the request. */
      const arrival = async (id: string) => {
        const since = performance.now();
        while (!held.has(id)) {
          assert.ok(performance.now() - since < 10_000, `request ${id} was not sent`);
          await sleep(5);
        }
        return performance.now() - since;
      };

      const first = call('first');
      await arrival('first');
      const second = call('second');
      await sleep(300);
      assert.ok(!held.has('second'), 'the first call goes alone');
      respond('first', 90);
      assert.ok((await arrival('second')) < SOON_MS, 'the response to another request wakes a call');
      respond('second', 1);
      assert.deepEqual(await Promise.all([first, second]), ['first', 'second']);

      const lost = [call('lost-in-flight', true)];
      await arrival('lost-in-flight');
      lost.push(call('lost-in-queue', true));
      await sleep(50);
      const third = call('third');
      await Promise.all(lost);
      assert.ok(!held.has('third'), 'a call in flight counts');
      assert.ok(
        (await arrival('third')) < 2 * TIMEOUT_MS,
        'the place of a lost call is free after its timeout, and the permit of a lost call expires',
      );
      assert.ok(!held.has('lost-in-queue'));

      const row = ['lost-1', 'lost-2', 'lost-3'].map((id) => call(id, true));
      await sleep(50);
      const fourth = call('fourth');
      await Promise.all(row);
      // Few are left, so that one call is sent at a time.
      respond('third', 1);
      assert.equal(await third, 'third');
      assert.ok(
        (await arrival('fourth')) < 2 * SOON_MS,
        'three calls that were lost in a row delay the next one little',
      );
      respond('fourth', 49);
      assert.equal(await fourth, 'fourth');
      return 'calls wake calls of other requests, and permits of lost ones expire';
    } finally {
      server.closeAllConnections();
      server.close();
      await miniflare.dispose();
    }
  },
};
