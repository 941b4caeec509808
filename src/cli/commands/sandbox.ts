import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { LIST_ORDERS } from '../../schemas/service-forms.ts';
import { createSandbox, type Sandbox } from '../../testing/sandbox.ts';
import { CommandFailure } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { banner } from '../sandbox/banner.ts';
import { requestLine } from '../sandbox/request-line.ts';
import {
  aboutService,
  addFaults,
  type FaultFlag,
  faultList,
  type ServiceFlags,
  sandboxOptions,
  serviceOptions,
} from '../sandbox/service-options.ts';
import { rate, wholeNumber } from '../values.ts';

interface Flags extends ServiceFlags {
  readonly port: number;
  readonly host: string;
  readonly fault?: readonly FaultFlag[];
  readonly fixtures?: string;
  readonly quiet?: true;
}

const DEFAULT_RATE = '10000/60s';

async function load(sandbox: Sandbox, file: string): Promise<void> {
  try {
    sandbox.store.load(await readFile(file, 'utf8'));
  } catch (error) {
    const reason = (error as Error).message.replace(/\.$/, '');
    throw new CommandFailure(`The fixtures in ${file} cannot be loaded: ${reason}.`, {
      advice: 'Name a JSON file of records by collection, such as {"accounts":[{"name":"Cash"}]}.',
      exitCode: EXIT.file,
    });
  }
}

async function open(sandbox: Sandbox, { port, host }: Flags): Promise<string> {
  try {
    return (await sandbox.listen({ port, host })).url;
  } catch (error) {
    const taken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    const reason = taken ? 'another program uses it' : (error as Error).message;
    throw new CommandFailure(`Port ${port} of ${host} cannot be opened: ${reason}.`, {
      advice: 'Choose another with --port, or --port 0 for one that is free.',
    });
  }
}

const stopped = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

const EXAMPLES = [
  'accounting-data-sdk sandbox --port 4010 --records 5000 --seed 7 --rate 100/60s',
  `accounting-data-sdk sandbox --options '{"ids":{"form":"uuid"},"listBody":"hydra:member","invalidFilter":"reject"}'`,
  `accounting-data-sdk sandbox --fault '{"kind":"status","status":503,"probability":0.1}'`,
  `accounting-data-sdk sandbox --fault '{"kind":"lost-response","committed":true,"method":"POST","times":2}'`,
];

/** Serves until the user stops it. */
async function serve(flags: Flags, io: Io): Promise<void> {
  const options = serviceOptions(flags);
  await using sandbox = createSandbox(options);
  addFaults(sandbox, flags.fault ?? []);
  if (flags.fixtures !== undefined) await load(sandbox, flags.fixtures);

  const url = await open(sandbox, flags);
  for (const line of banner(url, sandbox.keys, aboutService(options))) io.out(line);
  if (flags.quiet !== true) sandbox.onRequest((request) => io.log(requestLine(request, io.colors)));
  io.log('Listening. Stop with Ctrl-C.');
  await stopped(io.signal);
  const count = sandbox.count();
  io.log(`Stopped after ${count} request${count === 1 ? '' : 's'}.`);
}

/** `accounting-data-sdk sandbox`: the sandbox on a port. */
export function addSandbox(program: Command, io: Io): void {
  program
    .command('sandbox')
    .description('serve a sandbox of the service on this machine, with made-up books')
    .option('--port <number>', 'where it listens; 0 takes one that is free', wholeNumber(0, 65_535), 4010)
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
    .option(
      '--options <json>',
      'any other option of createSandbox, such as ids, listBody or problemType',
      sandboxOptions,
    )
    .option(
      '--fault <json>',
      'what goes wrong, and when: a fault with its conditions; can be given again',
      faultList,
    )
    .option('--quiet', 'do not log requests')
    .addHelpText('after', `\nExamples:\n${EXAMPLES.map((line) => `  $ ${line}`).join('\n')}`)
    .action((flags: Flags) => serve(flags, io));
}
