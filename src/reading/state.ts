import { CheckpointError } from '../errors/checkpoint-error.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { is } from '../internal/options.ts';
import { type Evidence, isEvidence, NO_EVIDENCE } from '../reports/evidence.ts';
import { isTimestamp } from '../schemas/timestamp.ts';
import { isObject } from '../schemas/validate.ts';

/** How far a run is that has not ended. */
export interface RunPosition {
  /** The watermark that becomes the collection's when the run ends. It survives every resume. */
  readonly watermark: string;
  /** `updatedSince` of the run. Absent: everything. */
  readonly since?: string | undefined;
  /** Where to resume. Absent: at the beginning. */
  readonly token?: string | undefined;
  /** What it has met. */
  readonly evidence?: Evidence | undefined;
  /** The number of a full read that a target marks, and how many records the copy had before it. */
  readonly read?: number | undefined;
  readonly local?: number | undefined;
  /** The list is over, and the records that it lacks are looked up. */
  readonly listed?: true | undefined;
}

/** What is kept of one collection of one tenant, as JSON. Timestamps are ISO 8601 to the second. */
export interface SyncState {
  /** A fingerprint of base URL, tenant, collection and filters: the state belongs to them. */
  readonly scope: string;
  /** A fingerprint of the `parameters` of its lists; absent without any. */
  readonly parameters?: string | undefined;
  /** The run that wrote it, so that two at once notice each other. */
  readonly by: string;
  /** Everything up to here has been read. Absent until a first run has ended. */
  readonly watermark?: string | undefined;
  /** The watermark of the last full read that ended. */
  readonly full?: string | undefined;
  /** What that full read has met, and the runs since then. */
  readonly evidence?: Evidence | undefined;
  /** That of the last full read that a sync in mode `full` asked for. A first read does not look for deletions. */
  readonly checked?: string | undefined;
  /** That of the last run that read deep, or everything: see `deepRun` in `sync/run-state.ts`. */
  readonly deep?: string | undefined;
  /**
   * The lowest UTC offset, in minutes, on the last page of this collection that showed one; `Z` if the service rejects
   * bounds with an offset. Absent: none. Then a bound is in -12:00.
   */
  readonly offset?: number | 'Z' | undefined;
  /** The round of syncs with `stopAfter` in which the collection was read last: see `sync/round.ts`. */
  readonly round?: number | undefined;
  /** Which keys belong to the company, if no target knows it. */
  readonly company?: StoredCompany | undefined;
  readonly run?: RunPosition | undefined;
}

/** See `reading/company.ts`. */
export interface StoredCompany {
  readonly salt: string;
  /** Salted digests. */
  readonly keys: readonly string[];
  /** Records, and when each was created: in seconds, or as it was sent if that names no moment. */
  readonly known?: readonly (readonly [id: string, createdAt: string | number])[] | undefined;
}

const STATE_VERSION = 1;

type Check = (value: unknown) => boolean;

const optional =
  (isValid: Check): Check =>
  (value) =>
    value === undefined || isValid(value);
const isText: Check = (value) => typeof value === 'string';
/** A timestamp with any offset, as `updatedSince` was sent. */
const isBound: Check = (value) => typeof value === 'string' && value.includes('T') && isTimestamp(value);
const isStoredTimestamp: Check = (value) => isBound(value) && String(value).endsWith('Z');
const isOffset: Check = (value) =>
  value === 'Z' || (Number.isInteger(value) && Math.abs(value as number) <= 14 * 60);

const isMoment: Check = (value) =>
  typeof value === 'number' && !Number.isNaN(new Date(value * 1000).getTime());
const isKnownRecord: Check = (value) =>
  Array.isArray(value) && isText(value[0]) && (isText(value[1]) || isMoment(value[1]));
const isList = (value: unknown, isValid: Check) => Array.isArray(value) && value.every(isValid);

const isStoredCompany: Check = (value) =>
  isObject(value) &&
  isText(value.salt) &&
  isList(value.keys, isText) &&
  (value.known === undefined || isList(value.known, isKnownRecord));

/** What each member may be, in the order in which they are written. */
const RUN: Readonly<Record<keyof RunPosition, Check>> = {
  watermark: isStoredTimestamp,
  since: optional(isBound),
  token: optional(isText),
  evidence: optional(isEvidence),
  read: optional(Number.isSafeInteger),
  local: optional(Number.isSafeInteger),
  listed: optional((value) => value === true),
};
const STATE: Readonly<Record<keyof SyncState, Check>> = {
  scope: isText,
  parameters: optional(isText),
  by: isText,
  watermark: optional(isStoredTimestamp),
  full: optional(isStoredTimestamp),
  evidence: optional(isEvidence),
  checked: optional(isStoredTimestamp),
  deep: optional(isStoredTimestamp),
  offset: optional(isOffset),
  round: optional(Number.isSafeInteger),
  company: optional(isStoredCompany),
  run: optional((run) => isObject(run) && matches(run, RUN)),
};
const MEMBERS = [
  'v',
  ...Object.keys(STATE),
  ...Object.keys(RUN),
  ...Object.keys(NO_EVIDENCE),
  ...['salt', 'keys', 'known'],
];

function matches(
  content: Readonly<Record<string, unknown>>,
  rules: Readonly<Record<string, Check>>,
): boolean {
  return Object.entries(rules).every(([name, isValid]) => isValid(content[name]));
}

export function encodeState(state: SyncState): string {
  // In one order and without undefined members: two equal states are the same string.
  return JSON.stringify({ v: STATE_VERSION, ...state }, MEMBERS);
}

/** Reads what a store returned; undefined if it has nothing. Anything but a whole state is a CheckpointError. */
export function decodeState(stored: unknown, key: string): SyncState | undefined {
  const content = parseStored(stored, key);
  if (content === undefined) return undefined;
  const { v } = content;
  if (typeof v === 'number' && v > STATE_VERSION) {
    throw new CheckpointError(`The state under ${key} was written by a later version of this package.`, {
      hint: 'Update this package here too.',
    });
  }
  if (v !== STATE_VERSION || !matches(content, STATE)) throw damagedValue(key);
  return content as unknown as SyncState;
}

/** The JSON object that a store returned, parsed or not; undefined if it has nothing. */
export function parseStored(stored: unknown, key: string): Record<string, unknown> | undefined {
  if (stored === undefined || stored === null) return undefined;

  const content = typeof stored === 'string' ? parse(stored, key) : stored;
  if (typeof content !== 'object' || content === null) throw damagedValue(key);
  return content as Record<string, unknown>;
}

function parse(text: string, key: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message would quote what is stored there.
    throw damagedValue(key);
  }
}

/** What a store has under a key is not what this package wrote. */
export function damagedValue(key: string): CheckpointError {
  return new CheckpointError(
    `The value under ${key} is damaged, or was not written by this package. It is not replaced automatically, because that would hide what happened.`,
    {
      hint: 'Restore it, or delete it: a sync then reads everything again, and a push forgets which creates it has to finish.',
    },
  );
}

/** What a state belongs to, and where it is kept. */
export interface StateName {
  readonly prefix: string;
  readonly tenant: string;
  readonly collection: string;
}

const LABEL = /^(?!.*\.\.)[A-Za-z0-9_.-]{1,100}$/;
const PREFIX = /^(?!.*\.\.)[A-Za-z0-9_.-]+(?::[A-Za-z0-9_.-]+)*$/;

/** What the tenant and the name of a collection may be. */
export const label = is.check<string>(
  '1 to 100 letters, digits and "_", ".", "-", without ".."',
  (value) => is.string.allows(value) && LABEL.test(value),
);

/** What the first part of a key may be. */
export const keyPrefix = is.check<string>(
  '1 to 100 letters, digits and "_", ".", "-", ":", without ".."',
  (value) => is.string.allows(value) && value.length <= 100 && PREFIX.test(value),
);

/**
 * The key of a state: `<prefix>:<tenant>:<collection>`, in letters, digits and `_.:-`, which every store keeps as they
 * are. The tenant is a label that the caller chooses, never an API key: keys are replaced, and logs show it.
 */
export function stateKey({ prefix, tenant, collection }: StateName): string {
  if (!LABEL.test(collection)) throw new InvalidInputError('name', `must be ${label.expected}`);
  return `${prefix}:${tenant}:${collection}`;
}

/** The name of a collection from its segment: `accountAddresses` for `account-addresses`, as the client's property. */
export function collectionName(segment: string): string {
  return segment.replace(/-+([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
