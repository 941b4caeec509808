import { explanationOf } from './finding.ts';
import type { CollectionDetails, CollectionFindings, ConfigurationLine } from './report.ts';
import type { WriteFindings } from './write-findings.ts';
import { zoneNameOf } from './zone-name.ts';

type Readable = CollectionFindings & { readonly details: CollectionDetails };

/** What the configuration follows from. */
export interface Evidence {
  readonly collections: readonly CollectionFindings[];
  readonly bareNotFound: { readonly value?: boolean | undefined };
  readonly writes: WriteFindings;
}

/** The options that follow from what was seen. Nothing follows from what is unknown. */
export function configurationOf({ collections, bareNotFound, writes }: Evidence): ConfigurationLine[] {
  const readable = collections.filter((one): one is Readable => one.details !== undefined);
  return [
    ...paginationLines(readable),
    ...afterLastPageLines(readable),
    ...betweenLines(readable),
    ...moneyLines(readable),
    ...bareNotFoundLines(bareNotFound),
    ...writeLines(writes),
    ...lookbackLines(writes),
    ...timeZoneLines(readable),
  ];
}

/** Whether keyset pagination can read a collection; undefined if that is not known. */
function suitsKeyset({ details }: Readable): boolean | undefined {
  const { id, idForm } = details;
  const verdicts = [id.gt, id.gte, id.lt, id.lte].map(({ value }) => value);
  if (idForm.known && idForm.value !== 'numeric') return false;
  if (
    id.together.value === false ||
    verdicts.some((verdict) => verdict === 'ignored' || verdict === 'rejected')
  )
    return false;
  return id.together.value === true && verdicts.every((verdict) => verdict === 'honoured') ? true : undefined;
}

function paginationLines(readable: readonly Readable[]): ConfigurationLine[] {
  const judged = readable.map((one) => ({ one, name: one.collection, suits: suitsKeyset(one) }));
  const fit = judged.filter(({ suits }) => suits === true);
  const unfit = judged.filter(({ suits }) => suits === false).map(({ name }) => name);
  if (fit.length === 0 && unfit.length === 0) return [];
  if (fit.length === 0) {
    const reason =
      'ids are not whole numbers, or a bound on id is not honoured: a deletion during a read can hide a row';
    return [{ of: 'createClient', code: "pagination: 'page'", reason }];
  }
  const likely = fit.filter(({ one }) => one.details.complete.value === 'likely').map(({ name }) => name);
  const complete =
    likely.length === 0
      ? 'no deletion can hide a row'
      : `no deletion can hide a row, but lists of ${likely.join(', ')} are not in the order of ids: pages say complete 'likely'`;
  const reason = `ids are whole numbers and the bounds on id hold in ${fit.length} of ${readable.length} collections: ${complete}`;
  const exceptions = unfit.map(
    (name): ConfigurationLine => ({
      of: 'list',
      code: `client.${name}.list({}, { pagination: 'page' })`,
      reason: 'ids are not whole numbers there, or a bound on id is not honoured',
    }),
  );
  return [{ of: 'createClient', code: "pagination: 'keyset'", reason }, ...exceptions];
}

function afterLastPageLines(readable: readonly Readable[]): ConfigurationLine[] {
  const seen = readable.map(({ details }) => details.afterLastPage);
  const decisive =
    seen.find(({ value }) => value === 'not_found') ?? seen.find(({ value }) => value === 'empty');
  if (decisive === undefined) return [];
  const code = `afterLastPage: '${decisive.value}'`;
  return [{ of: 'createClient', code, reason: explanationOf(decisive) }];
}

function betweenLines(readable: readonly Readable[]): ConfigurationLine[] {
  const found = readable.find(({ details }) => details.between.separator.known);
  if (found === undefined) return [];

  const { separator } = found.details.between;
  const code =
    separator.value === '..'
      ? "id: { between: ['100', '200'] }"
      : `id: { between: '100${separator.value}200' }`;
  const pair = separator.value === '..' ? '' : '; a pair would be sent with ".."';
  const reason = `${explanationOf(separator)} is honoured${pair}`;
  return [{ of: 'list', code: `client.${found.collection}.list({ ${code} })`, reason }];
}

function moneyLines(readable: readonly Readable[]): ConfigurationLine[] {
  return readable.flatMap(({ collection, details }): ConfigurationLine[] => {
    const fields = details.moneyAsNumbers.value ?? [];
    if (fields.length === 0 || collection !== 'products') return [];
    const reason = `${fields.join(', ')} of products came as numbers, which have lost digits: such records are reported instead of ending the list`;
    return [{ of: 'createClient', code: "validation: 'report'", reason }];
  });
}

function bareNotFoundLines({ value }: Evidence['bareNotFound']): ConfigurationLine[] {
  if (value !== true) return [];
  const reason = 'a missing record is a 404 without a problem document; a wrong base URL then looks the same';
  return [{ of: 'createClient', code: "bareNotFound: 'missing'", reason }];
}

const JSON_TYPE = 'application/json';

function writeLines({ createContentType, updateContentType, replay }: WriteFindings): ConfigurationLine[] {
  const types = [
    ['create', createContentType],
    ['update', updateContentType],
  ] as const;
  const others = types.filter(([, type]) => type.known && type.value !== JSON_TYPE);
  const lines: ConfigurationLine[] = [];
  if (others.length > 0) {
    const members = others.map(([name, type]) => `${name}: '${type.value}'`).join(', ');
    const reason = others.map(([, type]) => explanationOf(type)).join('; ');
    lines.push({ of: 'createClient', code: `contentTypes: { ${members} }`, reason });
  }
  if (replay.value === 'second_record') {
    const reason =
      'the service ignores Idempotency-Key: a retry after a lost response would create a second record';
    lines.push({ of: 'createClient', code: 'retry: { creates: false }', reason });
  }
  return lines;
}

const DEFAULT_LOOKBACK_MS = 120_000;

function lookbackLines({ visibleAfterMs }: WriteFindings): ConfigurationLine[] {
  if (!visibleAfterMs.known) {
    const reason = `the default: how late a write becomes visible cannot be known by reading (${visibleAfterMs.reason})`;
    return [{ of: 'sync', code: `lookbackMs: ${DEFAULT_LOOKBACK_MS}`, reason }];
  }
  // One look is no bound: under load it takes longer. Ten times what was seen, and never less than the default.
  const lookbackMs = Math.max(DEFAULT_LOOKBACK_MS, Math.ceil((visibleAfterMs.value * 10) / 1000) * 1000);
  return [
    {
      of: 'sync',
      code: `lookbackMs: ${lookbackMs}`,
      reason: `${visibleAfterMs.evidence}, on a quiet service`,
    },
  ];
}

/** A service that shows an offset tells the client its zone itself. */
function timeZoneLines(readable: readonly Readable[]): ConfigurationLine[] {
  const showsOffset = readable.some(({ details }) => (details.offsets.value ?? []).length > 0);
  const shifted = readable.find(({ details }) => (details.updatedSince.shiftMinutes.value ?? 0) !== 0);
  const minutes = shifted?.details.updatedSince.shiftMinutes.value ?? 0;
  if (showsOffset || minutes === 0) return [];

  const ahead = minutes < 0 ? `${-minutes} minutes behind` : `${minutes} minutes ahead of`;
  const reason = `updatedSince is compared with local times, ${ahead} UTC when ${shifted?.collection} changed; if the service has summer time, name its own zone, such as ${minutes < 0 ? 'America/New_York' : 'Europe/Amsterdam'}`;
  return [{ of: 'sync', code: `serviceTimeZone: '${zoneNameOf(minutes)}'`, reason }];
}
