import type { ReconcileReport } from '../errors/reconcile-report.ts';
import { tell } from '../internal/tell.ts';
import type { PaginationKind } from '../pagination/page.ts';
import type { ReconcileProgress } from './reconcile-options.ts';

type Phase = ReconcileProgress['phase'];

/** What is counted while a reconcile is under way. */
export class ReconcileStats {
  readonly collection: string;
  pagination: PaginationKind | undefined;
  local = 0;
  missing = 0;
  candidates = 0;
  deleted = 0;
  repaired = 0;
  readonly #done: Record<Phase, number> = { local: 0, read: 0, confirm: 0, delete: 0 };
  readonly #startedAt = new Date();
  readonly #onProgress: ((progress: ReconcileProgress) => void) | undefined;
  #phase: Phase = 'local';

  constructor(collection: string, onProgress: ((progress: ReconcileProgress) => void) | undefined) {
    this.collection = collection;
    this.#onProgress = onProgress;
  }

  /** Records that the walk showed. */
  get seen(): number {
    return this.#done.read;
  }

  /** So much more of a phase is done. */
  reached(phase: Phase, count = 1): void {
    this.#phase = phase;
    this.#done[phase] += count;
  }

  /** A request is about to wait. */
  readonly waits = (waitMs: number | undefined): void => {
    this.tell({
      waiting: true,
      waitingUntil: waitMs === undefined ? undefined : new Date(Date.now() + waitMs),
    });
  };

  tell(more: Partial<Pick<ReconcileProgress, 'waiting' | 'waitingUntil'>> = {}): void {
    const { collection } = this;
    const done = this.#done[this.#phase];
    tell(this.#onProgress, {
      collection,
      phase: this.#phase,
      done,
      waiting: false,
      waitingUntil: undefined,
      ...more,
    });
  }

  report(): ReconcileReport {
    const { collection, pagination, local, seen, missing, candidates, deleted, repaired } = this;
    return {
      collection,
      pagination,
      local,
      seen,
      missing,
      candidates,
      deleted,
      repaired,
      startedAt: this.#startedAt,
      endedAt: new Date(),
    };
  }
}
