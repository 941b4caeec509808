import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { randomUuid } from '../internal/random-uuid.ts';
import { isVisibleAscii, isWellFormed } from '../internal/text.ts';

const MAX_LENGTH = 200;

/** A fresh key for one intended create: a random UUID. */
export function newIdempotencyKey(): string {
  return randomUuid();
}

/**
 * A readable key made of what identifies the intended create, such as `idempotencyKeyFor('order', 1042, 'line', 3)`:
 * the same parts give the same key, other parts another one. A key belongs to one intended create: after a confirmed
 * delete, or with another draft, it needs a further part.
 *
 * @throws InvalidInputError for no parts, an empty part, and for more than 200 characters in all: a key that was cut
 * off could be that of another create.
 */
export function idempotencyKeyFor(...parts: readonly (string | number | bigint)[]): string {
  if (parts.length === 0) throw new InvalidInputError('parts', 'must not be empty');

  const key = parts.map(keyPart).join(':');
  if (key.length > MAX_LENGTH) {
    throw new InvalidInputError(
      'parts',
      `make a key of ${key.length} characters, more than ${MAX_LENGTH}: pass ids, not long strings`,
    );
  }
  return key;
}

function keyPart(part: unknown): string {
  const known = typeof part === 'string' || typeof part === 'bigint' || Number.isFinite(part);
  // Only then: an object from JavaScript may have no text to become.
  const text = known ? String(part) : '';
  if (text === '' || !isWellFormed(text)) {
    throw new InvalidInputError('parts', 'must be strings or finite numbers, none of them empty');
  }
  // Percent-encoding keeps different parts different, even if one contains the separator.
  return encodeURIComponent(text);
}

/** A key of the caller's own, checked before `Headers` sees it. */
export function checkIdempotencyKey(key: unknown): string {
  if (typeof key !== 'string' || key.length > MAX_LENGTH || !isVisibleAscii(key)) {
    throw new InvalidInputError('idempotencyKey', `must be 1 to ${MAX_LENGTH} visible ASCII characters`);
  }
  return key;
}
