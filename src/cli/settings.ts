import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { CommandFailure } from './command.ts';
import { EXIT } from './exit-codes.ts';
import type { Io } from './io.ts';

/** Where the service is, and the key for it, as far as they are set. Both come from the same source. */
export interface Settings {
  readonly baseUrl: string | undefined;
  readonly apiKey: string | undefined;
}

/** What the user says about the source. */
export interface SettingsFlags {
  readonly baseUrl?: string | undefined;
  readonly envFile?: string | undefined;
  readonly quiet?: boolean | undefined;
}

/**
 * The settings of the environment and the flags, or of a file if they have none. Never a mixture: a `.env` of somebody
 * else's project must neither send the user's key to its address nor lend its key to another one.
 */
export async function settings(io: Io, flags: SettingsFlags): Promise<Settings> {
  const own = {
    baseUrl: filled(flags.baseUrl) ?? filled(io.env.ACCOUNTING_BASE_URL),
    apiKey: filled(io.env.ACCOUNTING_API_KEY),
  };
  if (own.baseUrl !== undefined && own.apiKey !== undefined) return own;
  const file = await readSettings(io, flags);
  if (file === undefined) return own;
  if (own.baseUrl === undefined && own.apiKey === undefined) {
    if (!flags.quiet) io.log(`Using the address and the API key of ${file.name}.`);
    return file.settings;
  }
  const isKeyMissing = own.apiKey === undefined && file.settings.apiKey !== undefined;
  if (isKeyMissing && io.prompt === undefined) throw mixed('API key', 'address', file.name);
  if (own.baseUrl === undefined && file.settings.baseUrl !== undefined) {
    throw mixed('address', 'API key', file.name);
  }
  return own;
}

function mixed(missing: string, present: string, name: string): CommandFailure {
  return new CommandFailure(
    `The ${present} comes from the environment or an option, but the ${missing} is only in ${name}.`,
    {
      advice:
        'Take both from the same source: set ACCOUNTING_BASE_URL and ACCOUNTING_API_KEY, or leave both to the file.',
      exitCode: EXIT.usage,
    },
  );
}

/** The file that the user names, or the `.env` of the working directory if it has a setting of ours. */
async function readSettings(
  io: Io,
  { envFile }: SettingsFlags,
): Promise<{ name: string; settings: Settings } | undefined> {
  const name = envFile ?? '.env';
  const text = await readFile(resolve(io.cwd ?? '.', name), 'utf8').catch((error: Error) => {
    if (envFile === undefined) return undefined;
    throw new CommandFailure(`The file of --env-file cannot be read: ${error.message}.`, {
      advice: 'Check the path and the permissions.',
      exitCode: EXIT.file,
    });
  });
  if (text === undefined) return undefined;
  const variables = parseEnv(text);
  const found = {
    baseUrl: filled(variables.ACCOUNTING_BASE_URL),
    apiKey: filled(variables.ACCOUNTING_API_KEY),
  };
  io.hide?.(found.apiKey);
  const isOurs = found.baseUrl !== undefined || found.apiKey !== undefined;
  return isOurs || envFile !== undefined ? { name, settings: found } : undefined;
}

/** An empty variable is like none. */
function filled(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}
