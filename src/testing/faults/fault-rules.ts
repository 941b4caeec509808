import { checkCollections, checkObject, checkValues, exampleOf } from '../checks.ts';
import { SeededRandom } from '../data/seeded-random.ts';
import type { ServiceRequest } from '../message.ts';
import { Recent } from '../recent.ts';
import { collectionOf } from '../service/route.ts';
import { LONGEST_MS } from '../wait.ts';
import { type FaultMatch, faultConditions } from './conditions.ts';
import { checkFault, type Fault } from './fault.ts';

/** A fault that was added. */
export interface FaultRule {
  readonly fault: Fault;
  /** How many requests have met it. */
  readonly hits: number;
  /** Whether a request can still meet it. */
  readonly active: boolean;
  /** Ends the fault. */
  remove(): void;
}

/** The faults of a sandbox. A request meets every `delay` that matches it, and the oldest other fault. */
export interface Faults {
  /** Adds a fault for the next request. */
  next(fault: Fault): FaultRule;
  /** Adds a fault for every request that matches, until `times` have met it or `clear` ends it. */
  add(fault: Fault, match?: FaultMatch): FaultRule;
  /** Ends all faults. */
  clear(): void;
  /** The rules that a request can still meet, oldest first. */
  readonly rules: readonly FaultRule[];
}

/** Whether a fault rejects every connection. */
export function closesPort(
  { kind }: Fault,
  { times: _, forMs: __, skip = 0, ...conditions }: FaultMatch,
): boolean {
  const unconditional = skip === 0 && Object.values(conditions).every((value) => value === undefined);
  return kind === 'connection-refused' && unconditional;
}

class Rule implements FaultRule {
  /** A number that no other rule of the sandbox has. */
  readonly id: number;
  readonly fault: Fault;
  readonly match: FaultMatch;
  hits = 0;
  active = true;
  readonly #onEnd: (rule: Rule) => void;
  #skipped = 0;

  constructor({ id, fault, match }: Pick<Rule, 'id' | 'fault' | 'match'>, onEnd: (rule: Rule) => void) {
    this.id = id;
    this.fault = fault;
    this.match = match;
    this.#onEnd = onEnd;
  }

  /** Whether this request meets the fault; counts it if so. */
  meets(request: ServiceRequest, random: SeededRandom): boolean {
    const { skip = 0, probability, times = Infinity } = this.match;
    if (!this.#matches(request)) return false;
    if (this.#skipped < skip) {
      this.#skipped += 1;
      return false;
    }
    if (probability !== undefined && !random.chance(probability)) return false;

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
    const { method, path, collection, when } = this.match;
    if (method !== undefined && method.toUpperCase() !== request.method) return false;
    if (typeof path === 'string' && path !== request.path) return false;
    // `search` has no memory, unlike `test` with the flags g and y.
    if (path instanceof RegExp && request.path.search(path) === -1) return false;
    if (collection !== undefined && collectionOf(request.path) !== collection) return false;
    return when?.(request) ?? true;
  }
}

/** `sandbox.faults`, with what the rest of the sandbox needs. */
export class FaultRules implements Faults {
  /** Called when a rule was added or has ended: a listening sandbox closes and opens its port. */
  onChange: () => void = () => {};
  #rules: Rule[] = [];
  readonly #ended = new Recent<Rule>(100);
  #added = 0;
  #random: SeededRandom;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
  }

  /** Whether a listening sandbox closes its port. */
  get closesPort(): boolean {
    return this.#rules.some(({ fault, match }) => closesPort(fault, match));
  }

  get rules(): readonly FaultRule[] {
    return [...this.#rules];
  }

  /** The rules, and the last 100 that have ended, oldest first. */
  get all(): readonly Rule[] {
    return [...this.#ended.list(), ...this.#rules].sort((one, other) => one.id - other.id);
  }

  next(fault: Fault): Rule {
    return this.add(fault, { times: 1 });
  }

  add(fault: Fault, match: FaultMatch = {}): Rule {
    checkFault(fault);
    checkObject(
      match,
      'faults.add',
      typeof match === 'function' ? '{ when: … }' : exampleOf(faultConditions),
    );
    checkValues(match, faultConditions, 'faults.add');
    if (match.collection !== undefined) checkCollections('collection', [match.collection]);
    let timer: ReturnType<typeof setTimeout> | undefined;
    this.#added += 1;
    const rule = new Rule({ id: this.#added, fault, match }, () => {
      globalThis.clearTimeout(timer);
      this.#rules = this.#rules.filter((other) => other !== rule);
      this.#ended.add(rule);
      this.onChange();
    });
    if (match.forMs !== undefined && match.forMs !== Infinity) {
      timer = globalThis.setTimeout(() => rule.remove(), Math.min(match.forMs, LONGEST_MS));
      // The end of an outage does not keep the process alive. In browsers, Workers and jsdom a timer is a number.
      if (typeof timer === 'object') timer.unref();
    }
    this.#rules.push(rule);
    this.onChange();
    return rule;
  }

  clear(): void {
    for (const rule of this.#rules) rule.remove();
  }

  /** As a new sandbox with this seed has it, except that no id is used again. */
  reset(seed: number): void {
    this.clear();
    this.#ended.clear();
    this.#random = new SeededRandom(seed);
  }

  /** The rules that a request meets: the delays first. */
  pick(request: ServiceRequest): readonly Pick<Rule, 'id' | 'fault'>[] {
    const delays: Rule[] = [];
    const others: Rule[] = [];
    for (const rule of [...this.#rules]) {
      const [met, most] = rule.fault.kind === 'delay' ? [delays, Infinity] : [others, 1];
      if (met.length < most && rule.meets(request, this.#random)) met.push(rule);
    }
    return [...delays, ...others];
  }
}
