import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { SocketsSeen } from './sockets.ts';

/** How much of it. */
export interface LoadSettings {
  readonly seed: number;
  readonly callers: number;
  /** The first round is to warm up; after each of these the heap is looked at. */
  readonly rounds: number;
  readonly tasksInRound: number;
  /** For an attempt. A call that is given up while it connects leaves its connection to a later one. */
  readonly timeoutMs: number;
  /** How long connections that are kept for a later call may take to run out, once there is no call any more. */
  readonly idleMs: number;
}

/** What became of it. */
export interface LoadReport {
  /** Tasks by how they ended: done, aborted, or the code of their error. */
  readonly ended: Readonly<Record<string, number>>;
  /** What must not happen. */
  readonly strange: readonly string[];
  /** The heap in use after a forced collection, before the first round and after each. */
  readonly heapMb: readonly number[];
  readonly sockets: SocketsSeen & {
    /** In use although no call is left. */
    readonly left: number;
    /** Open after the time that idle ones have. */
    readonly kept: number;
  };
}

/** What the faults of the service come to, where retries do not make up for them. */
export const EXPECTED_ERRORS: readonly string[] = [
  'connection_failed',
  'timeout',
  'unexpected_response',
  'unknown_problem',
  'validation_failed',
  'rate_limited',
  'redirected',
  // A delete whose response was lost, and then a 404 whose body was cut: it does not prove that the record is gone.
  'not_found',
];

/** Runs the service and its callers, each in a process of its own. Rejects where one of them fails. */
export async function runLoad(settings: LoadSettings): Promise<LoadReport> {
  const service = start('service.ts', settings);
  try {
    const where = JSON.parse(await firstLine(service)) as object;
    const callers = start('callers.ts', { ...settings, ...where });
    const report = JSON.parse(await firstLine(callers)) as LoadReport;
    const [code] = await callers.exited;
    if (code !== 0) throw new Error(`The callers ended with ${code}.`);
    return report;
  } finally {
    service.stdin?.end();
    await service.exited;
  }
}

/** By how much the heap grows in a round, as a straight line through all looks at it has it. */
export function slopeOf(heapMb: readonly number[]): number {
  const mean = heapMb.reduce((sum, mb) => sum + mb, 0) / heapMb.length;
  const middle = (heapMb.length - 1) / 2;
  const rise = heapMb.reduce((sum, mb, n) => sum + (n - middle) * (mb - mean), 0);
  return rise / heapMb.reduce((sum, _, n) => sum + (n - middle) ** 2, 0);
}

const FROM_SOURCE = fileURLToPath(new URL('../../../support/from-source.mjs', import.meta.url));

function start(program: string, options: object): ChildProcess & { readonly exited: Promise<unknown[]> } {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const child = spawn(process.execPath, ['--import', FROM_SOURCE, path, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  return Object.assign(child, { exited: once(child, 'exit') });
}

async function firstLine(child: ChildProcess): Promise<string> {
  const lines = createInterface({ input: child.stdout as Readable });
  for await (const line of lines) return line;
  throw new Error('A process ended without a word.');
}
