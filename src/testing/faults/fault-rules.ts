import type { CollectionName } from '../../collections/index.ts';
import type { Named } from '../../internal/options.ts';
import { API_PATH } from '../../schemas/service-forms.ts';
import { checkCollections, checkObject, checkValues, exampleOf, is } from '../checks.ts';
import { SeededRandom } from '../data/seeded-random.ts';
import type { ServiceRequest } from '../message.ts';
import { collectionOf } from '../service/route.ts';
import type { FieldValues } from './define-fault.ts';
import { checkFault, type Fault } from './fault.ts';

/** The conditions under which a request meets a fault. */
export const faultConditions = {
  /** The method of the request, such as `POST`. */
  method: is.string,
  /** The whole path without query, such as `/api/public/v1/products`, or a pattern. */
  path: is.check<string | RegExp>(
    `a pattern, or a whole path without query that begins with ${API_PATH}/`,
    (value) =>
      value instanceof RegExp ||
      (typeof value === 'string' && value.startsWith(`${API_PATH}/`) && !/[?#]/.test(value)),
  ),
  /** The collection of the request. */
  collection: is.check<CollectionName>('the name of a collection', (value) => typeof value === 'string'),
  /** Any other condition. */
  when: is.check<(request: ServiceRequest) => boolean>('a function', (value) => typeof value === 'function'),
  /** How many matching requests do not meet the fault at first. @default 0 */
  skip: is.integerFrom(0),
  /** How many requests meet the fault. @default Infinity */
  times: is.check<number>(
    'a whole number of at least 1, or Infinity',
    (value) => value === Infinity || is.integerFrom(1).allows(value),
  ),
  /** How long requests can meet the fault, in ms. @default until the rule is removed */
  forMs: is.durationFrom(0),
  /** The probability that a matching request meets the fault, drawn from the sandbox's seed. @default 1 */
  probability: is.fraction,
};

/** Which requests meet a fault, and how often. A condition that is left out holds for every request. */
export interface FaultMatch extends FieldValues<Record<never, never>, typeof faultConditions>, Named {}

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

class Rule implements FaultRule {
  readonly fault: Fault;
  hits = 0;
  active = true;
  readonly #match: FaultMatch;
  readonly #onEnd: (rule: Rule) => void;
  #skipped = 0;

  constructor(fault: Fault, match: FaultMatch, onEnd: (rule: Rule) => void) {
    this.fault = fault;
    this.#match = match;
    this.#onEnd = onEnd;
  }

  /** Whether it refuses every connection. */
  get closesPort(): boolean {
    const { times: _, forMs: __, skip = 0, ...conditions } = this.#match;
    const unconditional = skip === 0 && Object.values(conditions).every((value) => value === undefined);
    return this.fault.kind === 'connection-refused' && unconditional;
  }

  /** Whether this request meets the fault; counts it if so. */
  meets(request: ServiceRequest, random: SeededRandom): boolean {
    const { skip = 0, probability, times = Infinity } = this.#match;
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
    const { method, path, collection, when } = this.#match;
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
  readonly #random: SeededRandom;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
  }

  /** Whether a listening sandbox closes its port. */
  get closesPort(): boolean {
    return this.#rules.some((rule) => rule.closesPort);
  }

  get rules(): readonly FaultRule[] {
    return [...this.#rules];
  }

  next(fault: Fault): FaultRule {
    return this.add(fault, { times: 1 });
  }

  add(fault: Fault, match: FaultMatch = {}): FaultRule {
    checkFault(fault);
    checkObject(
      match,
      'faults.add',
      typeof match === 'function' ? '{ when: … }' : exampleOf(faultConditions),
    );
    checkValues(match, faultConditions, 'faults.add');
    if (match.collection !== undefined) checkCollections('What a fault matches', [match.collection]);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const rule = new Rule(fault, match, () => {
      globalThis.clearTimeout(timer);
      this.#rules = this.#rules.filter((other) => other !== rule);
      this.onChange();
    });
    if (match.forMs !== undefined && match.forMs !== Infinity) {
      timer = globalThis.setTimeout(() => rule.remove(), match.forMs);
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

  /** The faults that a request meets: the delays first. */
  pick(request: ServiceRequest): readonly Fault[] {
    const delays: Fault[] = [];
    const others: Fault[] = [];
    for (const rule of [...this.#rules]) {
      const { fault } = rule;
      const [met, most] = fault.kind === 'delay' ? [delays, Infinity] : [others, 1];
      if (met.length < most && rule.meets(request, this.#random)) met.push(fault);
    }
    return [...delays, ...others];
  }
}
