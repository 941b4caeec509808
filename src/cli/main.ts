import { Command, CommanderError } from 'commander';
import { oneLine } from '../internal/text.ts';
import { VERSION } from '../internal/version.ts';
import { type AddCommand, CommandFailure } from './command.ts';
import { addDiscover } from './commands/discover.ts';
import { addGet } from './commands/get.ts';
import { addProbe } from './commands/probe.ts';
import { addPull } from './commands/pull.ts';
import { addSandbox } from './commands/sandbox.ts';
import { addWhoami } from './commands/whoami.ts';
import { EXIT, EXIT_HELP } from './exit-codes.ts';
import { sayEnding } from './failure-of.ts';
import type { Io } from './io.ts';
import { withoutGiven, withoutKey } from './without-key.ts';

/** Every command. */
const COMMANDS: readonly AddCommand[] = [addProbe, addDiscover, addPull, addGet, addWhoami, addSandbox];

const SETTINGS_HELP = `
The address of the service comes from ACCOUNTING_BASE_URL or --base-url, the key from ACCOUNTING_API_KEY. If neither is
set, both come from the .env file of the working directory, or from --env-file. A missing key is asked for. It is never
taken from an argument, because other users of the machine can see those.`;

function createProgram(io: Io): Command {
  const program = new Command('accounting-data-sdk')
    .description('Tools for connectors to the public accounting data API.')
    .version(VERSION)
    .configureOutput({
      writeOut: (text) => io.out(text.trimEnd()),
      writeErr: (text) => io.log(withoutGiven(text.trimEnd())),
      outputError: (text, write) => write(usageError(withoutGiven(text))),
    })
    .addHelpText('after', `${SETTINGS_HELP}\n${EXIT_HELP}`)
    // Whoever calls decides what ends the process.
    .exitOverride();
  for (const add of COMMANDS) add(program, io);
  return program;
}

const SEE_HELP = 'Run it with --help to see what it takes.';

/** What the parser says, in the form of every other error: what happened, and on the next line what to do. */
function usageError(text: string): string {
  const sentence = text.replace(/^error: /, '').trim();
  const [, what = sentence, advice = ''] =
    /^(.* is invalid(?: for argument '.*')?)\. (.+)$/s.exec(sentence) ??
    /^([^\n]*)\n\((.+)\)$/s.exec(sentence) ??
    [];
  const happened = oneLine(`${what.slice(0, 1).toUpperCase()}${what.slice(1)}`).replace(/\.?$/, '.');
  return `${happened}\n${oneLine(`${advice} ${SEE_HELP}`)}`;
}

/** Runs the command line; gives the exit code. */
export async function main(args: readonly string[], world: Io): Promise<number> {
  const io = withoutKey(world);
  try {
    refuseKeys(args);
    await createProgram(io).parseAsync([...args], { from: 'user' });
    return EXIT.done;
  } catch (error) {
    io.status?.(undefined);
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    const { aborted, reason } = io.signal;
    const exitCode = sayEnding(aborted ? reason : error, io) ?? (aborted ? EXIT.interrupted : undefined);
    if (exitCode === undefined) throw error;
    return exitCode;
  }
}

/** Before anything is parsed: what is wrong with an argument is said by quoting it. */
function refuseKeys(args: readonly string[]): void {
  if (!args.some((arg) => /^--?(?:api-?key|key|token|x-auth-token)(?:=|$)/i.test(arg))) return;
  throw new CommandFailure('The API key is never taken from an argument.', {
    advice: 'Set ACCOUNTING_API_KEY, or leave it out and be asked for it.',
    exitCode: EXIT.usage,
  });
}
