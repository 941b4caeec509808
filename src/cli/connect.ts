import type { Command } from 'commander';
import { type Client, createClient } from '../client.ts';
import type { Listeners } from '../events.ts';
import { parseBaseUrl } from '../transport/url.ts';
import { CommandFailure } from './command.ts';
import { EXIT } from './exit-codes.ts';
import type { Io } from './io.ts';
import { settings } from './settings.ts';

/** Options of every command that talks to the service. */
export interface ConnectFlags {
  readonly baseUrl?: string | undefined;
  readonly allowInsecure?: boolean | undefined;
  readonly envFile?: string | undefined;
  readonly quiet?: boolean | undefined;
}

/** Adds the options that {@link connect} reads, and examples to the help. */
export function connectable(command: Command, examples: readonly string[]): Command {
  return command
    .option('--base-url <url>', 'where the service is; default: ACCOUNTING_BASE_URL')
    .option('--env-file <file>', 'read address and key from it if the environment has none; default: .env')
    .option('--allow-insecure', 'permit plain http beyond this machine: the key then travels in the clear')
    .option('--quiet', 'say nothing on the way')
    .addHelpText('after', `\nExamples:\n${examples.map((line) => `  $ ${line}`).join('\n')}`);
}

/**
 * A client for the service that flags, environment or a `.env` file name. It waits for the quota of its key as long as
 * it takes: the user sees that it waits, and can stop it.
 */
export async function connect(io: Io, flags: ConnectFlags, on: Listeners = {}): Promise<Client> {
  const { baseUrl, apiKey } = await settings(io, flags);
  if (baseUrl === undefined) {
    throw new CommandFailure('No base URL is configured.', {
      advice: 'Set ACCOUNTING_BASE_URL, or pass --base-url https://books.example.com.',
      exitCode: EXIT.usage,
    });
  }
  const allowInsecure = flags.allowInsecure ?? false;
  checkAddress(baseUrl, allowInsecure);
  return createClient({
    baseUrl,
    apiKey: apiKey ?? (await askForKey(io)),
    allowInsecure,
    deadlineMs: Number.POSITIVE_INFINITY,
    maxWaitMs: Number.POSITIVE_INFINITY,
    on,
  });
}

/** In the words of the command, which has an option of its own for plain http. */
function checkAddress(baseUrl: string, allowInsecure: boolean): void {
  // Whatever else is wrong with it is an error of the client.
  parseBaseUrl(baseUrl, true);
  if (allowInsecure) return;
  try {
    parseBaseUrl(baseUrl, false);
  } catch {
    throw new CommandFailure('The base URL uses plain http: the API key would travel in the clear.', {
      advice: 'Use https, or pass --allow-insecure if the network can be trusted.',
      exitCode: EXIT.usage,
    });
  }
}

async function askForKey(io: Io): Promise<string> {
  const typed = (await io.prompt?.secret('API key: ', io.signal))?.trim();
  if (typed !== undefined && typed !== '') {
    io.hide?.(typed);
    return typed;
  }
  throw new CommandFailure('No API key is configured.', {
    advice:
      'Set ACCOUNTING_API_KEY. It is never taken from an argument, which other users of this machine can see.',
    exitCode: EXIT.usage,
  });
}
