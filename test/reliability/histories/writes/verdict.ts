import type { Sandbox } from 'accounting-data-sdk/testing';
import type { History, Intent, ReportedCall } from './history.ts';

type Commit = Sandbox['journal'][number];
type ReportedCallOf<W extends Intent['what']> = ReportedCall & {
  readonly intent: Extract<Intent, { what: W }>;
};

/** What does not hold in a history that has ended, by the service's own journal; empty where all is well. */
export function verdictOn(history: History): string[] {
  const { sandbox } = history;
  const commits = sandbox.journal;
  const names = namesByKey(sandbox);
  return [
    ...history.broken,
    ...history.calls.filter(({ ending }) => ending === undefined).map(() => 'a call never ended'),
    ...createsThatBreak(history, commits, names),
    ...updatesThatBreak(history, commits),
    ...deletesThatBreak(history, commits),
    ...booksThatBreak(history, commits, names),
  ];
}

const of = <W extends Intent['what']>(history: History, what: W) =>
  history.calls.filter((call): call is ReportedCallOf<W> => call.intent.what === what);

/** The client reported for certain that nothing was done. */
const denied = ({ ending }: ReportedCall) =>
  ending?.as === 'failed' && (ending.outcome === 'rejected' || ending.outcome === 'not_sent');

/** The client reported for certain that it was done. */
const confirmed = ({ ending }: ReportedCall) =>
  ending?.as === 'done' || (ending?.as === 'failed' && ending.outcome === 'applied');

/** Which intended create each Idempotency-Key was seen with: by the bodies that arrived, whatever the client says. */
function namesByKey(sandbox: Sandbox): Map<string | undefined, string> {
  const posts = sandbox.requests.filter(({ method }) => method === 'POST');
  return new Map(
    posts.map(({ idempotencyKey, body }) => [
      idempotencyKey,
      (body as { productNumber: string }).productNumber,
    ]),
  );
}

function grouped<V>(values: readonly V[], keyOf: (value: V) => string): Map<string, V[]> {
  const groups = new Map<string, V[]>();
  for (const value of values) groups.set(keyOf(value), [...(groups.get(keyOf(value)) ?? []), value]);
  return groups;
}

function createsThatBreak(
  history: History,
  commits: readonly Commit[],
  names: ReadonlyMap<string | undefined, string>,
): string[] {
  const broken: string[] = [];
  const made = grouped(
    commits.filter(({ action }) => action === 'create'),
    ({ idempotencyKey }) => names.get(idempotencyKey) ?? 'a create that no call sent',
  );
  const intended = grouped(of(history, 'create'), ({ intent }) => intent.name);
  for (const [name, records] of made) {
    if (!intended.has(name)) broken.push(`${name}: no call meant to create it`);
    if (records.length > 1) broken.push(`${name}: ${records.length} records`);
  }
  for (const [name, calls] of intended) {
    const ids = (made.get(name) ?? []).map(({ id }) => id);
    if (calls.every(denied) && ids.length > 0) broken.push(`${name}: said not to be done, and was`);
    for (const call of calls) {
      if (confirmed(call) && ids.length === 0) broken.push(`${name}: said to be done, and was not`);
      const { ending } = call;
      const reported =
        ending?.as === 'done' ? ending.id : ending?.as === 'failed' ? ending.recordId : undefined;
      if (reported !== undefined && !ids.includes(reported))
        broken.push(`${name}: the client reported record ${reported}, not ${ids}`);
    }
  }
  return broken;
}

function updatesThatBreak(history: History, commits: readonly Commit[]): string[] {
  const broken: string[] = [];
  const updates = commits.filter(({ action }) => action === 'update');
  const calls = of(history, 'update');
  for (const { id, fields } of updates) {
    const call = calls.find(({ intent }) => fields.includes(intent.marker));
    const named = Object.keys(call?.intent.patch ?? {});
    if (call === undefined || call.intent.id !== id) broken.push(`record ${id}: an update that no call sent`);
    else if (String([...named].sort()) !== String([...fields].sort()))
      broken.push(`record ${id}: ${fields} were set where ${named} were named`);
  }
  for (const call of calls) {
    const { marker } = call.intent;
    const done = updates.some(({ fields }) => fields.includes(marker));
    if (denied(call) && done) broken.push(`update of ${marker}: said not to be done, and was`);
    if (confirmed(call) && !done) broken.push(`update of ${marker}: said to be done, and was not`);
  }
  return broken;
}

function deletesThatBreak(history: History, commits: readonly Commit[]): string[] {
  const broken: string[] = [];
  for (const [id, calls] of grouped(of(history, 'delete'), ({ intent }) => intent.id)) {
    const times = commits.filter((commit) => commit.action === 'delete' && commit.id === id).length;
    if (times > 1) broken.push(`record ${id}: deleted ${times} times`);
    if (calls.every(denied) && times > 0) broken.push(`delete ${id}: said not to be done, and was`);
    if (calls.some(confirmed) && times === 0) broken.push(`delete ${id}: said to be done, and was not`);
    if (calls.some(confirmed) && history.sandbox.store.products.get(id) !== undefined)
      broken.push(`delete ${id}: the record is there`);
  }
  return broken;
}

/** Applies every commit again to the initial records, with only what its caller sent: the result must be the same. */
function booksThatBreak(
  history: History,
  commits: readonly Commit[],
  names: ReadonlyMap<string | undefined, string>,
): string[] {
  const due = new Map<string, Record<string, unknown>>(history.initial.map((record) => [record.id, record]));
  const drafts = new Map(of(history, 'create').map(({ intent }) => [intent.name, intent.draft]));
  const updates = of(history, 'update');
  for (const { action, id, idempotencyKey, fields } of commits) {
    if (action === 'delete') due.delete(id);
    else if (action === 'create') due.set(id, { ...drafts.get(names.get(idempotencyKey) ?? '') });
    else
      due.set(id, {
        ...due.get(id),
        ...updates.find(({ intent }) => fields.includes(intent.marker))?.intent.patch,
      });
  }
  const kept = new Map(history.sandbox.store.products.all().map((record) => [record.id, { ...record }]));
  const ids = new Set([...due.keys(), ...kept.keys()]);
  return [...ids].flatMap((id) => differences(id, due.get(id), kept.get(id)));
}

const FILLED_BY_THE_SERVICE = new Set(['id', 'createdAt', 'updatedAt']);

function differences(
  id: string,
  due: Readonly<Record<string, unknown>> | undefined,
  kept: Readonly<Record<string, unknown>> | undefined,
): string[] {
  if (due === undefined || kept === undefined)
    return [
      `record ${id}: ${due === undefined ? 'is there and should not be' : 'should be there and is not'}`,
    ];
  const fields = new Set([...Object.keys(due), ...Object.keys(kept)]);
  return [...fields]
    .filter((field) => !FILLED_BY_THE_SERVICE.has(field) && (due[field] ?? null) !== (kept[field] ?? null))
    .map((field) => `record ${id}: ${field} is ${kept[field]} where ${due[field]} was written`);
}
