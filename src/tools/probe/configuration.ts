import { explanationOf } from './finding.ts';
import type { CollectionDetails, CollectionFindings, ConfigurationLine, ProbeReport } from './report.ts';

type Readable = CollectionFindings & { readonly details: CollectionDetails };

/** The findings that options follow from. */
export type Findings = Pick<ProbeReport, 'collections' | 'problems' | 'writes'>;

/** The options that follow from the findings. Nothing follows from what is unknown. */
export function configurationOf({ collections, problems, writes }: Findings): ConfigurationLine[] {
  const readable = collections.filter((one): one is Readable => one.details !== undefined);
  return [
    ...paginationLines(readable),
    ...afterLastPageLines(readable),
    ...betweenLines(readable),
    ...moneyLines(readable),
    ...bareNotFoundLines(problems),
    ...writeLines(writes),
    lookbackLine(writes),
    ...timeZoneLines(readable),
  ];
}

const ofClient = (code: string, reason: string): ConfigurationLine => ({ of: 'createClient', code, reason });

/** Whether keyset pagination can read a collection; undefined if that is unknown. */
function suitsKeyset({ details: { id, idForm } }: Readable): boolean | undefined {
  const verdicts = [id.gt, id.gte, id.lt, id.lte].map(({ value }) => value);
  const isInteger = !idForm.known || idForm.value === 'numeric';
  const fails = verdicts.some((verdict) => verdict === 'ignored' || verdict === 'rejected');
  if (!isInteger || fails || id.together.value === false) return false;
  return id.together.value === true && verdicts.every((verdict) => verdict === 'honoured') ? true : undefined;
}

function paginationLines(readable: readonly Readable[]): ConfigurationLine[] {
  const fit = readable.filter((one) => suitsKeyset(one) === true);
  const unfit = readable.filter((one) => suitsKeyset(one) === false);
  if (fit.length === 0 && unfit.length === 0) return [];
  if (fit.length === 0) {
    const reason =
      'ids are not integers, or a bound on id is not honoured: a deletion during a read can hide a row';
    return [ofClient("pagination: 'page'", reason)];
  }
  const likely = fit.filter(({ details }) => details.complete.value === 'likely');
  const names = likely.map(({ collection }) => collection).join(', ');
  const but = names && `, but lists of ${names} are not in the order of ids: pages say complete 'likely'`;
  const reason = `ids are integers and the bounds on id hold in ${fit.length} of ${readable.length} collections: no deletion can hide a row${but}`;
  const exceptions = unfit.map(
    ({ collection }): ConfigurationLine => ({
      of: 'list',
      code: `client.${collection}.list({}, { pagination: 'page' })`,
      reason: 'its ids are not integers, or a bound on id is not honoured',
    }),
  );
  return [ofClient("pagination: 'keyset'", reason), ...exceptions];
}

function afterLastPageLines(readable: readonly Readable[]): ConfigurationLine[] {
  const findings = readable.map(({ details }) => details.afterLastPage);
  const decisive =
    findings.find(({ value }) => value === 'not_found') ?? findings.find(({ value }) => value === 'empty');
  return decisive === undefined
    ? []
    : [ofClient(`afterLastPage: '${decisive.value}'`, explanationOf(decisive))];
}

function betweenLines(readable: readonly Readable[]): ConfigurationLine[] {
  const found = readable.find(({ details }) => details.between.separator.known);
  if (found === undefined) return [];

  const { separator } = found.details.between;
  const isOurs = separator.value === '..';
  const between = isOurs ? "['100', '200']" : `'100${separator.value}200'`;
  const pair = isOurs ? '' : '; the client would send a pair with ".."';
  return [
    {
      of: 'list',
      code: `client.${found.collection}.list({ id: { between: ${between} } })`,
      reason: `${explanationOf(separator)} is honoured${pair}`,
    },
  ];
}

function moneyLines(readable: readonly Readable[]): ConfigurationLine[] {
  const products = readable.find(({ collection }) => collection === 'products');
  const fields = products?.details.moneyAsNumbers.value ?? [];
  if (fields.length === 0) return [];
  const reason = `${fields.join(', ')} of products came as numbers, which may have lost digits: such records are reported instead of ending the list`;
  return [ofClient("validation: 'report'", reason)];
}

function bareNotFoundLines({ bareNotFound }: Findings['problems']): ConfigurationLine[] {
  if (bareNotFound.value !== true) return [];
  const reason = 'a missing record is a 404 without a problem document; a wrong base URL then looks the same';
  return [ofClient("bareNotFound: 'missing'", reason)];
}

function writeLines({
  createContentType,
  updateContentType,
  replay,
}: Findings['writes']): ConfigurationLine[] {
  const others = Object.entries({ create: createContentType, update: updateContentType }).filter(
    ([, type]) => type.known && type.value !== 'application/json',
  );
  const lines: ConfigurationLine[] = [];
  if (others.length > 0) {
    const members = others.map(([name, type]) => `${name}: '${type.value}'`).join(', ');
    const reason = others.map(([, type]) => explanationOf(type)).join('; ');
    lines.push(ofClient(`contentTypes: { ${members} }`, reason));
  }
  if (replay.value === 'second_record') {
    const reason =
      'the service ignores Idempotency-Key: a retry after a lost response would create a second record';
    lines.push(ofClient('retry: { creates: false }', reason));
  }
  return lines;
}

const DEFAULT_LOOKBACK_MS = 120_000;

function lookbackLine({ visibleAfterMs }: Findings['writes']): ConfigurationLine {
  // One measurement is not a limit: under load it takes longer. Ten times as long, and never less than the default.
  const seenMs = Math.ceil(((visibleAfterMs.value ?? 0) * 10) / 1000) * 1000;
  const reason = visibleAfterMs.known
    ? `${visibleAfterMs.evidence}, on a quiet service`
    : `the default: how late a write becomes visible is unknown (${visibleAfterMs.reason})`;
  return { of: 'sync', code: `lookbackMs: ${Math.max(DEFAULT_LOOKBACK_MS, seenMs)}`, reason };
}

/** If the service shows an offset, the client needs no option. */
function timeZoneLines(readable: readonly Readable[]): ConfigurationLine[] {
  const showsOffset = readable.some(({ details }) => (details.offsets.value ?? []).length > 0);
  const shifted = readable.find(({ details }) => (details.updatedSince.shiftMinutes.value ?? 0) !== 0);
  const minutes = shifted?.details.updatedSince.shiftMinutes.value ?? 0;
  if (showsOffset || minutes === 0) return [];

  const [ahead, example] =
    minutes < 0
      ? [`${-minutes} minutes behind`, 'America/New_York']
      : [`${minutes} minutes ahead of`, 'Europe/Amsterdam'];
  const reason = `updatedSince is compared with local times, ${ahead} UTC when ${shifted?.collection} changed; if the service has summer time, name its own zone, such as ${example}`;
  return [{ of: 'sync', code: `serviceTimeZone: '${zoneNameOf(minutes)}'`, reason }];
}

/** Zones whose offset is not a whole number of hours: no Etc zone exists for them. */
const ODD_ZONES = new Map([
  [-570, 'Pacific/Marquesas'],
  [-210, 'America/St_Johns'],
  [210, 'Asia/Tehran'],
  [270, 'Asia/Kabul'],
  [330, 'Asia/Kolkata'],
  [345, 'Asia/Kathmandu'],
  [390, 'Asia/Yangon'],
  [525, 'Australia/Eucla'],
  [570, 'Australia/Darwin'],
  [630, 'Australia/Lord_Howe'],
]);

/** An IANA zone that is the given number of minutes ahead of UTC. Etc zones count westward. */
function zoneNameOf(minutes: number): string {
  const hours = Math.round(minutes / 60);
  return ODD_ZONES.get(minutes) ?? `Etc/GMT${hours < 0 ? '+' : '-'}${Math.abs(hours)}`;
}
