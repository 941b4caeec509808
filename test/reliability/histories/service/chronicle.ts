/** A record of the model of the service. Its id and its version name a state of it. */
export interface SimRecord {
  readonly id: string;
  /** Counts the writes to this record. */
  readonly version: number;
  /** When it was written, to the second; not when it became visible. */
  readonly updatedAt: string;
}

/** Names a version of a record. */
export const versionOf = ({ id, version }: SimRecord): string => `${id}@${version}`;

interface Span {
  readonly record: SimRecord;
  readonly from: number;
  until: number;
}

/** Everything that was ever visible, by moment. A moment is a count of visible changes, finer than any clock. */
export class Chronicle {
  /** The present moment: it moves with each visible change. */
  moment = 0;
  readonly #spans = new Map<string, Span[]>();

  /** A version becomes visible, and takes the place of the one before. */
  appeared(record: SimRecord): void {
    this.disappeared(record.id);
    const spans = this.#spans.get(record.id) ?? [];
    spans.push({ record, from: this.moment, until: Number.POSITIVE_INFINITY });
    this.#spans.set(record.id, spans);
  }

  disappeared(id: string): void {
    this.moment++;
    const last = this.#spans.get(id)?.at(-1);
    if (last !== undefined && last.until > this.moment) last.until = this.moment;
  }

  /** The records that were visible, and the same, at every moment from `from` to `to`. */
  unchanged(from: number, to: number): SimRecord[] {
    const found: SimRecord[] = [];
    for (const spans of this.#spans.values()) {
      const span = spans.find((one) => one.from <= from && one.until > to);
      if (span !== undefined) found.push(span.record);
    }
    return found;
  }

  /** Whether exactly this version was visible at some moment from `from` to `to`. */
  wasVisible(record: SimRecord, from: number, to: number): boolean {
    const spans = this.#spans.get(record.id) ?? [];
    return spans.some(
      (span) => span.record.version === record.version && span.from <= to && span.until > from,
    );
  }
}
