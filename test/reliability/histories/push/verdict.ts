// What does not hold in a history of pushes, by the service's own journal.

import { type ProductDraft, type PushResult, toDecimal } from 'accounting-data-sdk';
import { type PushHistory, type Run, wasKilled, wasStopped } from './history.ts';

/** Empty if all is well. */
export function verdictOn({ sandbox, runs, last, again }: PushHistory): string[] {
  const all = [...runs, last, again];
  return [
    ...all.flatMap((run, n) => runThatBreaks(run).map((what) => `run ${n + 1}: ${what}`)),
    ...[last, again].flatMap((run) =>
      run.error === undefined ? [] : [`a quiet run rejected: ${run.error}`],
    ),
    ...again.commits.flatMap(({ action, id }) =>
      wasUnseen(last, again, id) ? [] : [`an unnecessary ${action} of ${id}`],
    ),
    ...endThatBreaks(sandbox.store.products.all(), last, again),
  ];
}

/** Whether a product is of a row for which the last run found no product: its list was not complete, and now it may be. */
function wasUnseen(last: Run, again: Run, id: string): boolean {
  const key = again.results.find((result) => result.id === id)?.key;
  return last.results.some((result) => result.key === key && isUnseen(result, last));
}

/** Whether a row was not created because the list repeats products, so that it also misses some. */
function isUnseen({ action, error }: PushResult, { report }: Run): boolean {
  if (action !== 'failed' || report?.complete !== 'likely') return false;
  // The create of an earlier run is not sent under another key either.
  return error?.code === 'unexpected_response' || (error?.code === 'unknown_problem' && error.status === 409);
}

/** Every key exists once with the values of its row, or the row was reported as failed. */
function endThatBreaks(products: readonly object[], last: Run, again: Run): string[] {
  const { rows, results } = again;
  return rows.flatMap((row) => {
    const key = row.productNumber;
    const found = products.filter((product) => formOf(product) === formOf(row));
    const result = results.find((each) => each.key === key);
    const action = result?.action;
    const isRespelt = found.some((product) => (product as ProductDraft).productNumber !== key);
    if (row.status === 'invalid') {
      const isHandled = action === 'failed' || (isRespelt && action === 'conflict');
      return isHandled ? [] : [`${key}: an invalid row was ${action}`];
    }
    const isMissed = result !== undefined && isUnseen(result, again);
    if (isMissed && found.length === 0) return [];
    if (found.length !== 1) return [`${key}: ${found.length} products`];
    const isLocked = action === 'failed' && result?.error?.code === 'forbidden';
    if (isMissed || isLocked || (isRespelt && action === 'conflict')) return [];
    const isWritten = action === 'unchanged' || wasUnseen(last, again, (found[0] as { id: string }).id);
    return isWritten && isAsRow(found[0] as ProductDraft, row) ? [] : [`${key}: ${action}, but differs`];
  });
}

/** The key of a product or a row in the form in which some services store it. */
function formOf(product: object): string {
  return ((product as ProductDraft).productNumber ?? '').trim().toLowerCase();
}

function isAsRow(product: ProductDraft, row: ProductDraft): boolean {
  return (
    product.name === row.name &&
    JSON.stringify(product.tags) === JSON.stringify(row.tags) &&
    toDecimal(product.salePrice ?? '').equals(toDecimal(row.salePrice ?? '')) &&
    (row.brand === undefined || (product.brand ?? null) === row.brand)
  );
}

/** A report agrees with the journal. */
function runThatBreaks(run: Run): string[] {
  const { rows, results, report, commits } = run;
  if (report === undefined && !wasKilled(run) && !wasStopped(run)) return [`rejected with ${run.error}`];
  const broken: string[] = [];
  const isWhole = report !== undefined;
  for (const row of rows) {
    const of = results.filter(({ key }) => key === row.productNumber);
    if (of.length > 1 || (isWhole && of.length === 0))
      broken.push(`${row.productNumber}: ${of.length} results`);
  }
  for (const result of results) broken.push(...resultThatBreaks(result, run));
  const counted = Object.values(report?.counts ?? {}).reduce((sum, count) => sum + count, 0);
  if (isWhole && counted !== results.length) broken.push(`${counted} counted of ${results.length} results`);

  const reported = new Set(
    results.flatMap(({ action, id }) =>
      ['created', 'updated', 'failed', 'conflict', 'unchanged'].includes(action) ? [id] : [],
    ),
  );
  const mayBeDone = results.some(({ error }) => error?.outcome === 'unknown' || error?.outcome === 'applied');
  for (const { action, id } of commits) {
    if (isWhole && !reported.has(id) && !mayBeDone)
      broken.push(`product ${id}: ${action} is not in the report`);
  }
  return broken;
}

function resultThatBreaks(
  { key, action, id, fields, reason, error }: PushResult,
  { commits }: Run,
): string[] {
  const of = commits.filter((commit) => commit.id === id);
  // A product that no read showed gets every field, and then null in those that were cleared.
  const sent = of.flatMap((commit) => (commit.action === 'update' ? commit.fields : []));
  if (action === 'updated' && !sameNames([...new Set(sent)], fields)) return [`${key}: was not updated`];
  // A product whose key came back changed was created, and updated if no read showed it.
  const allowed = reason?.includes('stored another key') ? ['create', 'update'] : ['create'];
  // The create of an earlier run that this one finished counts as unchanged.
  const written = of.filter((commit) => !allowed.includes(commit.action));
  if ((action === 'unchanged' || action === 'conflict') && written.length > 0)
    return [`${key}: ${action}, but written`];
  const isDone = of.some((commit) => commit.action === 'update');
  if (action === 'failed' && error?.outcome === 'rejected' && isDone)
    return [`${key}: rejected, but written`];
  return [];
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return String([...a].sort()) === String([...b].sort());
}
