/** A record, of the service or of a copy. */
export type Fields = Readonly<Record<string, unknown>>;

/** A state of one record. */
interface Version<Rec> {
  /** When it began: moments are numbers that grow with each change. */
  readonly at: number;
  /** Undefined: the record does not exist. */
  readonly record: Rec | undefined;
  /** Such as `after request 2 of run 1`: the end of a sentence that begins with "was deleted". */
  readonly when: string;
}

/** What the service held of one collection over time, and what a run could see of it. */
export class Timeline<Rec extends Fields = Fields> {
  /** By id, oldest first. */
  readonly versions = new Map<string, Version<Rec>[]>();
  /** The responses to the list requests of the run: each with its number among all requests, and with its moment. */
  readonly pages: { readonly request: number; readonly at: number; readonly ids: readonly string[] }[] = [];
  #moment = 0;
  #runBegan = 0;

  /** From now on a run can see what exists, and what changes. */
  beginRun(): void {
    this.#runBegan = this.#moment;
    this.pages.length = 0;
  }

  /** Notes a record that was written, or was deleted. */
  set(id: string, record: Rec | undefined, when = ''): void {
    this.#moment += 1;
    const versions = this.versions.get(id) ?? [];
    versions.push({ at: this.#moment, record, when });
    this.versions.set(id, versions);
  }

  /** Compares everything that the service holds with what it held before. */
  observe(records: readonly (Rec & { readonly id: string })[], when = ''): void {
    const now = new Map(records.map((record) => [record.id, record]));
    for (const id of new Set([...this.versions.keys(), ...now.keys()])) {
      const last = this.versions.get(id)?.at(-1)?.record;
      if (JSON.stringify(now.get(id)) !== JSON.stringify(last)) this.set(id, now.get(id), when);
    }
  }

  addPage(request: number, ids: readonly string[]): void {
    this.pages.push({ request, at: this.#moment, ids });
  }

  /** The records when the run began. */
  held(): readonly Rec[] {
    return [...this.versions.keys()].map((id) => this.seen(id)[0]).filter((record) => record !== undefined);
  }

  /** The versions of a record since the run began, the one of its beginning first. */
  seen(id: string): readonly (Rec | undefined)[] {
    const versions = this.versions.get(id) ?? [];
    const before = versions.findLast(({ at }) => at <= this.#runBegan);
    return [before?.record, ...versions.filter(({ at }) => at > this.#runBegan).map(({ record }) => record)];
  }
}
