// How a service may store a natural key: without invisible characters, with other white space, in NFC, in another case.

import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { visible } from '../internal/text.ts';
import type { Outcome } from './results.ts';

/** Control and format characters, and others that are not shown. Tabs and line breaks are white space. */
const INVISIBLE = /(?!\s)[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]|\ufeff/gu;

/** What a service may change in a key, in the order in which a message names it. */
const FORMS: readonly (readonly [what: string, form: (key: string) => string])[] = [
  ['invisible characters', (key) => key.replaceAll(INVISIBLE, '')],
  ['white space', (key) => key.replaceAll(/\s+/g, ' ').trim()],
  ['Unicode form', (key) => key.normalize('NFC')],
  // In capitals, `ß` is `SS`, and `ẞ` in small letters `ß`.
  ['case', (key) => key.toLowerCase().toUpperCase().toLowerCase()],
];

/** The same for every key that a service may store as the same. */
export function folded(key: string): string {
  return FORMS.reduce((form, [, fold]) => fold(form), key);
}

/** What the error about two spellings of a key says. */
export function spellings(key: string, other: string): string {
  const difference = FORMS.find(([, fold]) => fold(key) === fold(other));
  const what = difference?.[0] ?? 'invisible characters, white space, Unicode form or case';
  return `${visible(key)} and ${visible(other)} differ only in ${what}`;
}

/** So many creates in a row whose key came back changed, and no more are sent. */
const MAX_CHANGED = 3;

/** The keys that came back from a create in another form than they were sent: the next push would not find the product. */
export class ChangedKeys {
  /** As they were stored, by the form of the key that was sent and of the one that was stored. */
  readonly #stored = new Map<string, string>();
  /** Since the last key that came back unchanged. */
  #count = 0;
  #last = '';

  /** Takes the key of a new product. Returns how it was changed; undefined if it was not. */
  add(sent: string, stored: string): string | undefined {
    if (stored === sent) {
      this.#count = 0;
      return undefined;
    }
    this.#stored.set(folded(stored), stored);
    this.#count += 1;
    this.#last = `${visible(sent)} became ${visible(stored)}`;
    return this.#last;
  }

  /** The result of a row that is not sent: a product of this run may be the one, or the service changes every key. */
  check(key: string): Outcome | undefined {
    const stored = this.#stored.get(folded(key));
    if (stored !== undefined) {
      const why = stored === key ? `the service stored its key as ${visible(key)}` : spellings(key, stored);
      const reason = `an earlier row may mean the same product: ${why}`;
      return { action: 'conflict', reason };
    }
    if (this.#count < MAX_CHANGED) return undefined;
    const what = `must return the key in the form of the service, which changes each one (${this.#last}). No more products are created`;
    return { action: 'failed', error: new InvalidInputError('key', what) };
  }
}
