import type { FaultRule, Faults } from '../faults/fault-rules.ts';
import { wait } from '../wait.ts';

/** What a connector is given. */
export interface ConnectorRun {
  /** Where the service listens, such as `http://127.0.0.1:40100`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Aborts if the run is killed: pass it on, to `spawn` of `node:child_process` too. */
  readonly signal: AbortSignal;
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
  /** Those of the service, which rejects connections from the kill to the end of the run. */
  readonly faults: Pick<Faults, 'add'>;
}

/** How long a connector that was killed has to settle. */
const KILL_MS = 10_000;
const STUCK =
  'The run was killed: its signal aborted, and the service rejected connections. It had not settled 10 s later.';

/** Runs a connector once. It is killed if it takes longer than `timeoutMs`. */
export async function runConnector(
  run: (signal: AbortSignal) => unknown,
  { timeoutMs, kill, faults }: RunConnectorOptions,
): Promise<Ending> {
  const controller = new AbortController();
  const over = new AbortController();
  const settled = (async () => await run(controller.signal))().then(
    (): Ending => ({ how: 'well', problems: [] }),
    (error: unknown): Ending => ({ how: 'loudly', error, problems: [] }),
  );
  let refused: FaultRule | undefined;
  const die = () => {
    refused ??= faults.add({ kind: 'connection-refused' });
    controller.abort(new Error('The connector was killed.'));
  };
  kill.addEventListener('abort', die, { once: true });
  const within = async (ms: number, ...signals: readonly AbortSignal[]) =>
    await Promise.race([settled, wait(ms, AbortSignal.any([over.signal, ...signals]))]);
  try {
    let ending = await within(timeoutMs, kill);
    if (ending !== undefined && !kill.aborted) return ending;
    const problems = kill.aborted ? [] : [`The run had not ended after timeoutMs (${timeoutMs} ms).`];
    die();
    ending ??= await within(KILL_MS);
    return { ...ending, how: 'killed', problems: ending ? problems : [...problems, STUCK] };
  } finally {
    kill.removeEventListener('abort', die);
    refused?.remove();
    over.abort();
  }
}
