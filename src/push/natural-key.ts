// How a service may store a natural key: without white space around it, in NFC, in another case.

/** A key without what services drop without an error. */
export function trimmed(key: string): string {
  return key.normalize('NFC').trim();
}

/** The same for every key that a service may store as the same. */
export function folded(key: string): string {
  return trimmed(key).toLowerCase();
}

/** What the error about two spellings of a key says. */
export function spellings(key: string, other: string): string {
  return `${JSON.stringify(key)} and ${JSON.stringify(other)} differ only in white space, case or Unicode form: normalise them in key`;
}
