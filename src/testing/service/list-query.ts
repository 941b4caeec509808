import { parseUtcOffset, zoneOffsetMs } from '../../internal/utc-offset.ts';
import type { ResolvedSandboxOptions } from '../resolve-options.ts';
import { isNumericId } from '../store/compare-ids.ts';
import type { IdBound } from '../store/id-range.ts';
import { atPrecision } from '../store/timestamps.ts';
import type { Selection } from '../store/views.ts';
import { Refusal } from './problem.ts';

/** A list request, read. */
export interface ListQuery {
  /** From 1. */
  readonly page: number;
  readonly selection: Selection;
}

const OPERATORS = ['gt', 'gte', 'lt', 'lte'] as const;

/** A date, or a date and a time; without an offset it is in the service's own zone. */
const INSTANT = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?(Z|[+-]\d{2}:?\d{2})?$/;

/** What the modification times of records are compared with; undefined for what cannot be read. */
function readInstant(text: string, { timeZone, dateFilter }: ResolvedSandboxOptions): number | undefined {
  const [, date = '', time, zone] = INSTANT.exec(text) ?? [];
  if (time === undefined && zone !== undefined) return undefined;
  const local = Date.parse(`${date}${time ?? 'T00:00'}Z`);
  if (Number.isNaN(local)) return undefined;
  // As Symfony does it: the bound is written in the offset that it came with, and compared as it then reads.
  if (dateFilter === 'local') return local;

  if (zone !== undefined) return local - (parseUtcOffset(zone) ?? 0) * 60_000;
  return local - zoneOffsetMs(timeZone, local - zoneOffsetMs(timeZone, local));
}

function readPage(text: string | null): number {
  if (text === null) return 1;
  const page = Number(text);
  if (/^\d+$/.test(text) && page >= 1 && Number.isSafeInteger(page)) return page;
  throw new Refusal('malformed_request', '_page must be a whole number of at least 1.');
}

const COLUMN_MAXIMUM = { int4: 2_147_483_647n, int8: 9_223_372_036_854_775_807n } as const;

/** PostgreSQL rejects a bound that its column cannot hold, and the service answers 500. */
function checkColumn(bound: string, { ids, idColumn }: ResolvedSandboxOptions): void {
  if (idColumn === 'unbounded' || ids.form !== 'numeric' || BigInt(bound) <= COLUMN_MAXIMUM[idColumn]) return;
  throw new Refusal('internal_error', `value "${bound}" is out of range for type ${idColumn}`);
}

/** Reads the query of a list request (contract: Query parameters of every List operation). */
export function readListQuery(query: string, options: ResolvedSandboxOptions): ListQuery {
  const parameters = new URLSearchParams(query);
  // Of a parameter that is sent twice, the last one counts.
  const value = (name: string) => parameters.getAll(name).at(-1) ?? null;
  const drop = (name: string): undefined => {
    if (options.invalidFilter === 'ignore') return undefined;
    throw new Refusal('malformed_request', `The value of ${name} cannot be read.`);
  };
  const isId = (text: string) => (options.ids.form === 'numeric' ? isNumericId(text) : text !== '');
  const bound = (name: string) =>
    options.ids.form !== 'numeric' && options.textIdBounds === 'ignore' ? null : value(`id[${name}]`);

  const range: IdBound[] = [];
  for (const operator of OPERATORS) {
    const text = bound(operator);
    if (text === null) continue;
    if (isId(text)) range.push({ operator, value: text });
    else drop(`id[${operator}]`);
  }

  const between = bound('between');
  if (between !== null) {
    const [low = '', high = '', ...more] = between.split(options.betweenSeparator);
    if (more.length === 0 && isId(low) && isId(high)) {
      range.push({ operator: 'gte', value: low }, { operator: 'lte', value: high });
    } else drop('id[between]');
  }
  for (const bound of range) checkColumn(bound.value, options);

  const since = value('updatedSince');
  const instant = since === null ? undefined : (readInstant(since, options) ?? drop('updatedSince'));
  const modifiedSince = instant === undefined ? undefined : atPrecision(instant, options.timestamps);
  return { page: readPage(value('_page')), selection: { range, modifiedSince } };
}
