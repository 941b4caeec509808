import { InvalidArgumentError } from 'commander';
import { isRow, type Row } from '../tools/rows.ts';

/** A JSON object as an option's value. */
export function jsonObject(text: string): Row {
  try {
    const value: unknown = JSON.parse(text);
    if (isRow(value)) return value;
  } catch {
    // Said below, in words that are not the parser's.
  }
  throw new InvalidArgumentError(`Give a JSON object such as '{"name":"Desk"}'.`);
}
