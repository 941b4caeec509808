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

/**
 * How a run ended: it resolved, it rejected, it was killed, it had not ended in time and was killed, or it had not ended
 * 10 s after it was killed.
 */
export interface Ending {
  readonly how: 'well' | 'loudly' | 'killed' | 'late' | 'stuck';
  /** What `run` rejected with. */
  readonly error?: unknown;
}

export interface RunningConnector {
  readonly ending: Promise<Ending>;
  kill(): void;
}

/** How long a connector that was killed has to settle. */
const KILL_MS = 10_000;

/** Starts a connector. A run that takes longer than `timeoutMs` is killed. `onKill` returns what follows when it has ended. */
export function startConnector(
  start: (run: ConnectorRun) => unknown,
  service: Omit<ConnectorRun, 'signal'>,
  { timeoutMs, onKill }: { timeoutMs: number; onKill: () => () => void },
): RunningConnector {
  const controller = new AbortController();
  const over = new AbortController();
  let child: ConnectorProcess | undefined;
  let wasKilled = false;
  let isLate = false;
  let afterKill = () => {};
  const kill = () => {
    wasKilled = true;
    afterKill = onKill();
    controller.abort(new Error('The connector was killed.'));
    child?.kill();
  };
  const work = (async () => {
    const started = start({ ...service, signal: controller.signal });
    const result = isProcess(started) ? started : await started;
    if (!isProcess(result)) return;
    child = result;
    if (wasKilled) child.kill();
    await child.done;
  })();
  const settledAs = (how: 'well' | 'loudly', error?: unknown): Ending => {
    if (isLate) return { how: 'late' };
    return wasKilled ? { how: 'killed' } : { how, error };
  };
  const settled = work.then(
    () => settledAs('well'),
    (error: unknown) => settledAs('loudly', error),
  );
  const limit = async (): Promise<Ending> => {
    await wait(timeoutMs, AbortSignal.any([controller.signal, over.signal]));
    if (!wasKilled && !over.signal.aborted) {
      isLate = true;
      kill();
    }
    await wait(KILL_MS, over.signal);
    return { how: 'stuck' };
  };
  const ending = Promise.race([settled, limit()]).finally(() => {
    over.abort();
    afterKill();
  });
  return { ending, kill };
}

function isProcess(value: unknown): value is ConnectorProcess {
  return typeof value === 'object' && value !== null && 'done' in value && 'kill' in value;
}
