import { collectionNames } from 'accounting-data-sdk';
import {
  createSandbox,
  type Fault,
  type FaultMatch,
  faultConditions,
  type RecordCounts,
  type Sandbox,
  type SandboxOptions,
  sandboxFaults,
  sandboxOptions,
} from 'accounting-data-sdk/testing';
import { type Command, InvalidArgumentError } from 'commander';
import { readIfExists, replaceFile } from '../../internal/node/crash-safe-file.ts';
import type { OptionTable } from '../../internal/options.ts';
import { isError } from '../../internal/realm.ts';
import { jsonObject, wholeNumber } from '../arguments.ts';
import { examplesText } from '../connect.ts';
import { CommandFailure, EXIT } from '../errors.ts';
import type { CommandIo } from '../io.ts';
import { counted } from '../numbers.ts';
import { envLines, isSandboxEnv, requestLine, TITLE, withSettings } from '../sandbox-output.ts';
import { readServiceFile } from '../service-file.ts';
import { writableFile } from '../writable.ts';

interface Flags {
  readonly port: number;
  readonly host: string;
  readonly records?: number;
  readonly seed?: number;
  readonly cors?: true;
  readonly control?: true;
  readonly allowHost?: readonly string[];
  readonly service?: string;
  /** They win over flags. */
  readonly options?: SandboxOptions;
  readonly fault?: readonly FaultFlag[];
  readonly fixtures?: string;
  readonly write?: string;
  readonly force?: true;
  readonly listOptions?: true;
}

interface FaultFlag {
  readonly fault: Fault;
  readonly match: FaultMatch;
}

const EXAMPLES = [
  'accounting-data-sdk sandbox --port 4010 --records 5000 --seed 7',
  `accounting-data-sdk sandbox --options '{"pageSize":20,"order":"none"}'`,
  `accounting-data-sdk sandbox --options '{"rateLimit":{"limit":100}}'`,
  `accounting-data-sdk sandbox --fault '{"kind":"status","status":503}'`,
];

/** `accounting-data-sdk sandbox`: the sandbox on a port. */
export function addSandbox(program: Command, io: CommandIo): void {
  program
    .command('sandbox')
    .description('serve a sandbox of the service on this machine, with generated data')
    .option('--port <number>', 'the port to listen on; 0 takes a free one', wholeNumber(0, 65_535), 4010)
    .option('--host <name>', 'the address to listen on', '127.0.0.1')
    .option('-q, --quiet', 'do not log requests')
    .optionsGroup('Records:')
    .option(
      '--records <number>',
      'how many to generate, over all collections (default: 5000, with --fixtures 0)',
      wholeNumber(0),
    )
    .option('--seed <number>', 'for the same records and keys each time (default: random)', wholeNumber(0))
    .option('--fixtures <folder>', 'the records that pull --all --out <folder> wrote')
    .optionsGroup('Behaviour:')
    .option('--service <file>', 'behave like the service in a probe --out file')
    .option('--options <json>', 'any other option of createSandbox', optionsOf)
    .option('--fault <json>', 'a fault with its match conditions; repeat it for several faults', faultList)
    .option('--list-options', 'print what --options and --fault accept, and exit')
    .optionsGroup('Address and keys:')
    .option('--write <file>', 'write them into a file such as .env instead of printing them')
    .option('--force', 'with --write: change the address and the key in a file that sandbox did not write')
    .option('--cors', 'let web pages send requests and read responses')
    .option(
      '--allow-host <name>',
      'accept this Host too, such as host.docker.internal; repeat it for several',
      (name: string, before: readonly string[] = []) => [...before, name],
    )
    .option(
      '--control',
      'serve the window and control over HTTP (/_sandbox/) on an address that other machines reach, too',
    )
    .addHelpText('after', examplesText(EXAMPLES))
    .action((flags: Flags) => (flags.listOptions ? io.out(listOptions()) : serve(flags, io)));
}

/** Serves until the user stops it. */
async function serve(flags: Flags, io: CommandIo): Promise<void> {
  const service = flags.service === undefined ? {} : (await readServiceFile(flags.service)).sandbox;
  const options = allOptions(flags, service);
  await using sandbox = create(options, flags);
  for (const { fault, match } of flags.fault ?? []) sandbox.faults.add(fault, match);

  const file = flags.write === undefined ? undefined : await envFile(flags.write, flags);
  // A port that is in use fails before an earlier file is replaced.
  const url = await listen(sandbox, flags);
  const lines = envLines(
    { baseUrl: url, keys: sandbox.keys },
    { description: describe(options), written: flags.write },
  );
  if (file === undefined) for (const line of lines) io.out(line);
  else {
    const text =
      file.foreign === undefined
        ? `${lines.join('\n')}\n`
        : withSettings(file.foreign, { baseUrl: url, apiKey: sandbox.keys.full });
    await replaceFile(file.path, text);
    io.log(`Wrote the address and the ${file.foreign === undefined ? 'keys' : 'key'} to ${flags.write}.`);
  }
  sandbox.onRequest((request) => io.note(requestLine(request, io.colors)));
  io.log(`Listening on ${url}. Stop with Ctrl-C.`);
  if (isControlled(flags)) io.log(`Watch it at ${windowAddress(url)}`);
  await new Promise<void>((resolve) => {
    if (io.signal.aborted) resolve();
    else io.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  io.log(`Stopped after ${counted(sandbox.count(), 'request')}.`);
}

/** Where `--write` writes. `foreign` is the text of a file that the command did not write. */
interface EnvFile {
  readonly path: string;
  readonly foreign: string | undefined;
}

/** Fails before the sandbox listens if the file cannot be written, or has other settings that would be lost. */
async function envFile(name: string, { force }: Flags): Promise<EnvFile> {
  const path = await writableFile(name);
  const text = (await readIfExists(path)) ?? '';
  if (text.trim() === '' || isSandboxEnv(text)) return { path, foreign: undefined };
  if (force) return { path, foreign: text };
  throw new CommandFailure(`sandbox does not overwrite ${name}: it did not write all of that file.`, {
    advice: 'Choose another file, or pass --force to change only the address and the key in it.',
    exitCode: EXIT.file,
  });
}

/** The flags have been checked: an error comes from the fixtures, or from the file of `--service`. */
function create(options: SandboxOptions, { service }: Flags): Sandbox {
  try {
    return createSandbox(options);
  } catch (error) {
    throw new CommandFailure(`The sandbox cannot be created: ${(error as Error).message}`, {
      advice:
        error instanceof TypeError
          ? `Correct ${service}, or write it again with probe --out.`
          : 'Correct the file, or name a folder that pull --all --out wrote; leave out --records if ids are taken.',
      exitCode: EXIT.file,
    });
  }
}

/** `--options` wins over the other flags, and these over `--service`. A `rateLimit` may name only some of its fields. */
function allOptions(
  { seed = randomSeed(), fixtures, options = {}, ...flags }: Flags,
  service: SandboxOptions,
): SandboxOptions {
  const usual = flags.service === undefined ? 5000 : severalPages({ ...service, ...options });
  const { records = fixtures === undefined ? usual : 0 } = flags;
  const limits = [service.rateLimit, options.rateLimit].filter((limit) => limit !== undefined);
  return {
    seed,
    records,
    otherRecords: typeof records === 'number' ? Math.min(records, 500) : 500,
    fixtures,
    ...service,
    ...options,
    rateLimit: limits.at(-1) !== false && Object.assign({}, ...limits),
  };
}

/** Enough records of each collection for several pages: fewer do not show how a list behaves. */
function severalPages({ pageSize = sandboxOptions.pageSize.default }: SandboxOptions): RecordCounts {
  const count = Math.max(350, 5 * pageSize);
  return Object.fromEntries(collectionNames.map((name) => [name, count]));
}

function describe({ records = 0, seed, rateLimit }: SandboxOptions): string {
  const count = typeof records === 'number' ? records : Object.values(records).reduce((a, b) => a + b, 0);
  const { limit, windowMs } = sandboxOptions.rateLimit.options;
  const quota = rateLimit
    ? `${rateLimit.limit ?? limit.default} requests in ${(rateLimit.windowMs ?? windowMs.default) / 1000} s for each key`
    : 'no rate limit';
  return `${TITLE}: ${counted(count, 'record')} from seed ${seed}, ${quota}.`;
}

/** A seed that cannot be guessed, because the keys follow from it. */
function randomSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
}

/** The names of this machine to itself. */
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

const isLoopback = (host: string) => /^(?:localhost|127(?:\.\d+){3}|::1)$/i.test(host);
/** Every address of the machine. */
const isAny = (host: string) => /^(?:0\.0\.0\.0|::)$/.test(host);

/** Other machines control a sandbox only if the user says so. */
const isControlled = ({ host, control }: Flags) => control === true || isLoopback(host);

function windowAddress(url: string): string {
  const { port, hostname } = new URL(url);
  return isAny(hostname.replaceAll(/[[\]]/g, '')) ? `http://127.0.0.1:${port}/_sandbox/` : `${url}/_sandbox/`;
}

/** The names that `Host` may have; undefined for any. */
function acceptedHosts({ host, control, allowHost = [] }: Flags): readonly string[] | undefined {
  const isOpen = allowHost.length === 0 && (isAny(host) || control !== true);
  return isLoopback(host) || !isOpen ? [...LOOPBACK, host, ...allowHost] : undefined;
}

async function listen(sandbox: Sandbox, flags: Flags): Promise<string> {
  const { port, host, cors } = flags;
  const control = isControlled(flags);
  try {
    return (await sandbox.listen({ port, host, cors: cors === true, hosts: acceptedHosts(flags), control }))
      .url;
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
  return [...before, checked({ fault, match }, () => void createSandbox().faults.add(fault, match))];
}

/** The value, if the sandbox accepts it. */
function checked<T>(value: T, use: () => void): T {
  try {
    use();
    return value;
  } catch (error) {
    throw new InvalidArgumentError(isError(error) ? error.message : String(error));
  }
}

/** What `--options` and `--fault` accept. */
function listOptions(): string {
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

function optionLines(table: OptionTable, parent = ''): string[] {
  return Object.entries(table).flatMap(([name, option]) => {
    // The options of a collection are those of its group again.
    if ((collectionNames as readonly string[]).includes(name)) return [];
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
