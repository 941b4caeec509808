import type { ListSettings } from '../explore-client.ts';
import { type Findings, firstKnown, followed, NOTHING, type Readable, readableOf } from './followed.ts';
import { LARGE_PAGE, PAGE_SIZE_PARAMETER } from './page-size.ts';
import { paginationLines } from './pagination.ts';
import type { Finding, ProfileLine, ServiceProfile } from './report.ts';
import {
  afterLastPageOf,
  bareNotFoundOf,
  numberIdsOf,
  pageSizeParameterOf,
  sandboxFindings,
} from './sandbox-findings.ts';

/** The options that follow from the findings. Nothing follows from what is unknown. */
export function profileOf(findings: Findings, ofClient: ListSettings): ProfileLine[] {
  const readable = readableOf(findings.collections);
  return [
    ...clientLines(readable, findings, ofClient),
    ...syncLines(findings),
    ...linesOf('sandbox', sandboxFindings(readable, findings)),
  ];
}

/** The lines as the objects that `createClient`, `sync` and `createSandbox` take. */
export function profileObject(lines: readonly ProfileLine[]): ServiceProfile {
  const profile: Record<ProfileLine['of'], Record<string, unknown>> = { client: {}, sync: {}, sandbox: {} };
  for (const { of, name, value } of lines) {
    // The name of a parameter is the service's own.
    const names = name.startsWith('parameters.') ? ['parameters', name.slice(11)] : name.split('.');
    let at = profile[of];
    for (const outer of names.slice(0, -1)) {
      at[outer] ??= {};
      at = at[outer] as Record<string, unknown>;
    }
    at[names.at(-1) ?? ''] = value;
  }
  return profile as ServiceProfile;
}

/** A line for each finding that is known, by the name of its option. */
function linesOf(of: ProfileLine['of'], findings: Readonly<Record<string, Finding<unknown>>>): ProfileLine[] {
  return Object.entries(findings).flatMap(([name, finding]) =>
    finding.known ? [{ of, name, value: finding.value, reason: finding.evidence }] : [],
  );
}

function listOrderOf(readable: readonly Readable[]): Finding<'id'> {
  const isOther = readable.some(({ details: { order } }) => order.known && order.value !== 'id-asc');
  if (isOther || Object.values(paginationLines(readable)).some(({ known }) => known)) return NOTHING;
  const sorted = readable.find(({ details }) => details.sortedById.value === true);
  return sorted === undefined ? NOTHING : followed(sorted.details.sortedById, () => 'id' as const);
}

function clientLines(
  readable: readonly Readable[],
  { problems, writes }: Findings,
  { pageParameter, parameters }: ListSettings,
): ProfileLine[] {
  const isOther = (type: string) => (type === 'application/json' ? undefined : type);
  const products = readable.filter(({ collection }) => collection === 'products');
  return linesOf('client', {
    ...paginationLines(readable),
    listOrder: listOrderOf(readable),
    afterLastPage: followed(afterLastPageOf(readable), (response) =>
      response === 'empty' ? undefined : response,
    ),
    pageParameter: followed(
      firstKnown(readable, (details) => details.pageParameter),
      (name) => (name === '_page' && pageParameter === '_page' ? undefined : name),
    ),
    // With the parameters of the client, which they replace.
    ...Object.fromEntries(
      Object.entries({ ...parameters, [PAGE_SIZE_PARAMETER]: String(LARGE_PAGE) }).map(([name, value]) => [
        `parameters.${name}`,
        followed(pageSizeParameterOf(readable), (verdict) => (verdict === 'honoured' ? value : undefined)),
      ]),
    ),
    validation: followed(
      firstKnown(products, ({ moneyAsNumbers }) => moneyAsNumbers),
      (fields) => (fields.length > 0 ? 'report' : undefined),
    ),
    ids: numberIdsOf(readable, 'numbers' as const),
    bareNotFound: followed(bareNotFoundOf(readable, problems), (isBare) => (isBare ? 'missing' : undefined)),
    'contentTypes.create': followed(writes.createContentType, isOther),
    'contentTypes.update': followed(writes.updateContentType, isOther),
    'retry.creates': followed(writes.replay, (replay) => (replay === 'second_record' ? false : undefined)),
  });
}

const DEFAULT_LOOKBACK_MS = 120_000;

function syncLines({ writes }: Findings): ProfileLine[] {
  return linesOf('sync', {
    // One measurement is not a limit: under load it takes longer. Ten times as long, and never less than the default.
    lookbackMs: followed(writes.visibleAfterMs, (ms) =>
      ms * 10 > DEFAULT_LOOKBACK_MS ? Math.ceil((ms * 10) / 1000) * 1000 : undefined,
    ),
  });
}
