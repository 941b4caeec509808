import type { RunMessage, RunRequest } from './messages.ts';
import runWorker from './run-worker.ts?worker&url';
import type { Settings } from './settings.ts';

/** A program may take so long. */
const LIMIT_MS = 30_000;

/** How a program is run. */
export interface RunOptions {
  readonly settings: Settings;
  onMessage(message: RunMessage): void;
  /** Nothing follows. */
  onStop(reason: 'stopped' | 'limit' | 'crashed'): void;
}

/** A program that runs. */
export interface Run {
  stop(): void;
}

/**
 * Runs a program in a worker of its own, which starts while the program is compiled. A worker with the address of a blob
 * has the policy of this page, which allows no other host; one with that of a file would have none.
 */
export function run(compiled: Promise<string>, { settings, onMessage, onStop }: RunOptions): Run {
  const script = new URL(runWorker, location.href).href;
  const source = URL.createObjectURL(
    new Blob([`import ${JSON.stringify(script)};`], { type: 'text/javascript' }),
  );
  const worker = new Worker(source, { type: 'module' });
  const end = (reason: Parameters<RunOptions['onStop']>[0]) => {
    clearTimeout(limit);
    worker.terminate();
    URL.revokeObjectURL(source);
    onStop(reason);
  };
  const limit = setTimeout(() => end('limit'), LIMIT_MS);
  worker.addEventListener('message', async ({ data }: MessageEvent<RunMessage>) => {
    if (data.kind === 'ready') worker.postMessage({ code: await compiled, settings } satisfies RunRequest);
    else onMessage(data);
  });
  // It used all memory, or its script could not be loaded.
  worker.addEventListener('error', (event) => {
    event.preventDefault();
    end('crashed');
  });
  return { stop: () => end('stopped') };
}
