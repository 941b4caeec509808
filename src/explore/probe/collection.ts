import { type CollectionName, collections } from '../../collections/index.ts';
import { formOf } from '../../schemas/id-form.ts';
import { failsEverywhere } from '../explore-client.ts';
import { idFormOf, missingId } from '../ids.ts';
import { idsOf } from '../rows.ts';
import { known, unknown } from './finding.ts';
import { followed } from './followed.ts';
import { ID_BOUNDS_REQUESTS, probeBetween, probeIdBounds, probeLargeBound, SEPARATORS } from './id-bounds.ts';
import { probePageSize } from './page-size.ts';
import { type FirstPage, PAGES_REQUESTS, probePages } from './pages.ts';
import {
  idTypeOf,
  iriFieldsOf,
  jsonLdOf,
  moneyAsNumbersOf,
  nullFieldsOf,
  offsetsOf,
  ordersOf,
  sortedByIdOf,
  timestampFormOf,
} from './records.ts';
import type { CollectionDetails, CollectionFindings } from './report.ts';
import type { ProbeSession } from './session.ts';
import { probeUpdatedSince, UPDATED_SINCE_REQUESTS } from './updated-since.ts';

/**
 * The most requests for each collection. The 6 are the first page, which is requested twice, the page size, a range, a
 * listed record and a missing one.
 */
export const EACH_COLLECTION_REQUESTS = 6 + PAGES_REQUESTS + ID_BOUNDS_REQUESTS + UPDATED_SINCE_REQUESTS;

/** The most requests that only one of the collections takes in addition. The 1 is the large bound. */
export const ONE_COLLECTION_REQUESTS = 1 + (SEPARATORS.length - 1);

/** More records than a page has. */
const LINKED = 1_000_000;

/** The collections with a link to a next page first, and long ones: what they show of pages is tried for the others. */
export async function largestFirst(
  session: ProbeSession,
  names: readonly CollectionName[],
): Promise<readonly CollectionName[]> {
  if (names.length === 1) return names;
  const sizes = new Map<CollectionName, number>();
  for (const name of names) {
    const list = await session.list(collections[name].segment);
    if (!list.ok && sizes.size === 0 && failsEverywhere(list.code)) throw list.error;
    sizes.set(name, list.ok ? list.rows.length + (list.next === undefined ? 0 : LINKED) : 0);
  }
  return [...names].sort((a, b) => (sizes.get(b) ?? 0) - (sizes.get(a) ?? 0));
}

/** Finds out all that reading one collection can show. */
export async function probeCollection(
  session: ProbeSession,
  collection: CollectionName,
  /** Findings about other collections: what they showed is not requested again. */
  before: readonly CollectionFindings[],
): Promise<CollectionFindings> {
  const { segment, fields } = collections[collection];
  const list = await session.list(segment);
  if (!list.ok) {
    if (before.length === 0 && failsEverywhere(list.code)) throw list.error;
    const access = list.status === 406 ? 'not_acceptable' : list.code;
    return { collection, access, details: undefined };
  }

  const ids = idsOf(list.rows);
  const { form: listBody, stated, next } = list;
  const first: FirstPage = { segment, rows: list.rows, ids, idForm: idFormOf(ids), listBody, stated, next };
  const names = before.flatMap(({ details }) => details?.pageParameter.value ?? []);
  const { rows, ...pages } = await probePages(session, first, [...names.slice(0, 1), session.pageParameter]);
  const other = before.find(({ details }) => details?.pageSizeParameter.known);
  const pageSizeParameter =
    other === undefined
      ? await probePageSize(session, first, pages.repeats.known)
      : unknown(`requested of ${other.collection}`);
  const filters = await probeFilters(session, first, before);
  const byId = await probeById(session, first);
  // The error shows the form of a 404.
  await session.send({ path: [segment, missingId(first.idForm)] });

  const orders = ordersOf(rows, first.idForm);
  const order = followed(orders, ([first]) => first);
  const details: CollectionDetails = {
    rows: first.rows.length,
    listBody,
    idForm: idFormFinding(first),
    idType: idTypeOf(rows),
    byId,
    ...pages,
    statesEnd: statesEndOf(first),
    pageSizeParameter,
    ...filters,
    order,
    orders,
    sortedById: sortedByIdOf(rows, order),
    timestamps: timestampFormOf(rows),
    offsets: offsetsOf(rows),
    nullFields: nullFieldsOf(rows),
    jsonLd: jsonLdOf(rows),
    iriFields: iriFieldsOf(rows),
    moneyAsNumbers: moneyAsNumbersOf(rows, fields),
  };
  return { collection, access: 'readable', details };
}

async function probeFilters(
  session: ProbeSession,
  first: FirstPage,
  before: readonly CollectionFindings[],
): Promise<Pick<CollectionDetails, 'id' | 'betweenSeparator' | 'updatedSince'>> {
  const details = before.flatMap((one) => one.details ?? []);
  const bounds = await probeIdBounds(session, first);
  const other = before.find((one) => one.details?.id.large.known);
  const large =
    other === undefined
      ? await probeLargeBound(session, first, bounds.gt)
      : unknown(`requested of ${other.collection}`);
  const betweenSeparator = await probeBetween(session, first, separatorsToTry(details));
  const updatedSince = await probeUpdatedSince(session, first, bounds.together.value === true);
  return { id: { ...bounds, large }, betweenSeparator, updatedSince };
}

/** The separator that another collection honours; only the client's own if no separator was honoured there. */
function separatorsToTry(before: readonly CollectionDetails[]): readonly string[] {
  const found = before.find(({ betweenSeparator }) => betweenSeparator.known)?.betweenSeparator.value;
  if (found !== undefined) return [found];

  const allTried = before.some(({ rows, idForm }) => rows > 1 && idForm.value !== 'text');
  return allTried ? SEPARATORS.slice(0, 1) : SEPARATORS;
}

/** A route may cut an id at a dot, or take digits alone. */
async function probeById(
  session: ProbeSession,
  { segment, ids }: FirstPage,
): Promise<CollectionDetails['byId']> {
  const kinds = (id: string) => formOf(id).length;
  const [id] = ids.toSorted((a, b) => kinds(b) - kinds(a));
  if (id === undefined) return unknown('there is no record with an id');
  const response = await session.send({ path: [segment, id], mayBeUnrouted: true });
  if (response.ok) return known('found', `a request for the listed record ${id} finds it`);
  if (response.status === 404) return known('not_found', `a request for the listed record ${id} returns 404`);
  return unknown(`a request for the listed record ${id} failed: ${response.error.code}`);
}

function statesEndOf({ rows, stated: { hasNext, total } }: FirstPage): CollectionDetails['statesEnd'] {
  if (hasNext === true) return known(false, 'the response names a next page');
  if (hasNext === false) return known('links', 'the response says that no page follows');
  if (total === undefined) return unknown('the response says nothing of other pages');
  const evidence = `the response has ${rows.length} of ${total} records`;
  return known(total <= rows.length && 'total', evidence);
}

const idsSeen = ([first, ...more]: readonly string[]) =>
  more.length === 0 ? `the only id is ${first}` : `${more.length + 1} ids such as ${first}`;

function idFormFinding({ rows, ids, idForm }: FirstPage): CollectionDetails['idForm'] {
  if (idForm === undefined) return unknown('there is no record with an id');
  const areStrings = rows.every((row) => typeof row.id === 'string');
  return known(idForm, areStrings ? idsSeen(ids) : 'ids came as JSON numbers');
}
