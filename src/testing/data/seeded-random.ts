/** A 32-bit hash of two numbers: the same pair gives the same number, neighbours give unrelated ones. */
export function mix(seed: number, value: number): number {
  let hash = (seed ^ Math.imul(value + 0x9e3779b9, 0x85ebca6b)) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x21f0aaad);
  hash = Math.imul(hash ^ (hash >>> 15), 0x735a2d97);
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** A 32-bit hash of a string (FNV-1a), to turn names into seeds. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/**
 * Random numbers from a seed: the same seed gives the same numbers on every machine. The algorithm is mulberry32, which
 * is small, fast and good enough for test data.
 */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number in [low, high]. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /** True with the probability given. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of a list that is not empty. */
  pick<const T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)] as T;
  }

  /** A number of decimal digits, at most 15; the first is not 0. */
  digits(count: number): string {
    const low = 10 ** (count - 1);
    return String(this.between(low, low * 10 - 1));
  }

  /** An amount of whole cents, as a decimal string with four digits. */
  money(lowCents: number, highCents: number): string {
    return cents(this.between(lowCents, highCents));
  }

  /** A date between two years' first days, `2024-05-31`. */
  date(fromYear: number, toYear: number): string {
    const day = this.between(Date.UTC(fromYear, 0, 1) / 86_400_000, Date.UTC(toYear, 0, 1) / 86_400_000 - 1);
    return new Date(day * 86_400_000).toISOString().slice(0, 10);
  }
}

/** Cents as a decimal string with four digits. Works on the digits: a binary fraction would be inexact. */
export function cents(value: number): string {
  const digits = String(Math.abs(value)).padStart(3, '0');
  return `${value < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}00`;
}
