import { collectionNames, collections } from '../../collections/index.ts';
import { option } from '../../internal/options.ts';
import { suggestion } from '../../internal/suggestion.ts';
import { at, is } from '../checks.ts';
import { ProblemError } from '../service/problem.ts';
import type { Commit } from '../service/state.ts';
import type { Collection } from '../store/collection.ts';
import type { CompanyName } from '../store/company.ts';
import type { Row } from '../store/row.ts';
import { checkNewId } from '../store/sandbox-store.ts';
import { type ControlCall, type ControlResponse, json, NOTHING, queryOf } from './call.ts';

// What another user of the service does: `updatedAt`, the journal and the options that delay a write are as for a request.

/** Stands in the journal for the key of a request. */
const BY_CONTROL = 'control';

const companyQuery = { company: option(is.oneOf('main', 'other'), 'main') };

const listQuery = {
  ...companyQuery,
  /** Only records that contain it, in a name or a value. */
  search: option(is.string, ''),
  /** How many are left out at first. */
  offset: option(is.integerFrom(0), 0),
  limit: option(is.integerFrom(1), 100),
};

interface Place {
  readonly company: CompanyName;
  readonly collection: Collection;
}

/** The collection that a path names, as the client or as a path of the service. */
function placeOf({ core, parameters }: ControlCall, company: CompanyName): Place {
  const { collection: given = '' } = parameters;
  const name = collectionNames.find((one) => given === one || given === collections[one].segment);
  if (name === undefined) {
    const detail = `There is no collection ${JSON.stringify(given)}. ${suggestion(given, collectionNames)}`;
    throw new ProblemError('not_found', detail);
  }
  return { company, collection: core.state.companies[company][name] };
}

/** `GET /records/:collection`: by ascending id, with the last changes of the collection. */
export function listRecords(call: ControlCall): ControlResponse {
  const { company, search, offset, limit } = queryOf(listQuery, call);
  const { collection } = placeOf(call, company);
  const wanted = search.toLowerCase();
  const found = collection
    .all()
    .filter(({ record }) => wanted === '' || JSON.stringify(record).toLowerCase().includes(wanted));
  const isHere = (commit: Commit) => commit.company === company && commit.collection === collection.name;
  return json({
    collection: collection.name,
    count: collection.count,
    found: found.length,
    records: found.slice(offset, offset + limit).map(({ record }) => record),
    changes: call.core.state.journal.list().filter(isHere).slice(-100),
  });
}

/** `GET /records/:collection/:id`. */
export function getRecord(call: ControlCall): ControlResponse {
  const { company } = queryOf(companyQuery, call);
  return json(rowOf(call, placeOf(call, company)).record);
}

/** `POST /records/:collection`. */
export function createRecord(call: ControlCall): ControlResponse {
  const { company } = queryOf(companyQuery, call);
  const place = placeOf(call, company);
  const fields = call.body;
  checkNewId(place.collection, fields.id);
  place.collection.checkFields(fields);
  const row = place.collection.create(fields);
  commit(call, place, { action: 'create', id: row.id, fields: Object.keys(fields) });
  return json(row.record, 201);
}

/** `PATCH /records/:collection/:id`: changes the fields given; null clears. */
export function updateRecord(call: ControlCall): ControlResponse {
  const { company } = queryOf(companyQuery, call);
  const place = placeOf(call, company);
  const before = rowOf(call, place);
  const { id, ...fields } = call.body;
  if (id !== undefined && String(id) !== before.id)
    throw at('id', new TypeError('The id of a record cannot be changed. Create another record.'));
  place.collection.checkFields(fields);
  const names = Object.keys(fields);
  if (names.length === 0) return json(before.record);
  const row = place.collection.update(before, fields);
  commit(call, place, { action: 'update', id: row.id, fields: names });
  return json(row.record);
}

/** `DELETE /records/:collection/:id`. */
export function deleteRecord(call: ControlCall): ControlResponse {
  const { company } = queryOf(companyQuery, call);
  const place = placeOf(call, company);
  const { id } = rowOf(call, place);
  place.collection.delete(id);
  commit(call, place, { action: 'delete', id, fields: [] });
  return NOTHING;
}

/** A record after its last write. */
function rowOf({ parameters: { id = '' } }: ControlCall, { collection }: Place): Row {
  const row = collection.latest(id);
  if (row === undefined)
    throw new ProblemError('not_found', `${collection.name} has no record ${JSON.stringify(id)}.`);
  return row;
}

function commit(
  { core: { state } }: ControlCall,
  { company, collection }: Place,
  change: Pick<Commit, 'action' | 'id' | 'fields'>,
): void {
  state.journal.add({
    ...change,
    company,
    collection: collection.name,
    at: new Date(state.clock.now()),
    key: BY_CONTROL,
    idempotencyKey: undefined,
  });
}
