import { readFile } from 'node:fs/promises';
import {
  createSandbox,
  type Fault,
  type FaultMatch,
  faultConditions,
  type Sandbox,
  type SandboxOptions,
  type SandboxOptionTable,
  sandboxFaults,
  sandboxOptions,
} from 'accounting-data-sdk/testing';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { nearest } from '../../internal/option-names.ts';
import { LIST_ORDERS, type ListOrder } from '../../schemas/service-forms.ts';
import { jsonObject, type Rate, rate, wholeNumber } from '../arguments.ts';
import { CommandFailure, EXIT } from '../errors.ts';
import type { Io } from '../io.ts';
import { envLines, requestLine } from '../sandbox-output.ts';

interface Flags {
  readonly port: number;
  readonly host: string;
  readonly records: number;
  readonly seed: number;
  readonly rate: Rate;
  readonly pageSize: number;
  readonly order: ListOrder;
  /** Options without a flag of their own; they win over those that have one. */
  readonly options?: SandboxOptions;
  readonly fault?: readonly FaultFlag[];
  readonly fixtures?: string;
  readonly quiet?: true;
}

interface FaultFlag {
  readonly fault: Fault;
  readonly match: FaultMatch;
}

const DEFAULT_RATE = '10000/60s';

const EXAMPLES = [
  'accounting-data-sdk sandbox --port 4010 --records 5000 --seed 7 --rate 100/60s',
  `accounting-data-sdk sandbox --options '{"ids":{"form":"uuid"},"listBody":"hydra:member","invalidFilter":"reject"}'`,
  `accounting-data-sdk sandbox --fault '{"kind":"status","status":503,"probability":0.1}'`,
  `accounting-data-sdk sandbox --fault '{"kind":"lost-response","committed":true,"method":"POST","times":2}'`,
];

/** `accounting-data-sdk sandbox`: the sandbox on a port. */
export function addSandbox(program: Command, io: Io): void {
  program
    .command('sandbox')
    .description('serve a sandbox of the service on this machine, with generated data')
    .option('--port <number>', 'the port to listen on; 0 takes a free one', wholeNumber(0, 65_535), 4010)
    .option('--host <name>', 'the address to listen on', '127.0.0.1')
    .option('--records <number>', 'records to generate, spread over all collections', wholeNumber(0), 5000)
    .option('--seed <number>', 'the same seed generates the same records and keys', wholeNumber(0), 1)
    .addOption(
      new Option('--rate <quota>', 'requests in a window for each key, such as 100/60s, or off')
        .argParser(rate)
        .default(rate(DEFAULT_RATE), DEFAULT_RATE),
    )
    .option('--page-size <number>', 'records in a full page', wholeNumber(1), 30)
    .addOption(new Option('--order <order>', 'the order of lists').choices(LIST_ORDERS).default('id-asc'))
    .option('--fixtures <file>', 'JSON with records by collection, added to the generated ones')
    .option('--options <json>', 'any other option of createSandbox, see below', optionsOf)
    .option('--fault <json>', 'a fault with its match conditions; repeat it for several faults', faultList)
    .option('--quiet', 'do not log requests')
    .addHelpText(
      'after',
      () => `\n${sandboxHelp()}\n\nExamples:\n${EXAMPLES.map((line) => `  $ ${line}`).join('\n')}`,
    )
    .action((flags: Flags) => serve(flags, io));
}

/** Serves until the user stops it. */
async function serve(flags: Flags, io: Io): Promise<void> {
  const options = allOptions(flags);
  await using sandbox = createSandbox(options);
  for (const { fault, match } of flags.fault ?? []) sandbox.faults.add(fault, match);
  if (flags.fixtures !== undefined) await load(sandbox, flags.fixtures);

  const url = await listen(sandbox, flags);
  for (const line of envLines(url, sandbox.keys, describe(options))) io.out(line);
  if (!flags.quiet) sandbox.onRequest((request) => io.log(requestLine(request, io.colors)));
  io.log('Listening. Stop with Ctrl-C.');
  await new Promise<void>((resolve) => {
    if (io.signal.aborted) resolve();
    else io.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const count = sandbox.count();
  io.log(`Stopped after ${count} request${count === 1 ? '' : 's'}.`);
}

/** A `rateLimit` that names only some of its fields keeps the others of `--rate`. */
function allOptions({ seed, records, pageSize, order, rate, options = {} }: Flags): SandboxOptions {
  const { rateLimit = rate, ...others } = options;
  return {
    seed,
    records,
    otherRecords: Math.min(records, 500),
    pageSize,
    order,
    ...others,
    rateLimit: rate && rateLimit ? { ...rate, ...rateLimit } : rateLimit,
  };
}

function describe({ records = 0, seed, rateLimit }: SandboxOptions): string {
  const count = typeof records === 'number' ? records : Object.values(records).reduce((a, b) => a + b, 0);
  const quota = rateLimit
    ? `${rateLimit.limit} requests in ${(rateLimit.windowMs ?? 0) / 1000} s for each key`
    : 'no rate limit';
  return `Sandbox of the public accounting data API: ${count} records from seed ${seed}, ${quota}.`;
}

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

async function listen(sandbox: Sandbox, { port, host }: Flags): Promise<string> {
  try {
    return (await sandbox.listen({ port, host })).url;
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    const reason = isTaken ? 'another program uses it' : (error as Error).message;
    throw new CommandFailure(`Port ${port} of ${host} cannot be opened: ${reason}.`, {
      advice: 'Choose another with --port, or --port 0 for a free one.',
    });
  }
}

/** Options of `createSandbox` as JSON. */
function optionsOf(text: string): SandboxOptions {
  const options: SandboxOptions = jsonObject(text);
  return checked(options, () => void createSandbox(options));
}

/** One more fault, with its conditions beside its own fields: `{"kind":"status","status":503,"probability":0.1}`. */
function faultList(text: string, before: readonly FaultFlag[] = []): FaultFlag[] {
  const entries = Object.entries(jsonObject(text));
  const isCondition = ([name]: [string, unknown]) => Object.hasOwn(faultConditions, name);
  const fault = Object.fromEntries(entries.filter((entry) => !isCondition(entry))) as unknown as Fault;
  const match: FaultMatch = Object.fromEntries(entries.filter(isCondition));
  const add = () => {
    try {
      createSandbox().faults.add(fault, match);
    } catch (error) {
      // The sandbox takes a misspelt condition for a field of the fault.
      for (const name of Object.keys(fault)) {
        const meant = nearest(name, Object.keys(faultConditions));
        if (meant !== undefined) throw new Error(`${name} is not a condition. Did you mean ${meant}?`);
      }
      throw error;
    }
  };
  return [...before, checked({ fault, match }, add)];
}

/** The value, if the sandbox accepts it. */
function checked<T>(value: T, use: () => void): T {
  try {
    use();
    return value;
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}

/** What `--options` and `--fault` accept, for the help of `sandbox`. */
function sandboxHelp(): string {
  // A function cannot be written as JSON.
  const { when: _, ...conditions } = faultConditions;
  return [
    'Options for --options, each with its default and its values:',
    ...optionLines(sandboxOptions),
    '',
    'Faults for --fault, each with its fields:',
    ...Object.entries(sandboxFaults).map(faultLine),
    '',
    `Match conditions of a fault: ${Object.keys(conditions).join(', ')}`,
  ].join('\n');
}

function optionLines(table: SandboxOptionTable, parent = ''): string[] {
  return Object.entries(table).flatMap(([name, option]) => {
    if ('options' in option) return optionLines(option.options, `${parent}${name}.`);
    const value = option.default === undefined ? 'none' : JSON.stringify(option.default);
    return [`  ${parent}${name}: ${value} (${option.values?.join(', ') ?? option.expected})`];
  });
}

function faultLine([kind, fields]: readonly [
  string,
  { readonly required?: object; readonly optional?: object },
]) {
  return `  ${[kind, ...Object.keys({ ...fields.required, ...fields.optional })].join(' ')}`;
}
