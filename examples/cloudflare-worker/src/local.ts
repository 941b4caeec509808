import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';
import type { D1 } from './env.ts';

/** The worker on this machine. */
export interface Local extends AsyncDisposable {
  readonly db: D1;
  /** What the schedule does. Resolves to how the run ended: `ok` or `exception`. */
  run(): Promise<string>;
  /** The response of the worker. */
  counts(): Promise<Record<string, number>>;
}

/** A worker, seen from outside. */
interface Entry {
  scheduled(event: { readonly cron: string }): Promise<{ readonly outcome: string }>;
  fetch(url: string): Promise<Response>;
}

export interface LocalOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly maxRequests?: number;
  /** A folder that keeps the database. @default in memory */
  readonly folder?: string;
}

export async function startLocal({ baseUrl, apiKey, maxRequests, folder }: LocalOptions): Promise<Local> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('./worker.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2023',
    conditions: ['workerd', 'worker'],
    logLevel: 'error',
  });
  const miniflare = new Miniflare({
    modules: [{ type: 'ESModule', path: 'worker.mjs', contents: outputFiles[0]?.text ?? '' }],
    compatibilityDate: '2026-07-01',
    d1Databases: { DB: 'copy' },
    ...(folder !== undefined && { d1Persist: folder }),
    bindings: {
      ACCOUNTING_BASE_URL: baseUrl,
      ACCOUNTING_API_KEY: apiKey,
      ...(maxRequests !== undefined && { MAX_REQUESTS: `${maxRequests}` }),
    },
  });
  await miniflare.ready;
  const worker = (await miniflare.getWorker()) as unknown as Entry;
  return {
    db: (await miniflare.getD1Database('DB')) as unknown as D1,
    async run() {
      const { outcome } = await worker.scheduled({ cron: '*/15 * * * *' });
      return outcome;
    },
    async counts() {
      const response = await worker.fetch('http://worker.invalid/');
      return (await response.json()) as Record<string, number>;
    },
    [Symbol.asyncDispose]: () => miniflare.dispose(),
  };
}
