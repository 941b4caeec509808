import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { faultyService } from './service.ts';
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

/** Runs the service in this process, and its callers in another. Rejects if they fail. */
export async function runLoad(settings: LoadSettings): Promise<LoadReport> {
  await using sandbox = faultyService(settings.seed);
  await sandbox.listen();
  const where = { baseUrl: sandbox.baseUrl, apiKey: sandbox.keys.full };
  const args = ['--import', path('../../../support/from-source.mjs'), path('callers.ts')];
  const callers = spawn(process.execPath, [...args, JSON.stringify({ ...settings, ...where })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [report, [code]] = await Promise.all([text(callers.stdout), once(callers, 'exit')]);
  if (code !== 0) throw new Error(`The callers ended with ${code}.`);
  return JSON.parse(report) as LoadReport;
}

/** By how much the heap grows in a round, as a straight line through all looks at it has it. */
export function slopeOf(heapMb: readonly number[]): number {
  const mean = heapMb.reduce((sum, mb) => sum + mb, 0) / heapMb.length;
  const middle = (heapMb.length - 1) / 2;
  const rise = heapMb.reduce((sum, mb, n) => sum + (n - middle) * (mb - mean), 0);
  return rise / heapMb.reduce((sum, _, n) => sum + (n - middle) ** 2, 0);
}

const path = (file: string) => fileURLToPath(new URL(file, import.meta.url));
