import { parseUtcOffset, zoneOffsetMs } from '../../internal/utc-offset.ts';
import type { ResolvedSandboxOptions } from '../options.ts';
import type { Selection } from '../store/collection.ts';
import { type IdBound, isNumericId } from '../store/id-order.ts';
import { atPrecision } from '../store/timestamps.ts';
import { ProblemError } from './problem.ts';

/** The query of a list request. */
export interface ListQuery {
  /** From 1. */
  readonly page: number;
  readonly selection: Selection;
}

const OPERATORS = ['gt', 'gte', 'lt', 'lte'] as const;

/** A date, or a date and a time; without an offset it is in the service's own time zone. */
const TIMESTAMP = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?(Z|[+-]\d{2}:?\d{2})?$/;

/** What the modification times of records are compared with; undefined if the value is invalid. */
function readTimestamp(text: string, { timeZone, dateFilter }: ResolvedSandboxOptions): number | undefined {
  const [, date = '', time, zone] = TIMESTAMP.exec(text) ?? [];
  if (time === undefined && zone !== undefined) return undefined;
  const local = Date.parse(`${date}${time ?? 'T00:00'}Z`);
  if (Number.isNaN(local)) return undefined;
  // Like Symfony, which formats the bound in its own offset and compares that local time.
  if (dateFilter === 'local') return local;

  if (zone !== undefined) return local - (parseUtcOffset(zone) ?? 0) * 60_000;
  return local - zoneOffsetMs(timeZone, local - zoneOffsetMs(timeZone, local));
}

function readPage(text: string | null): number {
  if (text === null) return 1;
  const page = Number(text);
  if (/^\d+$/.test(text) && page >= 1 && Number.isSafeInteger(page)) return page;
  throw new ProblemError('malformed_request', '_page must be a whole number of at least 1.');
}

const COLUMN_MAXIMUM = { int4: 2_147_483_647n, int8: 9_223_372_036_854_775_807n } as const;

/** PostgreSQL rejects a bound that its column cannot store, and the service responds with 500. */
function checkColumn(bound: string, { ids, idColumn }: ResolvedSandboxOptions): void {
  if (idColumn === 'unbounded' || ids.form !== 'numeric' || BigInt(bound) <= COLUMN_MAXIMUM[idColumn]) return;
  throw new ProblemError('internal_error', `value "${bound}" is out of range for type ${idColumn}`);
}

/** Reads the query of a list request (specification: Query parameters of every List operation). */
export function readListQuery(query: string, options: ResolvedSandboxOptions): ListQuery {
  const parameters = new URLSearchParams(query);
  // If a parameter is sent twice, the last one counts.
  const lastValue = (name: string) => parameters.getAll(name).at(-1) ?? null;
  const invalid = (name: string): undefined => {
    if (options.invalidFilter === 'ignore') return undefined;
    throw new ProblemError('malformed_request', `The value of ${name} is invalid.`);
  };
  const isId = (text: string) => (options.ids.form === 'numeric' ? isNumericId(text) : text !== '');
  const boundOf = (name: string) =>
    options.ids.form !== 'numeric' && options.textIdBounds === 'ignore' ? null : lastValue(`id[${name}]`);

  const idBounds: IdBound[] = [];
  for (const operator of OPERATORS) {
    const text = boundOf(operator);
    if (text === null) continue;
    if (isId(text)) idBounds.push({ operator, value: text });
    else invalid(`id[${operator}]`);
  }

  const between = boundOf('between');
  if (between !== null) {
    const [low = '', high = '', ...more] = between.split(options.betweenSeparator);
    if (more.length === 0 && isId(low) && isId(high)) {
      idBounds.push({ operator: 'gte', value: low }, { operator: 'lte', value: high });
    } else invalid('id[between]');
  }
  for (const { value } of idBounds) checkColumn(value, options);

  const since = lastValue('updatedSince');
  const sinceMs = since === null ? undefined : (readTimestamp(since, options) ?? invalid('updatedSince'));
  const modifiedSince = sinceMs === undefined ? undefined : atPrecision(sinceMs, options.timestamps);
  return { page: readPage(lastValue('_page')), selection: { idBounds, modifiedSince } };
}
