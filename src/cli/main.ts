import { collectionNames } from 'accounting-data-sdk';
import { Command, CommanderError, type Option } from 'commander';
import { oneLine } from '../internal/text.ts';
import { VERSION } from '../internal/version.ts';
import { addDiscover } from './commands/discover.ts';
import { addGet } from './commands/get.ts';
import { addProbe } from './commands/probe.ts';
import { addPull } from './commands/pull.ts';
import { addPush } from './commands/push.ts';
import { addSandbox } from './commands/sandbox.ts';
import { addWhoami } from './commands/whoami.ts';
import { CONNECT_OPTIONS } from './connect.ts';
import { CommandFailure, EXIT, EXIT_HELP, reportError } from './errors.ts';
import { type CommandIo, commandIo, type Io } from './io.ts';
import { checkEffects } from './needs.ts';
import { wrapped } from './table.ts';

/** Every command adds itself to the program. */
const COMMANDS = [addWhoami, addProbe, addDiscover, addPull, addGet, addPush, addSandbox];

const SETTINGS_HELP = `
Collections:
${wrapped(collectionNames.join(', '), 76)
  .map((line) => `  ${line}`)
  .join('\n')}

Service:
${CONNECT_OPTIONS.map(([flags, text]) => `  ${flags.padEnd(18)}${text}`).join('\n')}

The address of the service comes from ACCOUNTING_BASE_URL or --base-url, the
key from ACCOUNTING_API_KEY. A file named with --env wins over both. If neither
is set, both come from the .env file of the working directory. The command
prompts for a missing key. It does not accept a key as an argument, because
other users of the machine could see it.`;

/** Runs the command line; returns the exit code. */
export async function main(args: readonly string[], unsafeIo: Io): Promise<number> {
  const io = commandIo(unsafeIo);
  try {
    rejectKeys(args);
    await createProgram(io).parseAsync([...args], { from: 'user' });
    return EXIT.done;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    const { aborted, reason } = io.signal;
    const exitCode = reportError(aborted ? reason : error, io) ?? (aborted ? EXIT.interrupted : undefined);
    if (exitCode === undefined) throw error;
    return exitCode;
  } finally {
    unsafeIo.status?.(undefined);
  }
}

/** Before the parser reads the arguments, because its errors quote them. */
function rejectKeys(args: readonly string[]): void {
  // The key of a push is a field, and its value is never quoted.
  const names = args.includes('push') ? 'api-?key|token|x-auth-token' : 'api-?key|key|token|x-auth-token';
  if (!args.some((arg) => new RegExp(`^--?(?:${names})(?:=|$)`, 'i').test(arg))) return;
  throw new CommandFailure('The command does not accept an API key as an argument.', {
    advice: 'Set ACCOUNTING_API_KEY, or leave it out and type it when asked.',
    exitCode: EXIT.usage,
  });
}

function createProgram(io: CommandIo): Command {
  const program = new Command('accounting-data-sdk')
    .description('Tools for connectors to the public accounting data API.')
    .version(VERSION)
    .configureOutput({
      writeOut: (text) => io.out(text.trimEnd()),
      writeErr: (text) => io.log(withoutValue(text.trimEnd())),
      outputError: (text, write) => write(usageError(withoutValue(text))),
      getOutHelpWidth: () => 80,
    })
    .configureHelp({ optionDescription: descriptionOf })
    .addHelpText('after', `${SETTINGS_HELP}\n${EXIT_HELP}`)
    .hook('preAction', (_, command) => {
      checkEffects(command);
      if (command.opts<{ readonly quiet?: true }>().quiet)
        Object.assign(io, { note() {}, status: undefined });
    })
    // The caller ends the process.
    .exitOverride();
  for (const add of COMMANDS) add(program, io);
  return program;
}

/** The description of an option, with its choices and its default. */
function descriptionOf({
  description,
  argChoices = [],
  defaultValue,
  defaultValueDescription,
}: Option): string {
  const standard = defaultValueDescription ?? (defaultValue === undefined || `${defaultValue}`);
  const more = [argChoices.join(', '), standard === true ? '' : `default: ${standard}`].filter(Boolean);
  return more.length === 0 ? description : `${description} (${more.join('; ')})`;
}

/** Removes the value of an unknown option from a message of the parser: it may be a key behind a misspelt option. */
function withoutValue(text: string): string {
  return text.replaceAll(/(unknown option ')(--[^='\n]*|-[^-\n])[^\n]*/g, "$1$2'");
}

/** A message of the parser in the form of every other error: what happened, and on the next line what to do. */
function usageError(text: string): string {
  const message = text.replace(/^error: /, '').trim();
  const [, what = message, advice = ''] =
    // The parser of the argument has named its value.
    /^command-argument value .* is invalid for argument '\w+'\. (.+?\.) (.+)$/s.exec(message) ??
    /^(.* is invalid)\. (.+)$/s.exec(message) ??
    /^([^\n]*)\n\((.+)\)$/s.exec(message) ??
    [];
  const happened = oneLine(`${what.slice(0, 1).toUpperCase()}${what.slice(1)}`).replace(/\.?$/, '.');
  return `${happened}\n${oneLine(`${advice} Run the command with --help to see its options.`)}`;
}
