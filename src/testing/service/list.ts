import type { ResolvedSandboxOptions } from '../resolve-options.ts';
import type { Collection } from '../store/collection.ts';
import type { Row } from '../store/row.ts';
import { readListQuery } from './list-query.ts';
import { jsonReply, type ServiceReply } from './message.ts';
import { Refusal } from './problem.ts';
import { API_PATH } from './route.ts';

function body(rows: readonly Row[], segment: string, form: ResolvedSandboxOptions['listBody']): ServiceReply {
  const records = rows.map((row) => row.record);
  if (form === 'array') return jsonReply(200, records);
  const type = form === 'member' ? 'Collection' : 'hydra:Collection';
  const document = {
    '@context': '/contexts/record',
    '@id': `${API_PATH}/${segment}`,
    '@type': type,
    [form]: records,
  };
  return jsonReply(200, document, 'application/ld+json');
}

/** GET of a collection: one page, without a total (contract: Collections have no total count). */
export function list(collection: Collection, query: string, options: ResolvedSandboxOptions): ServiceReply {
  const { page, selection } = readListQuery(query, options);
  const selected = collection.views.list(selection);
  const from = (page - 1) * options.pageSize;
  if (from >= selected.length && page > 1 && options.afterLastPage === 'not-found') {
    throw new Refusal('not_found', 'There is no such page.');
  }

  const rows = selected.slice(from, from + options.pageSize);
  return { ...body(rows, collection.segment, options.listBody), note: { records: rows.length } };
}
