import type { CollectionName } from '../../collections/index.ts';
import { known, unknown } from './finding.ts';
import { NOTHING, type Readable } from './followed.ts';
import type { CollectionDetails, Finding } from './report.ts';

type Advised = 'page' | 'link' | 'none';

/** What to do about a list whose continuation is not known. */
export const NO_PAGE_PARAMETER = 'no page parameter found: set pageParameter, or a cursor';

/** Whether keyset pagination can read a collection; undefined if that is unknown. */
export function suitsKeyset({ id, idForm }: CollectionDetails): boolean | undefined {
  const verdicts = [id.gt, id.gte, id.lt, id.lte].map(({ value }) => value);
  const isInteger = !idForm.known || idForm.value === 'numeric';
  const fails = verdicts.some((verdict) => verdict === 'ignored' || verdict === 'rejected');
  if (!isInteger || fails || id.together.value === false) return false;
  return id.together.value === true && verdicts.every((verdict) => verdict === 'honoured') ? true : undefined;
}

/**
 * Whether keyset pagination can read a collection. One with too few records to show it is presumed to be as others: in their
 * form of ids, and with the bounds of those with integers.
 */
function presumedToSuit({ details }: Readable, readable: readonly Readable[]): boolean {
  const own = suitsKeyset(details);
  if (own !== undefined) return own;
  const forms = readable.flatMap((one) => one.details.idForm.value ?? []);
  const isInteger = details.idForm.known || forms.length === 0 || forms.includes('numeric');
  const integers = readable.filter((one) => one.details.idForm.value === 'numeric');
  const shown = integers.map((one) => suitsKeyset(one.details));
  return isInteger && (shown.includes(true) || !shown.includes(false));
}

/** How pages follow each other; undefined if that is unknown, or there is only one. */
export function wayOf({ page, nextLink }: CollectionDetails): 'page' | 'link' | undefined {
  if (page.value === 'honoured') return 'page';
  return nextLink.known ? 'link' : undefined;
}

/** How lists of a service are continued; undefined if none shows it. */
export function continuation(readable: readonly Readable[]): 'page' | 'link' | undefined {
  if (readable.some(({ details }) => wayOf(details) === 'page')) return 'page';
  const links = readable.some(
    ({ details }) => wayOf(details) === 'link' || details.statesEnd.value === 'links',
  );
  return links ? 'link' : undefined;
}

/** Whether lists are in the order of ids, as far as they show an order. */
function isById({ details: { order } }: Readable, readable: readonly Readable[]): boolean {
  if (order.known) return order.value.startsWith('id-');
  const orders = new Set(readable.flatMap((one) => one.details.order.value ?? []));
  return orders.size !== 1 || [...orders].some((one) => one.startsWith('id-'));
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

/** What keyset pagination lacks: known, or presumed from other lists. */
function whyNotByKeyset({ collection, details }: Readable): string {
  const { idForm } = details;
  if (idForm.known && idForm.value !== 'numeric')
    return `ids of ${collection} are not integers (${idForm.evidence})`;
  return suitsKeyset(details) === false
    ? `a bound on the ids of ${collection} is not honoured`
    : `ids of ${collection} are not integers, or a bound on them is not honoured`;
}

/** How a collection is listed, if not as by default. Unknown with {@link NO_PAGE_PARAMETER} if nothing reads all of it. */
function paginationOf(one: Readable, readable: readonly Readable[]): Finding<Advised> {
  const { collection, details } = one;
  const { statesEnd } = details;
  const usual = continuation(readable);
  const hides = readable.some(({ details: { shortPages } }) => shortPages.value === true);
  // In the order of ids, keyset pagination finds the end of an interval by the number of a page.
  const isShort = hides && (usual === 'link' || !isById(one, readable));
  const suits = presumedToSuit(one, readable);
  if (!isShort && suits) return NOTHING;
  const why = isShort
    ? `pages are incomplete, and ${collection} ${usual === 'link' ? 'have no page numbers' : 'are not in the order of ids'}: keyset pagination takes a short page for the end of an interval`
    : whyNotByKeyset(one);
  const way = wayOf(details);
  if (way === 'page') return known('page', `${why}: a deletion during a read can hide a row`);
  if (way === 'link') return known('link', `${why}, and each response links the next page`);
  if (usual === 'link' && statesEnd.value !== 'total')
    return known('link', `${why}, and responses of other lists link the next page`);
  if (details.rows === 0)
    return usual === undefined
      ? NOTHING
      : known(usual, `lists without records are presumed to be as others: ${why}`);
  if (suits) return NOTHING;
  // It will link the next page when there is one.
  if (statesEnd.value === 'links') return known('link', `${why}, and ${statesEnd.evidence}`);
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
  const findings = readable.map((one) => ({ one, finding: paginationOf(one, readable) }));
  const shown = findings.filter(({ one, finding }) => finding.known || one.details.rows > 0);
  const values = new Set(shown.map(({ finding }) => finding.value));
  const [first] = shown;
  // What is unknown of a list without records is no reason for a table.
  if (first?.finding.known && values.size === 1) return { pagination: first.finding };
  return Object.fromEntries(
    findings.flatMap(({ one, finding }) =>
      finding.known ? [[`pagination.${one.collection}`, finding]] : [],
    ),
  );
}
