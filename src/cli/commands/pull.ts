import { access, constants } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { Option } from 'commander';
import type { Client } from '../../client.ts';
import { type CollectionName, collections } from '../../collections/index.ts';
import { OUTAGE, type OutageGuard } from '../../internal/outage.ts';
import { DEFAULT_MAX_OUTAGE_MS, Outage } from '../../sync/outage.ts';
import { collectionName } from '../collection-name.ts';
import { type AddCommand, CommandFailure } from '../command.ts';
import { type ConnectFlags, connect, connectable } from '../connect.ts';
import { EXIT } from '../exit-codes.ts';
import { failureOf } from '../failure-of.ts';
import type { Io } from '../io.ts';
import { PullCheckpoint, type PullPoint } from '../pull/checkpoint.ts';
import { FileSink, partialOf, targetOf } from '../pull/file-sink.ts';
import { OutputSink } from '../pull/output-sink.ts';
import { PullProgress } from '../pull/progress.ts';
import { PullRun } from '../pull/pull-run.ts';
import type { Sink } from '../pull/sink.ts';
import { temporaryOf } from '../replace-file.ts';
import { duration, timestamp } from '../values.ts';
import { checkWritable } from '../writable.ts';

interface Flags extends ConnectFlags {
  readonly since?: string;
  readonly out?: string;
  readonly checkpoint?: string;
  readonly pagination: 'keyset' | 'page';
  readonly maxOutage: number;
}

/** `accounting-data-sdk pull`: a collection as lines of JSON. */
export const addPull: AddCommand = (program, io) => {
  connectable(
    program
      .command('pull')
      .description('read a whole collection as NDJSON, a record on each line')
      .argument('<collection>', 'such as accounts or account-addresses', collectionName)
      .option(
        '--since <timestamp>',
        'only records modified at or after it: 2026-01-31, or 2026-01-31T12:00:00Z',
        timestamp,
      )
      .option(
        '--out <file>',
        'replaced once every record is there; compressed if it ends in .gz. Default: standard output',
      )
      .option(
        '--checkpoint <file>',
        'remembers the position: after an interruption the same command resumes there',
      )
      .addOption(
        new Option(
          '--pagination <kind>',
          'keyset: no deletion can hide a record; page: cheaper, cannot resume',
        )
          .choices(['keyset', 'page'])
          .default('keyset'),
      )
      .addOption(
        new Option('--max-outage <time>', 'how long to wait for a service that is down: 90s, 5m, 0')
          .argParser(duration)
          .default(DEFAULT_MAX_OUTAGE_MS, '2m'),
      ),
    [
      'accounting-data-sdk pull accounts > accounts.ndjson',
      'accounting-data-sdk pull budget-lines --out budget-lines.ndjson.gz --checkpoint budget-lines.checkpoint',
      'accounting-data-sdk pull products --since 2026-01-31T00:00:00Z | jq -r .name',
    ],
  ).action((name: CollectionName, flags: Flags) => run(name, flags, io));
};

async function run(name: CollectionName, flags: Flags, io: Io): Promise<void> {
  await checkFiles(flags);
  const progress = flags.quiet ? undefined : new PullProgress(io, name);
  const client = await connect(io, flags, {
    wait: ({ waitMs }) => progress?.wait(waitMs),
    retry: ({ reason }) => progress?.retry(reason),
  });
  const checkpoint = checkpointOf(client, name, flags);
  const from = await checkpoint?.read();
  // Before a file is touched: what is wrong with the options shows here.
  const pages = pagesOf(client, name, { flags, from, signal: io.signal, progress });
  const sink = await openSink(flags, from, io);
  if (from !== undefined && from.records > 0) progress?.goesOn(from);
  const { pagination } = flags;
  const pull = new PullRun({
    pages,
    sink,
    checkpoint,
    from,
    pagination,
    onPage: (counts) => progress?.page(counts),
    onByPages: () => progress?.byPages(),
  });
  try {
    await pull.run();
  } catch (error) {
    progress?.end('not complete.');
    if (checkpoint === undefined) await sink.discard();
    if (isInterrupted(io.signal)) sayHowToResume(flags, io);
    throw withWayOn(error, flags);
  } finally {
    io.status?.(undefined);
    await sink.close();
  }
  progress?.end('complete.');
  if (!flags.quiet) io.log(`To read what changes from now on: --since ${sinceAfter(pull.startedAt)}`);
}

/** One file under two names would be replaced by its own checkpoint, and deleted with it. */
async function checkFiles({ out, checkpoint }: Flags): Promise<void> {
  const written = out === undefined ? [] : [resolve(out), partialOf(resolve(out))];
  const ofCheckpoint =
    checkpoint === undefined ? [] : [resolve(checkpoint), temporaryOf(resolve(checkpoint))];
  if (written.some((file) => ofCheckpoint.includes(file))) {
    throw new CommandFailure('--out and --checkpoint name the same file.', {
      advice: 'Give the checkpoint a file of its own.',
      exitCode: EXIT.usage,
    });
  }
  for (const file of [out, checkpoint]) {
    if (file !== undefined) await checkWritable(file);
  }
  // The partial file stands beside the one that it replaces.
  if (out !== undefined) await access(dirname(await targetOf(out)), constants.W_OK);
}

interface PagesParts {
  readonly flags: Flags;
  readonly from: PullPoint | undefined;
  readonly signal: AbortSignal;
  readonly progress: PullProgress | undefined;
}

/** The pages of a collection. A record that does not fit the contract belongs into the file like any other. */
function pagesOf(client: Client, name: CollectionName, { flags, from, signal, progress }: PagesParts) {
  const collection = client.withOptions({ validation: 'report' }).collection(collections[name].segment);
  const { since, pagination } = flags;
  const resumeFrom = from?.resumeToken ?? undefined;
  const clock = new Outage(flags.maxOutage);
  const outage: OutageGuard = {
    run: (call, waits) => {
      const onWait: typeof waits.onWait = (waitMs, reason) => {
        if (reason === 'outage') progress?.outage(waitMs ?? 0);
      };
      return clock.run(call, { ...waits, onWait });
    },
  };
  const options = { pagination, resumeFrom, signal, [OUTAGE]: outage };
  return collection.list({ updatedSince: since }, options).pages();
}

function checkpointOf(client: Client, collection: CollectionName, flags: Flags): PullCheckpoint | undefined {
  if (flags.checkpoint === undefined) return undefined;
  const { baseUrl } = client.accounts;
  const scope = {
    baseUrl,
    collection,
    since: flags.since ?? null,
    pagination: flags.pagination,
    out: flags.out ?? null,
  };
  return new PullCheckpoint(flags.checkpoint, scope);
}

async function openSink({ out }: Flags, from: PullPoint | undefined, io: Io): Promise<Sink> {
  if (out === undefined) return new OutputSink(io, from?.bytes ?? 0);
  const target = await targetOf(out);
  return from === undefined || from.bytes === 0
    ? FileSink.start(target)
    : FileSink.resume(target, from.bytes);
}

/** By the user. If nobody reads the output any more, nobody reads advice either. */
function isInterrupted({ aborted, reason }: AbortSignal): boolean {
  return aborted && !(reason instanceof CommandFailure) && reason?.exitCode !== EXIT.pipeClosed;
}

function sayHowToResume({ checkpoint, out }: Flags, io: Io): void {
  io.log('Stopped before the end.');
  if (checkpoint === undefined) {
    const kept = out === undefined ? '' : `${out} is as it was. `;
    io.log(`${kept}Run the same command to start over; with --checkpoint it can resume.`);
  } else {
    const kept = out === undefined ? '' : ` What was read so far is in ${partialOf(out)}.`;
    io.log(`Run the same command to resume.${kept}`);
  }
}

/** What to do about an error, where the same command goes on: that. */
function withWayOn(error: unknown, { checkpoint }: Flags): unknown {
  const failure = failureOf(error);
  if (failure === undefined || checkpoint === undefined || failure.exitCode === EXIT.usage) return error;
  const advice = `${failure.advice ?? ''} Run the same command to resume.`.trim();
  return failure.exitCode === EXIT.file
    ? failure
    : new CommandFailure(failure.message, { ...failure, advice });
}

/** Two minutes before this pull began: what was written then may have become visible only later. */
const LAG_MS = 120_000;

function sinceAfter(startedAt: string | null): string {
  const ms = startedAt === null ? Date.now() : Date.parse(startedAt);
  return `${new Date(ms - LAG_MS).toISOString().slice(0, 19)}Z`;
}
