import type { Credential } from '../keys.ts';
import type { ResolvedSandboxOptions } from '../resolve-options.ts';
import type { Collection } from '../store/collection.ts';
import type { CompanyName } from '../store/company.ts';
import type { Row } from '../store/row.ts';
import { fingerprint, type LogicalRequest } from './idempotency.ts';
import type { Commit } from './journal.ts';
import type { ServiceReply, ServiceRequest } from './message.ts';
import { Refusal, refusalReply } from './problem.ts';
import { readJsonObject } from './read-body.ts';
import { type Format, recordReply } from './represent.ts';
import type { ServiceState } from './state.ts';
import { readFields } from './validate.ts';

/** A request that has passed authentication, routing and permission. */
export interface Call {
  readonly request: ServiceRequest;
  readonly credential: Credential;
  readonly company: CompanyName;
  readonly collection: Collection;
  readonly id: string;
  /** Of the response. */
  readonly format: Format;
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

function reply(
  { options }: ServiceState,
  { collection, format }: Call,
  { status, row }: { status: number; row: Row },
): ServiceReply {
  return recordReply(status, row.record, { collection: collection.name, format, options });
}

/** The record that a write is about, or 404; 403 for one that refuses the operation (contract: Errors). */
function target({ collection, id }: Call): Row {
  const row = collection.rows.latest(id);
  if (row === undefined) throw new Refusal('not_found', `There is no record ${id}.`);
  if (collection.locked.has(id)) throw new Refusal('forbidden', `Record ${id} cannot be changed.`);
  return row;
}

/** The identity of a create; undefined where the request has no key, or the service does not read it. */
export function logicalRequest(
  company: CompanyName,
  request: ServiceRequest,
  options: ResolvedSandboxOptions,
): LogicalRequest | undefined {
  const key = request.headers['idempotency-key'];
  if (key === undefined || key.trim() === '' || options.idempotency.replay === 'ignored') return undefined;
  return { company, key, body: fingerprint(readJsonObject(request, options)) };
}

/** POST: a record, once for each Idempotency-Key. */
export function create(state: ServiceState, call: Call): ServiceReply {
  const { clock, idempotency, options } = state;
  const body = readJsonObject(call.request, options);
  const logical = logicalRequest(call.company, call.request, options);
  if (logical === undefined && options.idempotency.replay !== 'ignored') {
    throw new Refusal('idempotency_key_required', 'Send a value that is unique to this request.');
  }
  const earlier = logical === undefined ? undefined : idempotency.replay(logical, clock.now());
  if (earlier !== undefined) return earlier;

  const store = (response: () => ServiceReply) => {
    if (logical !== undefined) idempotency.keep(logical, response, clock.now());
    return response();
  };
  try {
    const fields = readFields(call.collection.name, body, options);
    const row = call.collection.insert(fields, writeTime(state));
    journal(state, call, { action: 'create', id: row.id, fields: Object.keys(fields) });
    return store(() => reply(state, call, { status: options.createStatus, row }));
  } catch (error) {
    if (!(error instanceof Refusal) || !options.idempotency.storeRejections) throw error;
    return store(() => refusalReply(error, options));
  }
}

/** PATCH: the fields of the body and no others; null clears. An empty body changes nothing. */
export function update(state: ServiceState, call: Call): ServiceReply {
  const before = target(call);
  const fields = readFields(
    call.collection.name,
    readJsonObject(call.request, state.options),
    state.options,
    before.record,
  );
  const names = Object.keys(fields);
  const row = names.length === 0 ? before : call.collection.update(before, fields, writeTime(state));
  if (names.length > 0) journal(state, call, { action: 'update', id: row.id, fields: names });

  const { updateStatus } = state.options;
  return updateStatus === 204
    ? { status: 204, headers: {}, body: undefined }
    : reply(state, call, { status: updateStatus, row });
}

/** DELETE. */
export function remove(state: ServiceState, call: Call): ServiceReply {
  const row = target(call);
  call.collection.delete(call.id, writeTime(state));
  journal(state, call, { action: 'delete', id: call.id, fields: [] });
  return state.options.deleteStatus === 204
    ? { status: 204, headers: {}, body: undefined }
    : reply(state, call, { status: 200, row });
}
