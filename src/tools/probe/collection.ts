import { type CollectionName, collections } from '../../collections/index.ts';
import { isHopeless } from '../check-names.ts';
import { missingId } from '../id-form.ts';
import { probeBetween, SEPARATORS } from './between.ts';
import { known, unknown } from './finding.ts';
import { type FirstPage, firstPage, probePages } from './first-pages.ts';
import { probeIdFilters } from './id-filters.ts';
import type { Interview, ListAnswer } from './interview.ts';
import { moneyAsNumbersOf } from './money-numbers.ts';
import { instantFormOf, orderOf } from './order.ts';
import type { CollectionDetails, CollectionFindings } from './report.ts';
import { probeUpdatedSince } from './updated-since.ts';

/** Asks everything there is to ask about one collection, by reading alone. */
export async function probeCollection(
  interview: Interview,
  name: CollectionName,
  /** Collections that were asked before: what they taught need not be found out again. */
  before: readonly CollectionFindings[],
): Promise<CollectionFindings> {
  const { segment } = collections[name];
  const list = await interview.list(segment);
  if (!list.ok && before.length === 0 && isHopeless(list.code)) throw list.error;
  if (!list.ok) return { collection: name, access: list.code, details: undefined };

  const first = firstPage(segment, list.rows);
  const pages = await probePages(interview, first);
  const id = await probeIdFilters(interview, first);
  const between = await probeBetween(interview, first, separatorsAfter(before));
  const updatedSince = await probeUpdatedSince(interview, first, id.together.value === true);
  // Its error shows the form of a 404; whether it is one is nobody's finding.
  await interview.ask({ path: [segment, missingId(first.idForm)] });
  return {
    collection: name,
    access: 'readable',
    details: {
      ...shapeOf(list, first),
      pageSize: pages.pageSize,
      order: orderOf(pages.rows, first.idForm),
      page: pages.page,
      afterLastPage: pages.afterLastPage,
      repeats: pages.repeats,
      id,
      between,
      updatedSince,
      instants: instantFormOf(pages.rows),
      moneyAsNumbers: moneyAsNumbersOf(pages.rows, collections[name].fields),
    },
  };
}

function shapeOf(
  list: Extract<ListAnswer, { ok: true }>,
  { rows, ids, idForm }: FirstPage,
): Pick<CollectionDetails, 'rows' | 'listBody' | 'contentType' | 'idForm'> {
  const texts = rows.filter((row) => typeof row.id === 'string').length;
  return {
    rows: rows.length,
    listBody: list.form,
    contentType: list.contentType,
    idForm:
      idForm === undefined
        ? unknown('there is no record with an id')
        : known(
            idForm,
            texts === rows.length ? `${ids.length} ids such as ${ids[0]}` : 'ids came as JSON numbers',
          ),
  };
}

/** The separator that another collection honours; the client's own where all were tried in vain. */
function separatorsAfter(before: readonly CollectionFindings[]): readonly string[] {
  const asked = before.flatMap(({ details }) => (details === undefined ? [] : [details]));
  const found = asked.map(({ between }) => between.separator.value).find((value) => value !== 'unknown');
  if (found !== undefined) return [found];

  const tried = asked.some(({ rows, idForm }) => rows > 1 && idForm.value !== 'other');
  return tried ? SEPARATORS.slice(0, 1) : SEPARATORS;
}
