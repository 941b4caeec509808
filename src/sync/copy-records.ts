import type { KnownRecord } from '../reading/company.ts';
import type { RunSource } from '../reading/source.ts';
import type { OpenTarget, StoredRow } from './target.ts';

/** Records of a collection among which those with `createdAt` are looked for. */
const SAMPLE = 50;

/** Records of a copy that can prove which company an API key belongs to: products first, because they have `createdAt`. */
export async function* knownRecords(
  target: OpenTarget,
  sources: Readonly<Record<string, RunSource<{ id: string }>>>,
): AsyncGenerator<KnownRecord, void, undefined> {
  const ordered = Object.entries(sources).toSorted(
    ([a], [b]) => Number(b === 'products') - Number(a === 'products'),
  );
  for (const [collection, source] of ordered) {
    for (const { id, body } of await sampleOf(target, collection)) {
      const { createdAt } = body as { readonly createdAt?: unknown };
      yield { segment: source.segment, id, createdAt };
    }
  }
}

async function sampleOf(target: OpenTarget, collection: string): Promise<readonly StoredRow[]> {
  const ids: string[] = [];
  for await (const id of target.localIds?.(collection) ?? []) {
    if (ids.push(id) === SAMPLE) break;
  }
  return ids.length === 0 ? [] : ((await target.rows?.(collection, ids)) ?? []);
}
