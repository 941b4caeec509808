/** What a read knows about the length of a page. */
export class PageSize {
  /** The longest page of this read. */
  longest = 0;
  /** That of an earlier read, as long as it is trusted; 0 otherwise. */
  hint: number;
  /** Whether a response was taken as short because of the hint alone. */
  reliedOnHint = false;

  constructor(hint: number) {
    this.hint = hint;
  }

  get expected(): number {
    return Math.max(this.longest, this.hint);
  }

  /** Whether a response has fewer rows than a page: then the service did not cut it, or it hides rows. */
  isShort(rows: number): boolean {
    const before = this.longest;
    this.longest = Math.max(before, rows);
    if (rows === 0 || rows < before) return true;
    if (rows >= this.hint) return false;
    this.reliedOnHint = true;
    return true;
  }
}

/** Outside the order of ids: which short responses are checked for a second page. */
export class SpotChecks {
  /** Whether every one is checked, because a check has found rows. */
  all: boolean;
  #count = 0;

  constructor(all: boolean) {
    this.all = all;
  }

  /** The first three, every eighth after that, and the last one. */
  isDue(isLast: boolean): boolean {
    const count = this.#count++;
    return this.all || isLast || count < 3 || count % 8 === 0;
  }
}
