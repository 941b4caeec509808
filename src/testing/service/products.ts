import type { Credential } from '../keys.ts';
import type { Collection } from '../store/collection.ts';
import type { CompanyName } from '../store/company.ts';
import type { Row } from '../store/row.ts';
import { fingerprint, type LogicalRequest } from './idempotency.ts';
import type { Commit } from './journal.ts';
import { jsonReply, type ServiceReply, type ServiceRequest } from './message.ts';
import { Refusal } from './problem.ts';
import { readJsonObject } from './read-body.ts';
import type { ServiceState } from './state.ts';
import { readFields } from './validate.ts';

/** A request that has passed authentication, routing and permission. */
export interface Call {
  readonly request: ServiceRequest;
  readonly credential: Credential;
  readonly company: CompanyName;
  readonly collection: Collection;
  readonly id: string;
}

function writeTime({ clock, options }: ServiceState) {
  const now = clock.now();
  return { now, visibleAt: now + options.commitDelayMs };
}

function journal(state: ServiceState, call: Call, commit: Pick<Commit, 'action' | 'id' | 'fields'>): void {
  const { company, collection, credential, request } = call;
  const at = new Date(state.clock.now());
  const idempotencyKey = request.headers['idempotency-key'];
  state.journal.add({
    ...commit,
    company,
    collection: collection.name,
    at,
    key: credential.name,
    idempotencyKey,
  });
}

/** The record that a write is about, or 404; 403 for one that refuses the operation (contract: Errors). */
function target({ collection, id }: Call): Row {
  const row = collection.rows.latest(id);
  if (row === undefined) throw new Refusal('not_found', `There is no record ${id}.`);
  if (collection.locked.has(id)) throw new Refusal('forbidden', `Record ${id} cannot be changed.`);
  return row;
}

/** The identity of a create; undefined where the request has no key. */
export function logicalRequest(company: CompanyName, request: ServiceRequest): LogicalRequest | undefined {
  const key = request.headers['idempotency-key'];
  if (key === undefined || key.trim() === '') return undefined;
  return { company, key, body: fingerprint(readJsonObject(request)) };
}

/** POST: a record, once for each Idempotency-Key. */
export function create(state: ServiceState, call: Call): ServiceReply {
  const body = readJsonObject(call.request);
  const logical = logicalRequest(call.company, call.request);
  if (logical === undefined) {
    throw new Refusal('idempotency_key_required', 'Send a value that is unique to this request.');
  }
  const earlier = state.idempotency.replay(logical, state.clock.now());
  if (earlier !== undefined) return earlier;

  const fields = readFields(call.collection.name, body, state.options);
  const row = call.collection.insert(fields, writeTime(state));
  journal(state, call, { action: 'create', id: row.id, fields: Object.keys(fields) });
  const answer = () => jsonReply(state.options.createStatus, row.record);
  state.idempotency.keep(logical, answer, state.clock.now());
  return answer();
}

/** PATCH: the fields of the body and no others; null clears. An empty body changes nothing. */
export function update(state: ServiceState, call: Call): ServiceReply {
  const before = target(call);
  const fields = readFields(call.collection.name, readJsonObject(call.request), state.options, before.record);
  const names = Object.keys(fields);
  const row = names.length === 0 ? before : call.collection.update(before, fields, writeTime(state));
  if (names.length > 0) journal(state, call, { action: 'update', id: row.id, fields: names });

  const { updateStatus } = state.options;
  return updateStatus === 204
    ? { status: 204, headers: {}, body: undefined }
    : jsonReply(updateStatus, row.record);
}

/** DELETE. */
export function remove(state: ServiceState, call: Call): ServiceReply {
  const { record } = target(call);
  call.collection.delete(call.id, writeTime(state));
  journal(state, call, { action: 'delete', id: call.id, fields: [] });
  return state.options.deleteStatus === 204
    ? { status: 204, headers: {}, body: undefined }
    : jsonReply(200, record);
}
