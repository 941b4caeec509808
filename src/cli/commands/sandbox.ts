import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { LIST_ORDERS } from '../../testing/check-options.ts';
import type { ListOrder } from '../../testing/options.ts';
import { createSandbox, type Sandbox } from '../../testing/sandbox.ts';
import { CommandFailure } from '../command.ts';
import type { Io } from '../io.ts';
import { banner } from '../sandbox/banner.ts';
import { requestLine } from '../sandbox/request-line.ts';
import { type Rate, rate, wholeNumber } from '../values.ts';

interface Flags {
  readonly port: number;
  readonly host: string;
  readonly records: number;
  readonly seed: number;
  readonly rate: Rate;
  readonly pageSize: number;
  readonly order: ListOrder;
  readonly fixtures?: string;
  readonly quiet?: true;
}

const DEFAULT_RATE = '10000/60s';

async function load(sandbox: Sandbox, file: string): Promise<void> {
  try {
    sandbox.store.load(await readFile(file, 'utf8'));
  } catch (error) {
    throw new CommandFailure(`The fixtures in ${file} cannot be loaded: ${(error as Error).message}`);
  }
}

async function open(sandbox: Sandbox, { port, host }: Flags): Promise<string> {
  try {
    return (await sandbox.listen({ port, host })).url;
  } catch (error) {
    const taken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    const reason = taken ? 'it is taken; choose another with --port' : (error as Error).message;
    throw new CommandFailure(`Port ${port} of ${host} cannot be opened: ${reason}.`);
  }
}

function about({ records, seed, rate: limit }: Flags): string {
  const budget =
    limit === false ? 'no rate limit' : `${limit.budget} requests in ${limit.windowMs / 1000} s for each key`;
  return `Sandbox of the public accounting data API: ${records} records from seed ${seed}, ${budget}.`;
}

const stopped = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** Serves until the user stops it. */
async function serve(flags: Flags, io: Io): Promise<void> {
  const { seed, records, pageSize, order } = flags;
  const otherRecords = Math.min(records, 500);
  await using sandbox = createSandbox({
    seed,
    records,
    otherRecords,
    pageSize,
    order,
    rateLimit: flags.rate,
  });
  if (flags.fixtures !== undefined) await load(sandbox, flags.fixtures);

  const url = await open(sandbox, flags);
  for (const line of banner(url, sandbox.keys, about(flags))) io.out(line);
  if (flags.quiet !== true) sandbox.onRequest((request) => io.log(requestLine(request, io.colors)));
  io.log('Listening. Stop with Ctrl-C.');
  await stopped(io.signal);
  io.log(`Stopped after ${sandbox.count()} requests.`);
}

/** `accounting-data-sdk sandbox`: the sandbox on a port. */
export function addSandbox(program: Command, io: Io): void {
  program
    .command('sandbox')
    .description('serve a sandbox of the service on this machine, with made-up books')
    .option('--port <number>', 'where it listens; 0 takes one that is free', wholeNumber(0), 4010)
    .option('--host <name>', 'the address it listens at', '127.0.0.1')
    .option('--records <number>', 'records to make up, spread over all collections', wholeNumber(0), 5000)
    .option('--seed <number>', 'the same seed makes the same records and keys', wholeNumber(0), 1)
    .addOption(
      new Option('--rate <budget>', 'requests in a time for each key, such as 100/60s, or off')
        .argParser(rate)
        .default(rate(DEFAULT_RATE), DEFAULT_RATE),
    )
    .option('--page-size <number>', 'records in a full page', wholeNumber(1), 30)
    .addOption(new Option('--order <order>', 'the order of lists').choices(LIST_ORDERS).default('id-asc'))
    .option(
      '--fixtures <file>',
      'JSON with records by collection, put into the books beside the made-up ones',
    )
    .option('--quiet', 'do not log requests')
    .action((flags: Flags) => serve(flags, io));
}
