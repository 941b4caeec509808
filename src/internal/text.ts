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

/** Without line ends and control characters: what a service wrote must not look like lines of a log, nor move a cursor. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
}
