const LEVELS = ['debug', 'info', 'warn'] as const;

/** Writes messages of a level and above to stderr, so that stdout stays the program's own. */
export function stderrLogger(level: (typeof LEVELS)[number]) {
  const from = LEVELS.indexOf(level);
  const write = (message: string) => console.error(message);
  const at = (own: (typeof LEVELS)[number]) => (LEVELS.indexOf(own) >= from ? write : () => {});
  return { debug: at('debug'), info: at('info'), warn: at('warn') };
}
