import { createSandbox } from 'accounting-data-sdk/testing';
import { printed } from './inspect.ts';
import type { Level, RunMessage, RunRequest } from './messages.ts';
import { load } from './modules.ts';
import { observed, showOn } from './observe.ts';
import { FAULTS, type Settings, sandboxOptions } from './settings.ts';

// Runs one program, and ends with it. Nothing leaves it: its `fetch` is that of a sandbox, and the policy of the page
// allows no other host.

/** A program that prints without end would fill the page. */
const MOST_LINES = 2_000;
const MOST_REQUESTS = 20_000;

const scope = globalThis as unknown as {
  onmessage: ((event: MessageEvent<RunRequest>) => void) | null;
  postMessage(message: RunMessage): void;
  process: object;
  load: typeof load;
  fetch: typeof fetch;
  addEventListener(type: string, listener: (event: Event) => void): void;
};
const post = (message: RunMessage) => scope.postMessage(message);

let lines = 0;
function print(level: Level, values: readonly unknown[]): void {
  lines += 1;
  if (lines > MOST_LINES) return;
  const text = lines === MOST_LINES ? `The first ${MOST_LINES} lines are shown.` : printed(values);
  post({ kind: 'printed', level, text });
}

let requests = 0;
showOn((entry) => {
  requests += 1;
  if (requests <= MOST_REQUESTS) post({ kind: 'request', entry });
});

for (const [name, level] of [
  ['log', 'log'],
  ['debug', 'log'],
  ['info', 'info'],
  ['warn', 'warn'],
  ['error', 'error'],
  ['dir', 'log'],
  ['table', 'log'],
] as const) {
  console[name] = (...values: unknown[]) => print(level, values);
}

function fail(error: unknown): void {
  post({ kind: 'failed', text: printed([error]) });
}

// Of a timer, or of a promise that nothing awaits.
scope.addEventListener('error', (event) => {
  event.preventDefault();
  const { error, message } = event as ErrorEvent;
  fail(error ?? message);
});
scope.addEventListener('unhandledrejection', (event) => {
  event.preventDefault();
  fail((event as PromiseRejectionEvent).reason);
});

/** The sandbox of the page: `createClient()` without options uses it. */
function install(settings: Settings): void {
  const sandbox = observed(createSandbox(sandboxOptions(settings)), { isSlow: true });
  if (settings.responseMs > 0) sandbox.faults.add({ kind: 'delay', ms: settings.responseMs });
  const rule = FAULTS[settings.fault];
  if (rule !== undefined) {
    const { fault, ...conditions } = rule;
    sandbox.faults.add(fault, conditions);
  }
  const { baseUrl, keys } = sandbox;
  scope.process = {
    env: { ACCOUNTING_BASE_URL: baseUrl, ACCOUNTING_API_KEY: keys.full },
    argv: [],
    exitCode: undefined,
    stdout: { write: (text: string) => print('log', [text.replace(/\n$/, '')]) },
  };
  scope.fetch = sandbox.fetch as typeof fetch;
}

scope.onmessage = ({ data: { code, settings } }) => {
  install(settings);
  scope.load = load;
  const url = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
  const startedAt = performance.now();
  import(/* @vite-ignore */ url).then(
    () => post({ kind: 'ended', ms: performance.now() - startedAt }),
    (error: unknown) => fail(error),
  );
};
post({ kind: 'ready' });
