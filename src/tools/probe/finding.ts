/**
 * One thing learned of the service, with what it rests on. What cannot be told from outside is `unknown`: nothing
 * here is ever guessed.
 */
export interface Finding<T> {
  readonly value: T | 'unknown';
  /** What was asked and seen, or why it cannot be told; a sentence without its full stop. */
  readonly because: string;
}

export function known<T>(value: T, because: string): Finding<T> {
  return { value, because };
}

export function unknown(because: string): Finding<never> {
  return { value: 'unknown', because };
}
