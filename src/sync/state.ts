import { CheckpointError } from '../errors/checkpoint-error.ts';
import { isListHint, type ListHint } from '../pagination/page.ts';

/** A run that has not come to its end. */
export interface RunState {
  /** The watermark that the run has if it ends well. It survives every resume. */
  readonly watermark: string;
  /** What the run asks for: `updatedSince`. Left out: everything. */
  readonly since?: string;
  /** Where it goes on. Left out: at its beginning. */
  readonly token?: string;
  /** The lowest UTC offset, in minutes, that the service had shown by then. Left out: none. */
  readonly offset?: number;
}

/** What is kept of one collection of one tenant, as JSON. Instants are ISO 8601 to the second. */
export interface SyncState {
  /** Names base URL, tenant, collection and filters: a state means nothing elsewhere. */
  readonly scope: string;
  /** The process that wrote it, so that two at once notice each other. */
  readonly by: string;
  /** Everything up to here has been read. Left out until a first run has ended. */
  readonly watermark?: string;
  /** The watermark of the last full walk that came to its end. */
  readonly full?: string;
  /** What the last read found out about how the service lists; it saves requests. */
  readonly hint?: ListHint;
  /** The lowest UTC offset, in minutes, that was known when the last run ended. Left out: none, bounds were in UTC. */
  readonly offset?: number;
  readonly run?: RunState;
}

const VERSION = 1;

export function encodeState({ scope, by, watermark, full, hint, offset, run }: SyncState): string {
  // In one order and without members that are undefined: two equal states are the same text.
  return JSON.stringify({
    v: VERSION,
    scope,
    by,
    watermark,
    full,
    hint: hint && { pageSize: hint.pageSize, order: hint.order, proven: hint.proven },
    offset,
    run: run && { watermark: run.watermark, since: run.since, token: run.token, offset: run.offset },
  });
}

/** Reads what a store had; undefined where it had nothing. Anything but a whole state is a CheckpointError. */
export function decodeState(stored: unknown, key: string): SyncState | undefined {
  const content = parseStored(stored, key);
  if (content === undefined) return undefined;
  const { v, scope, by, watermark, full, hint, offset, run } = content;
  if (typeof v === 'number' && v > VERSION) {
    throw new CheckpointError(
      `The state under ${key} was written by a later version of this package. Update this package here too.`,
    );
  }
  const fits =
    v === VERSION &&
    typeof scope === 'string' &&
    typeof by === 'string' &&
    isInstantOrAbsent(watermark) &&
    isInstantOrAbsent(full) &&
    (hint === undefined || isListHint(hint)) &&
    isOffsetOrAbsent(offset) &&
    isRunOrAbsent(run);
  if (!fits) throw unreadable(key);
  return content as unknown as SyncState;
}

/** The JSON object that a store had, parsed or not; undefined if it had nothing. */
export function parseStored(stored: unknown, key: string): Record<string, unknown> | undefined {
  if (stored === undefined || stored === null) return undefined;

  const content = typeof stored === 'string' ? parse(stored, key) : stored;
  if (typeof content !== 'object' || content === null) throw unreadable(key);
  return content as Record<string, unknown>;
}

function parse(text: string, key: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message would quote what is stored there.
    throw unreadable(key);
  }
}

function unreadable(key: string): CheckpointError {
  return new CheckpointError(
    `What the store has under ${key} is no state of a sync. Delete it there to read everything anew; a silent restart would hide what happened.`,
  );
}

function isRunOrAbsent(run: unknown): boolean {
  if (run === undefined) return true;
  if (typeof run !== 'object' || run === null) return false;
  const { watermark, since, token, offset } = run as Record<string, unknown>;
  return (
    watermark !== undefined &&
    isInstantOrAbsent(watermark) &&
    isBoundOrAbsent(since) &&
    isOffsetOrAbsent(offset) &&
    (token === undefined || typeof token === 'string')
  );
}

function isInstantOrAbsent(value: unknown): boolean {
  if (value === undefined) return true;
  return (
    typeof value === 'string' &&
    /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(value) &&
    !Number.isNaN(Date.parse(value))
  );
}

/** A timestamp with any offset: what was asked for. */
function isBoundOrAbsent(value: unknown): boolean {
  if (value === undefined) return true;
  return typeof value === 'string' && isInstantOrAbsent(value.replace(/[+-]\d\d:\d\d$/, 'Z'));
}

function isOffsetOrAbsent(value: unknown): boolean {
  return value === undefined || (Number.isInteger(value) && Math.abs(value as number) <= 14 * 60);
}
