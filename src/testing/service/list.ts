import { hashText, mix } from '../data/dice.ts';
import type { ResolvedSandboxOptions } from '../resolve-options.ts';
import type { Collection } from '../store/collection.ts';
import { readListQuery } from './list-query.ts';
import type { ServiceReply } from './message.ts';
import { Refusal } from './problem.ts';
import { type Format, listReply } from './represent.ts';

function isHidden(
  id: string,
  segment: string,
  { hiddenRecords, seed }: Pick<ResolvedSandboxOptions, 'hiddenRecords' | 'seed'>,
): boolean {
  if (typeof hiddenRecords !== 'number') return hiddenRecords.includes(id);
  return mix(seed ^ hashText(segment), hashText(id)) < hiddenRecords * 2 ** 32;
}

/** GET of a collection: one page, without a total (contract: Collections have no total count). */
export function list(
  collection: Collection,
  { query, format }: { query: string; format: Format },
  options: ResolvedSandboxOptions,
): ServiceReply {
  const { page, selection } = readListQuery(query, options);
  const selected = collection.views.list(selection);
  const from = (page - 1) * options.pageSize;
  if (from >= selected.length && page > 1 && options.afterLastPage === 'not-found') {
    throw new Refusal('not_found', 'There is no such page.');
  }

  // Hidden only now: the page was cut before.
  const rows = selected
    .slice(from, from + options.pageSize)
    .filter((row) => !isHidden(row.id, collection.segment, options));
  const records = rows.map((row) => row.record);
  const reply = listReply(records, { collection: collection.name, format, options });
  return { ...reply, note: { records: rows.length } };
}
