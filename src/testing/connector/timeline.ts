/** A record, of the service or of a copy. */
export type Fields = Readonly<Record<string, unknown>>;

/** A state of one record. */
export interface Version {
  /** When it began: moments are numbers that grow with each request, change and run. */
  readonly at: number;
  /** Undefined: the record does not exist. */
  readonly record: Fields | undefined;
  /** Such as `after request 2`: the end of a sentence that begins with "was deleted". */
  readonly when: string;
}

/** What the service held of one collection over time. */
export class Timeline {
  readonly versions = new Map<string, Version[]>();
  readonly #texts = new Map<string, string>();

  /** Compares everything that the service holds with what it held before. */
  observe(records: readonly (Fields & { readonly id: string })[], at: number, when: string): void {
    const gone = new Set(this.#texts.keys());
    for (const record of records) {
      gone.delete(record.id);
      const text = JSON.stringify(record);
      if (this.#texts.get(record.id) === text) continue;
      this.#texts.set(record.id, text);
      this.#add(record.id, { at, record, when });
    }
    for (const id of gone) {
      this.#texts.delete(id);
      this.#add(id, { at, record: undefined, when });
    }
  }

  #add(id: string, version: Version): void {
    this.versions.set(id, [...(this.versions.get(id) ?? []), version]);
  }
}

/** The versions that a read which began at a moment can have seen: the one of that moment, and all later ones. */
export function seenSince(versions: readonly Version[], since: number): readonly (Fields | undefined)[] {
  const before = versions.findLast(({ at }) => at <= since);
  return [before?.record, ...versions.filter(({ at }) => at > since).map(({ record }) => record)];
}
