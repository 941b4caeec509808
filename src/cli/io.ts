/** What a command sees of the world: everything that it reads, writes or waits for comes through here. */
export interface Io {
  /** What the user asked for: lines that can be kept in a file. */
  readonly out: (line: string) => void;
  /** What is going on. */
  readonly log: (line: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where relative names of files lead from. Default: the working directory of the process. */
  readonly cwd?: string | undefined;
  /** From now on the log does not show this key. */
  readonly hide?: ((key: string | undefined) => void) | undefined;
  /** Whether the log may be coloured. */
  readonly colors: boolean;
  /** Aborts when the user wants the command to stop. */
  readonly signal: AbortSignal;
  /**
   * As `out`, for a lot of text: as it is. Resolves when it is out of this process, rejects when it cannot
   * be. Default: by `out`.
   */
  readonly write?: ((text: string) => Promise<void>) | undefined;
  /** Shows one line that replaces the last; undefined takes it away. Absent where the log is no terminal. */
  readonly status?: ((text: string | undefined) => void) | undefined;
  /** The user, where there is one to ask. */
  readonly prompt?: Prompt | undefined;
  /** Characters in a line of the terminal that `out` goes to; undefined where it is none. */
  readonly columns?: number | undefined;
}

/** Asks on the terminal. */
export interface Prompt {
  /** What is typed is not shown. Rejects with the signal's reason. */
  secret(question: string, signal: AbortSignal): Promise<string>;
  /** Nothing typed means no. */
  confirm(question: string, signal: AbortSignal): Promise<boolean>;
}
