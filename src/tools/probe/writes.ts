import { newIdempotencyKey } from '../../transport/idempotency-key.ts';
import { isRow, type Row } from '../list-body.ts';
import { type Finding, known, unknown } from './finding.ts';
import type { Answer, ProbeSession, Question } from './probe-session.ts';
import { waitUntilVisible } from './visibility.ts';
import { nothingWritten, type WriteFindings } from './write-findings.ts';

/** What is written. */
export interface WriteOptions {
  /** Further fields of the product, where the service asks for some. */
  readonly draft: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal | undefined;
  /** Told of products that are left where the writing ends without findings. */
  readonly onLeftBehind?: ((ids: readonly string[]) => void) | undefined;
}

const DRAFT = {
  name: 'Probe of accounting-data-sdk (can be deleted)',
  description: 'Made to see how the service answers; deleted at once.',
  salePrice: '1.5',
};

const PRODUCTS = ['products'];

/** Content types of JSON, the one of the specification first. */
const CREATE_TYPES = ['application/json', 'application/ld+json'];
const UPDATE_TYPES = ['application/json', 'application/merge-patch+json', 'application/ld+json'];

type Updated = Pick<WriteFindings, 'updateStatus' | 'updateContentType' | 'patchSemantics' | 'nullFields'>;

const ONE_ATTEMPT = { retry: { maxAttempts: 1 } };

/**
 * The life of one product: create under a key, the same again, update, clear, delete. Whatever happens, every product
 * that was made is deleted in the end; what could not be is named.
 */
export async function probeWrites(session: ProbeSession, options: WriteOptions): Promise<WriteFindings> {
  const made = new Set<string>();
  const life = new ProductLife(session, made, options);
  try {
    const findings = await life.run();
    return { ...findings, leftBehind: await life.deleteAll() };
  } catch (error) {
    const left = await life.deleteAll();
    if (left.length > 0) options.onLeftBehind?.(left);
    throw error;
  }
}

class ProductLife {
  readonly #session: ProbeSession;
  readonly #made: Set<string>;
  readonly #options: WriteOptions;
  readonly #draft: Row;
  readonly #idempotencyKey = newIdempotencyKey();
  /** The content types that were accepted, or are tried. */
  readonly #contentTypes: { create: string | undefined; update: string | undefined } = {
    create: undefined,
    update: undefined,
  };
  /** Whether a product may have been made whose id never came back. */
  #mayBeNameless = false;

  constructor(session: ProbeSession, made: Set<string>, options: WriteOptions) {
    this.#session = session;
    this.#made = made;
    this.#options = options;
    this.#draft = { ...DRAFT, ...options.draft };
  }

  async run(): Promise<WriteFindings> {
    this.#mayBeNameless = true;
    const created = await this.#createInSomeType();
    const record = this.#remember(created);
    this.#mayBeNameless = record === undefined && mayHaveBeenMade(created);
    if (record === undefined) return rejected(created);

    const visibleAfterMs = await waitUntilVisible(
      this.#session,
      [...PRODUCTS, record.id],
      this.#options.signal,
    );
    const replay = await this.#replay(record.id);
    const differentBody = await this.#differentBody(record.id);
    const updated = await this.#update(record.id);
    const unknownFields = await this.#unknownField(record.id);
    const deleted = await this.#delete(record.id);
    return {
      ...nothingWritten('not seen'),
      createStatus: known(created.status ?? 0, 'a create'),
      createContentType: this.#contentTypeOf('create'),
      requiredFields: unknown('the draft was accepted'),
      visibleAfterMs,
      ...replay,
      differentBody,
      ...updated,
      moneyDigits: digitsOf(record.salePrice, this.#draft.salePrice),
      unknownFields,
      ...deleted,
    };
  }

  /** Deletes what is still there, also after an abort; gives the ids of what would not go. */
  async deleteAll(): Promise<string[]> {
    // The same key once more: the service answers with the product that it made, or makes the one that is deleted now.
    if (this.#mayBeNameless) this.#remember(await this.#create(this.#draft, { always: true }));
    for (const id of [...this.#made]) {
      const answer = await this.#session.ask({ path: [...PRODUCTS, id], method: 'DELETE', always: true });
      if (answer.ok || answer.status === 404) this.#made.delete(id);
    }
    return [...this.#made];
  }

  #create(body: Row, how: Pick<Question, 'retry' | 'always'> = {}): Promise<Answer> {
    const idempotencyKey = this.#idempotencyKey;
    const contentType = this.#contentTypes.create;
    return this.#session.ask({ path: PRODUCTS, method: 'POST', body, idempotencyKey, contentType, ...how });
  }

  /** Tries the content types of JSON until one is not answered with 415; nothing was created before. */
  async #createInSomeType(): Promise<Answer> {
    for (const type of CREATE_TYPES) {
      this.#contentTypes.create = type;
      const answer = await this.#create(this.#draft);
      if (answer.status !== 415) return answer;
    }
    this.#contentTypes.create = undefined;
    return this.#create(this.#draft);
  }

  async #updateInSomeType(id: string, body: Row): Promise<Answer> {
    for (const type of UPDATE_TYPES) {
      this.#contentTypes.update = type;
      const answer = await this.#patch(id, body);
      if (answer.status !== 415) return answer;
    }
    this.#contentTypes.update = undefined;
    return this.#patch(id, body);
  }

  #patch(id: string, body: Row): Promise<Answer> {
    const contentType = this.#contentTypes.update;
    return this.#session.ask({ path: [...PRODUCTS, id], method: 'PATCH', body, contentType });
  }

  #contentTypeOf(operation: 'create' | 'update'): Finding<string> {
    const type = this.#contentTypes[operation];
    const types = operation === 'create' ? CREATE_TYPES : UPDATE_TYPES;
    if (type === undefined) return unknown(`415 for ${types.join(', ')}`);
    const before = types.slice(0, types.indexOf(type));
    const rejected = before.length === 0 ? '' : `, after 415 for ${before.join(', ')}`;
    return known(type, `${operation === 'create' ? 'POST' : 'PATCH'} is accepted as ${type}${rejected}`);
  }

  #remember(answer: Answer): (Row & { readonly id: string }) | undefined {
    if (!answer.ok || !isRow(answer.body) || typeof answer.body.id !== 'string') return undefined;
    this.#made.add(answer.body.id);
    return answer.body as Row & { readonly id: string };
  }

  /** One attempt: the answer that an SDK would retry is the one that is looked for. */
  async #replay(id: string): Promise<Pick<WriteFindings, 'replay' | 'replayType'>> {
    const answer = await this.#create(this.#draft, ONE_ATTEMPT);
    const asked = 'the same Idempotency-Key and body again';
    if (!answer.ok) {
      const type =
        'type' in answer.error && typeof answer.error.type === 'string' ? answer.error.type : undefined;
      return {
        replay: known(answer.status === 409 ? 'conflict' : answer.error.code, `${asked}: ${answer.status}`),
        replayType:
          type === undefined ? unknown(`${asked}: no type`) : known(type, `${asked}: ${answer.status}`),
      };
    }
    const replay = this.#remember(answer)?.id === id ? 'stored' : 'second_record';
    return { replay: known(replay, asked), replayType: unknown(`${asked} is no error`) };
  }

  async #differentBody(id: string): Promise<WriteFindings['differentBody']> {
    const answer = await this.#create({ ...this.#draft, name: `${DRAFT.name}, changed` }, ONE_ATTEMPT);
    const asked = 'the same Idempotency-Key with another body';
    if (!answer.ok) {
      const refused = answer.status === 409 || answer.status === 422 || answer.status === 400;
      return known(refused ? 'rejected' : answer.error.code, `${asked}: ${answer.status}`);
    }
    return known(this.#remember(answer)?.id === id ? 'stored' : 'second_record', asked);
  }

  async #update(id: string): Promise<Updated> {
    const answer = await this.#updateInSomeType(id, { salePrice: '2.25', description: null });
    if (!answer.ok) {
      const failed = unknown(`the update failed: ${answer.error.code}`);
      return { updateStatus: failed, updateContentType: failed, patchSemantics: failed, nullFields: failed };
    }
    const updateStatus = known(answer.status, 'an update');
    const updateContentType = this.#contentTypeOf('update');
    const after = isRow(answer.body) ? answer : await this.#session.ask({ path: [...PRODUCTS, id] });
    if (!after.ok || !isRow(after.body)) {
      const failed = unknown('the record could not be read');
      return { updateStatus, updateContentType, patchSemantics: failed, nullFields: failed };
    }

    const { name, description = null, salePrice } = after.body;
    const asDocumented = name === this.#draft.name && description === null && Number(salePrice) === 2.25;
    // A read after a 204 may be older than the update.
    const stale = after !== answer && !asDocumented;
    const asked = 'one field set, one null, the others left out';
    return {
      updateStatus,
      updateContentType,
      nullFields: nullFieldOf(after.body.description),
      patchSemantics: stale ? unknown('the read after it may be older') : known(asDocumented, asked),
    };
  }

  async #unknownField(id: string): Promise<WriteFindings['unknownFields']> {
    const answer = await this.#patch(id, { accountingDataSdkProbe: 'x' });
    const asked = 'an update of a field that does not exist';
    if (!answer.ok) {
      const refused = answer.status === 422 || answer.status === 400;
      return refused
        ? known('rejected', `${asked}: ${answer.status}`)
        : unknown(`${asked}: ${answer.error.code}`);
    }
    const kept = isRow(answer.body) && Object.hasOwn(answer.body, 'accountingDataSdkProbe');
    return known(kept ? 'kept' : 'ignored', asked);
  }

  async #delete(id: string): Promise<Pick<WriteFindings, 'deleteStatus' | 'deleteAgain'>> {
    const path = [...PRODUCTS, id];
    const answer = await this.#session.ask({ path, method: 'DELETE' });
    if (!answer.ok) {
      const failed = unknown(`the delete failed: ${answer.error.code}`);
      return { deleteStatus: failed, deleteAgain: failed };
    }
    this.#made.delete(id);
    const again = await this.#session.ask({ path, method: 'DELETE', retry: { maxAttempts: 1 } });
    return {
      deleteStatus: known(answer.status, 'a delete'),
      deleteAgain: known(again.ok ? String(again.status) : again.error.code, 'the same delete again'),
    };
  }
}

/** Whether a product may be there although the answer does not show it. */
function mayHaveBeenMade(answer: Answer): boolean {
  return answer.ok || answer.error.outcome === 'unknown' || answer.error.outcome === 'applied';
}

/** A draft that was not taken: what the service asked for, and nothing else. */
function rejected(answer: Answer): WriteFindings {
  if (answer.ok) return nothingWritten('the create returned no record: look for it by its name');

  const nothing = nothingWritten(`the create returned ${answer.error.code}`);
  if (answer.error.code !== 'validation_failed') return nothing;
  const fields = answer.error.violations.map(({ propertyPath }) => propertyPath);
  return {
    ...nothing,
    requiredFields: known([...new Set(fields)], 'violations of the draft; give these fields'),
  };
}

/** How a field is shown that was cleared. */
function nullFieldOf(cleared: unknown): Finding<'sent' | 'omitted'> {
  if (cleared === undefined) return known('omitted', 'a cleared description is missing from the record');
  return cleared === null
    ? known('sent', 'a cleared description is null')
    : unknown('description was not cleared');
}

function digitsOf(shown: unknown, sent: unknown): Finding<number | 'as-sent'> {
  if (typeof shown !== 'string' || typeof sent !== 'string')
    return unknown('salePrice did not come back as a text');
  const digits = shown.split('.')[1]?.length ?? 0;
  return known(shown === sent ? 'as-sent' : digits, `salePrice ${sent} came back as ${shown}`);
}
