import type { Command } from 'commander';
import { EXIT } from './exit-codes.ts';
import type { Io } from './io.ts';

/** A command, in a file of its own below `commands/`: adds itself to the program. */
export type AddCommand = (program: Command, io: Io) => void;

/**
 * The command cannot do what it was asked to. The message says what happened; there is nothing to look up in a stack.
 * `advice` says what to do, on a line of its own.
 */
export class CommandFailure extends Error {
  readonly advice: string | undefined;
  readonly exitCode: number;

  constructor(message: string, more: { advice?: string | undefined; exitCode?: number | undefined } = {}) {
    super(message);
    this.advice = more.advice;
    this.exitCode = more.exitCode ?? EXIT.failed;
  }
}
