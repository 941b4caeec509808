import { redactOwnText } from '../transport/redact.ts';
import type { Io } from './io.ts';

/**
 * The same world, whose log never shows a key: an argument that is quoted may be the key of the environment, given in
 * the wrong place. What goes to `out` stays as it is: records are data.
 */
export function withoutKey(io: Io): Io {
  const keys = new Set([io.env.ACCOUNTING_API_KEY ?? '']);
  return {
    ...io,
    hide: (key) => void keys.add(key ?? ''),
    log: (line) => io.log([...keys].reduce(redactOwnText, line)),
  };
}

/**
 * What the parser says of an option that it does not know, without what was given with it: it may be a key behind a
 * misspelt flag. The name alone is enough to see what is wrong.
 */
export function withoutGiven(text: string): string {
  return text.replaceAll(/(unknown option ')(--[^='\n]*|-[^-\n])[^\n]*/g, "$1$2'");
}
