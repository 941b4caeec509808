import type { CollectionName } from '../../collections/index.ts';
import { known, unknown } from './finding.ts';
import { NOTHING, type Readable } from './followed.ts';
import type { CollectionDetails, Finding } from './report.ts';

type Advised = 'page' | 'link' | 'none';

/** What to do about a list whose continuation is not known. */
export const NO_PAGE_PARAMETER = 'no page parameter found: set pageParameter, or a cursor';

/** Whether keyset pagination can read a collection; undefined if that is unknown. */
function suitsKeyset({ id, idForm }: CollectionDetails): boolean | undefined {
  const verdicts = [id.gt, id.gte, id.lt, id.lte].map(({ value }) => value);
  const isInteger = !idForm.known || idForm.value === 'numeric';
  const fails = verdicts.some((verdict) => verdict === 'ignored' || verdict === 'rejected');
  if (!isInteger || fails || id.together.value === false) return false;
  return id.together.value === true && verdicts.every((verdict) => verdict === 'honoured') ? true : undefined;
}

/** How pages follow each other; undefined if that is unknown, or there is only one. */
export function wayOf({ page, nextLink }: CollectionDetails): 'page' | 'link' | undefined {
  if (page.value === 'honoured') return 'page';
  return nextLink.known ? 'link' : undefined;
}

/** What shows that one response is a whole list, and still will be when the collection grows. */
function whyWhole({ rows, statesEnd }: CollectionDetails, readable: readonly Readable[]): string | undefined {
  // A total above the rows of a list that is read as one is an error.
  if (statesEnd.value === 'total') return statesEnd.evidence;
  const sizes = readable.flatMap(({ details }) => details.pageSize.value ?? []);
  const pageSize = Math.max(...sizes);
  return sizes.length > 0 && rows > pageSize
    ? `its response has ${rows} records, and pages of other lists have ${pageSize}`
    : undefined;
}

/** How a collection is listed, if not as by default. Unknown with {@link NO_PAGE_PARAMETER} if nothing reads all of it. */
function paginationOf({ collection, details }: Readable, readable: readonly Readable[]): Finding<Advised> {
  const hides = readable.some((one) => one.details.shortPages.value === true);
  const isShort = hides && !details.order.value?.startsWith('id-');
  const suits = suitsKeyset(details);
  if (!isShort && suits !== false) return NOTHING;
  const why = isShort
    ? `pages come short, and ${collection} are not in the order of ids: keyset pagination takes a short page for the end of an interval`
    : `ids of ${collection} are not integers, or a bound on id is not honoured`;
  const way = wayOf(details);
  if (way === 'page') return known('page', `${why}: a deletion during a read can hide a row`);
  if (way === 'link') return known('link', `${why}, and each response links the next page`);
  if (details.rows === 0 || suits !== false) return NOTHING;
  if (readable.some((one) => wayOf(one.details) === 'link'))
    return known('link', `${why}, and responses of other lists link the next page`);
  // It will link the next page when there is one.
  if (details.statesEnd.value === 'links') return known('link', `${why}, and ${details.statesEnd.evidence}`);
  const whole = whyWhole(details, readable);
  return whole === undefined ? unknown(NO_PAGE_PARAMETER) : known('none', `${why}, and ${whole}`);
}

/** The collections that nothing is known to read as a whole. */
export function unresolved(readable: readonly Readable[]): readonly CollectionName[] {
  const isOpen = (finding: Finding<unknown>) => !finding.known && finding.reason === NO_PAGE_PARAMETER;
  return readable.flatMap((one) => (isOpen(paginationOf(one, readable)) ? [one.collection] : []));
}

/** One line for all collections, or one for each that is listed in another way than the others. */
export function paginationLines(readable: readonly Readable[]): Record<string, Finding<Advised>> {
  const findings = readable.map((one) => [one.collection, paginationOf(one, readable)] as const);
  const advised = findings.filter(([, finding]) => finding.known);
  const [[, first] = []] = advised;
  // What is unknown of a list without records is no reason for a table.
  const differ =
    readable.some(({ details }) => suitsKeyset(details) === true) || unresolved(readable).length > 0;
  const values = new Set(advised.map(([, { value }]) => value));
  const areAll = advised.length === findings.length || !differ;
  if (first !== undefined && values.size === 1 && areAll) return { pagination: first };
  return Object.fromEntries(advised.map(([name, finding]) => [`pagination.${name}`, finding]));
}
