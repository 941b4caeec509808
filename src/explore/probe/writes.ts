import { monotonicMs } from '../../internal/monotonic-clock.ts';
import { sleep } from '../../internal/sleep.ts';
import { newIdempotencyKey } from '../../transport/idempotency-key.ts';
import { idsOf, isRow, type Row } from '../rows.ts';
import { allUnknown, known, unknown } from './finding.ts';
import type { Finding, WriteFindings } from './report.ts';
import { isRejection, type ProbeRequest, type ProbeResponse, type ProbeSession } from './session.ts';

const DRAFT = {
  name: 'Probe of accounting-data-sdk (can be deleted)',
  description: 'Created to find out how the service responds; deleted at once.',
  salePrice: '1.5',
};

const PRODUCTS = ['products'];

/** Content types of JSON, the one of the specification first. */
const TYPES = {
  create: ['application/json', 'application/ld+json'],
  update: ['application/json', 'application/merge-patch+json', 'application/ld+json'],
};
type Operation = keyof typeof TYPES;

/** Pauses before each look for a new record, in ms: fifteen seconds in all. */
const LOOK_AFTER_MS = [0, 250, 500, 1000, 2000, 4000, 8000];

/** Zones reach from -12 to +14 hours, and the filter may compare local times. */
const YESTERDAY_MS = 26 * 60 * 60 * 1000;

/** How a new record was seen, by the finding. */
const SEEN = { foundAfterMs: 'read', listedAfterMs: 'listed' } as const;
const SEEN_NAMES = Object.keys(SEEN) as readonly (keyof typeof SEEN)[];

/** Whether a new record was seen, or why that cannot be said. */
type Sight = boolean | string;

const ONE_ATTEMPT = { retry: { maxAttempts: 1 } };

/** What is written. */
interface WriteOptions {
  /** Further fields of the product, if the service requires some. */
  readonly draft: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal | undefined;
  /** Called with the products that are left if the probe ends without findings. */
  readonly onLeftBehind?: ((ids: readonly string[]) => void) | undefined;
}

/**
 * The most requests: for the create, the lookups and lists after it, and two updates with a read after a 204; one each for a
 * replay, another body and the delete; and four to clean up, one of them for a product whose id is unknown.
 */
export const WRITE_REQUESTS =
  TYPES.create.length + 1 + 2 * LOOK_AFTER_MS.length + 1 + TYPES.update.length + 2 + 2 + 3 + 4;

/** The findings that need a write, in the order of the report. */
const FINDINGS = [
  'createStatus',
  'createContentType',
  'requiredFields',
  'foundAfterMs',
  'listedAfterMs',
  'visibleAfterMs',
  'replay',
  'differentBody',
  'updateStatus',
  'updateContentType',
  'nullFields',
  'moneyDigits',
  'unknownFields',
  'deleteStatus',
] as const;

/** Why it is unknown when a new record is shown: not within the time that a probe waits. */
export const NEVER_SEEN = 'a new record was not seen everywhere';

/** Why nothing is known of writes if none was asked for. */
export const ONLY_WRITING = 'only writing shows it';

/** Everything unknown, for one reason. */
export function nothingWritten(reason: string): WriteFindings {
  return { ...allUnknown(reason, FINDINGS), leftBehind: [] };
}

/**
 * Creates a product under a key, sends the same again, updates, clears and deletes it. Whatever happens, every product
 * that the probe created is deleted in the end; the findings name those that could not be.
 */
export async function probeWrites(session: ProbeSession, options: WriteOptions): Promise<WriteFindings> {
  const probe = new WriteProbe(session, options);
  try {
    const findings = await probe.run();
    return { ...findings, leftBehind: await probe.cleanUp() };
  } catch (error) {
    const left = await probe.cleanUp();
    if (left.length > 0) options.onLeftBehind?.(left);
    throw error;
  }
}

class WriteProbe {
  readonly #session: ProbeSession;
  readonly #signal: AbortSignal | undefined;
  readonly #draft: Row;
  readonly #idempotencyKey = newIdempotencyKey();
  /** Ids of products that exist. */
  readonly #created = new Set<string>();
  /** Ids of products that a request found: for others, a 404 does not show that they are gone. */
  readonly #found = new Set<string>();
  /** The content types that the service accepted; undefined if it accepted none. */
  readonly #contentTypes: Record<Operation, string | undefined> = { create: undefined, update: undefined };
  /** Whether a product may exist whose id is unknown. */
  #mayExist = false;

  constructor(session: ProbeSession, { draft, signal }: WriteOptions) {
    this.#session = session;
    this.#signal = signal;
    this.#draft = { ...DRAFT, ...draft };
  }

  async run(): Promise<WriteFindings> {
    this.#mayExist = true;
    const created = await this.#withSomeType('create', () => this.#create(this.#draft));
    const record = this.#remember(created);
    this.#mayExist = record === undefined && mayBeApplied(created);
    if (record === undefined) return withoutRecord(created);

    const { id } = record;
    return {
      createStatus: known(created.status ?? 0, 'a create'),
      createContentType: this.#contentTypeOf('create'),
      requiredFields: unknown('the draft was accepted'),
      ...(await this.#visibleAfter(id)),
      replay: await this.#replay(id),
      differentBody: await this.#differentBody(id),
      ...(await this.#update(id)),
      moneyDigits: digitsOf(record.salePrice, this.#draft.salePrice),
      unknownFields: await this.#unknownField(id),
      deleteStatus: await this.#delete(id),
      leftBehind: [],
    };
  }

  /** Deletes what still exists, even after an abort; returns the ids of what could not be deleted. */
  async cleanUp(): Promise<string[]> {
    // The same key again returns the product that exists, or creates the one that is deleted now.
    if (this.#mayExist) this.#remember(await this.#create(this.#draft, { always: true }));
    for (const id of [...this.#created]) {
      const response = await this.#session.send({ path: [...PRODUCTS, id], method: 'DELETE', always: true });
      const isGone = response.status === 404 && this.#found.has(id);
      if (response.ok || isGone) this.#created.delete(id);
    }
    return [...this.#created];
  }

  #create(body: Row, how: Pick<ProbeRequest, 'retry' | 'always'> = {}): Promise<ProbeResponse> {
    const idempotencyKey = this.#idempotencyKey;
    const contentType = this.#contentTypes.create;
    return this.#session.send({ path: PRODUCTS, method: 'POST', body, idempotencyKey, contentType, ...how });
  }

  #patch(id: string, body: Row): Promise<ProbeResponse> {
    const contentType = this.#contentTypes.update;
    return this.#session.send({ path: [...PRODUCTS, id], method: 'PATCH', body, contentType });
  }

  /** Tries the content types until the service does not respond with 415, which means that nothing was written. */
  async #withSomeType(operation: Operation, send: () => Promise<ProbeResponse>): Promise<ProbeResponse> {
    for (const type of TYPES[operation]) {
      this.#contentTypes[operation] = type;
      const response = await send();
      if (response.status !== 415) return response;
    }
    this.#contentTypes[operation] = undefined;
    return send();
  }

  #contentTypeOf(operation: Operation): Finding<string> {
    const types = TYPES[operation];
    const type = this.#contentTypes[operation];
    if (type === undefined) return unknown(`415 for ${types.join(', ')}`);
    const before = types.slice(0, types.indexOf(type));
    const rejected = before.length === 0 ? '' : `, after 415 for ${before.join(', ')}`;
    return known(type, `${operation === 'create' ? 'POST' : 'PATCH'} is accepted as ${type}${rejected}`);
  }

  #remember(response: ProbeResponse): (Row & { readonly id: string }) | undefined {
    if (!response.ok || !isRow(response.body)) return undefined;
    const [id] = idsOf([response.body]);
    if (id === undefined) return undefined;
    this.#created.add(id);
    return { ...response.body, id };
  }

  /** Looks for a new record by its id and in a list, until both show it. */
  async #visibleAfter(id: string): Promise<Pick<WriteFindings, keyof typeof SEEN | 'visibleAfterMs'>> {
    const since = monotonicMs();
    const looks = { foundAfterMs: () => this.#isFound(id), listedAfterMs: this.#lister(id) };
    const findings = new Map<keyof typeof SEEN, Finding<number>>();
    for (const [index, pauseMs] of LOOK_AFTER_MS.entries()) {
      if (pauseMs > 0) await sleep(pauseMs, this.#signal);
      for (const name of SEEN_NAMES.filter((one) => !findings.has(one))) {
        const sight = await looks[name]();
        if (typeof sight === 'string') findings.set(name, unknown(sight));
        else if (sight)
          findings.set(name, seenAfter(index === 0 ? 0 : monotonicMs() - since, SEEN[name], index));
      }
      if (findings.size === SEEN_NAMES.length) break;
    }
    const never = (name: keyof typeof SEEN) =>
      unknown(`a new record could not be ${SEEN[name]} within ${monotonicMs() - since} ms`);
    const [found, listed] = SEEN_NAMES.map((name) => findings.get(name) ?? never(name)) as [
      Finding<number>,
      Finding<number>,
    ];
    const visibleAfterMs =
      findings.size < SEEN_NAMES.length
        ? unknown(NEVER_SEEN)
        : (found.value ?? 0) >= (listed.value ?? 0)
          ? found
          : listed;
    return { foundAfterMs: found, listedAfterMs: listed, visibleAfterMs };
  }

  async #isFound(id: string): Promise<Sight> {
    const response = await this.#session.send({ path: [...PRODUCTS, id] });
    if (response.ok) this.#found.add(id);
    if (response.ok) return true;
    return response.status === 404 ? false : `reading the new record failed: ${codeOf(response)}`;
  }

  /** Looks for a record in a list: by its id, or among what changed since yesterday if bounds on ids are not applied. */
  #lister(id: string): () => Promise<Sight> {
    const yesterday = new Date(this.#session.now - YESTERDAY_MS).toISOString().slice(0, 19);
    const queries: Readonly<Record<string, string>>[] = [
      { 'id[gte]': id, 'id[lte]': id },
      { updatedSince: `${yesterday}Z` },
    ];
    return async () => {
      for (;;) {
        const [query] = queries;
        if (query === undefined) return 'no filter shows whether a list has the new record';
        const response = await this.#session.list('products', query);
        if (!response.ok && !isRejection(response)) return `a list failed: ${response.code}`;
        const ids = response.ok ? idsOf(response.rows) : [];
        if (ids.includes(id)) return true;
        if (response.ok && (ids.length === 0 || queries.length === 1)) return false;
        queries.shift();
      }
    };
  }

  /** What another create with the key of the first one returned. */
  #returned(response: ProbeResponse, id: string, what: string): Finding<'stored' | 'second_record'> {
    return this.#remember(response)?.id === id
      ? known('stored', `${what} returned the product of the first create`)
      : known('second_record', `${what} created a second product`);
  }

  /** With one attempt: the client would retry the very response that this looks for. */
  async #replay(id: string): Promise<WriteFindings['replay']> {
    const response = await this.#create(this.#draft, ONE_ATTEMPT);
    const what = 'the same Idempotency-Key and body again';
    if (response.ok) return this.#returned(response, id, what);
    const { status, error } = response;
    if (isFailure(response)) return unknown(`${what} failed: ${codeOf(response)}`);
    return known(status === 409 ? 'conflict' : error.code, `${what}: ${status}`);
  }

  async #differentBody(id: string): Promise<WriteFindings['differentBody']> {
    const response = await this.#create({ ...this.#draft, name: `${DRAFT.name}, changed` }, ONE_ATTEMPT);
    const what = 'the same Idempotency-Key with another body';
    if (response.ok) return this.#returned(response, id, what);
    if (isFailure(response)) return unknown(`${what} failed: ${codeOf(response)}`);
    const isRejected = response.status === 409 || isRejection(response);
    return known(isRejected ? 'rejected' : response.error.code, `${what}: ${response.status}`);
  }

  async #update(
    id: string,
  ): Promise<Pick<WriteFindings, 'updateStatus' | 'updateContentType' | 'nullFields'>> {
    const patch = { salePrice: '2.25', description: null };
    const response = await this.#withSomeType('update', () => this.#patch(id, patch));
    if (!response.ok) {
      const failed = `the update failed: ${codeOf(response)}`;
      return allUnknown(failed, ['updateStatus', 'updateContentType', 'nullFields']);
    }
    const updateStatus = known(response.status, 'an update');
    const updateContentType = this.#contentTypeOf('update');
    const after = await this.#after(response, id);
    if (after === undefined) {
      return { updateStatus, updateContentType, nullFields: unknown('the record could not be read') };
    }
    const { description } = after;
    const isCleared = description === null || description === undefined;
    return {
      updateStatus,
      updateContentType,
      nullFields: isCleared
        ? known(
            description === null ? 'sent' : 'omitted',
            `a cleared description is ${description === null ? 'null' : 'missing from the record'}`,
          )
        : unknown('description was not cleared'),
    };
  }

  /** The record after an update: the response may have none, such as a 204. */
  async #after(updated: ProbeResponse, id: string): Promise<Row | undefined> {
    const isShown = updated.ok && isRow(updated.body);
    const response = isShown ? updated : await this.#session.send({ path: [...PRODUCTS, id] });
    return response.ok && isRow(response.body) ? response.body : undefined;
  }

  async #unknownField(id: string): Promise<WriteFindings['unknownFields']> {
    const response = await this.#patch(id, { accountingDataSdkProbe: 'x' });
    const what = 'an update of a field that does not exist';
    if (response.ok) {
      const after = await this.#after(response, id);
      if (after === undefined) return unknown('the record could not be read');
      return known(Object.hasOwn(after, 'accountingDataSdkProbe') ? 'kept' : 'ignored', what);
    }
    return isRejection(response)
      ? known('rejected', `${what}: ${response.status}`)
      : unknown(`${what} failed: ${codeOf(response)}`);
  }

  async #delete(id: string): Promise<WriteFindings['deleteStatus']> {
    const response = await this.#session.send({ path: [...PRODUCTS, id], method: 'DELETE' });
    if (!response.ok) return unknown(`the delete failed: ${codeOf(response)}`);
    this.#created.delete(id);
    return known(response.status, 'a delete');
  }
}

function seenAfter(ms: number, how: string, pauses: number): Finding<number> {
  if (pauses === 0) return known(0, `a new record could be ${how} at once`);
  return known(ms, `a new record could be ${how} after ${ms} ms, with look ${pauses + 1}`);
}

/** What an error is called: the code `unknown_problem` says less than the status. */
function codeOf({ status, error }: ProbeResponse & { readonly ok: false }): string {
  return error.code === 'unknown_problem' ? String(status) : error.code;
}

/** Whether the network or an outage may be the cause of an error, which then says nothing about the request. */
function isFailure({ status }: ProbeResponse): boolean {
  return status === undefined || status >= 500;
}

/** Whether a product may exist although the response does not show it. */
function mayBeApplied(response: ProbeResponse): boolean {
  return response.ok || response.error.outcome === 'unknown' || response.error.outcome === 'applied';
}

/** The findings of a create that returned no record. */
function withoutRecord(created: ProbeResponse): WriteFindings {
  if (created.ok) return nothingWritten('the create returned no record: look for it by its name');

  const { error } = created;
  const nothing = nothingWritten(`the create failed: ${codeOf(created)}`);
  if (error.code !== 'validation_failed') return nothing;
  const fields = new Set(error.violations.map(({ propertyPath }) => propertyPath));
  return { ...nothing, requiredFields: known([...fields], 'violations of the draft; give these fields') };
}

function digitsOf(shown: unknown, sent: unknown): WriteFindings['moneyDigits'] {
  if (typeof shown !== 'string' || typeof sent !== 'string')
    return unknown('salePrice did not come back as a string');
  const digits = shown.split('.')[1]?.length ?? 0;
  return known(shown === sent ? 'as-sent' : digits, `salePrice ${sent} came back as ${shown}`);
}
