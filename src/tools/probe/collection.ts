import { type CollectionName, collections } from '../../collections/index.ts';
import type { ListOrder } from '../../schemas/service-forms.ts';
import { isHopeless } from '../check-names.ts';
import { missingId } from '../id-form.ts';
import { probeBetween, SEPARATORS } from './between.ts';
import { type Finding, known, unknown } from './finding.ts';
import { type FirstPage, firstPage, type PageFindings, probePages } from './first-pages.ts';
import { probeIdFilters, probeLargeBound } from './id-filters.ts';
import { moneyAsNumbersOf } from './money-numbers.ts';
import { instantFormOf, offsetsOf, orderOf } from './order.ts';
import type { ListAnswer, ProbeSession } from './probe-session.ts';
import type { CollectionDetails, CollectionFindings } from './report.ts';
import { probeUpdatedSince } from './updated-since.ts';
import { iriFieldsOf, nullFieldsOf } from './values.ts';

/** Asks everything there is to ask about one collection, by reading alone. */
export async function probeCollection(
  session: ProbeSession,
  name: CollectionName,
  /** Collections that were asked before: what they taught need not be found out again. */
  before: readonly CollectionFindings[],
): Promise<CollectionFindings> {
  const { segment } = collections[name];
  const list = await session.list(segment);
  if (!list.ok && before.length === 0 && isHopeless(list.code)) throw list.error;
  if (!list.ok) {
    return {
      collection: name,
      access: list.status === 406 ? 'not_acceptable' : list.code,
      details: undefined,
    };
  }

  const first = firstPage(segment, list.rows);
  const pages = await probePages(session, first);
  const filters = await probeFilters(session, first, before);
  // Its error shows the form of a 404.
  await session.ask({ path: [segment, missingId(first.idForm)] });
  const details = { ...shapeOf(list, first), ...filters, ...valuesOf(name, pages, first) };
  return { collection: name, access: 'readable', details };
}

async function probeFilters(
  session: ProbeSession,
  first: FirstPage,
  before: readonly CollectionFindings[],
): Promise<Pick<CollectionDetails, 'id' | 'between' | 'updatedSince'>> {
  const bounds = await probeIdFilters(session, first);
  const other = before.find(({ details }) => details?.id.large.known);
  const large =
    other === undefined
      ? await probeLargeBound(session, first, bounds.gt)
      : unknown(`requested of ${other.collection}`);
  const between = await probeBetween(session, first, separatorsAfter(before));
  const updatedSince = await probeUpdatedSince(session, first, {
    bounded: bounds.together.value === true,
    shiftFound: detailsOf(before).some((details) => details.updatedSince.shiftMinutes.known),
  });
  return { id: { ...bounds, large }, between, updatedSince };
}

/** What the rows of the first pages show. */
function valuesOf(
  name: CollectionName,
  { rows, ...pages }: PageFindings,
  { idForm }: FirstPage,
): Omit<CollectionDetails, keyof ReturnType<typeof shapeOf> | 'id' | 'between' | 'updatedSince'> {
  const order = orderOf(rows, idForm);
  return {
    ...pages,
    order,
    complete: completenessOf(order, pages.shortPages),
    instants: instantFormOf(rows),
    offsets: offsetsOf(rows),
    nullFields: nullFieldsOf(rows),
    iriFields: iriFieldsOf(rows),
    moneyAsNumbers: moneyAsNumbersOf(rows, collections[name].fields),
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

/** What keyset pagination will say of its completeness: the order of ids alone proves which records exist. */
function completenessOf(
  order: Finding<ListOrder>,
  shortPages: Finding<boolean>,
): CollectionDetails['complete'] {
  if (!order.known) return unknown(`the order is not known: ${order.reason}`);
  const isById = order.value === 'id-asc' || order.value === 'id-desc';
  const pages = shortPages.value === true ? ', and pages came short' : '';
  return isById
    ? known('certain', `${order.value}${pages}`)
    : known('likely', `the order is not by id (${order.value})${pages}`);
}

function detailsOf(before: readonly CollectionFindings[]): CollectionDetails[] {
  return before.flatMap(({ details }) => (details === undefined ? [] : [details]));
}

/** The separator that another collection honours; the client's own where all were tried in vain. */
function separatorsAfter(before: readonly CollectionFindings[]): readonly string[] {
  const asked = detailsOf(before);
  const found = asked.map(({ between }) => between.separator.value).find((value) => value !== undefined);
  if (found !== undefined) return [found];

  const tried = asked.some(({ rows, idForm }) => rows > 1 && idForm.value !== 'other');
  return tried ? SEPARATORS.slice(0, 1) : SEPARATORS;
}
