/** A request as the control sends it without bodies. */
export interface Entry {
  readonly number: number;
  readonly method: string;
  /** The path and the query as sent. */
  readonly url: string;
  readonly path: string;
  /** The name of the key; null for a missing or unknown one. */
  readonly key: string | null;
  readonly idempotencyKey: string | null;
  readonly status: number | null;
  /** The error type of the response. */
  readonly error: string | null;
  readonly records: number | null;
  /** The kind of the last fault that it met. */
  readonly fault: string | null;
  /** By the clock of the machine, in ms since the epoch. */
  readonly startedAt: number;
  /** Null while it is running. */
  readonly durationMs: number | null;
  readonly bodyBytes: number;
  /** What was left to the key after the request. */
  readonly quota: { readonly limit: number; readonly remaining: number } | null;
  readonly response: {
    readonly sent: 'whole' | 'slowly' | 'partly' | 'nothing' | 'aborted';
    readonly headers: Readonly<Record<string, string>>;
    readonly bodyBytes: number;
  } | null;
}

/** What a client saw of a request: `lost` is no response, or not all of it. */
export type Outcome = 'running' | 'success' | 'redirect' | 'rejected' | 'failed' | 'lost';

export function outcomeOf({ status, durationMs, response }: Entry): Outcome {
  if (response === null) return durationMs === null ? 'running' : 'lost';
  if (response.sent !== 'whole' && response.sent !== 'slowly') return 'lost';
  if (status === null || status >= 500) return 'failed';
  if (status >= 400) return 'rejected';
  return status >= 300 ? 'redirect' : 'success';
}

/** In words, for a tooltip and the table. */
export function outcomeText(entry: Entry): string {
  const status = entry.status === null ? '' : String(entry.status);
  if (outcomeOf(entry) === 'running') return status === '' ? 'running' : `${status}, not sent yet`;
  if (outcomeOf(entry) !== 'lost') return status;
  const { sent = 'aborted' } = entry.response ?? {};
  const end = { aborted: 'client left', partly: 'cut off', nothing: 'no response' }[sent as string] ?? sent;
  return status === '' ? end : `${status}, ${end}`;
}

/** When it ended; `now` while it is running. */
export function endOf({ startedAt, durationMs }: Entry, now: number): number {
  return durationMs === null ? Math.max(now, startedAt) : startedAt + durationMs;
}

/** How long a response asks to wait, in ms; 0 without Retry-After. */
export function waitAfter({ status, response }: Entry): number {
  if (status !== 429 || response === null) return 0;
  const text = headerOf(response.headers, 'retry-after');
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const [until, sentAt] = [Date.parse(text), Date.parse(headerOf(response.headers, 'date'))];
  return Number.isNaN(until - sentAt) ? 0 : Math.max(0, until - sentAt);
}

function headerOf(headers: Readonly<Record<string, string>>, name: string): string {
  return Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1] ?? '';
}
