import type { CollectionFindings, ConfigurationLine, FilterVerdict } from './report.ts';
import type { WriteFindings } from './write-findings.ts';

type Readable = CollectionFindings & { readonly details: NonNullable<CollectionFindings['details']> };

/** The options that follow from what was seen. Nothing follows from what is unknown. */
export function configurationOf(
  collections: readonly CollectionFindings[],
  writes: WriteFindings,
): ConfigurationLine[] {
  const readable = collections.filter((one): one is Readable => one.details !== undefined);
  return [
    ...walkLines(readable),
    ...afterLastPageLines(readable),
    ...betweenLines(readable),
    ...moneyLines(readable),
    ...lagLines(writes),
  ];
}

/** What the certified walk rests on. */
function certifiable({ details }: Readable): boolean | undefined {
  const { id, idForm } = details;
  const verdicts: (FilterVerdict | 'unknown')[] = [id.gt, id.gte, id.lt, id.lte].map(({ value }) => value);
  if (idForm.value !== 'unknown' && idForm.value !== 'numeric') return false;
  if (
    id.together.value === false ||
    verdicts.some((verdict) => verdict === 'ignored' || verdict === 'refused')
  )
    return false;
  return id.together.value === true && verdicts.every((verdict) => verdict === 'honoured') ? true : undefined;
}

function walkLines(readable: readonly Readable[]): ConfigurationLine[] {
  const judged = readable.map((one) => ({ name: one.collection, certifiable: certifiable(one) }));
  const fit = judged.filter((one) => one.certifiable === true);
  const unfit = judged.filter((one) => one.certifiable === false).map(({ name }) => name);
  if (fit.length === 0 && unfit.length === 0) return [];
  if (fit.length === 0) {
    const because =
      'ids are no whole numbers, or a bound on id is not honoured: a deletion during a walk can hide a row';
    return [{ of: 'createClient', code: "pagination: 'page'", because }];
  }
  const because = `ids are whole numbers and the bounds on id hold in ${fit.length} of ${readable.length} collections: no deletion can hide a row`;
  const exceptions = unfit.map(
    (name): ConfigurationLine => ({
      of: 'list',
      code: `client.${name}.list({}, { pagination: 'page' })`,
      because: 'ids are no whole numbers there, or a bound on id is not honoured',
    }),
  );
  return [{ of: 'createClient', code: "pagination: 'keyset'", because }, ...exceptions];
}

function afterLastPageLines(readable: readonly Readable[]): ConfigurationLine[] {
  const answers = readable.map(({ details }) => details.afterLastPage);
  const decisive =
    answers.find(({ value }) => value === 'not_found') ?? answers.find(({ value }) => value === 'empty');
  if (decisive === undefined) return [];
  return [{ of: 'createClient', code: `afterLastPage: '${decisive.value}'`, because: decisive.because }];
}

function betweenLines(readable: readonly Readable[]): ConfigurationLine[] {
  const found = readable.find(({ details }) => details.between.separator.value !== 'unknown');
  if (found === undefined) return [];

  const { separator } = found.details.between;
  const code =
    separator.value === '..'
      ? "id: { between: ['100', '200'] }"
      : `id: { between: '100${separator.value}200' }`;
  const because = `${separator.because} is honoured${separator.value === '..' ? '' : '; a pair would go out with ".."'}`;
  return [{ of: 'list', code: `client.${found.collection}.list({ ${code} })`, because }];
}

function moneyLines(readable: readonly Readable[]): ConfigurationLine[] {
  return readable.flatMap(({ collection, details }): ConfigurationLine[] => {
    const fields = details.moneyAsNumbers.value;
    if (fields === 'unknown' || fields.length === 0 || collection !== 'products') return [];
    const because = `${fields.join(', ')} of products came as numbers, which have lost digits: such records are reported instead of ending the walk`;
    return [{ of: 'createClient', code: "validation: 'report'", because }];
  });
}

const DEFAULT_LAG_MS = 120_000;

function lagLines({ visibleAfterMs }: WriteFindings): ConfigurationLine[] {
  if (visibleAfterMs.value === 'unknown') {
    const because = `the default: how late a write becomes visible cannot be told by reading (${visibleAfterMs.because})`;
    return [{ of: 'sync', code: `lookbackMs: ${DEFAULT_LAG_MS}`, because }];
  }
  // One look is no bound: under load it takes longer. Ten times what was seen, and never less than the default.
  const lookbackMs = Math.max(DEFAULT_LAG_MS, Math.ceil((visibleAfterMs.value * 10) / 1000) * 1000);
  return [
    {
      of: 'sync',
      code: `lookbackMs: ${lookbackMs}`,
      because: `${visibleAfterMs.because}, on a quiet service`,
    },
  ];
}
