import {
  type AccountingRecord,
  type CallOutcome,
  isAccountingError,
  type Product,
  type ProductDraft,
  type ProductPatch,
} from 'accounting-data-sdk';
import type { Sandbox } from 'accounting-data-sdk/testing';

/** What a call was to do. A create is known by its product number, an update by a field that no other one names. */
export type Intent =
  | { readonly what: 'create'; readonly name: string; readonly draft: ProductDraft }
  | { readonly what: 'update'; readonly id: string; readonly marker: string; readonly patch: ProductPatch }
  | { readonly what: 'delete'; readonly id: string };

/** How a call ended, as reported to its caller. */
export type Ending =
  | { readonly as: 'done'; readonly id: string }
  | { readonly as: 'failed'; readonly outcome: CallOutcome; readonly recordId: string | undefined }
  | { readonly as: 'aborted' };

/** One call of a caller. */
export interface ReportedCall {
  readonly intent: Intent;
  ending: Ending | undefined;
}

/** Fields that only the tests use: each update names one that no other update names. */
const MARKERS = Array.from({ length: 24 }, (_, n) => `marker${n}`);

/** What the client reported to the callers of one run, and what they saw at that moment. */
export class History {
  readonly sandbox: Sandbox;
  readonly calls: ReportedCall[] = [];
  /** What was wrong when a caller looked. */
  readonly broken: string[] = [];
  /** Records that callers know of. */
  readonly known: string[] = [];
  readonly initial: readonly AccountingRecord[];
  /** The reason of every abort. */
  readonly givenUp = new Error('given up');
  readonly #markers: string[] = [...MARKERS];
  #names = 0;

  constructor(sandbox: Sandbox) {
    this.sandbox = sandbox;
    const filled = Object.fromEntries(MARKERS.map((field) => [field, `first ${field}`]));
    for (let n = 0; n < 3; n += 1) {
      const { id } = sandbox.store.products.insert({ ...filled, name: `First ${n}`, salePrice: '1.0000' });
      this.known.push(id);
    }
    this.initial = sandbox.store.products.all().map((record) => ({ ...record }));
  }

  newName(): string {
    this.#names += 1;
    return `P-${this.#names}`;
  }

  takeMarker(): string | undefined {
    return this.#markers.pop();
  }

  begin<I extends Intent>(intent: I): ReportedCall & { readonly intent: I } {
    const call = { intent, ending: undefined };
    this.calls.push(call);
    return call;
  }

  created(call: ReportedCall & { intent: { what: 'create' } }, made: Product): void {
    call.ending = { as: 'done', id: made.id };
    const { name } = call.intent;
    if (made.productNumber !== name) this.broken.push(`create ${name} was given ${made.productNumber}`);
    const kept = this.sandbox.store.products.get(made.id);
    const mayBeGone = this.calls.some(({ intent }) => intent.what === 'delete' && intent.id === made.id);
    if (kept === undefined && !mayBeGone)
      this.broken.push(`create ${name} was acknowledged and is not there`);
    if (!this.known.includes(made.id)) this.known.push(made.id);
  }

  updated(call: ReportedCall & { intent: { what: 'update' } }, record: Product): void {
    const { id, marker, patch } = call.intent;
    call.ending = { as: 'done', id: record.id };
    const seen = [record.id, record[marker as keyof Product]];
    const due = [id, patch[marker as keyof ProductPatch]];
    if (String(seen) !== String(due)) this.broken.push(`update of ${marker} in ${due} returned ${seen}`);
  }

  deleted(call: ReportedCall & { intent: { what: 'delete' } }): void {
    const { id } = call.intent;
    call.ending = { as: 'done', id };
    if (this.sandbox.store.products.get(id) !== undefined)
      this.broken.push(`delete ${id} was acknowledged and the record is there`);
  }

  failed(call: ReportedCall, error: unknown): void {
    if (error === this.givenUp) {
      call.ending = { as: 'aborted' };
      return;
    }
    if (!isAccountingError(error)) throw error;
    const recordId = isAccountingError(error, 'unexpected_response') ? error.recordId : undefined;
    call.ending = { as: 'failed', outcome: error.outcome, recordId };
  }
}
