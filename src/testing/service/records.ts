import type { Fields } from '../fixtures.ts';
import type { Credential } from '../keys.ts';
import type { ServiceRequest, ServiceResponse } from '../message.ts';
import type { ResolvedSandboxOptions } from '../options.ts';
import { selects } from '../store/record-selection.ts';
import type { Row } from '../store/row.ts';
import { fingerprint, type KeyedCreate } from './idempotency.ts';
import { ProblemError } from './problem.ts';
import { readJsonObject } from './read-body.ts';
import { NOT_UNIQUE, readFields, rejectViolations } from './read-fields.ts';
import { recordResponse } from './represent.ts';
import type { Commit, RoutedRequest, ServiceState } from './state.ts';

export function get(call: RoutedRequest): ServiceResponse {
  const row = call.collection.get(call.id);
  if (row === undefined || !call.collection.isFound(call.id))
    throw new ProblemError('not_found', `There is no record ${call.id}.`);
  return respond(call, 200, row);
}

/** POST: a record, once for each Idempotency-Key. */
export function create(call: RoutedRequest, state: ServiceState): ServiceResponse {
  const { clock, idempotency, options } = state;
  const { collection, credential, request } = call;
  const body = readJsonObject(request, options);
  const keyed = keyedCreate(credential, request, options);
  if (keyed === undefined && options.idempotency.replay !== 'ignored') {
    throw new ProblemError('idempotency_key_required', 'Send a value that is unique to this request.');
  }
  const earlier = keyed === undefined ? undefined : idempotency.replay(keyed, clock.now());
  if (earlier !== undefined) return earlier;

  const fields = readFields(collection.name, body, options);
  checkUnique(call, fields, options);
  const row = collection.create(fields);
  commit(state, call, { action: 'create', id: row.id, fields: Object.keys(fields) });
  const response = () => respond(call, options.createStatus, row);
  if (keyed !== undefined) idempotency.store(keyed, response, clock.now());
  return response();
}

/** A create with its key; undefined if the request has no key, or the service does not read it. */
function keyedCreate(
  { grant: { company } }: Credential,
  request: ServiceRequest,
  options: ResolvedSandboxOptions,
): KeyedCreate | undefined {
  const key = request.headers['idempotency-key'];
  if (key === undefined || key.trim() === '' || options.idempotency.replay === 'ignored') return undefined;
  return { company, key, body: fingerprint(readJsonObject(request, options)) };
}

/**
 * Marks the Idempotency-Key of a create as running until the caller calls the function returned; with `over` even if the
 * create was applied.
 */
export function startCreate(
  { idempotency, clock, keyring, options }: ServiceState,
  request: ServiceRequest,
  how: { readonly over?: boolean } = {},
) {
  const credential = keyring.authenticate(request);
  try {
    const create = credential && request.method === 'POST' && keyedCreate(credential, request, options);
    if (create) return idempotency.start(create, clock.now(), how);
  } catch (error) {
    // The service rejects an unreadable body when it processes the request.
    if (!(error instanceof ProblemError)) throw error;
  }
  return () => {};
}

/** PATCH: changes the fields of the body and no others; null clears. An empty body changes nothing. */
export function update(call: RoutedRequest, state: ServiceState): ServiceResponse {
  const { collection, request } = call;
  const before = writableRow(state, call);
  const body = readJsonObject(request, state.options);
  const fields = readFields(collection.name, body, state.options, before.record);
  checkUnique(call, fields, state.options);
  const names = Object.keys(fields);
  const row = names.length === 0 ? before : collection.update(before, fields);
  if (names.length > 0) commit(state, call, { action: 'update', id: row.id, fields: names });
  return respond(call, state.options.updateStatus, row);
}

/** DELETE of a record. */
export function remove(call: RoutedRequest, state: ServiceState): ServiceResponse {
  const row = writableRow(state, call);
  call.collection.delete(call.id);
  commit(state, call, { action: 'delete', id: call.id, fields: [] });
  return respond(call, state.options.deleteStatus, row);
}

/** The record that a request changes: 404 if there is none, 403 if it rejects changes (specification: Errors). */
function writableRow({ options }: ServiceState, { collection, id }: RoutedRequest): Row {
  const row = collection.latest(id);
  if (row === undefined || !collection.isFound(id))
    throw new ProblemError('not_found', `There is no record ${id}.`);
  if (collection.locked.has(id) || selects(options.lockedRecords, row, collection.segment, options)) {
    throw new ProblemError('forbidden', `Record ${id} cannot be changed.`);
  }
  return row;
}

/** Rejects a value of `uniqueFields` that another record has. */
function checkUnique(
  { collection, id }: RoutedRequest,
  fields: Fields,
  { uniqueFields }: ResolvedSandboxOptions,
): void {
  const taken = uniqueFields.filter((field) => {
    const value = fields[field];
    if (value === undefined || value === null || value === '') return false;
    return collection.some((row) => row.id !== id && row.record[field] === value);
  });
  if (taken.length === 0) return;
  rejectViolations(
    taken.map((propertyPath) => ({ propertyPath, message: 'This value is already used.', code: NOT_UNIQUE })),
  );
}

function respond(call: RoutedRequest, status: number, { record }: Row): ServiceResponse {
  if (status === 204) return { status, headers: {}, body: undefined };
  const { name, options } = call.collection;
  return recordResponse(status, record, { collection: name, format: call.format, options });
}

function commit(
  { clock, journal }: ServiceState,
  { collection, credential, request }: RoutedRequest,
  change: Pick<Commit, 'action' | 'id' | 'fields'>,
): void {
  journal.add({
    ...change,
    company: credential.grant.company,
    collection: collection.name,
    at: new Date(clock.now()),
    key: credential.name,
    idempotencyKey: request.headers['idempotency-key'],
  });
}
