import { Dice } from '../data/dice.ts';
import type { ServiceRequest } from '../service/message.ts';
import { collectionOf } from '../service/route.ts';
import { checkFault } from './check-fault.ts';
import type { Fault } from './fault.ts';
import type { FaultMatch } from './fault-match.ts';

/** A fault that was set. */
export interface FaultRule {
  readonly fault: Fault;
  /** How many requests it has met. */
  readonly hits: number;
  /** Whether it still can meet one. */
  readonly active: boolean;
  /** Ends it. */
  remove(): void;
}

/** The faults of a sandbox. The oldest rule that matches a request meets it; never two at once. */
export interface Faults {
  /** A fault for the next request, whichever it is. */
  next(fault: Fault): FaultRule;
  /** A fault for the requests that match. */
  add(fault: Fault, match?: FaultMatch): FaultRule;
  /** Ends all faults. */
  clear(): void;
  /** The rules that still can meet a request, oldest first. */
  readonly rules: readonly FaultRule[];
}

class Rule implements FaultRule {
  readonly fault: Fault;
  hits = 0;
  active = true;
  readonly #match: FaultMatch;
  readonly #dice: Dice;
  readonly #onEnd: (rule: Rule) => void;
  #skipped = 0;

  constructor(fault: Fault, match: FaultMatch, more: { dice: Dice; onEnd: (rule: Rule) => void }) {
    this.fault = fault;
    this.#match = match;
    this.#dice = more.dice;
    this.#onEnd = more.onEnd;
  }

  /** Whether it holds for every request. */
  get unconditional(): boolean {
    const { method, path, collection, when, skip = 0, probability } = this.#match;
    return skip === 0 && [method, path, collection, when, probability].every((part) => part === undefined);
  }

  /** Whether the fault meets this request; counts it if so. */
  meets(request: ServiceRequest): boolean {
    const { skip = 0, probability, times = probability === undefined ? 1 : Infinity } = this.#match;
    if (!this.#matches(request)) return false;
    if (this.#skipped < skip) {
      this.#skipped += 1;
      return false;
    }
    if (probability !== undefined && !this.#dice.chance(probability)) return false;

    this.hits += 1;
    if (this.hits >= times) this.remove();
    return true;
  }

  remove(): void {
    if (!this.active) return;
    this.active = false;
    this.#onEnd(this);
  }

  #matches(request: ServiceRequest): boolean {
    const { method, path, collection, when } = this.#match;
    if (method !== undefined && method.toUpperCase() !== request.method) return false;
    if (typeof path === 'string' && path !== request.path) return false;
    if (
      path instanceof RegExp &&
      !new RegExp(path.source, path.flags.replace(/[gy]/g, '')).test(request.path)
    )
      return false;
    if (collection !== undefined && collectionOf(request.path) !== collection) return false;
    return when?.(request) ?? true;
  }
}

/** The rules of a sandbox, and who wants to know that they change. */
export class FaultRules implements Faults {
  /** Called after a rule was added or has ended: a listening server stops and starts listening by it. */
  onChange: () => void = () => {};
  #rules: Rule[] = [];
  readonly #dice: Dice;

  constructor(seed: number) {
    this.#dice = new Dice(seed);
  }

  /** Whether nobody is to be let in: a `refused` for every request. A port cannot tell one request from another. */
  get refusing(): boolean {
    return this.#rules.some((rule) => rule.fault.kind === 'connection-refused' && rule.unconditional);
  }

  get rules(): readonly FaultRule[] {
    return [...this.#rules];
  }

  next(fault: Fault): FaultRule {
    return this.add(fault);
  }

  add(fault: Fault, match: FaultMatch = {}): FaultRule {
    checkFault(fault, match);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onEnd = (ended: Rule) => {
      globalThis.clearTimeout(timer);
      this.#rules = this.#rules.filter((rule) => rule !== ended);
      this.onChange();
    };
    const rule = new Rule(fault, match, { dice: this.#dice, onEnd });
    if (fault.kind === 'connection-refused' && fault.forMs !== undefined) {
      timer = globalThis.setTimeout(() => rule.remove(), fault.forMs);
      // An outage that nobody waits for does not keep the process.
      timer.unref();
    }
    this.#rules.push(rule);
    this.onChange();
    return rule;
  }

  clear(): void {
    for (const rule of this.#rules) rule.remove();
  }

  /** The fault that meets a request; undefined for none. */
  pick(request: ServiceRequest): Fault | undefined {
    if (this.#rules.length === 0) return undefined;
    return this.#rules.find((rule) => rule.meets(request))?.fault;
  }
}
