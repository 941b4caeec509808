import { isError } from './realm.ts';

/** A lone surrogate has no UTF-8 form: encoders throw on it or replace it, so that the text would not survive. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** Whether every character is visible ASCII (`!` to `~`): what a header value carries unchanged everywhere. */
export function isVisibleAscii(text: string): boolean {
  return /^[!-~]+$/.test(text);
}

/** Whether a text has C0 or C1 control characters. */
export function hasControlCharacters(text: string): boolean {
  return /\p{Cc}/u.test(text);
}

/**
 * Without line breaks and control characters, those of the direction of text included: what a service wrote must not
 * look like lines of a log, nor move a cursor, nor show the text around it backwards.
 */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim();
}

/** The marks and spaces at the end of a text. The lookbehind prevents quadratic time for a text of many marks. */
const END = /(?<![.!?:;,\s])[.!?:;,\s]+$/;

/** With one punctuation mark at the end, whatever the author of the text wrote there. */
export function sentence(text: string): string {
  const end = END.exec(text)?.[0] ?? '';
  const mark = /[!?]/.exec(end)?.[0] ?? '.';
  return `${text.slice(0, text.length - end.length)}${mark}`;
}

/** More of a message would make a log line unreadable; the cause itself has the rest. */
const MAX_CAUSE_LENGTH = 300;

/** What was thrown, for a message: such as `TypeError: fetch failed`; empty if it is neither an error nor a string. */
export function causeText(thrown: unknown): string {
  const text = isError(thrown) ? errorText(thrown) : thrown;
  return typeof text === 'string' ? oneLine(text).slice(0, MAX_CAUSE_LENGTH) : '';
}

/** Node gives an error no message if several addresses failed, and undici one of its causes. */
function errorText(error: Error, depth = 0): string {
  const { name, message, cause, errors } = error as Error & { readonly errors?: unknown };
  if (message !== '') return `${name}: ${message}`;
  const inner = [...(Array.isArray(errors) ? (errors as unknown[]) : []), cause].find(isError);
  return inner === undefined || depth > 5 ? name : errorText(inner, depth + 1);
}

/** In quotes, with an escape for each character that is invisible or changes the one before: `"A\u00a0"`. */
export function visible(text: string): string {
  return JSON.stringify(text).replaceAll(
    /(?! )[\p{Z}\p{C}\p{M}\p{Default_Ignorable_Code_Point}]/gu,
    (character) =>
      character.replaceAll(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

/** `1 record`, `70 records`. */
export function recordCount(count: number): string {
  return `${count} ${count === 1 ? 'record' : 'records'}`;
}
