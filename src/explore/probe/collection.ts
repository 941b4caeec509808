import { type CollectionName, collections } from '../../collections/index.ts';
import { failsEverywhere } from '../explore-client.ts';
import { idFormOf, missingId } from '../ids.ts';
import { idsOf } from '../rows.ts';
import { known, unknown } from './finding.ts';
import {
  BETWEEN_COST,
  ID_BOUNDS_COST,
  LARGE_BOUND_COST,
  probeBetween,
  probeIdBounds,
  probeLargeBound,
  SEPARATORS,
} from './id-bounds.ts';
import { PAGE_SIZE_COST, probePageSize } from './page-size.ts';
import { type FirstPage, PAGES_COST, probePages } from './pages.ts';
import {
  iriFieldsOf,
  jsonLdOf,
  moneyAsNumbersOf,
  nullFieldsOf,
  offsetsOf,
  orderOf,
  timestampFormOf,
} from './records.ts';
import type { CollectionDetails, CollectionFindings } from './report.ts';
import { type Cost, ONE_REQUEST, type ProbeSession } from './session.ts';
import { probeUpdatedSince, UPDATED_SINCE_COST } from './updated-since.ts';

/** The steps of {@link probeCollection}: what each costs, and what it does. */
const STEPS = {
  firstPage: { costs: ONE_REQUEST, run: (session: ProbeSession, segment: string) => session.list(segment) },
  pages: { costs: PAGES_COST, run: probePages },
  pageSize: { costs: PAGE_SIZE_COST, run: probePageSize },
  idBounds: { costs: ID_BOUNDS_COST, run: probeIdBounds },
  largeBound: { costs: LARGE_BOUND_COST, run: probeLargeBound },
  between: { costs: BETWEEN_COST, run: probeBetween },
  updatedSince: { costs: UPDATED_SINCE_COST, run: probeUpdatedSince },
  /** The error shows the form of a 404. */
  missingRecord: {
    costs: ONE_REQUEST,
    run: (session: ProbeSession, { segment, idForm }: FirstPage) =>
      session.send({ path: [segment, missingId(idForm)] }),
  },
};

export const COLLECTION_COSTS: readonly Cost[] = Object.values(STEPS).map(({ costs }) => costs);

/** Finds out all that reading one collection can show. */
export async function probeCollection(
  session: ProbeSession,
  collection: CollectionName,
  /** Findings about other collections: what they showed is not requested again. */
  before: readonly CollectionFindings[],
): Promise<CollectionFindings> {
  const { segment, fields } = collections[collection];
  const list = await STEPS.firstPage.run(session, segment);
  if (!list.ok) {
    if (before.length === 0 && failsEverywhere(list.code)) throw list.error;
    const access = list.status === 406 ? 'not_acceptable' : list.code;
    return { collection, access, details: undefined };
  }

  const ids = idsOf(list.rows);
  const first: FirstPage = { segment, rows: list.rows, ids, idForm: idFormOf(ids) };
  const { rows, ...pages } = await STEPS.pages.run(session, first);
  const other = before.find(({ details }) => details?.pageSizeParameter.known);
  const pageSizeParameter =
    other === undefined
      ? await STEPS.pageSize.run(session, first, pages.page)
      : unknown(`requested of ${other.collection}`);
  const filters = await probeFilters(session, first, before);
  await STEPS.missingRecord.run(session, first);

  const details: CollectionDetails = {
    rows: first.rows.length,
    listBody: list.form,
    idForm: idFormFinding(first),
    ...pages,
    pageSizeParameter,
    ...filters,
    order: orderOf(rows, first.idForm),
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
  const bounds = await STEPS.idBounds.run(session, first);
  const other = before.find((one) => one.details?.id.large.known);
  const large =
    other === undefined
      ? await STEPS.largeBound.run(session, first, bounds.gt)
      : unknown(`requested of ${other.collection}`);
  const betweenSeparator = await STEPS.between.run(session, first, separatorsToTry(details));
  const updatedSince = await STEPS.updatedSince.run(session, first, {
    boundsHold: bounds.together.value === true,
    isShiftKnown: details.some((one) => one.updatedSince.shiftMinutes.known),
  });
  return { id: { ...bounds, large }, betweenSeparator, updatedSince };
}

/** The separator that another collection honours; only the client's own if no separator was honoured there. */
function separatorsToTry(before: readonly CollectionDetails[]): readonly string[] {
  const found = before.find(({ betweenSeparator }) => betweenSeparator.known)?.betweenSeparator.value;
  if (found !== undefined) return [found];

  const allTried = before.some(({ rows, idForm }) => rows > 1 && idForm.value !== 'other');
  return allTried ? SEPARATORS.slice(0, 1) : SEPARATORS;
}

function idFormFinding({ rows, ids, idForm }: FirstPage): CollectionDetails['idForm'] {
  if (idForm === undefined) return unknown('there is no record with an id');
  const areStrings = rows.every((row) => typeof row.id === 'string');
  return known(idForm, areStrings ? `${ids.length} ids such as ${ids[0]}` : 'ids came as JSON numbers');
}
