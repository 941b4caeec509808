import type { Finding } from './finding.ts';
import type { CollectionDetails, CollectionFindings } from './report.ts';
import type { WriteFindings } from './write-findings.ts';

/** What follows for the code that uses the client, beside its options. */
export function adviceOf(collections: readonly CollectionFindings[], writes: WriteFindings): string[] {
  const names = (holds: (details: CollectionDetails) => boolean) =>
    collections.flatMap(({ collection, details }) =>
      details !== undefined && holds(details) ? [collection] : [],
    );
  return [
    ...notAcceptable(collections),
    ...shortPages(names(({ shortPages: short }) => short.value === true)),
    ...unordered(names(({ complete }) => complete.value === 'likely')),
    ...ignoredBounds(names(({ id }) => [id.gt, id.gte, id.lt, id.lte].some(isIgnored))),
    ...largeBounds(names(({ id }) => id.large.value === 'server_error')),
    ...offsets(collections),
    ...nullFields(
      writes.nullFields.value === 'omitted'
        ? ['products']
        : names((one) => one.nullFields.value === 'omitted'),
    ),
    ...relations(names(({ iriFields }) => (iriFields.value ?? []).length > 0)),
  ];
}

const isIgnored = ({ value }: Finding<unknown>) => value === 'ignored';

function notAcceptable(collections: readonly CollectionFindings[]): string[] {
  const names = collections
    .filter(({ access }) => access === 'not_acceptable')
    .map(({ collection }) => collection);
  return names.length === 0
    ? []
    : [
        `The service answers 406 for ${names.join(', ')}: it has none of the formats in the Accept header (application/json, application/ld+json).`,
      ];
}

function shortPages(names: readonly string[]): string[] {
  return names.length === 0
    ? []
    : [
        `Pages of ${names.join(', ')} come short: rows are removed after a page is cut. A short page is not the end of a list.`,
      ];
}

function unordered(names: readonly string[]): string[] {
  return names.length === 0
    ? []
    : [
        `Lists of ${names.join(', ')} are not in the order of ids: keyset pagination reports complete 'likely' instead of 'certain'. Reconcile from time to time.`,
      ];
}

function ignoredBounds(names: readonly string[]): string[] {
  return names.length === 0
    ? []
    : [`Bounds on the ids of ${names.join(', ')} are ignored: a list with them returns other records too.`];
}

function largeBounds(names: readonly string[]): string[] {
  return names.length === 0
    ? []
    : [
        'A bound on id above 2,147,483,647 makes the service answer 500: ids are stored as int4. Keep your own bounds below.',
      ];
}

function offsets(collections: readonly CollectionFindings[]): string[] {
  const shown = [...new Set(collections.flatMap(({ details }) => details?.offsets.value ?? []))].sort();
  const isLocal = collections.some(({ details }) => details?.updatedSince.compares.value === 'local');
  if (shown.length === 0) return [];
  const compared = isLocal ? ' updatedSince ignores the offset of its bound.' : '';
  return [
    `Timestamps carry an offset (${shown.join(', ')}).${compared} sync writes its bounds in the offsets that it has seen; pass updatedSince in the same offset.`,
  ];
}

function nullFields(names: readonly string[]): string[] {
  return names.length === 0
    ? []
    : [
        `Fields without a value are left out (${names.join(', ')}): replace records, never merge them, or a cleared field keeps its old value.`,
      ];
}

function relations(names: readonly string[]): string[] {
  return names.length === 0
    ? []
    : [
        `Relations of ${names.join(', ')} are IRIs such as /api/public/v1/accounts/2: idFromIri(value) gives the id.`,
      ];
}
