import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { productFields } from '../../collections/products.ts';
import { isAccountingError } from '../../errors/guards.ts';
import type { PushAction, PushReport } from '../../errors/push-report.ts';
import { suggestion } from '../../internal/option-names.ts';
import { unlessMissing } from '../../node/crash-safe-file.ts';
import { fileStore } from '../../node/file-store.ts';
import { runPush } from '../../push/push.ts';
import type { PushProgress } from '../../push/results.ts';
import { duration, wholeNumber } from '../arguments.ts';
import { type ConnectFlags, connect, connectable } from '../connect.ts';
import { CommandFailure, EXIT, failureOf } from '../errors.ts';
import type { Io } from '../io.ts';
import { type EmptyCells, ProductFile, type ProductFormat } from '../push/product-file.ts';
import { RowResults } from '../push/row-results.ts';

interface Flags extends ConnectFlags {
  readonly key: string;
  readonly tenant: string;
  readonly dryRun?: true;
  readonly yes?: true;
  readonly empty: EmptyCells;
  readonly format?: ProductFormat;
  readonly results?: string;
  readonly state?: string;
  readonly repeatCreates: boolean;
  readonly concurrency: number;
  readonly maxOutage?: number;
}

/** `accounting-data-sdk push`: creates or updates the products of a file. */
export function addPush(program: Command, io: Io): void {
  connectable(
    program
      .command('push')
      .description('create or update products from a CSV or NDJSON file, each once by its key')
      .argument('<file>', 'CSV whose columns are product fields, or NDJSON with an object on each line')
      .requiredOption('--key <field>', 'required: the field that identifies a product, such as productNumber')
      .option('--dry-run', 'show what would be written, and write nothing')
      .option('--yes', 'write without asking')
      .addOption(
        new Option('--empty <meaning>', 'what an empty cell of a CSV file means')
          .choices(['ignore', 'clear'])
          .default('ignore'),
      )
      .addOption(
        new Option('--format <format>', 'default: by the ending of the file').choices(['csv', 'ndjson']),
      )
      .option('--results <file>', 'write a line of JSON for each row to this file')
      .option('--tenant <label>', 'a label for the company; part of every idempotency key', 'default')
      .option('--state <folder>', 'remember ids and unknown creates between runs')
      .option(
        '--no-repeat-creates',
        'for a service that ignores Idempotency-Key: look before a create is repeated',
      )
      .option('--concurrency <number>', 'writes in flight', wholeNumber(1), 4)
      .option(
        '--max-outage <time>',
        'how long to wait for a service that is down: 90s, 5m, 0 (default: 2m)',
        duration,
      ),
    [
      'accounting-data-sdk push products.csv --key productNumber --dry-run',
      'accounting-data-sdk push products.ndjson --key ean --yes --results results.ndjson',
    ],
  ).action((path: string, flags: Flags) => run(path, flags, io));
}

async function run(path: string, flags: Flags, io: Io): Promise<void> {
  const isAsked = flags.dryRun !== true && flags.yes !== true;
  checkFlags(flags, isAsked && io.prompt === undefined);
  const rowsPath = resolve(io.cwd ?? '.', path);
  const resultsPath = flags.results && resolve(io.cwd ?? '.', flags.results);
  await checkPaths(rowsPath, resultsPath);
  const file = new ProductFile(rowsPath, flags);
  const { client } = await connect(io, flags);
  const results = new RowResults(resultsPath);
  const confirm = async (planned: Counts) => {
    io.status?.(undefined);
    if (!isAsked || planned.created + planned.updated === 0) return true;
    return (await io.prompt?.confirm(`${summary(planned, WILL)}; continue?`, io.signal)) ?? false;
  };
  try {
    const report = await runPush(
      client.products,
      {
        tenant: flags.tenant,
        rows: file.rows(),
        key: (row) => row[flags.key as 'productNumber'],
        store: flags.state === undefined ? undefined : fileStore(resolve(io.cwd ?? '.', flags.state)),
        dryRun: flags.dryRun ?? false,
        concurrency: flags.concurrency,
        maxOutageMs: flags.maxOutage,
        retry: flags.repeatCreates ? undefined : { creates: false },
        signal: io.signal,
        onResult: (result) => results.add(result, file.lineOf(result.row)),
        onProgress: (progress) => flags.quiet || io.status?.(progressText(progress)),
      },
      confirm,
    );
    io.status?.(undefined);
    end(report, { flags, io, results });
  } catch (error) {
    throw withCause(error);
  } finally {
    io.status?.(undefined);
    results.close();
  }
}

/** Before anything is read or sent. */
function checkFlags({ key }: Flags, mustConfirm: boolean): void {
  const kinds: Readonly<Record<string, string>> = productFields;
  if (!Object.hasOwn(kinds, key) || kinds[key] !== 'string') {
    const names = Object.keys(kinds).filter((name) => kinds[name] === 'string');
    // Not quoted, because the caller may have passed the API key by mistake.
    throw new CommandFailure('The value of --key is not a text field of a product.', {
      advice: suggestion(key, names),
      exitCode: EXIT.usage,
    });
  }
  if (!mustConfirm) return;
  throw new CommandFailure('There is no terminal to confirm the push on.', {
    advice: 'Pass --yes to write, or --dry-run to see what would be written.',
    exitCode: EXIT.usage,
  });
}

/** The results would overwrite the rows before they are read. */
async function checkPaths(rows: string, results: string | undefined): Promise<void> {
  if (results === undefined) return;
  const [read, written] = await Promise.all([rows, results].map((path) => unlessMissing(realpath(path))));
  if (read === undefined || read !== written) return;
  throw new CommandFailure('--results names the file to push.', {
    advice: 'Give the results a file of their own.',
    exitCode: EXIT.usage,
  });
}

interface Ended {
  readonly flags: Flags;
  readonly io: Io;
  readonly results: RowResults;
}

function end({ rows, counts, dryRun }: PushReport, { flags, io, results }: Ended): void {
  if (!flags.quiet) io.log(`${rows} rows: ${summary(counts, dryRun ? WILL : DONE)}.`);
  if (dryRun && !flags.dryRun) io.log('Nothing was written.');
  const bad = counts.failed + counts.conflict;
  if (bad === 0) return;

  for (const problem of results.problems) io.log(problem);
  if (results.moreProblems > 0) {
    const where = flags.results === undefined ? 'pass --results <file> to see them' : `see ${flags.results}`;
    io.log(`and ${results.moreProblems} more; ${where}`);
  }
  throw new CommandFailure(
    `${bad} of ${rows} rows ${dryRun ? 'would not be written' : 'were not written'}.`,
    {
      advice: 'Correct them, and run the same command again.',
      exitCode: EXIT.rowsFailed,
    },
  );
}

type Counts = PushReport['counts'];

const ALWAYS: readonly PushAction[] = ['created', 'updated', 'unchanged'];
const DONE: Partial<Record<PushAction, string>> = { conflict: 'in conflict' };
const WILL: Partial<Record<PushAction, string>> = { ...DONE, created: 'to create', updated: 'to update' };

/** `37 to create, 12 to update, 451 unchanged`. */
function summary(counts: Counts, words: Partial<Record<PushAction, string>>): string {
  return Object.entries(counts)
    .filter(([action, count]) => count > 0 || ALWAYS.includes(action as PushAction))
    .map(([action, count]) => `${count} ${words[action as PushAction] ?? action}`)
    .join(', ');
}

function progressText({ phase, done, total, waiting }: PushProgress): string {
  const wait = waiting ? ', waiting' : '';
  if (phase === 'rows') return `${done} rows read${wait}`;
  return phase === 'read' ? `${done} products read${wait}` : `${done} of ${total} written${wait}`;
}

/** A push that stopped ends as its cause does: a rejected key has an exit code of its own. */
function withCause(error: unknown): unknown {
  if (!isAccountingError(error, 'push_failed')) return error;
  const { cause } = error;
  const failure = failureOf(cause);
  if (cause instanceof CommandFailure || failure === undefined) return cause;
  return new CommandFailure(error.message, { advice: failure.advice, exitCode: failure.exitCode });
}
