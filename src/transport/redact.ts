import { isError } from '../internal/realm.ts';

const REDACTED = '[redacted]';

/** A shorter secret belongs to a test: it would be found in words that have nothing to do with it. */
const LEAST_LENGTH = 8;

/** More of a message does not explain more. */
const LONGEST = 1_000;

/**
 * Removes API keys from what others see. A service echoes a key as it is, or as JSON, JavaScript, a URL or HTML write some
 * of its characters; it may also echo one that was rotated away. So each key that was used is known, and each of its
 * characters is found in any of these forms.
 */
export class Redactor {
  readonly #patterns = new Map<string, RegExp>();

  /** Hides this key from now on. */
  hide(key: string): void {
    if (key === '' || this.#patterns.has(key)) return;
    // A function that returns a new key for each call must not fill the memory.
    const [oldest] = this.#patterns.size < MOST_KEYS ? [] : this.#patterns.keys();
    if (oldest !== undefined) this.#patterns.delete(oldest);
    this.#patterns.set(key, new RegExp([...key].map(formsOf).join(''), 'gi'));
  }

  text(text: string): string {
    let left = text;
    for (const [key, pattern] of this.#patterns) left = withoutKey(left, key, pattern);
    return left;
  }

  /** A text that does not come from the service, such as a path or the name of a field, or of which every character counts. */
  ownText(text: string): string {
    let left = text;
    for (const [key, pattern] of this.#patterns) {
      if (key.length >= LEAST_LENGTH) left = withoutKey(left, key, pattern);
    }
    return left;
  }

  /** A copy of a JSON value in which no string, and no name of a member, contains a key. */
  value(value: unknown): unknown {
    return clearStrings(value, (text) => this.text(text));
  }

  /**
   * A copy of what the caller's `fetch` threw: its name, message and code, and those of its cause. The error itself may hold
   * the request, and therefore the key.
   */
  cause(thrown: unknown): unknown {
    return copyOf(thrown, (text) => this.text(text));
  }

  /** What the caller's schema threw. If it quotes a record that echoes a key, it is a copy as {@link cause} makes it. */
  causeOfSchema(thrown: unknown): unknown {
    const texts = typeof thrown === 'string' ? [thrown] : [];
    for (let link = thrown; isError(link) && texts.length < 10; link = link.cause) {
      texts.push(`${link.message}\n${link.stack}`);
    }
    return texts.some((text) => this.text(text) !== text) ? this.cause(thrown) : thrown;
  }
}

/** More keys than a client uses while a response of the first can still arrive. */
const MOST_KEYS = 100;

/** Only these begin a character that is written in another way. */
const ESCAPED = /[\\%&]/;

function withoutKey(text: string, key: string, pattern: RegExp): string {
  // Who unquotes a key that has a backslash takes that away.
  if (!ESCAPED.test(text) && !key.includes('\\')) {
    if (key.length < LEAST_LENGTH) return text.replaceAll(key, REDACTED);
    return text.toLowerCase().includes(key.toLowerCase()) ? text.replace(pattern, REDACTED) : text;
  }
  const left = text.replace(pattern, REDACTED);
  // Forms within forms of another kind cannot be cut out, so such a quotation is dropped whole.
  return key.length >= LEAST_LENGTH && ESCAPED.test(left) && isHiddenIn(left, key) ? REDACTED : left;
}

/** The names of HTML for visible ASCII characters. */
const ENTITIES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ '!': 'excl', '"': 'quot', '#': 'num', $: 'dollar', '%': 'percnt', '&': 'amp', "'": 'apos' },
    ...{ '(': 'lpar', ')': 'rpar', '*': 'ast', '+': 'plus', ',': 'comma', '.': 'period', '/': 'sol' },
    ...{ ':': 'colon', ';': 'semi', '<': 'lt', '=': 'equals', '>': 'gt', '?': 'quest', '@': 'commat' },
    ...{ '[': 'lsqb', '\\': 'bsol', ']': 'rsqb', '^': 'Hat', _: 'lowbar', '`': 'grave', '{': 'lcub' },
    ...{ '|': 'vert', '}': 'rcub' },
  }),
);

/** A character with any backslashes before it, and as JSON, JavaScript, URLs and HTML write it, perhaps more than once. */
function formsOf(char: string): string {
  const code = char.charCodeAt(0);
  const hex = code.toString(16).padStart(2, '0');
  const name = ENTITIES.get(char);
  const entities = [`#0{0,6}${code}`, `#x0{0,6}${hex}`, ...(name === undefined ? [] : [name])];
  const literal = char.replace(/[^\w]/, '\\$&');
  return `(?:${[
    char === '\\' ? '\\\\{0,8}' : `\\\\{0,8}${literal}`,
    `\\\\{1,8}(?:u0{2,6}${hex}|x${hex}|u\\{0{0,4}${hex}\\}|${code.toString(8).padStart(3, '0')})`,
    `%(?:25){0,4}(?:u00)?${hex}`,
    `&(?:amp;){0,4}(?:${entities.join('|')});?`,
  ].join('|')})`;
}

const CHARACTERS: ReadonlyMap<string, string> = new Map(
  [...ENTITIES].map(([char, name]) => [name.toLowerCase(), char]),
);

const FORMS =
  /%(?:u00)?([\da-f]{2})|\\{1,8}(?:u(?:0000)?([\da-f]{4})|x([\da-f]{2})|u\{0{0,6}([\da-f]{1,6})\}|([01][0-7]{2}))|&#x0{0,6}([\da-f]{1,6});?|&#0{0,6}(\d{1,6});?|&([a-z]{2,6});?/gi;

/** A text as its readers may decode it, step by step, without backslashes and case. */
function decodings(text: string): readonly string[] {
  const steps: string[] = [];
  let left = text;
  for (let before = ''; left !== before && steps.length < 6; ) {
    before = left;
    left = left.replace(FORMS, decoded);
    steps.push(left.replaceAll('\\', '').toLowerCase());
  }
  return steps;
}

function decoded(form: string, ...groups: (string | undefined)[]): string {
  const [percent, unicode, byte, point, octal, hex, decimal, name] = groups;
  if (name !== undefined) return CHARACTERS.get(name.toLowerCase()) ?? form;
  const digits = percent ?? unicode ?? byte ?? point ?? hex;
  if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
  const code = digits === undefined ? Number(decimal) : Number.parseInt(digits, 16);
  return code <= 0xffff ? String.fromCharCode(code) : form;
}

/** Whether a key comes to light when a text is decoded. The key may itself contain what looks encoded. */
function isHiddenIn(text: string, key: string): boolean {
  const wanted = [key.replaceAll('\\', '').toLowerCase(), ...decodings(key).slice(-1)];
  return decodings(text).some((step) => wanted.some((form) => step.includes(form)));
}

/** A copy of a JSON value with `clear` applied to its strings and the names of its members. */
function clearStrings(value: unknown, clear: (text: string) => string, depth = 0): unknown {
  if (typeof value === 'string') return clear(value);
  if (typeof value !== 'object' || value === null) return value;
  // Nothing that explains an error lies this deep; the depth of a hostile body must not become our stack.
  if (depth > 20) return REDACTED;
  if (Array.isArray(value)) return value.map((item) => clearStrings(item, clear, depth + 1));

  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [clear(name), clearStrings(item, clear, depth + 1)]),
  );
}

/** The same value if `clear` changes none of its strings, because a copy of every response takes time. */
export function cleared(value: unknown, clear: (text: string) => string): unknown {
  return isChangedBy(value, clear) ? clearStrings(value, clear) : value;
}

/** Whether `clear` changes a string of a JSON value. One that is nested too deep to be written is taken to contain it. */
function isChangedBy(value: unknown, clear: (text: string) => string): boolean {
  try {
    const text = JSON.stringify(value) ?? '';
    return clear(text) !== text;
  } catch {
    return true;
  }
}

/** What may be a key that is not known yet: a function that fails to return the key may quote it. */
const LIKE_A_KEY = /(?=\S*\d)\S{6,}|\S{16,}/g;

/** A copy of what the caller's `apiKey` function threw, without anything that looks like a key. */
export function copyCauseWithoutKeys(thrown: unknown): unknown {
  return copyOf(thrown, (text) => text.replaceAll(LIKE_A_KEY, REDACTED));
}

function copyOf(thrown: unknown, redacted: (text: string) => string, depth = 1): unknown {
  const clear = (text: string) => redacted(text).slice(0, LONGEST);
  if (!isError(thrown)) return typeof thrown === 'string' ? clear(thrown) : undefined;

  const inner = depth < 4 ? copyOf(thrown.cause, redacted, depth + 1) : undefined;
  const copy = new Error(clear(thrown.message), inner === undefined ? undefined : { cause: inner });
  const { code } = thrown as { code?: unknown };
  Object.defineProperty(copy, 'name', { value: clear(thrown.name), configurable: true });
  // The stack begins with the message and may name files of the caller: the copy has none.
  Object.defineProperty(copy, 'stack', { value: `${copy.name}: ${copy.message}`, configurable: true });
  if (typeof code === 'string') Object.assign(copy, { code: clear(code) });
  if (typeof code === 'number') Object.assign(copy, { code });
  return copy;
}
