import { causeText } from '../../internal/text.ts';
import type { FaultRule, Faults } from '../faults/fault-rules.ts';
import { wait } from '../wait.ts';

/** What a connector is given. */
export interface ConnectorRun {
  /** Where the service listens, such as `http://127.0.0.1:40100`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Aborts if the run is killed. */
  readonly signal: AbortSignal;
}

/** A connector that is another process. */
export interface ConnectorProcess {
  /** Settles when the process has ended: rejects if it failed. */
  readonly done: Promise<unknown>;
  /** Kills it, for example `() => child.kill('SIGKILL')`. */
  kill(): unknown;
}

/** How a run ended: it resolved, it rejected with `error`, or it was killed. */
export interface Ending {
  readonly how: 'well' | 'loudly' | 'killed';
  readonly error?: unknown;
  /** Problems that fail any case, as sentences. */
  readonly problems: readonly string[];
}

interface RunConnectorOptions {
  readonly timeoutMs: number;
  /** Kills the run when it aborts. */
  readonly kill: AbortSignal;
  /** Those of the service, which refuses connections from the kill to the end of the run. */
  readonly faults: Pick<Faults, 'add'>;
}

/** How long a connector that was killed has to settle. */
const KILL_MS = 10_000;
const STUCK =
  'The run was killed: its signal aborted, and the service refused connections. It had not settled 10 s later.';

/** Runs a connector once. It is killed if it takes longer than `timeoutMs`. */
export async function runConnector(
  start: (signal: AbortSignal) => unknown,
  { timeoutMs, kill, faults }: RunConnectorOptions,
): Promise<Ending> {
  const controller = new AbortController();
  const over = new AbortController();
  const problems: string[] = [];
  let child: ConnectorProcess | undefined;
  let refused: FaultRule | undefined;
  // A listener that throws would end the whole process.
  const killChild = async () => {
    try {
      await child?.kill();
    } catch (error) {
      problems.push(`kill() failed: ${causeText(error)}.`);
    }
  };
  const die = () => {
    refused = faults.add({ kind: 'connection-refused' });
    controller.abort(new Error('The connector was killed.'));
    void killChild();
  };
  const work = async () => {
    const started = start(controller.signal);
    const result = isProcess(started) ? started : await started;
    if (!isProcess(result)) return;
    child = result;
    if (controller.signal.aborted) void killChild();
    await child.done;
  };
  kill.addEventListener('abort', die, { once: true });
  const settled = work().then(
    (): Ending => ({ how: 'well', problems }),
    (error: unknown): Ending => ({ how: 'loudly', error, problems }),
  );
  try {
    const inTime = await Promise.race([settled, wait(timeoutMs, AbortSignal.any([kill, over.signal]))]);
    if (!kill.aborted) {
      if (inTime !== undefined) return inTime;
      problems.push(`The run had not ended after timeoutMs (${timeoutMs} ms).`);
      die();
    }
    const ending = inTime ?? (await Promise.race([settled, wait(KILL_MS, over.signal)]));
    if (ending === undefined) problems.push(STUCK);
    return { ...ending, how: 'killed', problems };
  } finally {
    kill.removeEventListener('abort', die);
    over.abort();
    refused?.remove();
  }
}

function isProcess(value: unknown): value is ConnectorProcess {
  if (typeof value !== 'object' || value === null || !('done' in value || 'kill' in value)) return false;
  const { done, kill } = value as { readonly done?: { readonly then?: unknown }; readonly kill?: unknown };
  if (typeof done?.then === 'function' && typeof kill === 'function') return true;
  throw new TypeError('run must return a promise, or { done, kill } with a promise and a function.');
}
