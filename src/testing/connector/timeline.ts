/** A record, of the service or of a copy. */
export type Fields = Readonly<Record<string, unknown>>;

/** A state of one record. */
export interface Version<Rec> {
  /** When it began: moments are numbers that grow with each change. */
  readonly at: number;
  /** Undefined: the record does not exist. */
  readonly record: Rec | undefined;
  /** Such as `after request 2`: the end of a sentence that begins with "was deleted". */
  readonly when: string;
}

/** A response to a list request. */
export interface SentPage {
  readonly at: number;
  /** Its number among the requests of the run. */
  readonly request: number;
  /** Empty if the connector did not get the response. */
  readonly ids: readonly string[];
  /** The fault that kept the response from the connector. */
  readonly fault?: string | undefined;
  /** Whether the request named a later page. */
  readonly isLaterPage: boolean;
}

/** What the service held of one collection over time, and what a run could see of it. */
export class Timeline<Rec extends Fields = Fields> {
  /** By id, oldest first. */
  readonly versions = new Map<string, Version<Rec>[]>();
  /** The lists that the run requested, in order. */
  readonly pages: SentPage[] = [];
  /** What was observed last, as JSON. */
  readonly #observed = new Map<string, string | undefined>();
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
      const text = JSON.stringify(now.get(id));
      if (text !== this.#observed.get(id)) this.set(id, now.get(id), when);
      this.#observed.set(id, text);
    }
  }

  addPage(page: Omit<SentPage, 'at'>): void {
    this.pages.push({ at: this.#moment, ...page });
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

  /** What changed since the run began, in order. */
  changes(): readonly ({ readonly id: string } & Version<Rec>)[] {
    const changes = [...this.versions].flatMap(([id, versions]) =>
      versions.filter(({ at }) => at > this.#runBegan).map((version) => ({ id, ...version })),
    );
    return changes.sort((a, b) => a.at - b.at);
  }
}
