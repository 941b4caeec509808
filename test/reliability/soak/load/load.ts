import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { faultyService } from './faulty-service.ts';

/** The task of the callers. */
export interface Load {
  readonly seed: number;
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The first round is to warm up; after each of these the heap is looked at. */
  readonly rounds: number;
}

/** What became of it. */
export interface LoadReport {
  /** Tasks by how they ended: done, aborted, or the code of their error. */
  readonly ended: Readonly<Record<string, number>>;
  /** What must not happen. */
  readonly strange: readonly string[];
  /** The heap in use after a forced collection, before the first round and after each. */
  readonly heapMb: readonly number[];
}

/** How tasks may end: what the faults of the service come to, where retries do not make up for them. */
const ENDS = new Set([
  'done',
  'aborted',
  'connection_failed',
  'timeout',
  'unexpected_response',
  'unknown_problem',
  'validation_failed',
  'rate_limited',
  'redirected',
  // A delete whose response was lost, and then a 404 whose body was cut: it does not prove that the record is gone.
  'not_found',
]);

const path = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/**
 * Two hundred callers at once under faults and mass aborts, in a process of their own: whether they leave listeners or
 * sockets behind, and whether the heap grows from round to round. SEED sets another beginning.
 */
export async function soakLoad(rounds: number): Promise<boolean> {
  const seed = Number(process.env.SEED ?? 1);
  await using sandbox = faultyService(seed);
  await sandbox.listen();
  const load: Load = { seed, rounds, baseUrl: sandbox.baseUrl, apiKey: sandbox.keys.full };
  const args = [
    '--import',
    path('../../../support/from-source.mjs'),
    path('callers.ts'),
    JSON.stringify(load),
  ];
  const callers = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [report, [code]] = await Promise.all([text(callers.stdout), once(callers, 'exit')]);
  if (code !== 0) throw new Error(`The callers ended with ${code}.`);

  const { ended, strange, heapMb } = JSON.parse(report) as LoadReport;
  console.log(`load: seed ${seed}`, { ended, heapMb });
  const growth = slopeOf(heapMb);
  const findings = [
    ...strange,
    ...Object.keys(ended).filter((end) => !ENDS.has(end)),
    ...(growth < 1 ? [] : [`the heap grows by ${growth} MB in a round`]),
  ];
  for (const finding of findings) console.log(`load: ${finding}`);
  return findings.length === 0;
}

/** By how much the heap grows in a round, as a straight line through all looks at it has it. */
export function slopeOf(heapMb: readonly number[]): number {
  const mean = heapMb.reduce((sum, mb) => sum + mb, 0) / heapMb.length;
  const middle = (heapMb.length - 1) / 2;
  const rise = heapMb.reduce((sum, mb, n) => sum + (n - middle) * (mb - mean), 0);
  return rise / heapMb.reduce((sum, _, n) => sum + (n - middle) ** 2, 0);
}
