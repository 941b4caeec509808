import { Admission, type CompanyMemory } from './company.ts';
import type { ReadSettings } from './list-options.ts';
import { onceOnly, requestOf, waitForList } from './look-up.ts';
import type { RunSource } from './source.ts';

interface AdmissionOfRun {
  readonly tenant: string;
  readonly sameCompany: boolean;
  /** Every collection whose records may be known. */
  readonly sources: readonly RunSource<{ id: string }>[];
  /** How records are looked up. */
  readonly settings: ReadSettings;
  readonly memories: () => AsyncIterable<CompanyMemory> | Iterable<CompanyMemory>;
  /** Whether the run can do without digests: then it knows no key from an earlier run. */
  readonly needsNoDigests?: boolean | undefined;
  readonly onUnprovable?: (() => void) | undefined;
}

/** Which keys the calls of a run may use. The proof is sent with the key that it proves. */
export function admissionOf({ sources, settings, needsNoDigests, ...options }: AdmissionOfRun): Admission {
  const bySegment = new Map(sources.map((source) => [source.segment, source]));
  const [first] = sources;
  return new Admission({
    ...options,
    async digestOf(key, salt) {
      const digest = first?.digestOf(key, salt);
      return needsNoDigests ? digest?.catch(() => undefined) : digest;
    },
    reader(segment, apiKey, { outage = settings.outage, signal = settings.signal, beforeAttempt, onWait }) {
      const source = bySegment.get(segment);
      // Every other call of the run may wait for this key.
      const ofCall = { outage: outage.first, signal, beforeAttempt, onWait };
      const ofProof = { ...settings, ...ofCall, keepInvalid: true, admission: undefined, apiKey };
      return (
        source && {
          lookUp: (id, isQuick) => requestOf(source, id, isQuick ? onceOnly(ofProof) : ofProof),
          wait: (over) =>
            waitForList(source, { ...ofProof, signal: signal ? AbortSignal.any([signal, over]) : over }),
        }
      );
    },
  });
}
