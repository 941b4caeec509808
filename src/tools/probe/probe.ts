import { type CollectionName, collectionNames } from '../../collections/index.ts';
import { checkOptionNames } from '../../errors/check-option-names.ts';
import type { OptionNames } from '../../internal/option-names.ts';
import { checkNames } from '../check-names.ts';
import type { ToolsClient } from '../tools-client.ts';
import { adviceOf } from './advice.ts';
import { probeCollection } from './collection.ts';
import { configurationOf } from './configuration.ts';
import { type ProbePlan, planOf } from './plan.ts';
import { ProbeSession } from './probe-session.ts';
import type { CollectionFindings, ProbeReport } from './report.ts';
import { nothingWritten, type WriteFindings } from './write-findings.ts';
import { probeWrites } from './writes.ts';

/** How far a probe is. */
export interface ProbeProgress {
  /** Requests sent so far. */
  readonly requests: number;
  /** The collection that is being asked about; undefined while it writes. */
  readonly collection: CollectionName | undefined;
  /** Collections that are done. */
  readonly done: number;
  readonly of: number;
}

/** Options of {@link probe}. */
export interface ProbeOptions {
  /** The collections to ask about. Default: all fourteen. */
  collections?: readonly CollectionName[] | undefined;
  /**
   * Also makes a product, changes it and deletes it: only that shows how writes are answered. `draft` adds fields that
   * the service asks for. Default: false, and not one request is anything but a GET.
   */
  write?: boolean | { readonly draft?: Readonly<Record<string, unknown>> | undefined } | undefined;
  /** Stops the probe, which then rejects with the signal's reason. A product that was made is deleted all the same. */
  signal?: AbortSignal | undefined;
  /** Told before the first request how many there will be. Throwing here means that none is sent. */
  onPlan?: ((plan: ProbePlan) => void) | undefined;
  /** Told after each request. */
  onProgress?: ((progress: ProbeProgress) => void) | undefined;
  /** Told of products that could not be deleted when a probe that writes was stopped; otherwise the report names them. */
  onLeftBehind?: ((ids: readonly string[]) => void) | undefined;
  /** Told what was learned of a collection as soon as it is: what is left when a probe is stopped half-way. */
  onCollection?: ((findings: CollectionFindings) => void) | undefined;
}

export const PROBE_OPTIONS: OptionNames<ProbeOptions> = {
  collections: true,
  write: { draft: true },
  signal: true,
  onPlan: true,
  onProgress: true,
  onLeftBehind: true,
  onCollection: true,
};

/**
 * Asks the live service what its contract leaves open: page size, order, filters, ids, budget, the form of errors. A
 * read-only plan of some 150 small requests, one at a time, under the rate gate of the client. What cannot be told
 * from outside is reported as `unknown`, never guessed.
 *
 * ```ts
 * const report = await probe(createClient(), { onPlan: ({ atMost }) => console.log(`at most ${atMost} requests`) });
 * for (const { code, reason } of report.configuration) console.log(`${code}, // ${reason}`);
 * ```
 * @throws InvalidInputError for options that cannot be right; what any call throws where not even the first list could
 * be asked for: ConnectionError, TimeoutError, RedirectError, UnauthenticatedError.
 */
export async function probe(client: ToolsClient, options: ProbeOptions = {}): Promise<ProbeReport> {
  checkOptionNames(options, PROBE_OPTIONS, { of: 'probe' });
  const { write = false, signal, onProgress, onCollection } = options;
  const names = checkNames(options.collections ?? collectionNames);
  signal?.throwIfAborted();
  options.onPlan?.(planOf(names, write !== false));

  const findings: CollectionFindings[] = [];
  let current: CollectionName | undefined;
  const session = new ProbeSession(client, signal, () => {
    const done = findings.length;
    onProgress?.({ requests: session.requests, collection: current, done, of: names.length });
  });
  for (const name of names) {
    current = name;
    const found = await probeCollection(session, name, findings);
    findings.push(found);
    onCollection?.(found);
  }
  current = undefined;
  const writes =
    write === false
      ? nothingWritten('only writing shows it')
      : await probeWrites(session, {
          draft: (write === true ? undefined : write.draft) ?? {},
          signal,
          onLeftBehind: options.onLeftBehind,
        });
  return reportOf(client, session, { findings, writes });
}

function reportOf(
  client: ToolsClient,
  { requests, clock, budget, problems }: ProbeSession,
  { findings, writes }: { findings: readonly CollectionFindings[]; writes: WriteFindings },
): ProbeReport {
  return {
    baseUrl: client.accounts.baseUrl,
    at: new Date().toISOString(),
    requests,
    clock: clock.finding(),
    cachedAnswers: clock.cached,
    budget: budget.findings(),
    problems: {
      typeForm: problems.typeForm(),
      notFound: problems.contentType(404),
      bareNotFound: problems.bareNotFound(),
      forbidden: problems.contentType(403),
      seen: problems.forms,
    },
    collections: findings,
    writes,
    configuration: configurationOf({ collections: findings, bareNotFound: problems.bareNotFound(), writes }),
    advice: adviceOf(findings, writes),
  };
}
