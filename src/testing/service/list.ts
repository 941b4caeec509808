import { hashText, mix } from '../data/seeded-random.ts';
import type { ResolvedSandboxOptions } from '../options.ts';
import type { Collection } from '../store/collection.ts';
import { readListQuery } from './list-query.ts';
import type { ServiceResponse } from './message.ts';
import { ProblemError } from './problem.ts';
import { type Format, listResponse } from './represent.ts';
import type { Call, ServiceState } from './state.ts';

/** GET of a collection: one page, without a total count (specification: Limits). */
export function listPage(
  state: ServiceState,
  { collection, credential, format, request }: Call,
): ServiceResponse {
  const { query } = request;
  const key = `${format} ${credential.company}/${collection.name}?${query}`;
  return state.pages.get(key, collection.version, () => list(collection, { query, format }, state.options));
}

function list(
  collection: Collection,
  { query, format }: { query: string; format: Format },
  options: ResolvedSandboxOptions,
): ServiceResponse {
  const { page, selection } = readListQuery(query, options);
  const selected = collection.list(selection);
  const from = (page - 1) * options.pageSize;
  if (from >= selected.length && page > 1 && options.afterLastPage === 'not-found') {
    throw new ProblemError('not_found', 'There is no such page.');
  }

  const records = selected
    .slice(from, from + options.pageSize)
    // After the list was divided into pages: see the option `hiddenRecords`.
    .filter(({ id }) => !isHidden(id, collection.segment, options))
    .map(({ record }) => record);
  const response = listResponse(records, { collection: collection.name, format, options });
  return { ...response, note: { records: records.length } };
}

function isHidden(id: string, segment: string, { hiddenRecords, seed }: ResolvedSandboxOptions): boolean {
  if (typeof hiddenRecords !== 'number') return hiddenRecords.includes(id);
  return mix(seed ^ hashText(segment), hashText(id)) < hiddenRecords * 2 ** 32;
}
