import { explanationOf, known, unknown } from './finding.ts';
import { LARGE_PAGE, PAGE_SIZE_PARAMETER } from './page-size.ts';
import type {
  CollectionDetails,
  CollectionFindings,
  Finding,
  ProbeReport,
  ProfileLine,
  ServiceProfile,
} from './report.ts';

type Readable = CollectionFindings & { readonly details: CollectionDetails };

/** The findings that options follow from. */
export type Findings = Pick<ProbeReport, 'collections' | 'problems' | 'quota' | 'writes'>;

/** The options that follow from the findings. Nothing follows from what is unknown. */
export function profileOf(findings: Findings): ProfileLine[] {
  const readable = findings.collections
    .filter((one): one is Readable => one.details !== undefined)
    // The more records a collection has, the more it shows.
    .sort((a, b) => b.details.rows - a.details.rows);
  return [...clientLines(readable, findings), ...syncLines(findings), ...sandboxLines(readable, findings)];
}

/** The lines as the objects that `createClient`, `sync` and `createSandbox` take. */
export function profileObject(lines: readonly ProfileLine[]): ServiceProfile {
  const profile: Record<ProfileLine['of'], Record<string, unknown>> = { client: {}, sync: {}, sandbox: {} };
  for (const { of, name, value } of lines) {
    const [first = '', second] = name.split('.');
    if (second === undefined) profile[of][first] = value;
    else profile[of][first] = { ...(profile[of][first] as object), [second]: value };
  }
  return profile as ServiceProfile;
}

/** A line for each finding that is known, by the name of its option. */
function linesOf(of: ProfileLine['of'], findings: Readonly<Record<string, Finding<unknown>>>): ProfileLine[] {
  return Object.entries(findings).flatMap(([name, finding]) =>
    finding.known ? [{ of, name, value: finding.value, reason: finding.evidence }] : [],
  );
}

const NOTHING = unknown('nothing follows');

/** Another value that follows from a finding; undefined if none does. */
function followed<T, R>(finding: Finding<T>, read: (value: T) => R | undefined): Finding<R> {
  if (!finding.known) return finding;
  const value = read(finding.value);
  return value === undefined ? NOTHING : known(value, finding.evidence);
}

/** The first finding of a kind that is known. */
function firstKnown<T>(
  readable: readonly Readable[],
  read: (details: CollectionDetails) => Finding<T>,
): Finding<T> {
  return readable.map(({ details }) => read(details)).find((finding) => finding.known) ?? NOTHING;
}

/** Whether something holds in any collection. */
function holdsAnywhere<T>(
  readable: readonly Readable[],
  read: (details: CollectionDetails) => Finding<T>,
  holds: (value: T) => boolean,
): Finding<boolean> {
  const findings = readable.map(({ details }) => read(details));
  const found = findings.find((finding) => finding.known && holds(finding.value));
  const decisive = found ?? findings.find((finding) => finding.known);
  return decisive === undefined ? NOTHING : known(found !== undefined, explanationOf(decisive));
}

/** Whether keyset pagination can read a collection; undefined if that is unknown. */
function suitsKeyset({ id, idForm }: CollectionDetails): boolean | undefined {
  const verdicts = [id.gt, id.gte, id.lt, id.lte].map(({ value }) => value);
  const isInteger = !idForm.known || idForm.value === 'numeric';
  const fails = verdicts.some((verdict) => verdict === 'ignored' || verdict === 'rejected');
  if (!isInteger || fails || id.together.value === false) return false;
  return id.together.value === true && verdicts.every((verdict) => verdict === 'honoured') ? true : undefined;
}

/**
 * Whether one response is a whole list: the page parameter is ignored, and a page of the service can hold more records.
 * Responses of one length may be full pages, and so may those of the default size of a framework.
 */
function isWhole({ details: { page, rows } }: Readable, readable: readonly Readable[]): boolean {
  const sizes = readable.map(({ details }) => details.rows);
  const most = Math.max(...sizes);
  const isAlone = sizes.length > 1 && sizes.filter((size) => size === most).length === 1;
  return page.value === 'ignored' && (rows < most || (isAlone && most > DEFAULT_PAGE));
}

/** The page size of API Platform, which the service is probably built on. */
const DEFAULT_PAGE = 30;

/** How a collection is listed, if not as by default. */
function paginationOf(one: Readable, readable: readonly Readable[]): Finding<'page' | 'none'> {
  const { collection, details } = one;
  const hides = readable.some(({ details: { shortPages } }) => shortPages.value === true);
  if (hides && !details.order.value?.startsWith('id-'))
    return known(
      'page',
      `pages come short, and ${collection} are not in the order of ids: keyset pagination takes a short page for the end of an interval`,
    );
  if (suitsKeyset(details) === true) return NOTHING;
  if (isWhole(one, readable)) {
    return known(
      'none',
      `page 2 of ${collection} is page 1, and its response has ${details.rows} records: one request is the whole list`,
    );
  }
  const reason = `ids of ${collection} are not integers, or a bound on id is not honoured: a deletion during a read can hide a row`;
  return suitsKeyset(details) === false ? known('page', reason) : NOTHING;
}

/** One line for all collections, or one for each that is listed in another way than the others. */
function paginationLines(readable: readonly Readable[]): Record<string, Finding<'page' | 'none'>> {
  const findings = readable.map((one) => [one.collection, paginationOf(one, readable)] as const);
  const chosen = new Set(findings.map(([, { value }]) => value));
  const [first = NOTHING] = findings.map(([, finding]) => finding);
  if (chosen.size <= 1) return { pagination: first };
  // What is unknown of a list without records is no reason for a table.
  const known = findings.filter(([, finding]) => finding.known);
  const isCertain = readable.some(({ details }) => suitsKeyset(details) === true);
  const [one] = known;
  if (one !== undefined && !isCertain && new Set(known.map(([, { value }]) => value)).size === 1)
    return { pagination: one[1] };
  return Object.fromEntries(known.map(([name, finding]) => [`pagination.${name}`, finding]));
}

function listOrderOf(readable: readonly Readable[]): Finding<'id'> {
  const isOther = readable.some(({ details: { order } }) => order.known && order.value !== 'id-asc');
  if (isOther || Object.values(paginationLines(readable)).some(({ known }) => known)) return NOTHING;
  const sorted = readable.find(({ details }) => details.sortedById.value === true);
  return sorted === undefined ? NOTHING : followed(sorted.details.sortedById, () => 'id' as const);
}

function afterLastPageOf(readable: readonly Readable[]): Finding<'empty' | 'not_found'> {
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

function clientLines(readable: readonly Readable[], { problems, writes }: Findings): ProfileLine[] {
  const isOther = (type: string) => (type === 'application/json' ? undefined : type);
  const products = readable.filter(({ collection }) => collection === 'products');
  return linesOf('client', {
    ...paginationLines(readable),
    listOrder: listOrderOf(readable),
    afterLastPage: followed(afterLastPageOf(readable), (response) =>
      response === 'empty' ? undefined : response,
    ),
    pageParameter: followed(
      firstKnown(readable, ({ pageParameter }) => pageParameter),
      (name) => (name === '_page' ? undefined : name),
    ),
    [`parameters.${PAGE_SIZE_PARAMETER}`]: followed(pageSizeParameterOf(readable), (verdict) =>
      verdict === 'honoured' ? String(LARGE_PAGE) : undefined,
    ),
    validation: followed(
      firstKnown(products, ({ moneyAsNumbers }) => moneyAsNumbers),
      (fields) => (fields.length > 0 ? 'report' : undefined),
    ),
    ids: numberIdsOf(readable, 'numbers' as const),
    bareNotFound: followed(problems.bareNotFound, (isBare) => (isBare ? 'missing' : undefined)),
    'contentTypes.create': followed(writes.createContentType, isOther),
    'contentTypes.update': followed(writes.updateContentType, isOther),
    'retry.creates': followed(writes.replay, (replay) => (replay === 'second_record' ? false : undefined)),
  });
}

/** A value, if ids are JSON numbers in any collection. */
function numberIdsOf<V>(readable: readonly Readable[], value: V): Finding<V> {
  const found = readable.find(({ details }) => details.idType.value === 'numbers');
  return found === undefined ? NOTHING : followed(found.details.idType, () => value);
}

const DEFAULT_LOOKBACK_MS = 120_000;

function syncLines({ writes }: Findings): ProfileLine[] {
  return linesOf('sync', {
    // One measurement is not a limit: under load it takes longer. Ten times as long, and never less than the default.
    lookbackMs: followed(writes.visibleAfterMs, (ms) =>
      ms * 10 > DEFAULT_LOOKBACK_MS ? Math.ceil((ms * 10) / 1000) * 1000 : undefined,
    ),
  });
}

const pageSizeParameterOf = (readable: readonly Readable[]) =>
  firstKnown(readable, ({ pageSizeParameter }) => pageSizeParameter);

/** Whether a service divides lists into pages, as far as any list shows it. */
function paginatedOf(readable: readonly Readable[]): Finding<boolean> {
  const whole = readable.find((one) => isWhole(one, readable));
  const found = whole ?? readable.find(({ details }) => details.page.value === 'honoured');
  return found === undefined ? NOTHING : followed(found.details.page, () => found !== whole);
}

function sandboxLines(readable: readonly Readable[], { problems, quota, writes }: Findings): ProfileLine[] {
  const first = <T>(read: (details: CollectionDetails) => Finding<T>) => firstKnown(readable, read);
  const anywhere = <T>(read: (details: CollectionDetails) => Finding<T>, holds: (value: T) => boolean) =>
    holdsAnywhere(readable, read, holds);
  const choice =
    <T>(yes: T, no: T) =>
    (value: boolean) =>
      value ? yes : no;
  const textIds = readable.filter(({ details }) => ['uuid', 'ulid'].includes(details.idForm.value ?? ''));
  const others = readable.filter(({ collection }) => collection !== 'products');
  const hides = anywhere(({ shortPages }) => shortPages, Boolean);
  const list = readable[0]?.details;
  // Its id was requested. A replica that shows a record late lists it late too.
  const shownAfterMs = followed(writes.visibleAfterMs, (ms) => Math.round(ms / 1_000) * 1_000);
  return linesOf('sandbox', {
    // If the service hides records, the first page of a short collection may look full.
    pageSize: hides.value === true ? NOTHING : first(({ pageSize }) => pageSize),
    order: first(({ order }) => order),
    pageParameter: first(({ pageParameter }) => pageParameter),
    pageSizeParameter: followed(pageSizeParameterOf(readable), (verdict) =>
      verdict === 'honoured' ? PAGE_SIZE_PARAMETER : verdict === 'ignored' ? '' : undefined,
    ),
    paginated: paginatedOf(readable),
    'newRecords.listedAfterMs': shownAfterMs,
    'newRecords.foundAfterMs': shownAfterMs,
    afterLastPage: afterLastPageOf(readable),
    'ids.form': followed(
      first(({ idForm }) => idForm),
      (form) => (form === 'other' ? undefined : form),
    ),
    'ids.numbers': numberIdsOf(readable, true),
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
    listBody: list === undefined ? NOTHING : known(list.listBody, 'the form of a list'),
    formats: followed(
      anywhere(({ jsonLd }) => jsonLd, Boolean),
      choice('jsonld', 'json'),
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
    timestampsEverywhere:
      others.length === 0
        ? NOTHING
        : known(
            others.some(({ details }) => details.timestamps.known),
            'whether records of other collections than products carry createdAt or updatedAt',
          ),
    ...notFoundBody(problems),
    'rateLimit.limit': quota.limit,
    rateLimitHeaders: known(quota.limit.known, explanationOf(quota.limit)),
    ...sandboxWrites(writes),
  });
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
    unknownFields: followed(writes.unknownFields, (how) =>
      how === 'rejected' ? 'reject' : how === 'ignored' ? 'ignore' : undefined,
    ),
  };
}
