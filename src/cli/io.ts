import { Redactor } from '../transport/redact.ts';

/** Everything that a command reads, writes or waits for, so that tests can run it in their own process. */
export interface Io {
  /** Prints a line of the result. */
  readonly out: (line: string) => void;
  /** Prints a line about the progress or an error. */
  readonly log: (line: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder of relative paths. Default: the working directory of the process. */
  readonly cwd?: string | undefined;
  /** Whether the log may have colours. */
  readonly colors: boolean;
  /** Aborts when the user stops the command. */
  readonly signal: AbortSignal;
  /** Prints a long text. Resolves when it has left this process, rejects if it cannot. Default: `out`. */
  readonly write?: ((text: string) => Promise<void>) | undefined;
  /** Standard input. */
  readonly stdin?: AsyncIterable<Uint8Array> | undefined;
  /** Shows a line that replaces the previous one; undefined removes it. Absent if the log is not a terminal. */
  readonly status?: ((text: string | undefined) => void) | undefined;
  /** Absent if the user cannot be asked. */
  readonly prompt?: Prompt | undefined;
  /** The width of the terminal that `out` prints to; undefined if it is not a terminal. */
  readonly columns?: number | undefined;
}

/** Asks the user on the terminal. */
export interface Prompt {
  /** Does not show what the user types. Rejects with the signal's reason. */
  secret(question: string, signal: AbortSignal): Promise<string>;
  /** An empty line means no. */
  confirm(question: string, signal: AbortSignal): Promise<boolean>;
}

/** {@link Io} as a command uses it: `--quiet` and the hiding of keys are applied. */
export interface CommandIo extends Omit<Io, 'status'> {
  /** Prints a line about the progress; nothing with `--quiet`. */
  note: (line: string) => void;
  /** As {@link Io.status}; absent with `--quiet` too. */
  status: Io['status'];
  /** Hides this key in the log from now on. */
  readonly hide: (key: string | undefined) => void;
}

/**
 * The log never shows a key: a message may quote an argument that is a key in the wrong place. `out` is unchanged,
 * because records are data.
 */
export function commandIo(io: Io): CommandIo {
  const redactor = new Redactor();
  const hide = (key: string | undefined) => redactor.hide(key ?? '');
  hide(io.env.ACCOUNTING_API_KEY);
  const log = (line: string) => io.log(redactor.ownText(line));
  return { ...io, status: io.status, log, note: log, hide };
}
