import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { type Client, createClient, type Listeners } from 'accounting-data-sdk';
import type { ServiceProfile } from 'accounting-data-sdk/explore';
import type { Command } from 'commander';
import { CommandFailure, EXIT } from './errors.ts';
import type { Io } from './io.ts';
import { readServiceFile } from './service-file.ts';

/** Options of every command that talks to the service. */
export interface ConnectFlags {
  readonly baseUrl?: string | undefined;
  readonly allowInsecure?: boolean | undefined;
  readonly env?: string | undefined;
  /** A file of `probe --out`. */
  readonly service?: string | undefined;
  readonly quiet?: boolean | undefined;
}

/** Adds the options that {@link connect} reads, and examples to the help. */
export function connectable(command: Command, examples: readonly string[]): Command {
  return command
    .option('-q, --quiet', 'show no progress')
    .optionsGroup('Service:')
    .option('--base-url <url>', 'its address (default: ACCOUNTING_BASE_URL)')
    .option('--env <file>', 'a file with address and key (default: .env)')
    .option('--service <file>', 'its options: a file that probe --out wrote')
    .option('--allow-insecure', 'permit plain http, which shows the key to others')
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
export async function connect(io: Io, flags: ConnectFlags, on: Listeners = {}): Promise<Connection> {
  const profile = await profileOf(io, flags);
  const { baseUrl, apiKey } = await settings(io, flags);
  if (baseUrl === undefined) {
    throw new CommandFailure('No base URL is configured.', {
      advice: 'Set ACCOUNTING_BASE_URL, or pass --base-url https://books.example.com.',
      exitCode: EXIT.usage,
    });
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
      on,
    });
  const client = clientOf(create, flags.allowInsecure ?? false);
  if (apiKey === undefined) key = await askForKey(io);
  return { client, sync: profile.sync };
}

/** The profile in the file of `--service`; an empty one without it. */
export async function profileOf(
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
  /** Options of a sync that fit the service, as the file of `--service` has them. */
  readonly sync: ServiceProfile['sync'];
}

async function askForKey(io: Io): Promise<string> {
  const typed = (await io.prompt?.secret('API key: ', io.signal))?.trim();
  if (typed) {
    io.hide?.(typed);
    return typed;
  }
  throw new CommandFailure('No API key is configured.', {
    advice: 'Set ACCOUNTING_API_KEY. An argument is not accepted: other users of this machine could see it.',
    exitCode: EXIT.usage,
  });
}

/** The address of the service and the key for it. */
interface Settings {
  readonly baseUrl: string | undefined;
  readonly apiKey: string | undefined;
}

const NO_SETTINGS: Settings = { baseUrl: undefined, apiKey: undefined };

function settingsIn(env: Readonly<Record<string, string | undefined>>): Settings {
  return { baseUrl: env.ACCOUNTING_BASE_URL || undefined, apiKey: env.ACCOUNTING_API_KEY || undefined };
}

/**
 * The settings of the file of `--env`; without it those of the environment and the flags, or of `.env` if they have none.
 * Never one from each: the `.env` of a foreign project must neither send the user's key to its address nor lend its key
 * to another address.
 */
async function settings(io: Io, flags: ConnectFlags): Promise<Settings> {
  const fromEnv = settingsIn(io.env);
  if (flags.env !== undefined) return settingsOfFile(io, { ...flags, env: flags.env }, fromEnv);

  const own = { ...fromEnv, baseUrl: flags.baseUrl || fromEnv.baseUrl };
  if (own.baseUrl !== undefined && own.apiKey !== undefined) return own;

  const file = await readSettings(io, undefined);
  if (file === undefined) return own;
  if (own.baseUrl === undefined && own.apiKey === undefined) {
    if (!flags.quiet) io.log('Using the address and the API key of .env.');
    return file;
  }
  const canAsk = io.prompt !== undefined;
  if (own.apiKey === undefined && file.apiKey !== undefined && !canAsk)
    throw mixed('API key', 'address', '.env');
  if (own.baseUrl === undefined && file.baseUrl !== undefined) throw mixed('address', 'API key', '.env');
  return own;
}

/** The user names the file: its settings win over those of the environment. */
async function settingsOfFile(
  io: Io,
  { env: name, baseUrl, quiet }: ConnectFlags & { readonly env: string },
  fromEnv: Settings,
): Promise<Settings> {
  if (baseUrl !== undefined) throw notOneSource('--base-url and --env cannot be combined.');
  const file = (await readSettings(io, name)) ?? NO_SETTINGS;
  if (file.baseUrl === undefined && file.apiKey !== undefined)
    throw notOneSource(`${name} has an API key, but no address.`);
  if (file.apiKey === undefined && file.baseUrl !== undefined && io.prompt === undefined)
    throw notOneSource(`${name} has an address, but no API key.`);
  const ignored = fromEnv.baseUrl ?? fromEnv.apiKey;
  if (!quiet)
    io.log(
      `Using the address and the API key of ${name}${ignored === undefined ? '' : ', not those of the environment'}.`,
    );
  return file;
}

/** Of the file that the user names, or of the `.env` of the working directory if it has one of our variables. */
async function readSettings(io: Io, envFile: string | undefined): Promise<Settings | undefined> {
  const bytes = await readFile(resolve(io.cwd ?? '.', envFile ?? '.env')).catch((error: Error) => {
    if (envFile === undefined) return undefined;
    throw new CommandFailure(`The file of --env cannot be read: ${error.message}.`, {
      advice: 'Check the path and the permissions.',
      exitCode: EXIT.file,
    });
  });
  if (bytes === undefined) return undefined;
  const found = settingsIn(parseEnv(decoded(bytes)));
  io.hide?.(found.apiKey);
  const isOurs = found.baseUrl !== undefined || found.apiKey !== undefined;
  return isOurs || envFile !== undefined ? found : undefined;
}

/** UTF-8, or UTF-16 with a byte order mark, which `>` of Windows PowerShell writes. */
function decoded(bytes: Uint8Array): string {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes);
}

function mixed(missing: string, present: string, name: string): CommandFailure {
  return notOneSource(
    `The ${present} comes from the environment or an option, but the ${missing} is only in ${name}.`,
  );
}

function notOneSource(message: string): CommandFailure {
  return new CommandFailure(message, {
    advice:
      'Take both from the same source: set ACCOUNTING_BASE_URL and ACCOUNTING_API_KEY, or leave both to the file.',
    exitCode: EXIT.usage,
  });
}
