import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { createClient, isAccountingError } from 'accounting-data-sdk';
import { demo } from './demo.ts';
import { LockedError, lock } from './lock.ts';
import { push } from './push.ts';
import { FileError } from './read-rows.ts';
import { describe, isWell } from './results.ts';
import { State, StateError } from './state.ts';

const USAGE = `Makes the products of the books what the CSV export of a shop says.

  npm start                                     shows it on a service in memory
  npm start -- products.csv [--dry-run] [--state product-push.state.json]

ACCOUNTING_BASE_URL and ACCOUNTING_API_KEY say which books. Exit code: 0 all is well, 1 some rows need you, 2 it could
not run.
`;

async function run(file: string, { state: statePath, dryRun }: { state: string; dryRun: boolean }) {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort());
  const client = createClient({ appInfo: { name: 'product-push', version: '1.0.0' } });
  await using _ = dryRun ? undefined : await lock(`${statePath}.lock`);
  const state = await State.load(statePath, client.products.baseUrl);
  const csv = await readFile(file, 'utf8');
  const report = await push({ client, csv, state, dryRun, signal: controller.signal });
  console.log(describe(report));
  return isWell(report) ? 0 : 1;
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'dry-run': { type: 'boolean', default: false },
      state: { type: 'string', default: 'product-push.state.json' },
      help: { type: 'boolean', default: false },
    },
  });
  const [file] = positionals;
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  if (file === undefined) return demo();
  return run(file, { state: values.state, dryRun: values['dry-run'] });
}

/** Errors that a person can do something about are told in a sentence; anything else is a mistake of the program. */
function tell(error: unknown): number {
  const known =
    isAccountingError(error) ||
    error instanceof FileError ||
    error instanceof StateError ||
    error instanceof LockedError ||
    (error instanceof Error && 'code' in error);
  console.error(known ? error.message : error);
  return 2;
}

process.exitCode = await main().catch(tell);
