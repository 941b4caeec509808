import { explanationOf } from './finding.ts';
import { type Findings, readableOf } from './followed.ts';
import { LARGE_PAGE } from './page-size.ts';
import { NO_PAGE_PARAMETER, suitsKeyset, unresolved } from './pagination.ts';
import type { CollectionDetails, FilterVerdict } from './report.ts';
import { NEVER_SEEN, ONLY_WRITING } from './writes.ts';

/** Of `push`. One measurement is not a limit: ten times as long is advised. */
const DEFAULT_VISIBLE_AFTER_MS = 30_000;

/** What the code that uses the client must expect, beside the options of the client: sentences. */
export function adviceOf({ collections, writes }: Findings): string[] {
  const readable = readableOf(collections);
  /** The names of the collections for which something holds; empty if there is none. */
  const where = (holds: (details: CollectionDetails) => boolean) =>
    readable
      .filter(({ details }) => holds(details))
      .map(({ collection }) => collection)
      .join(', ');

  const notAcceptable = collections
    .filter(({ access }) => access === 'not_acceptable')
    .map(({ collection }) => collection)
    .join(', ');
  const unrouted = where(({ byId }) => byId.value === 'not_found');
  const [example] = readable.flatMap(({ details: { byId } }) =>
    byId.value === 'not_found' ? [byId.evidence] : [],
  );
  const short = where(({ shortPages }) => shortPages.value === true);
  const repeating = where(({ repeats }) => (repeats.value ?? 0) > 0);
  const unordered = where(
    (one) => one.order.known && !one.order.value.startsWith('id-') && suitsKeyset(one) !== false,
  );
  const ignored = where(({ id }) => [id.gt, id.gte, id.lt, id.lte].some(({ value }) => value === 'ignored'));
  const large = where(({ id }) => id.large.value === 'server_error');
  const unreadable = where(({ idType }) => idType.value === 'unreadable');
  const omitted =
    writes.nullFields.value === 'omitted' ? 'products' : where((one) => one.nullFields.value === 'omitted');
  const separators = readable.flatMap(({ details }) => details.betweenSeparator.value ?? []);
  const separator = separators.find((one) => one !== '..');
  const iris = where(({ iriFields }) => (iriFields.value ?? []).length > 0);
  const offsets = [...new Set(readable.flatMap(({ details }) => details.offsets.value ?? []))]
    .sort()
    .join(', ');
  const larger = where(({ pageSizeParameter }) => pageSizeParameter.value === 'honoured');
  const local = where(({ updatedSince }) => updatedSince.compares.value === 'local');

  const sinceVerdict = (verdict: FilterVerdict) =>
    where(({ updatedSince }) => updatedSince.verdict.value === verdict);
  const [allSince, noSince] = [sinceVerdict('ignored'), sinceVerdict('rejected')];
  const slowMs = (writes.visibleAfterMs.value ?? 0) * 10;
  const isNeverSeen = explanationOf(writes.visibleAfterMs) === NEVER_SEEN;
  const utcOnly = where(({ updatedSince }) => updatedSince.offset.value === 'rejected');

  const open = unresolved(readable).join(', ');
  const required = (writes.requiredFields.value ?? []).join(', ');
  const notWritten =
    writes.createStatus.known || writes.createStatus.reason === ONLY_WRITING
      ? ''
      : writes.createStatus.reason;

  return [
    notWritten &&
      `Nothing is known of writes: ${notWritten}.${required && ` Pass a draft (--draft) with ${required}.`}`,
    open &&
      `${open}: ${NO_PAGE_PARAMETER}. Lists of them fail until then. If one response is the whole list, set pagination: 'none'.`,
    notAcceptable &&
      `The service responds with 406 for ${notAcceptable}: it has none of the formats in the Accept header (application/json, application/ld+json).`,
    unrouted &&
      `Some records of ${unrouted} are listed but cannot be requested by their ids: ${example}. A sync never deletes them from a copy, and get and update fail for them.`,
    short &&
      `Pages of ${short} are incomplete: the service removes rows after it cut a page. A short page is not the end of a list.`,
    repeating &&
      `Lists of ${repeating} show records on two pages, so others may be on none: they are sorted by something that many records share. A read by page reports complete 'likely', and reading again does not find the others; use keyset pagination if ids are integers.`,
    unordered &&
      `Lists of ${unordered} are not in the order of ids: keyset pagination reports complete 'likely' instead of 'certain'. Run a sync in mode 'full' from time to time.`,
    unreadable &&
      `The id of some records of ${unreadable} cannot be read: a sync delivers the others and then fails there. Ask the operator of the service to send id as a string.`,
    separator === undefined
      ? ''
      : `id[between] is honoured with "${separator}" between the bounds, but the client sends a pair with "..": pass a string, such as { id: { between: '100${separator}200' } }.`,
    ignored && `Bounds on the ids of ${ignored} are ignored: a list with them returns other records too.`,
    large &&
      'The service responds with 500 to a bound on id above 2,147,483,647: ids are stored as int4. Keep your own bounds below.',
    offsets &&
      `Timestamps carry an offset (${offsets}).${local && ' updatedSince ignores the offset of its bound.'} sync writes its bounds in the offsets that it has seen; pass updatedSince in the same offset.`,
    larger &&
      `Lists of ${larger} have larger pages with itemsPerPage: pass parameters: { itemsPerPage: '${LARGE_PAGE}' } to createClient for fewer requests.`,
    allSince && `Lists of ${allSince} ignore updatedSince: each sync reads all of their records.`,
    noSince && `Lists of ${noSince} reject updatedSince: a sync fails there after its first run.`,
    utcOnly &&
      `updatedSince with an offset is rejected (${utcOnly}): sync sends its bound again in UTC. Pass updatedSince in UTC.`,
    slowMs <= DEFAULT_VISIBLE_AFTER_MS
      ? ''
      : `A new product was shown after ${slowMs / 10} ms: pass visibleAfterMs: ${Math.ceil(slowMs / 1000) * 1000} to push, or a push that is started again can create it twice.`,
    isNeverSeen
      ? 'A new product was not shown within 15 seconds: find out how long it takes, and pass more than that as visibleAfterMs to push, or a push that is started again can create it twice.'
      : '',
    omitted &&
      `Fields without a value are left out (${omitted}): replace records, never merge them, or a cleared field keeps its old value.`,
    iris &&
      `Relations of ${iris} are IRIs such as /api/public/v1/accounts/2: idFromIri(value) returns the id.`,
  ].filter((sentence) => sentence !== '');
}
