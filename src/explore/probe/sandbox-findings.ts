import type { ListOrder } from '../../schemas/service-forms.ts';
import type { IdForm } from '../ids.ts';
import { explanationOf, known } from './finding.ts';
import {
  byCollection,
  type Findings,
  firstKnown,
  followed,
  holdsAnywhere,
  NOTHING,
  type Readable,
} from './followed.ts';
import { PAGE_SIZE_PARAMETER } from './page-size.ts';
import { continuation, paginationLines, unresolved, wayOf } from './pagination.ts';
import type { CollectionDetails, Finding } from './report.ts';

/** What is known of the options of the sandbox, by their paths. */
type Options = Record<string, Finding<unknown>>;

/** The options with which a sandbox behaves as the service does. */
export function sandboxFindings(
  readable: readonly Readable[],
  { problems, quota, writes }: Findings,
): Options {
  const first = <T>(read: (details: CollectionDetails) => Finding<T>) => firstKnown(readable, read);
  const anywhere = <T>(read: (details: CollectionDetails) => Finding<T>, holds: (value: T) => boolean) =>
    holdsAnywhere(readable, read, holds);
  const choice =
    <T>(yes: T, no: T) =>
    (value: boolean) =>
      value ? yes : no;
  const textIds = readable.filter(({ details }) => ['uuid', 'ulid'].includes(details.idForm.value ?? ''));
  const others = readable.filter(({ collection, details }) => collection !== 'products' && details.rows > 0);
  const hides = anywhere(({ shortPages }) => shortPages, Boolean);
  const list = readable[0]?.details;
  return {
    // If the service hides records, the first page of a short collection may look full.
    pageSize: hides.value === true ? NOTHING : first(({ pageSize }) => pageSize),
    ...ordersOfEach(readable),
    pageParameter: first(({ pageParameter }) => pageParameter),
    pageSizeParameter: followed(pageSizeParameterOf(readable), (verdict) =>
      verdict === 'honoured' ? PAGE_SIZE_PARAMETER : verdict === 'ignored' ? '' : undefined,
    ),
    ...ofEach<boolean | 'first'>(readable, 'paginated', paginatedOf(readable), true),
    ...linksOf(readable),
    'newRecords.listedAfterMs': followed(writes.listedAfterMs, wholeSeconds),
    'newRecords.foundAfterMs': followed(writes.foundAfterMs, wholeSeconds),
    afterLastPage: afterLastPageOf(readable),
    ...idsOfEach(readable),
    ...ofEach(readable, 'filters.id', ({ details }) => idFilterOf(details), 'apply'),
    ...ofEach(readable, 'filters.updatedSince', ({ details }) => sinceFilterOf(details), 'apply'),
    idColumn: followed(
      first(({ id }) => id.large),
      (verdict) => (verdict === 'server_error' ? 'int4' : verdict === 'honoured' ? 'unbounded' : undefined),
    ),
    textIdBounds: followed(
      firstKnown(textIds, ({ id }) => id.gt),
      (verdict) => (verdict === 'ignored' ? 'ignore' : verdict === 'honoured' ? 'apply' : undefined),
    ),
    betweenSeparator: first(({ betweenSeparator }) => betweenSeparator),
    invalidFilter: followed(
      first(({ updatedSince }) => updatedSince.invalidValue),
      (how) => (how === 'rejected' ? 'reject' : 'ignore'),
    ),
    // A share that surely shows: how many records a service hides is not known.
    hiddenRecords: followed(hides, choice(0.1, 0)),
    listBody: list === undefined ? NOTHING : known(list.listBody, 'the first page of a list'),
    formats: formatsOf(readable),
    moneyAsNumbers: followed(
      firstKnown(
        readable.filter(({ collection }) => collection === 'products'),
        ({ moneyAsNumbers }) => moneyAsNumbers,
      ),
      (fields) => fields.length > 0,
    ),
    relations: followed(
      anywhere(
        ({ iriFields }) => iriFields,
        (fields) => fields.length > 0,
      ),
      choice('iri', 'id'),
    ),
    nullFields: writes.nullFields.known ? writes.nullFields : first(({ nullFields }) => nullFields),
    timestamps: followed(
      first(({ timestamps }) => timestamps),
      (form) => (form === 'other' ? undefined : form),
    ),
    timeZone: followed(
      first(({ offsets }) => offsets),
      ([offset]) => offset,
    ),
    dateFilter: first(({ updatedSince }) => updatedSince.compares),
    timestampsEverywhere: timestampsIn(others),
    ...notFoundBody({ ...problems, bareNotFound: bareNotFoundOf(readable, problems) }),
    'rateLimit.limit': quota.limit,
    rateLimitHeaders: known(quota.limit.known, explanationOf(quota.limit)),
    ...sandboxWrites(writes),
  };
}

/** Whether records of other collections than products carry timestamps. */
function timestampsIn(others: readonly Readable[]): Finding<boolean> {
  if (others.length === 0) return NOTHING;
  const carrying = others.find(({ details }) => details.timestamps.known);
  return carrying === undefined
    ? known(false, 'no record of other collections than products carries createdAt or updatedAt')
    : known(true, `records of ${carrying.collection} carry createdAt or updatedAt`);
}

/**
 * An option that each collection can have: one value for all, or those that differ from the others. A name in a group stands
 * after that of the collection: `ids.boms.form`. Without a group, all others have `usual`, the default.
 */
function ofEach<T>(
  readable: readonly Readable[],
  path: string,
  read: (one: Readable) => Finding<T>,
  usual: T,
): Options {
  const found = byCollection(readable, read);
  if ('all' in found) return { [path]: found.all };
  const [option = '', name] = path.split('.');
  const [first] = found.each.values();
  const isUsual = name === undefined || [...found.each.values()].some(({ value }) => value === usual);
  const common = isUsual ? usual : first?.value;
  const own = [...found.each].filter(([, { value }]) => value !== common);
  return {
    ...(!isUsual && first !== undefined && { [path]: first }),
    ...Object.fromEntries(
      own.map(([collection, one]) => [`${option}.${collection}${name === undefined ? '' : `.${name}`}`, one]),
    ),
  };
}

/** The order that fits every list; without one, that of each. */
function ordersOfEach(readable: readonly Readable[]): Options {
  const [first, ...others] = readable.filter(({ details }) => details.orders.known);
  const common =
    first && possible(first).find((order) => others.every((one) => possible(one).includes(order)));
  if (common !== undefined) return { order: followed(first?.details.orders ?? NOTHING, () => common) };
  return ofEach(readable, 'order', ({ details }) => details.order, 'id-asc');
}

/** Records that show no times were probably made in the order of their ids. */
function possible({ details: { orders, timestamps } }: Readable): readonly ListOrder[] {
  const shown = orders.value ?? [];
  if (timestamps.known) return shown;
  return shown.flatMap((order): ListOrder[] =>
    order === 'id-asc' ? [order, 'created-asc'] : order === 'id-desc' ? [order, 'created-desc'] : [order],
  );
}

function idsOfEach(readable: readonly Readable[]): Options {
  const isNumber = ({ details }: Readable) =>
    followed(details.idType, (type) => (type === 'unreadable' ? undefined : type === 'numbers'));
  return {
    ...ofEach(readable, 'ids.form', ({ details }) => details.idForm, 'numeric' satisfies IdForm),
    ...ofEach(readable, 'ids.numbers', isNumber, false),
    'ids.gap': followed(
      holdsAnywhere(readable, ({ sortedById }) => sortedById, Boolean),
      (isSparse) => (isSparse ? SPARSE_GAP : undefined),
    ),
  };
}

/** Wide enough for `listOrder: 'id'`. */
const SPARSE_GAP = 4;

/** Whether a list is divided into pages, and whether those after the first one can be read. */
function paginatedOf(readable: readonly Readable[]): (one: Readable) => Finding<boolean | 'first'> {
  const { pagination: all, ...each } = paginationLines(readable);
  const open = unresolved(readable);
  return ({ collection, details }) => {
    if (open.includes(collection)) return followed(details.page, () => 'first');
    const advised = all ?? each[`pagination.${collection}`] ?? NOTHING;
    const way = wayOf(details);
    if (way !== undefined) return followed(way === 'page' ? details.page : details.nextLink, () => true);
    if (details.rows === 0) return followed(advised, (pagination) => pagination === 'link' || undefined);
    if (details.statesEnd.value === 'total') return followed(details.statesEnd, () => false);
    // Where other lists have page numbers, a list that only says that it ends has one page.
    const isWhole = advised.value === 'none' || continuation(readable) === 'page';
    return followed(advised, () => !isWhole);
  };
}

/** Links to other pages: of a cursor, or of numbers in the header `Link`. */
function linksOf(readable: readonly Readable[]): Options {
  const place = ({ nextLink, statesEnd, listBody }: CollectionDetails): Finding<'header' | 'body'> => {
    if (nextLink.known) return nextLink;
    // An array says nothing of other pages.
    return followed(statesEnd, (how) =>
      how === 'links' ? (listBody === 'array' ? 'header' : 'body') : undefined,
    );
  };
  const linked = readable.filter(({ details }) => wayOf(details) === 'link');
  if (continuation(readable) === 'link')
    return { cursor: firstKnown(linked.length > 0 ? linked : readable, place) };
  const advised = Object.values(paginationLines(readable)).find(({ value }) => value === 'link') ?? NOTHING;
  const inHeader = firstKnown(readable, (details) =>
    followed(place(details), (where) => (where === 'header' ? true : undefined)),
  );
  return { linkHeader: advised.known ? followed(advised, () => true) : inHeader };
}

function formatsOf(readable: readonly Readable[]): Finding<'json' | 'jsonld' | 'both'> {
  const isLd = holdsAnywhere(readable, ({ jsonLd }) => jsonLd, Boolean);
  const isBoth = holdsAnywhere(readable, ({ alsoJsonLd }) => alsoJsonLd, Boolean);
  if (isLd.value !== true && isBoth.value === true) return followed(isBoth, () => 'both');
  return followed(isLd, (value) => (value ? 'jsonld' : 'json'));
}

/** What a list does with bounds on numeric ids; `textIdBounds` says it of others. */
function idFilterOf({ id, idForm }: CollectionDetails): Finding<'apply' | 'ignore' | 'reject' | 'single'> {
  if (idForm.value !== 'numeric') return NOTHING;
  const all = [id.gt, id.gte, id.lt, id.lte];
  const ignored = all.find(({ value }) => value === 'ignored');
  if (ignored !== undefined) return followed(ignored, () => 'ignore');
  const rejected = all.find(({ value }) => value === 'rejected');
  if (rejected !== undefined) return followed(rejected, () => 'reject');
  return followed(id.together, (hold) => (hold ? 'apply' : 'single'));
}

const SINCE = { honoured: 'apply', ignored: 'ignore', rejected: 'reject' } as const;

function sinceFilterOf({
  updatedSince: { verdict },
}: CollectionDetails): Finding<'apply' | 'ignore' | 'reject'> {
  return followed(verdict, (how) => SINCE[how]);
}

/** A record was seen at the end of a pause: in that second, a sandbox shows it too. */
const wholeSeconds = (ms: number) => Math.floor(ms / 1_000) * 1_000;

export function afterLastPageOf(readable: readonly Readable[]): Finding<'empty' | 'not_found'> {
  const missing = holdsAnywhere(
    readable,
    ({ afterLastPage }) => afterLastPage,
    (value) => value === 'not_found',
  );
  if (missing.value === true) return followed(missing, () => 'not_found' as const);
  return followed(
    firstKnown(readable, ({ afterLastPage }) => afterLastPage),
    (value) => (value === 'empty' ? ('empty' as const) : undefined),
  );
}

/** A value, if ids are JSON numbers in any collection. */
export function numberIdsOf<V>(readable: readonly Readable[], value: V): Finding<V> {
  const one = readable.find(({ details }) => details.idType.value === 'numbers');
  return one === undefined ? NOTHING : followed(one.details.idType, () => value);
}

export const pageSizeParameterOf = (readable: readonly Readable[]) =>
  firstKnown(readable, ({ pageSizeParameter }) => pageSizeParameter);

/** Whether a 404 without a problem document means that a record is missing: not, if one that is listed returns 404. */
export function bareNotFoundOf(
  readable: readonly Readable[],
  { bareNotFound }: Findings['problems'],
): Finding<boolean> {
  return readable.some(({ details }) => details.byId.value === 'not_found') ? NOTHING : bareNotFound;
}

function notFoundBody({ bareNotFound, notFound }: Findings['problems']): Record<string, Finding<string>> {
  const text = 'Not Found';
  const [name, body] =
    notFound.value === 'none'
      ? ['notFoundBody', '']
      : notFound.value === 'text/html'
        ? ['notFoundBody', text]
        : ['notFoundBody.message', text];
  return { [name]: followed(bareNotFound, (isBare) => (isBare ? body : undefined)) };
}

const UNKNOWN_FIELDS = { rejected: 'reject', ignored: 'ignore', kept: 'store' } as const;

function sandboxWrites(writes: Findings['writes']): Readonly<Record<string, Finding<unknown>>> {
  const only =
    <T>(...values: readonly T[]) =>
    (value: T | undefined) =>
      value !== undefined && values.includes(value) ? value : undefined;
  return {
    createStatus: followed(writes.createStatus, only(200, 201)),
    updateStatus: followed(writes.updateStatus, only(200, 201, 204)),
    deleteStatus: followed(writes.deleteStatus, only(200, 204)),
    'contentTypes.create': followed(writes.createContentType, (type) => [type]),
    'contentTypes.update': followed(writes.updateContentType, (type) => [type]),
    'idempotency.replay': followed(writes.replay, (replay) =>
      replay === 'second_record' ? 'ignored' : only('stored', 'conflict')(replay),
    ),
    'idempotency.differentBody': followed(writes.differentBody, (how) =>
      how === 'rejected' ? 'reject' : only('stored')(how),
    ),
    requiredFields: writes.requiredFields,
    moneyDigits: writes.moneyDigits,
    unknownFields: followed(writes.unknownFields, (how) => UNKNOWN_FIELDS[how]),
  };
}
