import { parseUtcOffset } from '../../internal/utc-offset.ts';
import { API_PATH } from '../../schemas/service-forms.ts';
import type { ServiceResponse } from '../message.ts';
import type { CollectionOptions } from '../options.ts';
import { type Collection, comesAfter, type Place, placeIn, type Selection } from '../store/collection.ts';
import { type IdBound, isNumericId } from '../store/id-order.ts';
import { selects } from '../store/record-selection.ts';
import type { Row } from '../store/row.ts';
import { atPrecision } from '../store/timestamps.ts';
import { zoneOffsetMs } from '../time-zone.ts';
import { ProblemError } from './problem.ts';
import { listResponse, type PageLinks } from './represent.ts';
import type { RoutedRequest } from './state.ts';

/** GET of a collection: one page, without a total count (specification: Limits). */
export function listPage({ collection, format, request }: RoutedRequest): ServiceResponse {
  const { options } = collection;
  const query = new URLSearchParams(request.query);
  const pageSize = readPageSize(query, options);
  const isNumbered = options.paginated === true && options.cursor === undefined;
  const page = isNumbered ? readPage(query, options) : 1;
  const selected = collection.list(readSelection(query, options), page);
  const first = page === 1 ? 0 : (page - 1) * pageSize;
  const from = options.cursor === undefined ? first : readCursor(query, selected, options);
  if (from >= selected.length && page > 1 && options.afterLastPage === 'not_found') {
    throw new ProblemError('not_found', 'There is no such page.');
  }

  const rows = selected.slice(from, from + pageSize);
  const records = rows
    // After the list was divided into pages: see the option `hiddenRecords`.
    .filter((row) => !selects(options.hiddenRecords, row, collection.segment, options))
    .map(({ record }) => record);
  const isLast = from + pageSize >= selected.length;
  const last = isLast ? undefined : rows.at(-1);
  const rest = {
    links: options.paginated === 'first' ? undefined : linksOf(collection, query, { page, last }),
    isWhole: options.paginated === false,
  };
  const response = listResponse(records, { collection: collection.name, format, options }, rest);
  return { ...response, note: { records: records.length, ids: records.map(({ id }) => id) } };
}

/** The other pages of a list, by the parameters of the request. `last` is the last row of a page that others follow. */
function linksOf(
  { options, segment }: Collection,
  query: URLSearchParams,
  { page, last }: { readonly page: number; readonly last: Row | undefined },
): PageLinks {
  const { cursor, pageParameter, order } = options;
  const to = (name: string, value: string | undefined): string => {
    const parameters = new URLSearchParams(query);
    parameters.delete(pageParameter);
    parameters.delete(name);
    if (value !== undefined) parameters.set(name, value);
    const text = String(parameters);
    return `${API_PATH}/${segment}${text === '' ? '' : `?${text}`}`;
  };
  if (cursor !== undefined) {
    const next = last && to(CURSOR, writeCursor(placeIn(last, order)));
    return {
      self: `${API_PATH}/${segment}?${query}`,
      first: to(CURSOR, undefined),
      next,
      previous: undefined,
    };
  }
  const toPage = (number: number) => to(pageParameter, String(number));
  return {
    self: toPage(page),
    first: toPage(1),
    next: last && toPage(page + 1),
    previous: page > 1 ? toPage(page - 1) : undefined,
  };
}

/** The parameter with the place after which a page begins: see the option `cursor`. */
const CURSOR = 'cursor';

/** Clients must not read it, as that of a real service. */
function writeCursor(place: Place): string {
  return btoa(encodeURIComponent(JSON.stringify(place)));
}

/** How many rows of a list are before the page of a cursor. */
function readCursor(query: URLSearchParams, rows: readonly Row[], { order }: CollectionOptions): number {
  const text = lastValue(query, CURSOR);
  if (text === undefined) return 0;
  const after = parseCursor(text);
  const first = rows.findIndex((row) => comesAfter(placeIn(row, order), after, order));
  return first === -1 ? rows.length : first;
}

function parseCursor(text: string): Place {
  try {
    const [key, id] = JSON.parse(decodeURIComponent(atob(text)));
    if (typeof key === 'number' && typeof id === 'string') return [key, id];
  } catch {
    // Not issued by this service.
  }
  throw new ProblemError('malformed_request', `${CURSOR} is invalid.`);
}

/** If a parameter is sent twice, the last one counts. */
const lastValue = (query: URLSearchParams, name: string) => query.getAll(name).at(-1);

function readPage(query: URLSearchParams, { pageParameter: name }: CollectionOptions): number {
  const text = lastValue(query, name) ?? '1';
  const page = Number(text);
  if (/^\d+$/.test(text) && page >= 1 && Number.isSafeInteger(page)) return page;
  throw new ProblemError('malformed_request', `${name} must be a whole number of at least 1.`);
}

/** The most rows in a page. */
function readPageSize(
  query: URLSearchParams,
  { paginated, pageSize, pageSizeParameter }: CollectionOptions,
): number {
  if (!paginated) return Number.POSITIVE_INFINITY;
  const wanted = Number((pageSizeParameter && lastValue(query, pageSizeParameter)) || pageSize);
  return Number.isSafeInteger(wanted) && wanted >= 1 ? wanted : pageSize;
}

const OPERATORS = ['gt', 'gte', 'lt', 'lte'] as const;

/** Reads the filters of a list (specification: Query parameters of every List operation). */
function readSelection(query: URLSearchParams, options: CollectionOptions): Selection {
  const { betweenSeparator, ids, filters, invalidFilter, textIdBounds, timestamps } = options;
  const isNumeric = ids.form === 'numeric';
  const isId = (text: string) => (isNumeric ? isNumericId(text) : text !== '');
  const appliesBounds = filters.id !== 'ignore' && (isNumeric || textIdBounds === 'apply');
  const sentValue = (name: string, how: keyof typeof filters) => {
    const value = lastValue(query, name);
    if (value === undefined || filters[how] !== 'reject') return value;
    throw new ProblemError('malformed_request', `${name} is not a parameter.`);
  };
  const boundOf = (operator: string) => {
    const value = sentValue(`id[${operator}]`, 'id');
    return appliesBounds ? value : undefined;
  };
  const checkFilter = (name: string, isValid: boolean) => {
    if (isValid || invalidFilter === 'ignore') return;
    throw new ProblemError('malformed_request', `The value of ${name} is invalid.`);
  };

  const idBounds: IdBound[] = [];
  for (const operator of OPERATORS) {
    const value = boundOf(operator);
    if (value === undefined) continue;
    checkFilter(`id[${operator}]`, isId(value));
    const isLeftOut = filters.id === 'single' && idBounds.length > 0;
    if (isId(value) && !isLeftOut) idBounds.push({ operator, value });
  }

  const between = boundOf('between');
  if (between !== undefined) {
    const [low = '', high = '', ...more] = between.split(betweenSeparator);
    const isValid = more.length === 0 && isId(low) && isId(high);
    checkFilter('id[between]', isValid);
    if (isValid) idBounds.push({ operator: 'gte', value: low }, { operator: 'lte', value: high });
  }
  for (const { value } of idBounds) checkColumn(value, options);

  const sent = sentValue('updatedSince', 'updatedSince');
  const since = filters.updatedSince === 'ignore' ? undefined : sent;
  const sinceMs = since === undefined ? undefined : readTimestamp(since, options);
  checkFilter('updatedSince', since === undefined || sinceMs !== undefined);
  return { idBounds, modifiedSince: sinceMs === undefined ? undefined : atPrecision(sinceMs, timestamps) };
}

const COLUMN_MAXIMUM = { int4: 2_147_483_647n, int8: 9_223_372_036_854_775_807n } as const;

/** PostgreSQL rejects a bound that its column cannot store, and the service responds with 500. */
function checkColumn(bound: string, { ids, idColumn }: CollectionOptions): void {
  if (idColumn === 'unbounded' || ids.form !== 'numeric' || BigInt(bound) <= COLUMN_MAXIMUM[idColumn]) return;
  throw new ProblemError('internal_error', `value "${bound}" is out of range for type ${idColumn}`);
}

/** A date, or a date and a time; without an offset it is in the service's own time zone. */
const TIMESTAMP = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?(Z|[+-]\d{2}:?\d{2})?$/;

/** What the modification times of records are compared with; undefined if the value is invalid. */
function readTimestamp(text: string, { timeZone, dateFilter }: CollectionOptions): number | undefined {
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
