import { batch, computed, signal } from '@preact/signals';
import { type Change, control, Rejected, type State, type Tables } from './api.ts';
import type { Entry } from './timeline/entry.ts';

/** As many as the sandbox keeps. */
const MOST_ENTRIES = 10_000;

/** The requests by number, oldest first. `revision` says that some have changed. */
export const entries = new Map<number, Entry>();
export const revision = signal(0);

export const state = signal<State | undefined>(undefined);
export const tables = signal<Tables | undefined>(undefined);
/** The last changes of records, newest first. */
export const changes = signal<readonly Change[]>([]);
export const connection = signal<'connecting' | 'open' | 'lost'>('connecting');
/** A sentence about what was done, or what went wrong. */
export const notice = signal<{ readonly text: string; readonly isError: boolean } | undefined>(undefined);

/** The page in the address: `#records/products`. */
export const place = signal(placeOf(location.hash));
addEventListener('hashchange', () => {
  place.value = placeOf(location.hash);
});

export const isEmpty = computed(() => revision.value >= 0 && entries.size === 0);

function placeOf(hash: string): readonly string[] {
  return hash.replace(/^#/, '').split('/').map(decodeURIComponent);
}

/** Called with each request: the timeline. */
export interface Follower {
  put(entry: Entry): void;
  clear(): void;
  replace(entries: readonly Entry[]): void;
}
const followers = new Set<Follower>();

/** Gives a follower every request, now and later. Returns a function that ends it. */
export function follow(follower: Follower): () => void {
  for (const entry of entries.values()) follower.put(entry);
  followers.add(follower);
  return () => void followers.delete(follower);
}

let isScheduled = false;

function put(entry: Entry): void {
  const known = entries.get(entry.number);
  if (known !== undefined && known.durationMs !== null && entry.durationMs === null) return;
  entries.set(entry.number, entry);
  if (entries.size > 2 * MOST_ENTRIES) forgetOldest();
  else for (const follower of followers) follower.put(entry);
  show();
}

/** Once for each frame, however many requests arrive. */
function show(): void {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(() => {
    isScheduled = false;
    revision.value += 1;
  });
}

function forgetOldest(): void {
  const kept = [...entries.values()].slice(-MOST_ENTRIES);
  entries.clear();
  for (const entry of kept) entries.set(entry.number, entry);
  for (const follower of followers) follower.replace(kept);
}

function clear(): void {
  entries.clear();
  for (const follower of followers) follower.clear();
  show();
}

/** Follows the sandbox, also after it was stopped and started again. */
export function connect(): void {
  openEvents();
  // The clock and the quotas move by themselves, and a test in the process of the sandbox is no event.
  setInterval(() => {
    if (document.visibilityState === 'visible' && connection.value === 'open') refresh();
  }, 2_000);
}

function openEvents(): void {
  const events = new EventSource('/_sandbox/events?bodies=false');
  events.addEventListener('open', () => void reload());
  events.addEventListener('request', ({ data }) => {
    const entry = JSON.parse(data as string) as Entry;
    put(entry);
    const isWrite = entry.method !== 'GET' && entry.method !== 'HEAD' && entry.response !== null;
    if (isWrite || entry.fault !== null || entry.status === 429) refresh();
  });
  events.addEventListener('state', refresh);
  events.addEventListener('cleared', () => {
    clear();
    refresh();
  });
  events.addEventListener('error', () => {
    connection.value = 'lost';
    // A browser gives up after some errors.
    if (events.readyState !== EventSource.CLOSED) return;
    events.close();
    setTimeout(openEvents, 1_000);
  });
}

/** What `GET /requests` returns. */
interface Log {
  readonly last: number;
  readonly requests: readonly Entry[];
}

/** Whether the log continues the entries: it was not emptied, and no later request has arrived before it. */
function isPartOf({ last, requests }: Log): boolean {
  const known = [...entries.keys()];
  const [newest = 0] = known.slice(-1);
  const oldest = requests[0]?.number ?? last + 1;
  const isMissing = ({ number }: Entry) => number < newest && !entries.has(number);
  return known.every((number) => number >= oldest) && !requests.some(isMissing);
}

async function reload(): Promise<void> {
  const { instance } = state.value ?? {};
  await loadState();
  if (instance !== undefined && instance !== state.value?.instance) clear();
  tables.value = await control<Tables>('GET /faults');
  const log = await control<Log>('GET /requests?bodies=false');
  const later = [...entries.values()].filter(({ number }) => number > log.last);
  if (!isPartOf(log)) clear();
  for (const entry of [...log.requests, ...later]) put(entry);
  connection.value = 'open';
}

let refreshing: ReturnType<typeof setTimeout> | undefined;

/** Loads the state again, at most five times a second. */
export function refresh(): void {
  if (refreshing !== undefined) return;
  refreshing = setTimeout(() => {
    refreshing = undefined;
    loadState().catch(() => {});
  }, 200);
}

async function loadState(): Promise<void> {
  const [loaded, journal] = await Promise.all([
    control<State>('GET /state'),
    control<{ readonly changes: readonly Change[] }>('GET /journal?limit=100'),
  ]);
  batch(() => {
    state.value = loaded;
    changes.value = journal.changes.toReversed();
  });
}

let noticeTimer: ReturnType<typeof setTimeout> | undefined;

export function say(text: string, isError = false): void {
  notice.value = { text, isError };
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(
    () => {
      notice.value = undefined;
    },
    isError ? 12_000 : 4_000,
  );
}

/** Does something, and says how it ended. True if it succeeded. */
export async function attempt(work: () => Promise<unknown>, done?: string): Promise<boolean> {
  try {
    await work();
    if (done !== undefined) say(done);
    return true;
  } catch (error) {
    say(error instanceof Rejected ? error.message : 'The sandbox does not respond.', true);
    return false;
  }
}
