import type { Core, RequestObserver } from '../exchange.ts';
import type { Delivery } from '../faults/delivery.ts';
import type { FaultRules } from '../faults/fault-rules.ts';
import type { LoggedRequest } from '../log.ts';
import type { ServiceRequest } from '../message.ts';
import { Recent } from '../recent.ts';
import type { QuotaState } from '../service/rate-limit.ts';
import { type Clip, ClipBudget } from './clip.ts';

/** What became of a response: all, some or none of it was sent, or the client closed the connection before its end. */
type Sent = 'whole' | 'slowly' | 'partly' | 'nothing' | 'aborted';

const SENT: Readonly<Record<Delivery['transmission']['how'], Sent>> = {
  whole: 'whole',
  'slow-body': 'slowly',
  cut: 'partly',
  nothing: 'nothing',
  refused: 'nothing',
};

/** A request in the log, with its response once there is one. */
export interface Recorded {
  /** 1 for the first request. No number is used twice, not even after a reset. */
  readonly number: number;
  readonly entry: LoggedRequest;
  /** Path and query as sent. */
  readonly url: string;
  /** The API key, if it is valid. */
  readonly key: string | undefined;
  readonly body: Clip;
  /** The ids of the faults that it met. */
  faults: readonly number[];
  /** By the clock of the machine, in ms since the epoch. */
  readonly startedAt: number;
  durationMs: number | undefined;
  response: RecordedResponse | undefined;
  /** What was left to the key after this request; undefined without a rate limit. */
  quota: QuotaState | undefined;
  /** The number of the last change of any entry. */
  revision: number;
}

interface RecordedResponse {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Clip;
  sent: Sent;
}

/** Follows the requests of a sandbox from their arrival to their end. */
export class RequestLog implements RequestObserver {
  /** Called with each entry that was added or has changed. */
  onChange: (recorded: Recorded) => void = () => {};
  onClear: () => void = () => {};
  /** Which log it is: a sandbox that was started again has another one. */
  readonly instance = crypto.randomUUID().slice(0, 8);
  readonly #core: Core;
  readonly #entries = new Recent<Recorded>();
  #byEntry = new WeakMap<LoggedRequest, Recorded>();
  readonly #budget = new ClipBudget();
  #arrived = 0;
  #revision = 0;

  constructor(core: Core) {
    this.#core = core;
  }

  /** The number of the last request. */
  get last(): number {
    return this.#arrived;
  }

  /** The entries that meet a condition, oldest first. */
  list(isWanted: (recorded: Recorded) => boolean): readonly Recorded[] {
    return this.#entries.list().filter(isWanted);
  }

  cleared(): void {
    this.#entries.clear();
    // Nothing more is said of a request that is running.
    this.#byEntry = new WeakMap();
    this.#budget.clear();
    this.onClear();
  }

  arrived(entry: LoggedRequest, request: ServiceRequest): void {
    const { path, query, body } = request;
    this.#arrived += 1;
    const recorded: Recorded = {
      number: this.#arrived,
      entry,
      url: query === '' ? path : `${path}?${query}`,
      key: this.#core.state.keyring.authenticate(request)?.key,
      body: this.#budget.clip(body),
      faults: [],
      startedAt: machineTime(),
      durationMs: undefined,
      response: undefined,
      quota: undefined,
      revision: 0,
    };
    this.#entries.add(recorded);
    this.#byEntry.set(entry, recorded);
    this.#changed(recorded);
  }

  met(entry: LoggedRequest, rules: ReturnType<FaultRules['pick']>): void {
    const recorded = this.#byEntry.get(entry);
    if (recorded !== undefined) recorded.faults = rules.map(({ id }) => id);
  }

  responded(entry: LoggedRequest, { response, transmission }: Delivery): void {
    const recorded = this.#byEntry.get(entry);
    if (recorded === undefined) return;
    recorded.response = {
      headers: response?.headers ?? {},
      body: this.#budget.clip(response?.body),
      sent: recorded.durationMs === undefined ? SENT[transmission.how] : 'aborted',
    };
    recorded.quota = this.#quotaOf(recorded);
    this.#changed(recorded);
  }

  ended(entry: LoggedRequest, { isWhole }: { readonly isWhole: boolean }): void {
    const recorded = this.#byEntry.get(entry);
    if (recorded === undefined || recorded.durationMs !== undefined) return;
    recorded.durationMs = machineTime() - recorded.startedAt;
    const { response } = recorded;
    if (response?.sent === 'whole' && !isWhole) response.sent = 'aborted';
    this.#changed(recorded);
  }

  #changed(recorded: Recorded): void {
    this.#revision += 1;
    recorded.revision = this.#revision;
    this.onChange(recorded);
  }

  #quotaOf({ key }: Recorded): QuotaState | undefined {
    const { clock, limits } = this.#core.state;
    return key === undefined ? undefined : limits.look(key, clock.now());
  }
}

/** Finer than a millisecond, and never back, unlike `Date.now`. */
function machineTime(): number {
  return performance.timeOrigin + performance.now();
}

/**
 * An entry as JSON. Without bodies and ids it is small. A JSON body becomes part of the text as it was sent, because
 * parsing would change the digits of large numbers.
 */
export function requestText(recorded: Recorded, { bodies }: { readonly bodies: boolean }): string {
  const { number, entry, url, startedAt, durationMs, faults, body, response, quota } = recorded;
  const { at, ids, body: _, ...facts } = entry;
  return jsonObject({
    number: JSON.stringify(number),
    url: JSON.stringify(url),
    at: JSON.stringify(at),
    startedAt: JSON.stringify(startedAt),
    durationMs: JSON.stringify(durationMs ?? null),
    ...Object.fromEntries(
      Object.entries(facts).map(([name, value]) => [name, JSON.stringify(value ?? null)]),
    ),
    faults: JSON.stringify(faults),
    ...(bodies && { ids: JSON.stringify(ids ?? null), body: body.json() }),
    bodyBytes: JSON.stringify(body.bytes),
    quota: JSON.stringify(quota === undefined ? null : { limit: quota.limit, remaining: quota.remaining }),
    response:
      response === undefined
        ? 'null'
        : jsonObject({
            sent: JSON.stringify(response.sent),
            headers: JSON.stringify(response.headers),
            ...(bodies && { body: response.body.json() }),
            bodyBytes: JSON.stringify(response.body.bytes),
          }),
  });
}

/** An object whose values are JSON already. */
function jsonObject(members: Readonly<Record<string, string>>): string {
  const lines = Object.entries(members).map(([name, json]) => `${JSON.stringify(name)}:${json}`);
  return `{${lines.join(',')}}`;
}
