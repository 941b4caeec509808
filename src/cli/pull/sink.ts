/** Where the lines of a pull go. What was committed stays; what was only added may be lost with the process. */
export interface Sink {
  /** The length of what was committed, in bytes. */
  readonly bytes: number;
  /** Takes the lines of a page. */
  add(lines: string): void;
  /** Whether enough has been added to be worth a commit. */
  readonly isDue: boolean;
  /** Resolves when everything that was added is where it belongs. */
  commit(): Promise<void>;
  /** Takes back everything since the beginning; false where what is written cannot be taken back. */
  restart(): Promise<boolean>;
  /** Everything is here: puts it in its place. */
  finish(): Promise<void>;
  /** The pull failed and cannot be resumed: takes away what cannot be used. */
  discard(): Promise<void>;
  close(): Promise<void>;
}

/** A commit costs an fsync or two, and what lies between two is read again after a crash. */
const DUE_AFTER_MS = 500;
const DUE_CHARACTERS = 2 ** 20;

/** Lines that wait for the next commit. */
export class Pending {
  #lines: string[] = [];
  #length = 0;
  #since = Date.now();

  add(lines: string): void {
    this.#lines.push(lines);
    this.#length += lines.length;
  }

  get isDue(): boolean {
    return this.#length >= DUE_CHARACTERS || Date.now() - this.#since >= DUE_AFTER_MS;
  }

  /** Everything that waits. */
  take(): string {
    const text = this.#lines.join('');
    this.#lines = [];
    this.#length = 0;
    this.#since = Date.now();
    return text;
  }
}
