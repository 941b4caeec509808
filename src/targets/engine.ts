import type { Written } from '../sync/target.ts';
import type { Fields } from './columns.ts';
import type { Statements, Turn } from './sql.ts';

/** A database, as far as the two differ. */
export interface Engine {
  readonly sql: Statements;
  /** Names the tables in messages. */
  readonly owner: string;
  /** Names them in the definitions of views. */
  readonly marked: string;
  /** The longest text that an index takes, in bytes. */
  readonly maxIndexedBytes: number;
  /** What to do about an object of the user under the name of a view. */
  readonly nameAdvice: string;
  /** What the name of a view begins with. */
  readonly viewPrefix: string;
  /** Of what has one of these names: name, kind and definition. The definition of a view of ours contains its mark. */
  readonly objectsNamed: string;
  /** Sends one statement. */
  query(sql: string, values?: readonly string[]): Promise<readonly unknown[]>;
  /** Runs statements in one transaction. */
  script(statements: readonly string[]): Promise<void>;
  /** Indexes the text of fields of records. `failure`: why an index is missing. */
  index(fields: Fields): Promise<{ readonly indexed: ReadonlySet<string>; readonly failure?: unknown }>;
  /** The fields as a view can show them: in PostgreSQL a column keeps its type, and is text if it was. */
  shownFields(view: string, fields: Fields): Promise<Fields>;
  /** Creates a view of a SELECT that ends with a condition, or replaces that of this name. Its definition contains `mark`. */
  replaceView(view: string, select: string, mark: string): Promise<void>;
  /** Whether what a view or an index needs fails for now, so that records are written without it. */
  isPostponed(error: unknown): boolean;
  /** What to do about a view that cannot be replaced, or an index that cannot be created. */
  advice(view: string | undefined, error: unknown): Promise<string>;
  /** Writes all or nothing; undefined if another run has written, or the copy is another one. */
  write(write: Write): Promise<Omit<Written, 'unchanged'> | undefined>;
  close(): void;
}

/** What one transaction writes. */
export interface Write {
  readonly tenant: string;
  readonly collection: string;
  readonly rows: readonly Row[];
  /** Keys and values. */
  readonly checkpoints: readonly (readonly [key: string, value: string])[];
  readonly turn: Turn;
  /** Which copy of the tenant the run has opened: see `isCopy` in `sql.ts`. */
  readonly copy: string;
  /** The full read that marks the rows. */
  readonly read: number | undefined;
}

/** A record as the table has it. No two of a transaction have the same id. */
export interface Row {
  readonly id: string;
  /** As JSON. */
  readonly body: string;
  readonly invalid: boolean;
}
