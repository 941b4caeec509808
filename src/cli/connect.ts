import type { Command } from 'commander';
import { type Client, createClient } from '../client.ts';
import type { Listeners } from '../events.ts';
import { CommandFailure } from './command.ts';
import { EXIT } from './exit-codes.ts';
import type { Io } from './io.ts';

/** Options of every command that talks to the service. */
export interface ConnectFlags {
  readonly baseUrl?: string | undefined;
  readonly allowInsecure?: boolean | undefined;
  readonly quiet?: boolean | undefined;
}

/** Adds the options that {@link connect} reads, and examples to the help. */
export function connectable(command: Command, examples: readonly string[]): Command {
  return command
    .option('--base-url <url>', 'where the service is; default: ACCOUNTING_BASE_URL')
    .option('--allow-insecure', 'permit plain http beyond this machine: the key then travels in the clear')
    .option('--quiet', 'say nothing on the way')
    .addHelpText('after', `\nExamples:\n${examples.map((line) => `  $ ${line}`).join('\n')}`);
}

/**
 * A client for the service that flags and environment name. It waits for the budget of its key as long as it takes:
 * whoever runs a command can see that it waits, and can stop it.
 */
export async function connect(io: Io, flags: ConnectFlags, on: Listeners = {}): Promise<Client> {
  const baseUrl = flags.baseUrl ?? io.env.ACCOUNTING_BASE_URL;
  if (baseUrl === undefined || baseUrl === '') {
    throw new CommandFailure('It is not said where the service is.', {
      advice: 'Set ACCOUNTING_BASE_URL, or give --base-url https://books.example.com.',
      exitCode: EXIT.usage,
    });
  }
  return createClient({
    baseUrl,
    apiKey: await keyFor(io),
    allowInsecure: flags.allowInsecure ?? false,
    deadlineMs: Number.POSITIVE_INFINITY,
    maxWaitMs: Number.POSITIVE_INFINITY,
    on,
  });
}

async function keyFor(io: Io): Promise<string> {
  const key = io.env.ACCOUNTING_API_KEY ?? '';
  if (key !== '') return key;

  const typed = await io.prompt?.secret('API key: ', io.signal);
  if (typed !== undefined && typed.trim() !== '') return typed.trim();
  throw new CommandFailure('There is no API key.', {
    advice:
      'Set ACCOUNTING_API_KEY. It is never taken from an argument, which others on this machine can see.',
    exitCode: EXIT.usage,
  });
}
