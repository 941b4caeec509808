import { oneLine } from './text.ts';

export const LEVELS = ['debug', 'info', 'warn'] as const;

/** Writes messages of a level and above to stderr, so that stdout stays the program's own. */
export function stderrLogger(level: (typeof LEVELS)[number]) {
  const from = LEVELS.indexOf(level);
  const write = (message: string) => console.error(message);
  const at = (own: (typeof LEVELS)[number]) => (LEVELS.indexOf(own) >= from ? write : () => {});
  return { debug: at('debug'), info: at('info'), warn: at('warn') };
}

/** What a log line says, by name. */
type LogFields = Readonly<Record<string, unknown>>;

type Level = (typeof LEVELS)[number];
type LogMethod = (first: unknown, second?: unknown) => unknown;

/** Writes a line in the form that a logger expects: pino takes the fields first, winston last, others text alone. */
export function logWriter(logger: object): (level: Level, message: string, fields: LogFields) => unknown {
  // By name with each line: the methods of a logger need their `this`, and pino replaces them when its level changes.
  const methods = logger as Readonly<Record<Level, LogMethod>>;
  if (isPino(logger)) return (level, message, fields) => methods[level](fields, oneLine(message));
  if (isWinston(logger)) return (level, message, fields) => methods[level](oneLine(message), { ...fields });
  return (level, message) => methods[level](oneLine(message));
}

/** pino and its children, such as the `request.log` of Fastify. */
function isPino(logger: object): boolean {
  return 'bindings' in logger && typeof logger.bindings === 'function';
}

function isWinston(logger: object): boolean {
  return 'transports' in logger && 'configure' in logger && typeof logger.configure === 'function';
}
