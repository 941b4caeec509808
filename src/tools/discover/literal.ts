/** A text as a TypeScript literal. Names come from the service: nothing in them may end the literal or the line. */
export function literal(text: string): string {
  const quoted = JSON.stringify(text).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
  // As a formatter would have it: single quotes, unless they would have to be escaped and double ones not.
  if (text.includes("'") && !text.includes('"')) return quoted;
  return `'${quoted.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/** A name as the key of an object literal: bare where it can be. */
export function key(name: string): string {
  return /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(name) ? name : literal(name);
}

/** A text for a comment: it can neither end the comment nor begin a line. */
export function forComment(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replaceAll('*/', '* /')
    .trim();
}
