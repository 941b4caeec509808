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
 * How a run ended: it resolved, it rejected with `error`, it was killed, it was killed because it took too long, it had
 * not settled 10 s after it was killed, or it sent requests after it had.
 */
export interface Ending {
  readonly how: 'well' | 'loudly' | 'killed' | 'late' | 'stuck' | 'alive';
  readonly error?: unknown;
}

interface RunConnectorOptions {
  readonly timeoutMs: number;
  /** Kills the run when it aborts. */
  readonly kill: AbortSignal;
  /** Refuses connections from then on. Returns what ends that. */
  readonly refuse: () => () => void;
}

/** How long a connector that was killed has to settle. */
const KILL_MS = 10_000;

/** Runs a connector once. It is killed if it takes longer than `timeoutMs`. */
export async function runConnector(
  start: (signal: AbortSignal) => unknown,
  { timeoutMs, kill, refuse }: RunConnectorOptions,
): Promise<Ending> {
  const controller = new AbortController();
  const over = new AbortController();
  let child: ConnectorProcess | undefined;
  let accept = () => {};
  const die = () => {
    accept = refuse();
    controller.abort(new Error('The connector was killed.'));
    child?.kill();
  };
  const work = async () => {
    const started = start(controller.signal);
    const result = isProcess(started) ? started : await started;
    if (!isProcess(result)) return;
    child = result;
    if (controller.signal.aborted) child.kill();
    await child.done;
  };
  kill.addEventListener('abort', die, { once: true });
  const settled = work().then(
    (): Ending => ({ how: 'well' }),
    (error: unknown): Ending => ({ how: 'loudly', error }),
  );
  try {
    const inTime = await Promise.race([settled, wait(timeoutMs, AbortSignal.any([kill, over.signal]))]);
    const isLate = inTime === undefined && !kill.aborted;
    if (isLate) die();
    const ending = inTime ?? (await Promise.race([settled, wait(KILL_MS, over.signal)]));
    if (ending === undefined) return { how: 'stuck' };
    if (isLate) return { how: 'late' };
    return kill.aborted ? { how: 'killed' } : ending;
  } finally {
    kill.removeEventListener('abort', die);
    over.abort();
    accept();
  }
}

function isProcess(value: unknown): value is ConnectorProcess {
  return typeof value === 'object' && value !== null && 'done' in value && 'kill' in value;
}
