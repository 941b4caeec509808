/** What the driver of a database threw, as far as these targets read it. */
export interface DriverError {
  /** A SQLSTATE, or the code of a socket, a file or a driver. */
  readonly code?: string | undefined;
  /** A code of SQLite. */
  readonly errcode?: number | undefined;
  /** Of a file that could not be opened. */
  readonly path?: unknown;
  /** The error itself. */
  readonly error: unknown;
}

/** How many errors are opened to find the driver's own. */
const MAX_DEPTH = 5;

/**
 * The error of the driver itself. Query builders throw one of their own around it, whose message may hold the whole
 * statement with its values: Drizzle as its cause, Sequelize as `original`, TypeORM as `driverError`, Prisma as `meta`.
 */
export function driverError(thrown: unknown): DriverError {
  const all = [...layersOf(thrown)];
  return (
    all.find(({ code, errcode }) => errcode !== undefined || isSqlState(code)) ??
    all.find(({ code }) => code !== undefined) ?? { error: thrown }
  );
}

/** The SQLSTATE of a statement that failed. */
export function sqlStateOf(thrown: unknown): string | undefined {
  const { code } = driverError(thrown);
  return isSqlState(code) ? code : undefined;
}

function* layersOf(thrown: unknown): Generator<DriverError> {
  let error = thrown;
  for (let depth = 0; depth < MAX_DEPTH && typeof error === 'object' && error !== null; depth++) {
    const { code, errno, errcode, path, cause, original, driverError, meta } = error as Record<
      string,
      unknown
    >;
    // Bun has a code of its own beside it.
    const named = isSqlState(errno) ? errno : code;
    yield {
      code: typeof named === 'string' ? named : undefined,
      errcode: typeof errcode === 'number' ? errcode : sqliteCode(code),
      path,
      error,
    };
    error = cause ?? original ?? driverError ?? meta;
  }
}

/** The primary code of SQLite that other drivers than `node:sqlite` name: `SQLITE_BUSY`, `SQLITE_BUSY_SNAPSHOT`. */
function sqliteCode(code: unknown): number | undefined {
  const [, name] = /^SQLITE_([A-Z]+)/.exec(typeof code === 'string' ? code : '') ?? [];
  return name === undefined ? undefined : (SQLITE_NAMES[name] ?? OTHER_SQLITE_ERROR);
}

/** The codes after which a statement is repeated, or a later run may succeed: see `failures.ts`. */
const SQLITE_NAMES: Readonly<Record<string, number>> = {
  BUSY: 5,
  LOCKED: 6,
  NOMEM: 7,
  INTERRUPT: 9,
  IOERR: 10,
  FULL: 13,
  CANTOPEN: 14,
  PROTOCOL: 15,
  SCHEMA: 17,
};
const OTHER_SQLITE_ERROR = 1;

/** Each has a digit, which no code of a socket such as `EPIPE` has. `P1001` to `P6…` are codes of Prisma. */
function isSqlState(code: unknown): code is string {
  return typeof code === 'string' && /^(?=.*\d)(?!P[1-9])[0-9A-Z]{5}$/.test(code);
}
