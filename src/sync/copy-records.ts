import type { KnownRecord } from '../reading/company.ts';
import type { ReadSettings } from '../reading/list-options.ts';
import type { RunSource } from '../reading/source.ts';
import { lookUp } from './look-up.ts';
import type { OpenTarget, StoredRow } from './target.ts';

/** Records of a collection among which those with `createdAt` are looked for. */
const SAMPLE = 50;

type Body = Readonly<Record<string, unknown>>;

/** Records of a copy that can prove which company an API key belongs to: products first, because they have `createdAt`. */
export async function* knownRecords(
  target: OpenTarget,
  sources: Readonly<Record<string, RunSource<{ id: string }>>>,
  settings: ReadSettings,
): AsyncGenerator<KnownRecord, void, undefined> {
  const ordered = Object.entries(sources).toSorted(
    ([a], [b]) => Number(b === 'products') - Number(a === 'products'),
  );
  for (const [collection, source] of ordered) {
    const sample = (await sampleOf(target, collection)).map(({ id, body }) => ({ id, body: body as Body }));
    const names = distinctFields(sample.map(({ body }) => body));
    for (const { id, body } of sample) {
      const fits = (row: unknown) =>
        names.length === 0 || names.some((name) => body[name] === (row as Body)[name]);
      yield { collection, id, createdAt: body.createdAt, fits, lookUp: () => lookUp(source, id, settings) };
    }
  }
}

/** The text fields that distinguish these records, such as `name`; not `unitId` or the time of an import. */
function distinctFields(bodies: readonly Body[]): readonly string[] {
  const names = Object.keys(bodies[0] ?? {}).filter((name) => name !== 'id' && name !== 'createdAt');
  return names.filter((name) => {
    const texts = bodies
      .map((body) => body[name])
      .filter((value) => typeof value === 'string' && value !== '');
    return texts.length > 0 && new Set(texts).size === bodies.length;
  });
}

async function sampleOf(target: OpenTarget, collection: string): Promise<readonly StoredRow[]> {
  const ids: string[] = [];
  for await (const id of target.localIds?.(collection) ?? []) {
    if (ids.push(id) === SAMPLE) break;
  }
  return ids.length === 0 ? [] : ((await target.rows?.(collection, ids)) ?? []);
}
