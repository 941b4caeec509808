import { integerId } from './id-bounds.ts';
import type { Key } from './id-interval.ts';
import type { PageResponse } from './page.ts';

/** The rows of one answer, as far as the certified walk looks at them. */
export interface AnswerKeys {
  /** All rows, also those without a readable id: they fill the page too. */
  readonly rows: number;
  /** The ids of all rows in ascending order of the walk, each once. */
  readonly keys: readonly Key[];
  /** How far from its place in that order the service sent a record, at most; 0 where it sent them in order. */
  readonly displaced: number;
}

/** The integer ids of an answer's records and then of its invalid rows; undefined where an id is no integer. */
export function integerIds(answer: PageResponse<unknown>): readonly bigint[] | undefined {
  const ids: bigint[] = [];
  for (const text of answer.ids) {
    const id = integerId(text);
    if (id === undefined) return undefined;
    ids.push(id);
  }
  for (const row of answer.invalid) {
    // A row that has no id at all says nothing of the others.
    if (row.id === undefined) continue;
    const id = integerId(row.id);
    if (id === undefined) return undefined;
    ids.push(id);
  }
  return ids;
}

/** Whether most steps from one record to the next go down. */
export function goesDown(ids: readonly bigint[], records: number): boolean {
  let balance = 0;
  for (let index = 1; index < records; index++) {
    const [last, id] = [ids[index - 1] ?? 0n, ids[index] ?? 0n];
    if (id !== last) balance += id > last ? 1 : -1;
  }
  return balance < 0;
}

/** The view of an answer whose ids are `ids`, the first of them those of its valid records in the order sent. */
export function answerKeys(answer: PageResponse<unknown>, ids: readonly Key[]): AnswerKeys {
  const rows = answer.ids.length + answer.invalid.length;
  // Where a row that did not fit stood among the others is not known, so it does not count for the order.
  const sent = ids.slice(0, answer.ids.length);
  if (isAscending(sent) && answer.invalid.length === 0) return { rows, keys: ids, displaced: 0 };
  return { rows, keys: ascending(ids), displaced: displacement(sent) };
}

function isAscending(keys: readonly Key[]): boolean {
  return keys.every((key, index) => index === 0 || key > (keys[index - 1] ?? key));
}

function ascending(keys: readonly Key[]): readonly Key[] {
  return [...new Set(keys)].sort((a, b) => (a < b ? -1 : 1));
}

function displacement(sent: readonly Key[]): number {
  const places = new Map(ascending(sent).map((key, place) => [key, place]));
  return sent.reduce((most, key, index) => Math.max(most, Math.abs(index - (places.get(key) ?? index))), 0);
}
