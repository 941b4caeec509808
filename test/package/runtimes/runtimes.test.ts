// The packed package on every runtime: one scenario, each time against a new `accounting-data-sdk sandbox`.

import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';
import { chromium } from 'playwright-core';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { pack } from '../installed/support/install.ts';
import { overlappingCalls, SANDBOX_ARGS, type Service } from './scenario.ts';

declare const runScenario: (service: Service) => Promise<void>;

const run = promisify(execFile);
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const project = await mkdtemp(join(tmpdir(), 'runtimes-'));
afterAll(() => rm(project, { recursive: true, force: true }));

// Not in a hook, because a build takes as long as it takes.
const { tarball } = await pack(project);
await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }');
await run('npm', ['install', '--no-audit', '--no-fund', tarball], { cwd: project });

/** Bundles a program into the project. That of `node` imports the installed package, that of `browser` contains it. */
async function bundled(source: string, platform: 'node' | 'browser'): Promise<string> {
  const outfile = join(project, `${randomUUID()}.mjs`);
  const contents = `import { networkFailures, overlappingCall, scenario } from './scenario.ts';\n${source}`;
  const installed = join(project, 'node_modules/accounting-data-sdk/dist/index.js');
  await build({
    stdin: { contents, resolveDir: here('.') },
    outfile,
    platform,
    bundle: true,
    format: 'esm',
    target: 'es2023',
    logLevel: 'error',
    ...(platform === 'node'
      ? { external: ['accounting-data-sdk'] }
      : { alias: { 'accounting-data-sdk': installed } }),
  });
  return outfile;
}

/** Starts the sandbox command of the installed package, until the test ends. */
async function startSandbox(): Promise<Service> {
  const command = join(project, 'node_modules/.bin/accounting-data-sdk');
  const child = spawn(command, SANDBOX_ARGS, { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill());
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  while (!/ACCOUNTING_API_KEY=.*\n/.test(printed)) await once(child.stdout, 'data');
  const value = (name: string) => new RegExp(`${name}=(\\S+)`).exec(printed)?.[1] ?? '';
  return { baseUrl: value('ACCOUNTING_BASE_URL'), apiKey: value('ACCOUNTING_API_KEY') };
}

const { NODE_NIGHTLY, CHROMIUM = '/usr/bin/chromium' } = process.env;
const addressOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const binary = (path: string) => here(`node_modules/${path}`);
// Only what the package needs: the network, and the environment for the address and the key.
const DENO = 'run --no-lock --node-modules-dir=manual --no-prompt --allow-net=127.0.0.1 --allow-env';

test.each([
  ['node-22', binary('node-22/bin/node'), []],
  ['node-24', binary('node-24/bin/node'), []],
  ['node-26', binary('node-26/bin/node'), []],
  ...(NODE_NIGHTLY === undefined ? [] : [['node-nightly', NODE_NIGHTLY, []] as const]),
  ['bun', binary('bun/bin/bun.exe'), []],
  ['deno', binary('@deno/linux-x64-glibc/deno'), DENO.split(' ')],
] as const)('%s runs the scenario, and says why fetch failed', async (_name, command, flags) => {
  const source = `
    const service = { baseUrl: process.argv[2], apiKey: process.argv[3] };
    await networkFailures(service);
    await scenario(service);
    console.log('done');`;
  const { baseUrl, apiKey } = await startSandbox();
  const { NODE_OPTIONS: _, ...env } = process.env;
  const args = [...flags, await bundled(source, 'node'), baseUrl, apiKey];
  expect((await run(command, args, { env })).stdout.trim()).toBe('done');
});

test('chromium runs the scenario in a page of another origin than the service', async () => {
  const script = await readFile(await bundled('globalThis.runScenario = scenario;', 'browser'), 'utf8');
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu'],
  });
  onTestFinished(() => browser.close());
  const site = createServer((_, response) => response.setHeader('content-type', 'text/html').end());
  onTestFinished(() => void site.close());
  await once(site.listen(0, '127.0.0.1'), 'listening');
  const page = await browser.newPage();
  await page.goto(addressOf(site));
  await page.addScriptTag({ type: 'module', content: script });
  await page.evaluate((service) => runScenario(service), await startSandbox());
});

/** A worker in the runtime of Cloudflare Workers, until the test ends. */
async function startWorker(source: string): Promise<Miniflare> {
  const contents = await readFile(await bundled(source, 'browser'), 'utf8');
  const miniflare = new Miniflare({
    modules: [{ type: 'ESModule', path: 'worker.mjs', contents }],
    compatibilityDate: '2024-10-14',
  });
  onTestFinished(() => miniflare.dispose());
  await miniflare.ready;
  return miniflare;
}

async function send<Result>(worker: Miniflare, body: object): Promise<Result> {
  const request = { method: 'POST', body: JSON.stringify(body) };
  const response = await worker.dispatchFetch('http://worker.invalid/', request);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Result;
}

// Each overlapping call is a request of its own in one isolate: a call that waits for the rate limiter must be resumed
// by the response to another request.
test('workerd runs the scenario', async () => {
  const worker = await startWorker(`
    export default {
      async fetch(request) {
        const { call, ...service } = await request.json();
        return Response.json((await (call ? overlappingCall(service) : scenario(service, async () => 0))) ?? null);
      },
    };`);
  const service = await startSandbox();
  await send(worker, service);
  await overlappingCalls(service, (each) => send<number>(worker, { ...each, call: true }));
});

test('workerd wakes calls by the responses to other requests, and frees the places of calls whose request has ended', async () => {
  const [timeoutMs, soonMs] = [2_000, 900];
  // `leave` ends a request while its call is queued or in flight: neither code nor timers of the call run again.
  const worker = await startWorker(`
    import { createClient } from 'accounting-data-sdk';
    export default {
      async fetch(request) {
        const { baseUrl, id, leave } = await request.json();
        const client = createClient({ baseUrl, apiKey: 'key', timeoutMs: ${timeoutMs}, retry: { maxAttempts: 1 } });
        const call = client.accounts.get(id);
        if (!leave) return Response.json((await call).id);
        call.catch(() => {});
        await new Promise((resolve) => setTimeout(resolve, 200));
        return Response.json('left');
      },
    };`);
  // Holds each request until the test responds.
  const held = new Map<string, ServerResponse>();
  const server = createServer((request, response) => {
    held.set(request.url?.split('/').at(-1) ?? '', response);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const baseUrl = addressOf(server);
  const call = (id: string, leave = false) => send<string>(worker, { baseUrl, id, leave });
  const respond = (id: string, remaining: number) => {
    const quota = { 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': String(remaining) };
    held.get(id)?.writeHead(200, { 'content-type': 'application/json', ...quota });
    held.get(id)?.end(`{"id":"${id}"}`);
  };
  /** How long it takes until the service has the request. */
  const arrival = async (id: string) => {
    const since = performance.now();
    while (!held.has(id)) {
      expect(performance.now() - since, `request ${id} was not sent`).toBeLessThan(10_000);
      await sleep(5);
    }
    return performance.now() - since;
  };

  const first = call('first');
  await arrival('first');
  const second = call('second');
  await sleep(300);
  expect(held.has('second'), 'the first call goes alone').toBe(false);
  respond('first', 90);
  expect(await arrival('second')).toBeLessThan(soonMs);
  respond('second', 1);
  expect(await Promise.all([first, second])).toEqual(['first', 'second']);

  const lost = [call('lost-in-flight', true)];
  await arrival('lost-in-flight');
  lost.push(call('lost-1', true), call('lost-2', true), call('lost-3', true));
  await sleep(50);
  const third = call('third');
  await Promise.all(lost);
  expect(held.has('third'), 'a call in flight counts').toBe(false);
  expect(await arrival('third')).toBeLessThan(timeoutMs + 2 * soonMs);
  respond('third', 49);
  expect([await third, [...held.keys()].filter((id) => id.startsWith('lost-'))]).toEqual([
    'third',
    ['lost-in-flight'],
  ]);
});
