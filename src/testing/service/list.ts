import { parseUtcOffset } from '../../internal/utc-offset.ts';
import type { ServiceResponse } from '../message.ts';
import type { ResolvedSandboxOptions } from '../options.ts';
import type { Selection } from '../store/collection.ts';
import { type IdBound, isNumericId } from '../store/id-order.ts';
import { selects } from '../store/record-selection.ts';
import { atPrecision } from '../store/timestamps.ts';
import { zoneOffsetMs } from '../time-zone.ts';
import { ProblemError } from './problem.ts';
import { listResponse } from './represent.ts';
import type { RoutedRequest, ServiceState } from './state.ts';

/** GET of a collection: one page, without a total count (specification: Limits). */
export function listPage(
  { options }: ServiceState,
  { collection, format, request }: RoutedRequest,
): ServiceResponse {
  const { pageParameter, afterLastPage } = options;
  const query = new URLSearchParams(request.query);
  const pageSize = readPageSize(query, options);
  const page = options.paginated ? readPage(pageParameter, lastValue(query, pageParameter)) : 1;
  const selected = collection.list(readSelection(query, options), page);
  const from = page === 1 ? 0 : (page - 1) * pageSize;
  if (from >= selected.length && page > 1 && afterLastPage === 'not_found') {
    throw new ProblemError('not_found', 'There is no such page.');
  }

  const records = selected
    .slice(from, from + pageSize)
    // After the list was divided into pages: see the option `hiddenRecords`.
    .filter((row) => !selects(options.hiddenRecords, row, collection.segment, options))
    .map(({ record }) => record);
  const response = listResponse(records, { collection: collection.name, format, options });
  return { ...response, note: { records: records.length, ids: records.map(({ id }) => id) } };
}

/** If a parameter is sent twice, the last one counts. */
const lastValue = (query: URLSearchParams, name: string) => query.getAll(name).at(-1);

function readPage(name: string, text = '1'): number {
  const page = Number(text);
  if (/^\d+$/.test(text) && page >= 1 && Number.isSafeInteger(page)) return page;
  throw new ProblemError('malformed_request', `${name} must be a whole number of at least 1.`);
}

/** The most rows in a page. */
function readPageSize(
  query: URLSearchParams,
  { paginated, pageSize, pageSizeParameter }: ResolvedSandboxOptions,
): number {
  if (!paginated) return Number.POSITIVE_INFINITY;
  const wanted = Number((pageSizeParameter && lastValue(query, pageSizeParameter)) || pageSize);
  return Number.isSafeInteger(wanted) && wanted >= 1 ? wanted : pageSize;
}

const OPERATORS = ['gt', 'gte', 'lt', 'lte'] as const;

/** Reads the filters of a list (specification: Query parameters of every List operation). */
function readSelection(query: URLSearchParams, options: ResolvedSandboxOptions): Selection {
  const { betweenSeparator, ids, invalidFilter, textIdBounds, timestamps } = options;
  const isNumeric = ids.form === 'numeric';
  const isId = (text: string) => (isNumeric ? isNumericId(text) : text !== '');
  const boundOf = (name: string) =>
    isNumeric || textIdBounds === 'apply' ? lastValue(query, `id[${name}]`) : undefined;
  const checkFilter = (name: string, isValid: boolean) => {
    if (isValid || invalidFilter === 'ignore') return;
    throw new ProblemError('malformed_request', `The value of ${name} is invalid.`);
  };

  const idBounds: IdBound[] = [];
  for (const operator of OPERATORS) {
    const value = boundOf(operator);
    if (value === undefined) continue;
    checkFilter(`id[${operator}]`, isId(value));
    if (isId(value)) idBounds.push({ operator, value });
  }

  const between = boundOf('between');
  if (between !== undefined) {
    const [low = '', high = '', ...more] = between.split(betweenSeparator);
    const isValid = more.length === 0 && isId(low) && isId(high);
    checkFilter('id[between]', isValid);
    if (isValid) idBounds.push({ operator: 'gte', value: low }, { operator: 'lte', value: high });
  }
  for (const { value } of idBounds) checkColumn(value, options);

  const since = lastValue(query, 'updatedSince');
  const sinceMs = since === undefined ? undefined : readTimestamp(since, options);
  checkFilter('updatedSince', since === undefined || sinceMs !== undefined);
  return { idBounds, modifiedSince: sinceMs === undefined ? undefined : atPrecision(sinceMs, timestamps) };
}

const COLUMN_MAXIMUM = { int4: 2_147_483_647n, int8: 9_223_372_036_854_775_807n } as const;

/** PostgreSQL rejects a bound that its column cannot store, and the service responds with 500. */
function checkColumn(bound: string, { ids, idColumn }: ResolvedSandboxOptions): void {
  if (idColumn === 'unbounded' || ids.form !== 'numeric' || BigInt(bound) <= COLUMN_MAXIMUM[idColumn]) return;
  throw new ProblemError('internal_error', `value "${bound}" is out of range for type ${idColumn}`);
}

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

  const moment =
    zone === undefined
      ? local - zoneOffsetMs(timeZone, local - zoneOffsetMs(timeZone, local))
      : local - (parseUtcOffset(zone) ?? 0) * 60_000;
  return dateFilter === 'utc' ? moment : moment + zoneOffsetMs(timeZone, moment);
}
