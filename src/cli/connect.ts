import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { type Client, type ClientOptions, type CollectionName, createClient } from 'accounting-data-sdk';
import type { ServiceProfile } from 'accounting-data-sdk/explore';
import { type Command, Option } from 'commander';
import { CommandFailure, EXIT } from './errors.ts';
import type { CommandIo, Io } from './io.ts';
import { Progress } from './progress.ts';
import { readServiceFile } from './service-file.ts';

/** Options of every command that talks to the service. */
export interface ConnectFlags {
  readonly baseUrl?: string | undefined;
  readonly allowInsecure?: boolean | undefined;
  readonly env?: string | undefined;
  /** A file of `probe --out`. */
  readonly service?: string | undefined;
}

/** The options that {@link connect} reads. The help of the program shows them, once for all commands. */
export const CONNECT_OPTIONS = [
  ['--base-url <url>', 'its address (default: ACCOUNTING_BASE_URL)'],
  ['--env <file>', 'a file with address and key (default: .env)'],
  ['--service <file>', 'its options: a file that probe --out wrote'],
  ['--allow-insecure', 'permit plain http, which shows the key to others'],
] as const;

/** Adds {@link CONNECT_OPTIONS}, and examples to the help. */
export function connectable(command: Command, examples: readonly string[]): Command {
  command.optionsGroup('Options:').option('-q, --quiet', 'show no progress');
  for (const [flags, text] of CONNECT_OPTIONS) command.addOption(new Option(flags, text).hideHelp());
  const names = CONNECT_OPTIONS.map(([flags]) => flags.split(' ')[0]).join(', ');
  return command
    .addHelpText('after', `\nService: ${names} (accounting-data-sdk -h)`)
    .addHelpText('after', examplesText(examples));
}

/** The examples at the end of a help. */
export function examplesText(examples: readonly string[]): string {
  return `\nExamples:\n${examples.map((line) => `  $ ${line}`).join('\n')}`;
}

/**
 * A client for the service that flags, environment or a `.env` file name. It waits for the quota of its key as long as
 * it takes, because the user sees that it waits and can stop it.
 */
export async function connect(
  io: CommandIo,
  flags: ConnectFlags,
  own: Pick<ClientOptions, 'on' | 'schemas'> = {},
): Promise<Connection> {
  const profile = await profileOf(io, flags);
  const given = await settings(io, flags);
  const { baseUrl, apiKey } = given;
  if (baseUrl === undefined) {
    const advice = 'Set ACCOUNTING_BASE_URL, or pass --base-url https://books.example.com.';
    throw missing('base URL', 'ACCOUNTING_BASE_URL', given, advice);
  }
  // Given once the address is known to be good: a wrong one is reported before the user types a key.
  let key = apiKey ?? '';
  const create = (allowInsecure: boolean) =>
    createClient({
      ...profile.client,
      baseUrl,
      apiKey: () => key,
      allowInsecure,
      deadlineMs: Number.POSITIVE_INFINITY,
      maxWaitMs: Number.POSITIVE_INFINITY,
      on: new Progress(io).listeners(),
      ...own,
    });
  const client = clientOf(create, flags.allowInsecure ?? false);
  if (apiKey === undefined) key = await askForKey(io, given);
  const { pagination } = profile.client;
  const paginationOf = (name: CollectionName) =>
    typeof pagination === 'object' ? pagination[name] : pagination;
  return { client, reading: profile.sync, paginationOf };
}

/** The profile in the file of `--service`; an empty one without it. */
async function profileOf(
  { cwd = '.' }: Pick<Io, 'cwd'>,
  { service }: ConnectFlags,
): Promise<Pick<ServiceProfile, 'client' | 'sync'>> {
  return service === undefined ? { client: {}, sync: {} } : readServiceFile(resolve(cwd, service));
}

function clientOf(create: (allowInsecure: boolean) => Client, allowInsecure: boolean): Client {
  try {
    return create(allowInsecure);
  } catch (error) {
    if (allowInsecure) throw error;
    // Throws whatever else is wrong with the address.
    create(true);
    throw new CommandFailure('The base URL uses plain http: others could read the API key on its way.', {
      advice: 'Use https, or pass --allow-insecure if you trust the network.',
      exitCode: EXIT.usage,
    });
  }
}

export interface Connection {
  readonly client: Client;
  /** Options of a sync or a push that fit the service, as the file of `--service` has them. */
  readonly reading: ServiceProfile['sync'];
  /** How the client lists a collection, if that file says so. */
  readonly paginationOf: (name: CollectionName) => 'keyset' | 'page' | 'none' | 'link' | undefined;
}

async function askForKey(io: CommandIo, given: Settings): Promise<string> {
  const typed = (await io.prompt?.secret('API key: ', io.signal))?.trim();
  if (typed) {
    io.hide(typed);
    return typed;
  }
  const advice =
    'Set ACCOUNTING_API_KEY. An argument is not accepted: other users of this machine could see it.';
  throw missing('API key', 'ACCOUNTING_API_KEY', given, advice);
}

/** The address of the service and the key for it. */
interface Settings {
  readonly baseUrl: string | undefined;
  readonly apiKey: string | undefined;
  /** The file that has them; undefined for the environment and flags. */
  readonly file?: string;
}

function settingsIn(env: Readonly<Record<string, string | undefined>>): Settings {
  return { baseUrl: env.ACCOUNTING_BASE_URL || undefined, apiKey: env.ACCOUNTING_API_KEY || undefined };
}

/**
 * The settings of the file of `--env`; without it those of the environment and the flags, or of `.env` if they have none.
 * Never one from each: the `.env` of a foreign project must neither send the user's key to its address nor lend its key
 * to another address.
 */
async function settings(io: CommandIo, { env: name, baseUrl }: ConnectFlags): Promise<Settings> {
  const fromEnv = settingsIn(io.env);
  const given = { ...fromEnv, baseUrl: baseUrl || fromEnv.baseUrl };
  const isSet = given.baseUrl !== undefined || given.apiKey !== undefined;
  if (name === undefined && isSet) return given;
  if (name !== undefined && baseUrl !== undefined) {
    throw new CommandFailure('--base-url and --env cannot be combined.', {
      advice: 'Address and key come from the same source: leave out one of the two.',
      exitCode: EXIT.usage,
    });
  }
  const found = await readSettings(io, name);
  if (found === undefined) return given;
  const ignored = isSet ? ', not those of the environment' : '';
  io.note(`Using the address and the API key of ${found.file}${ignored}.`);
  return found;
}

/** Of the file that the user names, or of the `.env` of the working directory if it has one of our variables. */
async function readSettings(io: CommandIo, name: string | undefined): Promise<Settings | undefined> {
  const file = name ?? '.env';
  const bytes = await readFile(resolve(io.cwd ?? '.', file)).catch((error: Error) => {
    if (name === undefined) return undefined;
    throw new CommandFailure(`The file of --env cannot be read: ${error.message}.`, {
      advice: 'Check the path and the permissions.',
      exitCode: EXIT.file,
    });
  });
  if (bytes === undefined) return undefined;
  const found = settingsIn(parseEnv(decoded(bytes)));
  io.hide(found.apiKey);
  const isOurs = found.baseUrl !== undefined || found.apiKey !== undefined;
  return isOurs || name !== undefined ? { ...found, file } : undefined;
}

/** A setting that is needed, and not there. */
function missing(what: string, variable: string, { file }: Settings, advice: string): CommandFailure {
  const where = file === undefined ? `No ${what} is configured.` : `${file} has no ${variable}.`;
  const whatToDo =
    file === undefined
      ? `${advice} A .env file is read only if neither address nor key is set.`
      : 'Add it: address and key come from the same source, so the file must have both.';
  return new CommandFailure(where, { advice: whatToDo, exitCode: EXIT.usage });
}

/** UTF-8, or UTF-16 with a byte order mark, which `>` of Windows PowerShell writes. */
function decoded(bytes: Uint8Array): string {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes);
}
